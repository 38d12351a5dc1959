//! Data that charts draw: no pixels, no colours, no results.

mod bars;
mod distribution;
mod forest;
mod heat;
mod lines;
mod timeline;
mod trials;

use serde::Deserialize;

pub use bars::{Bar, BarGroup, Bars};
pub use distribution::{PercentilePoint, PercentileSeries, Percentiles, Run, RunMark, RunStrip, StripSeries};
pub use forest::{Claim, Forest, ForestRow};
pub use heat::{Heat, HeatCell, HeatRow};
pub(crate) use lines::is_alike;
pub use lines::{Line, LineStyle, Lines, Panel, Pattern, Point, Reference};
pub use stats::Better;
pub use timeline::{Timeline, TimelinePanel, Window};
pub use trials::{Outcome, SearchTrials, Trial, Trials};

/// A chart: words around it, and its data.
///
/// All texts are plain: they are escaped when drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Statement that the chart shows, or its neutral name.
    pub title: String,
    /// Direction that is better; begins the subtitle.
    pub better: Option<Better>,
    /// Metric, unit, scale, fixed factors, runs and n; without the direction.
    pub subtitle: String,
    /// Meaning of the marks that occur in this chart; may be empty.
    pub note: String,
    /// Text for screen readers: content, scales, marks.
    pub description: String,
    /// Kind of all intervals, as in `95 % interval` or `range of the runs`: heading of their columns in the table.
    pub interval_name: String,
    /// Line at the bottom of a stand-alone SVG: n, host, date.
    pub footer: String,
    /// Data.
    pub kind: ChartKind,
}

/// Data of a chart, by its type.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartKind {
    /// Verdicts: ratios with their intervals and claims.
    Forest(Forest),
    /// Each run as a dot, in order.
    RunStrip(RunStrip),
    /// Values by percentile.
    Percentiles(Percentiles),
    /// Values over a size, a load, a number of endpoints or an order of results.
    Lines(Lines),
    /// Windows of one run over time.
    Timeline(Timeline),
    /// Sums of parts, from 0.
    Bars(Bars),
    /// Many cells, one coloured field each.
    Heat(Heat),
    /// Trials of searches, in order.
    Trials(Trials),
}

/// Returns the words about a direction that begin a subtitle.
#[must_use]
pub const fn better_words(better: Better) -> &'static str {
    match better {
        Better::Less => "\u{2193} lower is better",
        Better::More => "\u{2191} higher is better",
    }
}

/// Colour and shape of a series, the same on a whole page.
///
/// No two have the same shape. Four colours repeat, because no fifth one differs enough from the others for all readers: series of one
/// colour are told apart by their shapes and names, and do not share a panel of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Slot {
    /// Bare socket: grey, square.
    S0,
    /// First driver: blue, dot.
    #[default]
    S1,
    /// Second driver: orange, diamond.
    S2,
    /// Third driver: green, triangle.
    S3,
    /// Fourth driver: purple or pink, inverted triangle.
    S4,
    /// Fifth driver: blue, plus.
    S5,
    /// Sixth driver: orange, star.
    S6,
    /// Seventh driver: green, triangle to the left.
    S7,
    /// Eighth driver: purple or pink, triangle to the right.
    S8,
    /// Ninth driver: blue, lying bar.
    S9,
    /// Tenth driver: orange, hourglass.
    S10,
    /// Eleventh driver: green, standing bar.
    S11,
    /// Twelfth driver: purple or pink, bow tie.
    S12,
    /// No driver: colour of text, dot.
    Ink,
}

impl Slot {
    /// All slots of series, in order.
    pub const SERIES: [Self; 13] = [
        Self::S0,
        Self::S1,
        Self::S2,
        Self::S3,
        Self::S4,
        Self::S5,
        Self::S6,
        Self::S7,
        Self::S8,
        Self::S9,
        Self::S10,
        Self::S11,
        Self::S12,
    ];

    /// Returns the position of its colour in `Palette::series`; `None` for the colour of text.
    pub(crate) fn colour(self) -> Option<usize> {
        match self {
            Self::S0 => Some(0),
            Self::S1 | Self::S5 | Self::S9 => Some(1),
            Self::S2 | Self::S6 | Self::S10 => Some(2),
            Self::S3 | Self::S7 | Self::S11 => Some(3),
            Self::S4 | Self::S8 | Self::S12 => Some(4),
            Self::Ink => None,
        }
    }

    /// Returns the class that gives marks and text this colour.
    pub fn class(self) -> &'static str {
        self.colour().map_or("ink", |colour| ["s0", "s1", "s2", "s3", "s4"][colour])
    }
}

/// Name and colour of what marks belong to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Series {
    /// Name, as in `UDP socket`.
    pub name: String,
    /// Colour and shape.
    pub slot: Slot,
}

impl Series {
    /// Creates a series.
    pub fn new(name: impl Into<String>, slot: Slot) -> Self {
        Self { name: name.into(), slot }
    }
}

/// Unit of values. Charts choose the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds, shown as ns, µs, ms or s.
    Nanoseconds,
    /// Bytes, shown in full.
    Bytes,
    /// Memory in bytes, shown as B, KiB, MiB or GiB.
    Memory,
    /// Samples per second.
    SamplesPerSecond,
    /// Bits per second, shown as bit/s, kbit/s, Mbit/s or Gbit/s.
    BitsPerSecond,
    /// Percent: 1.0 is 1 %.
    Percent,
    /// Number without a unit.
    #[default]
    Count,
}

/// Interval of a value, in the unit of the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end; may be infinite if it is not known, and is then drawn as an arrow.
    pub high: f64,
}

impl Interval {
    /// Returns whether the interval can be drawn: its ends are numbers in order.
    pub(crate) fn is_valid(self) -> bool {
        self.low <= self.high
    }
}

/// Value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Value. A value that is not finite is not drawn, and is `-` in the table.
    pub value: f64,
    /// Interval, if there is one.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Creates a value without an interval.
    pub fn exact(value: f64) -> Self {
        Self { value, interval: None }
    }

    /// Creates a value with an interval.
    pub fn within(value: f64, low: f64, high: f64) -> Self {
        Self { value, interval: Some(Interval { low, high }) }
    }
}

/// Axis of values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Label without the unit; may be empty for y, whose metric is in the subtitle.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Scale.
    pub scale: Scale,
    /// Ticks, as for measured sizes. If empty, round values are chosen.
    pub ticks: Vec<f64>,
}

/// Scale of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scale {
    /// Linear between the extreme values.
    Linear,
    /// Linear from 0.
    #[default]
    FromZero,
    /// Logarithmic. Values of 0 or less are not drawn, and stay in the table.
    Log,
    /// Positions 0, 1, 2, ... with a name each.
    Ordinal(Vec<String>),
}

/// Table of the values of a chart, as text. The first cell of a row is its heading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Headings of the columns, with units.
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}
