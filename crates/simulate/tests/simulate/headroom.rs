//! Searches over the scale of a simulated system, whose headroom is known: each writer has a server of its own, so the flow with the
//! highest rate reaches its capacity first.

use std::collections::BTreeMap;

use experiment::{
    Cell, Deadline, Design, Factors, Flow, GoalKind, Scale, ScaleRange, ScheduledRun, Search, SearchGoal,
    Workload,
};
use results::{TrialResult, WorstFlow, scale_at, stats_goal, system_loads};
use simulate::Simulator;
use stats::search::{Budget, GoalOutcome};

use crate::rig::{MS, SECOND, cell, constant, design};

/// Time of the server of each writer for a sample: its capacity is 2,000 samples/s.
const SERVICE: (&str, &str) = ("service", "500us");
const CAPACITY: f64 = 2_000.0;
const WIDTH: f64 = 0.05;

fn flow(name: &str, samples: u64, deadline_ms: u64, missed_ppm: u32) -> Flow {
    let deadline = Deadline { deadline_ns: deadline_ms * MS, missed_ppm };
    Flow { deadline: Some(deadline), ..Flow::new(name, 64, constant(samples)) }
}

fn plan() -> Search {
    let usual = Search::default();
    let goal = SearchGoal {
        aim: GoalKind::System,
        deadline_ns: None,
        final_trial_ns: SECOND,
        duration_sum_ns: 3 * SECOND,
        initial_trial_ns: SECOND / 5,
        loss_ratio: 0.0,
        exceed_ratio: 0.5,
        width: WIDTH,
    };
    let scales = ScaleRange { lowest: Scale::nearest(0.1), highest: Scale::nearest(50.0) };
    Search { goals: vec![goal], scales: Some(scales), ..usual }
}

/// Result of a search: its outcome, and the worst flow of each bad trial by its scale in millionths.
struct SearchOutcome {
    outcome: GoalOutcome,
    worst: BTreeMap<u64, Vec<WorstFlow>>,
    all_sps: f64,
}

/// Executes a search as the runner does, with simulated trials.
fn search(flows: Vec<Flow>, reliable: bool, options: &[(&str, &str)]) -> SearchOutcome {
    let plan = plan();
    let Cell { id, factors } = cell(Workload::Search, reliable, 0, options);
    let factors = Factors { flows, ..factors };
    let loads = system_loads(&plan, &factors).expect("flows");
    let all_sps = factors.offered_load().expect("rates").written_sps;
    let goals = plan.goals.iter().map(stats_goal).collect();
    let budget = Budget { trials: 200, duration_ns: 200 * SECOND };
    let mut search = stats::search::Search::new(goals, loads, budget).expect("a search");
    let mut simulator = Simulator::new();
    let mut worst: BTreeMap<u64, Vec<WorstFlow>> = BTreeMap::new();
    let mut number = 0;
    while let Some(trial) = search.next_trial() {
        number += 1;
        let scale = scale_at(&factors, trial.load_sps).expect("flows");
        let cell = Cell { id: id.clone(), factors: factors.at_scale(scale) };
        let design = Design { seed: number, ..design(trial.duration_ns) };
        let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
        let run = simulator.run(&cell, &design, scheduled).unwrap_or_else(|error| panic!("{error}")).run;
        let shown = TrialResult::of_system(&run, &cell.factors.flows, trial.duration_ns).expect("a plan");
        let judged = shown.judge(&plan.goals);
        if !judged[0].good {
            let bad = worst.entry((trial.load_sps * 1e6) as u64).or_default();
            bad.extend(shown.system.and_then(|system| system.worst));
        }
        search.record(trial, &[judged[0].violation_ratio]).expect("asked for");
    }
    SearchOutcome { outcome: search.outcome(0), worst, all_sps }
}

/// Checks that the headroom is the planted one within the resolution, and that this flow fails first.
#[track_caller]
fn assert_headroom(found: &SearchOutcome, planted: f64, first: &str) {
    let GoalOutcome::Regular { lower, upper, throughput_sps } = found.outcome else {
        panic!("{:?}", found.outcome)
    };
    let [low, high] = [lower, upper].map(|bound| bound.load_sps / found.all_sps);
    // A load just above the capacity shows only when its backlog has grown to the deadline.
    assert!(low <= planted * 1.02 && high >= planted * 0.999, "{low} to {high}, planted {planted}");
    assert!(high - low <= WIDTH * high * 1.000_001, "{low} to {high}");
    assert!((throughput_sps - lower.load_sps).abs() < 1e-6, "good trials keep all limits");
    let worst = &found.worst[&((upper.load_sps * 1e6) as u64)];
    assert!(!worst.is_empty() && worst.iter().all(|worst| worst.flow == first), "{worst:?}");
    assert!(worst.iter().all(|worst| worst.missed_pct > worst.limit_pct), "{worst:?}");
}

#[test]
fn headroom_is_that_of_the_flow_with_the_highest_rate() {
    for (imu, commands, first) in [(500, 100, "imu"), (100, 400, "commands")] {
        let flows = vec![flow("imu", imu, 2, 1_000), flow("commands", commands, 2, 1_000)];
        let found = search(flows, true, &[SERVICE, ("queue", "1000"), ("latency", "100us")]);
        assert_headroom(&found, CAPACITY / imu.max(commands) as f64, first);
    }
}

#[test]
fn system_that_is_not_carried_has_a_headroom_below_1() {
    let flows = vec![flow("imu", 5_000, 2, 1_000), flow("commands", 100, 2, 0)];
    let found = search(flows, true, &[SERVICE, ("queue", "1000"), ("latency", "100us")]);
    assert_headroom(&found, 0.4, "imu");
}

#[test]
fn lost_samples_are_missed_and_background_flows_do_not_count() {
    // Best effort: what exceeds the capacity is dropped. 1 % of the IMU may be: 2,020/s of 2,000/s, and no command.
    let map = Flow { background: true, ..flow("map", 1_500, 2, 0) };
    let flows = vec![flow("imu", 500, 100, 10_000), flow("commands", 100, 100, 0), map];
    let found = search(flows, false, &[SERVICE, ("queue", "4"), ("full", "drop"), ("latency", "100us")]);
    assert_headroom(&found, 4.04, "imu");
}

#[test]
fn latency_above_a_deadline_is_not_a_matter_of_scale() {
    let flows = vec![flow("imu", 500, 20, 1_000), flow("stop", 100, 4, 1_000)];
    let found = search(flows, true, &[SERVICE, ("latency", "5ms")]);
    assert!(matches!(found.outcome, GoalOutcome::FloorFails { .. }), "{:?}", found.outcome);
    assert!(found.worst.values().flatten().all(|worst| worst.flow == "stop"), "{:?}", found.worst);
}

#[test]
fn system_of_an_ideal_middleware_has_no_limit_in_the_range() {
    let flows = vec![flow("imu", 50, 20, 1_000), flow("commands", 10, 20, 0)];
    let found = search(flows, true, &[("latency", "100us")]);
    let GoalOutcome::CeilingHolds { lower, .. } = found.outcome else { panic!("{:?}", found.outcome) };
    assert!((lower.load_sps / found.all_sps - 50.0).abs() < 1e-9, "{lower:?}");
}
