//! Samples of a stream that a reader with a content filter expects.

use experiment::{KeyFilter, StreamSpec};
use results::nearest;

/// Samples of a stream that a filter includes, numbered from 0 without gaps.
#[derive(Clone, Debug)]
pub struct FilteredStream {
    stream: StreamSpec,
    filter: KeyFilter,
    /// One more than the highest sequence number received.
    next: u64,
}

impl FilteredStream {
    /// Creates the samples of a stream that this filter includes.
    #[must_use]
    pub fn new(stream: &StreamSpec, filter: KeyFilter) -> Self {
        Self { stream: stream.clone(), filter, next: 0 }
    }

    /// Returns the full sequence number for its 32 low bits: the one nearest to the expected number.
    #[inline]
    #[must_use]
    pub const fn unwrap(&self, sent: u32) -> u64 {
        nearest(self.next, sent)
    }

    /// Returns the number of a received sample among those that the filter includes; `None` if the filter excludes it.
    #[inline]
    #[must_use]
    pub fn number(&mut self, sequence: u64, key: u32) -> Option<u64> {
        if !self.filter.includes(self.stream.key(sequence as u32)) || !self.filter.includes(key) {
            return None;
        }
        self.next = self.next.max(sequence + 1);
        Some(self.stream.included(Some(self.filter), sequence))
    }
}
