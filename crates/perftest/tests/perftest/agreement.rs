//! Tests of the agreement of publisher and subscriber.

use perftest::{Batch, Generation, History, OPTIONS, Offer, OptionRow};

use crate::common::{quiet, valid, with_file};

const OLD: Generation = Generation::V5_1;
const NEW: Generation = Generation::V4_3;

/// Returns the disagreements of two command lines, as text, after the offer was sent.
fn disagreements(publisher: &str, subscriber: &str, generation: Generation) -> Vec<String> {
    let offer = sent(&valid(publisher, generation).0.offer());
    let found = valid(subscriber, generation).0.disagreements(&offer);
    found.iter().map(ToString::to_string).collect()
}

fn sent(offer: &Offer) -> Offer {
    offer.check().expect("an offer of a publisher is valid");
    serde_json::from_str(&serde_json::to_string(offer).expect("JSON")).expect("what was sent")
}

#[test]
fn subscriber_without_options_adopts_everything() {
    let publisher = quiet(
        "-pub -keyed -instances 7 -dataLen 64 -bestEffort -durability 1 -keepLast -keepLastDepth 3 -batchSize 640 -numIter 50000 \
         -latencyCount 5 -multicast -executionTime 3 -pubRate 100:spin",
        NEW,
    );
    let mut subscriber = quiet("-sub", NEW);
    assert_ne!(subscriber.shared, publisher.shared);
    let local = subscriber.local.clone();
    subscriber.adopt(&sent(&publisher.offer())).expect("no option, no disagreement");
    assert_eq!((&subscriber.shared, &subscriber.local), (&publisher.shared, &local));
}

#[test]
fn each_publisher_keeps_its_rate() {
    let offer = sent(&quiet("-pub -pubRate 1000 -dataLen 64", NEW).offer());
    for (line, rate) in [("", None), ("-pubRate 3000:sleep", Some(3000))] {
        let mut publisher = quiet(&format!("-pub -pidMultiPubTest 1 {line}"), NEW);
        publisher.adopt(&offer).expect("no disagreement");
        assert_eq!(publisher.shared.sizes, [64]);
        assert_eq!(publisher.local.pacing.samples_per_s.map(|rate| rate.per_second), rate, "{line}");
    }
}

#[test]
fn each_publisher_keeps_its_size_and_its_end() {
    let adopted = |leader: &str, line: &str| {
        let mut publisher = quiet(&format!("-pub -pidMultiPubTest 1 {line}"), NEW);
        publisher.adopt(&sent(&quiet(leader, NEW).offer())).expect("no disagreement");
        let shared = publisher.shared;
        (shared.sizes, shared.samples, shared.execution_time_s)
    };
    let leader = "-pub -dataLen 64 -numIter 1000 -exec 9";
    assert_eq!(adopted(leader, ""), (vec![64], Some(1000), Some(9)));
    assert_eq!(adopted(leader, "-dataLen 200"), (vec![200], Some(1000), Some(9)));
    assert_eq!(adopted(leader, "-numIter 5"), (vec![64], Some(5), None), "its time has no limit");
    assert_eq!(adopted(leader, "-exec 3"), (vec![64], Some(100_000_000), Some(3)));
    assert_eq!(adopted("-pub -scan 64:128", "-dataLen 200").0, [64, 128], "publisher 0 rejects it");
}

#[test]
fn equal_options_of_both_sides_agree() {
    for (publisher, subscriber, generation) in [
        ("-pub -dataLen 200 -batchSize 6400", "-sub -dataLen 200 -batchSize 6400", OLD),
        ("-pub -dataLen 1024 -bestEffort", "-sub -dataLen 1024 -bestEffort", OLD),
        ("-pub -scan", "-sub -dataLen 63000", NEW),
        ("-pub -scan -dataLen 64", "-sub -dataLen 63000", NEW),
        ("-pub -scan", "-sub -scan", OLD),
        ("-pub -latencyTest -batchSize 6400", "-sub -batchSize 6400", OLD),
        ("-pub", "-sub -dataLen 100 -instances 1 -latencyCount -1", OLD),
        ("-pub -keyed -instances 5", "-sub -keyed -instances 5 -cft 3", NEW),
        ("-pub -instances 5", "-sub -instances 5", NEW),
        ("-pub", "-sub -receiveQueueSize 50 -sendQueueSize 50", NEW),
        ("-pub -pubRate 500 -exec 3", "-pub -pidMultiPubTest 1 -pubRate 500:spin -exec 3", NEW),
        ("-pub -pubRate 500:spin", "-pub -pidMultiPubTest 1 -pubRate 1000:sleep", NEW),
        ("-pub -pubRatebps 500", "-pub -pidMultiPubTest 1", NEW),
        ("-pub -dataLen 64 -exec 9", "-pub -pidMultiPubTest 1 -dataLen 2097152 -exec 3", NEW),
        ("-pub -dataLen 200", "-pub -pidMultiPubTest 1 -dataLen 1024 -numIter 7", OLD),
        ("-pub", "-pub -pidMultiPubTest 1 -sleep 5 -spin 7", OLD),
    ] {
        assert_eq!(disagreements(publisher, subscriber, generation), Vec::<String>::new(), "{subscriber}");
    }
}

#[test]
fn disagreement_names_the_option_and_both_values() {
    let found: Vec<String> = [
        ("-pub", "-sub -bestEffort -durability 1", NEW),
        ("-pub -keyed -instances 5", "-sub -keyed -instances 6", NEW),
        ("-pub", "-sub -cft 3", NEW),
        ("-pub -enableTurboMode", "-pub -pidMultiPubTest 1 -batchSize 6400", OLD),
        ("-pub", "-sub -multicast", OLD),
        ("-pub", "-pub -pidMultiPubTest 1 -executionTime 5 -sleep 2 -initialBurstSize 7", NEW),
        ("-pub -sendQueueSize 30", "-sub -sendQueueSize 50 -receiveBufferSize 100000", NEW),
        ("-pub -receiveQueueSize 30", "-sub -receiveQueueSize 50", NEW),
    ]
    .iter()
    .flat_map(|(publisher, subscriber, generation)| disagreements(publisher, subscriber, *generation))
    .collect();
    insta::assert_snapshot!(found.join("\n"));
    let offer = valid("-pub", NEW).0.offer();
    let mut subscriber = valid("-sub -bestEffort", NEW).0;
    let before = subscriber.clone();
    let found = subscriber.adopt(&offer).expect_err("they disagree");
    assert_eq!(subscriber, before, "nothing is adopted");
    insta::assert_snapshot!(found[0].hint(), @"remove `-bestEffort` from the subscriber, which adopts the publisher's; or make both the same");
}

#[test]
fn options_of_publishers_on_a_subscriber_are_warnings() {
    for (publisher, subscriber, warned, generation) in [
        ("-pub -dataLen 200", "-sub -dataLen 1024 -sendQueueSize 20", vec!["dataLen", "sendQueueSize"], NEW),
        ("-pub -dataLen 200", "-sub -dataLen 200 -sendQueueSize 50", vec![], NEW),
        // Their values are not compared: they were warned of before.
        ("-pub -numIter 20000", "-sub -numIter 30000 -batchSize 6400", vec![], OLD),
    ] {
        let offer = sent(&valid(publisher, generation).0.offer());
        let mut subscriber = valid(subscriber, generation).0;
        let warnings = subscriber.adopt(&offer).expect("no disagreement");
        assert_eq!(warnings.iter().map(|warning| warning.option).collect::<Vec<_>>(), warned);
        assert_eq!(subscriber.shared.sizes, offer.shared.sizes);
    }
}

#[test]
fn defaults_of_a_file_are_not_a_choice_of_the_subscriber() {
    let offer = valid("-pub -dataLen 200", OLD).0.offer();
    let subscriber = |file| with_file("-sub", file).expect("a file").0;
    assert_eq!(subscriber("data length = 100\nis reliable = true\n").disagreements(&offer), []);
    assert_eq!(subscriber("is reliable = false\n").disagreements(&offer).len(), 1);
}

#[test]
fn every_option_that_must_agree_is_offered() {
    let rows: Vec<&OptionRow> = OPTIONS.iter().copied().filter(|row| row.agrees).collect();
    let offer = valid("-pub -keepLast -receiveQueueSize 9", NEW).0.offer();
    let offered: Vec<&str> = offer.values.iter().map(|value| value.option.as_str()).collect();
    assert_eq!(offered, rows.iter().map(|row| row.name).collect::<Vec<_>>());
    let given = offer.values.iter().filter(|value| value.given).map(|value| value.option.as_str());
    assert_eq!(given.collect::<Vec<_>>(), ["keepLast", "receiveQueueSize"]);
}

#[test]
fn offer_of_a_stranger_is_rejected() {
    let offer = || valid("-pub", NEW).0.offer();
    let rejects = |change: fn(&mut Offer), what: &str| {
        let mut offer = offer();
        change(&mut offer);
        let error = offer.check().expect_err(what);
        assert!(error.to_string().contains(what), "{error}");
    };
    offer().check().expect("unchanged");
    rejects(|offer| offer.shared.sizes.clear(), "size");
    rejects(|offer| offer.shared.sizes.push(27), "size");
    rejects(|offer| offer.shared.sizes = vec![100; 1001], "size");
    rejects(|offer| offer.shared.instances = 0, "instances");
    rejects(|offer| offer.shared.instances = 100_001, "instances");
    rejects(|offer| offer.shared.write_instance = Some(1), "instance");
    rejects(|offer| offer.shared.latency_count = 0, "samples");
    rejects(|offer| offer.shared.samples = Some(0), "samples");
    rejects(|offer| offer.shared.execution_time_s = Some(u64::MAX), "duration");
    rejects(|offer| offer.shared.batch = Batch::Bytes(0), "batch");
    rejects(|offer| offer.shared.history = History::KeepLast(0), "depth");
    rejects(|offer| offer.values[0].value = "9".repeat(20_000), "options");
    rejects(|offer| offer.values = vec![offer.values[0].clone(); 65], "options");
    assert!(serde_json::from_str::<Offer>("{\"generation\":\"4.3\",\"surprise\":1}").is_err());
}
