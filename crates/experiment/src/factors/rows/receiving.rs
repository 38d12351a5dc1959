//! Factors of receiving, and of what endpoints hold: receive modes, queues, buffers and groups.

use driver_abi::description::ReceiveMode;

use crate::{
    factors::{
        Workload,
        content_filter::{FilterSpec, KeyFilter},
        group::{GroupSpec, ReceiveGroup},
        instances, queues,
        rows::{WAY, id_part},
        table::{Compared, Factor, Form, Id, ROW, listed, unlisted, value},
        value::Kind,
    },
    syntax::{
        spanned_error::contradiction,
        units::{Size, Time, short},
    },
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
            let missing = !description.receive_modes.contains(&mode);
            missing.then(|| {
                let known: Vec<_> = description.receive_modes.iter().map(|mode| mode.name()).collect();
                let words = format!("driver `{driver}` cannot receive by {}", mode.name());
                contradiction(words, format!("available: {}", known.join(", ")))
            })
        },
        set: Some(|cell, value| cell.receive = value.to()),
        nesting: 0,
        value: value!(|cell| cell.receive),
        id: Id::Varied(70, |cell| vec![cell.receive.to_string()]),
        compared: Compared::Text(|cell| Some(cell.receive.to_string())),
        label: unlisted(30, |cell| Some(cell.reception())),
        agent: "the calls of the reader's thread; reader: `polling`",
        ..WAY
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
        value: value!(|cell| cell.queues.send_samples),
        id: Id::Always(80, |cell| id_part("send-queue", cell.queues.send_samples)),
        compared: Compared::Text(|cell| cell.queues.send_samples.map(|samples| samples.to_string())),
        label: listed(40, |cell| Some(format!("send queue {} samples", cell.queues.send_samples?))),
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
        value: value!(|cell| cell.queues.receive_samples),
        id: Id::Always(81, |cell| id_part("receive-queue", cell.queues.receive_samples)),
        compared: Compared::Text(|cell| cell.queues.receive_samples.map(|samples| samples.to_string())),
        label: listed(41, |cell| Some(format!("receive queue {} samples", cell.queues.receive_samples?))),
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
        value: value!(|cell| cell.queues.send_buffer_bytes),
        id: Id::Always(82, |cell| id_part("send-buffer", cell.queues.send_buffer_bytes)),
        compared: Compared::Text(|cell| cell.queues.send_buffer_bytes.map(|bytes| bytes.to_string())),
        label: listed(42, |cell| Some(format!("send buffer {} bytes", cell.queues.send_buffer_bytes?))),
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
        value: value!(|cell| cell.queues.receive_buffer_bytes),
        id: Id::Always(83, |cell| id_part("receive-buffer", cell.queues.receive_buffer_bytes)),
        compared: Compared::Text(|cell| cell.queues.receive_buffer_bytes.map(|bytes| bytes.to_string())),
        label: listed(43, |cell| Some(format!("receive buffer {} bytes", cell.queues.receive_buffer_bytes?))),
        agent: "participant: `receive_buffer_bytes`",
        ..BUFFER
    },
    Factor {
        key: "receive_group",
        form: Form::Key(Kind::Group),
        unit: "samples and time",
        range: "2 to 4096 samples, 1us to 100ms; 1",
        default: || Some(GroupSpec(None).into()),
        about: "Samples that the reader's application gets together: `8/5ms` is a group of 8, or of those that \
                arrived within 5 ms of the first. 2 to 4096 samples, `1us` to `100ms`; `1` passes on each sample at \
                once. ddsmark groups by itself, with every driver. Only with `receive = \"waitset\"`; no effect on \
                `latency`. Default 1.",
        brief: "Receive groups.",
        plural: Some("receive_group"),
        check: queues::check_groups,
        set: Some(|cell, value| cell.queues.receive_group = value.to::<GroupSpec>().0),
        applies: |cell| cell.workload != Workload::Latency && cell.receive == ReceiveMode::Waitset,
        nesting: 8,
        value: value!(|cell| cell.queues.receive_group),
        id: Id::Always(84, |cell| cell.queues.receive_group.map(ReceiveGroup::id).into_iter().collect()),
        compared: Compared::Text(|cell| cell.queues.receive_group.map(|group| group.to_string())),
        agent: "the groups of the reader's thread",
        ..WAY
    },
    Factor {
        key: "content_filter",
        form: Form::Key(Kind::Filter),
        range: "`key = A`, `key BETWEEN A AND B`, `key >= A AND key <= B`; `none`",
        default: || Some(FilterSpec(None).into()),
        about: "Condition on the key of the samples that readers receive, as in DDS 1.4, annex B: `key = 3`, `key BETWEEN 3 AND \
                5`, or `key >= 3 AND key <= 5`. The driver filters; a sample that the filter excludes is neither passed to a \
                reader nor lost, but counted as `filtered`. Only with `instances`, for `throughput` and `paced`. Not every \
                driver has filters. Default `none`.",
        brief: "Content filters.",
        plural: Some("values of content_filter"),
        check: instances::check_filter,
        unsupported: instances::filter_unsupported,
        set: Some(|cell, value| cell.content_filter = value.to::<FilterSpec>().0),
        applies: |cell| {
            cell.instances.is_some() && matches!(cell.workload, Workload::Throughput | Workload::Paced)
        },
        nesting: 23,
        value: value!(|cell| cell.content_filter),
        id: Id::Always(84, |cell| cell.content_filter.map(KeyFilter::id).into_iter().collect()),
        compared: Compared::Text(|cell| cell.content_filter.map(|filter| filter.to_string())),
        label: listed(45, |cell| Some(format!("filter `{}`", cell.content_filter?))),
        agent: "reader: `content_filter`",
        ..WAY
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
        value: value!(|cell| cell.queues.polling_delay_ns),
        id: Id::Always(85, |cell| id_part("delay", cell.queues.polling_delay_ns.map(short))),
        compared: Compared::Text(|cell| cell.queues.polling_delay_ns.map(|ns| Time(ns).to_string())),
        agent: "the sleeps of the reader's thread",
        ..WAY
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
        value: value!(|cell| cell.queues.slow_reader_ns),
        id: Id::Always(86, |cell| id_part("slow-reader", cell.queues.slow_reader_ns.map(short))),
        compared: Compared::Text(|cell| cell.queues.slow_reader_ns.map(|ns| Time(ns).to_string())),
        label: listed(44, |cell| {
            Some(format!("last reader spends {} on each sample", short(cell.queues.slow_reader_ns?)))
        }),
        agent: "the sleeps of the last reader's application",
        ..WAY
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
