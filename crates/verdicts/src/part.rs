//! Runs of one cell for a comparison.

use std::collections::BTreeSet;

use results::{
    CellResult, FlowRecord, LackingQuantile, Metric, ReferenceMetric, ResultDocument, Run, RunState,
    Shortfall, VerdictMode, VerdictSide,
};
use stats::{Modality, median, modality};

use crate::recorded::{Source, modes_by};

/// Runs of one cell for a comparison, and their result.
#[derive(Clone)]
pub(crate) struct Part<'d> {
    /// Cell with the values of its runs.
    pub cell: &'d CellResult,
    /// Runs that are compared.
    pub runs: Vec<&'d Run>,
    source: Source<'d>,
}

impl<'d> Part<'d> {
    /// Selects the runs of a cell that are, or are not, second runs of a block.
    pub fn new(cell: &'d CellResult, twin: bool, source: Source<'d>) -> Self {
        Self { cell, runs: cell.runs.iter().filter(|run| run.twin == twin).collect(), source }
    }

    /// Keeps the runs that were executed at the same time as a run of the other part.
    pub fn side_by_side_with(mut self, other: &Self) -> Self {
        self.runs.retain(|run| other.runs.iter().any(|partner| run.belongs_to(partner)));
        self
    }

    /// Returns the result of the cell.
    pub const fn document(&self) -> &'d ResultDocument {
        self.source.document
    }

    /// Returns the runs that are compared.
    pub fn runs(&self) -> impl Iterator<Item = &'d Run> {
        self.runs.iter().copied()
    }

    /// Returns the runs to compare.
    pub fn judged(&self, quiet_only: bool) -> impl Iterator<Item = &'d Run> {
        self.runs().filter(move |run| !quiet_only || !self.source.noisy.contains(&run.block))
    }

    /// Returns a reference value of a run's block.
    pub fn reference(&self, run: &Run, metric: ReferenceMetric) -> Option<f64> {
        let block = self.source.document.blocks.iter().find(|block| block.number == run.block)?;
        block.reference(metric)
    }

    /// Returns the numbers of its blocks that were noisy.
    pub fn noisy_blocks(&self) -> BTreeSet<u32> {
        self.runs().map(|run| run.block).filter(|block| self.source.noisy.contains(block)).collect()
    }

    /// Returns the share of the samples of a flow, or of all flows, that did not arrive, in percent.
    pub fn missing_pct(&self, flow: Option<&str>) -> f64 {
        let of_run =
            |run: &'d Run| run.flows.iter().filter(move |of_run| flow.is_none_or(|name| of_run.is_of(name)));
        let flows = self.runs().filter(|run| run.state == RunState::Valid).flat_map(of_run);
        flows.map(FlowRecord::shortfall).sum::<Shortfall>().pct()
    }

    /// Returns why runs lack a quantile; empty if each run has it.
    pub fn lacking(&self, metric: Metric, flow: Option<&str>) -> Vec<LackingQuantile> {
        self.runs().filter_map(|run| run.lacking_quantile(metric, flow)).collect()
    }

    /// Returns why a claim about a quantile that runs lack is withheld; `None` if each run has it.
    pub fn withheld(&self, metric: Metric, flow: Option<&str>) -> Option<String> {
        let lacking = self.lacking(metric, flow);
        let of_runs = format!(
            "of {} runs of `{}`",
            self.runs().filter(|run| run.state == RunState::Valid).count(),
            self.cell.id
        );
        let is_short = |lacking: &&LackingQuantile| matches!(lacking, LackingQuantile::TooFewSamples { .. });
        let short = lacking.iter().filter(is_short).count();
        Some(match lacking.iter().min()? {
            LackingQuantile::TooFewSamples { n, needs } => format!(
                "{short} {of_runs} {} too few samples for it, {n} instead of at least {needs}",
                if short == 1 { "has" } else { "have" }
            ),
            // Without these runs, those that lost less would be compared.
            LackingQuantile::Lost => format!(
                "it is n/a in {} {of_runs}, which lost at least the share of their pings that lies above it",
                lacking.len()
            ),
        })
    }

    /// Returns the maximum error of the clocks over the valid runs, in ns.
    pub fn clock_error_ns(&self, metric: Metric, flow: Option<&str>) -> u64 {
        let valid = self.runs().filter(|run| run.state == RunState::Valid);
        valid.map(|run| run.clock_error_ns(metric, flow)).max().unwrap_or(0)
    }

    /// Returns the median of the runs' values.
    pub fn typical(&self, metric: Metric, flow: Option<&str>) -> Option<f64> {
        let values: Vec<f64> = self.runs().filter_map(|run| run.value_of(metric, flow)).collect();
        self.median(metric, flow, &values)
    }

    /// Returns the median as the cell has it: a lost quantile counts as longer than all others, and there is none if a run has too few
    /// samples.
    fn median(&self, metric: Metric, flow: Option<&str>, values: &[f64]) -> Option<f64> {
        let lacking = self.lacking(metric, flow);
        if values.is_empty() || lacking.iter().any(|of| *of != LackingQuantile::Lost) {
            return None;
        }
        let lost = lacking.iter().map(|_| f64::INFINITY);
        median(&values.iter().copied().chain(lost).collect::<Vec<_>>()).filter(|median| median.is_finite())
    }

    /// Returns its side of a verdict on a metric, of one flow if there are several.
    pub fn side(&self, metric: Metric, flow: Option<&str>) -> VerdictSide {
        let of_state = |state| self.runs().filter(|run| run.state == state).count() as u32;
        let (runs, values): (Vec<&Run>, Vec<f64>) =
            self.runs().filter_map(|run| Some((run, run.value_of(metric, flow)?))).unzip();
        // A share that is 0 is shown so, although claims use another value.
        let observed: Vec<f64> = runs.iter().filter_map(|run| run.observed(metric, flow)).collect();
        let modes = match modality(&values) {
            Modality::Several(modes) => modes,
            Modality::One | Modality::TooFewRuns => Vec::new(),
        };
        // the first mode that reaches up to the value
        let group = |value: &f64| modes.iter().take_while(|mode| *value > mode.to).count();
        let modes_by = (!modes.is_empty())
            .then(|| modes_by(self.source, &runs, &values.iter().map(group).collect::<Vec<_>>()));
        let mode = |mode: stats::Mode| VerdictMode { location: mode.location, share_pct: 100.0 * mode.share };
        VerdictSide {
            result: None,
            cell: self.cell.id.clone(),
            runs: values.len() as u32,
            failed: of_state(RunState::Failed),
            invalid: of_state(RunState::Invalid),
            without_value: of_state(RunState::Valid) - values.len() as u32,
            unsteady: runs.iter().filter(|run| run.is_unsteady(metric)).count() as u32,
            sender_limited: runs.iter().filter(|run| metric.is_latency() && run.is_sender_limited()).count()
                as u32,
            share_sps: share_sps(self.cell),
            missing_pct: self.missing_pct(flow),
            under_duet_interference: self.cell.under_duet_interference,
            median: self.median(metric, flow, &observed),
            modes: modes.into_iter().map(mode).collect(),
            modes_by,
        }
    }
}

/// Returns the rate of a cell with a load in percent of a maximum, in samples/s.
fn share_sps(cell: &CellResult) -> Option<f64> {
    let load = cell.factors.load.as_ref().filter(|load| load.share().is_some())?;
    load.rate().map(experiment::Rate::sps)
}
