//! Latency samples in throughput tests of `ddsmark perftest`, and the throttle that follows them. Needs root.

use serde_json::Value;

use crate::{
    perftest_support::{Hosts, assert_rejected, json},
    support::{Outcome, Scene, count, list, number, text},
};

/// Runs command lines to their ends, and returns the JSON documents of all processes.
fn documents(hosts: &Hosts, options: &[&str]) -> Vec<(Outcome, Value)> {
    let options: Vec<String> =
        options.iter().map(|options| format!("{options} -noPrint -outputFormat json")).collect();
    let outcomes = hosts.run(&options.iter().map(String::as_str).collect::<Vec<_>>());
    let document = |outcome: Outcome| {
        outcome.assert_status(0);
        let document = json(&outcome);
        assert_eq!(document["valid"], true, "{document:#}");
        (outcome, document)
    };
    outcomes.into_iter().map(document).collect()
}

/// Returns the summary of a size.
fn summary(document: &Value, size: usize) -> &Value {
    &document["perftest"][size]["summary"]
}

/// Asserts that the result of a test says which endpoints measured the latency, and that nothing was lost.
fn assert_probes(hosts: &Hosts, every: u64, sent: u64, between: [&str; 2]) {
    let outcome = hosts.scene.ddsmark(&["report", "result", "--json"]);
    outcome.assert_status(0);
    let document = outcome.document();
    let run = &list(&document["cells"])[0]["runs"][0];
    assert_eq!(run["state"], "valid", "{run:#}");
    let probes = &run["measured"]["throughput"]["probes"];
    assert_eq!([text(probes, "writer"), text(probes, "reader")], between, "{probes:#}");
    assert_eq!([count(&probes["every"]), count(&probes["sent"])], [every, sent], "{probes:#}");
    assert_eq!((count(&probes["returned"]), count(&probes["lost"])), (sent, 0), "{probes:#}");
}

#[test]
fn publisher_0_measures_latency_with_several_subscribers() {
    let hosts = Hosts::new(3);
    let publisher = "-pub -numSubscribers 2 -dataLen 200 -numIter 20000 -latencyCount 200 -batchSize 0 -ddsmark-out result";
    let all = documents(&hosts, &[publisher, "-sub", "-sub -sidMultiSubTest 1"]);
    assert_eq!(count(&summary(&all[0].1, 0)["latency_samples"]), 100, "{:#}", all[0].1);
    for (_, document) in &all[1..] {
        assert_eq!(count(&summary(document, 0)["packets"]), 20_000, "{document:#}");
    }
    let text = "note: the subscriber with the lowest id echoes all latency samples";
    assert!(all[0].0.stderr.contains(text), "{}", all[0].0.stderr);
    assert_probes(&hosts, 200, 100, ["writer", "reader-1"]);
}

#[test]
fn publisher_0_measures_latency_beside_other_publishers() {
    for more in ["", "-pubRate 5000:sleep"] {
        let hosts = Hosts::new(3);
        let of = |id: u32| {
            format!(
                "-pub -pidMultiPubTest {id} -dataLen 200 -numIter 10000 -latencyCount 200 -batchSize 0 {more}"
            )
        };
        let first = format!("{} -ddsmark-out result", of(0));
        let all = documents(&hosts, &[&first, &of(1), "-sub -numPublishers 2"]);
        assert_eq!(count(&summary(&all[0].1, 0)["latency_samples"]), 50, "{:#}", all[0].1);
        assert!(summary(&all[1].1, 0).is_null(), "{:#}", all[1].1);
        assert_eq!(count(&summary(&all[2].1, 0)["packets"]), 20_000, "{:#}", all[2].1);
        assert_probes(&hosts, 200, 50, ["writer-1", "reader"]);
    }
}

#[test]
fn latency_samples_are_as_frequent_as_asked_for() {
    for (every, note) in [(1, "add 100 %"), (50, "add 2 %")] {
        let hosts = Hosts::new(2);
        let publisher = format!(
            "-pub -dataLen 200 -numIter 5000 -latencyCount {every} -batchSize 0 -executionTime 86400 -ddsmark-out result"
        );
        let all = documents(&hosts, &[&publisher, "-sub"]);
        assert_eq!(count(&summary(&all[0].1, 0)["latency_samples"]), 5000 / every, "{:#}", all[0].1);
        let text = format!("note: one sample in {every} is echoed in full: the echoes {note} to the traffic");
        assert!(all[0].0.stderr.contains(&text), "{}", all[0].0.stderr);
        assert_probes(&hosts, every, 5000_u64.div_ceil(every), ["writer", "reader"]);
    }
}

#[test]
fn latency_test_echoes_one_sample_in_latency_count() {
    for more in ["", "-bestEffort -useReadThread"] {
        let hosts = Hosts::new(2);
        let publisher = format!(
            "-pub -latencyTest -latencyCount 10 -numIter 1000 -dataLen 100 {more} -ddsmark-out result"
        );
        let all = documents(&hosts, &[&publisher, &format!("-sub {}", more.replace("-bestEffort", ""))]);
        assert_eq!(count(&summary(&all[0].1, 0)["latency_samples"]), 100, "{:#}", all[0].1);
        assert_eq!(count(&summary(&all[1].1, 0)["packets"]), 1000, "{:#}", all[1].1);
        let banner = &all[0].0.stderr;
        assert!(banner.contains("Latency count: 1 latency sample every 10 samples"), "{banner}");
        assert!(banner.contains("LATENCY TEST (waits for the echo of each latency sample)"), "{banner}");
        assert_probes(&hosts, 10, 100, ["writer", "reader"]);
        // As in a test with one sample in flight, the publisher waits: its rate is at most ten samples in a round trip.
        let document = hosts.scene.ddsmark(&["report", "result", "--json"]).document();
        let run = &list(&document["cells"])[0]["runs"][0];
        let trips_s = 100.0 * number(&run["latency"]["rtt"]["mean_ns"]) / 1e9;
        let sending_s = 1000.0 / number(&run["measured"]["throughput"]["accepted_sps"]);
        assert!(sending_s >= 0.9 * trips_s, "{sending_s} s for round trips of {trips_s} s");
    }
}

#[test]
fn each_size_of_a_scan_has_its_own_distance_of_latency_samples() {
    let hosts = Hosts::new(2);
    let publisher =
        "-pub -scan 32:1024:8192 -batchSize 8192 -latencyCount 10 -numIter 20000 -ddsmark-out result";
    let all = documents(&hosts, &[publisher, "-sub"]);
    // Batches of 256, 8 and 1 samples.
    let samples = [0, 1, 2].map(|size| count(&summary(&all[0].1, size)["latency_samples"]));
    assert_eq!(samples, [8, 20_000 / 80, 20_000 / 10], "{:#}", all[0].1);
    let document = hosts.scene.ddsmark(&["report", "result", "--json"]).document();
    let cells = list(&document["cells"]).iter();
    let mut distances: Vec<u64> =
        cells.map(|cell| count(&cell["runs"][0]["measured"]["throughput"]["probes"]["every"])).collect();
    distances.sort_unstable();
    assert_eq!(distances, [10, 80, 2560]);
}

#[test]
fn throttle_works_with_default_options() {
    for more in ["", "-enableTurboMode", "-batchSize 0"] {
        let hosts = Hosts::new(2);
        let publisher = format!("-pub -exec 1 -enableAutoThrottle {more} -ddsmark-out result");
        let all = documents(&hosts, &[&publisher, "-sub"]);
        let stderr = &all[0].0.stderr;
        assert!(stderr.contains("note: the send queue has 4000 samples, not 50: "), "{stderr}");
        assert!(stderr.contains("note: one sample in 200 is a latency sample, not one in "), "{stderr}");
        assert!(count(&summary(&all[0].1, 0)["latency_samples"]) > 0, "{:#}", all[0].1);
        assert!(number(&summary(&all[1].1, 0)["packets/sAve"]) > 0.0, "{:#}", all[1].1);
        let document = hosts.scene.ddsmark(&["report", "result", "--json"]).document();
        let run = &list(&document["cells"])[0]["runs"][0];
        let marks = ["low_mark", "high_mark"].map(|mark| count(&run["measured"]["paced"]["throttle"][mark]));
        assert_eq!(marks, [400, 3600], "{run:#}");
    }
}

#[test]
fn throttle_of_several_subscribers_is_rejected() {
    let text = "`-enableAutoThrottle` needs one publisher and one subscriber: the test has 1 and 2";
    let options = "-pub -nic lo -numSubscribers 2 -exec 3 -enableAutoThrottle";
    assert_rejected(&Scene::new(), options, text, "the rate follows one subscriber");
}
