//! Factors of the traffic: who sends what, and how fast.

use crate::{
    factors::{
        Workload, fields, in_flight, instances,
        load::{Arrival, load_id},
        processes,
        rows::{FLAG, WAY, discovery},
        table::{Baseline, Column, Compared, Factor, Form, Id, ROW, Shares, listed, unlisted, value},
        topics,
        topology::Topology,
        value::{Kind, Value},
        values::FactorValues,
        writer_loads,
    },
    syntax::{
        spanned_error::{PlanError, fault},
        units::Size,
    },
};

/// Sharing of factors whose values are points of one curve.
const POINT: Shares = Shares { curve: true, ..ROW.shares };
/// Sharing of the load: one maximum rate, too.
const LOAD: Shares = Shares { maximum: true, ..POINT };

/// Rejects topologies that a workload does not have.
fn check_topology(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    let topology: Topology = value.to();
    let writers = match topology {
        Topology::Mesh { writers, .. } => writers,
        Topology::Ring { .. } => {
            let workloads = all.all::<Workload>("workload");
            let other = workloads.values().find(|workload| **workload != Workload::Latency)?;
            let words = format!("`topology = \"{topology}\"` is not supported by the workload `{other}`");
            return fault(words, "use the workload `latency` for rings, or `topology = \"pair\"`");
        }
        Topology::FullMesh { .. } if all.has_workload(Workload::Discovery) => return None,
        Topology::FullMesh { .. } => {
            return fault(
                format!("no such workload measures `topology = \"{topology}\"`"),
                "use `pair`, numbers of writers and readers such as `1-3`, `ring-3`, or `full-mesh-N` with the workload `discovery`",
            );
        }
    };
    if writers > 1 && all.has_workload(Workload::Latency) {
        let words = format!("`topology = \"{topology}\"` has several pingers");
        return fault(words, "use one writer for the workload `latency`, such as `topology = \"1-3\"`");
    }
    if !topology.is_pair() && all.has_workload(Workload::Search) {
        let words = format!("`topology = \"{topology}\"` is not supported by the workload `search`");
        return fault(words, "use `topology = \"pair\"`, or the workload `throughput`");
    }
    None
}

/// Rejects echoes of all readers for workloads without pings.
fn check_echoes(_: &Factor, value: &Value, all: &FactorValues) -> Option<PlanError> {
    if value.to::<bool>() && all.has_stream() {
        let words = "`all_readers_echo` is about pings, and only the workload `latency` sends them";
        return fault(words, "use `workload = \"latency\"`, or remove `all_readers_echo`");
    }
    None
}

pub(super) const ROWS: &[Factor] = &[
    Factor {
        key: "workload",
        form: Form::FileKey(Kind::Workload),
        about: "Workloads to measure.",
        brief: "Workloads.",
        noun: Some("workload"),
        plural: Some("workloads"),
        check: discovery::check_workload,
        has: Some(|cell, value| cell.workload == value.to::<Workload>()),
        value: value!(|cell| cell.workload),
        id: Id::Always(30, |cell| vec![cell.workload.to_string()]),
        shares: Shares { baseline: Baseline::Never, ..POINT },
        compared: Compared::Text(|cell| Some(cell.workload.to_string())),
        agent: "the role of the agent, and its phases",
        ..ROW
    },
    Factor {
        key: "topology",
        form: Form::Key(Kind::Topology),
        unit: "endpoints",
        range: "1-1 to 1000-1000; `pair`; `ring-2` to `ring-16`",
        default: || Some(Topology::PAIR.into()),
        about: "Numbers of writing and of reading endpoints, each a process of its own: `1-3` is one writer and three \
                readers, `3-1` three writers and one reader, and `pair` is `1-1`. Every reader receives the samples of \
                every writer. For `latency`, which has one pinger, the first reader echoes and the others only receive. \
                `ring-3`, only for `latency`, is a ring of three nodes, each a process of its own: each node passes the \
                samples of the node before it on to the node after it. With `WRITER+READER`, the first driver is that \
                of node 1, and the second that of all other nodes. Default `pair`.",
        brief: "Topologies.",
        plural: Some("topologies"),
        check: check_topology,
        set: Some(|cell, value| cell.topology = value.to()),
        nesting: 10,
        value: value!(|cell| cell.topology),
        id: Id::Always(35, |cell| {
            if cell.topology.is_pair() { Vec::new() } else { vec![cell.topology.to_string()] }
        }),
        compared: Compared::Text(|cell| Some(cell.topology.to_string())),
        label: listed(5, |cell| (!cell.topology.is_pair()).then(|| format!("topology {}", cell.topology))),
        agent: "the number of agents, and what each of them writes and expects",
        ..WAY
    },
    Factor {
        key: "all_readers_echo",
        about: "For `latency` with several readers: whether each of them echoes every ping, over a topic of its own, \
                instead of the first one only. The next ping leaves when all echoes are back. Default `false`.",
        brief: "Whether all readers echo, instead of the first one.",
        plural: Some("values of all_readers_echo"),
        check: check_echoes,
        set: Some(|cell, value| cell.all_readers_echo = value.to()),
        nesting: 10,
        value: value!(|cell| cell.all_readers_echo),
        id: Id::Always(36, |cell| cell.all_readers_echo.then(|| "all-echo".to_owned()).into_iter().collect()),
        compared: Compared::Text(|cell| Some(cell.all_readers_echo.to_string())),
        label: unlisted(6, |cell| cell.all_readers_echo.then(|| "all readers echo".to_owned())),
        agent: "the roles of the agents, and the topics of the echoes",
        ..FLAG
    },
    Factor {
        key: "in_flight",
        form: Form::Key(Kind::Number),
        unit: "samples",
        range: "1 to 1000",
        default: || Some(1_u32.into()),
        about: "Number of samples in flight around a ring, 1 to 1000. With several, node 1 sends the next sample each \
                time one returns, and the result has the time per sample and hop; the other nodes repeat writes that are \
                not accepted. Needs `topology = \"ring-N\"`. Default 1.",
        brief: "Numbers of samples in flight around a ring.",
        plural: Some("numbers of samples in flight"),
        check: in_flight::check,
        set: Some(|cell, value| cell.in_flight = Some(value.to()).filter(|in_flight| *in_flight > 1)),
        nesting: 11,
        value: value!(|cell| cell.in_flight),
        id: Id::Always(37, |cell| super::id_part("in-flight", cell.in_flight)),
        compared: Compared::Text(|cell| Some(cell.in_flight.unwrap_or(1).to_string())),
        label: listed(6, |cell| Some(format!("{} in flight", cell.in_flight?))),
        agent: "the roles of the agents; the samples that node 1 keeps in flight, and the buffers of the other nodes",
        ..WAY
    },
    Factor {
        key: "driver",
        short: Some('d'),
        form: Form::Key(Kind::Text),
        about: "Drivers: a name, `NAME@VERSION` for a version of the middleware, `WRITER+READER` for different \
                drivers of writer and reader, or the path of a file. Default: every installed driver that is not a \
                simulation.",
        brief: "Driver names or paths.",
        plural: Some("drivers"),
        has: Some(|cell, value| cell.driver == value.to::<String>()),
        value: value!(|cell| cell.driver),
        id: Id::Always(10, |cell| vec![cell.driver.rsplit('/').next().unwrap_or(&cell.driver).to_owned()]),
        compared: Compared::Text(|cell| Some(cell.driver.clone())),
        implies: &["batching", "option", "effective_qos"],
        agent: "the library that the agent loads",
        ..ROW
    },
    Factor {
        key: "transport",
        short: Some('t'),
        form: Form::Key(Kind::Text),
        default: || Some("default".to_owned().into()),
        about: "Transports by name; `default` is the default of each driver, and with `vendor_defaults` \
                `builtin` if it has that: the transports that the middleware enables by itself. `all` means each \
                of its transports by itself. Default `default`.",
        brief: "Transport names.",
        plural: Some("transports"),
        has: Some(|cell, value| cell.transport == value.to::<String>()),
        value: value!(|cell| cell.transport),
        id: Id::Always(20, |cell| {
            vec![format!("{}{}", cell.transport, if cell.multicast { "-multicast" } else { "" })]
        }),
        compared: Compared::Text(|cell| Some(cell.transport.clone())),
        label: unlisted(10, |cell| Some(cell.way())),
        agent: "participant: `transport`",
        ..WAY
    },
    Factor {
        key: "size",
        short: Some('s'),
        form: Form::Key(Kind::Size),
        unit: "bytes",
        range: "16 to the maximum of the transport",
        default: || Some(Size(1024).into()),
        about: "Payload of a sample in bytes, at least 16; includes the 16-byte sample header. Default 1024.",
        brief: "Payload sizes.",
        plural: Some("sizes"),
        has: Some(|cell, value| cell.size_bytes == value.to::<Size>().0),
        value: value!(|cell| cell.size_bytes),
        id: Id::Always(40, |cell| {
            vec![if cell.flows.is_empty() { cell.size_bytes.to_string() } else { "flows".to_owned() }]
        }),
        shares: POINT,
        compared: Compared::Text(|cell| Some(cell.size_bytes.to_string())),
        column: Some(Column { heading: "Size (B)", text: |cell| cell.size_bytes.to_string(), placed: true }),
        agent: "length of the samples; writer and reader: `max_payload_bytes`",
        ..ROW
    },
    Factor {
        key: "instances",
        form: Form::Key(Kind::Number),
        unit: "instances",
        range: "1 to 100000; 0",
        default: || Some(0_u32.into()),
        about: "Number of instances of a keyed type, 1 to 100000: the samples of a writer have their keys in turn. 0 is a \
                type without key. The first sample of an instance registers it: with enough samples, in the warm-up. \
                The limits of the queues are divided among the instances. Not every driver has a keyed type. Default 0.",
        brief: "Numbers of instances.",
        plural: Some("numbers of instances"),
        check: instances::check,
        unsupported: instances::unsupported,
        set: Some(|cell, value| cell.instances = Some(value.to()).filter(|instances| *instances > 0)),
        nesting: 12,
        value: value!(|cell| cell.instances),
        id: Id::Always(45, |cell| super::id_part("instances", cell.instances)),
        compared: Compared::Text(|cell| cell.instances.map(|instances| instances.to_string())),
        implies: &[
            "effective_qos.*.max_samples",
            "effective_qos.*.max_instances",
            "effective_qos.*.max_samples_per_instance",
        ],
        label: listed(7, |cell| match cell.instances? {
            1 => Some("1 instance".to_owned()),
            instances => Some(format!("{instances} instances")),
        }),
        agent: "the keys of the samples; writer and reader: `type_kind`, QoS `max_instances` and its other limits",
        ..WAY
    },
    Factor {
        key: "topics",
        form: Form::Key(Kind::Number),
        unit: "topics",
        range: "1 to 1000",
        default: || Some(1_u32.into()),
        about: "Number of topics, 1 to 1000, among which each writing endpoint spreads its samples: one writer for each topic, \
                all in one process, and one reader for each in every reading endpoint. The load is that of all topics \
                together: with equal intervals, the topics take turns; `poisson` draws the times of each topic. Only for \
                `paced`, where the rate `max` writes the topics in turn; no effect on other workloads. Default 1.",
        brief: "Numbers of topics.",
        plural: Some("numbers of topics"),
        check: topics::check,
        set: Some(|cell, value| cell.topics = Some(value.to()).filter(|topics| *topics > 1)),
        applies: |cell| cell.workload == Workload::Paced && cell.flows.is_empty(),
        nesting: 13,
        value: value!(|cell| cell.topics),
        id: Id::Always(36, |cell| super::id_part("topics", cell.topics)),
        compared: Compared::Text(|cell| cell.topics.map(|topics| topics.to_string())),
        label: listed(6, |cell| Some(format!("{} topics", cell.topics?))),
        agent: "the number of writers and readers of an agent, and the intended send times of each",
        ..WAY
    },
    Factor {
        key: "writers_per_process",
        form: Form::Key(Kind::Number),
        unit: "writers",
        range: "a divisor of the number of writers",
        default: || Some(1_u32.into()),
        about: "Number of writing endpoints of a topology that share a process. Each has its own participant, its own thread \
                and its own number, counts and rates, as in a process of its own; CPU time and memory are those of the \
                process. Readers have a process each. It must divide the number of writers. Only for `throughput` and \
                `paced`; no effect on other workloads. Default 1.",
        brief: "Writers of each process.",
        plural: Some("numbers of writers per process"),
        check: processes::check_writers,
        set: Some(|cell, value| cell.writers_per_process = Some(value.to()).filter(|writers| *writers > 1)),
        applies: |cell| matches!(cell.workload, Workload::Throughput | Workload::Paced),
        nesting: 14,
        value: value!(|cell| cell.writers_per_process),
        id: Id::Always(35, |cell| super::id_part("writers-per-process", cell.writers_per_process)),
        compared: Compared::Text(|cell| cell.writers_per_process.map(|writers| writers.to_string())),
        label: unlisted(12, |cell| Some(format!("{} writers per process", cell.writers_per_process?))),
        agent: "the control channels of an agent, each for one writing endpoint",
        ..WAY
    },
    Factor {
        key: "rate",
        short: Some('r'),
        form: Form::Key(Kind::Rate),
        unit: "samples/s, bit/s or % of the maximum",
        range: "one sample per hour to 100M samples/s; 0.01% to 200%; `max`; `throttled`; `RATE+RATE`",
        about: "Offered rate of the workload `paced`: at most 100M samples/s, at least one sample per hour. A \
                percentage, `0.01%` to `200%`, is of the maximum rate of the same cell, which is measured before the \
                first block. `max` sends as fast as possible; `throttled` sends as fast as the reader follows and \
                needs `probe_every`. With several writers, the rate is that of each; `1000+max` has the rates of two writers, in \
                their order. Each rate is combined with each `arrival`.",
        brief: "Offered rates.",
        check: writer_loads::check,
        has: Some(|cell, value| cell.has_rate(&value.to())),
        value: value!(|cell| cell.load),
        id: Id::Always(50, |cell| cell.load.iter().flat_map(load_id).collect()),
        shares: LOAD,
        compared: Compared::Fields(fields::of_load),
        column: Some(Column {
            heading: "Load",
            text: |cell| cell.load.as_ref().map_or_else(String::new, ToString::to_string),
            placed: true,
        }),
        agent: "the intended send times, which both agents compute",
        ..ROW
    },
    // The row of `rate` compares the load, to which rate, arrival and trace belong.
    Factor {
        key: "arrival",
        form: Form::Key(Kind::Arrival),
        default: || Some(Arrival::Constant.into()),
        about: "Distribution of the send times of `rate`: `constant` (equal intervals), `poisson` (exponentially \
                distributed intervals) or `burst`. A burst of `k` samples every `T` is the rate `\"k/T\"`; with one \
                sample it is the same as `constant`. No effect on `max` and `throttled`. Default `constant`.",
        brief: "Distributions of the send times.",
        plural: Some("arrivals"),
        has: Some(|cell, value| cell.has_arrival(value.to())),
        shares: LOAD,
        agent: "as `rate`",
        ..ROW
    },
    Factor {
        key: "trace",
        form: Form::Key(Kind::Text),
        range: "times within `measure`",
        about: "Trace files of the workload `paced`, measured in addition to `rate`: one intended send time per line, \
                in seconds from the start of the measurement, in ascending order, less than `measure`. Paths are \
                relative to the experiment file. Empty lines and lines that start with `#` are ignored.",
        brief: "Trace files.",
        has: Some(|cell, value| cell.has_trace(&value.to::<String>())),
        shares: LOAD,
        agent: "as `rate`",
        ..ROW
    },
    Factor {
        key: "batch_bytes",
        form: Form::Key(Kind::Size),
        unit: "bytes",
        default: || Some(Size(0).into()),
        about: "Maximum payload of a batch in bytes; 0 disables batching. No effect on `latency`. Default 0, unless \
                `batch_samples` is given.",
        brief: "Maximum payloads of a batch.",
        has: Some(|cell, value| cell.batch_bytes == value.to::<Size>().0),
        value: value!(|cell| (cell.batch_bytes, cell.batching.is_turbo())),
        id: Id::Always(60, |cell| {
            let kind = if cell.batching.is_turbo() { "turbo" } else { "batch" };
            super::id_part(kind, Some(cell.batch_bytes).filter(|bytes| *bytes > 0))
        }),
        shares: POINT,
        compared: Compared::Fields(fields::of_batch),
        implies: &["batching"],
        column: Some(Column { heading: "Batch (B)", text: |cell| cell.batch(), placed: true }),
        agent: "writer: `batch_bytes`; reader: `batched`; the flushes of the agent",
        ..ROW
    },
    // The row of `batch_bytes` compares the batch, to which both belong.
    Factor {
        key: "batch_samples",
        form: Form::Key(Kind::BatchSamples),
        unit: "samples",
        range: "1 to 1,000,000; `turbo`",
        about: "Samples per batch, 1 to 1,000,000; 1 disables batching. With `turbo` a sample waits only if the next \
                one is already due, up to 8 KiB per batch; `turbo 16KiB` sets another maximum. Its values and those \
                of `batch_bytes` form one factor.",
        brief: "Samples per batch.",
        has: Some(|cell, value| value.to::<crate::factors::batch::BatchSamples>().is_of(cell)),
        shares: POINT,
        agent: "as `batch_bytes`",
        ..ROW
    },
];
