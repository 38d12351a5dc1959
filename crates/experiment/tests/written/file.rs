//! From the text of a file to a plan, and what is refused on the way, with its place.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{
    Arrival, Characterize, Effort, Experiment, Given, History, Pin, QosDuration, ReceiveMode, Reliability,
    Written, WrittenRate,
};
use proptest::prelude::*;

use crate::{
    SMALL, ids, plan, planned, refused,
    sample::characterize,
    source,
    support::{self, drivers},
    with,
};

#[test]
fn a_small_file_is_a_plan() {
    let experiment = plan(SMALL, &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/latency/32", "dds/udp4/latency/4096"]);
    assert_eq!((experiment.question.as_str(), experiment.name.as_str()), ("Which?", "f"));
    assert_eq!((experiment.design.blocks, experiment.design.seed), (6, 7));
    assert_eq!(experiment.cells[0].factors.receive, ReceiveMode::Waitset);
}

#[test]
fn flags_and_a_file_that_says_the_same_are_one_plan() {
    let flags = Characterize {
        drivers: vec!["bare".to_owned(), "dds".to_owned()],
        sizes: vec![32, 4096],
        transport: Some("shm".to_owned()),
        options: vec![("dds".to_owned(), "depth".to_owned(), "5".to_owned())],
        effort: Effort::Standard,
        keep_awake: true,
        match_ns: Some(3_000_000_000),
        ..characterize()
    };
    let file = r#"
question = "What latency and throughput does each driver give over sample sizes, and what does batching change?"
workload = ["latency", "throughput"]
factors = { driver = ["bare", "dds"], size = [32, 4096], batch_bytes = [0, "8KiB"], transport = "shm" }
options.dds.depth = 5
design = { blocks = 3, keep_awake = true }
limits.match = "3s"
"#;
    let from_file = Experiment { name: "characterize".to_owned(), ..plan(file, &[]) };
    assert_eq!(flags.plan(&drivers()).expect("a plan"), from_file);
}

#[test]
fn every_combination_is_a_cell_but_for_those_excluded_and_with_those_included() {
    let file = with(
        r#"batch_bytes = [0, 1024]
exclude = [{ size = "4KiB", workload = "throughput" }]
include = [{ driver = "plain", size = 64, workload = "latency", batch_bytes = 0 }]
"#,
    );
    let experiment = plan(&file, &["workload=latency,throughput"]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/latency/32",
            "dds/udp4/throughput/32",
            "dds/udp4/throughput/32/batch-1024",
            "dds/udp4/latency/4096",
            "plain/udp4/latency/64",
        ]
    );
}

#[test]
fn profiles_are_laid_over_the_qos_of_all_and_are_in_the_ids() {
    let file = with(
        r#"[qos]
deadline = "1s"
[profiles.late]
deadline = "10ms"
[profiles.last]
history = "keep_last"
history_depth = 3
reliability = "best_effort"
"#,
    );
    let everything: Vec<_> = experiment::Policy::ALL.to_vec();
    let mut descriptions = drivers();
    descriptions.insert("dds".to_owned(), support::description("dds", &[], &everything));
    let traces = BTreeMap::new();
    let given = Given {
        name: "f",
        descriptions: &descriptions,
        installed: &[],
        traces: &traces,
        pin: Pin::None,
        seed: 7,
    };
    let experiment =
        source(&file, &["factors.size=32"]).read().expect("a file").plan(&given).expect("a plan");
    assert_eq!(
        ids(&experiment),
        ["dds/udp4/latency/32/default", "dds/udp4/latency/32/last", "dds/udp4/latency/32/late"]
    );
    let qos: Vec<_> = experiment.cells.iter().map(|cell| &cell.factors.qos).collect();
    assert_eq!(qos[0].deadline_ns, Some(QosDuration::Ns(1_000_000_000)));
    assert_eq!(qos[2].deadline_ns, Some(QosDuration::Ns(10_000_000)));
    assert_eq!((qos[0].history, qos[0].history_depth), (Some(History::KeepAll), None));
    assert_eq!((qos[1].history, qos[1].history_depth), (Some(History::KeepLast), Some(3)));
    assert_eq!(
        (qos[0].reliability, qos[1].reliability),
        (Some(Reliability::Reliable), Some(Reliability::BestEffort))
    );
}

#[test]
fn a_baseline_is_measured_twice_in_each_block() {
    let file = with("[design]\nblocks = 5\nbaseline = { size = 32 }\n");
    let experiment = plan(&file, &[]);
    assert_eq!(experiment.design.baseline, ["dds/udp4/latency/32"]);
    let schedule = experiment.schedule();
    assert_eq!((schedule.len(), experiment.runs()), (15, 15));
    for block in schedule.chunks(3) {
        let runs: BTreeSet<_> = block.iter().map(|run| (run.cell, run.twin)).collect();
        assert_eq!(runs, BTreeSet::from([(0, false), (0, true), (1, false)]));
        assert!(block.iter().all(|run| run.block == block[0].block));
    }
    // neither copy is always the first
    let twin_first: BTreeSet<bool> = schedule
        .chunks(3)
        .map(|block| block.iter().find(|run| run.cell == 0).expect("a baseline run").twin)
        .collect();
    assert_eq!(twin_first.len(), 2);
}

#[test]
fn a_budget_says_how_many_blocks_a_precision_may_take() {
    let file = with("[design]\nprecision = \"2%\"\nbudget = \"30s\"\n");
    let experiment = plan(&file, &[]);
    // two cells of 1.4 s each
    assert_eq!(experiment.design.blocks, 10);
    let precision = experiment.design.precision.as_ref().expect("a precision");
    assert_eq!((precision.half_width_pct, precision.pilot_blocks), (2.0, 6));
    assert_eq!(experiment.design.budget_ns, Some(30_000_000_000));
    assert!(experiment.expected_ns() <= 30_000_000_000);
    assert_eq!(plan(&file, &["design.budget=10h"]).design.blocks, 500);
    let (error, marked, _) = refused(&file, &["design.budget=10s"]);
    assert!(error.contains("12 runs would take about") && marked == "10s", "{error}; {marked}");
}

#[test]
fn what_no_named_driver_can_do_is_refused_and_left_out_where_none_is_named() {
    let text =
        "question = \"?\"\nworkload = \"latency\"\nfactors.size = 64\nqos.reliability = \"reliable\"\n";
    let experiment = plan(text, &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/latency/64"]);
    assert_eq!(
        experiment.notes,
        ["driver `bare` cannot guarantee delivery: reliability is unsupported; left out"]
    );
    let (error, marked, _) = refused(text, &["factors.driver=bare,dds"]);
    assert_eq!(marked, "\"reliable\"");
    assert!(error.starts_with("f.toml:4:19: driver `bare` cannot guarantee delivery"), "{error}");
    // of a driver that is taken away nothing is said
    let experiment = plan(text, &["qos.reliability=strongest", "factors.exclude=[{ driver = \"bare\" }]"]);
    assert_eq!((ids(&experiment), experiment.notes.len()), (vec!["dds/udp4/latency/64"], 0));
    let (error, ..) = refused(text, &["factors.transport=pigeon"]);
    assert_eq!(error, "f.toml: no cell is left to measure");
}

#[test]
fn an_error_points_at_what_is_wrong() {
    let cases: &[(&str, &[&str], &str, &str, &str)] = &[
        ("x = ", &[], "f.toml:7:4: ", "", "TOML"),
        ("sise = 64", &[], "f.toml:7:1: unknown key `sise`", "sise", "did you mean `size`?"),
        (
            "receive = \"polled\"",
            &[],
            "f.toml:7:11: `polled` cannot stand here",
            "\"polled\"",
            "did you mean `polling`?",
        ),
        ("batch_bytes = [0, \"8k\"]", &[], "f.toml:7:19: ", "\"8k\"", "write a size such as"),
        ("batch_bytes = \"8k\"", &[], "f.toml:7:15: ", "\"8k\"", "write a size such as"),
        ("batch_bytes = -1", &[], "f.toml:7:15: ", "-1", "write a size such as"),
        (
            "receive = [\"waitset\", \"waitset\"]",
            &[],
            "f.toml:7:23: way to receive `waitset` is given twice",
            "\"waitset\"",
            "once",
        ),
        (
            "receive = \"polling\"",
            &[],
            "f.toml:7:11: driver `dds` cannot receive by polling",
            "\"polling\"",
            "it has waitset",
        ),
        (
            "transport = \"pigeon\"",
            &[],
            "f.toml:7:13: driver `dds` has no transport `pigeon`",
            "\"pigeon\"",
            "it has udp4, shm",
        ),
        ("profile = \"x\"", &[], "f.toml:7:11: there is no profile `x`", "\"x\"", "[profiles.NAME]"),
        (
            "exclude = [{ size = 33 }]",
            &[],
            "f.toml:7:12: this exclude matches no cell",
            "{ size = 33 }",
            "--dry-run",
        ),
        ("exclude = [{ driver = \"dds\" }]", &[], "f.toml: no cell is left to measure", "", "exclude less"),
        (
            "[design]\nbaseline = { size = 33 }",
            &[],
            "f.toml:8:12: the baseline matches no cell",
            "{ size = 33 }",
            "--dry-run",
        ),
        ("[design]\nblocks = 2", &[], "f.toml:8:10: 2 runs of each cell are too few", "2", "use 3 or more"),
        (
            "[design]\nblocks = 6\nprecision = \"2%\"",
            &[],
            "f.toml:8:10: the number of blocks is fixed",
            "6",
            "one of",
        ),
        ("[design]\npilot = 5", &[], "f.toml:8:9: a pilot says nothing without", "5", "add `precision`"),
        ("[design]\nprecision = \"2\"", &[], "f.toml:8:13: ", "\"2\"", "write a share in percent"),
        (
            "[design]\nmeasure = \"1ms\"",
            &[],
            "f.toml:8:11: the measured time of 0.001 s is out of range",
            "\"1ms\"",
            "20 ms",
        ),
        (
            "[design]\nbudget = \"10s\"",
            &[],
            "f.toml:8:10: 12 runs would take about 17s 780ms, more than the budget of 10s",
            "\"10s\"",
            "budget",
        ),
        ("[design]\npin = \"0\"", &[], "f.toml:8:7: ", "\"0\"", "0-3,4-7"),
        (
            "[limits]\nmatch = \"0s\"",
            &[],
            "f.toml:8:9: the limit of match of 0 s is out of range",
            "\"0s\"",
            "1 ms",
        ),
        (
            "[qos]\ndeadline = \"1s\"",
            &[],
            "f.toml:8:12: driver `dds` has no policy deadline",
            "\"1s\"",
            "drivers info dds",
        ),
        ("[qos]\ndeadline = 5", &[], "f.toml:8:12: ", "5", "infinite"),
        (
            "[qos]\nhistory_depth = 5",
            &[],
            "f.toml:8:17: `history_depth = 5` says nothing without keep_last",
            "5",
            "keep_last",
        ),
        (
            "[qos]\nhistory = \"keep_last\"\nhistory_depth = 5\nmax_samples = 4",
            &[],
            "f.toml:9:17: ",
            "5",
            "2.2.3.18",
        ),
        ("[qos]\nmax_samples = 0", &[], "f.toml:8:15: `max_samples = 0` is no limit", "0", "-1"),
        (
            "[options.dds]\nwidth = 1",
            &[],
            "f.toml:8:1: driver `dds` has no option `width`",
            "width",
            "it has depth",
        ),
        (
            "[options.other]\ndepth = 1",
            &[],
            "f.toml:7:10: an option was given for driver `other`",
            "other",
            "[factors]",
        ),
        (
            "",
            &["factors.sise=64"],
            "--set factors.sise=64: unknown key `sise`",
            "sise",
            "did you mean `size`?",
        ),
        ("", &["factors.size=64,15"], "--set factors.size=64,15: size 15 is too small", "15", "16 or more"),
        (
            "",
            &["design.seed=7", "factors.size=65KiB"],
            "--set factors.size=65KiB: size 66560 is too large",
            "65KiB",
            "65507",
        ),
        ("", &["design.blocks=many"], "--set design.blocks=many: ", "many", "write u32"),
        ("", &["nonsense"], "--set nonsense: this is not KEY=VALUE", "nonsense", "factors.size=64,1024"),
        ("", &["a..b=1"], "--set a..b=1: this begins with no key", "a..b=1", "design.blocks"),
    ];
    for &(more, sets, error, marked, hint) in cases {
        let found = refused(&with(&format!("{more}\n")), sets);
        assert!(found.0.starts_with(error), "{more} {sets:?}: {found:?}");
        assert!(marked.is_empty() || found.1 == marked, "{more} {sets:?}: {found:?}");
        assert!(found.2.contains(hint), "{more} {sets:?}: {found:?}");
    }
    let (error, marked, _) = refused("workload = \"latency\"\n", &[]);
    assert_eq!((error.as_str(), marked.as_str()), ("f.toml: `question` is missing", ""));
}

#[test]
fn too_much_is_refused_before_it_is_spelled_out() {
    let sizes: Vec<String> = (16..6_000).map(|size| size.to_string()).collect();
    let (error, ..) = refused(SMALL, &[&format!("factors.size={}", sizes.join(","))]);
    assert_eq!(error, "f.toml: 5984 cells are more than 5000");
    let (error, ..) = refused(SMALL, &["design.blocks=100000"]);
    assert_eq!(error, "f.toml: 200000 runs are more than 100000");
}

#[test]
fn the_schema_knows_every_key() {
    let schema = experiment::json_schema();
    for key in [
        "batch_bytes",
        "rate",
        "arrival",
        "trace",
        "flows",
        "spin",
        "baseline",
        "deadline",
        "autopurge_disposed",
        "match",
        "precision",
        "keep_awake",
    ] {
        assert!(schema.contains(&format!("\"{key}\": {{")), "{key}");
    }
}

proptest! {
    /// Whatever stands in a file or on the command line, it is a plan or an error with words.
    #[test]
    fn no_text_is_too_much(text in "\\PC{0,80}", set in "\\PC{0,30}") {
        for source in [source(&text, &[]), source(&with(&text), &[&set]), source(SMALL, &["design.seed=1", &set])] {
            if let Err(fault) = planned(&source) {
                prop_assert!(!fault.error.is_empty() && !fault.hint.is_empty());
            }
        }
    }

    /// The same with what nearly means something.
    #[test]
    fn no_words_are_too_much(
        key in "(factors|design|qos|limits|profiles|options|flows|dds|size|rate|arrival|trace|driver|exclude|baseline|blocks|deadline|\\.|\"|'){1,6}",
        value in "(\\[|\\]|\\{|\\}|=|,|\"|'|64|-1|0|1e9|KiB|ms|/s|Mbit/s|max|burst|all\\.txt|true|dds|nan|inf|1979-05-27| |é){1,8}",
    ) {
        let line = format!("{key} = {value}\n");
        for source in [source(&with(&line), &[]), source(&line, &[]), source(SMALL, &[&format!("{key}={value}")])] {
            if let Err(fault) = planned(&source) {
                prop_assert!(!fault.error.is_empty() && !fault.hint.is_empty());
            }
        }
    }

    /// As written, written down and read again.
    #[test]
    fn what_is_written_reads_back(
        sizes in prop::collection::vec(0_u64..1 << 40, 1..4),
        measure in 0_u64..1 << 50,
        percent in 0.0_f64..100.0,
        lasting in prop::option::of(0_u64..1 << 50),
        names in prop::collection::vec("\\PC{0,8}", 1..3),
        pin in prop::sample::select(vec!["none", "auto", "0,1", "0-3,4-7"]),
        (samples, period_ns, bits) in (any::<u64>(), 1_u64..1 << 40, any::<u64>()),
        arrival in prop::sample::select(Arrival::ALL),
    ) {
        let mut written = source(SMALL, &[&format!("design.pin=\"{pin}\"")]).read().expect("a file");
        written.factors.size = Some(experiment::Many::unwritten(sizes.iter().copied().map(experiment::Size)));
        written.factors.driver = Some(experiment::Many::unwritten(names.clone()));
        written.design.measure = Some(experiment::At::nowhere(experiment::Time(measure)));
        written.design.precision = Some(experiment::At::nowhere(experiment::Percent(percent)));
        let lasting_is_there = lasting.is_some();
        let lasting = lasting.map_or(QosDuration::INFINITE, QosDuration::Ns);
        let profile = experiment::Policies {
            deadline: Some(experiment::At::nowhere(experiment::Lasting(lasting))),
            ..experiment::Policies::default()
        };
        written.profiles.insert(experiment::At::nowhere(names[0].clone()), profile);
        let rates = [WrittenRate::Samples { samples, period_ns }, WrittenRate::Bits(bits), WrittenRate::Max];
        written.factors.rate = Some(experiment::Many::unwritten(rates));
        written.factors.arrival = Some(experiment::Many::unwritten([arrival]));
        written.factors.trace = Some(experiment::Many::unwritten(names.clone()));
        written.design.spin = Some(experiment::At::nowhere(samples % 2 == 0));
        written.flows.push(experiment::At::nowhere(experiment::WrittenFlow {
            name: experiment::At::nowhere(names[0].clone()),
            size: experiment::At::nowhere(experiment::Size(sizes[0])),
            rate: Some(experiment::At::nowhere(rates[0])),
            arrival: Some(experiment::At::nowhere(arrival)),
            trace: lasting_is_there.then(|| experiment::At::nowhere(names[0].clone())),
        }));
        let text = toml::to_string(&written).expect("it can be written");
        let again: Written = source(&text, &[]).read().unwrap_or_else(|fault| panic!("{text}\n{fault:#?}"));
        prop_assert_eq!(again, written);
    }
}
