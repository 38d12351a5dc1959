//! Factors of joining: the endpoints of a participant, and when endpoints join.

use crate::{
    factors::{
        Factors, Workload,
        discovery::Join,
        processes,
        rows::{WAY, id_part},
        table::{Compared, Factor, Form, Id, out_of_range, unlisted, value},
        topology::Topology,
        value::{Kind, Value},
        values::FactorValues,
    },
    syntax::spanned_error::{PlanError, fault},
};

/// Maximum number of writers, and of readers, of a participant.
const MAX_ENDPOINTS: u32 = 100;

/// Returns the number of endpoints, if it is not the default.
fn endpoints(cell: &Factors) -> Option<u32> {
    Some(cell.discovery.endpoints).filter(|endpoints| *endpoints > 1)
}

/// Returns the number of participants per process, if there are several.
fn per_process(cell: &Factors) -> Option<u32> {
    Some(cell.discovery.participants_per_process).filter(|number| *number > 1)
}

/// Returns the way to join, if it is not the default.
fn join(cell: &Factors) -> Option<Join> {
    Some(cell.discovery.join).filter(|join| *join != Join::Together)
}

/// Rejects the workload `discovery` with a topology that has no participants, and together with other workloads.
pub(super) fn check_workload(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    if value.to::<Workload>() != Workload::Discovery {
        return None;
    }
    if all.count("workload") > 1 {
        let words = "the workload `discovery` has a topology that no other workload has";
        return fault(words, "measure `discovery` in an experiment of its own");
    }
    let topologies = all.all::<Topology>("topology");
    if topologies.0.is_empty() || topologies.values().any(|of| !matches!(of, Topology::FullMesh { .. })) {
        let words = "the workload `discovery` needs a number of participants";
        return fault(words, "use `topology = \"full-mesh-10\"` for 10 participants");
    }
    None
}

/// Rejects numbers of endpoints out of range, and those without effect.
fn check_endpoints(row: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let number: u32 = value.to();
    if !(1..=MAX_ENDPOINTS).contains(&number) {
        return out_of_range(row, number, "use 1 to 100 writers and as many readers for each participant");
    }
    if number > 1 && !all.has_workload(Workload::Discovery) {
        let words = format!("`{} = {number}` has an effect on the workload `discovery` only", row.key);
        return fault(words, "use `ddsmark discovery`, or remove it");
    }
    None
}

/// Returns whether the last endpoint of a cell can join after the others: a participant, or one of several readers of a
/// stream.
fn can_join_late(workload: Workload, topology: Topology) -> bool {
    match workload {
        Workload::Discovery => true,
        Workload::Throughput | Workload::Paced => topology.mesh().is_some_and(|(_, readers)| readers > 1),
        Workload::Latency | Workload::Search => false,
    }
}

/// Rejects a late join if no cell has an endpoint that can join late.
fn check_join(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    if value.to::<Join>() != Join::Late || all.has_workload(Workload::Discovery) {
        return None;
    }
    if !all.has_workload(Workload::Throughput) && !all.has_workload(Workload::Paced) {
        let words = "`join = \"late\"` has no effect without a stream or participants to join";
        return fault(words, "use the workload `throughput`, `paced` or `discovery`, or remove it");
    }
    let topologies = all.all::<Topology>("topology");
    if !topologies.values().any(|of| can_join_late(Workload::Throughput, *of)) {
        let words = "`join = \"late\"` needs a second reader: the last reader joins while the writers write to the others";
        return fault(words, "use `topology = \"1-3\"` or another one with at least 2 readers");
    }
    None
}

pub(super) const ROWS: &[Factor] = &[
    Factor {
        key: "endpoints",
        form: Form::Key(Kind::Number),
        unit: "endpoints",
        range: "1 to 100",
        default: || Some(1_u32.into()),
        about: "Number of writers of each participant, and of its readers, 1 to 100: with `4`, each participant has 4 \
                writers and 4 readers. Only for the workload `discovery`. Default 1.",
        brief: "Writers, and readers, of each participant.",
        plural: Some("endpoints"),
        check: check_endpoints,
        set: Some(|cell, value| cell.discovery.endpoints = value.to()),
        applies: |cell| cell.workload == Workload::Discovery,
        nesting: 15,
        value: value!(|cell| cell.discovery.endpoints),
        id: Id::Always(38, |cell| id_part("endpoints", endpoints(cell))),
        compared: Compared::Text(|cell| endpoints(cell).map(|endpoints| endpoints.to_string())),
        label: unlisted(8, |cell| endpoints(cell).map(|of| format!("{of} writers and {of} readers each"))),
        agent: "the writers and readers of each agent",
        ..WAY
    },
    Factor {
        key: "participants_per_process",
        form: Form::Key(Kind::Number),
        unit: "participants",
        range: "a divisor of the number of participants",
        default: || Some(1_u32.into()),
        about: "Number of participants that each process opens, each with its own writers and readers. What participants of \
                one process share, such as code and threads of the middleware, then counts once for all of them, and they \
                may find each other without the network. It must divide the number of participants. Only for the workload \
                `discovery`. Default 1.",
        brief: "Participants of each process.",
        plural: Some("numbers of participants per process"),
        check: processes::check_participants,
        set: Some(|cell, value| cell.discovery.participants_per_process = value.to()),
        applies: |cell| cell.workload == Workload::Discovery,
        nesting: 17,
        value: value!(|cell| cell.discovery.participants_per_process),
        id: Id::Always(39, |cell| id_part("per-process", per_process(cell))),
        compared: Compared::Text(|cell| per_process(cell).map(|number| number.to_string())),
        label: unlisted(11, |cell| per_process(cell).map(|of| format!("{of} participants per process"))),
        agent: "the control channels of an agent, each for one participant",
        ..WAY
    },
    Factor {
        key: "join",
        form: Form::Key(Kind::Join),
        range: "together; late",
        default: || Some(Join::Together.into()),
        about: "Time at which the endpoints of a run join: `together`, all before the traffic, or `late`, the last one \
                after the others. In the workload `discovery`, the last participant joins when all others are matched. \
                In `throughput` and `paced`, with at least 2 readers, the last reader joins after a third of the \
                measurement, while the writers write. Default `together`.",
        brief: "Times at which the last endpoint joins.",
        plural: Some("join"),
        check: check_join,
        set: Some(|cell, value| cell.discovery.join = value.to()),
        applies: |cell| can_join_late(cell.workload, cell.topology),
        nesting: 16,
        value: value!(|cell| cell.discovery.join),
        id: Id::Always(39, |cell| join(cell).map(|join| join.to_string()).into_iter().collect()),
        compared: Compared::Text(|cell| join(cell).map(|join| join.to_string())),
        label: unlisted(9, |cell| join(cell).map(|join| format!("join {join}"))),
        agent: "the instant at which each agent opens its participant; reader: when it is opened and matched",
        ..WAY
    },
];
