//! Sums of parts.

use super::{Axis, Estimate, Series};

/// Horizontal bars from 0, as for CPU time per sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Axis of the values. Its scale is always linear from 0.
    pub x: Axis,
    /// Heading of the groups, as in `bytes`.
    pub group_label: String,
    /// Names of the parts in order, as in `writer` and `reader`.
    pub parts: Vec<String>,
    /// Groups from the top.
    pub groups: Vec<BarGroup>,
}

/// Bars of one value of a factor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarGroup {
    /// Value of the factor, as in `64`.
    pub label: String,
    /// Bars from the top.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Name and colour.
    pub series: Series,
    /// Values of the parts, each at least 0, in the order of [`Bars::parts`].
    pub parts: Vec<f64>,
    /// Sum with its interval: number and whisker.
    pub total: Estimate,
}
