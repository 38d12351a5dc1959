//! Times of an agent on another host than the reference. The conversion is of the whole process, so this is the only
//! test of its program.

use agent::base::{
    clock::{from_monotonic, monotonic_ns, now_ns, set_timeline, to_monotonic},
    sleep_spin_timer::{SleepSpinTimer, sleep_until},
};
use control::Timeline;

#[test]
fn all_times_are_of_the_reference_and_sleeps_end_there() {
    assert!(set_timeline(&Timeline::IDENTITY), "the identity needs no conversion");
    let (before, now, after) = (monotonic_ns(), now_ns(), monotonic_ns());
    assert!(before <= now && now <= after);

    let timeline = Timeline { offset_ns: 1_000_123_456_789, slope: -40e-6, t0_ns: before, error_ns: 5 };
    assert!(set_timeline(&timeline) && set_timeline(&timeline));
    assert!(!set_timeline(&Timeline { offset_ns: 7, ..timeline }), "a second conversion is rejected");
    let (before, now, after) = (monotonic_ns(), now_ns(), monotonic_ns());
    assert!(timeline.on_reference(before) <= now && now <= timeline.on_reference(after));
    assert_eq!(from_monotonic(before), timeline.on_reference(before));
    assert!(to_monotonic(from_monotonic(before)).abs_diff(before) <= 1);

    let wall = std::time::Instant::now();
    for timer in [SleepSpinTimer::calibrated(true), SleepSpinTimer::calibrated(false)] {
        let now = now_ns();
        assert!(timer.until(now + 2_000_000, now) >= now + 2_000_000);
    }
    let now = now_ns();
    assert!(sleep_until(now + 3_000_000, now) >= now + 3_000_000);
    // A sleep until a time of the wrong clock would return at once, or last 1,000 s.
    assert!(wall.elapsed().as_millis() >= 7, "{wall:?}");
}
