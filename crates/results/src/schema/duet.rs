//! Runs that are executed at the same time.

use serde::{Deserialize, Serialize};

/// Minimum overlap of the two runs of a duet, in percent of the longer measurement. Below this they have no ratio.
pub const MIN_SIDE_BY_SIDE_PCT: f64 = 90.0;

/// Mark on absolute values of a duet in reports.
pub const UNDER_DUET_INTERFERENCE: &str = "under duet interference";

/// Partner run of a duet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Duet {
    /// Number of the partner run.
    pub partner: u32,
    /// Time in which both runs measured, in percent of the longer measurement. 0 if one of them did not measure.
    pub side_by_side_pct: f64,
}
