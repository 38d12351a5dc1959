//! Numbers in the rows of `ddsmark perftest`, recomputed from the result of the same test. Needs root.

use serde_json::Value;

use crate::{
    perftest_support::{Hosts, columns, json, saved_result},
    support::{Outcome, Running, count, list, number},
};

/// Fields of the percentiles of a row in a result.
const PERCENTILES: [&str; 5] = ["p50_ns", "p90_ns", "p99_ns", "p99_99_ns", "p99_9999_ns"];

/// Runs a publisher and a subscriber over the loopback interface of one host.
fn run(hosts: &Hosts, publisher: &str, subscriber: &str) -> [Outcome; 2] {
    let running = [
        hosts.start(0, &format!("-pub -nic lo -noPrint {publisher}")),
        hosts.start(0, &format!("-sub -nic lo -noPrint {subscriber}")),
    ];
    running.map(Running::end)
}

/// Returns the run of each size, in the order of the rows.
fn runs(document: &Value) -> Vec<&Value> {
    let mut runs: Vec<&Value> = list(&document["cells"]).iter().map(|cell| &cell["runs"][0]).collect();
    runs.sort_by_key(|run| count(&run["number"]));
    runs
}

/// Returns the text of RTT/2 in a row: a whole number of µs, with one decimal below 100 unless it is 0.
fn micros(rtt_ns: Option<f64>) -> String {
    match rtt_ns.map(|ns| ns / 2000.0) {
        None => "n/a".to_owned(),
        Some(us) if us < 100.0 => format!("{us:.1}").trim_end_matches(".0").to_owned(),
        Some(us) => format!("{us:.0}"),
    }
}

/// Returns a value as JSON documents of perftest have it.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Returns the text of the CPU time of an endpoint in percent of all cores of its host.
fn cpu(document: &Value, run: &Value, endpoint: &Value) -> String {
    let process = list(&run["processes"]).iter().find(|process| process["number"] == endpoint["process"]);
    let usage = &process.expect("a process")["usage"];
    let host = list(&document["hosts"]).iter().find(|host| host["name"] == endpoint["host"]);
    let cpus = number(&host.expect("a host")["properties"]["cpus"]);
    let used = number(&usage["user_ns"]) + number(&usage["system_ns"]);
    format!("{:.2}", 100.0 * used / (number(&usage["elapsed_ns"]) * cpus))
}

fn endpoint<'r>(run: &'r Value, host: &str) -> &'r Value {
    list(&run["endpoints"]).iter().find(|endpoint| endpoint["host"] == host).expect("an endpoint")
}

/// Returns the columns of the publisher's row of a run.
fn latency_row(document: &Value, run: &Value, size: u64) -> Vec<String> {
    let rtt = &run["latency"]["rtt"];
    let of = |field: &str| rtt[field].as_f64().or_else(|| rtt["unsupported"][field].as_f64());
    let mut row = vec![size.to_string(), micros(of("mean_ns"))];
    row.push(format!("{:.1}", number(&rtt["sd_ns"]) / 2000.0));
    row.extend(["min_ns", "max_ns"].into_iter().chain(PERCENTILES).map(|field| micros(of(field))));
    row.push(cpu(document, run, endpoint(run, "publisher-0")));
    row
}

/// Returns the columns of the subscriber's row of a run.
fn throughput_row(document: &Value, run: &Value, size: u64) -> Vec<String> {
    let endpoint = endpoint(run, "subscriber-0");
    let reception = &endpoint["reception"];
    let samples = count(&reception["samples"]);
    let rate = number(&reception["intervals"]) * 1e9 / number(&reception["length_ns"]);
    let sent: u64 = list(&run["flows"]).iter().map(|flow| count(&flow["counted"]["sent"])).sum();
    vec![
        size.to_string(),
        samples.to_string(),
        format!("{rate:.0}"),
        format!("{:.1}", rate * size as f64 * 8.0 / 1e6),
        (sent - samples).to_string(),
        format!("{:.2}", 100.0 * (sent - samples) as f64 / sent as f64),
        cpu(document, run, endpoint),
    ]
}

/// Returns the numbers of the rows with labels, without those of the labels.
fn labelled(outcome: &Outcome) -> Vec<Vec<&str>> {
    let value = |word: &&str| *word == "n/a" || word.parse::<f64>().is_ok();
    let rows = outcome.stdout.lines().filter(|line| line.starts_with("Length: "));
    rows.map(|line| {
        let words = line.split_whitespace().map(|word| word.trim_start_matches('(').trim_end_matches("%)"));
        words.filter(value).collect()
    })
    .collect()
}

#[test]
fn rows_have_the_numbers_of_the_result_of_their_test() {
    let hosts = Hosts::new(2);
    for (directory, publisher, subscriber, sizes) in [
        ("scan", "-scan 64:1024:20000 -numIter 20000 -latencyCount 20 -cpu", "-cpu", &[64, 1024, 20_000][..]),
        ("ping", "-latencyTest -numIter 3000 -dataLen 200 -cpu", "-cpu", &[200]),
        (
            "labels",
            "-dataLen 64 -numIter 20000 -latencyCount 50 -cpu -outputFormat legacy",
            "-cpu -outputFormat legacy",
            &[64],
        ),
        (
            "rate",
            "-dataLen 64 -numIter 3000 -latencyCount 5 -pubRate 3000:sleep -bestEffort -cpu",
            "-cpu",
            &[64],
        ),
        (
            "few",
            "-dataLen 64 -numIter 3000 -latencyCount 100 -batchSize 0 -cpu -ddsmark-numbers",
            "-cpu -ddsmark-numbers",
            &[64],
        ),
    ] {
        let outcomes = run(&hosts, &format!("{publisher} -ddsmark-out {directory}"), subscriber);
        outcomes.iter().for_each(|outcome| outcome.assert_status(0));
        let document = saved_result(&hosts, directory);
        let runs = runs(&document);
        assert_eq!(runs.len(), sizes.len());
        let rows = |outcome| if directory == "labels" { labelled(outcome) } else { columns(outcome) };
        for (outcome, expected) in outcomes.iter().zip([latency_row, throughput_row]) {
            let of_result: Vec<Vec<String>> =
                runs.iter().zip(sizes).map(|(run, size)| expected(&document, run, *size)).collect();
            assert_eq!(rows(outcome), of_result, "{directory}: {}", outcome.stdout);
        }
    }
}

#[test]
fn json_has_the_numbers_of_the_result_of_its_test() {
    let hosts = Hosts::new(2);
    let options = "-dataLen 64 -numIter 20000 -latencyCount 50 -batchSize 0 -cpu -outputFormat json -ddsmark-out result";
    let [publisher, subscriber] = run(&hosts, options, "-outputFormat json -cpu");
    let document = saved_result(&hosts, "result");
    let run = runs(&document)[0];
    let of_publisher = &json(&publisher)["perftest"][0]["summary"];
    let rtt = &run["latency"]["rtt"];
    assert_eq!(of_publisher["latency_samples"], rtt["n"]);
    for (key, field) in
        [("ave", "mean_ns"), ("std", "sd_ns"), ("min", "min_ns"), ("max", "max_ns"), ("50", "p50_ns")]
    {
        let printed = &of_publisher[format!("latency_{key}")];
        assert_eq!(number(printed), rounded(number(&rtt[field]) / 2000.0), "{key}");
    }
    let of_subscriber = &json(&subscriber)["perftest"][0]["summary"];
    let reception = &endpoint(run, "subscriber-0")["reception"];
    assert_eq!(of_subscriber["packets"], reception["samples"]);
    let rate = number(&reception["intervals"]) * 1e9 / number(&reception["length_ns"]);
    assert_eq!(number(&of_subscriber["packets/sAve"]), rounded(rate));
    assert_eq!(number(&of_subscriber["mbpsAve"]), rounded(rate * 64.0 * 8.0 / 1e6));
}

#[test]
fn numbers_in_each_column_are_marked_where_the_samples_do_not_support_them() {
    let hosts = Hosts::new(2);
    for format in ["csv", "legacy", "json"] {
        let options = format!("-latencyTest -numIter 20 -cpu -outputFormat {format}");
        let with = format!("{options} -ddsmark-numbers -ddsmark-out {format}");
        let [without, _] = run(&hosts, &options, "");
        let [publisher, _] = run(&hosts, &with, "");
        for outcome in [&without, &publisher] {
            outcome.assert_status(0);
        }
        assert!(publisher.stderr.contains("Numbers: In each column, also those"), "{}", publisher.stderr);
        let document = saved_result(&hosts, format);
        let rtt = &runs(&document)[0]["latency"]["rtt"];
        assert!(rtt["p99_99_ns"].is_null(), "{rtt:#}");
        let last = number(&rtt["unsupported"]["p99_9999_ns"]);
        assert_eq!(last, number(&rtt["max_ns"]), "{rtt:#}");
        if format == "json" {
            assert!(json(&without)["perftest"][0]["summary"]["latency_99.9999"].is_null());
            let summary = &json(&publisher)["perftest"][0]["summary"];
            assert_eq!(number(&summary["latency_99.9999"]), rounded(last / 2000.0), "{summary:#}");
            let names = list(&summary["unsupported"]);
            assert!(
                names.contains(&"latency_99.9999".into()) && !names.contains(&"latency_50".into()),
                "{summary:#}"
            );
        } else {
            assert!(without.stdout.contains("n/a"), "{}", without.stdout);
            assert!(!publisher.stdout.contains("n/a"), "{}", publisher.stdout);
            assert!(!publisher.stdout.contains("nan"), "{}", publisher.stdout);
        }
    }
}
