//! When a thread that asks its readers for samples looks for them.

use experiment::{Factors, ReceiveMode};

use crate::{clock::now_ns, pace::sleep_until};

/// How a cell's readers are asked: by a wait in the driver; or by polling, again at once where something was there, and else
/// after a pause, if there is to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    polling: bool,
    pause_ns: u64,
    /// The next look is not before this time; 0: it is at once.
    next_ns: u64,
}

impl Asking {
    /// As the cell says.
    #[must_use]
    pub fn of(factors: &Factors) -> Self {
        let polling = factors.receive == ReceiveMode::Polling;
        let pause_ns = factors.queues.polling_delay_ns.filter(|_| polling).unwrap_or(0);
        Self { polling, pause_ns, next_ns: 0 }
    }

    /// Whether the thread never waits in the driver.
    #[must_use]
    pub const fn is_polling(&self) -> bool {
        self.polling
    }

    /// The time limit of a receive that may wait so long.
    #[must_use]
    pub const fn timeout_ns(&self, wait_ns: u64) -> u64 {
        if self.polling { 0 } else { wait_ns }
    }

    /// Sleeps until the next look, at most until this time. Whether it is time to look.
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

    /// Of so many samples that a look gave: after none there is a pause.
    #[inline]
    pub fn found(&mut self, samples: u32) {
        if samples == 0 && self.pause_ns > 0 {
            self.next_ns = now_ns() + self.pause_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn asking(pause_ns: u64) -> Asking {
        Asking { polling: true, pause_ns, next_ns: 0 }
    }

    #[test]
    fn after_nothing_there_is_a_pause_in_which_orders_are_heard() {
        let mut asking = asking(200 * MS);
        let begin_ns = now_ns();
        assert!(asking.is_time(begin_ns));
        asking.found(3);
        assert!(asking.is_time(begin_ns));
        asking.found(0);
        assert!(!asking.is_time(now_ns()));
        while !asking.is_time(now_ns() + 20 * MS) {}
        assert!(now_ns() - begin_ns >= 200 * MS);
        // the pause is over
        assert!(asking.is_time(0));
    }

    #[test]
    fn without_a_pause_it_is_always_time() {
        let mut asking = asking(0);
        asking.found(0);
        assert!(asking.is_time(0));
    }
}
