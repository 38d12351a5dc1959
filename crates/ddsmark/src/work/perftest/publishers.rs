//! Publishers of a test: each has its own rate, size, duration and number of samples.

use experiment::{RateSpec, WriterDesign};
use perftest::{Batch, Role, SIZES, Settings, Shared};
use rendezvous::{PeerRole, lobby::clean, streams::PeerStream};
use serde::{Deserialize, Serialize};

use super::{
    Process,
    meeting::Offered,
    rates::{PublisherRate, RateLimit, check_bits},
};
use crate::cli::cli_error::{CliError, Result};

/// Maximum time of each size in s, a day: the control topic keeps all its messages until the end.
pub const MAX_SECONDS: u64 = 86_400;

/// Samples of a publisher, in its part of the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSamples {
    /// Rate.
    pub rate: PublisherRate,
    /// Serialized size in bytes, if its user gave one.
    pub size: Option<u64>,
    /// End, if its user gave one.
    pub end: Option<TestEnd>,
}

/// End of the samples of each size: the first of both limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestEnd {
    /// Number of samples of `-numIter`; `None`: without end.
    pub samples: Option<u64>,
    /// Time of `-executionTime` in s; `None`: without end.
    pub seconds: Option<u64>,
}

/// Publisher of a test.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// Name, as users know it: `publisher 0`.
    pub name: String,
    /// Rate.
    pub rate: PublisherRate,
    /// Serialized size in bytes, if it is not that of publisher 0.
    pub size: Option<u64>,
    /// End of its samples.
    pub end: TestEnd,
}

impl OwnSamples {
    /// Returns the samples of a process; `None` for a subscriber. The loop of `-spin` is measured on this host.
    pub fn of(settings: &Settings) -> Result<Option<Self>> {
        if settings.role == Role::Subscriber {
            return Ok(None);
        }
        let is_given = |option: &&str| settings.given(option).is_some();
        let is_leader = settings.local.id == 0;
        let has = |options: &[&str]| !is_leader && options.iter().any(is_given);
        Ok(Some(Self {
            rate: PublisherRate::of(settings)?,
            size: settings
                .shared
                .sizes
                .first()
                .copied()
                .filter(|_| has(&["dataLen"]) && !settings.shared.scan),
            end: has(&["numIter", "executionTime"]).then(|| TestEnd::of(&settings.shared)),
        }))
    }

    /// Returns whether a test can have the values.
    fn is_valid(&self) -> bool {
        let is_valid = |end: TestEnd| {
            end.samples != Some(0) && end.seconds.is_none_or(|seconds| (1..=MAX_SECONDS).contains(&seconds))
        };
        self.size.is_none_or(|size| SIZES.contains(&size)) && self.end.is_none_or(is_valid)
    }
}

impl Publisher {
    /// Creates a publisher of a test whose publisher 0 has these settings.
    fn new(name: String, leader: &Settings, own: &OwnSamples) -> Self {
        let differs = |size: &u64| leader.shared.scan || leader.shared.sizes != [*size];
        let rate = PublisherRate { option: clean(&own.rate.option), ..own.rate.clone() };
        let size = own.size.filter(differs);
        Self { name, rate, size, end: own.end.unwrap_or_else(|| TestEnd::of(&leader.shared)) }
    }

    /// Creates this process as a publisher of its own test; `None` for a subscriber.
    pub fn of_process(process: &Process) -> Option<Self> {
        let name = format!("{} {}", PeerRole::Publisher.name(), process.settings.local.id);
        Some(Self::new(name, &process.settings, process.samples.as_ref()?))
    }

    /// Rejects a number of bits per second that is too many or too few samples of one of these sizes.
    pub fn check(&self, sizes: &[u64]) -> Result<()> {
        let Some(RateLimit::Bits(bits)) = self.rate.limit else { return Ok(()) };
        sizes.iter().try_for_each(|size| check_bits(bits, self.size(*size), &self.name))
    }

    /// Returns the size of its samples in a run in which publisher 0 has this one.
    pub fn size(&self, of_leader: u64) -> u64 {
        self.size.unwrap_or(of_leader)
    }
}

/// Returns the publishers, in the order of the endpoints: this one, and its guests.
pub fn publishers_of(process: &Process, streams: &[PeerStream], parts: &[Offered]) -> Result<Vec<Publisher>> {
    let guests =
        streams.iter().zip(parts).filter(|(stream, _)| stream.peer.address.role == PeerRole::Publisher);
    let guests = guests.map(|(stream, part)| {
        let Some(own) = part.own.samples.as_ref().filter(|own| own.is_valid()) else {
            let error = format!("{} offers no samples in the range of a test", stream.peer);
            return Err(CliError::failed(error, "use the same version of ddsmark on all hosts"));
        };
        Ok(Publisher::new(stream.peer.address.to_string(), &process.settings, own))
    });
    Publisher::of_process(process).into_iter().map(Ok).chain(guests).collect()
}

/// Returns the settings of the writer of each publisher; empty if all have those of publisher 0.
pub fn writers(settings: &Settings, publishers: &[Publisher]) -> Vec<WriterDesign> {
    let shared = &settings.shared;
    let payload = |size: u64| shared.payload_bytes(size, settings.local.raw_transport);
    let of_batch = |size: u64| shared.samples_per_batch(size).saturating_mul(payload(size));
    let is_limited = matches!(shared.batch, Batch::Bytes(_));
    let writer = |publisher: &Publisher| WriterDesign {
        size_bytes: publisher.size.map(payload),
        batch_bytes: publisher.size.filter(|_| is_limited).map(of_batch),
        measure_ns: publisher.end.nanoseconds(),
        samples: publisher.end.samples,
    };
    let writers: Vec<WriterDesign> = publishers.iter().map(writer).collect();
    if writers.windows(2).all(|pair| pair[0] == pair[1]) { Vec::new() } else { writers }
}

/// Returns the rate of these publishers, in their order, in a run in which publisher 0 has this size; `None` if no publisher has a limit.
/// Beside one with a limit, a publisher without one has the rate `max`.
pub fn rate_of_size(publishers: &[Publisher], size: u64) -> Option<RateSpec> {
    publishers.iter().find_map(|publisher| publisher.rate.limit)?;
    let of_one = |publisher: &Publisher| match publisher.rate.limit {
        Some(limit) => limit.of_size(publisher.size(size)),
        None => RateSpec::Max,
    };
    let rates: Vec<RateSpec> = publishers.iter().map(of_one).collect();
    match &rates[..] {
        [first, others @ ..] if others.iter().all(|rate| rate == first) => Some(first.clone()),
        _ => Some(RateSpec::PerWriter(rates.into())),
    }
}

/// Rejects sizes of publishers that a test cannot have beside each other.
pub fn check_sizes(settings: &Settings, publishers: &[Publisher]) -> Result<()> {
    let shared = &settings.shared;
    let Some((name, size)) = publishers.iter().find_map(|own| Some((&own.name, own.size?))) else {
        return Ok(());
    };
    let (of_leader, reason) = if shared.scan {
        (format!("the sizes of `-scan` at {}", publishers[0].name), "a scan has the same sizes for all")
    } else if shared.zero_copy {
        let of_leader = format!("{} at {}", shared.max_size(), publishers[0].name);
        (of_leader, "`-zeroCopy` has a type of one size")
    } else {
        return Ok(());
    };
    let error = format!("`-dataLen` is {size} at {name}, and {of_leader}: {reason}");
    Err(CliError::failed(error, format!("remove `-dataLen` from {name}")))
}

impl TestEnd {
    /// Returns the end of the samples of a process with these settings.
    pub const fn of(shared: &Shared) -> Self {
        Self { samples: shared.samples, seconds: shared.execution_time_s }
    }

    /// Returns the maximum time in ns.
    pub fn nanoseconds(self) -> u64 {
        self.seconds.unwrap_or(MAX_SECONDS).saturating_mul(1_000_000_000)
    }

    /// Returns why samples are not complete that only their number was to end. `sent`: number of samples that were sent.
    pub fn unreached(self, sent: u64) -> Option<String> {
        let samples = self.samples.filter(|samples| self.seconds.is_none() && sent < *samples)?;
        Some(format!(
            "`-numIter {samples}` was not reached: a size ends after {MAX_SECONDS} s, with {sent} samples"
        ))
    }
}

#[cfg(test)]
mod tests {
    use perftest::{CommandLine, Defaults};

    use super::*;

    fn settings(line: &str) -> Settings {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = CommandLine::parse(&words, None).expect("options");
        line.settings(None, &Defaults { driver: "dds", raw_drivers: ["udp", "tcp", "shm"] })
            .expect("settings")
            .0
    }

    /// Returns the publishers of command lines, publisher 0 first, and its settings.
    fn publishers(lines: &[&str]) -> (Settings, Vec<Publisher>) {
        let leader = settings(&format!("-pub {}", lines[0]));
        let publisher = |(index, line): (usize, &&str)| {
            let own = settings(&format!("-pub -pidMultiPubTest {index} {line}"));
            let own = OwnSamples::of(&own).expect("samples").expect("a publisher");
            Publisher::new(format!("publisher {index}"), &leader, &own)
        };
        let all = lines.iter().enumerate().map(publisher).collect();
        (leader, all)
    }

    fn writers_of(lines: &[&str]) -> Vec<WriterDesign> {
        let (leader, publishers) = publishers(lines);
        writers(&leader, &publishers)
    }

    #[test]
    fn publishers_without_values_of_their_own_have_those_of_publisher_0() {
        assert_eq!(writers_of(&["-dataLen 200 -exec 5", "", "-pubRate 7"]), []);
        assert_eq!(writers_of(&["-dataLen 200 -exec 5", "-dataLen 200"]), []);
        assert_eq!(writers_of(&["-numIter 9", "-numIter 9"]), []);
    }

    #[test]
    fn each_publisher_has_its_size_and_its_end() {
        let found = writers_of(&["-dataLen 64 -exec 60", "-dataLen 2097152 -exec 10", "-numIter 500"]);
        let second = 1_000_000_000;
        let payloads: Vec<Option<u64>> = found.iter().map(|writer| writer.size_bytes).collect();
        assert_eq!(payloads, [None, Some(2_097_148), None], "a sequence has a length of 4 bytes");
        let times: Vec<u64> = found.iter().map(|writer| writer.measure_ns / second).collect();
        assert_eq!(times, [60, 10, MAX_SECONDS], "only the number of samples ends the third");
        let samples: Vec<Option<u64>> = found.iter().map(|writer| writer.samples).collect();
        assert_eq!(samples, [Some(100_000_000), Some(100_000_000), Some(500)]);
    }

    #[test]
    fn values_out_of_range_of_a_stranger_are_not_those_of_a_publisher() {
        let own = settings("-pub -pidMultiPubTest 1 -dataLen 64 -numIter 5");
        let own = OwnSamples::of(&own).expect("samples").expect("a publisher");
        assert!(own.is_valid());
        for size in [0, 27, u64::MAX] {
            assert!(!OwnSamples { size: Some(size), ..own.clone() }.is_valid(), "{size}");
        }
        for (samples, seconds) in [(Some(0), None), (None, Some(0)), (None, Some(u64::MAX))] {
            let end = Some(TestEnd { samples, seconds });
            assert!(!OwnSamples { end, ..own.clone() }.is_valid(), "{end:?}");
        }
    }

    #[test]
    fn batches_have_the_bytes_of_publisher_0_for_each_size() {
        let found = writers_of(&["-dataLen 104 -batchSize 8192", "-dataLen 1004", "-dataLen 8004"]);
        let batches: Vec<Option<u64>> = found.iter().map(|writer| writer.batch_bytes).collect();
        assert_eq!(batches, [None, Some(8 * 1000), Some(8000)], "8 samples of 1004 bytes, and 1 of 8004");
        let found = writers_of(&["-dataLen 104 -enableTurboMode", "-dataLen 1004"]);
        assert!(found.iter().all(|writer| writer.batch_bytes.is_none()), "{found:?}");
    }

    #[test]
    fn bits_of_a_rate_are_those_of_the_size_of_its_publisher() {
        let (_, all) = publishers(&["-dataLen 100 -pubRatebps 800000", "-dataLen 200 -pubRatebps 800000"]);
        assert_eq!(all[1].rate.limit, Some(RateLimit::Bits(800_000)));
        let rate = rate_of_size(&all, 100).expect("a rate");
        assert_eq!(rate.to_string(), "1000/s+500/s");
    }

    #[test]
    fn sizes_beside_a_scan_and_zero_copy_are_rejected_with_both_values() {
        let rejected = |lines: &[&str]| {
            let (leader, all) = publishers(lines);
            let error = check_sizes(&leader, &all).expect_err("different sizes");
            format!("{}; {}", error.text(), error.hint().unwrap_or_default())
        };
        let hint = "remove `-dataLen` from publisher 1";
        assert_eq!(
            rejected(&["-scan 64:128", "-dataLen 200"]),
            format!(
                "`-dataLen` is 200 at publisher 1, and the sizes of `-scan` at publisher 0: a scan has the same sizes for all; {hint}"
            )
        );
        assert_eq!(
            rejected(&["-zeroCopy -transport SHMEM -dataLen 64", "-dataLen 200"]),
            format!(
                "`-dataLen` is 200 at publisher 1, and 64 at publisher 0: `-zeroCopy` has a type of one size; {hint}"
            )
        );
        let (leader, all) = publishers(&["-dataLen 64", "-dataLen 200"]);
        check_sizes(&leader, &all).expect("sizes of one topic");
    }

    #[test]
    fn end_before_the_number_of_samples_is_named() {
        let end = |samples, seconds| TestEnd { samples, seconds };
        assert_eq!(end(Some(5), None).unreached(5), None);
        assert_eq!(end(Some(5), Some(1)).unreached(4), None, "the time may end it");
        assert_eq!(end(None, None).unreached(4), None);
        assert_eq!(
            end(Some(5), None).unreached(4).as_deref(),
            Some("`-numIter 5` was not reached: a size ends after 86400 s, with 4 samples")
        );
    }

    fn publisher(limit: Option<RateLimit>) -> Publisher {
        let rate = PublisherRate { limit, option: String::new(), spins: true };
        let end = TestEnd { samples: None, seconds: None };
        Publisher { name: "publisher 1".to_owned(), rate, size: None, end }
    }

    fn of(limits: &[Option<RateLimit>], size: u64) -> Option<String> {
        let publishers: Vec<Publisher> = limits.iter().copied().map(publisher).collect();
        rate_of_size(&publishers, size).map(|rate| rate.to_string())
    }

    #[test]
    fn each_publisher_has_its_rate() {
        let (slow, fast) = (Some(RateLimit::Samples(1000)), Some(RateLimit::Samples(3000)));
        assert_eq!(of(&[None, None], 100), None);
        assert_eq!(of(&[slow, slow], 100).as_deref(), Some("1000/s"));
        assert_eq!(of(&[slow, fast], 100).as_deref(), Some("1000/s+3000/s"));
        assert_eq!(of(&[None, fast, slow], 100).as_deref(), Some("max+3000/s+1000/s"));
    }

    #[test]
    fn bits_are_those_of_the_samples_of_each_size() {
        let limits = [Some(RateLimit::Bits(800_000)), Some(RateLimit::Interval(2_000_000))];
        assert_eq!(of(&limits, 100).as_deref(), Some("1000/s+1/2ms"));
        assert_eq!(of(&limits, 200).as_deref(), Some("500/s+1/2ms"));
        for limit in limits {
            assert_eq!(publisher(limit).rate.samples_per_s(200), Some(500.0));
        }
        let error = publisher(Some(RateLimit::Bits(u64::MAX))).check(&[100]).expect_err("too many");
        assert!(error.text().contains("of 100 bytes of publisher 1"), "{}", error.text());
    }
}
