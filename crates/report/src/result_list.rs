//! List of results: when, what and where each was measured, and whether it is valid.

use std::collections::BTreeSet;

use results::{ResultDocument, State};

use crate::{layout::Grid, number::date, shell::quoted, short_name};

/// Result in a list.
#[derive(Clone, Debug)]
pub struct ResultRow {
    /// Directory.
    pub directory: String,
    /// Start in ns since 1970-01-01 UTC, and the text of each other column; the error of a result that cannot be loaded.
    entry: Result<(u64, [String; 4]), String>,
}

impl ResultRow {
    /// Creates the row of a result.
    #[must_use]
    pub fn new(directory: String, document: &ResultDocument) -> Self {
        let drivers: BTreeSet<&str> = document.cells.iter().map(|cell| &*cell.factors.driver).collect();
        let drivers: Vec<&str> = drivers.into_iter().map(short_name).collect();
        let hosts: BTreeSet<&str> = document.hosts.iter().map(|host| host.properties.name.as_str()).collect();
        let hosts = hosts.into_iter().collect::<Vec<_>>().join(", ");
        let what = format!("{}: {}", document.experiment.name, drivers.join(", "));
        let columns = [what, hosts, valid_runs(document), state(document).to_owned()];
        Self { directory, entry: Ok((document.host().started_unix_ns, columns)) }
    }

    /// Creates the row of a result that cannot be loaded.
    #[must_use]
    pub const fn unreadable(directory: String, error: String) -> Self {
        Self { directory, entry: Err(error) }
    }
}

/// Returns whether a result is complete, and whether its runs are valid.
#[must_use]
pub fn state(document: &ResultDocument) -> &'static str {
    match document.state {
        State::Interrupted => "interrupted",
        State::Complete if document.cells.iter().all(|cell| cell.valid_runs().count() == cell.runs.len()) => {
            "valid"
        }
        State::Complete => "some runs are not valid",
    }
}

/// Returns the number of valid runs of those planned.
#[must_use]
pub fn valid_runs(document: &ResultDocument) -> String {
    let valid: usize = document.cells.iter().map(|cell| cell.valid_runs().count()).sum();
    format!("{valid} of {}", document.planned_runs())
}

/// Returns the table of `ddsmark results`, the newest result first.
#[must_use]
pub fn result_list(mut rows: Vec<ResultRow>) -> String {
    let began = |row: &ResultRow| row.entry.as_ref().map_or(0, |(began, _)| *began);
    rows.sort_by(|a, b| began(b).cmp(&began(a)).then_with(|| a.directory.cmp(&b.directory)));
    let mut grid = Grid::default()
        .left(["Result", "Started", "Experiment: drivers", "Host"])
        .right(["Valid runs"])
        .left(["State"]);
    for ResultRow { directory, entry } in rows {
        let directory = quoted(&directory);
        grid.row(match entry {
            Ok((began, [what, hosts, runs, state])) => {
                vec![directory, date(began), what, hosts, runs, state]
            }
            Err(error) => {
                let none = || "-".to_owned();
                vec![directory, none(), none(), none(), none(), format!("cannot be loaded: {error}")]
            }
        });
    }
    grid.render()
}
