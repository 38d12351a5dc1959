//! Complete texts as snapshots, and values in them compared with the document.

mod costs;
mod drivers;
mod export;
mod live;
mod load;
mod markdown;
mod published;
#[path = "../../../results/tests/sample/mod.rs"]
mod sample;
mod screen;
mod tables;
mod topics;
mod whole;

use report::terminal;
use results::ResultDocument;

fn print(document: &ResultDocument) -> String {
    terminal(document, None)
}
