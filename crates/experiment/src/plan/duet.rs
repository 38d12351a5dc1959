//! Duets: a run and a run of its baseline at the same time, on two halves of the cores. Host noise disturbs both,
//! so only their ratio is used (Bulej et al., *Duet Benchmarking*, ICPE 2020).

use std::collections::BTreeSet;

use rand::RngExt as _;

use crate::{
    factors::Workload,
    plan::{
        design::Pin,
        experiment::{Cell, DuetSlot, Plan, ScheduledRun, Stream},
    },
    syntax::spanned_error::{PlanError, contradiction},
};

impl Pin {
    /// Splits the cores of each endpoint into two sets of equal size. Returns `None` if an endpoint has fewer than
    /// two cores.
    #[must_use]
    pub fn halves(&self) -> Option<[Self; 2]> {
        let Self::Cores(writer, reader) = self else { return None };
        let half = |cores: &[u32], index: usize| {
            let each = cores.len() / 2;
            cores[index * each..(index + 1) * each].to_vec()
        };
        let enough = writer.len() >= 2 && reader.len() >= 2;
        enough.then(|| [0, 1].map(|index| Self::Cores(half(writer, index), half(reader, index))))
    }
}

impl Plan {
    /// Returns the duets of a block as pairs of cell indices: each compared cell with its baseline, and each
    /// baseline cell with itself.
    pub(crate) fn duets(&self) -> Vec<(usize, usize)> {
        let index = |cell: &Cell| self.cells.iter().position(|other| other.id == cell.id).unwrap_or_default();
        let compared = self.comparisons().into_iter().map(|(cell, baseline)| (index(cell), index(baseline)));
        let alone = (0..self.cells.len()).filter(|&cell| self.is_baseline(&self.cells[cell].id));
        compared.chain(alone.map(|cell| (cell, cell))).collect()
    }

    /// Returns the runs of a block of duets in random order, the two of a duet in succession. The assignment of the
    /// halves is drawn for the first block and alternates from then on.
    pub(crate) fn block_of_duets(
        &self,
        random: &mut rand::rngs::ChaCha8Rng,
        block: u32,
        first_run: u32,
    ) -> Vec<ScheduledRun> {
        let mut drawn = self.stream(Stream::Half, 0);
        let mut order: Vec<((usize, usize), usize)> = self
            .duets()
            .into_iter()
            .map(|duet| (duet, (drawn.random_range(0..2) + block as usize) % 2))
            .collect();
        self.design.order.arrange(&mut order, random);
        let numbered = order.into_iter().zip((first_run..).step_by(2));
        let runs = |(((cell, baseline), half), number): (((usize, usize), usize), u32)| {
            let beside = |partner, half| Some(DuetSlot { partner, half });
            let duet = beside(number + 1, 1 - half);
            let other = ScheduledRun { number, block, cell: baseline, twin: false, duet };
            [
                other,
                ScheduledRun {
                    number: number + 1,
                    cell,
                    twin: cell == baseline,
                    duet: beside(number, half),
                    ..other
                },
            ]
        };
        numbered.flat_map(runs).collect()
    }
}

/// Rejects an experiment whose cells cannot be measured in duets.
pub(crate) fn check(experiment: &Plan) -> Result<(), PlanError> {
    let refuse = |words: String, hint| Err(contradiction(words, hint));
    if experiment.design.baseline.is_empty() {
        let words = "a duet needs a baseline";
        let hint = "name one with `--baseline`, or in `[design]`, such as `baseline = { profile = \"default\" }`; or omit `duet`";
        return refuse(words.to_owned(), hint);
    }
    if let Some(cell) = experiment.cells.iter().find(|cell| cell.factors.workload != Workload::Latency) {
        let words = format!(
            "`{}` cannot be measured in a duet: two runs of workload `{}` would take from each other what is measured",
            cell.id, cell.factors.workload
        );
        return refuse(words, "ask for workload `latency` alone, or leave `duet` out");
    }
    if let Some(cell) = experiment.cells.iter().find(|cell| cell.factors.multicast) {
        let words = format!(
            "`{}` cannot be measured in a duet: the kernel counts what goes by multicast for both runs together, so which \
             of them did so could not be told",
            cell.id
        );
        return refuse(words, "ask for `multicast = false`, or leave `duet` out");
    }
    let is_mixed = |(one, two): &(usize, usize)| {
        experiment.cells[*one].factors.link != experiment.cells[*two].factors.link
    };
    if let Some((cell, _)) = experiment.duets().into_iter().find(is_mixed) {
        let words = format!(
            "`{}` cannot be measured beside its baseline: a lab has one link at a time",
            experiment.cells[cell].id
        );
        return refuse(words, "give the baseline the same link, or leave `duet` out");
    }
    let measured: BTreeSet<usize> = experiment.duets().into_iter().map(|(cell, _)| cell).collect();
    if let Some(alone) = (0..experiment.cells.len()).find(|cell| !measured.contains(cell)) {
        let words = format!("`{}` has no baseline to be measured beside", experiment.cells[alone].id);
        let hint =
            "choose a baseline for it: one that agrees with it in each factor in which baseline cells differ";
        return refuse(words, hint);
    }
    cores(&experiment.design.pin)
}

/// Rejects a pinning without two cores for each endpoint, or with a core that both endpoints use.
fn cores(pin: &Pin) -> Result<(), PlanError> {
    let found = match pin {
        Pin::Cores(writer, reader) if writer.iter().any(|core| reader.contains(core)) => {
            "writer and reader share cores".to_owned()
        }
        Pin::Cores(..) if pin.halves().is_some() => return Ok(()),
        Pin::Cores(writer, reader) => format!("the writer has {}, the reader {}", writer.len(), reader.len()),
        Pin::None => "none is pinned".to_owned(),
    };
    Err(contradiction(
        format!("a duet needs 4 cores, two for each end: {found}"),
        "use a host with 4 cores or more, with a `pin` such as `0-1,2-3` or `auto`; or leave `duet` out",
    ))
}
