//! Publishers of `ddsmark perftest` with rates, sizes and ends of their own. Needs root.

use serde_json::Value;

use crate::{
    perftest_support::{Hosts, assert_done, assert_failed, columns, saved_result},
    support::Outcome,
};

/// Flow of a writer in the result of a test with one subscriber.
struct WriterFlow {
    load: String,
    size_bytes: u64,
    planned: u64,
    sent: u64,
    delivered: u64,
    lost: u64,
}

/// Returns the flows of the only run, by writer.
fn flows(document: &Value) -> Vec<WriterFlow> {
    let run = &document["cells"][0]["runs"][0];
    assert_eq!(run["state"], "valid", "{run:#}");
    let flows = run["flows"].as_array().expect("flows");
    let flow = |flow: &Value| {
        let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{flow:#}"));
        let counted = &flow["counted"];
        WriterFlow {
            load: flow["load"].as_str().unwrap_or_default().to_owned(),
            size_bytes: number(&flow["size_bytes"]),
            planned: number(&flow["planned"]),
            sent: number(&counted["sent"]),
            delivered: number(&counted["delivered"]),
            lost: number(&counted["lost"]),
        }
    };
    flows.iter().map(flow).collect()
}

/// Asserts that each sample of each writer is delivered or lost, and that the row of the subscriber has those that were delivered.
#[track_caller]
fn assert_conserved(flows: &[WriterFlow], subscriber: &Outcome) {
    for flow in flows {
        assert_eq!(flow.delivered + flow.lost, flow.sent, "{}", flow.load);
    }
    let delivered: u64 = flows.iter().map(|flow| flow.delivered).sum();
    let rows = columns(subscriber);
    let [row] = &rows[..] else { panic!("{}", subscriber.stdout) };
    assert_eq!(row[1], delivered.to_string(), "{row:?}");
}

#[test]
fn each_publisher_writes_at_its_rate() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 200 -exec 2 -pubRate 1000 -ddsmark-out result",
        "-pub -noPrint -pidMultiPubTest 1 -pubRate 3000:sleep",
        "-sub -noPrint -numPublishers 2",
    ]);
    assert_done(&outcomes);
    assert!(outcomes[0].stderr.contains("Publication Rate: 1000 samples/s, spin"), "{}", outcomes[0].stderr);
    assert!(outcomes[1].stderr.contains("Publication Rate: 3000 samples/s, sleep"), "{}", outcomes[1].stderr);
    let document = saved_result(&hosts, "result");
    let flows = flows(&document);
    let planned: Vec<(&str, u64)> = flows.iter().map(|flow| (flow.load.as_str(), flow.planned)).collect();
    assert_eq!(planned, [("1000/s", 2000), ("3000/s", 6000)]);
    assert_conserved(&flows, &outcomes[2]);
    // A sample that the time cut off was planned, and not sent.
    assert!(flows.iter().all(|flow| flow.sent > 0 && flow.sent <= flow.planned), "{document:#}");
    let report = hosts.scene.ddsmark(&["report", "result", "--full"]);
    report.assert_status(0);
    for text in ["writer-1@publisher-0", "writer-2@publisher-1", "1000/s", "3000/s"] {
        assert!(report.stdout.contains(text), "{text}: {}", report.stdout);
    }
}

#[test]
fn number_of_samples_ends_each_publisher_at_its_rate() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 64 -numIter 600 -sleep 4 -ddsmark-out result",
        "-pub -noPrint -pidMultiPubTest 1 -pubRatebps 1024000",
        "-sub -noPrint -numPublishers 2",
    ]);
    assert_done(&outcomes);
    assert!(
        outcomes[0].stderr.contains("note: `-sleep 4` is a schedule with that interval"),
        "{}",
        outcomes[0].stderr
    );
    let flows = flows(&saved_result(&hosts, "result"));
    let sent: Vec<(&str, u64)> = flows.iter().map(|flow| (flow.load.as_str(), flow.sent)).collect();
    assert_eq!(sent, [("250/s", 600), ("2000/s", 600)]);
    assert_conserved(&flows, &outcomes[2]);
}

#[test]
fn publisher_without_a_rate_is_unlimited_beside_others() {
    for (options, loads) in
        [(["", "-pubRate 500"], ["max", "500/s"]), (["-pubRate 500", ""], ["500/s", "max"])]
    {
        let hosts = Hosts::new(3);
        let outcomes = hosts.run(&[
            &format!("-pub -noPrint -dataLen 200 -exec 1 -batchSize 0 -ddsmark-out result {}", options[0]),
            &format!("-pub -noPrint -pidMultiPubTest 1 {}", options[1]),
            "-sub -noPrint -numPublishers 2",
        ]);
        assert_done(&outcomes);
        let flows = flows(&saved_result(&hosts, "result"));
        assert_eq!(flows.iter().map(|flow| flow.load.as_str()).collect::<Vec<_>>(), loads);
        let of = |load: &str| flows.iter().find(|flow| flow.load == load).expect("a flow");
        assert_eq!(of("500/s").planned, 500);
        assert!(of("max").sent > 500, "{} samples without a limit", of("max").sent);
        assert_conserved(&flows, &outcomes[2]);
    }
}

#[test]
fn missed_rate_names_its_publisher() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 200 -exec 1 -pubRate 20",
        "-pub -noPrint -pidMultiPubTest 1 -pubRate 10000000:spin",
        "-sub -noPrint -numPublishers 2",
    ]);
    assert_done(&outcomes);
    let missed = "the rate of `-pubRate 10000000:spin` was missed: ";
    let of_leader = &outcomes[0].stderr;
    assert!(of_leader.contains(&format!("warning: 200 bytes: publisher 1: {missed}")), "{of_leader}");
    assert!(!of_leader.contains("publisher 0: the rate"), "{of_leader}");
    assert!(outcomes[1].stderr.contains(&format!("warning: 200 bytes: {missed}")), "{}", outcomes[1].stderr);
}

#[test]
fn latency_is_measured_beside_a_publisher_with_a_rate() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 200 -exec 1 -latencyTest -ddsmark-out result",
        "-pub -noPrint -pidMultiPubTest 1 -pubRate 1000",
        "-sub -noPrint -numPublishers 2",
    ]);
    assert_done(&outcomes);
    let document = saved_result(&hosts, "result");
    let flows = flows(&document);
    assert_eq!(flows.iter().map(|flow| flow.load.as_str()).collect::<Vec<_>>(), ["max", "1000/s"]);
    assert_conserved(&flows, &outcomes[2]);
    let rtt = &document["cells"][0]["latency"]["rtt"];
    assert_eq!(rtt["n"].as_u64(), Some(flows[0].sent), "each sample of publisher 0 is echoed: {rtt:#}");
    assert!(!outcomes[0].stderr.contains("batches"), "{}", outcomes[0].stderr);
}

#[test]
fn each_publisher_has_its_size() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 64 -pubRate 500 -exec 2 -ddsmark-out result",
        "-pub -noPrint -pidMultiPubTest 1 -pubRate 20 -dataLen 200000",
        "-sub -noPrint -numPublishers 2",
    ]);
    assert_done(&outcomes);
    for (outcome, size) in outcomes.iter().zip(["64", "200000"]) {
        assert!(outcome.stderr.contains(&format!("Data Size: {size}")), "{}", outcome.stderr);
    }
    let note = "note: 64 bytes: the publishers have different sizes";
    assert!(outcomes[2].stderr.contains(note), "{}", outcomes[2].stderr);
    let document = saved_result(&hosts, "result");
    let notes = document["experiment"]["notes"].to_string();
    assert!(notes.contains("those of writer-2 have 199996 bytes"), "{notes}");
    let flows = flows(&document);
    let sizes: Vec<(u64, u64)> = flows.iter().map(|flow| (flow.size_bytes, flow.planned)).collect();
    assert_eq!(sizes, [(60, 1000), (199_996, 40)]);
    assert_conserved(&flows, &outcomes[2]);
    let row = &columns(&outcomes[2])[0];
    assert_eq!(row[0], "64", "the length of publisher 0");
    let bytes: u64 = flows.iter().map(|flow| flow.delivered * (flow.size_bytes + 4)).sum();
    let number = |place: usize| row[place].parse::<f64>().expect("a number");
    let expected = number(2) * 8.0 / 1e6 * bytes as f64 / number(1);
    assert!((number(3) - expected).abs() <= 0.01 * expected + 0.1, "{row:?}: {expected} Mbps");
    let report = hosts.scene.ddsmark(&["report", "result", "--full"]);
    for size in ["60", "199996"] {
        assert!(report.stdout.contains(&format!(" {size} ")), "{size}: {}", report.stdout);
    }
}

#[test]
fn each_publisher_ends_by_its_own_time_and_number() {
    let hosts = Hosts::new(4);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 64 -pubRate 200 -exec 1 -ddsmark-out result",
        "-pub -noPrint -pidMultiPubTest 1 -pubRate 200 -exec 3",
        "-pub -noPrint -pidMultiPubTest 2 -numIter 50",
        "-sub -noPrint -numPublishers 3",
    ]);
    assert_done(&outcomes);
    let flows = flows(&saved_result(&hosts, "result"));
    let planned: Vec<u64> = flows.iter().map(|flow| flow.planned).collect();
    assert_eq!(planned, [200, 600, 50]);
    assert_eq!(flows[2].sent, 50, "without a time of its own, only the number ends it");
    assert!(flows[1].sent > flows[0].sent, "{} and {}", flows[0].sent, flows[1].sent);
    assert_conserved(&flows, &outcomes[3]);
}

#[test]
fn latency_is_measured_beside_a_publisher_of_another_size() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -dataLen 200 -latencyTest -numIter 300 -ddsmark-out result",
        "-pub -noPrint -pidMultiPubTest 1 -dataLen 4096 -exec 1",
        "-sub -noPrint -numPublishers 2",
    ]);
    assert_done(&outcomes);
    let document = saved_result(&hosts, "result");
    let flows = flows(&document);
    assert_eq!(flows.iter().map(|flow| flow.size_bytes).collect::<Vec<_>>(), [196, 4092]);
    assert_eq!((flows[0].sent, document["cells"][0]["latency"]["rtt"]["n"].as_u64()), (300, Some(300)));
    assert_conserved(&flows, &outcomes[2]);
}

#[test]
fn size_of_a_publisher_beside_a_scan_is_rejected_with_both_values() {
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -noPrint -scan 64:128 -exec 1",
        "-pub -noPrint -pidMultiPubTest 1 -dataLen 200",
        "-sub -noPrint -numPublishers 2",
    ]);
    let text = "`-dataLen` is 200 at publisher 1, and the sizes of `-scan` at publisher 0";
    for outcome in &outcomes {
        assert_failed(outcome, &[text]);
    }
}
