//! The workload `paced`: rates, arrivals, files of times and flows, and what is refused of them.

use std::collections::BTreeSet;

use experiment::{Arrival, Load, Rate, Share, Trace, Workload};

use crate::{ids, plan, refused};

const PACED: &str = r#"question = "At what load?"
workload = "paced"

[factors]
driver = "dds"
size = 64
"#;

/// The same with more behind it.
fn paced(more: &str) -> String {
    format!("{PACED}{more}")
}

const FLOWS: &str = r#"question = "Both?"
workload = "paced"
factors.driver = "dds"

[[flows]]
name = "control"
size = 64
rate = "1/ms"

[[flows]]
name = "video"
size = "32KiB"
rate = "3/100ms"
arrival = "burst"

[[flows]]
name = "seen"
size = 1024
trace = "all.txt"
"#;

fn loads(text: &str) -> Vec<Load> {
    plan(text, &[]).cells.iter().filter_map(|cell| cell.factors.load.clone()).collect()
}

#[test]
fn each_rate_is_a_cell_with_each_arrival_and_each_trace_is_one() {
    let text = paced(
        r#"rate = [1000, "10/100ms", "100Mbit/s", "max"]
arrival = ["constant", "poisson"]
trace = ["all.txt", "early.txt"]
"#,
    );
    let experiment = plan(&text, &[]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/paced/64/rate-1000",
            "dds/udp4/paced/64/rate-1000/poisson",
            "dds/udp4/paced/64/rate-100",
            "dds/udp4/paced/64/rate-100/poisson",
            "dds/udp4/paced/64/rate-195312",
            "dds/udp4/paced/64/rate-195312/poisson",
            "dds/udp4/paced/64/max",
            "dds/udp4/paced/64/trace-all.txt",
            "dds/udp4/paced/64/trace-early.txt",
        ]
    );
    assert_eq!(
        experiment.notes,
        ["trace `there/early.txt` ends at 0.1 s of 0.8 s measured: nothing is sent after that"]
    );
    let loads = loads(&text);
    assert_eq!(loads[0], Load::Constant { rate: Rate::per_second(1000) });
    assert_eq!(loads[5], Load::Poisson { rate: Rate { samples: 1, period_ns: 5_120 } });
    let trace = Trace {
        file: "there/all.txt".to_owned(),
        sha256: "hash of all.txt".to_owned(),
        samples: 4,
        length_ns: 750_000_000,
    };
    assert_eq!(loads[7], Load::Trace { trace });
    let planned: Vec<_> = loads.iter().map(|load| load.planned(800_000_000)).collect();
    assert_eq!(planned[..3], [Some(800), Some(800), Some(80)]);
    assert_eq!(planned[6..], [None, Some(4), Some(2)]);
}

#[test]
fn bursts_are_a_number_and_a_period() {
    let experiment =
        plan(&paced("rate = [\"10/100ms\", \"20/200ms\", \"1/ms\"]\narrival = \"burst\"\n"), &[]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/paced/64/rate-100/burst-10",
            "dds/udp4/paced/64/rate-100/burst-20",
            "dds/udp4/paced/64/rate-1000",
        ]
    );
    assert_eq!(experiment.notes, ["bursts of 1 are a constant rate: `1/1ms` is measured as such"]);
    let burst = experiment.cells[0].factors.load.as_ref().expect("a load");
    assert_eq!(*burst, Load::Burst { rate: Rate { samples: 10, period_ns: 100_000_000 } });
    // a burst at 0, 100 ms, ... 700 ms; and at 800 ms none
    let planned = [1, 700_000_000, 700_000_001, 800_000_000].map(|ns| burst.planned(ns));
    assert_eq!(planned, [Some(10), Some(70), Some(80), Some(80)]);
}

#[test]
fn the_same_rate_is_measured_once() {
    assert_eq!(
        ids(&plan(&paced("rate = [1000, \"1/ms\", \"512kbit/s\"]\n"), &[])),
        ["dds/udp4/paced/64/rate-1000"]
    );
}

#[test]
fn loads_are_excluded_included_and_compared() {
    let text = paced(
        r#"rate = [1000, 5000, "10/100ms", "max"]
arrival = ["constant", "burst"]
exclude = [
  { arrival = "burst", rate = [1000, 5000] },
  { arrival = "constant", rate = "100/s" },
]
include = [{ size = 1024, rate = "1M/s" }, { size = 2048, trace = "all.txt" }]
[design]
baseline = { rate = "5k/s" }
"#,
    );
    let experiment = plan(
        &text,
        &[
            "factors.include=[{ size = 1024, rate = \"1M/s\", arrival = \"constant\" }, { size = 2048, trace = \"all.txt\" }]",
        ],
    );
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/paced/64/rate-1000",
            "dds/udp4/paced/64/rate-5000",
            "dds/udp4/paced/64/rate-100/burst-10",
            "dds/udp4/paced/64/max",
            "dds/udp4/paced/1024/rate-1000000",
            "dds/udp4/paced/2048/trace-all.txt",
        ]
    );
    assert_eq!(experiment.design.baseline, ["dds/udp4/paced/64/rate-5000"]);
    // a baseline of all rates is compared at each
    let text =
        paced("rate = [1000, \"max\"]\nbatch_bytes = [0, 1024]\n[design]\nbaseline = { batch_bytes = 0 }\n");
    let experiment = plan(&text, &[]);
    let pairs: Vec<_> = experiment
        .comparisons()
        .into_iter()
        .map(|(cell, base)| (cell.id.as_str(), base.id.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("dds/udp4/paced/64/rate-1000/batch-1024", "dds/udp4/paced/64/rate-1000"),
            ("dds/udp4/paced/64/max/batch-1024", "dds/udp4/paced/64/max"),
        ]
    );
}

#[test]
fn percents_are_of_one_maximum_for_cells_that_differ_in_their_load_only() {
    let text = paced(
        "rate = [\"10%\", \"99.5%\", 1000, \"max\"]\narrival = [\"constant\", \"poisson\"]\nbatch_samples = [1, 4]\n",
    );
    let experiment = plan(&text, &[]);
    let ids = ids(&experiment);
    assert_eq!(
        ids[..8],
        [
            "dds/udp4/paced/64/rate-10pct",
            "dds/udp4/paced/64/rate-10pct/batch-256",
            "dds/udp4/paced/64/rate-10pct/poisson",
            "dds/udp4/paced/64/rate-10pct/poisson/batch-256",
            "dds/udp4/paced/64/rate-99.5pct",
            "dds/udp4/paced/64/rate-99.5pct/batch-256",
            "dds/udp4/paced/64/rate-99.5pct/poisson",
            "dds/udp4/paced/64/rate-99.5pct/poisson/batch-256",
        ]
    );
    assert_eq!(ids.len(), 14);
    let load = experiment.cells[6].factors.load.as_ref().expect("a load");
    let percent = Share::of_percent(99.5).expect("a share");
    assert_eq!(*load, Load::Share { percent, arrival: Arrival::Poisson, rate: None });
    // what is due is known with the maximum
    assert_eq!((load.planned(1_000_000_000), load.rate(), load.known()), (None, None, None));
    let known = load.clone().with_maximum(2_000.0);
    assert_eq!(
        (known.planned(1_000_000_000), known.to_string()),
        (Some(1_990), "poisson 99.5% (1990/s)".to_owned())
    );
    assert!(known.has_times() && load.has_times());

    let maxima = experiment.maxima();
    let found: Vec<_> = maxima.iter().map(|maximum| (maximum.cell.id.as_str(), maximum.of.len())).collect();
    assert_eq!(found, [("dds/udp4/paced/64/max", 4), ("dds/udp4/paced/64/max/batch-256", 4)]);
    assert!(maxima.iter().all(|maximum| maximum.cell.factors.load == Some(Load::Max)));
    let runs = experiment.maximum_runs(maxima.len());
    assert_eq!(runs.iter().map(|run| run.0).collect::<Vec<_>>(), (1_000_001..=1_000_006).collect::<Vec<_>>());
    for pass in runs.chunks(2) {
        assert_eq!(pass.iter().map(|run| run.1).collect::<BTreeSet<_>>(), [0, 1].into());
    }
    assert_eq!(plan(&text, &["factors.rate=1000,max"]).maxima(), []);
}

#[test]
fn what_measures_a_maximum_takes_of_the_budget() {
    let text = |budget_ms: u64| {
        paced(&format!("rate = \"50%\"\n[design]\nblocks = 6\nbudget = \"{budget_ms}ms\"\n"))
    };
    let experiment = plan(&text(1_000_000), &[]);
    assert_eq!(experiment.expected_maxima_ns(), 3 * experiment.design.expected_run_ns());
    let needed_ms = experiment.expected_ns() / 1_000_000;
    assert_eq!(plan(&text(needed_ms + 1), &[]).cells.len(), 1);
    let (error, ..) = refused(&text(needed_ms - 1), &[]);
    assert!(error.contains("more than the budget"), "{error}");
    // with a precision there are fewer blocks
    let blocks = |rate: &str| {
        let file = paced(&format!("rate = {rate}\n[design]\nprecision = \"2%\"\nbudget = \"20s\"\n"));
        plan(&file, &[]).design.blocks
    };
    assert_eq!(blocks("1000") - blocks("\"50%\""), 3);
}

#[test]
fn percents_are_excluded_included_and_compared() {
    let text = paced(
        r#"rate = ["10%", "50%", 1000]
arrival = ["constant", "poisson"]
exclude = [{ rate = "10.0%", arrival = "poisson" }, { rate = 1000 }]
include = [{ size = 1024, rate = "90%", arrival = "constant" }]
[design]
baseline = { rate = "10%" }
"#,
    );
    let experiment = plan(&text, &[]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/paced/64/rate-10pct",
            "dds/udp4/paced/64/rate-50pct",
            "dds/udp4/paced/64/rate-50pct/poisson",
            "dds/udp4/paced/1024/rate-90pct",
        ]
    );
    assert_eq!(experiment.design.baseline, ["dds/udp4/paced/64/rate-10pct"]);
    assert_eq!(experiment.maxima().len(), 2);
    assert_eq!(ids(&plan(&paced("rate = 1\n"), &["factors.rate=50%"])), ["dds/udp4/paced/64/rate-50pct"]);
}

#[test]
fn a_rate_leaves_other_workloads_as_they_are() {
    let experiment = plan(&paced("rate = [100, 200]\n"), &["workload=latency,throughput,paced"]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/latency/64",
            "dds/udp4/throughput/64",
            "dds/udp4/paced/64/rate-100",
            "dds/udp4/paced/64/rate-200",
        ]
    );
}

#[test]
fn rates_are_changed_on_the_command_line() {
    let experiment =
        plan(&paced("rate = 1\n"), &["factors.rate=500,10k/s,10/100ms,max", "design.spin=false"]);
    assert_eq!(experiment.cells.len(), 4);
    assert!(!experiment.design.spin);
    assert!(plan(&paced("rate = 1\n"), &[]).design.spin);
}

#[test]
fn flows_are_streams_of_one_run() {
    let experiment = plan(FLOWS, &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/paced/flows"]);
    let factors = &experiment.cells[0].factors;
    assert_eq!((factors.size_bytes, &factors.load), (32_768, &None));
    let streams: Vec<_> =
        factors.streams().into_iter().map(|flow| (flow.name, flow.size_bytes, flow.load)).collect();
    assert_eq!(streams[0], ("control".to_owned(), 64, Load::Constant { rate: Rate::per_second(1000) }));
    let burst = Load::Burst { rate: Rate { samples: 3, period_ns: 100_000_000 } };
    assert_eq!(streams[1], ("video".to_owned(), 32_768, burst));
    assert!(matches!(&streams[2].2, Load::Trace { trace } if trace.samples == 4));
    // the smallest decides whether a batch holds more than one
    let experiment = plan(FLOWS, &["factors.batch_bytes=0,1KiB,100"]);
    assert_eq!(ids(&experiment), ["dds/udp4/paced/flows", "dds/udp4/paced/flows/batch-1024"]);
    // a transport that does not carry one of them carries no run
    let (error, marked, _) =
        refused(FLOWS, &["factors.transport=udp4", "factors.driver=bare", "qos.deadline=1s"]);
    assert!(error.contains("has no policy deadline") && marked == "1s", "{error}");
    let (error, marked, _) = refused(&FLOWS.replace("32KiB", "64KiB"), &[]);
    assert!(error.contains("size 65536 is too large") && marked == "\"64KiB\"", "{error}");
}

#[test]
fn a_load_that_cannot_be_is_refused_where_it_stands() {
    let rate = |value: &str| paced(&format!("rate = {value}\n"));
    let cases: &[(String, &[&str], &str, &str, &str)] = &[
        (paced(""), &[], "f.toml:2:12: the workload `paced` needs a rate", "\"paced\"", "`rate` or `trace`"),
        (rate("[]"), &[], "f.toml:2:12: the workload `paced` needs a rate", "\"paced\"", "`rate` or `trace`"),
        (
            rate("\"1000\""),
            &["workload=latency"],
            "f.toml:7:8: `rate` says nothing without",
            "\"1000\"",
            "add `paced`",
        ),
        (
            paced("arrival = \"burst\"\n"),
            &[],
            "f.toml:7:11: `arrival` says nothing without `rate`",
            "\"burst\"",
            "add `rate`",
        ),
        (rate("0"), &[], "f.toml:7:8: the rate `0/s` is out of range", "0", "up to 100M"),
        (rate("-5"), &[], "f.toml:7:8: ", "-5", "write a rate in whole numbers"),
        (rate("0.5"), &[], "f.toml:7:8: ", "0.5", "write a rate in whole numbers"),
        (
            rate("[1, \"1/day or so\"]"),
            &[],
            "f.toml:7:12: ",
            "\"1/day or so\"",
            "write a rate in whole numbers",
        ),
        (
            rate("\"200M/s\""),
            &[],
            "f.toml:7:8: the rate `200000000/s` is out of range",
            "\"200M/s\"",
            "up to 100M",
        ),
        (rate("\"250%\""), &[], "f.toml:7:8: the rate `250%` is out of range", "\"250%\"", "to 200%"),
        (rate("\"0%\""), &[], "f.toml:7:8: the rate `0%` is out of range", "\"0%\"", "0.01%"),
        (rate("\"1.234%\""), &[], "f.toml:7:8: ", "\"1.234%\"", "write a rate in whole numbers"),
        (rate("[\"50%\", \"50.0%\"]"), &[], "f.toml:7:16: rate `50%` is given twice", "\"50.0%\"", "once"),
        (
            rate("\"50%\"\narrival = \"burst\""),
            &[],
            "f.toml:7:8: the rate `50%` does not say how many",
            "\"50%\"",
            "10/100ms",
        ),
        (
            FLOWS.replace("\"1/ms\"", "\"50%\""),
            &[],
            "f.toml:8:8: flow `control` at 50% of a maximum",
            "\"50%\"",
            "a rate of its own",
        ),
        (rate("\"1/2h\""), &[], "f.toml:7:8: the rate `1/2h` is out of range", "\"1/2h\"", "an hour"),
        (
            rate("\"1Gbit/s\""),
            &["factors.size=16", "factors.rate=100000Mbit/s"],
            "--set factors.rate=100000Mbit/s: the rate `100Gbit/s` is out of range, for samples of 16 bytes",
            "100000Mbit/s",
            "up to 100M",
        ),
        (rate("[5, 6, 5]"), &[], "f.toml:7:15: rate `5/s` is given twice", "5", "once"),
        (
            rate("\"1Mbit/s\"\narrival = \"burst\""),
            &[],
            "f.toml:7:8: the rate `1Mbit/s` does not say how many",
            "\"1Mbit/s\"",
            "10/100ms",
        ),
        (
            rate("5\narrival = \"bursty\""),
            &[],
            "f.toml:8:11: `bursty` cannot stand here",
            "\"bursty\"",
            "did you mean `burst`?",
        ),
        (
            rate("5\nexclude = [{ rate = 6 }]"),
            &[],
            "f.toml:8:12: this exclude matches no cell",
            "{ rate = 6 }",
            "--dry-run",
        ),
        (
            paced("trace = \"wrong.txt\"\n"),
            &[],
            "f.toml:7:9: trace `wrong.txt`: 2:5: `0.1s` is no time",
            "\"wrong.txt\"",
            "each line is one time in seconds",
        ),
        (
            paced("trace = \"late.txt\"\n"),
            &[],
            "f.toml:7:9: trace `late.txt` has its last sample at 0.8 s, after the measured time of 0.8 s",
            "\"late.txt\"",
            "`measure`",
        ),
        (
            paced("trace = \"none.txt\"\n"),
            &[],
            "f.toml:7:9: trace `none.txt` was not read",
            "\"none.txt\"",
            "there",
        ),
        (
            paced("[design]\nspin = true\n"),
            &["workload=latency"],
            "f.toml:8:8: `spin` says nothing without",
            "true",
            "add `paced`",
        ),
        (
            FLOWS.replace("\"control\"", "\"a b\""),
            &[],
            "f.toml:6:8: `a b` cannot be the name of a flow",
            "\"a b\"",
            "letters",
        ),
        (
            FLOWS.replace("\"control\"", "\"video\""),
            &[],
            "f.toml:11:8: flow `video` is given twice",
            "\"video\"",
            "once",
        ),
        (
            FLOWS.replace("size = 64", "size = 15"),
            &[],
            "f.toml:7:8: size 15 is too small",
            "15",
            "16 or more",
        ),
        (FLOWS.replace("size = 64", ""), &[], "f.toml:5:1: `size` is missing", "[[flows]]", "size = ..."),
        (
            FLOWS.replace("\"1/ms\"", "\"max\""),
            &[],
            "f.toml:8:8: flow `control` at `max` leaves no time",
            "\"max\"",
            "alone",
        ),
        (
            FLOWS.replace("trace = \"all.txt\"", ""),
            &[],
            "f.toml:17:8: flow `seen` needs one of",
            "\"seen\"",
            "rate = 1000",
        ),
        (
            FLOWS.replace("trace = \"all.txt\"", "trace = \"all.txt\"\nrate = 5"),
            &[],
            "f.toml:17:8: flow `seen` needs one of",
            "\"seen\"",
            "rate = 1000",
        ),
        (
            FLOWS.replace("trace = \"all.txt\"", "trace = \"all.txt\"\narrival = \"poisson\""),
            &[],
            "f.toml:20:11: `arrival` says nothing of a trace",
            "\"poisson\"",
            "leave",
        ),
        (
            FLOWS.to_owned(),
            &["factors.size=64"],
            "--set factors.size=64: `size` is given for all",
            "64",
            "leave it out",
        ),
        (
            FLOWS.to_owned(),
            &["factors.rate=64"],
            "--set factors.rate=64: `rate` is given for all",
            "64",
            "leave it out",
        ),
        (
            FLOWS.to_owned(),
            &["factors.include=[{ size = 64 }]"],
            "--set factors.include=[{ size = 64 }]: `size` is given for all",
            "64",
            "leave it out",
        ),
        (
            FLOWS.to_owned(),
            &["workload=paced,latency"],
            "--set workload=paced,latency: flows are of the workload `paced` alone",
            "paced,latency",
            "of their own",
        ),
        (
            FLOWS.to_owned(),
            &["workload=latency"],
            "f.toml:5:1: `flows` says nothing without",
            "[[flows]]",
            "add `paced`",
        ),
    ];
    for (text, sets, error, marked, hint) in cases {
        let found = refused(text, sets);
        assert!(found.0.starts_with(error), "{text} {sets:?}: {found:?}");
        assert!(marked.is_empty() || found.1 == *marked, "{text} {sets:?}: {found:?}");
        assert!(found.2.contains(hint), "{text} {sets:?}: {found:?}");
    }
}

#[test]
fn what_paced_is_refused_is_left_out_of_a_driver_that_nobody_named() {
    let text = paced("rate = 1000\nbatch_bytes = 1024\n");
    let experiment = plan(&text, &["factors={ size = 64, rate = 1000, batch_bytes = 1024 }"]);
    assert!(experiment.cells.iter().all(|cell| cell.factors.workload == Workload::Paced));
    let (error, marked, _) = refused(&text, &["factors.driver=plain"]);
    assert!(error.contains("driver `plain` cannot batch") && marked == "1024", "{error} {marked}");
}
