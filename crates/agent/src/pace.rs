//! Waits until a given time: sleeps, then spins.
//!
//! A sleep ends late, by what the kernel and an idle core take to wake a thread. How late is measured at the start, on the core that will
//! wait; a wait sleeps until that long before its end, and reads the clock in a loop for the rest.

use nix::{
    sys::{prctl::set_timerslack, time::TimeSpec},
    time::{ClockId, ClockNanosleepFlags, clock_nanosleep},
};

use crate::clock::now_ns;

/// Sleeps of the calibration, how long each is, and the longest that all may take.
const SLEEPS: usize = 50;
const SLEEP_NS: u64 = 200_000;
const CALIBRATION_NS: u64 = 40_000_000;
/// A wait spins for so long at least and at most.
const MIN_SPIN_NS: u64 = 20_000;
const MAX_SPIN_NS: u64 = 300_000;

/// How a thread waits. Made on that thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    spin_ns: u64,
}

impl Pace {
    /// Asks the kernel to wake this thread without delay of its own, and measures how late it does. `spin`: whether a wait
    /// may spin; else it only sleeps.
    #[must_use]
    pub fn calibrated(spin: bool) -> Self {
        // it may only add to the time of a sleep, which is measured: without it waits spin longer
        let _ = set_timerslack(1);
        Self { spin_ns: if spin { spin_for(&mut overshoots()) } else { 0 } }
    }

    /// For so long each wait spins.
    #[must_use]
    pub const fn spin_ns(&self) -> u64 {
        self.spin_ns
    }

    /// Waits until this time. Returns the time at which that was seen, the same or later; `now_ns` is when it begins.
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

/// Only sleeps until this time. Returns the time at which that was seen.
pub fn sleep_until(at_ns: u64, now_ns: u64) -> u64 {
    let mut now = now_ns;
    while now < at_ns {
        let until = TimeSpec::new((at_ns / 1_000_000_000) as i64, (at_ns % 1_000_000_000) as i64);
        // a signal may end it early: the clock tells
        let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until);
        now = self::now_ns();
    }
    now
}

/// How late sleeps end on this core.
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

/// What most overshoots stay below, and half as much again. The few longest were disturbed by others; no spinning helps
/// against those.
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
        for pace in [Pace::calibrated(true), Pace::calibrated(false)] {
            for distance in [0, 1, 1_000, 50_000, 400_000, 2_000_000] {
                let now = now_ns();
                let at_ns = now + distance;
                let seen_ns = pace.until(at_ns, now);
                assert!(seen_ns >= at_ns && seen_ns <= now_ns(), "{pace:?} {distance}");
            }
            // a time that has passed costs no read of the clock
            assert_eq!(pace.until(5, 9), 9);
        }
    }

    #[test]
    fn it_spins_for_as_long_as_most_sleeps_are_late() {
        let mut calm: Vec<_> = (0..50).map(|i| 40_000 + i * 100).collect();
        assert_eq!(spin_for(&mut calm), (40_000 + 47 * 100) * 3 / 2);
        let mut disturbed = calm.clone();
        disturbed[49] = 9_000_000;
        assert_eq!(spin_for(&mut disturbed), spin_for(&mut calm));
        assert_eq!(spin_for(&mut [1; 50]), MIN_SPIN_NS);
        assert_eq!(spin_for(&mut [9_000_000; 3]), MAX_SPIN_NS);
        assert_eq!(spin_for(&mut []), MAX_SPIN_NS);
        assert_eq!(Pace::calibrated(false).spin_ns(), 0);
        assert!((MIN_SPIN_NS..=MAX_SPIN_NS).contains(&Pace::calibrated(true).spin_ns()));
    }
}
