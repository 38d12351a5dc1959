//! Retries of calls that were rejected or timed out.

use std::time::Duration;

use driver_host::{WriteOutcome, Writer};

use crate::base::error::AgentError;

/// First wait before a rejected call is retried; doubled at each retry.
pub const FIRST_BACKOFF: Duration = Duration::from_micros(1);
/// Longest wait before a rejected call is retried.
pub const LONGEST_BACKOFF: Duration = Duration::from_millis(1);

/// Numbers of repeated calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    /// Calls that timed out.
    pub timed_out: u64,
    /// Calls rejected because there was no room.
    pub refused: u64,
}

/// Flushes, and retries while there is no room.
pub fn flush(writer: &Writer, tries: &mut Tries) -> Result<(), AgentError> {
    let mut backoff = FIRST_BACKOFF;
    for _ in 0..10_000 {
        match writer.flush()? {
            WriteOutcome::Accepted => return Ok(()),
            WriteOutcome::TimedOut => tries.timed_out += 1,
            WriteOutcome::Refused => tries.refused += 1,
        }
        std::thread::sleep(backoff);
        backoff = (backoff * 2).min(LONGEST_BACKOFF);
    }
    Err(AgentError::CannotFlush)
}
