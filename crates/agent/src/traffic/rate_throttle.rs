//! Rate control by the progress of the reader: as fast as possible, but no faster than samples are taken.
//!
//! Outstanding samples were accepted and are not known to be taken; probes show the progress of the reader. Above a
//! high mark the writer slows down to slightly less than the reader's rate. Below a low mark it speeds up in steps.
//! Between the marks it keeps its rate.

use std::sync::Arc;

use results::ThrottleStats;

use crate::traffic::probes::ReaderProgress;

/// Shortest time between two steps in ns. A step also needs news of the reader.
const STEP_NS: u64 = 1_000_000;
/// Window over which the rate of the reader is measured, in ns.
const WINDOW_NS: u64 = 20_000_000;
/// Rate of the writer above the high mark, as a fraction of the reader's.
const SLOWER: f64 = 0.95;
/// Factor by which a step below the low mark multiplies the time between two samples.
const FASTER: f64 = 0.98;
/// Shortest time between two samples in ns; below it, the rate has no limit.
const LEAST_GAP_NS: f64 = 50.0;
/// Longest delay behind its rate that the writer may catch up, in ns.
const CATCH_UP_NS: f64 = 1_000_000.0;

/// Rate control of one writer.
#[derive(Debug, Default)]
pub struct RateThrottle {
    known: Arc<ReaderProgress>,
    marks: (u64, u64),
    begin_ns: u64,
    /// Time between two samples in ns; 0: no limit.
    gap_ns: f64,
    /// Due time of the next sample in ns, from the start of the phase.
    due_ns: f64,
    next_step_ns: u64,
    /// Samples known to be taken at the last step.
    last_taken: u64,
    /// Start of the window of the reader's rate: samples known to be taken, and time in ns.
    window: (u64, u64),
    /// Time between two samples taken by the reader in ns; 0: unknown.
    reader_gap_ns: f64,
    slower: u64,
    faster: u64,
}

impl RateThrottle {
    /// Creates the control for a send queue of `queue` samples, with marks at 10 and 90 % of it.
    #[must_use]
    pub fn new(known: Arc<ReaderProgress>, queue: u64) -> Self {
        // does not overflow, whatever number an order has
        let marks = (queue / 10, queue - queue / 10);
        Self { known, marks, ..Self::default() }
    }

    /// Starts a phase of traffic. The rate stays the same.
    pub const fn begin(&mut self, begin_ns: u64) {
        (self.begin_ns, self.due_ns, self.next_step_ns) = (begin_ns, 0.0, begin_ns + STEP_NS);
        (self.last_taken, self.window, self.reader_gap_ns) = (0, (0, begin_ns), 0.0);
        (self.slower, self.faster) = (0, 0);
    }

    /// Returns when the next sample is due, in ns, after `accepted` samples.
    #[inline]
    pub fn next(&mut self, now_ns: u64, accepted: u64) -> u64 {
        if now_ns >= self.next_step_ns && self.step(now_ns, accepted) {
            // without news of the reader, at most the high mark is outstanding
            return self.next_step_ns;
        }
        if self.gap_ns == 0.0 {
            return now_ns;
        }
        let now = now_ns.saturating_sub(self.begin_ns) as f64;
        self.due_ns = (self.due_ns + self.gap_ns).max(now - CATCH_UP_NS);
        self.begin_ns + self.due_ns as u64
    }

    /// Adjusts the rate if necessary. Returns whether the writer has to wait for news of the reader.
    fn step(&mut self, now_ns: u64, accepted: u64) -> bool {
        self.next_step_ns = now_ns + STEP_NS;
        let taken = self.known.taken();
        let (low, high) = self.marks;
        let outstanding = accepted.saturating_sub(taken);
        if taken == self.last_taken {
            return self.gap_ns == 0.0 && outstanding > high;
        }
        self.last_taken = taken;
        let (from, from_ns) = self.window;
        if from == 0 {
            self.window = (taken, now_ns);
        } else if now_ns - from_ns >= WINDOW_NS {
            self.reader_gap_ns = (now_ns - from_ns) as f64 / taken.saturating_sub(from).max(1) as f64;
            self.window = (taken, now_ns);
        }
        if outstanding > high {
            if self.reader_gap_ns == 0.0 {
                return self.gap_ns == 0.0;
            }
            let gap_ns = (self.reader_gap_ns / SLOWER).max(LEAST_GAP_NS);
            if self.gap_ns == 0.0 {
                self.due_ns = now_ns.saturating_sub(self.begin_ns) as f64;
            }
            self.slower += u64::from(gap_ns > self.gap_ns);
            self.gap_ns = gap_ns;
        } else if outstanding < low && self.gap_ns > 0.0 {
            self.faster += 1;
            self.gap_ns *= FASTER;
            if self.gap_ns < LEAST_GAP_NS {
                self.gap_ns = 0.0;
            }
        }
        false
    }

    /// Returns the actions since the phase started.
    #[must_use]
    pub fn report(&self) -> ThrottleStats {
        ThrottleStats {
            low_mark: self.marks.0,
            high_mark: self.marks.1,
            slower: self.slower,
            faster: self.faster,
            rate_sps: (self.gap_ns > 0.0).then(|| 1e9 / self.gap_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates 4 s with a reader of this capacity, whose progress is known 2 ms later in steps of 100 samples.
    /// Returns the samples accepted, the most outstanding in the second half, and the report of the throttle.
    fn against(capacity_sps: f64, queue: u64) -> (u64, u64, ThrottleStats) {
        let known = Arc::new(ReaderProgress::default());
        let mut throttled = RateThrottle::new(Arc::clone(&known), queue);
        known.begin(0, false);
        throttled.begin(0);
        let (mut now, mut accepted, mut taken, mut most) = (0_u64, 0_u64, 0.0_f64, 0);
        let mut under_way = std::collections::VecDeque::new();
        let seconds = 4_000_000_000;
        while now < seconds {
            // a write takes 1 us
            let due = throttled.next(now, accepted).max(now) + 1_000;
            taken = (taken + (due - now) as f64 * capacity_sps / 1e9).min(accepted as f64);
            now = due;
            accepted += 1;
            let probe = taken as u64 / 100 * 100;
            if under_way.back().is_none_or(|(_, last)| *last < probe) && probe > 0 {
                under_way.push_back((now + 2_000_000, probe));
            }
            while under_way.len() > 1 && under_way[0].0 <= now {
                let (_, seen) = under_way.pop_front().expect("two");
                known.note_progress(seen - 1, false);
            }
            if now > seconds / 2 {
                most = most.max(accepted - taken as u64);
            }
        }
        (accepted, most, throttled.report())
    }

    #[test]
    fn throttle_settles_at_the_rate_of_the_reader() {
        for capacity in [20_000.0, 100_000.0] {
            let (accepted, most, throttle) = against(capacity, 2_000);
            let rate = accepted as f64 / 4.0;
            assert!((rate / capacity - 1.0).abs() < 0.07, "{rate} of {capacity}: {throttle:?}");
            assert!(most < 3_000, "{most} of {capacity}: {throttle:?}");
            assert!(throttle.slower > 0, "{throttle:?}");
            assert_eq!((throttle.low_mark, throttle.high_mark), (200, 1800));
        }
    }

    #[test]
    fn throttle_does_not_limit_with_a_fast_reader() {
        let (accepted, _, throttle) = against(2_000_000.0, 200_000);
        assert_eq!((throttle.slower, throttle.rate_sps), (0, None));
        assert_eq!(accepted, 4_000_000, "a write takes 1 us");
    }

    #[test]
    fn throttle_ignores_warm_up_echoes_in_the_measurement() {
        let known = ReaderProgress::default();
        known.begin(0, true);
        known.note_progress(700, true);
        assert_eq!(known.taken(), 701);
        known.begin(9, false);
        known.note_progress(800, true);
        assert_eq!(known.taken(), 0);
        known.note_progress(99, false);
        known.note_progress(50, false);
        assert_eq!(known.taken(), 100);
    }
}
