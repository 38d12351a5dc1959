//! Numbers to estimates. Pure: no file, no clock, no random numbers.
//!
//! - [`supports_quantile`]: may a quantile be stated at all, of so many samples?
//! - [`Spread`]: how far the runs of a cell lie apart.
//! - [`slope()`]: how much one figure grows with another, whatever a few outliers say.
//! - [`Moments`]: mean and standard deviation of parts, pooled without going back to the samples.
//! - [`steady_state`]: had a run reached its level, and from when on? By [`changepoints`].
#![forbid(unsafe_code)]

mod changepoint;
mod moments;
mod quantile;
mod slope;
mod spread;
mod steady;

pub use changepoint::changepoints;
pub use moments::Moments;
pub use quantile::{CONFIDENCE, min_n_for, supports_quantile};
pub use slope::slope;
pub use spread::{Spread, median};
pub use steady::{Better, MIN_WINDOWS, SAME_LEVEL, Segment, SteadyState, Verdict, steady_state};
