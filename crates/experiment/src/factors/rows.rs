//! Rows of the table of factors.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Factors, Flow, ReceiveGroup,
    factors::table::{Baseline, Factor, Id, ROW, Shares},
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
        ..ROW
    },
    Factor { key: "topology", same: |a, b| a.topology == b.topology, ..ROW },
    Factor {
        key: "driver",
        same: |a, b| a.driver == b.driver,
        id: Id::Always(10, |cell| vec![cell.driver.rsplit('/').next().unwrap_or(&cell.driver).to_owned()]),
        ..ROW
    },
    Factor {
        key: "transport",
        same: |a, b| a.transport == b.transport,
        id: Id::Always(20, |cell| {
            vec![format!("{}{}", cell.transport, if cell.multicast { "-multicast" } else { "" })]
        }),
        shares: WAY,
        ..ROW
    },
    Factor {
        key: "size",
        same: |a, b| a.size_bytes == b.size_bytes,
        id: Id::Always(40, |cell| {
            vec![if cell.flows.is_empty() { cell.size_bytes.to_string() } else { "flows".to_owned() }]
        }),
        shares: POINT,
        ..ROW
    },
    Factor {
        key: "rate",
        same: |a, b| a.load == b.load,
        id: Id::Always(50, |cell| cell.load.iter().flat_map(load_id).collect()),
        shares: Shares { maximum: true, ..POINT },
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
        ..ROW
    },
    // The batch of a cell is compared under `batch_bytes`.
    Factor { key: "batch_samples", ..ROW },
    Factor {
        key: "receive",
        same: |a, b| a.receive == b.receive,
        id: Id::Varied(70, |cell| vec![cell.receive.to_string()]),
        shares: WAY,
        ..ROW
    },
    Factor {
        key: "send_queue",
        same: |a, b| a.queues.send_samples == b.queues.send_samples,
        id: Id::Always(80, |cell| numbered("send-queue", cell.queues.send_samples)),
        ..ROW
    },
    Factor {
        key: "receive_queue",
        same: |a, b| a.queues.receive_samples == b.queues.receive_samples,
        id: Id::Always(81, |cell| numbered("receive-queue", cell.queues.receive_samples)),
        ..ROW
    },
    Factor {
        key: "send_buffer",
        same: |a, b| a.queues.send_buffer_bytes == b.queues.send_buffer_bytes,
        id: Id::Always(82, |cell| numbered("send-buffer", cell.queues.send_buffer_bytes)),
        ..ROW
    },
    Factor {
        key: "receive_buffer",
        same: |a, b| a.queues.receive_buffer_bytes == b.queues.receive_buffer_bytes,
        id: Id::Always(83, |cell| numbered("receive-buffer", cell.queues.receive_buffer_bytes)),
        ..ROW
    },
    Factor {
        key: "receive_group",
        same: |a, b| a.queues.receive_group == b.queues.receive_group,
        id: Id::Always(84, |cell| cell.queues.receive_group.map(ReceiveGroup::id).into_iter().collect()),
        shares: WAY,
        ..ROW
    },
    Factor {
        key: "polling_delay",
        same: |a, b| a.queues.polling_delay_ns == b.queues.polling_delay_ns,
        id: Id::Always(85, |cell| numbered("delay", cell.queues.polling_delay_ns.map(short))),
        shares: WAY,
        ..ROW
    },
    Factor {
        key: "interface",
        same: |a, b| a.interface == b.interface,
        id: Id::Varied(90, |cell| vec![cell.interface.clone()]),
        shares: WAY,
        ..ROW
    },
    // The id has it next to the transport.
    Factor { key: "multicast", same: |a, b| a.multicast == b.multicast, shares: WAY, ..ROW },
    Factor {
        key: "vendor_defaults",
        same: |a, b| a.vendor_defaults == b.vendor_defaults,
        id: Id::Always(130, |cell| {
            cell.vendor_defaults.then(|| "as-shipped".to_owned()).into_iter().collect()
        }),
        shares: WAY,
        ..ROW
    },
    Factor {
        key: "profile",
        same: |a, b| a.profile == b.profile,
        id: Id::Always(120, |cell| cell.profile.clone().into_iter().collect()),
        ..ROW
    },
    Factor {
        key: "env",
        same: |a, b| a.env == b.env,
        parts: Some(|cell| &cell.env),
        id: Id::Columns(110, variables::ids),
        ..ROW
    },
    Factor { key: "options", same: |a, b| a.options == b.options, id: Id::Columns(100, option_ids), ..ROW },
    Factor { key: "flows", same: |a, b| written(&a.flows) == written(&b.flows), shares: POINT, ..ROW },
    // The requested policies follow from the profile, the driver, `vendor_defaults` and the size.
    Factor {
        key: "qos",
        same: Factors::same_qos,
        shares: Shares { baseline: Baseline::Always, ..ROW.shares },
        ..ROW
    },
];

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
