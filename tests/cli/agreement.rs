//! One result as tables, JSON, findings, verdicts and criteria: all of them show the same values.

use experiment::Workload;
use results::{Assembler, ResultDocument, Run, State, format_micros, format_value};
use serde_json::Value;

use crate::{
    sample::{self, Characterize},
    support::Sandbox,
};

const SIZES: [u64; 3] = [32, 1024, 8192];
/// Number of blocks; even, so that a median over runs is not the value of a run.
const BLOCKS: u32 = 12;

/// Creates latencies of `plain`, the baseline, and `dds`, in runs of 400 pings: too few for p99.9 of a run, enough
/// for p99.9 of all runs.
fn result(change: impl Fn(&mut Run)) -> ResultDocument {
    let mut header = sample::header_of(&Characterize {
        sizes: SIZES.to_vec(),
        workloads: vec![Workload::Latency],
        batch_bytes: 0,
        seed: 5,
        ..sample::characterize()
    });
    header.experiment.design.blocks = BLOCKS;
    header.experiment.design.baseline =
        SIZES.iter().map(|size| format!("plain/udp4/latency/{size}")).collect();
    let (schedule, cells) = (header.experiment.schedule(), header.experiment.cells.clone());
    let mut assembler = Assembler::new(header);
    for scheduled in schedule {
        let cell = &cells[scheduled.cell];
        let (mut run, log) = sample::run(scheduled, cell);
        let ratio = if run.cell.starts_with("dds") { 1.25 } else { 1.0 };
        // runs differ by odd numbers of nanoseconds; the second runs of a block differ much from the first ones
        let apart = 7 * u64::from(run.number) + if run.twin { 9_000 } else { 0 };
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        let p50 = ((30_001 + 10 * cell.factors.size_bytes + apart) as f64 * ratio) as u64;
        (rtt.p50_ns, rtt.p90_ns, rtt.p99_ns) = (Some(p50), Some(p50 + 1_001), Some(p50 + 2_003));
        change(&mut run);
        assembler.add(run, &log.merged());
    }
    assembler.document(State::Complete)
}

fn text(sandbox: &Sandbox, words: &[&str]) -> String {
    String::from_utf8(sandbox.run(words).stdout).expect("UTF-8")
}

fn json(sandbox: &Sandbox, words: &[&str]) -> Value {
    serde_json::from_str(&text(sandbox, words)).expect("JSON")
}

/// Returns the words of the row of a size, in the table below a heading, of a driver.
fn row<'t>(text: &'t str, driver: &str, heading: &str, size: u64) -> Vec<&'t str> {
    let of_driver = text.split(&format!("\n{driver}: ")).nth(1).expect("a driver");
    let table = of_driver.split(heading).nth(1).expect("a table");
    let words = |line: &'t str| line.split_whitespace().collect::<Vec<_>>();
    table.lines().map(words).find(|words| words.first() == Some(&size.to_string().as_str())).expect("a row")
}

fn cell<'d>(document: &'d Value, id: &str) -> &'d Value {
    let mut cells = document["cells"].as_array().expect("cells").iter();
    cells.find(|cell| cell["id"] == id).expect("a cell")
}

#[test]
fn values_are_the_same_wherever_they_are_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("r.json", &report::json(&result(|_| {})));
    let (shown, document) =
        (text(&sandbox, &["report", "r.json", "--full"]), json(&sandbox, &["report", "r.json", "--json"]));
    let compare = ["compare", "r.json:plain/*", "r.json:dds/*", "--factor", "driver,qos"];
    let (compared, comparison) =
        (text(&sandbox, &compare), json(&sandbox, &[&compare[..], &["--json"]].concat()));
    let mut between = 0;
    for (driver, size) in ["plain", "dds"].iter().flat_map(|driver| SIZES.map(|size| (*driver, size))) {
        let id = format!("{driver}/udp4/latency/{size}");
        let rtt = &cell(&document, &id)["latency"]["rtt"];
        let [p50, p99] = ["p50_ns", "p99_ns"].map(|name| rtt[name].as_f64().expect("a quantile"));
        between += u32::from(p50.fract() != 0.0);

        let table = row(&shown, driver, "Latency: RTT", size);
        assert_eq!((table[10], table[14]), (&*format_micros(p50), &*format_micros(p99)), "{id}");
        assert_eq!(row(&shown, driver, "Latency by direction", size)[1], format_micros(p50), "{id}");

        // no run has a p99.9: the value is marked, and listed as pooled
        let p999 = rtt["p99_9_ns"].as_f64().expect("all runs together have it");
        assert_eq!(table[16], format!("{}*", format_micros(p999)), "{id}");
        assert_eq!(rtt["pooled"], serde_json::json!([0.999]), "{id}");

        let verdicts = [&document, &comparison].map(|of| of["verdicts"].as_array().expect("verdicts"));
        for (verdicts, printed) in verdicts.into_iter().zip([&shown, &compared]) {
            for (metric, word, value) in [("rtt_p50", "p50", p50), ("rtt_p99", "p99", p99)] {
                let is_of = |verdict: &&Value| {
                    verdict["kind"] == "comparison"
                        && verdict["metric"] == metric
                        && verdict["treatment"]["cell"] == *format!("dds/udp4/latency/{size}")
                };
                let verdict = verdicts.iter().find(is_of).expect("a verdict");
                let (side, sandbox) = if driver == "plain" { ("baseline", 3) } else { ("treatment", 5) };
                assert_eq!(verdict[side]["median"].as_f64(), Some(value), "{id}");
                let row = format!("dds/udp4/latency/{size}");
                let of_metric =
                    |words: &Vec<&str>| words.first() == Some(&&*row) && words.get(2) == Some(&word);
                let words = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
                let words = words.into_iter().find(of_metric).expect("a row of medians");
                assert_eq!(words[sandbox], format_micros(value), "{id}: {words:?}");
            }
        }
        if size != SIZES[1] {
            let finding = format!("{} µs at {size} bytes", format_micros(p50));
            assert!(shown.contains(&finding), "{finding}\n{shown}");
        }
    }
    assert!(between > 0, "no median lies between two runs: rounding to whole nanoseconds would not show");
    assert!(shown.contains("\n  * marks a quantile of the samples of all valid runs together"), "{shown}");
}

/// Returns the rows of the first screen's table: the words of each, with `±` and its range left out.
fn screen_rows(text: &str) -> Vec<Vec<String>> {
    let table = text.lines().skip_while(|line| !line.starts_with("  Driver  ")).skip(1);
    let rows = table.take_while(|line| !line.contains("edians of"));
    let plain = |line: &str| {
        let words = line.split('\u{a0}').enumerate().filter(|(index, _)| index % 3 == 0);
        // a value is followed by `±`, the range, and `%` with the rest of the line
        let joined: Vec<&str> = words.map(|(_, part)| part.trim_start_matches('%')).collect();
        joined.join(" ").split_whitespace().map(str::to_owned).collect()
    };
    rows.map(plain).filter(|words: &Vec<String>| !words.is_empty() && !words[0].starts_with('(')).collect()
}

#[test]
fn first_screen_has_the_values_of_the_document() {
    let sandbox = Sandbox::new();
    sandbox.write("latency.json", &report::json(&result(|_| {})));
    sandbox.write("all.json", &report::json(&sample::document()));
    for (file, workloads) in [("latency.json", 1), ("all.json", 2)] {
        let (shown, document) =
            (text(&sandbox, &["report", file]), json(&sandbox, &["report", file, "--json"]));
        assert!(shown.lines().count() <= 40, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        let rows = screen_rows(&shown);
        assert!(rows.len() >= 6, "{rows:?}\n{shown}");
        for words in rows {
            let is_batched = words[1].starts_with("batch-");
            let values = &words[1 + usize::from(is_batched)..];
            let (driver, size) = (&words[0], &values[0]);
            let cell_of = |workload: &str| {
                let batch = if is_batched { "/batch-8192" } else { "" };
                cell(&document, &format!("{driver}/udp4/{workload}/{size}{batch}"))
            };
            let number = |value: &Value| value.as_f64().expect("a number");
            if !is_batched {
                let rtt = &cell_of("latency")["latency"]["rtt"];
                let quantiles = ["p50_ns", "p99_ns"].map(|name| format_micros(number(&rtt[name])));
                assert_eq!(values[1..3], quantiles, "{words:?}\n{shown}");
            }
            let measured = if workloads == 2 { cell_of("throughput") } else { cell_of("latency") };
            if workloads == 2 {
                let throughput = &measured["throughput"];
                let rates = ["delivered_sps", "goodput_mbps", "lost_pct"];
                assert_eq!(
                    values[3..6],
                    rates.map(|name| format_value(number(&throughput[name]))),
                    "{words:?}\n{shown}"
                );
            }
            let cpu = &measured["cpu_ns_per_sample"];
            let [writer, reader] = ["writer", "reader"].map(|end| format_micros(number(&cpu[end])));
            assert_eq!(values[values.len() - 3..], [writer, "+".to_owned(), reader], "{words:?}\n{shown}");
        }
    }
}

#[test]
fn quantile_among_lost_pings_is_na_and_fails_no_criterion() {
    // p99.9 of 3,000 pings exists with two lost pings, but not with three
    let run = |lost: u64| {
        move |run: &mut Run| {
            let rtt = run.latency.get_mut("rtt").expect("a latency run");
            rtt.n = 3_000 - lost;
            (rtt.lost, rtt.p99_9_ns) = (lost, (lost < 3).then_some(90_000 + 7 * u64::from(run.number)));
            let counted = &mut run.flows[0].counted;
            (counted.sent, counted.delivered, counted.lost) = (3_000, 3_000 - lost, lost);
        }
    };
    let criterion =
        ["compare", "r.json:plain/*", "r.json:dds/*", "--factor", "driver,qos", "--metric", "p99.9"];
    let criterion = [&criterion[..], &["--fail-if", "p99.9 > +200%"]].concat();
    for (lost, status, outcome) in [(2, 0, "kept"), (3, 4, "cannot_tell")] {
        let sandbox = Sandbox::new();
        // pings are lost in the treatment only: a baseline without loss does not make up for them
        sandbox.write(
            "r.json",
            &report::json(&result(|of| run(if of.cell.starts_with("dds") { lost } else { 0 })(of))),
        );
        let output = sandbox.run(&criterion);
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stdout));
        let comparison = json(&sandbox, &[&criterion[..], &["--json"]].concat());
        assert_eq!(comparison["criteria"][0]["outcome"], outcome, "{comparison:#}");
        let shown = text(&sandbox, &["report", "r.json", "--full"]);
        let document = json(&sandbox, &["report", "r.json", "--json"]);
        let table = row(&shown, "dds", "Latency: RTT", SIZES[0]);
        let p999 = &cell(&document, "dds/udp4/latency/32")["latency"]["rtt"]["p99_9_ns"];
        assert_eq!((p999.is_null(), table[16] == "n/a"), (lost == 3, lost == 3), "{table:?}");
        let mut verdicts = comparison["verdicts"].as_array().expect("verdicts").iter();
        let is_of = |verdict: &&Value| {
            verdict["kind"] == "comparison" && verdict["treatment"]["cell"] == "dds/udp4/latency/32"
        };
        let median = &verdicts.find(is_of).expect("a verdict")["treatment"]["median"];
        assert_eq!(median.as_f64(), p999.as_f64());
    }
}
