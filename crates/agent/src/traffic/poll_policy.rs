//! Polling policy of reader threads.

use experiment::{ReaderSpec, ReceiveMode};

use crate::base::{clock::now_ns, sleep_spin_timer::sleep_until};

/// Policy of a thread that receives: wait in the driver, or poll. Polling repeats at once after a call that
/// returned samples, else after the polling delay, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollPolicy {
    /// Whether thread polls: it never waits in the driver.
    pub(crate) polling: bool,
    pause_ns: u64,
    /// Earliest time of the next call, ns of `CLOCK_MONOTONIC`; 0: at once.
    next_ns: u64,
}

impl PollPolicy {
    /// Creates the policy of a reader.
    #[must_use]
    pub fn of_reader(reader: &ReaderSpec) -> Self {
        let polling = reader.receive == ReceiveMode::Polling;
        let pause_ns = reader.polling_delay_ns.filter(|_| polling).unwrap_or(0);
        Self { polling, pause_ns, next_ns: 0 }
    }

    /// Returns the timeout of a receive call in ns: 0 if polling, else `wait_ns`.
    #[must_use]
    pub const fn timeout_ns(&self, wait_ns: u64) -> u64 {
        if self.polling { 0 } else { wait_ns }
    }

    /// Sleeps until the next call is due, at most until `end_ns`. Returns whether it is due.
    #[inline]
    pub fn is_time(&mut self, end_ns: u64) -> bool {
        if self.next_ns == 0 {
            return true;
        }
        sleep_until(self.next_ns.min(end_ns), now_ns());
        let is_time = self.next_ns <= end_ns;
        if is_time {
            self.next_ns = 0;
        }
        is_time
    }

    /// Records how many samples a call returned: after none, the next call is due after the polling delay.
    #[inline]
    pub fn after_poll(&mut self, samples: u32) {
        if samples == 0 && self.pause_ns > 0 {
            self.next_ns = now_ns() + self.pause_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn poll_policy(pause_ns: u64) -> PollPolicy {
        PollPolicy { polling: true, pause_ns, next_ns: 0 }
    }

    #[test]
    fn empty_poll_is_followed_by_the_polling_delay() {
        let mut poll_policy = poll_policy(200 * MS);
        let begin_ns = now_ns();
        assert!(poll_policy.is_time(begin_ns));
        poll_policy.after_poll(3);
        assert!(poll_policy.is_time(begin_ns));
        poll_policy.after_poll(0);
        assert!(!poll_policy.is_time(now_ns()));
        while !poll_policy.is_time(now_ns() + 20 * MS) {}
        assert!(now_ns() - begin_ns >= 200 * MS);
        // the delay is over
        assert!(poll_policy.is_time(0));
    }

    #[test]
    fn polling_without_delay_never_waits() {
        let mut poll_policy = poll_policy(0);
        poll_policy.after_poll(0);
        assert!(poll_policy.is_time(0));
    }
}
