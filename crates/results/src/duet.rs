//! Runs that are executed at the same time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Run;

/// Minimum overlap of the two runs of a duet, in percent of the longer measurement. Below this they have no ratio.
pub const MIN_SIDE_BY_SIDE_PCT: f64 = 90.0;

/// Mark on absolute values of a duet in reports.
pub const UNDER_DUET_INTERFERENCE: &str = "under duet interference";

/// Partner run of a duet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Duet {
    /// Number of the partner run.
    pub partner: u32,
    /// Time in which both runs measured, in percent of the longer measurement. 0 if one of them did not measure.
    pub side_by_side_pct: f64,
}

impl Run {
    /// Returns whether the ratio of the two runs is valid: they are partners of a duet, or neither is part of a
    /// duet and both are in the same block.
    #[must_use]
    pub fn belongs_to(&self, other: &Self) -> bool {
        match (&self.duet, &other.duet) {
            (Some(one), Some(two)) => one.partner == other.number && two.partner == self.number,
            (None, None) => self.block == other.block,
            _ => false,
        }
    }

    /// Returns whether the run was executed alone, or overlapped its partner for at least [`MIN_SIDE_BY_SIDE_PCT`].
    #[must_use]
    pub fn is_side_by_side(&self) -> bool {
        self.duet.as_ref().is_none_or(|duet| duet.side_by_side_pct >= MIN_SIDE_BY_SIDE_PCT)
    }
}
