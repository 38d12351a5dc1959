//! Keys of the samples of a stream, and their order within each instance.

use std::{hint::black_box, num::NonZeroU32};

use experiment::StreamSpec;

/// Keys of a stream: the sequence number of each header, modulo the number of instances, or the key of the only instance that is
/// written; 0 for a type without key.
#[derive(Clone, Copy, Debug)]
pub struct Keys(Option<KeyRange>);

/// Keys that are written in turn.
#[derive(Clone, Copy, Debug)]
struct KeyRange {
    first: u32,
    count: NonZeroU32,
}

impl KeyRange {
    /// Returns the number of the key of a sample among the keys.
    #[inline]
    const fn index(self, sequence: u32) -> u32 {
        sequence % self.count.get()
    }

    /// Returns the key of a sample. Several keys begin with 0, so no sum overflows.
    #[inline]
    const fn of(self, sequence: u32) -> u32 {
        self.first + self.index(sequence)
    }
}

impl Keys {
    /// Keys of a type without key.
    pub const NONE: Self = Self(None);

    /// Returns the keys of a stream.
    #[must_use]
    pub fn of_stream(stream: &StreamSpec) -> Self {
        let all = stream.instances.and_then(NonZeroU32::new).map(|count| KeyRange { first: 0, count });
        Self(all.map(|all| match stream.write_instance {
            Some(first) => KeyRange { first, count: NonZeroU32::MIN },
            None => all,
        }))
    }

    /// Returns the key of the sample with this sequence number in its header; 0 without keys.
    #[inline]
    #[must_use]
    pub fn of(self, sequence: u32) -> u32 {
        self.0.map_or(0, |keys| keys.of(sequence))
    }

    /// Returns whether a received sample has the key of its sequence number. Without keys, all have.
    #[inline]
    #[must_use]
    pub fn matches(self, sequence: u32, key: u32) -> bool {
        self.0.is_none_or(|keys| key == keys.of(sequence))
    }
}

/// Order of the samples of each instance: DDS keeps it, and none between instances.
#[derive(Debug)]
pub struct InstanceOrder {
    keys: KeyRange,
    /// One more than the highest sequence number of each instance.
    next: Box<[u64]>,
    out_of_order: u64,
}

impl InstanceOrder {
    /// Creates the order of a stream before its first sample; `None` without keys.
    #[must_use]
    pub fn new(keys: Keys) -> Option<Self> {
        // writes all pages first, so that the hot path causes no page fault; an optimizer may not leave it out
        let keys = keys.0?;
        let mut next = vec![u64::MAX; keys.count.get() as usize].into_boxed_slice();
        black_box(&mut next);
        next.fill(0);
        Some(Self { keys, next, out_of_order: 0 })
    }

    /// Records a distinct sample.
    #[inline]
    pub fn record(&mut self, sequence: u64) {
        let next = &mut self.next[self.keys.index(sequence as u32) as usize];
        if sequence >= *next {
            *next = sequence + 1;
        } else {
            self.out_of_order += 1;
        }
    }

    /// Returns how many samples arrived after a later one of their instance.
    #[must_use]
    pub const fn out_of_order(&self) -> u64 {
        self.out_of_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(instances: Option<u32>) -> Keys {
        keys_with(instances, None)
    }

    fn keys_with(instances: Option<u32>, write_instance: Option<u32>) -> Keys {
        Keys::of_stream(&StreamSpec {
            writer: 1,
            size_bytes: 64,
            instances,
            write_instance,
            ..StreamSpec::default()
        })
    }

    #[test]
    fn samples_have_their_keys_in_turn() {
        let three = keys(Some(3));
        assert_eq!([0, 1, 2, 3, 4].map(|sequence| three.of(sequence)), [0, 1, 2, 0, 1]);
        assert!(three.matches(4, 1) && !three.matches(4, 4) && !three.matches(4, 0));
        assert_eq!([0, 7].map(|sequence| keys(Some(1)).of(sequence)), [0, 0]);
        // A driver may report any key for a type without one.
        assert!(keys(None).matches(4, 9) && keys(None).of(4) == 0);
    }

    #[test]
    fn all_samples_have_the_key_of_the_only_instance() {
        let only = keys_with(Some(5), Some(3));
        assert_eq!([0, 1, 7].map(|sequence| only.of(sequence)), [3, 3, 3]);
        assert!(only.matches(1, 3) && !only.matches(1, 1) && !only.matches(0, 0));
        assert_eq!(keys_with(Some(5), Some(u32::MAX)).of(u32::MAX), u32::MAX);
        assert_eq!(keys_with(None, Some(3)).of(1), 0);
        let mut order = InstanceOrder::new(only).expect("keys");
        for sequence in [0, 2, 1] {
            order.record(sequence);
        }
        assert_eq!(order.out_of_order(), 1, "all samples are of one instance");
    }

    #[test]
    fn order_counts_within_an_instance_only() {
        assert!(InstanceOrder::new(keys(None)).is_none());
        let mut order = InstanceOrder::new(keys(Some(2))).expect("keys");
        for sequence in [0, 2, 4, 1, 3, 5] {
            order.record(sequence);
        }
        assert_eq!(order.out_of_order(), 0, "a reader may take one instance after the other");
        for sequence in [8, 6, 7] {
            order.record(sequence);
        }
        assert_eq!(order.out_of_order(), 1);
    }
}
