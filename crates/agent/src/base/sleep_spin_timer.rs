//! Waits until a given time: sleep, then spin.
//!
//! A sleep ends late, because the kernel and an idle core need time to wake a thread. This overshoot is measured at
//! the start, on the core that will wait. A wait sleeps until that long before its end, then reads the clock in a
//! loop.

use nix::{
    sys::{prctl::set_timerslack, time::TimeSpec},
    time::{ClockId, ClockNanosleepFlags, clock_nanosleep},
};

use crate::base::clock::{now_ns, to_monotonic};

/// Calibration: number of sleeps, length of each, and time limit of all, in ns.
const SLEEPS: usize = 50;
const SLEEP_NS: u64 = 200_000;
const CALIBRATION_NS: u64 = 40_000_000;
/// Shortest and longest spin of a wait, in ns.
const MIN_SPIN_NS: u64 = 20_000;
const MAX_SPIN_NS: u64 = 300_000;

/// Wait strategy of a thread. Must be created on that thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepSpinTimer {
    /// Time in ns for which each wait spins; 0: waits only sleep.
    pub(crate) spin_ns: u64,
}

impl SleepSpinTimer {
    /// Sets the timer slack of this thread to 1 ns and measures how late its sleeps end. `spin`: whether a wait may
    /// spin; otherwise it only sleeps.
    #[must_use]
    pub fn calibrated(spin: bool) -> Self {
        // On failure sleeps only end later, which is measured: waits then spin longer.
        let _ = set_timerslack(1);
        Self { spin_ns: if spin { spin_for(&mut overshoots()) } else { 0 } }
    }

    /// Sets the timer slack of the calling thread, which waits as the thread that calibrated the timer.
    #[must_use]
    pub fn on_this_thread(self) -> Self {
        let _ = set_timerslack(1);
        self
    }

    /// Waits until `at_ns`, from `now_ns` on. Returns the last time read, at or after `at_ns`.
    #[inline]
    pub fn until(&self, at_ns: u64, now_ns: u64) -> u64 {
        if self.spin_ns == 0 {
            return sleep_until(at_ns, now_ns);
        }
        let mut now = now_ns;
        if at_ns.saturating_sub(now) > self.spin_ns {
            now = sleep_until(at_ns - self.spin_ns, now);
        }
        while now < at_ns {
            std::hint::spin_loop();
            now = self::now_ns();
        }
        now
    }
}

/// Sleeps until `at_ns`, without spinning. Returns the last time read.
pub fn sleep_until(at_ns: u64, now_ns: u64) -> u64 {
    let mut now = now_ns;
    while now < at_ns {
        let on_host_ns = to_monotonic(at_ns);
        let until = TimeSpec::new((on_host_ns / 1_000_000_000) as i64, (on_host_ns % 1_000_000_000) as i64);
        // a signal may end the sleep early: the clock decides
        let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until);
        now = self::now_ns();
    }
    now
}

/// Measures how late sleeps end on this core, in ns.
fn overshoots() -> Vec<u64> {
    let mut found = Vec::with_capacity(SLEEPS);
    let begin_ns = now_ns();
    let mut now = begin_ns;
    while found.len() < SLEEPS && now - begin_ns < CALIBRATION_NS {
        let at_ns = now + SLEEP_NS;
        now = sleep_until(at_ns, now);
        found.push(now - at_ns);
    }
    found
}

/// Returns 1.5 times the 95th percentile of the overshoots, within the limits. The longest overshoots are caused by
/// other processes; spinning does not help against them.
fn spin_for(overshoots: &mut [u64]) -> u64 {
    overshoots.sort_unstable();
    let rank = (overshoots.len() * 95 / 100).min(overshoots.len().saturating_sub(1));
    let most = overshoots.get(rank).copied().unwrap_or(MAX_SPIN_NS);
    (most + most / 2).clamp(MIN_SPIN_NS, MAX_SPIN_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_ends_early() {
        for pace in [SleepSpinTimer::calibrated(true), SleepSpinTimer::calibrated(false)] {
            for distance in [0, 1, 1_000, 50_000, 400_000, 2_000_000] {
                let now = now_ns();
                let at_ns = now + distance;
                let seen_ns = pace.until(at_ns, now);
                assert!(seen_ns >= at_ns && seen_ns <= now_ns(), "{pace:?} {distance}");
            }
            // a time that has passed costs no clock read
            assert_eq!(pace.until(5, 9), 9);
        }
    }

    #[test]
    fn spin_time_covers_most_overshoots() {
        let mut calm: Vec<_> = (0..50).map(|i| 40_000 + i * 100).collect();
        assert_eq!(spin_for(&mut calm), (40_000 + 47 * 100) * 3 / 2);
        let mut disturbed = calm.clone();
        disturbed[49] = 9_000_000;
        assert_eq!(spin_for(&mut disturbed), spin_for(&mut calm));
        assert_eq!(spin_for(&mut [1; 50]), MIN_SPIN_NS);
        assert_eq!(spin_for(&mut [9_000_000; 3]), MAX_SPIN_NS);
        assert_eq!(spin_for(&mut []), MAX_SPIN_NS);
        assert_eq!(SleepSpinTimer::calibrated(false).spin_ns, 0);
        assert!((MIN_SPIN_NS..=MAX_SPIN_NS).contains(&SleepSpinTimer::calibrated(true).spin_ns));
    }
}
