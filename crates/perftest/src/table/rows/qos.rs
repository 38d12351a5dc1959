//! Options of QoS policies, queues and buffers.

use crate::table::row::{IniKey, Kind, Need, OptionRow, Part, flag, inverted, key, number, option, plain};

/// Largest number of a queue or buffer.
const INT_MAX: i64 = 2_147_483_647;
/// Largest number of seconds of a heartbeat period: a year.
const YEAR: i64 = 31_536_000;

const NO_HEARTBEATS: (&str, &str) = (
    "DDS has no policy for heartbeats, and drivers leave them to the middleware",
    "leave it out, or set it in the configuration of the middleware",
);
const NO_ACKS: (&str, &str) =
    ("DDS has no policy that disables acknowledgments", "leave it out, or use `-bestEffort`");
const PROFILES: &str = "the policies of DDS-XML in its profile `ThroughputQos`, for data and echoes of all processes; the rest is listed as not \
     applied. `-bestEffort`, `-durability`, `-keepLast` and the sizes of queues take precedence, as in the release";

const fn period(seconds: &'static str, nanoseconds: &'static str) -> [IniKey; 2] {
    [IniKey { name: seconds, part: Part::Seconds }, IniKey { name: nanoseconds, part: Part::Nanoseconds }]
}

pub(super) const ROWS: &[OptionRow] = &[
    flag("bestEffort", "Do not repeat lost samples.")
        .both(plain(""))
        .keys(&[inverted("is reliable")])
        .needs(Need::Reliability)
        .agrees()
        .does("best-effort data and echoes; the coordination of the processes stays reliable"),
    option("durability", Kind::Integer("0|1|2|3"), "Kind of durability.")
        .both(number("0", 0, 3))
        .keys(&[key("durability")])
        .needs(Need::Durability)
        .agrees()
        .does("volatile, transient-local, transient or persistent, if the driver has it"),
    flag("keepLast", "Keep the last samples only; of a branch for other middleware.")
        .v4_3(plain(""))
        .needs(Need::History)
        .agrees()
        .does("HISTORY with a depth, instead of all samples"),
    option("keepLastDepth", Kind::Integer("number"), "Number of samples to keep.")
        .v4_3(number("50", 1, INT_MAX))
        .agrees()
        .does("depth of HISTORY; only with `-keepLast`"),
    flag("asynchronous", "Publish from a thread of the middleware.")
        .v4_3(plain(""))
        .needs(Need::AsyncWrite)
        .agrees()
        .does("a thread of the middleware sends the samples, of data and of echoes"),
    option("sendQueueSize", Kind::Integer("number"), "Size of the send queue.")
        .v5_1(number("50", 1, 100_000_000).also(-1).of_publishers())
        .v4_3(number("50", 1, INT_MAX).also(-1))
        .keys(&[key("send queue size")])
        .needs(Need::ResourceLimits)
        .agrees()
        .does("samples, or batches, in the queue of the writer; -1: no limit"),
    option("receiveQueueSize", Kind::Integer("number"), "Size of the receive queue.")
        .v4_3(number("", 1, INT_MAX))
        .needs(Need::ResourceLimits)
        .agrees()
        .does("samples in the queue of the reader; by default as the driver has it, 128 in the release"),
    option("sendBufferSize", Kind::Integer("bytes"), "Send buffer of the sockets.")
        .v4_3(number("", 1, INT_MAX))
        .agrees()
        .does("send buffer of the sockets; by default that of the driver"),
    option("receiveBufferSize", Kind::Integer("bytes"), "Receive buffer of the sockets.")
        .v4_3(number("", 1, INT_MAX))
        .agrees()
        .does("receive buffer of the sockets; by default that of the driver"),
    option("qosprofile", Kind::Text("file"), "XML file with QoS profiles; read only if it is given.")
        .v5_1(plain("perftest.xml"))
        .keys(&[key("qos profile file")])
        .instead("use `-qosFile`")
        .does(PROFILES),
    option("qosFile", Kind::Text("file"), "XML file with QoS profiles; read only if it is given.")
        .v4_3(plain("perftest_qos_profiles.xml"))
        .instead("use `-qosprofile`")
        .does(PROFILES),
    option("qosLibrary", Kind::Text("name"), "Library of the QoS profiles.")
        .v4_3(plain("PerftestQosLibrary"))
        .does("library in the file of `-qosFile`"),
    flag("noXmlQos", "Read no XML file.").v4_3(plain("")).does("the built-in QoS, as without `-qosFile`"),
    flag("noPositiveAcks", "Reliable without positive acknowledgments.")
        .both(plain(""))
        .keys(&[inverted("use positive acks")])
        .rejected(NO_ACKS),
    option(
        "keepDurationUsec",
        Kind::Integer("microseconds"),
        "Time that samples stay for readers without acknowledgments.",
    )
    .v5_1(number("1000", 0, i64::MAX))
    .v4_3(number("", 1, 31_536_000_000_000))
    .keys(&[key("keep duration usec")])
    .only_with("noPositiveAcks")
    .rejected(NO_ACKS),
    flag("noDirectCommunication", "Receive from a persistence service only.")
        .both(plain(""))
        .keys(&[inverted("direct communication")])
        .rejected(("it needs a persistence service between publisher and subscriber", "leave it out")),
    option("heartbeatPeriod", Kind::Period, "Period of heartbeats.")
        .v5_1(number("0:0", 0, YEAR).of_publishers())
        .keys(&period("heartbeat period sec", "heartbeat period nanosec"))
        .instead("leave it out")
        .rejected(NO_HEARTBEATS),
    option("fastHeartbeatPeriod", Kind::Period, "Period of heartbeats while samples are not acknowledged.")
        .v5_1(number("0:0", 0, YEAR).of_publishers())
        .keys(&period("fast heartbeat period sec", "fast heartbeat period nanosec"))
        .instead("leave it out")
        .rejected(NO_HEARTBEATS),
    option("instanceHashBuckets", Kind::Integer("number"), "Hash buckets for instances.")
        .v5_1(number("-1", 1, i64::MAX).also(-1))
        .v4_3(number("0", 1, 1_000_000).also(0))
        .keys(&[key("instance hash buckets")])
        .rejected(("it is a setting of one middleware", "leave it out")),
    option(
        "flowController",
        Kind::Choice(&["default", "1Gbps", "10Gbps"]),
        "Limit of an asynchronous writer.",
    )
    .v4_3(plain("default"))
    .only_with("asynchronous")
    .rejected(("DDS has no flow controllers", "use `-pubRate` or `-pubRatebps`")),
    flag("preallocateFragmentedSamples", "Allocate the buffers of fragments at the start.")
        .v4_3(plain(""))
        .rejected(("it is a setting of one middleware", "leave it out")),
    flag("enableInstanceStateRecovery", "Recover the state of instances after a lost connection.")
        .v4_3(plain(""))
        .rejected(("it is a feature of one middleware", "leave it out")),
];
