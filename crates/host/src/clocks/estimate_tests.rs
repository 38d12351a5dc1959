use proptest::prelude::*;

use super::*;

/// Two clocks with a known relation: `reference = monotonic + offset + drift * (monotonic - T0) + step`, where the step
/// counts from `step_at_ns` on.
#[derive(Clone, Copy, Debug)]
struct Truth {
    offset_ns: i64,
    drift_ppm: f64,
    step_ns: i64,
    step_at_ns: u64,
}

const T0: u64 = 1_000_000_000_000;
const SECOND: u64 = 1_000_000_000;

impl Truth {
    /// Offset at a time of the clock, in ns, with a fraction.
    fn offset_at(&self, monotonic_ns: f64) -> f64 {
        let step = if monotonic_ns >= self.step_at_ns as f64 { self.step_ns } else { 0 };
        (self.offset_ns + step) as f64 + self.drift_ppm * 1e-6 * (monotonic_ns - T0 as f64)
    }

    /// Exchanges from `at_ns` on, with these delays there, in the responder, and back, in ns.
    fn exchanges(&self, at_ns: u64, delays: &[(u32, u32, u32)]) -> Vec<ClockExchange> {
        let mut now = at_ns;
        let reference = |monotonic: u64| (monotonic as f64 + self.offset_at(monotonic as f64)).floor() as u64;
        let exchange = |&(there, within, back): &(u32, u32, u32)| {
            let sent_ns = now;
            let received = sent_ns + u64::from(there);
            let replied = received + u64::from(within);
            let returned_ns = replied + u64::from(back);
            now = returned_ns + 100;
            ClockExchange {
                sent_ns,
                received_ns: reference(received),
                replied_ns: reference(replied),
                returned_ns,
            }
        };
        delays.iter().map(exchange).collect()
    }

    fn point(&self, at_ns: u64, delays: &[(u32, u32, u32)]) -> ClockPoint {
        let reading = ClockReading { monotonic_ns: at_ns, suspended_ns: 5, uncertainty_ns: 20 };
        let offset = ClockOffset::from_exchanges(&self.exchanges(at_ns, delays)).expect("exchanges");
        ClockPoint { offset, reference: reading, other: reading }
    }

    /// Error of a timeline at a time of the clock, in ns.
    fn error_at(&self, timeline: &Timeline, monotonic_ns: u64) -> f64 {
        // Relative to the time itself, to keep the fractions of ns.
        let shift = timeline.on_reference(monotonic_ns).wrapping_sub(monotonic_ns).cast_signed();
        (shift as f64 - self.offset_at(monotonic_ns as f64)).abs()
    }
}

/// Delays of a link: asymmetric, with queues and outliers.
fn delays() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    let quiet = 5_000_u32..40_000;
    let queued = 5_000_u32..60_000_000;
    let one = prop_oneof![
        3 => (quiet.clone(), 100_u32..5_000, quiet.clone()),
        1 => (queued.clone(), 100_u32..5_000, quiet.clone()),
        1 => (quiet, 100_u32..2_000_000, queued.clone()),
        1 => (queued.clone(), 100_u32..5_000, queued),
    ];
    prop::collection::vec(one, 1..60)
}

fn truths() -> impl Strategy<Value = Truth> {
    (-600_000_000_000_i64..1_000_000_000_000_000, -500.0..500.0_f64)
        .prop_map(|(offset_ns, drift_ppm)| Truth { offset_ns, drift_ppm, step_ns: 0, step_at_ns: u64::MAX })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn bound_of_an_offset_holds(truth in truths(), delays in delays()) {
        let point = truth.point(T0, &delays);
        let error = (point.offset.offset_ns as f64 - truth.offset_at(point.offset.at_ns as f64)).abs();
        prop_assert!(error <= point.offset.error_ns as f64 + 1.0, "{error} {point:?}");
        let smallest = delays.iter().map(|(there, _, back)| u64::from(there + back)).min().expect("one");
        // Drift within an exchange of up to 122 ms changes its round trip by up to 61 us.
        prop_assert!(point.offset.rtt_ns.abs_diff(smallest) <= smallest / 1_000 + 62_000, "{point:?}");
    }

    #[test]
    fn bound_of_a_run_holds(
        truth in truths(),
        [earlier, before, after] in [delays(), delays(), delays()],
        ages_s in 10_u64..300,
        run_s in 10_u64..200,
        share in 0.0..1.0_f64,
    ) {
        let points =
            [truth.point(T0 - ages_s * SECOND, &earlier), truth.point(T0, &before)];
        let after = truth.point(T0 + run_s * SECOND, &after);
        let timeline = timeline(&points).expect("points");
        let error_ns = error_of_run(&timeline, &points[1], &after).expect("no step");
        let span = after.offset.at_ns - points[1].offset.at_ns;
        let at_ns = points[1].offset.at_ns + (span as f64 * share) as u64;
        let error = truth.error_at(&timeline, at_ns);
        prop_assert!(error <= error_ns as f64 + 2.0, "{error} {error_ns} {timeline:?}");
    }

    /// A step too small to be found is within the bound.
    #[test]
    fn step_is_found_or_within_the_bound(
        truth in truths(),
        [before, after] in [delays(), delays()],
        step_ns in -200_000_000_i64..200_000_000,
        shares in (0.0..1.0_f64, 0.0..1.0_f64),
    ) {
        let run_ns = 50 * SECOND;
        let truth = Truth { drift_ppm: 0.0, step_ns, step_at_ns: T0 + 10 * SECOND + (shares.0 * 30e9) as u64, ..truth };
        let before = truth.point(T0, &before);
        let after = truth.point(T0 + run_ns, &after);
        let timeline = timeline(&[before]).expect("a point");
        match error_of_run(&timeline, &before, &after) {
            Ok(error_ns) => {
                let error = truth.error_at(&timeline, T0 + 10 * SECOND + (shares.1 * 30e9) as u64);
                prop_assert!(error <= error_ns as f64 + 1.0, "{error} {error_ns}");
            }
            Err(fault) => prop_assert!(matches!(fault, ClockFault::Step { .. }), "{fault:?}"),
        }
    }

    #[test]
    fn times_from_the_network_never_panic(times: Vec<[u64; 4]>) {
        let exchange = |[sent_ns, received_ns, replied_ns, returned_ns]: [u64; 4]| {
            ClockExchange { sent_ns, received_ns, replied_ns, returned_ns }
        };
        let exchanges: Vec<ClockExchange> = times.into_iter().map(exchange).collect();
        if let Some(offset) = ClockOffset::from_exchanges(&exchanges) {
            let timeline = Timeline { offset_ns: offset.offset_ns, slope: 0.0, t0_ns: offset.at_ns, error_ns: 0 };
            let _ = offset.error_of(&timeline);
        }
    }
}

const TRUTH: Truth = Truth { offset_ns: 7_000_000_000, drift_ppm: 20.0, step_ns: 0, step_at_ns: u64::MAX };
const QUIET: [(u32, u32, u32); 2] = [(10_000, 200, 10_000), (500_000, 200, 12_000)];

#[test]
fn offset_is_that_of_the_smallest_round_trip() {
    let truth = Truth { drift_ppm: 0.0, ..TRUTH };
    // The outlier alone would have an error of 244 us.
    let offset = truth.point(T0, &QUIET).offset;
    assert_eq!((offset.offset_ns, offset.rtt_ns, offset.rtt_p50_ns), (7_000_000_000, 20_000, 512_000));
    assert_eq!(offset.error_ns, 10_000 + 6);
    // A delay in one direction only is the worst case: the error is half of the round trip.
    let offset = truth.point(T0, &[(20_000, 200, 0)]).offset;
    assert_eq!(offset.offset_ns, 7_000_010_000);
}

#[test]
fn drift_is_found_if_the_errors_separate_it_from_0() {
    let quiet = TRUTH.point(T0 - 10 * SECOND, &QUIET);
    let now = TRUTH.point(T0, &QUIET);
    let found = timeline(&[quiet, now]).expect("points");
    assert!((found.slope - 20e-6).abs() < 1e-9, "{found:?}");
    assert_eq!(found.t0_ns, now.offset.at_ns);
    // 200 us of drift, but errors of 1 ms
    let slow = TRUTH.point(T0 - 10 * SECOND, &[(1_000_000, 200, 1_000_000)]);
    assert_eq!(timeline(&[slow, now]).expect("points").slope, 0.0);
    assert_eq!(timeline(&[now]).expect("a point").slope, 0.0);
    // too old
    let old = TRUTH.point(T0 - 500 * SECOND, &QUIET);
    assert_eq!(timeline(&[old, now]).expect("points").slope, 0.0);
    assert_eq!(timeline(&[]), None);
}

#[test]
fn drift_restarts_after_a_jump_between_runs() {
    let series = |truth: Truth| -> Vec<ClockPoint> {
        (0..5).map(|index| truth.point(T0 + index * 10 * SECOND, &QUIET)).collect()
    };
    // A step of a virtual machine that was moved, after the second of five measurements
    let jumped = Truth { step_ns: 300_000_000, step_at_ns: T0 + 15 * SECOND, ..TRUTH };
    let stepped = series(jumped);
    // A suspension: the monotonic clock stood still for 8 s, which the other one did not
    let mut suspended = series(Truth { step_ns: 8 * SECOND as i64, ..jumped });
    suspended[2..].iter_mut().for_each(|point| point.other.suspended_ns += 8 * SECOND as i64);
    // Both hosts at the same time, so that the offset changed by no more than a drift explains
    let mut both = series(Truth { step_ns: 1_000_000, ..jumped });
    for point in &mut both[2..] {
        point.reference.suspended_ns += 8 * SECOND as i64;
        point.other.suspended_ns += 8 * SECOND as i64;
    }
    for points in [stepped, suspended, both] {
        let slope = |count: usize| timeline(&points[..count]).expect("points").slope;
        let slopes = [1, 2, 3, 4, 5].map(slope);
        for (index, drift_ppm) in [0.0, 20.0, 0.0, 20.0, 20.0].into_iter().enumerate() {
            assert!((slopes[index] - drift_ppm * 1e-6).abs() < 1e-8, "{index}: {slopes:?}");
        }
    }
}

#[test]
fn residual_drift_is_part_of_the_error() {
    let (before, after) = (TRUTH.point(T0, &QUIET), TRUTH.point(T0 + 30 * SECOND, &QUIET));
    // 20 ppm over 30 s, without a slope
    let error_ns = error_of_run(&timeline(&[before]).expect("a point"), &before, &after).expect("no step");
    assert!(error_ns.abs_diff(600_000 + 10_006) < 20, "{error_ns}");
    let earlier = TRUTH.point(T0 - 30 * SECOND, &QUIET);
    let with_slope = timeline(&[earlier, before]).expect("points");
    let error_ns = error_of_run(&with_slope, &before, &after).expect("no step");
    assert!(error_ns < 10_100, "{error_ns}");
}

#[test]
fn step_and_suspension_are_faults() {
    let stepped = Truth { step_ns: 10_000_000, step_at_ns: T0 + SECOND, ..TRUTH };
    let before = stepped.point(T0, &QUIET);
    let after = stepped.point(T0 + 2 * SECOND, &QUIET);
    let timeline = timeline(&[before]).expect("a point");
    let Err(ClockFault::Step { by_ns, .. }) = error_of_run(&timeline, &before, &after) else {
        panic!("no step");
    };
    assert!((10_000_000..10_060_000).contains(&by_ns), "{by_ns}");
    // 2 s of drift may be up to 1 ms
    let after = Truth { step_ns: 900_000, ..stepped }.point(T0 + 2 * SECOND, &QUIET);
    assert!(error_of_run(&timeline, &before, &after).is_ok_and(|error_ns| error_ns > 900_000));

    let mut after = TRUTH.point(T0 + 2 * SECOND, &QUIET);
    after.reference.suspended_ns += 1_000_000;
    let fault = error_of_run(&timeline, &before, &after);
    assert_eq!(fault, Err(ClockFault::Suspended { reference: true, by_ns: 1_000_000 }));
    after.reference.suspended_ns = before.reference.suspended_ns - 40;
    assert!(error_of_run(&timeline, &before, &after).is_ok());
}
