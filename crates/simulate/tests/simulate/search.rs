//! Searches with simulated trials, which are judged like real ones.

use experiment::{Design, Load, Rate, ScheduledRun};
use results::{TRIAL_WINDOWS, TrialLog};
use simulate::Simulator;
use stats::search::{Budget, Goal, GoalOutcome, Loads, Search, TrialOutcome};

use crate::rig::{MS, design, paced};

const SECOND: u64 = 1_000 * MS;
/// Capacity of the server in samples/s: 50 µs each.
const CAPACITY: f64 = 20_000.0;

/// Returns the evaluation of a trial from the record of its run and its values.
fn shown(
    simulator: &mut Simulator,
    load_sps: f64,
    reliable: bool,
    options: &[(&str, &str)],
    design: &Design,
) -> TrialOutcome {
    let cell = paced(Load::Constant { rate: Rate::nearest(load_sps) }, reliable, options);
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    let run = simulator.run(&cell, design, scheduled).unwrap_or_else(|error| panic!("{error}")).run;
    let (record, throughput) = (run.paced().expect("a plan"), run.throughput().expect("rates"));
    let last_ns = simulator.series("response").and_then(|all| all.values.iter().map(|(at, _)| *at).max());
    let windows = simulator.series("send_lag").expect("recorded").windows(TRIAL_WINDOWS, design.measure_ns);
    let log = TrialLog {
        duration_ns: design.measure_ns,
        reliable,
        planned: record.planned,
        unsent: record.unsent,
        delivered: throughput.delivered,
        begin_ns: 0,
        last_ns: last_ns.unwrap_or(0),
        quickest_ns: run.latency["service"].min_ns,
        window_ns: windows.length_ns(),
        send_lag: windows.histograms(),
        response: &[],
    };
    log.outcome(None).shown
}

/// Returns the goal with trial durations that are short enough for a simulation.
fn quick(goal: Goal) -> Goal {
    Goal {
        initial_trial_duration_ns: SECOND / 5,
        final_trial_duration_ns: SECOND,
        duration_sum_ns: 3 * SECOND,
        ..goal
    }
}

fn search(reliable: bool, options: &[(&str, &str)]) -> Vec<GoalOutcome> {
    let mut simulator = Simulator::new();
    let goals = vec![quick(Goal::ndr()), quick(Goal::pdr())];
    let loads = Loads { floor_sps: 100.0, ceiling_sps: 60_000.0, start_sps: 30_000.0 };
    let budget = Budget { trials: 200, duration_ns: 200 * SECOND };
    let mut search = Search::new(goals, loads, budget).expect("a search");
    let mut seed = 0;
    while let Some(trial) = search.next_trial() {
        seed += 1;
        let design = Design { seed, ..design(trial.duration_ns) };
        let ratio = shown(&mut simulator, trial.load_sps, reliable, options, &design).violation();
        search.record(trial, &[ratio, ratio]).expect("asked for");
    }
    (0..2).map(|goal| search.outcome(goal)).collect()
}

/// Checks that the bounds contain the capacity, within a tolerance of `more` of it.
fn assert_found(outcome: &GoalOutcome, more: f64) {
    let GoalOutcome::Regular { lower, upper, throughput_sps } = outcome else { panic!("{outcome:?}") };
    assert!(lower.load_sps <= CAPACITY * (1.0 + more), "{outcome:?}");
    assert!(upper.load_sps >= CAPACITY * (1.0 - more), "{outcome:?}");
    assert!(*throughput_sps <= CAPACITY * (1.0 + more), "{outcome:?}");
    assert!(upper.load_sps - lower.load_sps <= 0.01 * upper.load_sps * 1.000_001, "{outcome:?}");
}

#[test]
fn reliable_flow_under_back_pressure_is_found_by_unsent_samples() {
    // Nothing is ever lost. With a queue of 50 ms a trial slightly above the capacity reveals the overload soon.
    for outcome in search(true, &[("service", "50us"), ("queue", "1000"), ("latency", "100us")]) {
        // The width, and what a trial may leave undelivered.
        assert_found(&outcome, 0.012);
    }
}

#[test]
fn best_effort_flow_over_capacity_is_found_by_its_loss() {
    let options = [("service", "50us"), ("queue", "20"), ("full", "drop"), ("latency", "100us")];
    let outcomes = search(false, &options);
    assert_found(&outcomes[0], 0.011);
    // Up to 0.5 % may be lost.
    assert_found(&outcomes[1], 0.016);
}

#[test]
fn goal_met_by_no_rate_is_reported() {
    // 5 % are lost at any rate.
    for outcome in search(false, &[("loss", "5%"), ("latency", "100us")]) {
        assert!(matches!(outcome, GoalOutcome::FloorFails { .. }), "{outcome:?}");
    }
}

#[test]
fn overload_shows_as_what_was_not_sent_and_as_a_lag_that_grows() {
    let mut simulator = Simulator::new();
    let options = [("service", "50us"), ("queue", "100"), ("latency", "100us")];
    let over = shown(&mut simulator, 1.1 * CAPACITY, true, &options, &design(SECOND));
    // One of 11 samples exceeds the capacity.
    assert!((over.violation() - 1.0 / 11.0).abs() < 0.01, "{over:?}");
    assert!((over.falls_behind() - 1.0 / 11.0).abs() < 0.015, "{}", over.falls_behind());
    let under = shown(&mut simulator, 0.9 * CAPACITY, true, &options, &design(SECOND));
    assert!(under.violation().abs() < 1e-12 && under.falls_behind().abs() < 1e-12, "{under:?}");
}
