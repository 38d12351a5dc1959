//! What of a send lag is time of write calls.
//!
//! A writer that is late was woken late, had no core, or was held up by the calls before. The last of these is told from the
//! others by a second clock, on which nothing takes time but calls: a sample begins when it is due, or when the one before is done,
//! and takes as long as its call took. By as much as it is late there, calls have made it late.

/// The second clock of a thread that writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calls {
    /// On that clock: when the thread is free.
    free_ns: u64,
    /// Until when the time of calls has been taken.
    until_ns: u64,
}

impl Calls {
    /// The first try of a sample that is due then begins now. By how much calls alone have made it late.
    #[inline]
    pub const fn begin(&mut self, due_ns: u64, now_ns: u64) -> u64 {
        if self.free_ns < due_ns {
            self.free_ns = due_ns;
        }
        self.until_ns = now_ns;
        self.free_ns - due_ns
    }

    /// A try has ended. Of one that was tried before, the wait for room since then is time of calls too.
    #[inline]
    pub const fn end(&mut self, end_ns: u64) {
        self.free_ns += end_ns.saturating_sub(self.until_ns);
        self.until_ns = end_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples every 10, whose calls begin and end at these times: what of each lag is time of calls.
    fn held<const N: usize>(calls: [(u64, u64); N]) -> [u64; N] {
        let mut clock = Calls::default();
        let mut due_ns = 0;
        calls.map(|(begin_ns, end_ns)| {
            due_ns += 10;
            let held = clock.begin(due_ns, begin_ns);
            clock.end(end_ns);
            held
        })
    }

    #[test]
    fn a_writer_that_is_woken_late_is_not_held_up() {
        assert_eq!(held([(10, 12), (29, 31), (31, 33), (40, 42)]), [0; 4]);
    }

    #[test]
    fn a_long_call_makes_those_behind_it_late() {
        assert_eq!(held([(10, 45), (45, 47), (47, 49), (49, 51), (51, 53)]), [0, 25, 17, 9, 1]);
    }

    #[test]
    fn of_both_the_calls_have_their_part() {
        // woken 5 late, and then a call of 12
        assert_eq!(held([(15, 27), (27, 29)]), [0, 2]);
    }

    #[test]
    fn a_wait_for_room_is_time_of_calls() {
        let mut clock = Calls::default();
        assert_eq!(clock.begin(10, 10), 0);
        // refused, and tried again later
        clock.end(11);
        clock.end(35);
        assert_eq!(clock.begin(20, 35), 15);
    }
}
