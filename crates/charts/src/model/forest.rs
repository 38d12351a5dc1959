//! Verdicts.

use super::{Estimate, Interval, Slot};

/// Ratios of two cells on a logarithmic axis, with the verdict of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    /// Words above the axis for ratios below 1, as in `A shorter`.
    pub below: String,
    /// Words above the axis for ratios above 1, as in `longer`.
    pub above: String,
    /// Label of the axis, as in `change against B`.
    pub axis_label: String,
    /// Equivalence margin as a ratio above 1, as in 1.02; drawn as a stripe.
    pub margin: Option<f64>,
    /// Rows from the top.
    pub rows: Vec<ForestRow>,
    /// Words below the last row, as in `76 more in the table of rows`; may be empty.
    pub more: String,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// Group, as in `64 B`: shown where it changes.
    pub group: String,
    /// Metric, as in `RTT p50`.
    pub label: String,
    /// Ratio with the interval of the verdict; without a difference 1.
    pub ratio: Estimate,
    /// Claim of the verdict.
    pub claim: Claim,
    /// Colour of the better side; ignored without a claim.
    pub slot: Slot,
    /// Noise floor: ratios that two equal cells may have.
    pub noise: Option<Interval>,
    /// Verdict in a few words, as in `48.7 % lower`.
    pub words: String,
    /// Interval as text, as in `95 % 44.2..61.1`.
    pub interval_words: String,
}

/// Claim of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The first cell is better.
    Better,
    /// The first cell is worse.
    Worse,
    /// Both are equal within the margin.
    Equivalent,
    /// No claim.
    Inconclusive,
}

impl Claim {
    /// Returns the claim in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }
}
