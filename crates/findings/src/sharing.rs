//! Several readers or writers: whether one of them gets less than the others.

use results::{CellResult, EndpointSpread, Finding, FindingKind, Run, format_value};
use stats::Spread;

use crate::{
    FAIR, LEAST_OF_MEAN,
    curves::{Side, over_runs},
    format::{between, finding, runs, three},
};

/// Cell with a value of each run.
type CellSpread<'d> = (&'d CellResult, Spread);

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let of = |value: fn(&Run) -> Option<f64>| -> Vec<CellSpread<'_>> {
        side.cells().filter_map(|cell| Some((cell, over_runs(cell, value)?))).collect()
    };
    let fairness = of(|run| Some(run.throughput()?.writers.as_ref()?.fairness));
    let least = of(|run| {
        let rates = run.throughput()?;
        (rates.delivered_sps > 0.0).then_some(rates.readers.as_ref()?.lowest_sps / rates.delivered_sps)
    });
    let uneven = worst(&fairness, FAIR);
    let even = fairness.iter().all(|(_, spread)| spread.min >= FAIR) && !fairness.is_empty();
    let behind = worst(&least, LEAST_OF_MEAN);
    let readers = behind.and_then(|worst| reader_behind(side, worst));
    let writers = match uneven {
        Some(worst) => writers_uneven(side, worst),
        None => even.then(|| writers_even(side, &fairness)),
    };
    readers.into_iter().chain(writers).collect()
}

/// Returns the cell with the lowest median of those of which all runs are below a limit.
fn worst<'m, 'd>(measured: &'m [CellSpread<'d>], limit: f64) -> Option<&'m CellSpread<'d>> {
    let below = measured.iter().filter(|(_, spread)| spread.max < limit);
    below.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
}

fn place(cell: &CellResult) -> String {
    let load = cell.factors.load.as_ref().map_or_else(String::new, |load| format!(" and {load}"));
    format!("{} bytes{load}", cell.factors.size_bytes)
}

/// Formats the endpoints with the lowest and the highest rate.
fn ends(cell: &CellResult, spread: &EndpointSpread) -> String {
    let EndpointSpread { lowest_sps, highest_sps, .. } = spread;
    let [lowest, highest] = [&spread.lowest, &spread.highest].map(|id| cell.label(id));
    format!(
        "`{lowest}` had the least in most runs, {} samples/s, and `{highest}` the most, {}",
        format_value(*lowest_sps),
        format_value(*highest_sps)
    )
}

fn reader_behind(side: &Side<'_>, (cell, spread): &CellSpread<'_>) -> Option<Finding> {
    let readers = cell.throughput.as_ref()?.readers.as_ref()?;
    let percent = |share: f64| format_value(100.0 * share);
    let text = format!(
        "`{}`: the slowest of {} readers fell behind at {}: it received {} % of the mean ({}).",
        side.name,
        readers.endpoints,
        place(cell),
        between(&percent(spread.min), &percent(spread.max)),
        runs([spread].into_iter()),
    );
    let more = format!("{}.", ends(cell, readers));
    let numbers = three("slowest_of_mean", "ratio", spread);
    Some(finding(FindingKind::ReaderBehind, (text, more), [*cell].into_iter(), numbers))
}

fn writers_uneven(side: &Side<'_>, (cell, spread): &CellSpread<'_>) -> Option<Finding> {
    let writers = cell.throughput.as_ref()?.writers.as_ref()?;
    let text = format!(
        "`{}`: {} writers do not share evenly at {}: Jain's index is {} ({}).",
        side.name,
        writers.endpoints,
        place(cell),
        between(&format!("{:.3}", spread.min), &format!("{:.3}", spread.max)),
        runs([spread].into_iter()),
    );
    let text = (text, format!("{}.", ends(cell, writers)));
    Some(finding(FindingKind::WritersUneven, text, [*cell].into_iter(), three("jain", "index", spread)))
}

fn writers_even(side: &Side<'_>, measured: &[CellSpread<'_>]) -> Finding {
    let least = measured.iter().map(|(_, spread)| spread.min).fold(1.0, f64::min);
    let count = measured.len();
    let cells = if count == 1 { "one cell".to_owned() } else { format!("{count} cells") };
    let text = format!(
        "`{}`: the writers share evenly in {cells}: Jain's index is at least {least:.3} in every run ({}).",
        side.name,
        runs(measured.iter().map(|(_, spread)| spread))
    );
    let numbers = [("jain_min_index", least)];
    finding(FindingKind::WritersEven, text, measured.iter().map(|(cell, _)| *cell), numbers)
}
