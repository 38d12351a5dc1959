//! Batching: a writer flushes by the rule of [`results::BatchPolicy`].

use driver_host::Writer;
use experiment::WriterSpec;
use results::Batches;

use crate::{
    base::error::AgentError,
    traffic::retry::{RetryCounts, flush},
};

/// Batching state of a writer.
#[derive(Debug)]
pub struct BatchFlusher(results::BatchPolicy);

impl BatchFlusher {
    /// Creates the state of a writer.
    #[must_use]
    pub fn new(writer: &WriterSpec) -> Self {
        Self(results::BatchPolicy::new(writer.batch_bytes, writer.batching, writer.stream.size_bytes))
    }

    /// Resets the state: nothing held back, nothing flushed.
    pub const fn begin(&mut self) {
        self.0.begin();
    }

    /// Records an accepted sample. Returns whether its batch is full.
    #[inline]
    pub const fn took(&mut self) -> bool {
        self.0.took()
    }

    /// Returns whether the samples held back should leave as soon as there is time.
    #[inline]
    #[must_use]
    pub const fn is_eager(&self) -> bool {
        self.0.is_eager()
    }

    /// Sends the samples held back.
    ///
    /// # Errors
    /// Returns the driver's error, or an error if there is no room within the time limit.
    #[inline]
    pub fn flush(&mut self, writer: &Writer, tries: &mut RetryCounts) -> Result<(), AgentError> {
        if self.0.capacity_bytes() > 0 {
            flush(writer, tries)?;
            self.0.flushed();
        }
        Ok(())
    }

    /// Flushes a turbo batch after a sample was not accepted, to make room.
    ///
    /// # Errors
    /// Returns the errors of [`flush`](Self::flush).
    #[cold]
    pub fn make_room(&mut self, writer: &Writer, tries: &mut RetryCounts) -> Result<(), AgentError> {
        if self.0.makes_room() { self.flush(writer, tries) } else { Ok(()) }
    }

    /// Returns the flushed batches; `None` without batching.
    #[must_use]
    pub fn batches(&self) -> Option<Batches> {
        self.0.batches()
    }
}
