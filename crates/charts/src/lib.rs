//! The one renderer of charts: plain data in, SVG text out.
//!
//! - [`plot`] draws a [`Chart`] twice, wide and narrow, for a page that contains [`stylesheet`]; [`svg`] draws one.
//! - [`standalone`] draws it as a file of its own.
//! - [`table()`] returns the values that it draws, as text.
//! - [`number`] formats numbers, [`prose`](prose()) those of sentences, and [`palette`] has the colours, of charts and of pages around them.
//! - [`key_mark`] draws a dot with its interval for a table, and [`sign`] the mark of a series.
//!
//! The same data gives the same bytes. No text of a chart can add elements or attributes. A value that is not finite,
//! is beyond 10^18, or is not positive on a logarithmic scale is not drawn: it interrupts its line, and stays in the
//! table. A chart without any value says so.
#![forbid(unsafe_code)]

mod axes;
mod canvas;
mod draw;
mod labels;
mod model;
pub mod number;
mod page;
pub mod palette;
#[cfg(test)]
mod palette_tests;
mod prose;
mod scale;
mod style;
mod table;
mod text;

pub use model::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Claim, Estimate, Forest, ForestRow, Heat, HeatCell,
    HeatRow, Interval, Line, LineStyle, Lines, Outcome, Panel, Pattern, PercentilePoint, PercentileSeries,
    Percentiles, Point, Reference, Run, RunMark, RunStrip, Scale, SearchTrials, Series, Slot, StripSeries,
    Table, Timeline, TimelinePanel, Trial, Trials, Unit, Window, better_words,
};
pub use page::{Colours, Width, key_mark, plot, sign, standalone, svg};
pub use prose::prose;
pub use style::stylesheet;
pub use table::table;
pub use text::escaped;
