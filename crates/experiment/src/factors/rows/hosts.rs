//! Factors of an experiment with several hosts.

use crate::{
    factors::{
        Factors,
        placement::Placement,
        rows::{LINK_KEYS, WAY, id_part},
        table::{Compared, Factor, Form, Id, listed, value},
        value::Kind,
    },
    syntax::{
        link::LinkSpec,
        link_values::{LinkDelay, LinkLoss, LinkRate},
    },
};

/// Returns the rate of the links of a cell; `None` without a lab.
fn rate(cell: &Factors) -> Option<LinkRate> {
    cell.link.map(|link| LinkRate(link.rate_bit_per_s))
}

/// Returns the delay of the links of a cell; `None` without a lab.
fn delay(cell: &Factors) -> Option<LinkDelay> {
    cell.link.map(|link| LinkDelay(link.delay_ns))
}

/// Returns the loss of the links of a cell; `None` without a lab.
fn loss(cell: &Factors) -> Option<LinkLoss> {
    cell.link.map(|link| LinkLoss(link.loss_ppm))
}

/// Returns the link of a cell, to change it.
fn link(cell: &mut Factors) -> &mut LinkSpec {
    cell.link.get_or_insert_default()
}

const PLACEMENT: Factor = Factor {
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
    value: value!(|cell| cell.placement),
    id: Id::Varied(36, |cell| vec![cell.placement.id()]),
    compared: Compared::Text(|cell| Some(cell.placement.to_string())),
    label: listed(6, |cell| (!cell.placement.is_default()).then(|| cell.placement.to_string())),
    agent: "the host on which an endpoint's process is started",
    ..WAY
};

pub(super) const ROWS: &[Factor] = &[
    PLACEMENT,
    Factor {
        key: LINK_KEYS[0],
        form: Form::Key(Kind::LinkRate),
        unit: "bit/s",
        range: "10kbit to 100gbit; `unlimited`",
        about: "Rate of each direction of each link between the hosts of a lab, on the wire: `kbit`, `mbit` or `gbit`, or \
                `unlimited`. No link becomes faster than the CPU. Needs a lab, such as `--host lab:2`. Default: that of \
                the lab.",
        brief: "Rates of the links of a lab.",
        noun: Some("rate of links"),
        plural: Some("rates of links"),
        set: Some(|cell, value| link(cell).rate_bit_per_s = value.to::<LinkRate>().0),
        nesting: 18,
        value: value!(|cell| rate(cell)),
        id: Id::Varied(46, |cell| id_part("link", rate(cell))),
        compared: Compared::Text(|cell| rate(cell).map(|rate| rate.to_string())),
        label: listed(12, |cell| {
            rate(cell).filter(|rate| rate.0.is_some()).map(|rate| format!("link {rate}"))
        }),
        agent: "not at all: the runner sets the links before each run",
        ..WAY
    },
    Factor {
        key: LINK_KEYS[1],
        form: Form::Key(Kind::LinkDelay),
        unit: "time",
        range: "0 to 10s",
        about: "Delay from each host of a lab to each other one; a round trip has twice the delay. Needs a lab, such as \
                `--host lab:2`. Default: that of the lab.",
        brief: "Delays of the links of a lab.",
        noun: Some("delay of links"),
        plural: Some("delays of links"),
        set: Some(|cell, value| link(cell).delay_ns = value.to::<LinkDelay>().0),
        nesting: 19,
        value: value!(|cell| delay(cell)),
        id: Id::Varied(47, |cell| id_part("delay", delay(cell))),
        compared: Compared::Text(|cell| delay(cell).map(|delay| delay.to_string())),
        label: listed(13, |cell| {
            delay(cell).filter(|delay| delay.0 > 0).map(|delay| format!("link delay {delay}"))
        }),
        agent: "not at all: the runner sets the links before each run",
        ..WAY
    },
    Factor {
        key: LINK_KEYS[2],
        form: Form::Key(Kind::LinkLoss),
        unit: "percent",
        range: "0% to 100%",
        about: "Chance of each IP packet or fragment to be lost on its way from one host of a lab to another, such as \
                `0.1%`. Needs a lab, such as `--host lab:2`. Default: that of the lab.",
        brief: "Losses of the links of a lab.",
        noun: Some("loss of links"),
        plural: Some("losses of links"),
        set: Some(|cell, value| link(cell).loss_ppm = value.to::<LinkLoss>().0),
        nesting: 20,
        value: value!(|cell| loss(cell)),
        id: Id::Varied(48, |cell| {
            // A percent sign would become a dash.
            let loss = loss(cell).map(|loss| loss.to_string().replace('%', "pct"));
            id_part("loss", loss)
        }),
        compared: Compared::Text(|cell| loss(cell).map(|loss| loss.to_string())),
        label: listed(14, |cell| {
            loss(cell).filter(|loss| loss.0 > 0).map(|loss| format!("link loss {loss}"))
        }),
        agent: "not at all: the runner sets the links before each run",
        ..WAY
    },
];
