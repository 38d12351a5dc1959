//! The set of sequence numbers that a reader got from one writer: what was delivered, and, independently, what is missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Samples of which every byte was checked.
    pub checked_in_full: u64,
    /// Payload bytes of the distinct samples.
    pub bytes: u64,
    /// When the first distinct sample came; 0: none did.
    pub first_ns: u64,
    /// Distinct samples that came then, in one take. A rate from the first on does not count these.
    #[serde(default)]
    pub first_delivered: u64,
    /// When the last distinct sample came.
    pub last_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Distinct samples by window from the first one on; the last window of the planned ones is followed by the rest.
    pub window_delivered: Vec<u64>,
}

impl Received {
    /// Samples a second, over the reader's own window. That begins with its first take, whose samples came in the time before: they
    /// are not counted. Where there was no other take, the time since the begin of the first write has all.
    #[must_use]
    pub fn delivered_sps(&self, written_from_ns: u64) -> f64 {
        let (samples, from_ns) = if self.last_ns > self.first_ns {
            (self.delivered.saturating_sub(self.first_delivered), self.first_ns)
        } else {
            (self.delivered, written_from_ns)
        };
        match self.last_ns.saturating_sub(from_ns) {
            0 => 0.0,
            ns => samples as f64 * 1e9 / ns as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_take_begins_the_window_and_is_not_in_the_rate() {
        let rate = |received: Received| received.delivered_sps(1_000);
        let of = |delivered, first_delivered, last_ns| Received {
            delivered,
            first_delivered,
            first_ns: 1_500,
            last_ns,
            ..Received::default()
        };
        assert_eq!(rate(of(26, 6, 2_500)), 20e6);
        assert_eq!(rate(of(26, 1, 2_500)), 25e6);
        // all at once: since they were written
        assert_eq!(rate(of(26, 26, 1_500)), 26e9 / 500.0);
        assert_eq!(rate(Received::default()), 0.0);
    }

    /// Of a reader whose counts and times contradict each other.
    #[test]
    fn what_cannot_be_has_a_rate_all_the_same() {
        let of = |delivered, first_delivered, first_ns, last_ns| Received {
            delivered,
            first_delivered,
            first_ns,
            last_ns,
            ..Received::default()
        };
        assert_eq!(of(1, 2, 1_500, 2_500).delivered_sps(1_000), 0.0);
        assert_eq!(of(5, 5, 500, 500).delivered_sps(1_000), 0.0);
        assert_eq!(of(5, 1, 900, 800).delivered_sps(1_000), 0.0);
    }
}
