//! Many results: a table of them, and the history of each cell over them.
//!
//! ```text
//! ResultDocument --IndexedResult::new()--> what an index needs of it; the rest is not kept
//! [IndexedResult] --Index::new()--> histories with tested changes --index_html()--> page
//!                                                                 --text()--> text
//! ```

mod changes;
mod figures;
mod gaps;
mod history;
mod result;
mod tables;

pub use history::Index;
pub use result::IndexedResult;
