//! Several echoes of one ping: the round trip of each, and of the last one, against the truth of the configuration.

use experiment::{Cell, Topology, Workload};
use results::{Latency, Run, RunState};
use sim_model::{Config, GroundTruth, RoundTrip};
use simulate::{HostModel, Simulator};

use crate::rig::{MS, SECOND, cell, config, run};

/// Relative precision of a histogram.
const PRECISION: f64 = 0.001;

fn all_echo(readers: u16, reliable: bool, options: &[(&str, &str)]) -> Cell {
    let mut cell = cell(Workload::Latency, reliable, 0, options);
    cell.factors.topology = Topology::Mesh { writers: 1, readers };
    cell.factors.all_readers_echo = true;
    cell
}

/// Returns the true round trips of the echoes, whose times have these factors.
fn trips<'c>(config: &'c Config, factors: &[f64]) -> Vec<RoundTrip<'c>> {
    let echo = |(copies, factor): (u32, &f64)| {
        let out = GroundTruth::new(config, true, 0.0, 1000, 1.0, 0).of_copies(copies).of_reader(*factor);
        out.round_trip_by(GroundTruth::new(config, true, 0.0, 1000, *factor, 0))
    };
    (1..).zip(factors).map(echo).collect()
}

/// Returns whether the median and the 99 % quantile are within four standard deviations of the true ones.
fn recovers(found: &Latency, truth: impl Fn(f64) -> f64) -> bool {
    [(0.5, found.p50_ns), (0.99, found.p99_ns)].into_iter().all(|(q, value)| {
        let reach = 4.0 * (q * (1.0 - q) / found.n as f64).sqrt();
        let low = truth(q - reach) * (1.0 - PRECISION) - 1.0;
        let high = truth(q + reach) * (1.0 + PRECISION) + 1.0;
        (low..=high).contains(&(value.expect("enough pings") as f64))
    })
}

fn rtt(run: &Run, echo: usize) -> &Latency {
    &run.flows[echo].latency["rtt"]
}

#[test]
fn round_trip_of_each_echo_and_of_the_last_one_are_recovered() {
    let options = [("latency", "normal:50us,5us"), ("service", "4us")];
    let config = config(&options);
    let factors = [1.0, 1.0, 1.05];
    let host = HostModel { endpoints: [("echo-3".to_owned(), 1.05)].into(), ..HostModel::default() };
    let run = run(&mut Simulator::on(host), &all_echo(3, true, &options), SECOND, 1);
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    let truth = trips(&config, &factors);
    for (echo, trip) in truth.iter().enumerate() {
        let found = rtt(&run, echo);
        assert!(recovers(found, |q| trip.quantile(q)), "{}: {found:?}", run.flows[echo].reader);
    }
    let last = &run.latency["rtt_last"];
    assert_eq!(last.n, rtt(&run, 0).n);
    assert!(recovers(last, |q| RoundTrip::last_quantile(&truth, q)), "{last:?}");
    // The check can fail: the third echo does not have the round trips of the first one, and is not always the last one.
    assert!(!recovers(rtt(&run, 2), |q| truth[0].quantile(q)));
    assert!(!recovers(last, |q| truth[2].quantile(q)));
}

#[test]
fn loss_of_one_echo_is_not_that_of_the_others() {
    let options = [("latency", "50us"), ("loss", "5%")];
    let run = run(&mut Simulator::new(), &all_echo(3, false, &options), 120_000 * MS, 1);
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    let loss = GroundTruth::new(&config(&options), false, 0.0, 1000, 1.0, 0).ping_loss();
    let mut complete = 1.0;
    for flow in &run.flows {
        let (sent, lost) = (flow.counted.sent as f64, flow.counted.lost as f64);
        assert!((lost - sent * loss).abs() <= 4.0 * (sent * loss * (1.0 - loss)).sqrt(), "{flow:?}");
        complete *= 1.0 - loss;
    }
    // A ping has a last echo if all of its echoes returned.
    let sent = run.flows[0].counted.sent as f64;
    let last = run.latency["rtt_last"].n as f64;
    assert!(
        (last - sent * complete).abs() <= 4.0 * (sent * complete * (1.0 - complete)).sqrt(),
        "{last} of {sent}"
    );
}

#[test]
fn single_echo_has_the_round_trips_of_a_pair() {
    let options = [("latency", "normal:50us,5us")];
    let [one, pair] = [all_echo(1, true, &options), cell(Workload::Latency, true, 0, &options)]
        .map(|cell| run(&mut Simulator::new(), &cell, 100 * MS, 1));
    assert_eq!((&one.latency, &one.flows), (&pair.latency, &pair.flows));
}
