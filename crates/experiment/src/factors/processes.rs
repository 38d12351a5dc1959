//! Participants that share a process: those of the workload `discovery`, and those of writing endpoints.

use crate::{
    factors::{Factors, Workload, table::Factor, topology::Topology, value::Value, values::FactorValues},
    syntax::{
        driver_name::is_pair,
        one_or_many::OneOrMany,
        spanned_error::{PlanError, SpannedError},
    },
};

/// Rejects numbers of participants per process without effect, and those that leave a process with fewer.
pub(crate) fn check_participants(
    row: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    check(
        row,
        values,
        all,
        &Shared {
            applies: all.has_workload(Workload::Discovery),
            without: "has an effect on the workload `discovery` only",
            use_instead: "use `ddsmark discovery`, or remove it",
            what: "participants",
            of: participants,
        },
    )?;
    let drivers: OneOrMany<String> = all.all("driver");
    let pair = drivers.values().find(|driver| is_pair(driver));
    let topologies: OneOrMany<Topology> = all.all("topology");
    for values in values.typed::<u32>().0.iter().filter(|values| *values.get() > 1) {
        let alone = |topology: &&Topology| u32::from(participants(**topology)) == *values.get();
        if let (Some(pair), Some(topology)) = (pair, topologies.values().find(alone)) {
            let words = format!(
                "`{} = {}` leaves one process for `{pair}` with `topology = \"{topology}\"`, and a process has one driver",
                row.key,
                values.get()
            );
            return Err(PlanError::Contradiction { words, hint: "use fewer participants per process" }
                .at(values.span()));
        }
    }
    Ok(())
}

/// Returns the number of participants of a full mesh; 1 for other topologies.
const fn participants(topology: Topology) -> u16 {
    match topology {
        Topology::FullMesh { participants } => participants,
        Topology::Mesh { .. } | Topology::Ring { .. } => 1,
    }
}

/// Rejects numbers of writers per process without effect, and those that leave a process with fewer.
pub(crate) fn check_writers(
    row: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
) -> Result<(), SpannedError> {
    check(
        row,
        values,
        all,
        &Shared {
            applies: all.has_stream(),
            without: "has an effect on the workloads `throughput` and `paced` only",
            use_instead: "use `ddsmark throughput` or `ddsmark load`, or remove it",
            what: "writers",
            of: |topology| topology.mesh().map_or(1, |(writers, _)| writers),
        },
    )
}

/// Kind of endpoints that share processes.
struct Shared {
    /// Whether a workload has such endpoints.
    applies: bool,
    /// Error and hint if none has.
    without: &'static str,
    use_instead: &'static str,
    /// Name of several endpoints.
    what: &'static str,
    /// Number of endpoints of a topology.
    of: fn(Topology) -> u16,
}

fn check(
    row: &Factor,
    values: &OneOrMany<Value>,
    all: &FactorValues,
    shared: &Shared,
) -> Result<(), SpannedError> {
    let Shared { applies, without, use_instead, what, of } = shared;
    let topologies: OneOrMany<Topology> = all.all("topology");
    for values in values.typed::<u32>().0.iter().filter(|values| *values.get() != 1) {
        let (key, number) = (row.key, *values.get());
        let refused = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(values.span()));
        if number == 0 {
            return refused(format!("`{key} = 0` is out of range"), "use at least 1");
        }
        if !applies {
            return refused(format!("`{key} = {number}` {without}"), use_instead);
        }
        let topologies: Vec<Topology> = topologies.values().copied().collect();
        let topologies = if topologies.is_empty() { vec![Topology::PAIR] } else { topologies };
        let uneven = |topology: &&Topology| !u32::from(of(**topology)).is_multiple_of(number);
        if let Some(topology) = topologies.iter().find(uneven) {
            // Processes of different sizes would share one label.
            let words = format!(
                "`{key} = {number}`: the {} {what} of `topology = \"{topology}\"` cannot be divided into processes of \
                 {number}",
                of(*topology)
            );
            return refused(words, "use a divisor of each number, so that all processes have as many");
        }
    }
    Ok(())
}

impl Factors {
    /// Returns the number of writing endpoints, or of participants of the workload `discovery`, in each process.
    #[must_use]
    pub fn endpoints_per_process(&self) -> u32 {
        match self.workload {
            Workload::Discovery => self.discovery.participants_per_process,
            Workload::Throughput | Workload::Paced => self.writers_per_process.unwrap_or(1),
            Workload::Latency | Workload::Search => 1,
        }
        .max(1)
    }

    /// Returns the text about endpoints that share a process; `None` if none do.
    #[must_use]
    pub fn shared_process(&self) -> Option<String> {
        let what = if self.workload == Workload::Discovery { "participants" } else { "writers" };
        Some(self.endpoints_per_process())
            .filter(|number| *number > 1)
            .map(|number| format!("{number} {what} per process"))
    }
}
