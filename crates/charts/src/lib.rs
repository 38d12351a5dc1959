//! The one renderer of charts: plain data in, SVG text out.
//!
//! [`plot`] draws a [`Chart`] twice for a page that contains [`stylesheet`], [`standalone`] draws it as a file of
//! its own, and [`table`] returns the values that it draws. The same data gives the same bytes.

mod model;

pub use model::*;

/// Width of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 548 px.
    Wide,
    /// 340 px.
    Narrow,
}

/// Colours of a stand-alone SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// Light or dark, as the viewer prefers, from an embedded style.
    Preferred,
    /// Light, as literal attributes without any style: for converters to PNG.
    Light,
    /// Dark, as literal attributes without any style.
    Dark,
}

// Public functions that follow with the renderer:
//
// pub fn plot(chart: &Chart, id: &str) -> String
//     `<div class="plot">` with the wide and the narrow SVG; the stylesheet shows one of them. The id is unique on the page.
// pub fn svg(chart: &Chart, id: &str, width: Width) -> String
//     One of them.
// pub fn standalone(chart: &Chart, width: Width, colours: Colours) -> String
//     A file, with title, subtitle, note and footer in it.
// pub fn table(chart: &Chart) -> Table
// pub fn key_mark(estimate: Estimate, range: Interval, slot: Slot) -> String
//     96 x 14 px, aria-hidden: dot and interval for the table of key figures.
// pub fn stylesheet() -> String
//     Custom properties --bg --panel --ink --muted --axis --grid --s0..--s4 --fit --care --unfit --noise in light, dark and
//     print; classes .s0...s4 and .ink set --c; classes of marks; .plot is the container of the query. Font of SVG text is inherited.
// pub mod palette: Palette { background, panel, ink, muted, ... }, LIGHT, DARK; FONT_STACK
// pub mod number:
//     pub fn value(value: f64, unit: Unit) -> String         "23.2 µs" with a no-break space, 3 significant digits
//     pub fn plain(value: f64) -> String                      "23.2", "63 000" with narrow no-break spaces
//     pub fn in_unit(value: f64, scale: Prefix) -> String     for columns with a common unit; Prefix::of(values, unit).name()
// pub fn escaped(text: &str) -> String                        for text and attributes of XML and HTML
