//! Order of the runs of a block.

use rand::{rngs::ChaCha8Rng, seq::SliceRandom as _};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Order of the runs of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    /// Random, by the seed of the experiment: drift of the host affects all cells alike.
    #[default]
    Random,
    /// Order of the cells in the plan.
    Listed,
}

impl RunOrder {
    /// Returns whether it is random.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) const fn is_random(&self) -> bool {
        matches!(self, Self::Random)
    }

    /// Puts the runs of a block, given in the order of the cells, in this order.
    pub(crate) fn arrange<T>(self, runs: &mut [T], random: &mut ChaCha8Rng) {
        match self {
            Self::Random => runs.shuffle(random),
            Self::Listed => {}
        }
    }
}
