//! Set of the sequence numbers that a reader received from one writer. It counts delivered and missing samples
//! independently.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use crate::rate::Arrivals;

/// Maximum distance behind the newest sample at which a late sample and a duplicate can be distinguished.
const REACH: u64 = 1 << 20;

/// Set of sequence numbers. Constant memory: it stores the last 2^20 numbers individually.
#[derive(Debug)]
pub struct SequenceSet {
    /// Ring of bits; those at most `REACH` behind `next` are in use.
    bits: Box<[u64]>,
    /// One more than the highest number received.
    next: u64,
    delivered: u64,
    missing: u64,
    duplicate: u64,
    out_of_order: u64,
    beyond_reach: u64,
}

impl Default for SequenceSet {
    fn default() -> Self {
        // writes all pages first, so that the hot path causes no page fault; an optimizer may not leave it out
        let mut bits = vec![u64::MAX; (REACH / 64) as usize].into_boxed_slice();
        black_box(&mut bits);
        bits.fill(0);
        Self { bits, next: 0, delivered: 0, missing: 0, duplicate: 0, out_of_order: 0, beyond_reach: 0 }
    }
}

/// Returns the number with these 32 low bits that is nearest to the expected number.
#[inline]
#[must_use]
pub const fn nearest(expected: u64, low_bits: u32) -> u64 {
    let distance = low_bits.wrapping_sub(expected as u32).cast_signed() as i64;
    match expected.checked_add_signed(distance) {
        Some(number) => number,
        None => low_bits as u64,
    }
}

impl SequenceSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the full sequence number for its 32 low bits: the one nearest to the expected number.
    #[inline]
    #[must_use]
    pub const fn unwrap(&self, sent: u32) -> u64 {
        nearest(self.next, sent)
    }

    /// Inserts a number. Returns whether it is new.
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

    /// Returns the number of distinct samples.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns one more than the highest number received.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the counts of this set. The fields that only the reader knows have their default.
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

/// Samples that one reader received from one writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Received {
    /// Number of the writer.
    pub writer: u16,
    /// Number of distinct samples, counted one by one.
    pub delivered: u64,
    /// Number of missing samples below the highest number, counted as gaps open and close.
    pub missing: u64,
    /// One more than the highest number received.
    pub next: u64,
    /// Number of duplicates.
    pub duplicate: u64,
    /// Number of samples that arrived after a later one; with keys, after a later one of their instance.
    pub out_of_order: u64,
    /// Number of samples so late that they cannot be distinguished from duplicates.
    pub beyond_reach: u64,
    /// Number of samples with a wrong size, a wrong key, a damaged header or a damaged payload.
    pub corrupt: u64,
    /// Number of samples that the sink received since the reader was opened, counted before any check.
    pub given: u64,
    /// Payload of these samples, in bytes.
    pub given_bytes: u64,
    /// Number of samples that the driver reports to have returned from takes. Null for listeners.
    pub taken: Option<u64>,
    /// Number of these samples that belong to the warm-up.
    pub warm_up: u64,
    /// Number of these samples with a wrong size.
    pub wrong_size: u64,
    /// Number of these samples whose loan the driver overwrote while it was read.
    pub overwritten: u64,
    /// Number of these samples that do not belong to this run.
    pub foreign: u64,
    /// Number of these samples that the content filter of the reader excludes. The other counts of distinct samples are of
    /// those that it includes, numbered without gaps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub excluded: u64,
    /// Number of samples of which every byte was checked.
    pub checked_in_full: u64,
    /// Payload of the distinct samples, in bytes.
    pub bytes: u64,
    /// Arrival of the first distinct sample, in ns; 0 without samples.
    pub first_ns: u64,
    /// Arrival of the last distinct sample, in ns.
    pub last_ns: u64,
    /// Length of a window of `window_delivered`, in ns.
    pub window_ns: u64,
    /// Number of distinct samples in each window from the first sample on. After the planned windows, one more has
    /// the rest.
    pub window_delivered: Vec<u64>,
    /// Minimum time from the start of a write call to the arrival, in ns. Between hosts it has the error of their clocks, and
    /// may be negative.
    pub quickest_ns: i64,
    /// Arrivals of distinct samples from the first one on, with a much finer resolution.
    pub arrivals: Arrivals,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is that of serde")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Received {
    /// Returns the time from the first arrival until this number of distinct samples had arrived, in ns: to the start of an
    /// arrival window, but exact for all of them.
    #[must_use]
    pub fn ns_of_first(&self, samples: u64) -> u64 {
        if samples >= self.delivered {
            return self.last_ns.saturating_sub(self.first_ns);
        }
        self.arrivals.time_of(samples)
    }

    /// Returns the number of distinct samples that had arrived at this time. It is exact before the first and from
    /// the last sample on. In between it is exact except for one arrival window, of which it counts a proportional
    /// share.
    #[must_use]
    pub fn delivered_by(&self, at_ns: u64) -> u64 {
        if at_ns >= self.last_ns {
            return self.delivered;
        }
        let last_ns = self.last_ns.saturating_sub(self.first_ns);
        at_ns
            .checked_sub(self.first_ns)
            .map_or(0, |after_ns| self.arrivals.within(after_ns, last_ns).min(self.delivered))
    }
}
