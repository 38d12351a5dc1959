//! One run over time.

use super::{Axis, Series};

/// Windows of one run of each series over time; at most four panels with common axes.
///
/// Without longest values each window is a step, as for the rate of each second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// Label of the time axis, as in `time since the start of the measurement`.
    pub x_label: String,
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
    /// Marked stretches.
    pub spans: Vec<Span>,
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

/// Stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Start in ns since the start of the measurement.
    pub start: f64,
    /// End in ns since the start of the measurement.
    pub end: f64,
    /// Kind of the stretch.
    pub kind: SpanKind,
}

/// Kind of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// No sample arrived: grey.
    Gap,
    /// Other work disturbed the host: a strip at the top of the panel.
    Noisy,
    /// Burst of late samples: a bar at the bottom of the panel.
    Burst,
}

impl SpanKind {
    /// Returns the kind as a phrase.
    pub fn words(self) -> &'static str {
        match self {
            Self::Gap => "no sample arrived",
            Self::Noisy => "other work on the host",
            Self::Burst => "burst of late samples",
        }
    }
}
