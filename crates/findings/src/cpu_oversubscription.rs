//! Endpoints without a core of their own, in every finding about their cells.

use std::collections::BTreeMap;

use results::{CellResult, Finding, ResultDocument};

/// Adds to the main sentence of a finding how many endpoints share how many cores, if there are too few cores. A
/// first screen shows this sentence only.
pub(crate) fn add<'d>(
    document: &'d ResultDocument,
    cells: &BTreeMap<&str, &'d CellResult>,
    finding: &mut Finding,
) {
    let of_finding = finding.cells.iter().filter_map(|id| cells.get(id.as_str()).copied());
    let Some((most, oversubscribed)) = document.most_oversubscribed(of_finding) else { return };
    let of_cells = finding.cells.len();
    let up_to = if of_cells == 1 {
        String::new()
    } else {
        format!("in {oversubscribed} of {of_cells} cells, up to ")
    };
    let words = format!(" [{up_to}{most}]");
    // the text begins with the main sentence; both keep its full stop
    let end = finding.headline.trim_end_matches('.').len();
    finding.headline.insert_str(end, &words);
    finding.text.insert_str(end, &words);
    let numbers = [
        ("driving_endpoints", most.driving),
        ("serving_endpoints", most.serving),
        ("shared_cores", most.cores),
    ];
    let polling = most.polling.map(|polling| ("polling_threads", polling.threads));
    finding
        .numbers
        .extend(numbers.into_iter().chain(polling).map(|(name, number)| (name.to_owned(), number as f64)));
}
