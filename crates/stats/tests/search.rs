//! The search, driven as by a runner, on systems of known capacity and on inconsistent systems.

#[path = "search/systems.rs"]
mod systems;

use proptest::prelude::*;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use stats::search::{Bound, Budget, Goal, GoalOutcome, Loads, Search, SearchError, Trial};
use systems::{AMPLE, Flow, LATE_FROM, NOISES, System, campaign, goals, off, search, truths};

const LOADS: Loads = Loads { floor_sps: 10.0, ceiling_sps: 1e8, start_sps: 1e5 };

fn quiet(capacity_sps: f64) -> impl FnMut(Trial) -> [f64; 3] {
    let mut system = System::new(capacity_sps, NOISES[0], 0);
    move |trial| system.ratios(trial)
}

#[test]
fn a_capacity_anywhere_in_five_decades_lies_between_bounds_of_the_goals_width() {
    let goals = goals();
    for step in 0..=100 {
        let capacity_sps = 10.0_f64.powf(2.0 + f64::from(step) / 20.0);
        for start_sps in [10.0, capacity_sps * 0.9, capacity_sps * 1.5, 1e8] {
            let found = search(&goals, Loads { start_sps, ..LOADS }, AMPLE, quiet(capacity_sps));
            assert!(found.trials.len() <= 50, "{} trials", found.trials.len());
            for (index, truth_sps) in truths(&goals, capacity_sps).into_iter().enumerate() {
                let GoalOutcome::Regular { lower, upper, throughput_sps } = found.outcomes[index] else {
                    panic!("{capacity_sps} from {start_sps}: {:?}", found.outcomes[index]);
                };
                let (low, high) = (lower.load_sps, upper.load_sps);
                assert!(low <= truth_sps && truth_sps < high, "{truth_sps}: {low} {high}");
                assert!(high - low <= goals[index].width * high, "{low} {high}");
                // conditional throughput is limited by the capacity
                let delivered = low.min(capacity_sps * if index == 2 { LATE_FROM } else { 1.0 });
                assert!((throughput_sps / delivered - 1.0).abs() < 1e-12, "{throughput_sps} {delivered}");
            }
        }
    }
}

/// With violation ratios by the product's rule. 500 searches each; seeds and the required share were fixed in
/// advance.
#[test]
fn a_disturbed_capacity_is_found_within_the_goals_width() {
    for flow in [Flow::BestEffort, Flow::Reliable] {
        for noise in &NOISES[..3] {
            let all = campaign(&goals(), flow, *noise, 500);
            for (goal, found) in goals().iter().zip(all.within_width) {
                assert!(found >= 475, "{flow:?}, {}, {}: {found} of 500", noise.name, goal.name);
            }
        }
    }
}

/// Negative control: if no trial may be bad, each stall below the capacity becomes an upper bound.
#[test]
fn a_goal_that_allows_no_bad_trial_misses_a_disturbed_capacity() {
    let goals: Vec<Goal> = goals().into_iter().map(|goal| Goal { exceed_ratio: 0.0, ..goal }).collect();
    let all = campaign(&goals, Flow::BestEffort, NOISES[2], 500);
    assert!(all.within_width.into_iter().all(|found| found < 475), "{:?}", all.within_width);
}

#[test]
fn one_bad_trial_is_forgiven_where_the_goal_allows_it() {
    let with_one_bad = |goal: Goal| {
        let mut bad = 1;
        let mut good = quiet(20_000.0);
        let found = search(&[goal], LOADS, AMPLE, |trial| {
            let full = trial.duration_ns >= 5_000_000_000;
            if full && (10_000.0..20_000.0).contains(&trial.load_sps) && bad > 0 {
                bad -= 1;
                return [0.01; 3];
            }
            good(trial)
        });
        assert_eq!(bad, 0, "it was met");
        off(found.outcomes[0], 20_000.0)
    };
    assert_eq!(with_one_bad(Goal::ndr()), Some(0.0));
    let strict = with_one_bad(Goal::ndr().strict());
    assert!(strict > Some(0.0), "{strict:?}");
}

#[test]
fn goals_share_their_trials() {
    let taken = |goals: &[Goal]| search(goals, LOADS, AMPLE, quiet(123_456.0)).trials.len();
    let (both, ndr, pdr) = (taken(&[Goal::ndr(), Goal::pdr()]), taken(&[Goal::ndr()]), taken(&[Goal::pdr()]));
    assert!(both < ndr + pdr, "{both} {ndr} {pdr}");
}

/// An upper bound found later at a lower load would invalidate a lower bound.
#[test]
fn the_lowest_load_comes_first() {
    let mut search = Search::new(goals(), LOADS, AMPLE).expect("a search");
    let first = search.next_trial().expect("a trial");
    // sustained for the first goals, which need a higher load next, and not for the last one
    search.record(first, &[0.0, 0.0, 1.0]).expect("asked for");
    let second = search.next_trial().expect("a trial");
    assert!(second.load_sps < first.load_sps, "{second:?}");
    // if that is not sustained either, no goal needs a higher load
    search.record(second, &[1.0; 3]).expect("asked for");
    assert!(search.next_trial().expect("a trial").load_sps < second.load_sps);
}

/// The longer trial also counts for the goal that needs a shorter one.
#[test]
fn longer_trial_at_the_same_load_is_first() {
    let longer = Goal { initial_trial_duration_ns: 2_000_000_000, ..Goal::pdr() };
    let search = Search::new(vec![Goal::ndr(), longer], LOADS, AMPLE).expect("a search");
    assert_eq!(search.next_trial().map(|trial| trial.duration_ns), Some(2_000_000_000));
}

#[test]
fn short_trials_come_first_and_full_ones_decide() {
    let found = search(&[Goal::ndr()], LOADS, AMPLE, quiet(123_456.0));
    let durations: Vec<u64> =
        found.trials.iter().map(|(trial, _)| trial.duration_ns / 1_000_000_000).collect();
    assert!(durations.is_sorted() && durations[0] == 1, "{durations:?}");
    // two full-length trials are enough if both agree
    let GoalOutcome::Regular { lower, upper, .. } = found.outcomes[0] else { panic!("found") };
    let full_at = |bound: Bound| {
        let full = |trial: &Trial| trial.load_sps == bound.load_sps && trial.duration_ns == 5_000_000_000;
        found.trials.iter().filter(|(trial, _)| full(trial)).count()
    };
    assert_eq!((full_at(lower), full_at(upper)), (2, 2));
    // full-length trials start where the short ones ended: at the highest good load
    let short = found.trials.iter().filter(|(trial, _)| trial.duration_ns == 1_000_000_000);
    let good =
        short.filter(|(_, ratios)| ratios[0] == 0.0).map(|(trial, _)| trial.load_sps).fold(0.0, f64::max);
    let full = found.trials.iter().map(|(trial, _)| trial).find(|trial| trial.duration_ns == 5_000_000_000);
    assert_eq!(full.map(|trial| trial.load_sps), Some(good));
    // one stage between 1 s and 60 s, because each stage is at most 8 times as long as the previous one
    let strict = search(&[Goal::ndr().strict()], LOADS, AMPLE, quiet(123_456.0));
    let mut durations: Vec<u64> = strict.trials.iter().map(|(trial, _)| trial.duration_ns).collect();
    durations.sort_unstable();
    durations.dedup();
    assert_eq!(durations, [1_000_000_000, 7_745_966_692, 60_000_000_000]);
}

#[test]
fn interval_with_one_bound_is_marked() {
    let of =
        |capacity_sps: f64, budget| search(&[Goal::ndr()], LOADS, budget, quiet(capacity_sps)).outcomes[0];
    let GoalOutcome::FloorFails { upper } = of(5.0, AMPLE) else { panic!("too much at the floor") };
    assert_eq!(upper.load_sps, 10.0);
    let GoalOutcome::CeilingHolds { lower, throughput_sps } = of(2e8, AMPLE) else { panic!("sustained") };
    assert_eq!((lower.load_sps, throughput_sps), (1e8, 1e8));
    let GoalOutcome::Unfinished { lower: None, upper: None } = of(1e4, Budget { trials: 0, ..AMPLE }) else {
        panic!("nothing was measured")
    };
    // the budget is kept, and the bounds found so far are returned
    let ten_seconds = Budget { trials: 1000, duration_ns: 25_000_000_000 };
    let found = search(&[Goal::ndr()], LOADS, ten_seconds, quiet(1e5 * 0.997));
    assert!(found.seconds <= 25.0, "{}", found.seconds);
    let GoalOutcome::Unfinished { lower: Some(lower), .. } = found.outcomes[0] else {
        panic!("{:?}", found.outcomes[0])
    };
    assert!(lower.load_sps < 1e5 && lower.trials > 1, "{lower:?}");
}

#[test]
fn invalid_search_is_rejected() {
    let error_and_hint = |goals: Vec<Goal>, loads| {
        let refused = Search::new(goals, loads, AMPLE).expect_err("refused");
        (refused.to_string(), refused.hint())
    };
    for (goals, loads, error, hint) in [
        (vec![], LOADS, "no goal to search for", "name at least one, such as `ndr`"),
        (
            vec![Goal::ndr(), Goal::ndr().strict()],
            LOADS,
            "two goals are called `ndr`",
            "give each goal a name of its own",
        ),
        (
            vec![Goal::ndr()],
            Loads { start_sps: 5.0, ..LOADS },
            "loads from 10 to 100000000 samples/s, beginning at 5, are no range",
            "use finite loads: 0 < floor < ceiling, and a start from floor to ceiling",
        ),
        (
            vec![Goal::ndr()],
            Loads { floor_sps: 0.0, ..LOADS },
            "loads from 0 to 100000000 samples/s, beginning at 100000, are no range",
            "use finite loads: 0 < floor < ceiling, and a start from floor to ceiling",
        ),
        (
            vec![Goal { initial_trial_duration_ns: 100_000_000, ..Goal::ndr() }],
            Loads { floor_sps: 9.0, ..LOADS },
            "at 9 samples/s a trial of 0.1 s has less than one sample",
            "use a floor of 10 samples/s or more, or longer trials",
        ),
    ] {
        assert_eq!(error_and_hint(goals, loads), (error.to_owned(), hint.to_owned()));
    }
    for ceiling_sps in [10.0, f64::INFINITY, f64::NAN] {
        let loads = Loads { ceiling_sps, ..LOADS };
        assert!(
            matches!(Search::new(goals(), loads, AMPLE), Err(SearchError::NoRange { .. })),
            "{ceiling_sps}"
        );
    }
}

#[test]
fn only_the_requested_trial_is_recorded_once() {
    let mut search = Search::new(goals(), LOADS, AMPLE).expect("a search");
    let first = search.next_trial().expect("a trial");
    assert_eq!(search.next_trial(), Some(first), "the same until it is recorded");
    for (ratios, error) in [
        (vec![0.0; 2], "2 violation ratios for 3 goals"),
        (vec![0.0, 1.5, 0.0], "goal `pdr`: 1.5 is not a violation ratio"),
        (vec![0.0, 0.0, f64::NAN], "goal `slo`: NaN is not a violation ratio"),
    ] {
        assert_eq!(
            search.record(first, &ratios).map_err(|refused| refused.to_string()),
            Err(error.to_owned())
        );
    }
    assert_eq!(search.next_trial(), Some(first), "nothing was recorded");
    search.record(first, &[0.0; 3]).expect("asked for");
    let again = search.record(first, &[0.0; 3]).expect_err("recorded");
    assert!(matches!(again, SearchError::NotAsked { .. }), "{again}");
}

/// A search resumes from saved trials.
#[test]
fn replayed_search_continues_at_the_same_trial() {
    let mut system = System::new(34_567.0, NOISES[3], 7);
    let found = search(&goals(), LOADS, AMPLE, |trial| system.ratios(trial));
    let mut again = Search::new(goals(), LOADS, AMPLE).expect("a search");
    for (trial, ratios) in &found.trials {
        assert_eq!(again.next_trial(), Some(*trial));
        again.record(*trial, ratios).expect("asked for");
    }
    assert_eq!(again.next_trial(), None);
    assert_eq!([0, 1, 2].map(|goal| again.outcome(goal)), found.outcomes);
}

/// Returns the best and worst exceed ratio at a load, computed directly from the definitions of MLRsearch.
fn exceed_ratios(goal: &Goal, trials: &[(u64, f64)]) -> (f64, f64) {
    let sum = |full: bool, bad: bool| -> f64 {
        let counts = trials.iter().filter(|(duration, ratio)| {
            (*duration >= goal.final_trial_duration_ns) == full && (*ratio > goal.loss_ratio) == bad
        });
        counts.map(|(duration, _)| *duration as f64).sum()
    };
    let excess = sum(false, true) - sum(false, false) * goal.exceed_ratio / (1.0 - goal.exceed_ratio);
    let bad = sum(true, true) + excess.max(0.0);
    let measured = bad + sum(true, false);
    let whole = measured.max(goal.duration_sum_ns as f64);
    (bad / whole, (bad + (whole - measured)) / whole)
}

/// Response of a system without a capacity.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// Random.
    Random,
    /// The lowest loads are the worst.
    UpsideDown,
    /// Alternately good and bad from load to load.
    Striped,
    /// Long trials fail.
    GrowsTired,
    /// Short trials fail.
    WakesUp,
    /// Alternately good and bad from trial to trial.
    Changes,
}

fn lie(lie: Lie, seed: u64) -> impl FnMut(Trial) -> [f64; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut before = false;
    move |trial| {
        let bad = match lie {
            Lie::Random => random.random_bool(0.5),
            Lie::UpsideDown => trial.load_sps < 3_000.0,
            Lie::Striped => (trial.load_sps.ln() * 40.0) as i64 % 2 == 0,
            Lie::GrowsTired => trial.duration_ns > 1_500_000_000,
            Lie::WakesUp => trial.duration_ns <= 1_500_000_000,
            Lie::Changes => !before,
        };
        before = bad;
        if bad { [random.random_range(0.1..=1.0); 3] } else { [0.0, random.random_range(0.0..0.02), 0.0] }
    }
}

fn any_goal(name: &'static str) -> impl Strategy<Value = Goal> {
    let shape = (1_u64..=5, 1_u64..=20, 1_u64..=4);
    (shape, 0.0..0.05_f64, prop_oneof![Just(0.0), Just(0.5), 0.0..0.9_f64], 0.0..0.3_f64).prop_map(
        move |((seconds, parts, sums), loss_ratio, exceed_ratio, wider)| Goal {
            name: name.to_owned(),
            final_trial_duration_ns: seconds * 1_000_000_000,
            duration_sum_ns: seconds * sums * 1_000_000_000,
            loss_ratio,
            exceed_ratio,
            width: loss_ratio.max(0.01) + wider,
            initial_trial_duration_ns: seconds * 1_000_000_000 / parts,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn search_of_an_inconsistent_system_ends_with_measured_bounds_only(
        goals in (any_goal("a"), any_goal("b"), any_goal("c")),
        start in 0.0..=1.0_f64,
        system in prop_oneof![
            Just(Lie::Random), Just(Lie::UpsideDown), Just(Lie::Striped), Just(Lie::GrowsTired),
            Just(Lie::WakesUp), Just(Lie::Changes)
        ],
        seed in any::<u64>(),
        most in prop_oneof![Just(AMPLE.trials), 0_usize..60],
    ) {
        let goals = [goals.0, goals.1, goals.2];
        let loads = Loads { floor_sps: 100.0, ceiling_sps: 1e5, start_sps: 100.0 * 1000.0_f64.powf(start) };
        let found = search(&goals, loads, Budget { trials: most, ..AMPLE }, lie(system, seed));
        prop_assert!(found.trials.len() < AMPLE.trials, "it does not end");

        for (index, goal) in goals.iter().enumerate() {
            let judged = |bound: Bound| {
                let at: Vec<(u64, f64)> = found
                    .trials
                    .iter()
                    .filter(|(trial, _)| trial.load_sps == bound.load_sps)
                    .map(|(trial, ratios)| (trial.duration_ns, ratios[index]))
                    .collect();
                assert_eq!(at.len(), bound.trials);
                exceed_ratios(goal, &at)
            };
            let (lower, upper) = match found.outcomes[index] {
                GoalOutcome::Regular { lower, upper, throughput_sps } => {
                    prop_assert!(upper.load_sps - lower.load_sps <= goal.width * upper.load_sps);
                    let least = lower.load_sps * (1.0 - goal.loss_ratio);
                    prop_assert!((least * (1.0 - 1e-12)..=lower.load_sps).contains(&throughput_sps));
                    (Some(lower), Some(upper))
                }
                GoalOutcome::FloorFails { upper } => {
                    prop_assert_eq!(upper.load_sps, 100.0);
                    (None, Some(upper))
                }
                GoalOutcome::CeilingHolds { lower, .. } => {
                    prop_assert_eq!(lower.load_sps, 1e5);
                    (Some(lower), None)
                }
                GoalOutcome::Unfinished { lower, upper } => {
                    prop_assert!(found.trials.len() == most, "only a budget leaves a goal unfinished");
                    (lower, upper)
                }
            };
            if let Some(lower) = lower {
                let (_, at_worst) = judged(lower);
                prop_assert!(at_worst <= goal.exceed_ratio + 1e-9, "{} {}", at_worst, goal.exceed_ratio);
            }
            if let Some(upper) = upper {
                let (at_best, _) = judged(upper);
                prop_assert!(at_best > goal.exceed_ratio - 1e-9, "{} {}", at_best, goal.exceed_ratio);
            }
            if let (Some(lower), Some(upper)) = (lower, upper) {
                prop_assert!(lower.load_sps < upper.load_sps);
            }
        }
    }
}
