//! Options of QoS policies, queues and buffers.

use crate::table::row::{Honouring, IniKey, Kind, Need, OptionRow, Part, ROW, inverted, key, number, plain};

use super::rejected;

/// Largest number of a queue or buffer.
const INT_MAX: i64 = 2_147_483_647;
/// Largest number of seconds of a heartbeat period: a year.
const YEAR: i64 = 31_536_000;

const NO_HEARTBEATS: Honouring = Honouring::Rejected {
    reason: "DDS has no policy for heartbeats, and drivers leave them to the middleware",
    instead: "leave it out, or set it in the configuration of the middleware",
};
const NO_ACKS: Honouring = Honouring::Rejected {
    reason: "DDS has no policy that disables acknowledgments",
    instead: "leave it out, or use `-bestEffort`",
};
const PROFILES: Honouring = Honouring::Honoured(
    "the policies of DDS-XML in its profile `ThroughputQos`, for data and echoes of all processes; the rest is listed as not \
     applied. `-bestEffort`, `-durability`, `-keepLast` and the sizes of queues take precedence, as in the release",
);

const fn period(seconds: &'static str, nanoseconds: &'static str) -> [IniKey; 2] {
    [IniKey { name: seconds, part: Part::Seconds }, IniKey { name: nanoseconds, part: Part::Nanoseconds }]
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "bestEffort",
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[inverted("is reliable")],
        needs: Need::Reliability,
        agrees: true,
        honouring: Honouring::Honoured(
            "best-effort data and echoes; the coordination of the processes stays reliable",
        ),
        about: "Do not repeat lost samples.",
        ..ROW
    },
    OptionRow {
        name: "durability",
        kind: Kind::Integer("0|1|2|3"),
        v5_1: Some(number("0", 0, 3)),
        v4_3: Some(number("0", 0, 3)),
        ini: &[key("durability")],
        needs: Need::Durability,
        agrees: true,
        honouring: Honouring::Honoured(
            "volatile, transient-local, transient or persistent, if the driver has it",
        ),
        about: "Kind of durability.",
        ..ROW
    },
    OptionRow {
        name: "keepLast",
        v4_3: Some(plain("")),
        needs: Need::History,
        agrees: true,
        honouring: Honouring::Honoured("HISTORY with a depth, instead of all samples"),
        about: "Keep the last samples only; of a branch for other middleware.",
        ..ROW
    },
    OptionRow {
        name: "keepLastDepth",
        kind: Kind::Integer("number"),
        v4_3: Some(number("50", 1, INT_MAX)),
        agrees: true,
        honouring: Honouring::Honoured("depth of HISTORY; only with `-keepLast`"),
        about: "Number of samples to keep.",
        ..ROW
    },
    OptionRow {
        name: "asynchronous",
        v4_3: Some(plain("")),
        needs: Need::AsyncWrite,
        agrees: true,
        honouring: Honouring::Honoured("a thread of the middleware sends the samples, of data and of echoes"),
        about: "Publish from a thread of the middleware.",
        ..ROW
    },
    OptionRow {
        name: "sendQueueSize",
        kind: Kind::Integer("number"),
        v5_1: Some(number("50", 1, 100_000_000).also(-1).of_publishers()),
        v4_3: Some(number("50", 1, INT_MAX).also(-1)),
        ini: &[key("send queue size")],
        needs: Need::ResourceLimits,
        agrees: true,
        honouring: Honouring::Honoured("samples, or batches, in the queue of the writer; -1: no limit"),
        about: "Size of the send queue.",
        ..ROW
    },
    OptionRow {
        name: "receiveQueueSize",
        kind: Kind::Integer("number"),
        v4_3: Some(number("", 1, INT_MAX)),
        needs: Need::ResourceLimits,
        agrees: true,
        honouring: Honouring::Honoured(
            "samples in the queue of the reader; by default as the driver has it, 128 in the release",
        ),
        about: "Size of the receive queue.",
        ..ROW
    },
    OptionRow {
        name: "sendBufferSize",
        kind: Kind::Integer("bytes"),
        v4_3: Some(number("", 1, INT_MAX)),
        agrees: true,
        honouring: Honouring::Honoured("send buffer of the sockets; by default that of the driver"),
        about: "Send buffer of the sockets.",
        ..ROW
    },
    OptionRow {
        name: "receiveBufferSize",
        kind: Kind::Integer("bytes"),
        v4_3: Some(number("", 1, INT_MAX)),
        agrees: true,
        honouring: Honouring::Honoured("receive buffer of the sockets; by default that of the driver"),
        about: "Receive buffer of the sockets.",
        ..ROW
    },
    OptionRow {
        name: "qosprofile",
        kind: Kind::Text("file"),
        v5_1: Some(plain("perftest.xml")),
        ini: &[key("qos profile file")],
        honouring: PROFILES,
        about: "XML file with QoS profiles; read only if it is given.",
        instead: "use `-qosFile`",
        ..ROW
    },
    OptionRow {
        name: "qosFile",
        kind: Kind::Text("file"),
        v4_3: Some(plain("perftest_qos_profiles.xml")),
        honouring: PROFILES,
        about: "XML file with QoS profiles; read only if it is given.",
        instead: "use `-qosprofile`",
        ..ROW
    },
    OptionRow {
        name: "qosLibrary",
        kind: Kind::Text("name"),
        v4_3: Some(plain("PerftestQosLibrary")),
        honouring: Honouring::Honoured("library in the file of `-qosFile`"),
        about: "Library of the QoS profiles.",
        ..ROW
    },
    OptionRow {
        name: "noXmlQos",
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured("the built-in QoS, as without `-qosFile`"),
        about: "Read no XML file.",
        ..ROW
    },
    OptionRow {
        name: "noPositiveAcks",
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[inverted("use positive acks")],
        honouring: NO_ACKS,
        about: "Reliable without positive acknowledgments.",
        ..ROW
    },
    OptionRow {
        name: "keepDurationUsec",
        kind: Kind::Integer("microseconds"),
        v5_1: Some(number("1000", 0, i64::MAX)),
        v4_3: Some(number("", 1, 31_536_000_000_000)),
        ini: &[key("keep duration usec")],
        honouring: NO_ACKS,
        only_with: "noPositiveAcks",
        about: "Time that samples stay for readers without acknowledgments.",
        ..ROW
    },
    OptionRow {
        name: "noDirectCommunication",
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[inverted("direct communication")],
        honouring: Honouring::Rejected {
            reason: "it needs a persistence service between publisher and subscriber",
            instead: "leave it out",
        },
        about: "Receive from a persistence service only.",
        ..ROW
    },
    OptionRow {
        name: "heartbeatPeriod",
        kind: Kind::Period,
        v5_1: Some(number("0:0", 0, YEAR).of_publishers()),
        ini: &period("heartbeat period sec", "heartbeat period nanosec"),
        honouring: NO_HEARTBEATS,
        about: "Period of heartbeats.",
        instead: "leave it out",
        ..ROW
    },
    OptionRow {
        name: "fastHeartbeatPeriod",
        kind: Kind::Period,
        v5_1: Some(number("0:0", 0, YEAR).of_publishers()),
        ini: &period("fast heartbeat period sec", "fast heartbeat period nanosec"),
        honouring: NO_HEARTBEATS,
        about: "Period of heartbeats while samples are not acknowledged.",
        instead: "leave it out",
        ..ROW
    },
    OptionRow {
        name: "instanceHashBuckets",
        kind: Kind::Integer("number"),
        v5_1: Some(number("-1", 1, i64::MAX).also(-1)),
        v4_3: Some(number("0", 1, 1_000_000).also(0)),
        ini: &[key("instance hash buckets")],
        honouring: Honouring::Rejected {
            reason: "it is a setting of one middleware",
            instead: "leave it out",
        },
        about: "Hash buckets for instances.",
        ..ROW
    },
    OptionRow {
        only_with: "asynchronous",
        ..rejected(
            "flowController",
            Kind::Choice(&["default", "1Gbps", "10Gbps"]),
            plain("default"),
            "Limit of an asynchronous writer.",
            ("DDS has no flow controllers", "use `-pubRate` or `-pubRatebps`"),
        )
    },
    rejected(
        "preallocateFragmentedSamples",
        Kind::Flag,
        plain(""),
        "Allocate the buffers of fragments at the start.",
        ("it is a setting of one middleware", "leave it out"),
    ),
    rejected(
        "enableInstanceStateRecovery",
        Kind::Flag,
        plain(""),
        "Recover the state of instances after a lost connection.",
        ("it is a feature of one middleware", "leave it out"),
    ),
];
