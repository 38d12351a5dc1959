//! Results as data for other programs: one record per run and metric.

mod records;

use std::fmt::Write as _;

use results::ResultDocument;

pub use self::records::{Record, records};

/// Formats a result as CSV (RFC 4180): a heading, then one row per run and metric.
///
/// # Panics
/// Never panics: records are written to memory.
#[must_use]
pub fn csv(document: &ResultDocument) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(records::columns()).expect("memory takes a row");
    for record in records(document) {
        writer.write_record(record.entries()).expect("memory takes a row");
    }
    String::from_utf8(writer.into_inner().expect("memory is flushed")).expect("the entries are text")
}

/// Formats a result as JSON Lines: one object per run and metric, with the columns of [`csv()`] as keys.
#[must_use]
pub fn json_lines(document: &ResultDocument) -> String {
    records(document).iter().fold(String::new(), |mut lines, record| {
        let _ = writeln!(lines, "{}", record.object());
        lines
    })
}
