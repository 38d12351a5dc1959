//! Retries of calls that were rejected or timed out.

use std::time::{Duration, Instant};

use driver_host::{DriverError, WriteOutcome, Writer};

use crate::base::error::AgentError;

/// First wait before a rejected call is retried; doubled at each retry.
pub const FIRST_BACKOFF: Duration = Duration::from_micros(1);
/// Longest wait before a rejected call is retried.
pub const LONGEST_BACKOFF: Duration = Duration::from_millis(1);

/// Numbers of repeated calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetryCounts {
    /// Calls that timed out.
    pub timed_out: u64,
    /// Calls rejected because there was no room.
    pub refused: u64,
}

impl RetryCounts {
    /// Counts a call that was not accepted. Returns whether it was accepted.
    #[inline]
    pub const fn accepts(&mut self, outcome: WriteOutcome) -> bool {
        match outcome {
            WriteOutcome::Accepted => return true,
            WriteOutcome::TimedOut => self.timed_out += 1,
            WriteOutcome::Refused => self.refused += 1,
        }
        false
    }
}

/// Time limit of a flush with all its retries.
pub const FLUSH_LIMIT: Duration = Duration::from_secs(10);

/// Flushes, and retries while there is no room, up to [`FLUSH_LIMIT`]. Only the last attempt may exceed it.
///
/// # Errors
/// Returns the driver's error, or an error at the time limit.
pub fn flush(writer: &Writer, tries: &mut RetryCounts) -> Result<(), AgentError> {
    flush_within(FLUSH_LIMIT, tries, || writer.flush())
}

#[inline]
fn flush_within(
    limit: Duration,
    tries: &mut RetryCounts,
    mut flush: impl FnMut() -> Result<WriteOutcome, DriverError>,
) -> Result<(), AgentError> {
    let mut backoff = FIRST_BACKOFF;
    // set by the first attempt that fails: a flush that succeeds at once reads no clock
    let mut since = None;
    loop {
        if tries.accepts(flush()?) {
            return Ok(());
        }
        if since.get_or_insert_with(Instant::now).elapsed() >= limit {
            return Err(AgentError::CannotFlush { limit });
        }
        std::thread::sleep(backoff);
        backoff = (backoff * 2).min(LONGEST_BACKOFF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flush_that_blocks_ends_at_its_time_limit() {
        let mut tries = RetryCounts::default();
        let outcome = flush_within(Duration::from_millis(50), &mut tries, || {
            std::thread::sleep(Duration::from_millis(20));
            Ok(WriteOutcome::TimedOut)
        });
        assert!(matches!(outcome, Err(AgentError::CannotFlush { .. })), "{outcome:?}");
        assert!((2..=5).contains(&tries.timed_out), "{tries:?}");
    }

    #[test]
    fn flush_is_retried_until_there_is_room() {
        let mut tries = RetryCounts::default();
        let mut outcomes =
            [WriteOutcome::Refused, WriteOutcome::TimedOut, WriteOutcome::Accepted].into_iter();
        let outcome =
            flush_within(FLUSH_LIMIT, &mut tries, || Ok(outcomes.next().expect("no further attempt")));
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!((tries.timed_out, tries.refused), (1, 1));
    }
}
