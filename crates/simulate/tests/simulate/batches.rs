//! Batches in a paced run: a full batch makes samples wait, a turbo batch does not.

use experiment::{Batching, Load, Rate};
use results::Run;
use simulate::Simulator;

use crate::rig::{MS, SECOND, constant, paced, run};

#[test]
fn batch_delays_its_samples() {
    // 4 samples of 1,000 bytes, 1 ms apart.
    let mut cell = paced(constant(1_000), true, &[("latency", "50us")]);
    cell.factors.batch_bytes = 4_000;
    let mut simulator = Simulator::new();
    run(&mut simulator, &cell, SECOND, 1);
    let response: Vec<u64> =
        simulator.series("response").expect("recorded").values.iter().map(|v| v.1).collect();
    assert_eq!(response[..4], [3_050_000, 2_050_000, 1_050_000, 50_000]);
    assert_eq!(response.len(), 1_000);
}

/// Returns a run at this load with or without turbo batches of up to 10 samples, and its service times.
fn with_turbo(load: Load, turbo: bool) -> (Run, Vec<(u64, u64)>) {
    let mut cell = paced(load, true, &[("latency", "50us")]);
    if turbo {
        (cell.factors.batch_bytes, cell.factors.batching) = (10_000, Batching::TurboApplication);
    }
    let mut simulator = Simulator::new();
    let run = run(&mut simulator, &cell, SECOND / 10, 1);
    let times = simulator.series("service").expect("recorded").values.to_vec();
    (run, times)
}

#[test]
fn with_time_to_spare_turbo_holds_nothing_back() {
    let (turbo, times) = with_turbo(constant(1_000), true);
    let (single, expected) = with_turbo(constant(1_000), false);
    assert_eq!((times, &turbo.latency), (expected, &single.latency));
    let batches = turbo.throughput().and_then(|throughput| throughput.batches.as_ref()).expect("batches");
    assert_eq!((batches.flushes, batches.samples, batches.max_samples), (100, 100, 1));
    assert_eq!(single.throughput().and_then(|throughput| throughput.batches.as_ref()), None);
}

#[test]
fn turbo_batch_has_all_due_samples_up_to_its_ceiling() {
    // Bursts of 7 and of 25 samples, every 10 ms.
    for (samples, flushes, max) in [(7, 1, 7), (25, 3, 10)] {
        let load = Load::Burst { rate: Rate { samples, period_ns: 10 * MS } };
        let (run, _) = with_turbo(load, true);
        let batches = run.throughput().and_then(|throughput| throughput.batches.as_ref()).expect("batches");
        let expected = (10 * flushes, 10 * samples, max);
        assert_eq!((batches.flushes, batches.samples, batches.max_samples), expected);
    }
    // At the maximum rate each batch is full.
    let (run, _) = with_turbo(Load::Max, true);
    let sent = run.flows[0].counted.sent;
    let batches = run.throughput().and_then(|throughput| throughput.batches.as_ref()).expect("batches");
    assert_eq!((batches.samples, batches.max_samples), (sent, 10));
    assert_eq!(batches.flushes, sent.div_ceil(10));
}

/// If a write takes longer than the time between two samples, batches grow accordingly.
#[test]
fn turbo_carries_what_single_samples_cannot() {
    // Each packet takes the server 1 ms: 1,000 packets/s, and 3,000 samples/s are offered.
    let run_of = |turbo: bool| {
        let mut cell = paced(constant(3_000), true, &[("service", "1ms"), ("queue", "2")]);
        if turbo {
            (cell.factors.batch_bytes, cell.factors.batching) = (10_000, Batching::TurboApplication);
        }
        run(&mut Simulator::new(), &cell, SECOND, 1)
    };
    let (single, turbo) = (run_of(false), run_of(true));
    assert!(single.flows[0].counted.sent < 1_100, "{}", single.flows[0].counted.sent);
    assert!(turbo.flows[0].counted.sent > 2_900, "{}", turbo.flows[0].counted.sent);
    let batches = turbo.throughput().and_then(|throughput| throughput.batches.as_ref()).expect("batches");
    assert!(batches.mean_samples > 2.5 && batches.max_samples <= 10, "{batches:?}");
}
