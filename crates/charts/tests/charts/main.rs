//! Charts as SVG: golden files, marks against their data, and any data.

mod golden;
mod marks;
mod properties;
#[path = "../../examples/gallery/samples/mod.rs"]
mod samples;
mod svg;
mod words;
