//! Batching: a writer flushes by the rule of [`BatchPolicy`].

use driver_host::Writer;
use experiment::WriterSpec;
use results::BatchPolicy;

use crate::{
    base::error::AgentError,
    traffic::retry::{RetryCounts, flush},
};

/// Batching state of a writer.
#[derive(Debug)]
pub struct BatchFlusher {
    /// Rule, with what is held back.
    pub policy: BatchPolicy,
}

impl BatchFlusher {
    /// Creates the state of a writer.
    #[must_use]
    pub fn new(writer: &WriterSpec) -> Self {
        Self { policy: BatchPolicy::new(writer.batch_bytes, writer.batching, writer.stream.size_bytes) }
    }

    /// Sends the samples held back.
    ///
    /// # Errors
    /// Returns the driver's error, or an error if there is no room within the time limit.
    #[inline]
    pub fn flush(&mut self, writer: &Writer, tries: &mut RetryCounts) -> Result<(), AgentError> {
        if self.policy.held_samples() > 0 {
            flush(writer, tries)?;
            self.policy.flushed();
        }
        Ok(())
    }

    /// Flushes a turbo batch after a sample was not accepted, to make room.
    ///
    /// # Errors
    /// Returns the errors of [`flush`](Self::flush).
    #[cold]
    pub fn make_room(&mut self, writer: &Writer, tries: &mut RetryCounts) -> Result<(), AgentError> {
        if self.policy.turbo { self.flush(writer, tries) } else { Ok(()) }
    }
}
