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
    /// When the last distinct sample came.
    pub last_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Distinct samples by window from the first one on; the last window of the planned ones is followed by the rest.
    pub window_delivered: Vec<u64>,
}

impl Received {
    /// From the first sample of all these to the last; 0 where none came.
    pub fn window_ns<'a>(all: impl IntoIterator<Item = &'a Self>) -> u64 {
        let came = all.into_iter().filter(|received| received.delivered > 0);
        let times = came.map(|received| (received.first_ns, received.last_ns));
        times
            .reduce(|(first, last), (begin, end)| (first.min(begin), last.max(end)))
            .map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Samples a second: all of them, over the writer's measured time, or over the reader's own window, from the first sample to the
    /// last, where that is longer. So it is never more than what was accepted in the writer's time, a few samples cannot
    /// make its window short, and how long samples are under way is not in it. Each time is of one clock.
    #[must_use]
    pub fn delivered_sps(&self, writing_ns: u64) -> f64 {
        match Self::window_ns([self]).max(writing_ns) {
            0 => 0.0,
            ns => self.delivered as f64 * 1e9 / ns as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn received(delivered: u64, first_ns: u64, last_ns: u64) -> Received {
        Received { delivered, first_ns: 5 * S + first_ns, last_ns: 5 * S + last_ns, ..Received::default() }
    }

    /// Of samples that were written in a second.
    fn rate(received: &Received) -> f64 {
        received.delivered_sps(S)
    }

    #[test]
    fn the_rate_is_of_all_samples_over_all_of_the_time() {
        // many takes: within the time that the first sample took
        assert_eq!(rate(&received(1_000, 40_000, S - 10_000)), 1_000.0);
        // a queue that drains after the last write
        assert_eq!(rate(&received(1_000, 0, 2 * S)), 500.0);
        // samples that are under way for long
        assert_eq!(rate(&received(1_000, 3 * S, 4 * S)), 1_000.0);
        // one take, at the end
        assert_eq!(rate(&received(26, S, S)), 26.0);
        // nothing came, or nothing was written
        assert_eq!(rate(&Received::default()), 0.0);
        assert_eq!(received(0, 0, 0).delivered_sps(0), 0.0);
    }

    #[test]
    fn the_window_of_several_readers_is_from_the_first_sample_to_the_last() {
        let [early, late, none] = [received(3, 10, 500), received(2, 200, 900), Received::default()];
        assert_eq!(Received::window_ns([&early, &late, &none]), 890);
        assert_eq!(Received::window_ns([&none]), 0);
    }

    /// A reader that had no core: 29 of 32 samples of 11 MB came in its first take, and 3 more within 2 ms, which are not 1500/s.
    #[test]
    fn a_few_samples_at_the_end_make_no_rate_of_their_own() {
        let few = received(32, 630_000_000, 632_000_000);
        assert_eq!(few.delivered_sps(632_000_000), 32e9 / 632e6);
        // nor does what comes of a reader that hears nothing after the begin
        assert_eq!(rate(&received(3, 40_000, 2_000_000)), 3.0);
    }

    #[test]
    fn times_that_contradict_each_other_have_a_rate_all_the_same() {
        assert_eq!(received(5, 900, 800).delivered_sps(0), 0.0);
        assert_eq!(received(5, 900, 800).delivered_sps(800), 5e9 / 800.0);
        assert!(received(u64::MAX, 0, 1).delivered_sps(u64::MAX).is_finite());
    }

    proptest! {
        /// Whatever came when.
        #[test]
        fn no_more_is_delivered_than_was_accepted(
            accepted in 1_u64..1 << 40,
            lost in 0.0_f64..=1.0,
            writing_ns in 1_u64..100 * S,
            first_ns in 0_u64..200 * S,
            took_ns in 0_u64..200 * S,
        ) {
            let delivered = (accepted as f64 * (1.0 - lost)) as u64;
            let received = received(delivered.min(accepted), first_ns, first_ns + took_ns);
            let rate = received.delivered_sps(writing_ns);
            prop_assert!(rate <= accepted as f64 * 1e9 / writing_ns as f64, "{rate}");
            // and all of it in the longer of the two times
            let samples = rate * writing_ns.max(took_ns) as f64 / 1e9;
            prop_assert!((samples - received.delivered as f64).abs() <= 1e-9 * samples.max(1.0), "{samples}");
        }
    }
}
