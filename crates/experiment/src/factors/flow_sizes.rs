//! Sizes of the samples of a flow: one, drawn, or recorded.

use crate::{
    factors::{
        load::{Load, Trace},
        sizes::{SizeTable, Sizes, range_text},
    },
    syntax::trace::{RecordedSizes, TraceSamples},
};

/// Sizes of the samples of a flow, or of one of its writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowSizes<'f> {
    /// All have this size in bytes.
    One(u64),
    /// Sizes of a distribution, at most this many bytes.
    Drawn(&'f Sizes, u64),
    /// Sizes of the samples of this trace file, at most this many bytes.
    Recorded(&'f Trace, RecordedSizes, u64),
}

impl<'f> FlowSizes<'f> {
    /// Returns the sizes of samples of `size_bytes`, unless a distribution or the trace of the load has others.
    pub(crate) fn new(size_bytes: u64, sizes: Option<&'f Sizes>, load: Option<&'f Load>) -> Self {
        let recorded = load.and_then(Load::trace).and_then(|trace| Some((trace, trace.sizes?)));
        match (sizes, recorded) {
            (Some(sizes), _) => Self::Drawn(sizes, size_bytes),
            (None, Some((trace, sizes))) => Self::Recorded(trace, sizes, size_bytes),
            (None, None) => Self::One(size_bytes),
        }
    }

    /// Returns the mean size in bytes.
    #[must_use]
    pub fn mean_bytes(self) -> f64 {
        match self {
            Self::One(bytes) => bytes as f64,
            Self::Drawn(sizes, most_bytes) => SizeTable::new(sizes, most_bytes).mean_bytes(),
            Self::Recorded(trace, sizes, _) => sizes.total_bytes as f64 / trace.samples.max(1) as f64,
        }
    }

    /// Returns the smallest size in bytes.
    #[must_use]
    pub fn smallest_bytes(self) -> u64 {
        match self {
            Self::One(bytes) => bytes,
            Self::Drawn(sizes, most_bytes) => SizeTable::new(sizes, most_bytes).smallest_bytes(),
            Self::Recorded(_, sizes, _) => sizes.smallest_bytes,
        }
    }

    /// Returns the size of each sample; `None` if all have one. `trace` has the samples of the trace that the flow follows.
    #[must_use]
    pub fn table(self, trace: &TraceSamples) -> Option<SizeTable> {
        match self {
            Self::One(_) => None,
            Self::Drawn(sizes, most_bytes) => Some(SizeTable::new(sizes, most_bytes)),
            Self::Recorded(_, _, most_bytes) => Some(SizeTable::recorded(&trace.sizes_bytes, most_bytes)),
        }
    }

    /// Describes the sizes, each formatted by `text`.
    pub(crate) fn text(self, text: impl Fn(u64) -> String) -> String {
        match self {
            Self::One(bytes) => text(bytes),
            Self::Drawn(sizes, _) => sizes.distribution.text(text),
            Self::Recorded(_, sizes, _) => range_text(sizes.smallest_bytes, sizes.largest_bytes, text),
        }
    }
}
