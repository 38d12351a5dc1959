//! Trials of searches for the highest sustained load.

use super::{Axis, Estimate, Series};

/// Load of each trial in order, with its outcome; one panel per search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trials {
    /// Axis of the load.
    pub y: Axis,
    /// Searches.
    pub searches: Vec<SearchTrials>,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchTrials {
    /// Name and colour.
    pub series: Series,
    /// Trials in order: the first has number 1.
    pub trials: Vec<Trial>,
    /// Load that was found, with its bounds.
    pub found: Option<Estimate>,
}

/// One trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Load in the unit of the axis.
    pub load: f64,
    /// Outcome.
    pub outcome: Outcome,
    /// Words after the value in the tooltip, as in `loss 0.4 %, 2 s`; may be empty.
    pub detail: String,
}

/// Outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The goal was met: filled.
    Passed,
    /// The goal was missed: a cross.
    Failed,
    /// Neither: hollow.
    Inconclusive,
}

impl Outcome {
    /// Returns the outcome in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
        }
    }
}
