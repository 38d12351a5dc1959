//! Part of the send lag that write calls caused.
//!
//! A writer is late because it woke late, had no core, or was blocked by earlier write calls. To separate the last
//! cause, [`LagAttribution`] keeps a second clock on which only write calls take time. On this clock a sample starts when it
//! is due and the previous one is done, and takes as long as its call. Its lateness on this clock is the part of the
//! lag that calls caused.

/// Virtual clock of a writing thread on which only write calls take time.
#[derive(Clone, Copy, Debug, Default)]
pub struct LagAttribution {
    /// Time on the virtual clock at which the thread is free, ns.
    free_ns: u64,
    /// End of the call time accounted so far, ns of `CLOCK_MONOTONIC`.
    until_ns: u64,
}

impl LagAttribution {
    /// Starts the first attempt of a sample due at `due_ns`. Returns how late write calls alone made it, in ns.
    #[inline]
    pub const fn begin(&mut self, due_ns: u64, now_ns: u64) -> u64 {
        if self.free_ns < due_ns {
            self.free_ns = due_ns;
        }
        self.until_ns = now_ns;
        self.free_ns - due_ns
    }

    /// Ends an attempt. If the sample was tried before, the wait for room since then counts as call time, too.
    #[inline]
    pub const fn end(&mut self, end_ns: u64) {
        self.free_ns += end_ns.saturating_sub(self.until_ns);
        self.until_ns = end_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lag that calls caused, in ns, for samples due every 10 ns with these begin and end times of
    /// calls.
    fn attribute<const N: usize>(calls: [(u64, u64); N]) -> [u64; N] {
        let mut clock = LagAttribution::default();
        let mut due_ns = 0;
        calls.map(|(begin_ns, end_ns)| {
            due_ns += 10;
            let held = clock.begin(due_ns, begin_ns);
            clock.end(end_ns);
            held
        })
    }

    #[test]
    fn late_wake_attributes_no_lag_to_calls() {
        assert_eq!(attribute([(10, 12), (29, 31), (31, 33), (40, 42)]), [0; 4]);
    }

    #[test]
    fn long_call_delays_following_samples() {
        assert_eq!(attribute([(10, 45), (45, 47), (47, 49), (49, 51), (51, 53)]), [0, 25, 17, 9, 1]);
    }

    #[test]
    fn late_wake_and_long_call_attribute_the_part_of_the_call() {
        // woken 5 ns late, then a call of 12 ns
        assert_eq!(attribute([(15, 27), (27, 29)]), [0, 2]);
    }

    #[test]
    fn wait_for_room_counts_as_call_time() {
        let mut clock = LagAttribution::default();
        assert_eq!(clock.begin(10, 10), 0);
        // rejected, and retried later
        clock.end(11);
        clock.end(35);
        assert_eq!(clock.begin(20, 35), 15);
    }
}
