//! Variation between runs: modes, drift and autocorrelation, and the speed of the simulation.

use std::time::Instant;

use experiment::{Cell, Load, Rate, Reliability, ScheduledRun, Workload};
use results::DeliveryCounts;
use simulate::{HostModel, RunVariation, SimulatedMetrics, Simulator};

use crate::rig::{MS, cell, design, paced, run};

const RUNS: u32 = 2_000;

/// Returns one metric of each of many short runs, in their order.
fn values(
    simulator: &mut Simulator,
    cell: &Cell,
    runs: u32,
    of: impl Fn(&SimulatedMetrics) -> f64,
) -> Vec<f64> {
    let design = design(5 * MS);
    let measure = |number| {
        let scheduled = ScheduledRun { number, block: number, cell: 0, twin: false, duet: None };
        of(&simulator.metrics(cell, &design, scheduled).expect("measured"))
    };
    (1..=runs).map(measure).collect()
}

fn median_rtt(metrics: &SimulatedMetrics) -> f64 {
    metrics.rtt_p50_ns.expect("supported") as f64
}

fn delivered(metrics: &SimulatedMetrics) -> f64 {
    metrics.throughput.as_ref().expect("throughput").delivered_sps
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn latency() -> Cell {
    cell(Workload::Latency, true, 0, &[("latency", "lognormal:20us,0.1")])
}

#[test]
fn runs_fall_into_modes_with_the_shares_that_are_configured() {
    let modes = ("modes", "0.6*1+0.3*1.5+0.1*2.5");
    for (cell, of, typical) in [
        (
            cell(Workload::Latency, true, 0, &[("latency", "lognormal:20us,0.1"), modes]),
            median_rtt as fn(&_) -> f64,
            40_000.0,
        ),
        // A rate falls by the factor by which times grow.
        (
            cell(Workload::Throughput, true, 0, &[("service", "20us"), modes]),
            |metrics: &_| 1e9 / delivered(metrics),
            20_000.0,
        ),
    ] {
        let values = values(&mut Simulator::new(), &cell, RUNS, of);
        let near = |factor: f64| {
            values.iter().filter(|value| (**value / typical / factor - 1.0).abs() < 0.1).count()
        };
        let found = [1.0, 1.5, 2.5].map(near);
        assert_eq!(found.iter().sum::<usize>(), values.len(), "no run lies between its modes: {found:?}");
        for (found, share) in found.into_iter().zip([0.6, 0.3, 0.1]) {
            let expected = share * f64::from(RUNS);
            // Four standard deviations of a binomial count.
            let allowed = 4.0 * (expected * (1.0 - share)).sqrt();
            assert!((found as f64 - expected).abs() < allowed, "{found}, {expected} expected");
        }
    }
}

/// Returns the slope of the least-squares line, the standard deviation of the residuals, and their lag-1
/// autocorrelation.
fn log(logs: &[f64]) -> (f64, f64, f64) {
    let n = logs.len() as f64;
    let (x_mean, y_mean) = ((n - 1.0) / 2.0, mean(logs));
    let products = logs.iter().enumerate().map(|(x, y)| (x as f64 - x_mean) * (y - y_mean)).sum::<f64>();
    let slope = products / ((n * n * n - n) / 12.0);
    let rest: Vec<f64> =
        logs.iter().enumerate().map(|(x, y)| y - y_mean - slope * (x as f64 - x_mean)).collect();
    let squares = rest.iter().map(|value| value * value).sum::<f64>();
    let neighbours = rest.windows(2).map(|two| two[0] * two[1]).sum::<f64>();
    (slope, (squares / n).sqrt(), neighbours / squares)
}

#[test]
fn runs_drift_and_remember_as_configured() {
    for between in [
        RunVariation::default(),
        RunVariation { drift: 2e-4, ..RunVariation::default() },
        RunVariation { sd: 0.1, ..RunVariation::default() },
        RunVariation { drift: -1e-4, sd: 0.1, autocorrelation: 0.8 },
        RunVariation { drift: 0.0, sd: 0.1, autocorrelation: -0.5 },
    ] {
        let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
        let logs: Vec<f64> =
            values(&mut simulator, &latency(), RUNS, median_rtt).into_iter().map(f64::ln).collect();
        let (drift, sd, memory) = log(&logs);
        // Medians of 120 round trips scatter by 0.8 %. With an autocorrelation of 0.8 a tenth of the runs is
        // independent.
        assert!((drift - between.drift).abs() < 5e-5, "{between:?}: drift {drift}");
        assert!((sd - between.sd).abs() < 0.01 + 0.1 * between.sd, "{between:?}: standard deviation {sd}");
        assert!((memory - between.autocorrelation).abs() < 0.1, "{between:?}: memory {memory}");
    }
}

#[test]
fn a_factor_of_the_host_acts_on_rates_too() {
    let between = RunVariation { sd: 0.2, ..RunVariation::default() };
    let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
    let design = design(5 * MS);
    for options in [&[("service", "20us")][..], &[]] {
        let cell = cell(Workload::Throughput, true, 0, options);
        let still = values(&mut Simulator::new(), &cell, 1, delivered)[0];
        for (index, rate) in values(&mut simulator, &cell, 20, delivered).into_iter().enumerate() {
            let factor = between.factor(design.seed, index as u32 + 1);
            assert!((rate * factor / still - 1.0).abs() < 0.02, "{rate}, {factor}, {still}");
        }
    }
}

#[test]
fn metrics_equals_those_of_run() {
    let mut simulator = Simulator::new();
    for workload in [Workload::Latency, Workload::Throughput] {
        let mut cell = cell(workload, true, 0, &[("latency", "gamma:50us,3"), ("loss", "1%")]);
        cell.factors.qos.reliability = Some(Reliability::BestEffort);
        let run = run(&mut simulator, &cell, 50 * MS, 3);
        let scheduled = ScheduledRun { number: 3, block: 3, cell: 0, twin: false, duet: None };
        let metrics = simulator.metrics(&cell, &design(50 * MS), scheduled).expect("measured");
        assert_eq!(
            (&metrics.counted, &metrics.throughput),
            (&DeliveryCounts::sum(run.counts()), &run.throughput().cloned())
        );
        let [p50, p99] = run.latency.get("rtt").map_or([None; 2], |rtt| [rtt.p50_ns, rtt.p99_ns]);
        for (exact, recorded) in [(metrics.rtt_p50_ns, p50), (metrics.rtt_p99_ns, p99)] {
            assert_eq!(exact.is_some(), recorded.is_some());
            if let Some((exact, recorded)) = exact.zip(recorded) {
                assert!((recorded as f64 / exact as f64 - 1.0).abs() < 0.001, "{recorded}, {exact}");
            }
        }
    }
}

/// Prints speeds without checking them: `cargo test -p simulate many_runs -- --nocapture`.
#[test]
fn many_runs() {
    const RUNS: u32 = 500;
    let mut simulator = Simulator::new();
    let begin = Instant::now();
    let medians = values(&mut simulator, &latency(), RUNS, median_rtt);
    let pings = 5_000_000.0 / mean(&medians);
    println!(
        "{:.0} runs/s of {pings:.0} pings each, metrics only",
        f64::from(RUNS) / begin.elapsed().as_secs_f64()
    );
    let written = cell(Workload::Throughput, true, 0, &[("service", "20us")]);
    let begin = Instant::now();
    values(&mut simulator, &written, RUNS, delivered);
    println!(
        "{:.0} runs/s of 250 samples each, metrics only",
        f64::from(RUNS) / begin.elapsed().as_secs_f64()
    );
    // A server of 20 µs at 80 % of its capacity.
    for load in
        [Load::Constant { rate: Rate::per_second(40_000) }, Load::Poisson { rate: Rate::per_second(40_000) }]
    {
        let cell = paced(load.clone(), true, &[("service", "20us")]);
        let begin = Instant::now();
        values(&mut simulator, &cell, RUNS, delivered);
        let per_second = f64::from(RUNS) / begin.elapsed().as_secs_f64();
        println!("{per_second:.0} runs/s of 200 samples each at {load}, metrics only");
    }
    let begin = Instant::now();
    for number in 1..=200 {
        assert!(run(&mut simulator, &latency(), 20 * MS, number).latency["rtt"].n > 400);
    }
    println!(
        "{:.0} runs/s of 500 pings each, with histograms and windows",
        2e2 / begin.elapsed().as_secs_f64()
    );
}
