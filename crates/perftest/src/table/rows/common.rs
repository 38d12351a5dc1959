//! Options of the test that publisher and subscriber share.

use crate::table::row::{Honouring, Kind, Limit, Need, OptionRow, ROW, key, number, plain};

/// Maximum number of instances.
const INSTANCES: Limit =
    Limit { max: 100_000, reason: "a subscriber of ddsmark keeps the newest number of each instance" };
/// Largest number of processes of a role, and their largest id.
const MAX_ID: i64 = 65_535;

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "pub",
        v5_1: Some(plain("").of_publishers()),
        v4_3: Some(plain("").of_publishers()),
        honouring: Honouring::Honoured("the process publishes, and prints latency"),
        about: "Publish.",
        ..ROW
    },
    OptionRow {
        name: "sub",
        v5_1: Some(plain("").of_subscribers()),
        v4_3: Some(plain("").of_subscribers()),
        honouring: Honouring::Honoured(
            "the process subscribes, and prints throughput; the same without `-pub` and `-sub`",
        ),
        about: "Subscribe; the default.",
        ..ROW
    },
    OptionRow {
        name: "dataLen",
        kind: Kind::Integer("bytes"),
        v5_1: Some(number("100", 28, 63_000)),
        v4_3: Some(number("100", 28, 2_147_482_620)),
        ini: &[key("data length")],
        agrees: true,
        honouring: Honouring::Honoured(
            "length of the serialized sample, without the headers of the protocol; a publisher may have one of its own",
        ),
        about: "Size of a sample in bytes.",
        ..ROW
    },
    OptionRow {
        name: "scan",
        kind: Kind::Sizes,
        v5_1: Some(plain("").of_publishers()),
        v4_3: Some(number("", 28, 63_000).of_publishers().addition()),
        ini: &[key("scan")],
        agrees: true,
        honouring: Honouring::Honoured(
            "one measurement for each size, one after the other; 32 to 63000 without a list",
        ),
        about: "Measure several sizes.",
        ..ROW
    },
    OptionRow {
        name: "domain",
        kind: Kind::Integer("id"),
        v5_1: Some(number("1", 0, 99)),
        v4_3: Some(number("1", 0, 250)),
        ini: &[key("domain")],
        honouring: Honouring::Honoured("domain of the participant, if the driver has it"),
        about: "Domain; the same for all processes of a test.",
        ..ROW
    },
    OptionRow {
        name: "keyed",
        v5_1: Some(plain("").addition()),
        v4_3: Some(plain("")),
        needs: Need::KeyedType,
        agrees: true,
        honouring: Honouring::Honoured("a type with a key; in 5.1 this was a choice of the build"),
        about: "Use a type with a key.",
        ..ROW
    },
    OptionRow {
        name: "instances",
        kind: Kind::Integer("number"),
        v5_1: Some(number("1", 1, i64::MAX)),
        v4_3: Some(number("1", 1, i64::MAX)),
        ini: &[key("instances")],
        limit: Some(INSTANCES),
        agrees: true,
        honouring: Honouring::Honoured("keys in turn; only with `-keyed`"),
        about: "Number of instances of the keyed type.",
        ..ROW
    },
    OptionRow {
        name: "unbounded",
        kind: Kind::OptionalInteger("bytes"),
        v4_3: Some(number("", 28, 65_470)),
        honouring: Honouring::Honoured("no difference: the type of ddsmark is always unbounded"),
        about: "Use a type without a maximum size.",
        ..ROW
    },
    OptionRow {
        name: "zeroCopy",
        v4_3: Some(plain("")),
        needs: Need::Loans,
        agrees: true,
        honouring: Honouring::Honoured(
            "samples of a fixed size, written in memory that the driver lends; with `-transport SHMEM` over the transport \
             `data_sharing`, if the driver has it",
        ),
        about: "Write samples without a copy.",
        ..ROW
    },
    OptionRow {
        name: "checkConsistency",
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured(
            "no difference: ddsmark checks every sample, and counts those that changed",
        ),
        about: "Check that samples did not change while they were read.",
        ..ROW
    },
    OptionRow {
        name: "numPublishers",
        kind: Kind::Integer("number"),
        v5_1: Some(number("1", 1, MAX_ID).of_subscribers()),
        v4_3: Some(number("1", 1, MAX_ID).of_subscribers()),
        ini: &[key("num publishers")],
        honouring: Honouring::Honoured("publishers that the subscriber waits for; a further one is an error"),
        about: "Number of publishers to wait for.",
        ..ROW
    },
    OptionRow {
        name: "sidMultiSubTest",
        kind: Kind::Integer("id"),
        v5_1: Some(number("0", 0, MAX_ID).of_subscribers()),
        v4_3: Some(number("0", 0, MAX_ID).of_subscribers()),
        honouring: Honouring::Honoured("id of this subscriber; two subscribers with one id are an error"),
        about: "Id of this subscriber, from 0.",
        ..ROW
    },
    OptionRow {
        name: "cft",
        kind: Kind::Keys,
        v4_3: Some(number("", 0, 65_534).of_subscribers()),
        needs: Need::ContentFilter,
        honouring: Honouring::Honoured(
            "a content filter on the key; needs a keyed type; all subscribers have the same one, and no latency samples are sent",
        ),
        about: "Receive only these keys.",
        ..ROW
    },
    OptionRow {
        name: "help",
        aliases: &["h"],
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        honouring: Honouring::Honoured("the options of this generation, and of the role if it is given"),
        about: "Print this help.",
        ..ROW
    },
    OptionRow {
        name: "configFile",
        kind: Kind::Text("file"),
        v5_1: Some(plain("perftest.ini")),
        honouring: Honouring::Honoured("values for options that the command line does not have"),
        about: "File with values of options; read by default if it exists.",
        instead: "write the options on the command line",
        ..ROW
    },
];
