//! One run over time.

use super::{Axis, Interval, Series};

/// Windows of one run of each series over the time since the start of the measurement; at most four panels with common
/// axes.
///
/// Without longest values each window is a step, as for the rate of each second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// Axis of the values; its label is not drawn.
    pub y: Axis,
    /// Panels from the top.
    pub panels: Vec<TimelinePanel>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimelinePanel {
    /// Name and colour.
    pub series: Series,
    /// Windows in ascending order of time. A gap between two of them interrupts the line.
    pub windows: Vec<Window>,
    /// Stretches in which no sample arrived, in ns since the start of the measurement: shaded.
    pub gaps: Vec<Interval>,
}

/// Window of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Start in ns since the start of the measurement.
    pub start: f64,
    /// End in ns since the start of the measurement.
    pub end: f64,
    /// Median or rate, in the unit of the y axis: the line.
    pub value: f64,
    /// Longest value, in the unit of the y axis: the stem.
    pub longest: Option<f64>,
}
