//! Sides and options of a comparison.

use results::{CellResult, MetricSelector, ResultDocument};

use crate::{criterion::Criterion, differences::HOST_SETTINGS};

/// Side of a comparison: a result, and its selected cells.
#[derive(Clone, Debug)]
pub struct CompareSide<'d> {
    /// Name as given on the command line.
    pub name: String,
    /// Result.
    pub document: &'d ResultDocument,
    /// Selected cells.
    pub cells: Vec<&'d CellResult>,
}

/// Options of a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Named factors, in which both sides may differ.
    pub factors: Vec<String>,
    /// Metrics to compare; empty: those of the workload.
    pub metrics: Vec<MetricSelector>,
    /// Criteria that the comparison has to pass.
    pub criteria: Vec<Criterion>,
    /// Whether to continue if the sides differ in more than the named factors.
    pub force: bool,
}

impl CompareOptions {
    /// Returns whether a host is compared before and after its settings changed: whatever the reference shows is part of the
    /// effect.
    pub(crate) fn compares_the_host(&self) -> bool {
        self.factors.iter().any(|factor| factor == HOST_SETTINGS)
    }
}

/// Baseline cell and candidate cell.
pub(crate) type CellPair<'d> = (&'d CellResult, &'d CellResult);
