//! Runs that were made at the same time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Run;

/// Runs of a duet that measured side by side for less than this, in percent of the longer one's time, have no ratio.
pub const MIN_SIDE_BY_SIDE_PCT: f64 = 90.0;

/// What is said of absolute figures of a duet, wherever they are shown.
pub const UNDER_DUET_INTERFERENCE: &str = "under duet interference";

/// The other run of a duet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Duet {
    /// Its number.
    pub partner: u32,
    /// For how long both measured at once, in percent of the longer one's measured time. 0 where one of them did not measure.
    pub side_by_side_pct: f64,
}

impl Run {
    /// Whether the ratio of this run to that one is a datum: both were made beside each other, or neither was and both are of
    /// one block.
    #[must_use]
    pub fn belongs_to(&self, other: &Self) -> bool {
        match (&self.duet, &other.duet) {
            (Some(one), Some(two)) => one.partner == other.number && two.partner == self.number,
            (None, None) => self.block == other.block,
            _ => false,
        }
    }

    /// Whether it was made alone, or measured as long as the run beside it.
    #[must_use]
    pub fn is_side_by_side(&self) -> bool {
        self.duet.as_ref().is_none_or(|duet| duet.side_by_side_pct >= MIN_SIDE_BY_SIDE_PCT)
    }
}
