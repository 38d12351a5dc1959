//! Runs that are executed at the same time: whether their ratio is valid.

use crate::schema::{MIN_SIDE_BY_SIDE_PCT, Run};

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
