//! Second tier of an experiment: cells that are measured in the first blocks only, and support no claim.

use serde::{Deserialize, Serialize};

/// Second tier of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecondTier {
    /// Ids of its cells.
    pub cells: Vec<String>,
    /// Ids of those of them that the others are compared with. They are measured once in a block.
    pub baseline: Vec<String>,
    /// Number of blocks in which they are measured: the first ones.
    pub blocks: u32,
}
