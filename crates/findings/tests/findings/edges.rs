//! Few, missing and unusual data: no finding, and no panic.

use std::sync::LazyLock;

use crate::sample::Characterize;
use experiment::Workload;
use proptest::prelude::*;
use results::{ResultDocument, RunState};

use crate::{
    rig::{Truth, alone, characterize, kinds, none, number, of_kind, result, result_with},
    sample,
};

/// Returns a result with many findings.
fn talkative() -> ResultDocument {
    result(&characterize(), |factors| {
        let size = factors.size_bytes as f64;
        let dds = if factors.driver == "dds" { 1.0 } else { 0.0 };
        Truth {
            rtt_ns: 20_000.0 + size + 10_000.0 * dds,
            goodput_mbps: if factors.batch_bytes > 0 { 5_000.0 } else { size.min(5_000.0) },
            lost_pct: 5.0 * (1.0 - dds),
            ..Truth::default()
        }
    })
}

#[test]
fn findings_are_the_same_for_the_same_cells_and_lie_in_the_order_of_their_kinds() {
    let mut document = talkative();
    let first = findings::find(&document);
    assert!(first.len() >= 8, "{first:#?}");
    assert!(kinds(&first).is_sorted());
    document.findings.clone_from(&first);
    assert_eq!(findings::find(&document), first);
    let json = serde_json::to_string(&document).unwrap();
    assert_eq!(serde_json::from_str::<ResultDocument>(&json).unwrap(), document, "stored, they read back");
    for finding in first {
        assert!(
            finding.cells.iter().all(|id| document.cells.iter().any(|cell| cell.id == *id)),
            "{finding:?}"
        );
        assert!(!finding.cells.is_empty() && !finding.numbers.is_empty(), "{finding:?}");
    }
}

#[test]
fn a_result_without_cells_or_runs_says_nothing() {
    let mut document = talkative();
    for cell in &mut document.cells {
        cell.runs.clear();
    }
    none(&document);
    document.cells.clear();
    none(&document);
}

#[test]
fn one_size_shows_no_course_over_sizes() {
    let one = Characterize { sizes: vec![64], ..alone("dds", Workload::Latency) };
    none(&result(&one, |_| Truth::default()));
    let one = Characterize { sizes: vec![8192], ..alone("dds", Workload::Throughput) };
    none(&result(&one, |_| Truth { writer_pct: 99.0, ..Truth::default() }));
}

#[test]
fn a_cell_takes_part_with_three_valid_runs_at_least() {
    for state in [RunState::Failed, RunState::Invalid] {
        let mut document = talkative();
        for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs).filter(|run| run.block == 2) {
            run.state = state;
        }
        none(&document);
    }
    // one size is excluded: the others still have findings
    let document = result_with(
        &Characterize { batch_bytes: 0, ..alone("dds", Workload::Throughput) },
        |_| Truth::default(),
        |run| {
            if run.cell.ends_with("/64") && run.block == 2 {
                *run = sample::failed(run);
            }
        },
    );
    let [plateau] = &of_kind(&document, results::FindingKind::Plateau)[..] else { panic!() };
    number(plateau, "from_size_bytes", 1024.0);
}

#[test]
fn missing_quantile_gives_no_finding() {
    let mut document = result(&alone("dds", Workload::Latency), |_| Truth::default());
    assert_eq!(findings::find(&document).len(), 1);
    for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs).filter(|run| run.block == 3) {
        run.latency.get_mut("rtt").unwrap().p50_ns = None;
    }
    none(&document);
}

#[test]
fn throughput_of_nothing_says_nothing() {
    none(&result(&alone("dds", Workload::Throughput), |_| Truth { goodput_mbps: 0.0, ..Truth::default() }));
    // without unbatched throughput, there is no ratio for batching
    let document = result(&alone("dds", Workload::Throughput), |factors| Truth {
        goodput_mbps: if factors.batch_bytes > 0 { 1000.0 } else { 0.0 },
        ..Truth::default()
    });
    assert_eq!(of_kind(&document, results::FindingKind::BatchingGains), []);
}

fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0_f64..1e6,
        1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE]),
    ]
}

proptest! {
    #[test]
    fn odd_values_neither_panic_nor_give_numbers_that_are_not_finite(
        values in prop::collection::vec((odd(), odd(), any::<u64>(), 0_u8..8), 1..80),
    ) {
        static DOCUMENT: LazyLock<ResultDocument> = LazyLock::new(talkative);
        let mut document = DOCUMENT.clone();
        let runs = document.cells.iter_mut().flat_map(|cell| &mut cell.runs);
        for (run, (rate, percent, count, what)) in runs.zip(values.iter().cycle()) {
            let (rate, percent, count) = (*rate, *percent, *count);
            if *what == 0 {
                run.state = RunState::Failed;
            }
            if let Some(rtt) = run.latency.get_mut("rtt") {
                rtt.p50_ns = (*what != 1).then_some(if *what > 4 { count } else { rate as u64 });
            }
            if let Some(throughput) = run.throughput_mut() {
                (throughput.goodput_mbps, throughput.delivered_sps, throughput.lost_pct) = (rate, rate, percent);
                throughput.sent = count;
            }
            run.udp_buffer_drops = (*what != 2).then_some(count);
            run.flows[0].counted.sent = count;
            run.processes[0].usage.elapsed_ns = if *what == 3 { 0 } else { count };
            run.processes[0].usage.user_ns = count;
        }
        for finding in findings::find(&document) {
            prop_assert!(finding.numbers.values().all(|number| number.is_finite()), "{:?}", finding);
            prop_assert!(!finding.text.contains("NaN"), "{}", finding.text);
        }
    }
}
