//! Factors of an experiment with several hosts.

use crate::{
    Placement,
    factors::{
        rows::WAY,
        table::{Compared, Factor, Form, Id, Label, ROW},
        value::Kind,
    },
};

pub(super) const ROWS: &[Factor] = &[Factor {
    key: "placement",
    form: Form::Key(Kind::Placement),
    unit: "endpoints and hosts",
    range: "ids or roles of endpoints, each with the name of a host; `default`",
    default: || Some(Placement::default().into()),
    about: "Hosts of the endpoints, such as `writer@pi1,reader@pi2`. `writer` is also the pinger, and `reader` also an \
            echo. The id of an endpoint, such as `reader-2` or `node-3`, takes precedence over its role. Endpoints that \
            are not named are placed by default: each on a host of its own, if there are enough hosts; otherwise those \
            that drive the traffic on the first host, and the others in turn on the other hosts; nodes of a ring and \
            participants in turn on all hosts. Default `default`.",
    brief: "Hosts of the endpoints; one value, can be repeated.",
    noun: Some("placement"),
    plural: Some("placements"),
    set: Some(|cell, value| cell.placement = value.to()),
    nesting: 11,
    same: |a, b| a.placement == b.placement,
    id: Id::Varied(36, |cell| vec![cell.placement.id()]),
    shares: WAY,
    compared: Compared::Text(|cell| Some(cell.placement.to_string())),
    label: Some(Label {
        place: 6,
        text: |cell| (!cell.placement.is_default()).then(|| cell.placement.to_string()),
        listed: true,
    }),
    agent: "the host on which an endpoint's process is started",
    ..ROW
}];
