//! When samples that are packed leave: the rule, for agents and for virtual time.

use experiment::Factors;

use crate::Batches;

/// What a writer holds back of a stream, and what it has let go. It decides; who asks it sends.
#[derive(Clone, Debug)]
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

    /// A sample was taken. Whether its batch is full now.
    #[inline]
    pub const fn took(&mut self) -> bool {
        self.held += 1;
        self.held == self.full
    }

    /// So many samples are held back.
    #[inline]
    #[must_use]
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// Whether what is held back is to leave as soon as there is time: the batch is a turbo one.
    #[inline]
    #[must_use]
    pub const fn is_eager(&self) -> bool {
        self.turbo && self.held > 0
    }

    /// Whether what is held back leaves to make room for a sample that was not taken.
    #[must_use]
    pub const fn makes_room(&self) -> bool {
        self.turbo
    }

    /// What was held back has left.
    #[inline]
    pub fn flushed(&mut self) {
        self.flushes += 1;
        self.samples += self.held;
        self.largest = self.largest.max(self.held);
        self.held = 0;
    }

    /// What was flushed; none without batches.
    #[must_use]
    pub fn batches(&self) -> Option<Batches> {
        self.batched.then(|| Batches::new(self.flushes, self.samples, self.largest))
    }
}
