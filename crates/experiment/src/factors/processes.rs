//! Participants that share a process: those of the workload `discovery`, and those of writing endpoints.

use crate::{
    factors::{
        Factors, Workload,
        table::{Factor, out_of_range},
        topology::Topology,
        value::Value,
        values::FactorValues,
    },
    syntax::{
        driver_name::is_pair,
        spanned_error::{PlanError, fault},
    },
};

/// Rejects numbers of participants per process without effect, and those that leave a process with fewer.
pub(crate) fn check_participants(row: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let shared = Shared {
        applies: all.has_workload(Workload::Discovery),
        without: ("has an effect on the workload `discovery` only", "use `ddsmark discovery`, or remove it"),
        what: "participants",
        of: participants,
    };
    let number: u32 = value.to();
    let found = check(row, number, all, &shared);
    if found.is_some() || number == 1 {
        return found;
    }
    let (drivers, topologies) = (all.all::<String>("driver"), all.all::<Topology>("topology"));
    let pair = drivers.values().find(|driver| is_pair(driver))?;
    let topology = topologies.values().find(|topology| u32::from(participants(**topology)) == number)?;
    let words = format!(
        "`{} = {number}` leaves one process for `{pair}` with `topology = \"{topology}\"`, and a process has one driver",
        row.key
    );
    fault(words, "use fewer participants per process")
}

/// Returns the number of participants of a full mesh; 1 for other topologies.
const fn participants(topology: Topology) -> u16 {
    match topology {
        Topology::FullMesh { participants } => participants,
        Topology::Mesh { .. } | Topology::Ring { .. } => 1,
    }
}

/// Rejects numbers of writers per process without effect, and those that leave a process with fewer.
pub(crate) fn check_writers(row: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let shared = Shared {
        applies: all.has_stream(),
        without: (
            "has an effect on the workloads `throughput` and `paced` only",
            "use `ddsmark throughput` or `ddsmark load`, or remove it",
        ),
        what: "writers",
        of: |topology| topology.mesh().map_or(1, |(writers, _)| writers),
    };
    check(row, value.to(), all, &shared)
}

/// Kind of endpoints that share processes.
struct Shared {
    /// Whether a workload has such endpoints.
    applies: bool,
    /// Error and hint if none has.
    without: (&'static str, &'static str),
    /// Name of several endpoints.
    what: &'static str,
    /// Number of endpoints of a topology.
    of: fn(Topology) -> u16,
}

fn check(row: &Factor, number: u32, all: &FactorValues, shared: &Shared) -> Option<PlanError> {
    let Shared { applies, without, what, of } = shared;
    let key = row.key;
    match number {
        1 => return None,
        0 => return out_of_range(row, 0, "use at least 1"),
        _ if !applies => return fault(format!("`{key} = {number}` {}", without.0), without.1),
        _ => {}
    }
    let topologies = all.all::<Topology>("topology");
    let uneven = |topology: &&Topology| !u32::from(of(**topology)).is_multiple_of(number);
    let topology = topologies.values().find(uneven)?;
    // Processes of different sizes would share one label.
    let words = format!(
        "`{key} = {number}`: the {} {what} of `topology = \"{topology}\"` cannot be divided into processes of {number}",
        of(*topology)
    );
    fault(words, "use a divisor of each number, so that all processes have as many")
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
