//! Command lines of section 9 of the guide to release 5.1.0.9, with values in the places of its names. Lines that are missing
//! in the text of the guide are reconstructed, and marked.

use perftest::{Batch, Generation, Mode, Nic, Receive, Role, SCAN_SIZES, Settings};

use crate::common::{options, quiet, valid};

/// Prefix of each command line, which the command removes.
const OLD: Generation = Generation::V5_1;

fn publisher(line: &str) -> Settings {
    let settings = quiet(line, OLD);
    assert_eq!(settings.role, Role::Publisher);
    assert!(!settings.local.output.intervals, "{line}");
    settings
}

fn subscriber(line: &str) -> Settings {
    let settings = quiet(line, OLD);
    assert_eq!(settings.role, Role::Subscriber);
    assert!(!settings.local.output.intervals, "{line}");
    settings
}

#[track_caller]
fn agree(publisher: &Settings, mut subscriber: Settings) {
    subscriber.adopt(&publisher.offer()).expect("both sides agree");
    assert_eq!(subscriber.shared, publisher.shared);
}

#[test]
fn section_9_1_best_latency() {
    // Reconstructed: both lines are missing. The remarks name -dataLen and -numIter, the title latency and multicast.
    let one = publisher("-pub -noPrint -nic 10.0.0.1 -numIter 100 -dataLen 64 -latencyTest -multicast");
    let two = subscriber("-sub -noPrint -nic 10.0.0.2 -multicast");
    assert_eq!(
        (one.shared.mode, one.shared.latency_count, one.shared.samples),
        (Mode::Latency, 1, Some(100))
    );
    assert!(one.shared.multicast && matches!(one.local.nic, Some(Nic::Address(_))));
    assert_eq!(one.shared.batch, Batch::Off);
    agree(&one, two);
}

#[test]
fn section_9_2_highest_throughput_with_batches() {
    let one = publisher(
        "-pub -noPrint -nic 10.0.0.1 -numIter 2000000 -dataLen 200 -batchSize 6400 -sendQueueSize 30 -multicast",
    );
    assert_eq!((one.shared.batch, one.shared.samples_per_batch(200)), (Batch::Bytes(6400), 32));
    assert_eq!(one.local.send_queue, Some(30));
    agree(&one, subscriber("-sub -noprint -nic 10.0.0.2 -multicast"));
    publisher("-pub -noPrint -numIter 2000000 -dataLen 200 -batchSize 63000");
}

#[test]
fn section_9_3_latency_and_throughput_with_batches() {
    let one = publisher(
        "-pub -noPrint -nic 10.0.0.1 -numIter 2000000 -dataLen 200 -batchSize 400 -sendQueueSize 30 -spin 20000 -multicast",
    );
    assert_eq!((one.local.pacing.spin_count, one.shared.samples_per_batch(200)), (20_000, 2));
    agree(&one, subscriber("-sub -noPrint -nic 10.0.0.2 -multicast"));
}

#[test]
fn section_9_4_all_sizes() {
    let one = publisher("-pub -noPrint -sendQueueSize 32 -latencyCount 10000 -scan -multicast");
    assert_eq!((one.shared.sizes.as_slice(), one.shared.latency_count), (SCAN_SIZES.as_slice(), 10_000));
    assert!(one.shared.reliable);
    agree(&one, subscriber("-sub -noPrint -multicast"));
}

#[test]
fn section_9_5_best_effort() {
    // Reconstructed: the line of the publisher is missing. That of the subscriber has -dataLen and -bestEffort.
    let one = publisher("-pub -noPrint -latencyCount 1000 -numIter 1000000 -dataLen 1024 -bestEffort");
    assert!(!one.shared.reliable && !one.shared.multicast);
    agree(&one, subscriber("-sub -noPrint -dataLen 1024 -bestEffort"));
}

#[test]
fn section_9_6_batches_with_the_size_on_both_sides() {
    let one = publisher(
        "-pub -noPrint -sendQueueSize 32 -latencyCount 1000 -numIter 1000000 -dataLen 200 -batchSize 6400 -multicast",
    );
    // The table has -batchSize for publishers only: it has no effect on a subscriber, and is not compared.
    let (two, warnings) = valid("-sub -noPrint -dataLen 200 -batchSize 6400 -multicast", OLD);
    assert_eq!(options(&warnings), ["batchSize"]);
    agree(&one, two);
    let (other, _) = valid("-sub -noPrint -dataLen 200 -batchSize 6401 -multicast", OLD);
    assert_eq!(other.disagreements(&one.offer()), []);
}

#[test]
fn section_9_7_two_subscribers() {
    let one = publisher(
        "-pub -noPrint -pidMultiPubTest 0 -sendQueueSize 32 -numSubscribers 2 -latencyCount 1000 -numIter 1000000 -dataLen 200 \
         -multicast",
    );
    assert_eq!((one.local.id, one.local.partners), (0, 2));
    let first = subscriber("-sub -noPrint -dataLen 200 -numPublishers 1 -sidMultiSubTest 0 -multicast");
    // Reconstructed: the line of subscriber 2 is missing; it is that of subscriber 1 with the next id.
    let second = subscriber("-sub -noPrint -dataLen 200 -numPublishers 1 -sidMultiSubTest 1 -multicast");
    assert_eq!((first.local.id, second.local.id, second.local.partners), (0, 1, 1));
    agree(&one, first);
    agree(&one, second);
}

#[test]
fn section_9_8_two_publishers() {
    let line = |id| {
        format!(
            "-pub -noPrint -pidMultiPubTest {id} -sendQueueSize 32 -numSubscribers 1 -latencyCount 1000 -numIter 1000000 \
             -dataLen 200 -multicast"
        )
    };
    let one = publisher(&line(0));
    // Only publisher 0 measures latency, so the option has no effect at the other one.
    let (two, warnings) = valid(&line(1), OLD);
    assert_eq!(options(&warnings), ["latencyCount"]);
    assert_eq!((one.local.id, two.local.id), (0, 1));
    let three = subscriber("-sub -noPrint -dataLen 200 -numPublishers 2 -sidMultiSubTest 0 -multicast");
    assert_eq!((three.local.partners, three.local.receive), (2, Receive::Listener));
    agree(&one, three.clone());
    agree(&two, three);
}

#[test]
fn section_10_example_output() {
    let one = publisher("-pub -noPrint -domain 27 -sendQueueSize 50 -latencyCount 10000 -scan");
    assert_eq!((one.local.domain, one.shared.samples), (27, Some(10_000_000)));
    agree(&one, subscriber("-sub -noPrint -domain 27"));
}
