//! One page about a result: the question, the answer, whether the host was fit for it, and the charts that the question needs.
//! And one about many: their table, and how each cell changed over time.
//!
//! ```text
//! ResultDocument, RunWindows --page()--> Page --html()--> one file, which requests nothing
//!                                             --drawings()--> each chart as an SVG file
//! [IndexedResult] --Index::new()--> Index --index_html()--> one file, with links to the pages of the results
//! ```
//!
//! Pure: the same result yields the same bytes. The words and numbers are those of the crate `report`; all charts are drawn
//! by the crate `charts`.
#![forbid(unsafe_code)]

mod answer;
mod build;
mod figures;
mod fitness;
mod html;
mod index;
mod key_figures;
mod page;
mod rows;
mod scene;
mod values;

pub use build::page;
pub use charts::Colours;
pub use html::{html, index_html};
pub use index::{Index, IndexedResult};
pub use page::{
    Check, Figure, Fitness, Grade, KeyColumn, KeyFigure, KeyFigures, KeyRow, Page, Section, Sentence, Words,
};
pub use scene::RunWindows;

/// Returns each chart of a page as an SVG file: its name without a suffix, and its text.
#[must_use]
pub fn drawings(page: &Page, colours: Colours) -> Vec<(String, String)> {
    let figures = page.sections.iter().flat_map(|section| &section.figures);
    figures
        .map(|figure| {
            let text = charts::standalone(&figure.chart, charts::Width::Wide, colours);
            (figure.id.clone(), text)
        })
        .collect()
}
