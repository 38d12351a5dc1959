//! Repetition of writes of a relay, or of the thread that echoes for a listener, that are not accepted.

use std::time::{Duration, Instant};

use driver_host::{DriverError, WriteOutcome};

use crate::traffic::retry::{FIRST_BACKOFF, LONGEST_BACKOFF, RetryCounts};

/// Time for which a write is repeated. Node 1 counts a sample as lost after at least this time, so it need not go
/// further, and a full ring moves on.
const LIMIT: Duration = Duration::from_millis(200);

/// Repetition of writes, up to a time limit. After a sample that was given up, the next ones have one attempt each until
/// one is accepted: the samples that wait behind it do not take the time limit each.
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    limit: Duration,
    gave_up: bool,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { limit: LIMIT, gave_up: false }
    }
}

impl Repeats {
    /// Repeats a write that had this outcome. Returns the last outcome, and the counts of all earlier attempts.
    #[cold]
    pub fn repeat(
        &mut self,
        mut outcome: Result<WriteOutcome, DriverError>,
        mut write: impl FnMut() -> Result<WriteOutcome, DriverError>,
    ) -> (Result<WriteOutcome, DriverError>, RetryCounts) {
        let (begin, mut backoff) = (Instant::now(), FIRST_BACKOFF);
        let mut tries = RetryCounts::default();
        if self.gave_up {
            return (outcome, tries);
        }
        loop {
            if outcome.as_ref().map_or(true, |outcome| tries.accepts(*outcome)) {
                return (outcome, tries);
            }
            // A writer that does not block needs the pause after a timeout, too.
            std::thread::sleep(backoff);
            backoff = (backoff * 2).min(LONGEST_BACKOFF);
            outcome = write();
            let failed = matches!(outcome, Ok(WriteOutcome::TimedOut | WriteOutcome::Refused));
            if failed && begin.elapsed() >= self.limit {
                self.gave_up = true;
                return (outcome, tries);
            }
        }
    }

    /// Records that a write was accepted at its first attempt.
    #[inline]
    pub const fn accepted(&mut self) {
        self.gave_up = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Repeats = Repeats { limit: Duration::from_millis(20), gave_up: false };

    #[test]
    fn write_is_repeated_until_it_is_accepted() {
        let mut outcomes =
            [WriteOutcome::TimedOut, WriteOutcome::Refused, WriteOutcome::Accepted].into_iter();
        let mut repeats = Repeats { limit: Duration::from_secs(60), ..SHORT };
        let (outcome, tries) = repeats.repeat(Ok(WriteOutcome::Refused), || {
            Ok(outcomes.next().expect("no attempt after the accepted one"))
        });
        assert_eq!(outcome.expect("no error"), WriteOutcome::Accepted);
        assert_eq!((tries.timed_out, tries.refused), (1, 2));
    }

    #[test]
    fn samples_behind_one_that_was_given_up_have_one_attempt_each() {
        let mut repeats = SHORT;
        let (outcome, tries) = repeats.repeat(Ok(WriteOutcome::Refused), || Ok(WriteOutcome::Refused));
        assert_eq!(outcome.expect("no error"), WriteOutcome::Refused);
        // One attempt if the host is so busy that the first pause takes longer than the limit.
        assert!(tries.refused >= 1, "{tries:?}");
        let once = |repeats: &mut Repeats| {
            let mut attempts = 0;
            let outcome = repeats.repeat(Ok(WriteOutcome::Refused), || {
                attempts += 1;
                Ok(WriteOutcome::Accepted)
            });
            (outcome.0.expect("no error"), attempts)
        };
        assert_eq!(once(&mut repeats), (WriteOutcome::Refused, 0));
        assert_eq!(once(&mut repeats), (WriteOutcome::Refused, 0));
        repeats.accepted();
        assert_eq!(once(&mut repeats), (WriteOutcome::Accepted, 1));
    }
}
