use proptest::prelude::*;

use super::*;
use crate::factors::load::Trace;

const HOUR_NS: u64 = 3_600_000_000_000;

fn rate(samples: u64, period_ns: u64) -> Rate {
    Rate { samples, period_ns }
}

fn schedule(load: &Load) -> Schedule {
    Schedule::new(load, 1, 0, Arc::default()).expect("with intended times")
}

fn trace(times: &[u64]) -> Load {
    let trace = Trace {
        file: "times".to_owned(),
        sha256: String::new(),
        samples: times.len() as u64,
        length_ns: times.last().copied().unwrap_or(0),
        sizes: None,
    };
    Load::Trace { trace }
}

proptest! {
    /// Rates from 1 per 1,000 s to 10 million per second, including the scale of `Rate::nearest`.
    #[test]
    fn constant_times_are_exact_and_do_not_drift(
        samples in 1_u64..10_000_000_000_000,
        period_ns in prop_oneof![Just(1_000_000_000_u64), Just(1_000_000_000_000_000), 1_u64..1_000_000_000_000],
        first in 0_u64..40_000_000_000,
    ) {
        let rate = rate(samples, period_ns);
        let load = Load::Constant { rate };
        let exact = |i: u64| u64::try_from(u128::from(i) * u128::from(period_ns) / u128::from(samples)).ok();
        for (i, at_ns) in schedule(&load).take(1_000).enumerate() {
            prop_assert_eq!(Some(at_ns), exact(i as u64));
        }
        let mut times = SendTimes::new(schedule(&load), u64::MAX);
        for i in (first..first + 100).chain([first, 0, 1, first + 7]) {
            prop_assert_eq!(times.at(i), exact(i).filter(|&at_ns| at_ns < u64::MAX));
        }
    }

    #[test]
    fn planned_count_is_the_number_of_times_before_the_end(
        samples in 1_u64..20_000,
        period_ns in 1_u64..30_000_000,
        until_ns in 0_u64..200_000,
        gone in 0_usize..500,
        seed in any::<u64>(),
    ) {
        // At most a few thousand samples.
        let rate = rate(samples.min(period_ns / 50 + 1), period_ns);
        for load in [Load::Constant { rate }, Load::Burst { rate }, Load::Poisson { rate }] {
            for gone in [0, gone] {
                let rest = || {
                    let mut schedule = Schedule::new(&load, seed, 3, Arc::default()).expect("with intended times");
                    schedule.by_ref().take(gone).for_each(drop);
                    schedule
                };
                let counted = rest().take_while(|&at_ns| at_ns < until_ns).count() as u64;
                prop_assert_eq!(rest().planned(until_ns), counted, "{} after {}", load, gone);
            }
        }
    }

    #[test]
    fn times_never_decrease_and_both_ends_agree(
        samples in 1_u64..5_000,
        period_ns in 1_u64..1_000_000_000,
        seed in any::<u64>(),
        flow in 0_usize..9,
        given in prop::collection::vec(0_u64..1_000, 0..300),
        order in prop::collection::vec(0_u64..600, 1..300),
        reach in 600_u64..1_000,
    ) {
        let rate = rate(samples, period_ns);
        let mut given = given;
        given.sort_unstable();
        for load in [Load::Constant { rate }, Load::Burst { rate }, Load::Poisson { rate }, trace(&given)] {
            let schedule = || Schedule::new(&load, seed, flow, given.clone().into()).expect("with intended times");
            let all: Vec<_> = schedule().take(600).collect();
            prop_assert!(all.is_sorted());
            // The times of a million samples, of which every page is touched, would take most of this test.
            let mut times = SendTimes::with_reach(schedule(), u64::MAX, reach);
            for &sequence in &order {
                prop_assert_eq!(times.at(sequence), all.get(sequence as usize).copied(), "{} {}", load, sequence);
            }
        }
    }

    /// Any rate and sequence number, as in a file of unknown origin.
    #[test]
    fn nothing_overflows(samples: u64, period_ns: u64, sequence: u64, until_ns: u64) {
        let rate = rate(samples, period_ns);
        for load in [Load::Constant { rate }, Load::Burst { rate }] {
            let _ = schedule(&load).planned(until_ns);
            schedule(&load).take(50).for_each(drop);
            let mut times = SendTimes::new(schedule(&load), until_ns);
            prop_assert!(times.at(sequence).is_none_or(|at_ns| at_ns < until_ns));
            times.at(sequence.saturating_sub(1));
        }
    }
}

#[test]
fn an_hour_at_any_rate_has_its_samples() {
    for sps in [1, 3, 7, 60, 999, 333_333, 10_000_000] {
        let load = Load::Constant { rate: Rate::per_second(sps) };
        assert_eq!(schedule(&load).planned(HOUR_NS), sps * 3_600);
        let mut times = SendTimes::new(schedule(&load), 10 * HOUR_NS);
        assert_eq!(times.at(sps * 3_600 * 9), Some(9 * HOUR_NS));
        assert_eq!(times.at(sps * 3_600 * 10), None, "not planned");
    }
}

#[test]
fn samples_of_a_burst_have_the_same_time() {
    let load = Load::Burst { rate: rate(3, 1_000) };
    let all: Vec<_> = schedule(&load).take(7).collect();
    assert_eq!(all, [0, 0, 0, 1_000, 1_000, 1_000, 2_000]);
    assert_eq!((schedule(&load).planned(1_000), schedule(&load).planned(1_001)), (3, 6));
}

#[test]
fn a_trace_is_as_given_and_ends() {
    let given = vec![0, 5, 5, 900];
    let load = trace(&given);
    let schedule = || Schedule::new(&load, 1, 0, given.clone().into()).expect("with intended times");
    assert_eq!(schedule().collect::<Vec<_>>(), given);
    assert_eq!((schedule().planned(900), schedule().planned(901)), (3, 4));
    assert_eq!(SendTimes::new(schedule(), 2_000).at(4), None);
    assert!(Schedule::new(&Load::Max, 1, 0, Arc::default()).is_none());
}

#[test]
fn poisson_distances_are_independent_and_exponential() {
    const N: usize = 50_000;
    let load = Load::Poisson { rate: Rate::per_second(1_000) };
    let times: Vec<_> =
        Schedule::new(&load, 7, 2, Arc::default()).expect("with intended times").take(N).collect();
    // Standard deviation of the time of the last sample: sqrt(N) mean intervals.
    let end = *times.last().expect("many") as f64 / 1e6;
    assert!((end - N as f64).abs() < 4.0 * (N as f64).sqrt(), "{end}");
    let mut distances: Vec<_> =
        times.iter().scan(0, |last, &at| Some((at - std::mem::replace(last, at)) as f64 / 1e6)).collect();
    // Lag-one correlation of independent intervals: 0 with a standard deviation of 1 / sqrt(N).
    let correlation =
        distances.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0)).sum::<f64>() / N as f64;
    assert!(correlation.abs() < 4.0 / (N as f64).sqrt(), "{correlation}");
    // Kolmogorov-Smirnov test: 1.95 / sqrt(N) is exceeded for one seed in 1,000.
    distances.sort_by(f64::total_cmp);
    let steps = distances.iter().enumerate().map(|(rank, &x)| {
        let expected = 1.0 - (-x).exp();
        (expected - rank as f64 / N as f64).abs().max((expected - (rank + 1) as f64 / N as f64).abs())
    });
    let largest = steps.fold(0.0, f64::max);
    assert!(largest < 1.95 / (N as f64).sqrt(), "{largest}");
}

#[test]
fn poisson_times_hang_on_seed_and_flow_alone() {
    let load = Load::Poisson { rate: Rate::per_second(1_000) };
    let first = |seed, flow| {
        Schedule::new(&load, seed, flow, Arc::default())
            .expect("with intended times")
            .take(50)
            .collect::<Vec<_>>()
    };
    assert_eq!(first(1, 0), first(1, 0));
    assert_ne!(first(1, 0), first(1, 1));
    assert_ne!(first(1, 0), first(2, 0));
    // Fixed values: results must stay reproducible.
    assert_eq!(first(1, 0)[..3], [910_095, 3_431_039, 3_947_614]);
}

#[test]
fn a_number_beyond_the_plan_or_long_gone_has_no_time() {
    let (until_ns, reach) = (50_000_000, 4_096);
    let load = Load::Poisson { rate: Rate::per_second(1_000_000) };
    let mut times = SendTimes::with_reach(schedule(&load), until_ns, reach);
    let planned = schedule(&load).planned(until_ns);
    assert!(planned > 2 * reach, "{planned}");
    assert_eq!(times.at(u64::MAX), None);
    assert_eq!(times.at(planned), None);
    assert!(times.at(planned - 1).is_some());
    assert!(times.at(planned - reach + 1).is_some());
    assert_eq!(times.at(planned - reach - 1), None, "older than what is kept");
}
