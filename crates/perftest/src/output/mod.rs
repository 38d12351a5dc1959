//! Output: rows, JSON, and the banner.

mod banner;
mod json;
mod number;
mod rows;
mod values;

pub use banner::{Banner, EffectiveValue, Step, banner, progress};
pub use json::{Json, JsonContext};
pub use rows::{Row, Rows};
pub use values::{LatencyInterval, LatencyRow, PERCENTS, Percentiles, ThroughputInterval, ThroughputRow};
