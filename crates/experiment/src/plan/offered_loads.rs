//! Loads that the flows of the cells of a plan offer.

use serde::Serialize;

use crate::{factors::offered_load::OfferedLoad, plan::experiment::Plan};

/// Cell of a plan with the load that its flows offer together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferedByCell<'p> {
    /// Id of the cell.
    pub cell: &'p str,
    /// Load; of a search, at scale 1.
    #[serde(flatten)]
    pub load: OfferedLoad,
}

impl Plan {
    /// Returns the loads of the cells with flows.
    #[must_use]
    pub fn offered_loads(&self) -> Vec<OfferedByCell<'_>> {
        let cells = self.cells.iter();
        let loads = cells
            .filter_map(|cell| Some(OfferedByCell { cell: &cell.id, load: cell.factors.offered_load()? }));
        loads.collect()
    }
}
