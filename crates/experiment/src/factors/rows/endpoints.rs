//! Factors of the endpoints: how they receive, what they hold, and the conditions under which they run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Factors, Flow, GroupSpec, PlanError, ReceiveGroup, ReceiveMode, Size, Time, Workload,
    factors::{
        fields, profiles, queues,
        rows::{ENV, WAY, id_part},
        table::{Baseline, Compared, Factor, Form, Id, Label, ROW, Shares},
        value::Kind,
        variables,
    },
    syntax::units::short,
};

pub(super) const ROWS: &[Factor] = &[
    Factor {
        key: "receive",
        form: Form::Key(Kind::Receive),
        default: || Some(ReceiveMode::Waitset.into()),
        about: "Receive mode: wait on a waitset, poll, or receive in a listener callback. Default `waitset`.",
        brief: "Receive modes.",
        noun: Some("way to receive"),
        plural: Some("ways to receive"),
        unsupported: |driver, description, value| {
            let mode: ReceiveMode = value.to();
            let known = description.receive_modes.iter().map(|mode| mode.name()).collect();
            let missing = !description.receive_modes.contains(&mode);
            missing.then(|| PlanError::NoReceiveMode { driver: driver.to_owned(), mode: mode.name(), known })
        },
        set: Some(|cell, value| cell.receive = value.to()),
        nesting: 0,
        same: |a, b| a.receive == b.receive,
        id: Id::Varied(70, |cell| vec![cell.receive.to_string()]),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.receive.to_string())),
        label: Some(Label { place: 30, text: |cell| Some(cell.reception()), listed: false }),
        agent: "the calls of the reader's thread; reader: `polling`",
        ..ROW
    },
    Factor {
        key: "send_queue",
        about: "Maximum number of samples in the writer's queue, 1 to 2147483647: `max_samples` of its \
                RESOURCE_LIMITS. A middleware that limits bytes gets the size of that many samples. Default: as \
                `[qos]` requests.",
        brief: "Send queues in samples.",
        plural: Some("send_queue"),
        set: Some(|cell, value| cell.queues.send_samples = Some(value.to())),
        nesting: 4,
        same: |a, b| a.queues.send_samples == b.queues.send_samples,
        id: Id::Always(80, |cell| id_part("send-queue", cell.queues.send_samples)),
        compared: Compared::Text(|cell| cell.queues.send_samples.map(|samples| samples.to_string())),
        label: Some(listed(40, |cell| Some(format!("send queue {} samples", cell.queues.send_samples?)))),
        agent: "writer: QoS `max_samples`; participant: `send_queue_bytes`",
        ..QUEUE
    },
    Factor {
        key: "receive_queue",
        about: "Maximum number of samples in the reader's queue, 1 to 2147483647: `max_samples` of its \
                RESOURCE_LIMITS. Default: as `[qos]` requests.",
        brief: "Receive queues in samples.",
        plural: Some("receive_queue"),
        set: Some(|cell, value| cell.queues.receive_samples = Some(value.to())),
        nesting: 5,
        same: |a, b| a.queues.receive_samples == b.queues.receive_samples,
        id: Id::Always(81, |cell| id_part("receive-queue", cell.queues.receive_samples)),
        compared: Compared::Text(|cell| cell.queues.receive_samples.map(|samples| samples.to_string())),
        label: Some(listed(41, |cell| {
            Some(format!("receive queue {} samples", cell.queues.receive_samples?))
        })),
        agent: "reader: QoS `max_samples`",
        ..QUEUE
    },
    Factor {
        key: "send_buffer",
        about: "Send buffer of the sockets in bytes, at most 2147483647; 0 is the driver's default. The kernel may \
                grant another size; the result records the granted one. Default 0.",
        brief: "Send buffers of the sockets.",
        plural: Some("send_buffer"),
        set: Some(|cell, value| {
            cell.queues.send_buffer_bytes = Some(value.to::<Size>().0).filter(|b| *b > 0);
        }),
        nesting: 6,
        same: |a, b| a.queues.send_buffer_bytes == b.queues.send_buffer_bytes,
        id: Id::Always(82, |cell| id_part("send-buffer", cell.queues.send_buffer_bytes)),
        compared: Compared::Text(|cell| cell.queues.send_buffer_bytes.map(|bytes| bytes.to_string())),
        label: Some(listed(42, |cell| Some(format!("send buffer {} bytes", cell.queues.send_buffer_bytes?)))),
        agent: "participant: `send_buffer_bytes`",
        ..BUFFER
    },
    Factor {
        key: "receive_buffer",
        about: "Receive buffer of the sockets in bytes, at most 2147483647; 0 is the driver's default. The kernel \
                may grant another size; the result records the granted one. Default 0.",
        brief: "Receive buffers of the sockets.",
        plural: Some("receive_buffer"),
        set: Some(|cell, value| {
            cell.queues.receive_buffer_bytes = Some(value.to::<Size>().0).filter(|b| *b > 0);
        }),
        nesting: 7,
        same: |a, b| a.queues.receive_buffer_bytes == b.queues.receive_buffer_bytes,
        id: Id::Always(83, |cell| id_part("receive-buffer", cell.queues.receive_buffer_bytes)),
        compared: Compared::Text(|cell| cell.queues.receive_buffer_bytes.map(|bytes| bytes.to_string())),
        label: Some(listed(43, |cell| {
            Some(format!("receive buffer {} bytes", cell.queues.receive_buffer_bytes?))
        })),
        agent: "participant: `receive_buffer_bytes`",
        ..BUFFER
    },
    Factor {
        key: "receive_group",
        form: Form::Key(Kind::Group),
        unit: "samples and time",
        range: "2 to 4096 samples, 1us to 100ms; 1",
        default: || Some(GroupSpec::Each.into()),
        about: "Samples that the reader's application gets together: `8/5ms` is a group of 8, or of those that \
                arrived within 5 ms of the first. 2 to 4096 samples, `1us` to `100ms`; `1` passes on each sample at \
                once. ddsmark groups by itself, with every driver. Only with `receive = \"waitset\"`; no effect on \
                `latency`. Default 1.",
        brief: "Receive groups.",
        plural: Some("receive_group"),
        check: queues::check_groups,
        set: Some(|cell, value| cell.queues.receive_group = value.to::<GroupSpec>().effective()),
        applies: |cell| cell.workload != Workload::Latency && cell.receive == ReceiveMode::Waitset,
        nesting: 8,
        same: |a, b| a.queues.receive_group == b.queues.receive_group,
        id: Id::Always(84, |cell| cell.queues.receive_group.map(ReceiveGroup::id).into_iter().collect()),
        shares: WAY,
        compared: Compared::Text(|cell| cell.queues.receive_group.map(|group| group.to_string())),
        agent: "the groups of the reader's thread",
        ..ROW
    },
    Factor {
        key: "polling_delay",
        form: Form::Key(Kind::Time),
        unit: "time",
        range: "1us to 100ms; 0s",
        default: || Some(Time(0).into()),
        about: "Sleep of a polling reader after it found no sample, `1us` to `100ms`; `0s` disables it. Only with \
                `receive = \"polling\"`; no effect on `latency`. Default `0s`.",
        brief: "Polling delays.",
        plural: Some("polling_delay"),
        check: queues::check_delays,
        set: Some(|cell, value| {
            cell.queues.polling_delay_ns = Some(value.to::<Time>().0).filter(|ns| *ns > 0);
        }),
        applies: |cell| cell.workload != Workload::Latency && cell.receive == ReceiveMode::Polling,
        nesting: 9,
        same: |a, b| a.queues.polling_delay_ns == b.queues.polling_delay_ns,
        id: Id::Always(85, |cell| id_part("delay", cell.queues.polling_delay_ns.map(short))),
        shares: WAY,
        compared: Compared::Text(|cell| cell.queues.polling_delay_ns.map(|ns| Time(ns).to_string())),
        agent: "the sleeps of the reader's thread",
        ..ROW
    },
    Factor {
        key: "slow_reader",
        form: Form::Key(Kind::Time),
        unit: "time",
        range: "50us to 100ms; 0s",
        default: || Some(Time(0).into()),
        about: "Time that the application of the last reader spends on each sample before it takes the next one, `50us` \
                to `100ms`, as a sleep; `0s` disables it. All other readers only count. After the traffic, the rest is \
                counted at full speed. No effect on `latency`. Default `0s`.",
        brief: "Processing times of the last reader.",
        plural: Some("slow_reader"),
        check: queues::check_slow_reader,
        set: Some(|cell, value| {
            cell.queues.slow_reader_ns = Some(value.to::<Time>().0).filter(|ns| *ns > 0);
        }),
        applies: |cell| cell.workload != Workload::Latency,
        nesting: 11,
        same: |a, b| a.queues.slow_reader_ns == b.queues.slow_reader_ns,
        id: Id::Always(86, |cell| id_part("slow-reader", cell.queues.slow_reader_ns.map(short))),
        shares: WAY,
        compared: Compared::Text(|cell| cell.queues.slow_reader_ns.map(|ns| Time(ns).to_string())),
        label: Some(listed(44, |cell| {
            Some(format!("last reader spends {} on each sample", short(cell.queues.slow_reader_ns?)))
        })),
        agent: "the sleeps of the last reader's application",
        ..ROW
    },
    Factor {
        key: "interface",
        form: Form::Key(Kind::Text),
        default: || Some("lo".to_owned().into()),
        about: "Network interfaces by name. `auto` is the one that each host has of its own: that of its entry in \
                `[[host]]`, or the one in the network that all hosts share. Default `lo`; with several hosts `auto`.",
        brief: "Network interfaces.",
        plural: Some("interfaces"),
        set: Some(|cell, value| cell.interface = value.to()),
        nesting: 1,
        same: |a, b| a.interface == b.interface,
        id: Id::Varied(90, |cell| vec![cell.interface.clone()]),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.interface.clone())),
        label: Some(Label { place: 20, text: |cell| Some(cell.interface.clone()), listed: false }),
        agent: "participant: `interface`",
        ..ROW
    },
    // The id has it next to the transport.
    Factor {
        key: "multicast",
        form: Form::Key(Kind::Flag),
        default: || Some(false.into()),
        about: "Whether data is sent by multicast. Default `false`.",
        brief: "Whether data is sent by multicast.",
        plural: Some("values of multicast"),
        unsupported: |driver, description, value| {
            let missing = value.to() && !description.has("multicast");
            missing.then(|| PlanError::NoMulticast { driver: driver.to_owned() })
        },
        set: Some(|cell, value| cell.multicast = value.to()),
        nesting: 2,
        same: |a, b| a.multicast == b.multicast,
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.multicast.to_string())),
        agent: "participant: `multicast`",
        ..ROW
    },
    Factor {
        key: "asynchronous",
        form: Form::Key(Kind::Flag),
        default: || Some(false.into()),
        about: "Whether a thread of the middleware sends the samples, of data and of echoes, instead of the writing thread. Not \
                every driver has one. Default `false`.",
        brief: "Whether a thread of the middleware sends the samples.",
        plural: Some("values of asynchronous"),
        unsupported: |driver, description, value| {
            let missing = value.to() && !description.has("async_write");
            missing.then(|| {
                let words = format!("driver `{driver}` has no thread that sends samples");
                let hint =
                    "remove `asynchronous`, or use drivers with the feature `async_write`: see `ddsmark drivers info D`";
                PlanError::Contradiction { words, hint }
            })
        },
        set: Some(|cell, value| cell.asynchronous = value.to()),
        nesting: 21,
        same: |a, b| a.asynchronous == b.asynchronous,
        id: Id::Always(87, |cell| cell.asynchronous.then(|| "async".to_owned()).into_iter().collect()),
        shares: WAY,
        compared: Compared::Text(|cell| Some(cell.asynchronous.to_string())),
        label: Some(Label {
            place: 60,
            text: |cell| cell.asynchronous.then(|| "asynchronous".to_owned()),
            listed: true,
        }),
        agent: "writer: `async_write`",
        ..ROW
    },
    Factor {
        key: "vendor_defaults",
        form: Form::Key(Kind::Flag),
        default: || Some(false.into()),
        about: "Whether each middleware runs as shipped: without the driver's own tuning and without queue sizes. \
                Settings that the workload needs or that this file requests still apply. Default `false`.",
        brief: "Whether the middleware runs as shipped.",
        plural: Some("values of vendor_defaults"),
        set: Some(|cell, value| cell.vendor_defaults = value.to()),
        nesting: 3,
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
        agent: "participant: `vendor_defaults`",
        ..ROW
    },
    Factor {
        key: "profile",
        form: Form::Key(Kind::Text),
        about: "QoS profiles: names of `[profiles]`; presets of ROS 2 (REP 2003, `rmw/qos_profiles.h`) \
                `ros2:sensor_data`, `ros2:default`, `ros2:services_default`, `ros2:parameters`, \
                `ros2:parameter_events`, `ros2:system_default`; or `FILE.xml#LIBRARY::PROFILE`, a profile of an XML file \
                as OMG DDS-XML 1.0 defines it, whose path is relative to the experiment file. `default` is `[qos]` \
                alone, unless a profile has that name. Default: `default`, then all of `[profiles]`.",
        brief: "Profile names.",
        plural: Some("profiles"),
        has: Some(|cell, value| {
            cell.profile.as_deref().unwrap_or(super::DEFAULT_PROFILE) == value.to::<String>()
        }),
        same: |a, b| a.profile == b.profile,
        id: Id::Columns(120, profiles::ids),
        compared: Compared::Text(|cell| cell.profile.clone()),
        implies: &["qos", "effective_qos"],
        label: Some(Label {
            place: 50,
            text: |cell| Some(format!("profile {}", cell.profile.as_ref()?)),
            listed: false,
        }),
        agent: "as `qos`",
        ..ROW
    },
    Factor {
        key: ENV,
        form: Form::Table("`[factors.env]`"),
        about: "Environment variables of the agents by name, such as `LD_PRELOAD`, `LD_LIBRARY_PATH`, or those that \
                a middleware reads. `false` removes a variable, `\"\"` sets it to an empty value; all others are \
                inherited. A name must not start with `DDSMARK_`. A list makes the variable the factor `env.NAME`. \
                Only the agents get these variables, not the processes of `ddsmark drivers`.",
        brief: "Environment variables of the agents.",
        same: |a, b| a.env == b.env,
        parts: Some(|cell| &cell.env),
        id: Id::Columns(110, variables::ids),
        compared: Compared::Fields(fields::of_env),
        label: Some(Label {
            place: 60,
            text: |cell| Some(cell.env_text()).filter(|text| !text.is_empty()),
            listed: false,
        }),
        agent: "the environment of its process",
        ..ROW
    },
    Factor {
        key: "options",
        form: Form::Table("`[options.DRIVER]`"),
        same: |a, b| a.options == b.options,
        id: Id::Columns(100, option_ids),
        compared: Compared::Fields(fields::of_options),
        agent: "participant: `options`",
        ..ROW
    },
    Factor {
        key: "flows",
        form: Form::Table("`[[flows]]`"),
        same: |a, b| without_qos(&a.flows) == without_qos(&b.flows),
        shares: Shares { curve: true, ..ROW.shares },
        compared: Compared::Fields(fields::of_flows),
        agent: "one writer and one reader per flow",
        ..ROW
    },
    // The requested policies follow from the profile, the driver, `vendor_defaults` and the size.
    Factor {
        key: "qos",
        form: Form::Table("`[qos]`"),
        same: Factors::same_qos,
        shares: Shares { baseline: Baseline::Always, ..ROW.shares },
        compared: Compared::Fields(fields::of_qos),
        implies: &["qos", "effective_qos"],
        agent: "writer and reader: `qos`",
        ..ROW
    },
];

/// Columns that the two queues of samples have in common.
const QUEUE: Factor = Factor {
    form: Form::Key(Kind::Number),
    unit: "samples",
    range: "1 to 2147483647",
    check: queues::check_queue,
    implies: &["effective_qos.*.max_samples"],
    ..ROW
};

/// Columns that the two socket buffers have in common.
const BUFFER: Factor = Factor {
    form: Form::Key(Kind::Size),
    unit: "bytes",
    range: "0 to 2147483647",
    default: || Some(Size(0).into()),
    check: queues::check_buffer,
    ..ROW
};

const fn listed(place: u8, text: fn(&Factors) -> Option<String>) -> Label {
    Label { place, text, listed: true }
}

/// Returns the flows without their policies, which follow from the profile.
fn without_qos(flows: &[Flow]) -> Vec<Flow> {
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
