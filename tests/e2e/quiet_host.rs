//! Tests that measure need a host that does little else: a failure on a busy host is repeated on a quiet one.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
    time::{Duration, Instant},
};

use host::{LocalSite, Site as _};
use results::NoiseRule;

/// Executions of a test.
const ATTEMPTS: usize = 3;
/// Time for which a repetition waits for a quiet host.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Duration of a noise probe, in ns.
const PROBE_NS: u64 = 500_000_000;

/// Executes a test that measures. If it fails, it is repeated, as soon as a noise probe finds the host quiet or after a
/// minute. Prints what the probe found, so that the last failure tells whether the host was busy.
pub fn on_quiet_host(test: impl Fn()) {
    repeat(test, LONGEST_WAIT);
}

fn repeat(test: impl Fn(), longest_wait: Duration) {
    for attempt in 1..=ATTEMPTS {
        let Err(failure) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        let begin = Instant::now();
        let mut reasons = noise();
        while attempt < ATTEMPTS && !reasons.is_empty() && begin.elapsed() < longest_wait {
            thread::sleep(Duration::from_secs(1));
            reasons = noise();
        }
        let host =
            if reasons.is_empty() { "quiet".to_owned() } else { format!("busy: {}", reasons.join("; ")) };
        eprintln!(
            "attempt {attempt} of {ATTEMPTS} failed; after {} s the host was {host}",
            begin.elapsed().as_secs()
        );
        if attempt == ATTEMPTS {
            resume_unwind(failure);
        }
    }
}

/// Returns why the host is not quiet.
fn noise() -> Vec<String> {
    let rule = NoiseRule::new(PROBE_NS, false);
    let cores: Vec<u32> =
        (0..thread::available_parallelism().map_or(1, |cores| cores.get() as u32)).collect();
    match LocalSite::new("no agent").probe(&cores, &rule) {
        Ok(Some(probe)) => rule.judge(&[&probe], None),
        outcome => vec![format!("no noise probe: {outcome:?}")],
    }
}

#[test]
fn failed_test_is_repeated_and_its_last_failure_counts() {
    let attempts = std::cell::Cell::new(0);
    let failing_until = |last: usize| {
        attempts.set(0);
        let test = || {
            attempts.set(attempts.get() + 1);
            assert!(attempts.get() >= last, "attempt {}", attempts.get());
        };
        catch_unwind(AssertUnwindSafe(|| repeat(test, Duration::ZERO))).is_ok()
    };
    assert_eq!((failing_until(1), attempts.get()), (true, 1));
    assert_eq!((failing_until(3), attempts.get()), (true, 3));
    assert_eq!((failing_until(4), attempts.get()), (false, 3));
}
