//! The workload `paced`: rates, arrivals, trace files and flows.

use experiment::{Load, Rate, Reliability, Trace, Workload};

use crate::{ids, plan, rejected};

const PACED: &str = r#"question = "At what load?"
workload = "paced"

[factors]
driver = "dds"
size = 64
"#;

/// Returns the file with more text appended.
pub(crate) fn paced(more: &str) -> String {
    format!("{PACED}{more}")
}

pub(crate) const FLOWS: &str = r#"question = "Both?"
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
fn each_writer_may_have_a_rate_of_its_own() {
    let text = paced("topology = \"3-2\"\nrate = [\"1000+3k/s+max\", \"500+500/s+1/2ms\", 700]\n");
    let experiment = plan(&text, &[]);
    let at = "dds/udp4/paced/3-2/64";
    assert_eq!(
        ids(&experiment),
        [format!("{at}/rate-1000+3000+max"), format!("{at}/rate-500"), format!("{at}/rate-700")]
    );
    let [thousand, three] = [1000, 3000].map(|samples| Load::Constant { rate: Rate::per_second(samples) });
    let loads = vec![thousand.clone(), three.clone(), Load::Max];
    assert_eq!(experiment.cells[0].factors.load, Some(Load::PerWriter { loads: loads.clone() }));
    let topology = &experiment.run_topologies()[0];
    let written = topology.driving().map(|(_, endpoint)| endpoint.writers[0].stream.load.clone());
    assert_eq!(written.collect::<Vec<_>>(), loads.iter().cloned().map(Some).collect::<Vec<_>>());
    for (_, reading) in topology.serving() {
        let expected: Vec<_> = reading.readers[0].streams.iter().map(|stream| stream.load.clone()).collect();
        assert_eq!(expected, loads.iter().cloned().map(Some).collect::<Vec<_>>());
    }
    let excluded = plan(&format!("{text}[[factors.exclude]]\nrate = \"1000+3000+max\"\n"), &[]);
    assert_eq!(excluded.cells.len(), 2, "{:?}", ids(&excluded));
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
        sizes: None,
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
    assert_eq!(experiment.notes, ["bursts of 1 sample: `1/1ms` is measured as a constant rate"]);
    let burst = experiment.cells[0].factors.load.as_ref().expect("a load");
    assert_eq!(*burst, Load::Burst { rate: Rate { samples: 10, period_ns: 100_000_000 } });
    // Bursts at 0, 100 ms, ... 700 ms; none at 800 ms.
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
    // With a baseline of all rates, cells are compared at each rate.
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
    // The smallest flow decides whether a batch holds more than one sample.
    let experiment = plan(FLOWS, &["factors.batch_bytes=0,1KiB,100"]);
    assert_eq!(ids(&experiment), ["dds/udp4/paced/flows", "dds/udp4/paced/flows/batch-1024"]);
    // An unsupported policy or flow size is rejected.
    let (error, marked, _) =
        rejected(FLOWS, &["factors.transport=udp4", "factors.driver=bare", "qos.deadline=1s"]);
    assert!(error.contains("does not support policy deadline") && marked == "1s", "{error}");
    let (error, marked, _) = rejected(&FLOWS.replace("32KiB", "64KiB"), &[]);
    assert!(error.contains("size 65536 is too large") && marked == "\"64KiB\"", "{error}");
}

#[test]
fn each_flow_has_its_own_policies() {
    let own = "size = \"32KiB\"\nqos = { reliability = \"best_effort\", max_samples = 7 }";
    let text = FLOWS.replace("size = \"32KiB\"", own);
    let experiment = plan(&text, &["qos.reliability=reliable"]);
    let factors = &experiment.cells[0].factors;
    let requested = |stream| (factors.reader_qos(stream).reliability, factors.writer_qos(stream).max_samples);
    assert_eq!(requested(0), (Some(Reliability::Reliable), factors.qos.max_samples));
    assert_eq!(requested(1), (Some(Reliability::BestEffort), Some(7)));
    assert_eq!(requested(2), requested(0));
    assert!(factors.flows[0].qos.is_none() && factors.flows[1].qos.is_some());
    // The policies of a flow override those of a profile.
    let profiles = format!("{text}\n[profiles.deep]\nhistory = \"keep_last\"\nhistory_depth = 3\n");
    let experiment = plan(&profiles, &["factors.profile=deep"]);
    let qos = experiment.cells[0].factors.writer_qos(1);
    let found = (qos.history_depth, qos.max_samples, qos.reliability);
    assert_eq!(found, (Some(3), Some(7), Some(Reliability::BestEffort)));
    // An unsupported policy and a contradiction are rejected at their position.
    let (error, marked, _) = rejected(&text, &["factors.driver=bare"]);
    assert!(error.contains("does not support policy resource_limits") && marked == "7", "{error} {marked}");
    let (error, marked, _) = rejected(&text.replace("max_samples = 7", "max_samples = 0"), &[]);
    assert!(error.contains("`max_samples = 0` is out of range") && marked == "0", "{error} {marked}");
    let (error, marked, _) = rejected(&text, &["factors.send_queue=5"]);
    assert!(error.contains("the same limit") && marked == "5", "{error} {marked}");
}

#[test]
fn unsupported_paced_cell_of_an_unnamed_driver_is_excluded() {
    let text = paced("rate = 1000\nbatch_bytes = 1024\n");
    let experiment = plan(&text, &["factors={ size = 64, rate = 1000, batch_bytes = 1024 }"]);
    assert!(experiment.cells.iter().all(|cell| cell.factors.workload == Workload::Paced));
    let (error, marked, _) = rejected(&text, &["factors.driver=plain"]);
    assert!(error.contains("driver `plain` cannot batch") && marked == "1024", "{error} {marked}");
}
