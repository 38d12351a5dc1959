//! Results as data: CSV and JSON Lines have the numbers of the JSON.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use report::{csv, json_lines, records};
use results::ResultDocument;
use serde_json::Value;

use crate::sample;

/// Returns the number at a path such as `latency.rtt.p50_ns`, with an index for an entry of a list.
fn at(json: &Value, path: &str) -> Value {
    path.split('.').fold(json.clone(), |json, part| match part.parse::<usize>() {
        Ok(index) => json[index].clone(),
        Err(_) => json[part].clone(),
    })
}

fn documents() -> [ResultDocument; 3] {
    let paced = sample::paced::header(&[sample::paced::constant(1000), sample::paced::constant(10_000)], &[]);
    [sample::document(), sample::paced::document_with(&paced, |_| ()), sample::search::document_with(|_| ())]
}

#[test]
fn every_record_has_the_number_of_the_json() {
    for document in documents() {
        let json = serde_json::to_value(&document).expect("JSON");
        let lines = json_lines(&document);
        assert_eq!(lines.lines().count(), records(&document).len());
        for line in lines.lines() {
            let record: Value = serde_json::from_str(line).expect("an object");
            let mut runs = json["cells"].as_array().expect("cells").iter();
            let run = runs
                .find_map(|cell| {
                    cell["runs"].as_array()?.iter().find(|run| run["number"] == record["run"]).cloned()
                })
                .expect("the run");
            assert_eq!(run["cell"], record["cell"]);
            let metric = record["metric"].as_str().expect("a name");
            let find = |group: &str, is_it: &dyn Fn(&Value) -> bool| {
                run[group]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .find(|part| is_it(part))
                    .expect("the part")
                    .clone()
            };
            let (part, path) = match metric.split_once('.') {
                Some(("endpoint", path)) => {
                    (find("endpoints", &|part| part["id"] == record["endpoint"]), path)
                }
                Some(("process", path)) => {
                    (find("processes", &|part| part["number"] == record["process"]), path)
                }
                Some(("flow", path)) => {
                    let is_it = |part: &Value| {
                        (&part["name"], &part["writer"], &part["reader"])
                            == (&record["flow"], &record["writer"], &record["reader"])
                    };
                    (find("flows", &is_it), path)
                }
                Some(("throughput" | "paced" | "search" | "discovery" | "ring" | "ping_retries", _)) => {
                    (run["measured"].clone(), metric)
                }
                _ => (run.clone(), metric),
            };
            assert_eq!(at(&part, path), record["value"], "{line}");
        }
    }
}

#[test]
fn csv_has_the_same_records_as_json_lines() {
    for document in documents() {
        let text = csv(&document);
        let mut reader = csv_reader(&text);
        let columns = reader.headers().expect("a heading").clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), records(&document).len());
        for (row, line) in rows.iter().zip(json_lines(&document).lines()) {
            let object: Value = serde_json::from_str(line).expect("an object");
            assert_eq!(object.as_object().expect("an object").len(), columns.len());
            for (name, entry) in columns.iter().zip(row) {
                let value = match &object[name] {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(value, entry, "{name}");
            }
        }
    }
}

fn csv_reader(text: &str) -> csv::Reader<&[u8]> {
    csv::Reader::from_reader(text.as_bytes())
}

#[test]
fn metrics_have_units() {
    let of: BTreeSet<(String, &str)> =
        documents().iter().flat_map(records).map(|record| (record.metric, record.unit)).collect();
    for (metric, unit) in [
        ("latency.rtt.p50_ns", "ns"),
        ("latency.rtt.n", ""),
        ("throughput.delivered_sps", "samples/s"),
        ("throughput.goodput_mbps", "Mbit/s"),
        ("throughput.lost_pct", "%"),
        ("flow.counted.delivered", ""),
        ("process.usage.user_ns", "ns"),
        ("cpu_ns_per_sample.writer", "ns/sample"),
    ] {
        assert!(of.contains(&(metric.to_owned(), unit)), "{metric}: {of:#?}");
    }
}

#[test]
fn text_with_commas_and_quotes_is_one_entry() {
    let mut document = sample::document();
    document.experiment.name = "a \"b\", c\nd".to_owned();
    let text = csv(&document);
    let first = csv_reader(&text).records().next().expect("a row").expect("a row");
    assert_eq!(&first[0], "a \"b\", c\nd");
}

#[test]
fn first_records_of_a_result() {
    let text = csv(&sample::document());
    assert_snapshot!(text.lines().take(30).collect::<Vec<_>>().join("\n"));
}
