//! Rule for flushing batches, shared by agents and simulations.

use experiment::Batching;

use crate::schema::Batches;

/// Batch that a writer fills: number of held samples, and what was flushed. It decides when to flush; the caller
/// flushes.
#[derive(Clone, Debug)]
pub struct BatchPolicy {
    /// Number of samples of a full batch.
    full: u64,
    batched: bool,
    /// Whether held samples are flushed to make room for a sample that was not accepted.
    pub turbo: bool,
    held: u64,
    flushes: u64,
    samples: u64,
    largest: u64,
}

impl BatchPolicy {
    /// Creates the rule for batches of at most `batch_bytes` (0: no batching) and samples of this size.
    #[must_use]
    pub fn new(batch_bytes: u64, batching: Batching, size_bytes: u64) -> Self {
        let batched = batch_bytes > 0;
        let full = if batched { (batch_bytes / size_bytes.max(1)).max(1) } else { u64::MAX };
        let turbo = batching.is_turbo();
        Self { full, batched, turbo, held: 0, flushes: 0, samples: 0, largest: 0 }
    }

    /// Starts a phase: no sample is held, and nothing was flushed.
    pub const fn begin(&mut self) {
        (self.held, self.flushes, self.samples, self.largest) = (0, 0, 0, 0);
    }

    /// Records an accepted sample. Returns whether its batch is now full.
    #[inline]
    pub const fn took(&mut self) -> bool {
        self.held += 1;
        self.held == self.full
    }

    /// Returns the number of held samples.
    #[inline]
    #[must_use]
    pub const fn held_samples(&self) -> u64 {
        self.held
    }

    /// Returns whether the held samples are to be flushed as soon as there is time, because the batch is a turbo
    /// batch.
    #[inline]
    #[must_use]
    pub const fn is_eager(&self) -> bool {
        self.turbo && self.held > 0
    }

    /// Records a flush of the held samples.
    #[inline]
    pub fn flushed(&mut self) {
        self.flushes += 1;
        self.samples += self.held;
        self.largest = self.largest.max(self.held);
        self.held = 0;
    }

    /// Returns the flushed batches; `None` without batching.
    #[must_use]
    pub fn batches(&self) -> Option<Batches> {
        self.batched.then(|| Batches::new(self.flushes, self.samples, self.largest))
    }
}
