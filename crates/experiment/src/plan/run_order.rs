//! Order of the runs of a block.

use rand::{rngs::ChaCha8Rng, seq::SliceRandom as _};
use serde::{Deserialize, Serialize};

/// Order of the runs of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOrder {
    /// Random, by the seed of the experiment: drift of the host affects all cells alike.
    #[default]
    Random,
    /// Order of the cells in the plan.
    Listed,
}

impl RunOrder {
    /// Puts the runs of a block, given in the order of the cells, in this order.
    pub(crate) fn arrange<T>(self, runs: &mut [T], random: &mut ChaCha8Rng) {
        match self {
            Self::Random => runs.shuffle(random),
            Self::Listed => {}
        }
    }
}
