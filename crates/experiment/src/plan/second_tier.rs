//! Second tier of an experiment: cells that are measured in the first blocks only, and support no claim.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{factors::FactorValues, syntax::one_or_many::Located};

/// Cells that are measured in few blocks, to explore: no claim is made about them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecondTierSection {
    /// Cells of the second tier: those that have one of the given values of each given factor. They are measured if `budget` has time for
    /// them after all blocks of the others, and left out with a note if not.
    pub cells: Located<FactorValues>,
    /// Number of blocks, 2 or more: the first ones of the experiment. Default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Located<u32>>,
}

/// Second tier of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SecondTier {
    /// Ids of its cells.
    pub cells: Vec<String>,
    /// Ids of those of them that the others are compared with. They are measured once in a block.
    pub baseline: Vec<String>,
    /// Number of blocks in which they are measured: the first ones.
    pub blocks: u32,
}
