//! Histograms and counts that agents record on the hot path, and their stored form.

mod histogram;
mod histogram_codec;
mod histogram_shape;
pub(crate) mod interval_log;
mod rate;
mod sequence;

pub use histogram::{COARSE_WINDOWS, Distribution, QUANTILES, Windows};
pub use histogram_shape::{HistogramError, new_histogram};
pub use interval_log::{Histograms, IntervalLog};
pub use rate::{ARRIVAL_WINDOWS, Arrivals, WindowCounts};
pub use sequence::{Received, SequenceSet};
