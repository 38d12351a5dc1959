//! Runs that end after a number of samples: all of them are written, and rates are over the time that it took.

use experiment::{Cell, Design, Load, ScheduledRun, Topology, Workload};
use results::{Run, RunState, WarningKind};
use simulate::Simulator;

use crate::rig::{MS, SECOND, cell, constant, design, paced};

/// Latency and capacity of the simulated middleware: 10,000 packets/s.
const OPTIONS: &[(&str, &str)] =
    &[("bandwidth", "100Mbit"), ("service", "20us"), ("latency", "normal:50us,5us"), ("queue", "8")];

/// Returns a run of at most this many samples, and at most 10 s.
fn run(cell: &Cell, samples: u64) -> Run {
    let design = Design { samples: Some(samples), windows: 20, ..design(10 * SECOND) };
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    let run = Simulator::new().run(cell, &design, scheduled).unwrap_or_else(|error| panic!("{error}")).run;
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    run
}

fn is_near(value: f64, truth: f64) -> bool {
    (value / truth - 1.0).abs() < 0.01
}

#[test]
fn throughput_of_a_number_of_samples_is_the_capacity() {
    for (batch_bytes, per_packet, capacity) in [(0, 1, 10_000.0), (8_000, 8, 12_500.0)] {
        let cell = cell(Workload::Throughput, true, batch_bytes, OPTIONS);
        // Not a multiple of a packet; a fiftieth of the time.
        let run = run(&cell, 2_001);
        let throughput = run.throughput().expect("throughput");
        assert_eq!(
            (throughput.sent, throughput.delivered, throughput.lost),
            (2_001, 2_001, 0),
            "{per_packet}"
        );
        for rate in [throughput.accepted_sps, throughput.delivered_sps] {
            assert!((rate / capacity - 1.0).abs() < 0.05, "{rate} of {capacity}");
        }
        assert!(throughput.tail.samples <= 80, "{throughput:?}");
        assert!(run.warnings.iter().all(|warning| warning.kind != WarningKind::Tail), "{:?}", run.warnings);
    }
}

#[test]
fn time_ends_a_run_that_has_not_written_all_samples() {
    let run = run(&cell(Workload::Throughput, true, 0, OPTIONS), u64::MAX);
    let throughput = run.throughput().expect("throughput");
    assert!(is_near(throughput.accepted_sps, 10_000.0) && throughput.sent > 90_000, "{throughput:?}");
}

#[test]
fn one_sample_is_a_run() {
    for workload in [Workload::Throughput, Workload::Latency] {
        let run = run(&cell(workload, true, 0, OPTIONS), 1);
        let counted = &run.flows[0].counted;
        assert_eq!((counted.sent, counted.delivered), (1, 1), "{workload:?}");
    }
    let run = run(&paced(constant(1_000), true, OPTIONS), 1);
    assert_eq!(run.throughput().expect("throughput").delivered, 1);
}

#[test]
fn latency_of_a_number_of_pings_has_as_many_round_trips() {
    let run = run(&cell(Workload::Latency, true, 0, OPTIONS), 500);
    assert_eq!(run.latency["rtt"].n, 500);
    assert!(run.steady_state.values().all(|state| state.segments.len() == 1), "{:?}", run.steady_state);
}

#[test]
fn ring_of_several_samples_in_flight_ends_after_its_samples() {
    let mut ring = cell(Workload::Latency, true, 0, &[("latency", "constant:100us")]);
    ring.factors.topology = Topology::Ring { nodes: 3 };
    ring.factors.in_flight = Some(4);
    let run = run(&ring, 101);
    assert_eq!(run.latency["rtt"].n, 101);
}

#[test]
fn paced_run_of_a_number_of_samples_keeps_its_rate() {
    for load in [constant(1_000), crate::rig::poisson(1_000)] {
        let run = run(&paced(load, true, OPTIONS), 300);
        let (paced, throughput) = (run.paced().expect("paced"), run.throughput().expect("throughput"));
        assert_eq!((paced.planned, paced.unsent), (300, 0));
        assert_eq!((throughput.sent, throughput.delivered), (300, 300));
        assert!(run.warnings.iter().all(|warning| warning.kind != WarningKind::Unsent), "{:?}", run.warnings);
        // 300 periods of 1 ms; a random schedule has another mean.
        let planned_sps = paced.planned_sps.expect("it has times");
        assert!((planned_sps / 1_000.0 - 1.0).abs() < 0.2, "{planned_sps}");
        assert!(is_near(throughput.accepted_sps, planned_sps), "{throughput:?}");
    }
    let run = run(&paced(constant(1_000), true, OPTIONS), 300);
    assert!(is_near(run.paced().expect("paced").planned_sps.expect("it has times"), 1_000.0));
    let run = self::run(&paced(Load::Max, true, OPTIONS), 2_000);
    let throughput = run.throughput().expect("throughput");
    assert_eq!(throughput.delivered, 2_000);
    assert!((throughput.accepted_sps / 10_000.0 - 1.0).abs() < 0.05, "{throughput:?}");
    assert!(throughput.delivered_in_time > 1_900, "{throughput:?}, {MS}");
}
