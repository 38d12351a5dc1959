//! Batches: when a writer flushes, and how many samples left with each flush.

use driver_host::Writer;
use experiment::Factors;
use results::Batches;

use crate::{
    session::AgentError,
    writer::{Tries, flush},
};

/// What a writer holds back, and what it has flushed.
#[derive(Debug)]
pub struct Packing {
    /// A batch is full with so many.
    full: u64,
    batched: bool,
    turbo: bool,
    held: u64,
    flushes: u64,
    samples: u64,
    largest: u64,
}

impl Packing {
    /// As the cell says, for samples of this size.
    #[must_use]
    pub fn new(factors: &Factors, size_bytes: u64) -> Self {
        let batched = factors.batch_bytes > 0;
        let full = if batched { (factors.batch_bytes / size_bytes.max(1)).max(1) } else { u64::MAX };
        let turbo = factors.batching.is_turbo();
        Self { full, batched, turbo, held: 0, flushes: 0, samples: 0, largest: 0 }
    }

    /// Nothing is held back, nothing was flushed.
    pub const fn begin(&mut self) {
        (self.held, self.flushes, self.samples, self.largest) = (0, 0, 0, 0);
    }

    /// The middleware took a sample. Whether its batch is full now.
    #[inline]
    pub const fn took(&mut self) -> bool {
        self.held += 1;
        self.held == self.full
    }

    /// Whether what is held back is to leave as soon as there is time.
    #[inline]
    #[must_use]
    pub const fn is_eager(&self) -> bool {
        self.turbo && self.held > 0
    }

    /// Sends what is held back.
    ///
    /// # Errors
    /// In the driver's words, or there is no room for very long.
    #[inline]
    pub fn flush(&mut self, writer: &Writer, tries: &mut Tries) -> Result<(), AgentError> {
        if self.held > 0 {
            flush(writer, tries)?;
            self.flushes += 1;
            self.samples += self.held;
            self.largest = self.largest.max(self.held);
            self.held = 0;
        }
        Ok(())
    }

    /// A sample was not taken: what waits for company in a turbo batch leaves, so that there may be room.
    ///
    /// # Errors
    /// As of [`flush`](Self::flush).
    #[cold]
    pub fn make_room(&mut self, writer: &Writer, tries: &mut Tries) -> Result<(), AgentError> {
        if self.turbo { self.flush(writer, tries) } else { Ok(()) }
    }

    /// What was flushed; none without batches.
    #[must_use]
    pub fn batches(&self) -> Option<Batches> {
        self.batched.then(|| Batches::new(self.flushes, self.samples, self.largest))
    }
}
