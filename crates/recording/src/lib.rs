//! Histograms and counts that agents record on the hot path, and their stored form.
#![forbid(unsafe_code)]

mod encoded_windows;
mod histogram;
mod histogram_codec;
mod histogram_shape;
mod interval_log;
pub mod operations;
mod pool;
mod rate;
mod sequence;
mod timeliness;

pub use encoded_windows::EncodedWindows;
pub use histogram::{COARSE_WINDOWS, Distribution, QUANTILES, Windows};
pub use histogram_shape::{HistogramError, new_histogram};
pub use interval_log::{Histograms, IntervalLog};
pub use pool::Pool;
pub use rate::{ARRIVAL_WINDOWS, Arrivals, WindowCounts};
pub use sequence::{Received, SequenceSet, nearest};
pub use timeliness::{TimelinessRecorder, TimelinessReport};
