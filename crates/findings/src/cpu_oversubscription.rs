//! Endpoints without a core of their own, in every finding about their cells.

use results::{Finding, ResultDocument};

/// Adds to the first sentence of a finding how many endpoints share how many cores, if there are too few cores. A
/// first screen shows this sentence only.
pub(crate) fn add(document: &ResultDocument, finding: &mut Finding) {
    let cells = document.cells.iter().filter(|cell| finding.cells.contains(&cell.id));
    let Some((most, oversubscribed)) = document.most_oversubscribed(cells) else { return };
    let of_cells = finding.cells.len();
    let up_to = if of_cells == 1 {
        String::new()
    } else {
        format!("in {oversubscribed} of {of_cells} cells, up to ")
    };
    let end = finding.text.find(". ").unwrap_or_else(|| finding.text.trim_end_matches('.').len());
    finding.text.insert_str(end, &format!(" [{up_to}{most}]"));
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
