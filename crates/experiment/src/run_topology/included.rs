//! Samples that the filter of a reader includes.

use super::{RunTopology, StreamSpec};
use crate::factors::content_filter::KeyFilter;

/// Number of sequence numbers in a header.
const HEADER_NUMBERS: u64 = 1 << 32;

impl StreamSpec {
    /// Returns the key of the sample with this sequence number in its header; 0 for a type without key.
    #[inline]
    #[must_use]
    pub const fn key(&self, sequence: u32) -> u32 {
        match (self.instances, self.write_instance) {
            (None | Some(0), _) => 0,
            (Some(_), Some(only)) => only,
            (Some(instances), None) => sequence % instances,
        }
    }

    /// Returns how many of the first samples a filter includes. Without a filter, all.
    #[inline]
    #[must_use]
    pub fn included(&self, filter: Option<KeyFilter>, samples: u64) -> u64 {
        let Some(filter) = filter else { return samples };
        let keys = match (self.instances, self.write_instance) {
            (Some(instances), None) if instances > 0 => u64::from(instances),
            _ => return if filter.includes(self.key(0)) { samples } else { 0 },
        };
        let (first, end) = (u64::from(filter.first).min(keys), (u64::from(filter.last) + 1).min(keys));
        let end = end.max(first);
        let of = |samples: u64| samples / keys * (end - first) + (samples % keys).clamp(first, end) - first;
        if samples < HEADER_NUMBERS {
            return of(samples);
        }
        // The keys begin again when the number in the header does.
        samples / HEADER_NUMBERS * of(HEADER_NUMBERS) + of(samples % HEADER_NUMBERS)
    }
}

impl RunTopology {
    /// Returns how many samples the readers of data of an endpoint expect, if each endpoint sent this number; `u64::MAX` if that
    /// depends on which of its writers sent them.
    #[must_use]
    pub fn expected(&self, serving: usize, sent: &[u64]) -> u64 {
        let of_serving = self.endpoints.get(serving).filter(|endpoint| !endpoint.role.drives());
        let filter =
            of_serving.and_then(|endpoint| endpoint.readers.iter().find_map(|reader| reader.content_filter));
        let expected = |(endpoint, sent): (&super::Endpoint, &u64)| match &endpoint.writers[..] {
            _ if filter.is_none() || *sent == 0 => *sent,
            [writer] => writer.stream.included(filter, *sent),
            _ => u64::MAX,
        };
        self.endpoints.iter().zip(sent).map(expected).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(instances: u32, write_instance: Option<u32>) -> StreamSpec {
        StreamSpec {
            writer: 1,
            size_bytes: 64,
            instances: Some(instances),
            write_instance,
            ..StreamSpec::default()
        }
    }

    proptest! {
        #[test]
        fn included_samples_are_those_of_a_loop(
            instances in 1_u32..20,
            only in proptest::option::of(0_u32..20),
            first in 0_u32..20,
            more in 0_u32..20,
            samples in 0_u64..200,
        ) {
            let (stream, filter) = (stream(instances, only), KeyFilter { first, last: first + more });
            let naive = (0..samples).filter(|sequence| filter.includes(stream.key(*sequence as u32))).count();
            prop_assert_eq!(stream.included(Some(filter), samples), naive as u64);
            prop_assert_eq!(stream.included(None, samples), samples);
        }
    }

    #[test]
    fn keys_begin_again_after_the_last_number_of_a_header() {
        let (stream, filter) = (stream(10, None), Some(KeyFilter { first: 0, last: 1 }));
        let before = stream.included(filter, HEADER_NUMBERS - 1);
        // 2^32 - 1 has the key 5, and 2^32 has the key 0 again, as 2^32 + 1 has the key 1.
        let next = [0, 1, 2, 3, 4].map(|more| stream.included(filter, HEADER_NUMBERS + more) - before);
        assert_eq!(next, [0, 1, 2, 2, 2]);
        assert_eq!(stream.included(Some(KeyFilter { first: 0, last: u32::MAX }), u64::MAX), u64::MAX);
    }

    #[test]
    fn filter_beyond_the_keys_includes_nothing() {
        for filter in [KeyFilter { first: 10, last: 20 }, KeyFilter { first: u32::MAX, last: u32::MAX }] {
            assert_eq!(stream(10, None).included(Some(filter), 1_000), 0);
        }
        assert_eq!(stream(10, Some(u32::MAX)).included(Some(KeyFilter { first: 10, last: u32::MAX }), 7), 7);
    }
}
