//! Options of publishers.

use crate::table::row::{Honouring, Kind, Limit, Need, OptionRow, ROW, key, number, plain};

use super::rejected;

/// Largest number of processes of a role, and their largest id.
const MAX_ID: i64 = 65_535;
/// Longest duration of a test: a year.
const YEAR: Limit = Limit { max: 31_536_000, reason: "a test of ddsmark takes at most a year" };
/// Longest sleep between two samples: an hour.
const HOUR: Limit = Limit { max: 3_600_000, reason: "ddsmark sleeps at most an hour between two samples" };

/// Largest number of samples of a warm-up.
const WARM_UP: Limit = Limit { max: 1_000_000, reason: "a warm-up of ddsmark has at most 1000000 samples" };

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "latencyTest",
        v5_1: Some(plain("").of_publishers()),
        v4_3: Some(plain("").of_publishers()),
        ini: &[key("run latency test")],
        agrees: true,
        honouring: Honouring::Honoured(
            "waits for the echo of each latency sample: exactly one sample in flight, unless `-latencyCount` is over 1; no batches, no \
             rate; only by publisher 0",
        ),
        about: "Measure latency: wait for the echo of each latency sample.",
        ..ROW
    },
    OptionRow {
        name: "latencyCount",
        kind: Kind::Integer("number"),
        v5_1: Some(number("-1", 1, i64::MAX).also(-1).of_publishers()),
        v4_3: Some(number("", 1, i64::MAX).of_publishers()),
        ini: &[key("latency count")],
        agrees: true,
        honouring: Honouring::Honoured(
            "one echo per that many samples, or batches, of each size; 10000, and 1 with `-latencyTest`, which sends the samples between \
             without waiting",
        ),
        about: "Samples from one latency sample to the next; at most `-numIter`.",
        ..ROW
    },
    OptionRow {
        name: "numIter",
        kind: Kind::Integer("number"),
        v5_1: Some(number("0", 0, i64::MAX).of_publishers()),
        v4_3: Some(number("", 1, i64::MAX).of_publishers()),
        ini: &[key("num inter"), key("num iter")],
        agrees: true,
        honouring: Honouring::Honoured(
            "samples of each size; in 4.3 100000000, and 10000000 with `-latencyTest`; in 5.1 0, without end; a publisher may have one of its own",
        ),
        about: "Number of samples to send.",
        ..ROW
    },
    OptionRow {
        name: "executionTime",
        aliases: &["exec"],
        kind: Kind::Integer("seconds"),
        v5_1: Some(number("", 1, i64::MAX).also(0).of_publishers().addition()),
        v4_3: Some(number("", 1, i64::MAX).also(0).of_publishers()),
        limit: Some(YEAR),
        agrees: true,
        honouring: Honouring::Honoured(
            "time of each size, at most a day; the first of `-executionTime` and `-numIter` ends it; 0: only `-numIter` does; a publisher may have one of its own",
        ),
        about: "Duration of the test.",
        ..ROW
    },
    OptionRow {
        name: "batchSize",
        kind: Kind::Integer("bytes"),
        v5_1: Some(number("0", 1, 63_000).also(0).of_publishers()),
        v4_3: Some(number("8192", 0, 2_147_482_619).of_publishers()),
        ini: &[key("batch size")],
        needs: Need::Batching,
        agrees: true,
        honouring: Honouring::Honoured(
            "batches of up to that many bytes; 0: no batches; none if fewer than two samples fit",
        ),
        about: "Size of a batch in bytes.",
        ..ROW
    },
    OptionRow {
        name: "enableTurboMode",
        v5_1: Some(plain("").of_publishers()),
        v4_3: Some(plain("").of_publishers()),
        needs: Need::Batching,
        agrees: true,
        honouring: Honouring::Honoured(
            "batches of as many samples as are due: turbo of ddsmark, with every driver that has batches",
        ),
        about: "Adapt the size of batches to the load; `-batchSize` has no effect then.",
        ..ROW
    },
    OptionRow {
        name: "enableAutoThrottle",
        v5_1: Some(plain("").of_publishers()),
        v4_3: Some(plain("").of_publishers()),
        agrees: true,
        honouring: Honouring::Honoured(
            "the throttle of ddsmark: the publisher slows down while too many samples are in flight; the send queue has at least \
             4000 samples, 20 times the distance of latency samples",
        ),
        about: "Adapt the rate to the subscriber.",
        ..ROW
    },
    OptionRow {
        name: "pubRate",
        kind: Kind::Rate,
        v4_3: Some(number("", 1, 10_000_000).also(0).of_publishers()),
        honouring: Honouring::Honoured(
            "an absolute schedule: a late sample does not shift the next ones; a rate that is missed is a warning; 0 or no rate: no \
             limit; each publisher has a rate of its own",
        ),
        about: "Samples per second, and how to wait; `spin` if it is left out.",
        instead: "use `-sleep` or `-spin`",
        ..ROW
    },
    OptionRow {
        name: "pubRatebps",
        kind: Kind::Rate,
        v4_3: Some(number("", 1, i64::MAX).also(0).of_publishers()),
        honouring: Honouring::Honoured("as `-pubRate`, with 8 times `-dataLen` bits per sample"),
        about: "Bits per second, and how to wait.",
        instead: "use `-sleep` or `-spin`",
        ..ROW
    },
    OptionRow {
        name: "sleep",
        kind: Kind::Integer("milliseconds"),
        v5_1: Some(number("0", 0, i64::MAX).of_publishers()),
        v4_3: Some(number("0", 1, i64::MAX).also(0).of_publishers()),
        ini: &[key("sleep millisec")],
        limit: Some(HOUR),
        honouring: Honouring::Honoured("a sleep before each sample; each publisher has one of its own"),
        about: "Sleep between two samples.",
        ..ROW
    },
    OptionRow {
        name: "spin",
        kind: Kind::Integer("count"),
        v5_1: Some(number("0", 0, i64::MAX).of_publishers()),
        v4_3: Some(number("0", 1, i64::MAX).also(0).of_publishers()),
        ini: &[key("spin loop count")],
        honouring: Honouring::Honoured(
            "that many rounds of an empty loop before each sample; each publisher has a number of its own, on its own host",
        ),
        about: "Busy loop between two samples.",
        ..ROW
    },
    OptionRow {
        name: "numSubscribers",
        kind: Kind::Integer("number"),
        v5_1: Some(number("1", 1, MAX_ID).of_publishers()),
        v4_3: Some(number("1", 1, MAX_ID).of_publishers()),
        ini: &[key("num subscribers")],
        honouring: Honouring::Honoured("subscribers that the publisher waits for; a further one is an error"),
        about: "Number of subscribers to wait for.",
        ..ROW
    },
    OptionRow {
        name: "pidMultiPubTest",
        kind: Kind::Integer("id"),
        v5_1: Some(number("0", 0, MAX_ID).of_publishers()),
        v4_3: Some(number("0", 0, MAX_ID).of_publishers()),
        honouring: Honouring::Honoured("id of this publisher; only publisher 0 measures latency"),
        about: "Id of this publisher, from 0.",
        ..ROW
    },
    OptionRow {
        name: "initialBurstSize",
        kind: Kind::Integer("number"),
        v4_3: Some(number("", 0, i64::MAX).of_publishers()),
        limit: Some(WARM_UP),
        agrees: true,
        honouring: Honouring::Honoured(
            "samples of each publisher before the measurement, in at most 10 minutes; without it, samples for 0.5 s, with \
             `-latencyTest` 0.3 s",
        ),
        about: "Samples that warm up the path.",
        ..ROW
    },
    OptionRow {
        name: "writeInstance",
        kind: Kind::Integer("key"),
        v4_3: Some(number("-1", 0, i64::MAX).also(-1).of_publishers()),
        agrees: true,
        honouring: Honouring::Honoured("the only key that is written; -1: all in turn"),
        about: "Write a single instance.",
        ..ROW
    },
    OptionRow {
        name: "loadDataFromFile",
        kind: Kind::Text("file"),
        v4_3: Some(plain("").of_publishers()),
        honouring: Honouring::Honoured(
            "the bytes of the file, at most 16 MiB, after a header of 16 bytes: each sample continues where the one before it ends. The \
             subscriber gets the same bytes, and checks them",
        ),
        about: "Send the bytes of a file.",
        ..ROW
    },
    OptionRow {
        name: "maximumAllocableBufferSize",
        kind: Kind::Integer("bytes"),
        v4_3: Some(number("1073741824", 1, i64::MAX).of_publishers()),
        honouring: Honouring::Honoured(
            "maximum size of the file of `-loadDataFromFile`; a larger one is an error",
        ),
        about: "Memory for the bytes of a file.",
        ..ROW
    },
    OptionRow {
        name: "enableBatching",
        honouring: Honouring::Rejected {
            reason: "it switched on the batches of one middleware without a size",
            instead: "use `-batchSize <bytes>`",
        },
        v4_3: Some(plain("").of_publishers()),
        about: "Batches of a branch for other middleware.",
        ..ROW
    },
    rejected(
        "writerStats",
        Kind::Flag,
        plain("").of_publishers(),
        "Print the samples that subscribers requested again.",
        ("no row has them", "use `-ddsmark-out DIR`: the result has the counters of the driver"),
    ),
    rejected(
        "lowResolutionClock",
        Kind::Flag,
        plain("").of_publishers(),
        "Divide the whole time by the number of samples.",
        ("the clock of ddsmark has nanoseconds", "leave it out"),
    ),
    rejected(
        "showSerializationTime",
        Kind::Flag,
        plain("").of_publishers(),
        "Measure how long samples take to serialize.",
        (
            "drivers serialize within the write call",
            "use `-ddsmark-out DIR`: the result has the times of write calls",
        ),
    ),
];
