//! Maximum rates to which rates in percent refer, and the runs that measure them.

use rand::seq::SliceRandom as _;

use crate::{
    factors::{
        Factors,
        load::{Load, load_id},
    },
    plan::experiment::{Cell, Plan, Stream},
};

/// Runs of each maximum; fewer do not show the spread of runs.
pub const MAXIMUM_RUNS: u32 = 3;

/// First number of the runs that measure maxima, above the numbers of all blocks.
pub const FIRST_MAXIMUM_RUN: u32 = 1_000_001;

/// Cell that is measured at its maximum rate before the first block, because the rates of other cells are
/// percentages of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxRateCell {
    /// Cell at [`Load::Max`], otherwise equal to those in `of`.
    pub cell: Cell,
    /// Ids of the cells whose rates are percentages of this maximum.
    pub of: Vec<String>,
}

impl Plan {
    /// Returns the maxima that the cells refer to, in the order of the cells. Cells that differ only in their load
    /// share one.
    #[must_use]
    pub fn max_rates(&self) -> Vec<MaxRateCell> {
        let mut max_rates: Vec<MaxRateCell> = Vec::new();
        for cell in &self.cells {
            let Some(load @ Load::Share { .. }) = &cell.factors.load else { continue };
            match max_rates.iter_mut().find(|known| known.cell.factors.shares_maximum(&cell.factors)) {
                Some(known) => known.of.push(cell.id.clone()),
                None => {
                    let factors = Factors { load: Some(Load::Max), ..cell.factors.clone() };
                    let id = cell.id.replacen(&load_id(load).join("/"), "max", 1);
                    max_rates.push(MaxRateCell { cell: Cell { id, factors }, of: vec![cell.id.clone()] });
                }
            }
        }
        max_rates
    }

    /// Returns the runs that measure this many maxima: run number and index of the maximum. Each pass covers all
    /// maxima in random order, so that drift of the host affects all of them.
    #[must_use]
    pub fn maximum_runs(&self, max_rates: usize) -> Vec<(u32, usize)> {
        let passes = (0..MAXIMUM_RUNS).flat_map(|pass| {
            let mut order: Vec<usize> = (0..max_rates).collect();
            order.shuffle(&mut self.stream(Stream::Maximum, pass));
            order
        });
        (FIRST_MAXIMUM_RUN..).zip(passes).collect()
    }

    /// Returns the estimated duration of these runs in ns.
    #[must_use]
    pub fn expected_max_rates_ns(&self) -> u64 {
        let runs = self.max_rates().len() as u64 * u64::from(MAXIMUM_RUNS);
        self.design.expected_run_ns().saturating_mul(runs)
    }
}
