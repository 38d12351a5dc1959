//! Options of the test that publisher and subscriber share.

use crate::table::row::{Kind, Limit, Need, OptionRow, flag, key, number, option, plain};

/// Maximum number of instances.
const INSTANCES: Limit =
    Limit { max: 100_000, reason: "a subscriber of ddsmark keeps the newest number of each instance" };
/// Largest number of processes of a role, and their largest id.
const MAX_ID: i64 = 65_535;

pub(super) const ROWS: &[OptionRow] = &[
    flag("pub", "Publish.").both(plain("").of_publishers()).does("the process publishes, and prints latency"),
    flag("sub", "Subscribe; the default.")
        .both(plain("").of_subscribers())
        .does("the process subscribes, and prints throughput; the same without `-pub` and `-sub`"),
    option("dataLen", Kind::Integer("bytes"), "Size of a sample in bytes.")
        .v5_1(number("100", 28, 63_000))
        .v4_3(number("100", 28, 2_147_482_620))
        .keys(&[key("data length")])
        .agrees()
        .does(
            "length of the serialized sample, without the headers of the protocol; a publisher may have one \
             of its own",
        ),
    option("scan", Kind::Sizes, "Measure several sizes.")
        .v5_1(plain("").of_publishers())
        .v4_3(number("", 28, 63_000).of_publishers().addition())
        .keys(&[key("scan")])
        .agrees()
        .does("one measurement for each size, one after the other; 32 to 63000 without a list"),
    option("domain", Kind::Integer("id"), "Domain; the same for all processes of a test.")
        .v5_1(number("1", 0, 99))
        .v4_3(number("1", 0, 250))
        .keys(&[key("domain")])
        .does("domain of the participant, if the driver has it"),
    flag("keyed", "Use a type with a key.")
        .v5_1(plain("").addition())
        .v4_3(plain(""))
        .needs(Need::KeyedType)
        .agrees()
        .does("a type with a key; in 5.1 this was a choice of the build"),
    option("instances", Kind::Integer("number"), "Number of instances of the keyed type.")
        .both(number("1", 1, i64::MAX))
        .keys(&[key("instances")])
        .limit(INSTANCES)
        .agrees()
        .does("keys in turn; only with `-keyed`"),
    option("unbounded", Kind::OptionalInteger("bytes"), "Use a type without a maximum size.")
        .v4_3(number("", 28, 65_470))
        .does("no difference: the type of ddsmark is always unbounded"),
    flag("zeroCopy", "Write samples without a copy.").v4_3(plain("")).needs(Need::Loans).agrees().does(
        "samples of a fixed size, written in memory that the driver lends; with `-transport SHMEM` over \
             the transport `data_sharing`, if the driver has it",
    ),
    flag("checkConsistency", "Check that samples did not change while they were read.")
        .v4_3(plain(""))
        .does("no difference: ddsmark checks every sample, and counts those that changed"),
    option("numPublishers", Kind::Integer("number"), "Number of publishers to wait for.")
        .both(number("1", 1, MAX_ID).of_subscribers())
        .keys(&[key("num publishers")])
        .does("publishers that the subscriber waits for; a further one is an error"),
    option("sidMultiSubTest", Kind::Integer("id"), "Id of this subscriber, from 0.")
        .both(number("0", 0, MAX_ID).of_subscribers())
        .does("id of this subscriber; two subscribers with one id are an error"),
    option("cft", Kind::Keys, "Receive only these keys.")
        .v4_3(number("", 0, 65_534).of_subscribers())
        .needs(Need::ContentFilter)
        .does(
            "a content filter on the key; needs a keyed type; all subscribers have the same one, and no \
             latency samples are sent",
        ),
    flag("help", "Print this help.")
        .both(plain(""))
        .aliases(&["h"])
        .does("the options of this generation, and of the role if it is given"),
    option("configFile", Kind::Text("file"), "File with values of options; read by default if it exists.")
        .v5_1(plain("perftest.ini"))
        .instead("write the options on the command line")
        .does("values for options that the command line does not have"),
];
