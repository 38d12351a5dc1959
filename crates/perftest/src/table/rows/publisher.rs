//! Options of publishers.

use crate::table::row::{Kind, Limit, Need, OptionRow, flag, key, number, option, plain};

/// Largest number of processes of a role, and their largest id.
const MAX_ID: i64 = 65_535;
/// Longest duration of a test: a year.
const YEAR: Limit = Limit { max: 31_536_000, reason: "a test of ddsmark takes at most a year" };
/// Longest sleep between two samples: an hour.
const HOUR: Limit = Limit { max: 3_600_000, reason: "ddsmark sleeps at most an hour between two samples" };

/// Largest number of samples of a warm-up.
const WARM_UP: Limit = Limit { max: 1_000_000, reason: "a warm-up of ddsmark has at most 1000000 samples" };

pub(super) const ROWS: &[OptionRow] = &[
    flag("latencyTest", "Measure latency: wait for the echo of each latency sample.")
        .both(plain("").of_publishers())
        .keys(&[key("run latency test")])
        .agrees()
        .does(
            "waits for the echo of each latency sample: exactly one sample in flight, unless `-latencyCount` \
             is over 1; no batches, no rate; only by publisher 0",
        ),
    option(
        "latencyCount",
        Kind::Integer("number"),
        "Samples from one latency sample to the next; at most `-numIter`.",
    )
    .v5_1(number("-1", 1, i64::MAX).also(-1).of_publishers())
    .v4_3(number("", 1, i64::MAX).of_publishers())
    .keys(&[key("latency count")])
    .agrees()
    .does(
        "one echo per that many samples, or batches, of each size; 10000, and 1 with `-latencyTest`, \
             which sends the samples between without waiting",
    ),
    option("numIter", Kind::Integer("number"), "Number of samples to send.")
        .v5_1(number("0", 0, i64::MAX).of_publishers())
        .v4_3(number("", 1, i64::MAX).of_publishers())
        .keys(&[key("num inter"), key("num iter")])
        .agrees()
        .does(
            "samples of each size; in 4.3 100000000, and 10000000 with `-latencyTest`; in 5.1 0, without \
             end; a publisher may have one of its own",
        ),
    option("executionTime", Kind::Integer("seconds"), "Duration of the test.")
        .v5_1(number("", 1, i64::MAX).also(0).of_publishers().addition())
        .v4_3(number("", 1, i64::MAX).also(0).of_publishers())
        .aliases(&["exec"])
        .limit(YEAR)
        .agrees()
        .does(
            "time of each size, at most a day; the first of `-executionTime` and `-numIter` ends it; 0: only \
             `-numIter` does; a publisher may have one of its own",
        ),
    option("batchSize", Kind::Integer("bytes"), "Size of a batch in bytes.")
        .v5_1(number("0", 1, 63_000).also(0).of_publishers())
        .v4_3(number("8192", 0, 2_147_482_619).of_publishers())
        .keys(&[key("batch size")])
        .needs(Need::Batching)
        .agrees()
        .does("batches of up to that many bytes; 0: no batches; none if fewer than two samples fit"),
    flag("enableTurboMode", "Adapt the size of batches to the load; `-batchSize` has no effect then.")
        .both(plain("").of_publishers())
        .needs(Need::Batching)
        .agrees()
        .does("batches of as many samples as are due: turbo of ddsmark, with every driver that has batches"),
    flag("enableAutoThrottle", "Adapt the rate to the subscriber.")
        .both(plain("").of_publishers())
        .agrees()
        .does(
            "the throttle of ddsmark: the publisher slows down while too many samples are in flight; the \
             send queue has at least 4000 samples, 20 times the distance of latency samples",
        ),
    option("pubRate", Kind::Rate, "Samples per second, and how to wait; `spin` if it is left out.")
        .v4_3(number("", 1, 10_000_000).also(0).of_publishers())
        .instead("use `-sleep` or `-spin`")
        .does(
            "an absolute schedule: a late sample does not shift the next ones; a rate that is missed is a \
             warning; 0 or no rate: no limit; each publisher has a rate of its own",
        ),
    option("pubRatebps", Kind::Rate, "Bits per second, and how to wait.")
        .v4_3(number("", 1, i64::MAX).also(0).of_publishers())
        .instead("use `-sleep` or `-spin`")
        .does("as `-pubRate`, with 8 times `-dataLen` bits per sample"),
    option("sleep", Kind::Integer("milliseconds"), "Sleep between two samples.")
        .v5_1(number("0", 0, i64::MAX).of_publishers())
        .v4_3(number("0", 1, i64::MAX).also(0).of_publishers())
        .keys(&[key("sleep millisec")])
        .limit(HOUR)
        .does("a sleep before each sample; each publisher has one of its own"),
    option("spin", Kind::Integer("count"), "Busy loop between two samples.")
        .v5_1(number("0", 0, i64::MAX).of_publishers())
        .v4_3(number("0", 1, i64::MAX).also(0).of_publishers())
        .keys(&[key("spin loop count")])
        .does(
            "that many rounds of an empty loop before each sample; each publisher has a number of its own, \
             on its own host",
        ),
    option("numSubscribers", Kind::Integer("number"), "Number of subscribers to wait for.")
        .both(number("1", 1, MAX_ID).of_publishers())
        .keys(&[key("num subscribers")])
        .does("subscribers that the publisher waits for; a further one is an error"),
    option("pidMultiPubTest", Kind::Integer("id"), "Id of this publisher, from 0.")
        .both(number("0", 0, MAX_ID).of_publishers())
        .does("id of this publisher; only publisher 0 measures latency"),
    option("initialBurstSize", Kind::Integer("number"), "Samples that warm up the path.")
        .v4_3(number("", 0, i64::MAX).of_publishers())
        .limit(WARM_UP)
        .agrees()
        .does(
            "samples of each publisher before the measurement, in at most 10 minutes; without it, samples \
             for 0.5 s, with `-latencyTest` 0.3 s",
        ),
    option("writeInstance", Kind::Integer("key"), "Write a single instance.")
        .v4_3(number("-1", 0, i64::MAX).also(-1).of_publishers())
        .agrees()
        .does("the only key that is written; -1: all in turn"),
    option("loadDataFromFile", Kind::Text("file"), "Send the bytes of a file.")
        .v4_3(plain("").of_publishers())
        .does(
            "the bytes of the file, at most 16 MiB, after a header of 16 bytes: each sample continues where \
             the one before it ends. The subscriber gets the same bytes, and checks them",
        ),
    option("maximumAllocableBufferSize", Kind::Integer("bytes"), "Memory for the bytes of a file.")
        .v4_3(number("1073741824", 1, i64::MAX).of_publishers())
        .does("maximum size of the file of `-loadDataFromFile`; a larger one is an error"),
    flag("enableBatching", "Batches of a branch for other middleware.")
        .v4_3(plain("").of_publishers())
        .rejected((
            "it switched on the batches of one middleware without a size",
            "use `-batchSize <bytes>`",
        )),
    flag("writerStats", "Print the samples that subscribers requested again.")
        .v4_3(plain("").of_publishers())
        .rejected(("no row has them", "use `-ddsmark-out DIR`: the result has the counters of the driver")),
    flag("lowResolutionClock", "Divide the whole time by the number of samples.")
        .v4_3(plain("").of_publishers())
        .rejected(("the clock of ddsmark has nanoseconds", "leave it out")),
    flag("showSerializationTime", "Measure how long samples take to serialize.")
        .v4_3(plain("").of_publishers())
        .rejected((
            "drivers serialize within the write call",
            "use `-ddsmark-out DIR`: the result has the times of write calls",
        )),
];
