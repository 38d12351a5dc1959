//! The set of sequence numbers that a reader got from one writer: what was delivered, and, independently, what is missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Arrivals;

/// How far behind the newest sample one may come and still be told from a duplicate.
const REACH: u64 = 1 << 20;

/// The set. Constant memory: it remembers the last 2^20 numbers one by one.
#[derive(Debug)]
pub struct SequenceSet {
    /// A ring of bits; those behind `next` by at most `REACH` are in use.
    bits: Box<[u64]>,
    /// One above the highest number seen.
    next: u64,
    delivered: u64,
    missing: u64,
    duplicate: u64,
    out_of_order: u64,
    beyond_reach: u64,
}

impl Default for SequenceSet {
    fn default() -> Self {
        // all ones first: every page is touched before the hot path comes by
        let mut bits = vec![u64::MAX; (REACH / 64) as usize].into_boxed_slice();
        bits.fill(0);
        Self { bits, next: 0, delivered: 0, missing: 0, duplicate: 0, out_of_order: 0, beyond_reach: 0 }
    }
}

impl SequenceSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The full number of one of which 32 bits were sent: the nearest to what is expected next.
    #[inline]
    #[must_use]
    pub const fn unwrap(&self, sent: u32) -> u64 {
        let distance = sent.wrapping_sub(self.next as u32).cast_signed() as i64;
        match self.next.checked_add_signed(distance) {
            Some(sequence) => sequence,
            None => sent as u64,
        }
    }

    /// Takes note of one number. True if it is new.
    #[inline]
    pub fn insert(&mut self, sequence: u64) -> bool {
        let (word, bit) = ((sequence % REACH / 64) as usize, 1 << (sequence % 64));
        if sequence >= self.next {
            if sequence > self.next {
                self.skip_to(sequence);
            }
            self.bits[word] |= bit;
            self.next = sequence + 1;
        } else if self.next - sequence > REACH {
            self.beyond_reach += 1;
            return false;
        } else if self.bits[word] & bit != 0 {
            self.duplicate += 1;
            return false;
        } else {
            self.bits[word] |= bit;
            self.missing -= 1;
            self.out_of_order += 1;
        }
        self.delivered += 1;
        true
    }

    #[cold]
    fn skip_to(&mut self, sequence: u64) {
        self.missing += sequence - self.next;
        if sequence - self.next >= REACH {
            self.bits.fill(0);
        } else {
            let mut skipped = self.next;
            while skipped < sequence {
                let word = &mut self.bits[(skipped % REACH / 64) as usize];
                if skipped.is_multiple_of(64) && sequence - skipped >= 64 {
                    *word = 0;
                    skipped += 64;
                } else {
                    *word &= !(1 << (skipped % 64));
                    skipped += 1;
                }
            }
        }
    }

    /// Distinct numbers seen.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// One above the highest number seen.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// What is known, without what only the reader of the samples knows.
    #[must_use]
    pub fn received(&self, writer: u16) -> Received {
        Received {
            writer,
            delivered: self.delivered,
            missing: self.missing,
            next: self.next,
            duplicate: self.duplicate,
            out_of_order: self.out_of_order,
            beyond_reach: self.beyond_reach,
            ..Received::default()
        }
    }
}

/// What one reader got of one writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Received {
    /// The writer's number.
    pub writer: u16,
    /// Distinct samples, counted one by one.
    pub delivered: u64,
    /// Gaps below the highest number seen, counted as they open and close.
    pub missing: u64,
    /// One above the highest number seen.
    pub next: u64,
    /// Came again.
    pub duplicate: u64,
    /// Came after a later one.
    pub out_of_order: u64,
    /// Came so late that late and duplicate cannot be told apart.
    pub beyond_reach: u64,
    /// With another size, a damaged header, or damaged payload.
    pub corrupt: u64,
    /// Samples that the sink was given since the reader was opened, counted before they were looked at.
    pub given: u64,
    /// Their payload bytes.
    pub given_bytes: u64,
    /// Of the given: those that the driver says it gave. Absent of listeners.
    pub taken: Option<u64>,
    /// Of the given: samples of the warm-up.
    pub warm_up: u64,
    /// Of the given: samples of another size.
    pub wrong_size: u64,
    /// Of the given: loans that were overwritten while they were read, by the driver.
    pub overwritten: u64,
    /// Of the given: samples that are not of this run.
    pub foreign: u64,
    /// Samples of which every byte was checked.
    pub checked_in_full: u64,
    /// Payload bytes of the distinct samples.
    pub bytes: u64,
    /// When the first distinct sample came; 0: none did.
    pub first_ns: u64,
    /// When the last distinct sample came.
    pub last_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Distinct samples by window from the first one on; the last window of the planned ones is followed by the rest.
    pub window_delivered: Vec<u64>,
    /// Shortest time between the begin of a sample's write and its arrival.
    pub quickest_ns: u64,
    /// Distinct samples from the first one on, in far finer steps.
    pub arrivals: Arrivals,
}

impl Received {
    /// Returns the number of distinct samples that had arrived at this time: exact before the first and from the last one on, else but
    /// for those of one arrival window, of which it counts a share in proportion.
    #[must_use]
    pub fn delivered_by(&self, at_ns: u64) -> u64 {
        if at_ns >= self.last_ns {
            return self.delivered;
        }
        at_ns
            .checked_sub(self.first_ns)
            .map_or(0, |after_ns| self.arrivals.within(after_ns).min(self.delivered))
    }
}
