//! Queue of the last samples, for a reader with KEEP_LAST.
use std::collections::VecDeque;

use driver_kit::{Deliver, Sample};

/// The last samples in order. Buffers are reused, so a steady state needs no allocation.
#[derive(Debug)]
pub(crate) struct KeepLast {
    depth: usize,
    samples: VecDeque<Vec<u8>>,
    free: Vec<Vec<u8>>,
}

impl KeepLast {
    pub(crate) fn new(depth: usize) -> Self {
        Self { depth, samples: VecDeque::new(), free: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Delivers the oldest samples, at most `most`.
    pub(crate) fn give(&mut self, most: u32, to: &mut impl Deliver) {
        for _ in 0..most {
            let Some(sample) = self.samples.pop_front() else { return };
            to.deliver(Sample::new(&sample));
            self.free.push(sample);
        }
    }
}

/// Adds a sample, and drops the oldest one if the queue is full.
impl Deliver for KeepLast {
    fn deliver(&mut self, sample: Sample<'_>) {
        if self.samples.len() >= self.depth {
            self.free.extend(self.samples.pop_front());
        }
        let mut room = self.free.pop().unwrap_or_default();
        room.clear();
        room.extend_from_slice(sample.payload);
        self.samples.push_back(room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delivered samples, each as its first byte.
    struct TestSample(Vec<u8>);

    impl Deliver for TestSample {
        fn deliver(&mut self, sample: Sample<'_>) {
            self.0.push(sample.payload[0]);
        }
    }

    #[test]
    fn the_last_are_kept_and_given_in_their_order() {
        let mut kept = KeepLast::new(3);
        let mut given = TestSample(Vec::new());
        for round in 0..3 {
            for number in 0..10 {
                kept.deliver(Sample::new(&[number; 4]));
            }
            kept.give(2, &mut given);
            assert!(!kept.is_empty());
            kept.give(2, &mut given);
            assert!(kept.is_empty());
            assert_eq!(given.0, [7, 8, 9].repeat(round + 1));
            assert_eq!(kept.free.len(), 3, "memory is used again");
        }
    }
}
