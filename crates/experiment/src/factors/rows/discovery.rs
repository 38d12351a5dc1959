//! Factors of the workload `discovery`.

use crate::{
    Factors, Join, Workload,
    factors::{
        discovery,
        rows::{WAY, id_part},
        table::{Compared, Factor, Form, Id, Label, ROW},
        value::Kind,
    },
};

/// Returns the number of endpoints, if it is not the default.
fn endpoints(cell: &Factors) -> Option<u32> {
    Some(cell.discovery.endpoints).filter(|endpoints| *endpoints > 1)
}

/// Returns the way to join, if it is not the default.
fn join(cell: &Factors) -> Option<Join> {
    Some(cell.discovery.join).filter(|join| *join != Join::Together)
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
        check: discovery::check_endpoints,
        set: Some(|cell, value| cell.discovery.endpoints = value.to()),
        applies: |cell| cell.workload == Workload::Discovery,
        nesting: 15,
        same: |a, b| a.discovery.endpoints == b.discovery.endpoints,
        id: Id::Always(38, |cell| id_part("endpoints", endpoints(cell))),
        shares: WAY,
        compared: Compared::Text(|cell| endpoints(cell).map(|endpoints| endpoints.to_string())),
        label: Some(Label {
            place: 8,
            text: |cell| endpoints(cell).map(|of| format!("{of} writers and {of} readers each")),
            listed: false,
        }),
        agent: "the writers and readers of each agent",
        ..ROW
    },
    Factor {
        key: "join",
        form: Form::Key(Kind::Join),
        range: "together; late",
        default: || Some(Join::Together.into()),
        about: "Time at which the participants of the workload `discovery` join: `together`, all at one instant, or \
                `late`, the last one when all others are matched. Default `together`.",
        brief: "Times at which participants join.",
        plural: Some("join"),
        check: discovery::check_join,
        set: Some(|cell, value| cell.discovery.join = value.to()),
        applies: |cell| cell.workload == Workload::Discovery,
        nesting: 16,
        same: |a, b| a.discovery.join == b.discovery.join,
        id: Id::Always(39, |cell| join(cell).map(|join| join.to_string()).into_iter().collect()),
        shares: WAY,
        compared: Compared::Text(|cell| join(cell).map(|join| join.to_string())),
        label: Some(Label {
            place: 9,
            text: |cell| join(cell).map(|join| format!("join {join}")),
            listed: false,
        }),
        agent: "the instant at which each agent opens its participant",
        ..ROW
    },
];
