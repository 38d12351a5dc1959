//! Plans of experiment files.

use std::collections::{BTreeMap, BTreeSet};

use crate::sample::Characterize;
use experiment::{History, Pin, Plan, PlanInputs, QosDuration, ReceiveMode, Reliability, RunOrder};

use crate::{
    SMALL, ids, plan, rejected,
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
fn listed_order_is_that_of_the_cells_in_every_block() {
    let sizes: Vec<String> = (0..20).map(|size| (64 + size).to_string()).collect();
    let mut experiment = plan(SMALL, &[&format!("factors.size={}", sizes.join(","))]);
    let of_block = |experiment: &Plan| -> Vec<usize> {
        experiment.schedule().iter().filter(|run| run.block == 2).map(|run| run.cell).collect()
    };
    let listed: Vec<usize> = (0..20).collect();
    assert_ne!(of_block(&experiment), listed, "it is random");
    experiment.design.order = RunOrder::Listed;
    assert_eq!(of_block(&experiment), listed);
    let again: Vec<usize> = experiment.block_again(9, 1).iter().map(|run| run.cell).collect();
    assert_eq!(again, listed);
}

#[test]
fn flags_and_a_file_that_says_the_same_are_one_plan() {
    let flags = Characterize {
        drivers: vec!["bare".to_owned(), "dds".to_owned()],
        sizes: vec![32, 4096],
        transport: Some("shm".to_owned()),
        options: vec![("dds".to_owned(), "depth".to_owned(), "5".to_owned())],
        warm_up_ns: Some(200_000_000),
        measure_ns: Some(800_000_000),
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
    let from_file = Plan { name: "characterize".to_owned(), ..plan(file, &[]) };
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
    let inputs = PlanInputs {
        name: "f",
        descriptions: &descriptions,
        installed: &[],
        files: &traces,
        pin: Pin::None,
        hosts: &[],
        seed: 7,
        least_blocks: &results::least_blocks,
    };
    let experiment =
        source(&file, &["factors.size=32"]).read().expect("a file").plan(&inputs).expect("a plan");
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
    // Neither of the two runs is always the first.
    let twin_first: BTreeSet<bool> = schedule
        .chunks(3)
        .map(|block| block.iter().find(|run| run.cell == 0).expect("a baseline run").twin)
        .collect();
    assert_eq!(twin_first.len(), 2);
}

#[test]
fn budget_limits_the_blocks_of_a_precision() {
    let file = with("[design]\nprecision = \"2%\"\nbudget = \"30s\"\n");
    let experiment = plan(&file, &[]);
    // Two cells of 1.4 s each, with a noise probe and a reference of 140 ms each.
    assert_eq!(experiment.design.blocks, 9);
    let precision = experiment.design.precision.as_ref().expect("a precision");
    assert_eq!((precision.half_width_pct, precision.pilot_blocks), (2.0, 6));
    assert_eq!(experiment.design.budget_ns, Some(30_000_000_000));
    assert!(experiment.expected_ns() <= 30_000_000_000);
    assert_eq!(plan(&file, &["design.budget=10h"]).design.blocks, 500);
    let (error, marked, _) = rejected(&file, &["design.budget=10s"]);
    assert!(error.contains("12 runs would take about") && marked == "10s", "{error}; {marked}");
}

#[test]
fn number_of_samples_shortens_the_expected_duration_and_the_noise_probe() {
    let mut design = plan(&with(""), &[]).design;
    (design.warm_up_ns, design.measure_ns) = (0, 86_400_000_000_000);
    assert_eq!(design.probe_ns(1), 2_000_000_000);
    let without_traffic = 400_000_000;
    for (samples, expected_ns) in [(1, 50_000), (10_000, 500_000_000), (u64::MAX, design.measure_ns)] {
        design.samples = Some(samples);
        assert_eq!(design.expected_run_ns(), without_traffic + expected_ns);
    }
    design.samples = Some(10_000);
    assert_eq!(design.probe_ns(1), 100_000_000);
    let without = plan(&with(""), &["design.noise_probe=false"]);
    let reference_ns = without.design.reference_ns(without.runs_per_block());
    assert_eq!((without.design.probe_ns(1), without.between_blocks_ns()), (0, reference_ns));
    (design.warm_up_ns, design.warm_up_samples) = (3_000_000_000, Some(1_000));
    assert_eq!(design.expected_run_ns(), without_traffic + 550_000_000);
}

#[test]
fn the_number_of_blocks_follows_from_the_claims() {
    let least = |experiment: &Plan| results::least_blocks(experiment);
    // One pair, p50 and p99: 2 / 2^7 <= 5 % / 2, and one block to spare.
    let pair = with("[design]\nbaseline = { size = 32 }\n");
    let experiment = plan(&pair, &["factors.size=32,64"]);
    assert_eq!((experiment.design.blocks, least(&experiment)), (8, 7));
    assert!(experiment.notes.is_empty(), "{:?}", experiment.notes);
    // Four pairs.
    let experiment = plan(&pair, &["factors.size=32,64,128,256,512"]);
    assert_eq!((experiment.design.blocks, least(&experiment)), (10, 9));
    // With a target precision the pilot has this default, and a small budget does not go below it.
    let precise = plan(&pair, &["factors.size=32,64", "design.precision=20%"]);
    assert_eq!(precise.design.precision.map(|precision| precision.pilot_blocks), Some(8));
    let little = plan(&pair, &["factors.size=32,64", "design.precision=20%", "design.budget=38s"]);
    assert_eq!(little.design.blocks, 8);
    // Without a baseline, each cell has a CI from 6 blocks on.
    assert_eq!(plan(&with(""), &[]).design.blocks, 6);
}

#[test]
fn fewer_blocks_than_any_claim_needs_are_planned_with_a_note() {
    let file = with("[design]\nbaseline = { size = 32 }\n");
    let notes = |blocks: u32| plan(&file, &["factors.size=32,64", &format!("design.blocks={blocks}")]).notes;
    assert_eq!(
        notes(6),
        ["6 blocks support no claim: give `--runs 7` or more, or neither `--runs` nor `blocks`"]
    );
    assert!(notes(7).is_empty());
    assert!(plan(&with("[design]\nblocks = 3\n"), &[]).notes.is_empty(), "it has no baseline");
    let notes = plan(&with("[design]\nblocks = 2\n"), &[]).notes;
    assert_eq!(notes, ["findings need 3 runs of each cell, and this plan has 2"]);
}

#[test]
fn unsupported_factor_is_rejected_for_named_drivers_and_excluded_for_others() {
    let text =
        "question = \"?\"\nworkload = \"latency\"\nfactors.size = 64\nqos.reliability = \"reliable\"\n";
    let experiment = plan(text, &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/latency/64"]);
    assert_eq!(
        experiment.notes,
        ["driver `bare` cannot guarantee delivery: reliability is unsupported; left out"]
    );
    let (error, marked, _) = rejected(text, &["factors.driver=bare,dds"]);
    assert_eq!(marked, "\"reliable\"");
    assert!(error.starts_with("f.toml:4:19: driver `bare` cannot guarantee delivery"), "{error}");
    // A driver that is excluded has no notes.
    let experiment = plan(text, &["qos.reliability=strongest", "factors.exclude=[{ driver = \"bare\" }]"]);
    assert_eq!((ids(&experiment), experiment.notes.len()), (vec!["dds/udp4/latency/64"], 0));
    let (error, ..) = rejected(text, &["factors.transport=pigeon"]);
    let why = "no cell is left to measure; driver `bare` has no transport `pigeon`; left out; driver `bare` ";
    assert!(error.starts_with(&format!("f.toml: {why}")), "{error}");
}
