//! Detection of configured shapes in the steady state of each run, and of flat runs as flat.

use std::ops::RangeInclusive;

use experiment::Workload;
use results::{ResultDocument, SteadyClass, WarningKind};
use simulate::{HostModel, RunVariation, Simulator};

use crate::rig::{MS, cell, design, experiment_of};

/// Measures three runs of 1 s, RTT or delivered samples, with this shape. A window of 10 ms has enough round trips
/// for its 99 % quantile even if they take twice as long. Changes shorter than three windows, or three groups of
/// them, are not detected.
fn measured(workload: Workload, option: (&str, &str)) -> ResultDocument {
    let options = match workload {
        Workload::Latency => vec![("latency", "normal:5us,500ns"), option],
        Workload::Throughput | Workload::Paced | Workload::Search | Workload::Discovery => {
            vec![("latency", "normal:5us,500ns"), ("service", "40us"), option]
        }
    };
    let mut design = design(1_000 * MS);
    design.windows = 100;
    // Runs with variation between them.
    let mut simulator = Simulator::on(HostModel {
        between: RunVariation { sd: 0.05, ..RunVariation::default() },
        ..HostModel::default()
    });
    simulator.experiment(&experiment_of(vec![cell(workload, true, 0, &options)], design)).expect("measured")
}

/// Checks the steady-state class of every run by every metric, and the start of the steady state in ms.
#[track_caller]
fn verdicts(option: (&str, &str), expected: SteadyClass, from_ms: Option<&RangeInclusive<u64>>) {
    for (workload, kinds) in
        [(Workload::Latency, &["rtt_p50", "rtt_p99"][..]), (Workload::Throughput, &["delivered"])]
    {
        let document = measured(workload, option);
        let cell = &document.cells[0];
        assert_eq!(cell.runs.len(), 3);
        for run in &cell.runs {
            assert_eq!(run.steady_state.keys().collect::<Vec<_>>(), kinds);
            for (kind, state) in &run.steady_state {
                assert_eq!(state.verdict, expected, "{option:?}, {kind}, run {}: {state:#?}", run.number);
                let found = state.steady_from_ns.map(|ns| ns / MS);
                let near = match (found, from_ms) {
                    (Some(found), Some(range)) => range.contains(&found),
                    (found, range) => found.is_none() && range.is_none(),
                };
                assert!(near, "{option:?}, {kind}: {found:?}, not {from_ms:?}");
            }
        }
        let warned = cell.warnings.iter().any(|warning| warning.kind == WarningKind::NotSteady);
        assert_eq!(warned, expected != SteadyClass::Flat, "{option:?}: {:?}", cell.warnings);
    }
}

#[test]
fn flat_is_flat() {
    verdicts(("warmup", "flat"), SteadyClass::Flat, Some(&(0..=0)));
}

// The warm-up of 10 ms ends before the measurement, and a ramp has no sharp end.

#[test]
fn ramp_is_classified_as_warm_up() {
    verdicts(("warmup", "ramp:3,300ms"), SteadyClass::WarmUp, Some(&(150..=310)));
}

#[test]
fn step_is_classified_as_warm_up_up_to_its_position() {
    verdicts(("warmup", "step:1.3,210ms"), SteadyClass::WarmUp, Some(&(160..=240)));
}

#[test]
fn cycle_is_classified_as_cyclic() {
    verdicts(("warmup", "cycle:2,200ms"), SteadyClass::Cyclic, None);
}

#[test]
fn slowdown_is_classified_from_its_position() {
    verdicts(("warmup", "slowdown:1.2,310ms"), SteadyClass::Slowdown, Some(&(260..=340)));
}

#[test]
fn a_late_slowdown_and_a_drift_leave_no_steady_state() {
    verdicts(("warmup", "slowdown:1.2,800ms"), SteadyClass::NoSteadyState, None);
    verdicts(("drift", "100%"), SteadyClass::NoSteadyState, None);
}
