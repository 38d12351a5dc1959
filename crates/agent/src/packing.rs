//! Batches: a writer flushes when the rule of [`results::Packing`] says so.

use driver_host::Writer;
use experiment::Factors;
use results::Batches;

use crate::{
    session::AgentError,
    writer::{Tries, flush},
};

/// What a writer holds back, and what it has flushed.
#[derive(Debug)]
pub struct Packing(results::Packing);

impl Packing {
    /// As the cell says, for samples of this size.
    #[must_use]
    pub fn new(factors: &Factors, size_bytes: u64) -> Self {
        Self(results::Packing::new(factors, size_bytes))
    }

    /// Nothing is held back, nothing was flushed.
    pub const fn begin(&mut self) {
        self.0.begin();
    }

    /// The middleware took a sample. Whether its batch is full now.
    #[inline]
    pub const fn took(&mut self) -> bool {
        self.0.took()
    }

    /// Whether what is held back is to leave as soon as there is time.
    #[inline]
    #[must_use]
    pub const fn is_eager(&self) -> bool {
        self.0.is_eager()
    }

    /// Sends what is held back.
    ///
    /// # Errors
    /// In the driver's words, or there is no room for very long.
    #[inline]
    pub fn flush(&mut self, writer: &Writer, tries: &mut Tries) -> Result<(), AgentError> {
        if self.0.held() > 0 {
            flush(writer, tries)?;
            self.0.flushed();
        }
        Ok(())
    }

    /// A sample was not taken: what waits for company in a turbo batch leaves, so that there may be room.
    ///
    /// # Errors
    /// As of [`flush`](Self::flush).
    #[cold]
    pub fn make_room(&mut self, writer: &Writer, tries: &mut Tries) -> Result<(), AgentError> {
        if self.0.makes_room() { self.flush(writer, tries) } else { Ok(()) }
    }

    /// What was flushed; none without batches.
    #[must_use]
    pub fn batches(&self) -> Option<Batches> {
        self.0.batches()
    }
}
