//! Rates in percent of a maximum rate, with a known capacity.

use experiment::{Arrival, Cell, Design, Load, PercentOfMax};
use results::{MaxRate, ResultDocument, Run};
use simulate::{HostModel, RunVariation, Simulator};

use crate::rig::{MS, design, experiment_of, paced};

/// Capacity of the server in samples/s: 50 µs each.
const CAPACITY: f64 = 20_000.0;
/// Number of experiments on a host with variation between runs.
const EXPERIMENTS: u32 = 80;
const HELD_BACK: [(&str, &str); 3] = [("service", "50us"), ("queue", "100"), ("latency", "100us")];
const DROPPED: [(&str, &str); 4] =
    [("service", "50us"), ("queue", "20"), ("full", "drop"), ("latency", "100us")];

fn share(percent: f64, arrival: Arrival) -> Load {
    Load::Share { percent: PercentOfMax::of_percent(percent).expect("a share"), arrival, rate: None }
}

/// Measures cells with these loads, each with its own id.
fn measured(
    simulator: &mut Simulator,
    loads: &[Load],
    reliable: bool,
    options: &[(&str, &str)],
    design: Design,
) -> ResultDocument {
    let cells = loads.iter().map(|load| {
        let cell = paced(load.clone(), reliable, options);
        Cell { id: format!("cell/{load}"), ..cell }
    });
    let experiment = experiment_of(cells.collect(), design);
    simulator.experiment(&experiment).unwrap_or_else(|error| panic!("{error}"))
}

fn maximum(document: &ResultDocument) -> &MaxRate {
    let [maximum] = &document.max_rates[..] else { panic!("{:?}", document.max_rates) };
    maximum
}

fn planned_sps(run: &Run) -> f64 {
    run.paced().and_then(|paced| paced.planned_sps).expect("a plan")
}

#[test]
fn a_percent_is_that_of_the_capacity_whether_samples_wait_or_are_dropped() {
    let shares = [10.0, 50.0, 90.0, 120.0];
    let loads = shares.map(|percent| share(percent, Arrival::Constant));
    for (reliable, options) in [(true, &HELD_BACK[..]), (false, &DROPPED[..])] {
        let document = measured(&mut Simulator::new(), &loads, reliable, options, design(200 * MS));
        let maximum = maximum(&document);
        let sps = maximum.sps.expect("it is known");
        // At most the queue is delivered after the end of the measurement.
        assert!((sps / CAPACITY - 1.0).abs() < 0.01, "{maximum:?}");
        assert_eq!(maximum.cells.len(), 4);
        for (cell, percent) in document.cells.iter().zip(shares) {
            for run in &cell.runs {
                // A schedule has whole samples: a resolution of 5 samples/s.
                assert!((planned_sps(run) - sps * percent / 100.0).abs() <= 5.0, "{percent}: {run:?}");
                let throughput = run.throughput().expect("rates");
                let came = throughput.delivered as f64 / run.paced().expect("a plan").planned as f64;
                if percent < 100.0 {
                    assert!((came - 1.0).abs() < 1e-9, "{percent}: {came}");
                } else {
                    // One of 6 samples exceeds the capacity, except those that the queue holds.
                    assert!((came - 1.0 / 1.2).abs() < 0.03, "{percent}: {came}");
                }
            }
        }
    }
}

#[test]
fn a_random_plan_at_half_the_capacity_has_half_of_it_on_average() {
    let load = [share(50.0, Arrival::Poisson)];
    let document =
        measured(&mut Simulator::new(), &load, true, &HELD_BACK, Design { blocks: 6, ..design(500 * MS) });
    for run in &document.cells[0].runs {
        // 5000 samples on average, and 4 standard deviations.
        assert!((planned_sps(run) * 0.5 - 5_000.0).abs() < 4.0 * 5_000_f64.sqrt() + 50.0, "{run:?}");
    }
}

/// On a host with variation between runs, 50 % is half of the capacity as precisely as the maximum rate is known: the
/// range of three runs contains the typical speed with a probability of 1 - 2 / 2^3.
#[test]
fn half_of_the_capacity_is_met_within_the_scatter_of_the_maximum() {
    let between = RunVariation { drift: 0.0, sd: 0.05, autocorrelation: 0.0 };
    let mut held = 0_u32;
    for seed in 0..EXPERIMENTS {
        let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
        let load = [share(50.0, Arrival::Constant)];
        let design = Design { seed: seed.into(), ..design(50 * MS) };
        let document = measured(&mut simulator, &load, true, &HELD_BACK, design);
        let spread = maximum(&document).spread().expect("three runs");
        let offered = planned_sps(&document.cells[0].runs[0]);
        assert!(
            (spread.min / 2.0 - 20.0..=spread.max / 2.0 + 20.0).contains(&offered),
            "{spread:?} {offered}"
        );
        held += u32::from((spread.min..=spread.max).contains(&CAPACITY));
    }
    // Binomial with n = 80 and p = 3/4: outside of 44 to 74 once in 20,000.
    assert!((44..=74).contains(&held), "{held}");
}
