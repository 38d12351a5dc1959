//! Rows of the table of factors.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Factors, Flow, ReceiveGroup, Time,
    factors::{
        fields::{self, Compared},
        table::{Baseline, Factor, Id, Label, ROW, Shares},
    },
    load::load_id,
    queues::short,
    variables,
};

/// What cells that differ in the size, the load or the batching share: they are points of one curve.
const POINT: Shares = Shares { curve: true, ..ROW.shares };
/// What cells share that differ in the way of a sample: no bare socket either.
const WAY: Shares = Shares { socket: false, ..ROW.shares };

/// All factors.
pub static FACTORS: &[Factor] = &[
    Factor {
        key: "workload",
        same: |a, b| a.workload == b.workload,
        id: Id::Always(30, |cell| vec![cell.workload.to_string()]),
        shares: Shares { baseline: Baseline::Never, ..POINT },
        compared: Compared::Text(|cell| Some(cell.workload.to_string())),
        ..ROW
    },
    Factor {
        key: "topology",
        same: |a, b| a.topology == b.topology,
        compared: Compared::Text(|cell| Some(cell.topology.to_string())),
        ..ROW
    },
    Factor {
        key: "driver",
        same: |a, b| a.driver == b.driver,
        id: Id::Always(10, |cell| vec![cell.driver.rsplit('/').next().unwrap_or(&cell.driver).to_owned()]),
        compared: Compared::Text(|cell| Some(cell.driver.clone())),
        implies: &["batching", "option", "effective_qos"],
        ..ROW
    },
    Factor {
        key: "transport",
        same: |a, b| a.transport == b.transport,
        id: Id::Always(20, |cell| {
            vec![format!("{}{}", cell.transport, if cell.multicast { "-multicast" } else { "" })]
        }),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.transport.clone())),
        label: Some(Label { place: 10, text: |cell| Some(cell.transport.clone()), listed: false }),
        ..ROW
    },
    Factor {
        key: "size",
        same: |a, b| a.size_bytes == b.size_bytes,
        id: Id::Always(40, |cell| {
            vec![if cell.flows.is_empty() { cell.size_bytes.to_string() } else { "flows".to_owned() }]
        }),
        shares: POINT,
        compared: Compared::Text(|cell| Some(cell.size_bytes.to_string())),
        ..ROW
    },
    Factor {
        key: "rate",
        same: |a, b| a.load == b.load,
        id: Id::Always(50, |cell| cell.load.iter().flat_map(load_id).collect()),
        shares: Shares { maximum: true, ..POINT },
        compared: Compared::Fields(fields::of_load),
        ..ROW
    },
    // The load of a cell is compared under `rate`.
    Factor { key: "arrival", ..ROW },
    Factor { key: "trace", ..ROW },
    Factor {
        key: "batch_bytes",
        same: |a, b| a.batch_bytes == b.batch_bytes && a.batching.is_turbo() == b.batching.is_turbo(),
        id: Id::Always(60, |cell| {
            let kind = if cell.batching.is_turbo() { "turbo" } else { "batch" };
            (cell.batch_bytes > 0).then(|| format!("{kind}-{}", cell.batch_bytes)).into_iter().collect()
        }),
        shares: POINT,
        compared: Compared::Fields(fields::of_batch),
        implies: &["batching"],
        ..ROW
    },
    // The batch of a cell is compared under `batch_bytes`.
    Factor { key: "batch_samples", ..ROW },
    Factor {
        key: "receive",
        same: |a, b| a.receive == b.receive,
        id: Id::Varied(70, |cell| vec![cell.receive.to_string()]),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.receive.to_string())),
        label: Some(Label { place: 30, text: |cell| Some(cell.reception()), listed: false }),
        ..ROW
    },
    Factor {
        key: "send_queue",
        same: |a, b| a.queues.send_samples == b.queues.send_samples,
        id: Id::Always(80, |cell| numbered("send-queue", cell.queues.send_samples)),
        compared: Compared::Text(|cell| cell.queues.send_samples.map(|samples| samples.to_string())),
        implies: &["effective_qos.*.max_samples"],
        label: Some(listed(40, |cell| Some(format!("send queue {} samples", cell.queues.send_samples?)))),
        ..ROW
    },
    Factor {
        key: "receive_queue",
        same: |a, b| a.queues.receive_samples == b.queues.receive_samples,
        id: Id::Always(81, |cell| numbered("receive-queue", cell.queues.receive_samples)),
        compared: Compared::Text(|cell| cell.queues.receive_samples.map(|samples| samples.to_string())),
        implies: &["effective_qos.*.max_samples"],
        label: Some(listed(41, |cell| {
            Some(format!("receive queue {} samples", cell.queues.receive_samples?))
        })),
        ..ROW
    },
    Factor {
        key: "send_buffer",
        same: |a, b| a.queues.send_buffer_bytes == b.queues.send_buffer_bytes,
        id: Id::Always(82, |cell| numbered("send-buffer", cell.queues.send_buffer_bytes)),
        compared: Compared::Text(|cell| cell.queues.send_buffer_bytes.map(|bytes| bytes.to_string())),
        label: Some(listed(42, |cell| Some(format!("send buffer {} bytes", cell.queues.send_buffer_bytes?)))),
        ..ROW
    },
    Factor {
        key: "receive_buffer",
        same: |a, b| a.queues.receive_buffer_bytes == b.queues.receive_buffer_bytes,
        id: Id::Always(83, |cell| numbered("receive-buffer", cell.queues.receive_buffer_bytes)),
        compared: Compared::Text(|cell| cell.queues.receive_buffer_bytes.map(|bytes| bytes.to_string())),
        label: Some(listed(43, |cell| {
            Some(format!("receive buffer {} bytes", cell.queues.receive_buffer_bytes?))
        })),
        ..ROW
    },
    Factor {
        key: "receive_group",
        same: |a, b| a.queues.receive_group == b.queues.receive_group,
        id: Id::Always(84, |cell| cell.queues.receive_group.map(ReceiveGroup::id).into_iter().collect()),
        shares: WAY,
        compared: Compared::Text(|cell| cell.queues.receive_group.map(|group| group.to_string())),
        ..ROW
    },
    Factor {
        key: "polling_delay",
        same: |a, b| a.queues.polling_delay_ns == b.queues.polling_delay_ns,
        id: Id::Always(85, |cell| numbered("delay", cell.queues.polling_delay_ns.map(short))),
        shares: WAY,
        compared: Compared::Text(|cell| cell.queues.polling_delay_ns.map(|ns| Time(ns).to_string())),
        ..ROW
    },
    Factor {
        key: "interface",
        same: |a, b| a.interface == b.interface,
        id: Id::Varied(90, |cell| vec![cell.interface.clone()]),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.interface.clone())),
        label: Some(Label { place: 20, text: |cell| Some(cell.interface.clone()), listed: false }),
        ..ROW
    },
    // The id has it next to the transport.
    Factor {
        key: "multicast",
        same: |a, b| a.multicast == b.multicast,
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.multicast.to_string())),
        ..ROW
    },
    Factor {
        key: "vendor_defaults",
        same: |a, b| a.vendor_defaults == b.vendor_defaults,
        id: Id::Always(130, |cell| {
            cell.vendor_defaults.then(|| "as-shipped".to_owned()).into_iter().collect()
        }),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.vendor_defaults.to_string())),
        implies: &["qos", "effective_qos"],
        label: Some(Label {
            place: 70,
            text: |cell| cell.vendor_defaults.then(|| "as shipped".to_owned()),
            listed: false,
        }),
        ..ROW
    },
    Factor {
        key: "profile",
        same: |a, b| a.profile == b.profile,
        id: Id::Always(120, |cell| cell.profile.clone().into_iter().collect()),
        compared: Compared::Text(|cell| cell.profile.clone()),
        implies: &["qos", "effective_qos"],
        label: Some(Label {
            place: 50,
            text: |cell| Some(format!("profile {}", cell.profile.as_ref()?)),
            listed: false,
        }),
        ..ROW
    },
    Factor {
        key: "env",
        same: |a, b| a.env == b.env,
        parts: Some(|cell| &cell.env),
        id: Id::Columns(110, variables::ids),
        compared: Compared::Fields(fields::of_env),
        label: Some(Label {
            place: 60,
            text: |cell| Some(cell.env_text()).filter(|text| !text.is_empty()),
            listed: false,
        }),
        ..ROW
    },
    Factor {
        key: "options",
        same: |a, b| a.options == b.options,
        id: Id::Columns(100, option_ids),
        compared: Compared::Fields(fields::of_options),
        ..ROW
    },
    Factor {
        key: "flows",
        same: |a, b| written(&a.flows) == written(&b.flows),
        shares: POINT,
        compared: Compared::Fields(fields::of_flows),
        ..ROW
    },
    // The requested policies follow from the profile, the driver, `vendor_defaults` and the size.
    Factor {
        key: "qos",
        implies: &["qos", "effective_qos"],
        same: Factors::same_qos,
        shares: Shares { baseline: Baseline::Always, ..ROW.shares },
        compared: Compared::Fields(fields::of_qos),
        ..ROW
    },
];

const fn listed(place: u8, text: fn(&Factors) -> Option<String>) -> Label {
    Label { place, text, listed: true }
}

fn numbered(name: &str, value: Option<impl std::fmt::Display>) -> Vec<String> {
    value.map(|value| format!("{name}-{value}")).into_iter().collect()
}

/// Returns the flows without their policies, which follow from the profile.
fn written(flows: &[Flow]) -> Vec<Flow> {
    flows.iter().cloned().map(|flow| Flow { qos: None, qos_of_ends: None, ..flow }).collect()
}

/// Returns the parts of ids for driver options: those of which a driver has several values.
fn option_ids(all: &[Factors]) -> Vec<Vec<String>> {
    let mut values: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for cell in all {
        for (name, value) in &cell.options {
            values.entry((&cell.driver, name)).or_default().insert(value);
        }
    }
    let of = |cell: &Factors| {
        let varied = |name: &str| values[&(cell.driver.as_str(), name)].len() > 1;
        let options = cell.options.iter().filter(|(name, _)| varied(name));
        options.map(|(name, value)| format!("{name}-{value}")).collect()
    };
    all.iter().map(of).collect()
}
