//! Every run, and values by percentile.

use charts::{
    Axis, ChartKind, Estimate, PercentilePoint, PercentileSeries, Percentiles, Run, RunMark, RunStrip, Scale,
    Series, StripSeries, Unit,
};
use results::{CellResult, Metric, QUANTILES, RunState};

use super::{
    choice::telling,
    frame::{Frame, hollow_note, list, names, noisy, sizes_and_n},
    limits::{MOST_SERIES, ONE_PANEL},
};
use crate::{
    page::Figure,
    scene::{Scene, distinct, fewest_endpoints},
    values::{LEAST_FOR_INTERVAL, Quantity, ends, estimate, interval_name},
};

/// Series with the cells of a workload.
pub(crate) type OfWorkload<'s, 'd> = [(&'s Series, Vec<&'d CellResult>)];

/// Returns the cells of all series.
pub(crate) fn cells_of<'d>(all: &OfWorkload<'_, 'd>) -> Vec<&'d CellResult> {
    all.iter().flat_map(|(_, cells)| cells.iter().copied()).collect()
}

/// Returns the cells of each series that are kept, of those with the fewest endpoints.
pub(crate) fn kept<'s, 'd>(
    all: &OfWorkload<'s, 'd>,
    is_kept: impl Fn(&CellResult) -> bool,
) -> Vec<(&'s Series, Vec<&'d CellResult>)> {
    let of = |(series, cells): &(&'s Series, Vec<&'d CellResult>)| {
        let mut cells = fewest_endpoints(cells);
        cells.retain(|cell| is_kept(cell));
        (*series, cells)
    };
    all.iter().map(of).filter(|(_, cells)| !cells.is_empty()).collect()
}

/// Maximum number of runs of a series that charts draw as hairlines.
const MOST_HAIRS: usize = 20;

/// Range of values, as a ratio, from which an axis is logarithmic.
const LOGARITHMIC: f64 = 3.0;

/// Returns every run and the percentiles of the round-trip time.
pub(crate) fn latency(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    times(scene, all, "rtt", [Metric::RttP50, Metric::RttP99], ["runs", "percentiles"])
}

/// Returns every run and the percentiles of the response time, if there is one load.
pub(crate) fn paced(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    if all.iter().any(|(_, cells)| cells.len() > 1) {
        return Vec::new();
    }
    let ids = ["runs-under-load", "percentiles-under-load"];
    times(scene, all, "response", [Metric::ResponseP50, Metric::ResponseP99], ids)
}

/// Returns every run by the median of a kind of times, and their percentiles.
fn times(
    scene: &Scene<'_>,
    all: &OfWorkload<'_, '_>,
    kind: &str,
    metrics: [Metric; 2],
    [runs_id, percentiles_id]: [&str; 2],
) -> Vec<Figure> {
    let focus = at_one_size(all, false);
    let [p50, p99] = metrics.map(Quantity::Metric);
    let runs = runs(scene, &focus, p50, runs_id);
    runs.into_iter().chain(percentiles(scene, &focus, kind, [p50, p99], percentiles_id)).collect()
}

/// Returns every run of throughput, at the largest size.
pub(crate) fn throughput(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let goodput = Quantity::Metric(Metric::Goodput);
    runs(scene, &at_one_size(all, true), goodput, "runs-of-throughput").into_iter().collect()
}

/// Returns one cell of each series: that of the smallest or largest size, with the fewest endpoints, unbatched if it can be.
pub(crate) fn at_one_size<'s, 'd>(
    all: &OfWorkload<'s, 'd>,
    largest: bool,
) -> Vec<(&'s Series, &'d CellResult)> {
    let every = cells_of(all);
    // The size that most series have, so that they can be compared.
    let series = |size: &u64| {
        let has = |(_, cells): &&(&Series, Vec<&CellResult>)| {
            cells.iter().any(|cell| cell.factors.size_bytes == *size)
        };
        all.iter().filter(has).count()
    };
    let sizes = distinct(&every, |cell| cell.factors.size_bytes);
    let most = sizes.iter().map(series).max().unwrap_or(0);
    let mut sizes = sizes.iter().filter(|size| series(size) == most);
    let Some(size) = (if largest { sizes.next_back() } else { sizes.next() }) else { return Vec::new() };
    let of_series = |(series, cells): &(&'s Series, Vec<&'d CellResult>)| {
        let mut cells: Vec<&'d CellResult> = fewest_endpoints(cells);
        cells.retain(|cell| cell.factors.size_bytes == *size);
        cells.sort_by_key(|cell| cell.factors.batch_bytes);
        cells.first().map(|cell| (*series, *cell))
    };
    all.iter().filter_map(of_series).collect()
}

/// Returns the scale of values that are all above 0.
pub(crate) fn scale(values: &[f64]) -> Scale {
    let drawn = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
    let is_wide = ends(drawn).is_some_and(|(low, high)| high > low * LOGARITHMIC);
    if is_wide { Scale::Log } else { Scale::Linear }
}

/// Returns the words for a scale.
pub(crate) const fn scale_words(scale: &Scale) -> &'static str {
    match scale {
        Scale::Log => "logarithmic",
        Scale::FromZero => "linear from 0",
        Scale::Linear | Scale::Ordinal(_) => "linear",
    }
}

/// Returns every run of these cells in the order of the blocks; a table of fields with too many of them.
pub(crate) fn runs(
    scene: &Scene<'_>,
    focus: &[(&Series, &CellResult)],
    quantity: Quantity,
    id: &str,
) -> Option<Figure> {
    let (focus, why) =
        telling(scene, focus.to_vec(), (MOST_SERIES, |cell| quantity.median(cell)), |cell| *cell);
    let cells: Vec<&CellResult> = focus.iter().map(|(_, cell)| *cell).collect();
    if cells.iter().map(|cell| cell.runs.len()).max().unwrap_or(0) < 2 {
        return None;
    }
    let series: Vec<StripSeries> = focus.iter().map(|(series, cell)| strip(series, cell, quantity)).collect();
    let values: Vec<f64> = series.iter().flat_map(|of| of.runs.iter().map(|run| run.value)).collect();
    let scale = scale(&values);
    let note = strip_note(scene, &cells, &series);
    let mut conditions = vec![scale_words(&scale).to_owned()];
    conditions.extend(sizes_and_n(&cells, None));
    let title = separated(&series).unwrap_or_else(|| format!("Every run: {}", quantity.words()));
    let frame = Frame {
        id,
        short: "Runs",
        title,
        quantity,
        conditions,
        note,
        drawn: format!(
            "Strip plot: each run of {} as a dot over its block in the order of measurement, with the median and its interval.",
            names(&focus)
        ),
    };
    let y = Axis { unit: quantity.unit(), scale, ..Axis::default() };
    let strip = RunStrip { y, series, noisy: noisy(scene) };
    Some(frame.around(scene, (&cells, &why), ChartKind::RunStrip(strip)))
}

/// Explains the marks of a strip.
pub(crate) fn strip_note(scene: &Scene<'_>, cells: &[&CellResult], series: &[StripSeries]) -> String {
    let noisy = noisy(scene);
    let mut note = format!("Dot: a run. Line: the median. Band: {}.", interval_name(cells));
    if series.iter().any(|of| of.runs.iter().any(|run| run.mark == RunMark::Second)) {
        note.push_str(" Pale: the second run of the baseline in each block, which counts in no median.");
    }
    if series.iter().any(|of| of.runs.iter().any(|run| run.mark == RunMark::Invalid)) {
        note.push_str(" Cross: a run that failed or is invalid.");
    }
    match noisy.len() {
        0 => {}
        all if all == scene.document.blocks.len() => note.push_str(" All blocks were noisy."),
        _ => note.push_str(" Shaded: noisy blocks."),
    }
    if series.iter().any(|of| of.runs.iter().any(|run| run.mark == RunMark::Doubtful)) {
        note.push_str(&hollow_note(cells));
    }
    if series.iter().any(|of| of.limit.is_some()) {
        note.push_str(" Long dashes: the limit.");
    }
    note
}

/// Returns a title if the runs of two series do not overlap.
fn separated(series: &[StripSeries]) -> Option<String> {
    let [one, other] = series else { return None };
    let range = |of: &StripSeries| {
        let counted = of.runs.iter().filter(|run| run.mark == RunMark::Counted && run.value.is_finite());
        ends(counted.map(|run| run.value))
    };
    let enough = [one, other].iter().all(|of| of.runs.len() >= LEAST_FOR_INTERVAL);
    let ((low, high), (other_low, other_high)) = (range(one)?, range(other)?);
    let apart = high < other_low || other_high < low;
    (apart && enough)
        .then(|| format!("Every run: {} and {} do not overlap", one.series.name, other.series.name))
}

fn strip(series: &Series, cell: &CellResult, quantity: Quantity) -> StripSeries {
    let median = quantity.over_runs(cell);
    let runs = dots(cell, |run| quantity.of(cell, run));
    StripSeries { series: series.clone(), runs, median, limit: None }
}

/// Returns each run of a cell that has the value, or that is invalid, as a dot.
pub(crate) fn dots(cell: &CellResult, of: impl Fn(&results::Run) -> Option<f64>) -> Vec<Run> {
    let run = |run: &results::Run| {
        let value = of(run);
        let doubtful = run.shortfall().pct() > results::MAX_LATENCY_LOSS_PCT || run.is_sender_limited();
        let mark = match run.state {
            RunState::Valid if run.twin => RunMark::Second,
            RunState::Valid if doubtful => RunMark::Doubtful,
            RunState::Valid => RunMark::Counted,
            RunState::Invalid | RunState::Failed => RunMark::Invalid,
        };
        if value.is_none() && mark != RunMark::Invalid {
            return None;
        }
        let doubt = match mark {
            RunMark::Doubtful if run.is_sender_limited() => ", the sender was late".to_owned(),
            RunMark::Doubtful => format!(", {} % missing", results::format_value(run.shortfall().pct())),
            _ => String::new(),
        };
        let detail = format!("run {}{doubt}", run.number);
        Some(Run { block: run.block, value: value.unwrap_or(f64::NAN), mark, detail })
    };
    cell.runs.iter().filter_map(run).collect()
}

/// Returns the percentiles of a kind of times, up to the last one that enough samples support.
fn percentiles(
    scene: &Scene<'_>,
    focus: &[(&Series, &CellResult)],
    kind: &str,
    [chosen_by, quantity]: [Quantity; 2],
    id: &str,
) -> Option<Figure> {
    // A page has four colours; a band of a fifth series would hide the others.
    let (focus, why) =
        telling(scene, focus.to_vec(), (ONE_PANEL, |cell| chosen_by.median(cell)), |cell| *cell);
    let cells: Vec<&CellResult> = focus.iter().map(|(_, cell)| *cell).collect();
    let series: Vec<PercentileSeries> =
        focus.iter().filter_map(|(series, cell)| of_cell(series, cell, kind)).collect();
    if series.is_empty() {
        return None;
    }
    let pooled = series.iter().any(|of| !of.pooled.is_empty());
    let several = cells.iter().any(|cell| cell.claimed_runs().count() > 1);
    let mut note = "Thick: median of the runs".to_owned();
    note.push_str(if several { ", with its interval. " } else { ". " });
    if series.iter().any(|of| (2..=MOST_HAIRS).contains(&of.runs.len())) {
        note.push_str("Hair: each run. ");
    }
    note.push_str("A line ends at the last percentile that enough samples support");
    note.push_str(if pooled { "; dashed: of all runs pooled." } else { "." });
    note.push_str(&longest(&focus, kind));
    let mut conditions = vec!["by percentile".to_owned(), "logarithmic".to_owned()];
    conditions.extend(sizes_and_n(&cells, Some(kind)));
    let words = if kind == "rtt" { "Round-trip time" } else { "Response time" };
    let frame = Frame {
        id,
        short: "Percentiles",
        title: format!("{words} by percentile"),
        quantity,
        conditions,
        note,
        drawn: format!(
            "Line plot of the times of {} over percentiles, on an axis where each nine has the same width; times are \
             logarithmic.",
            names(&focus)
        ),
    };
    let y = Axis { unit: Unit::Nanoseconds, scale: Scale::Log, ..Axis::default() };
    let kind = ChartKind::Percentiles(Percentiles { y, series });
    let mut figure = frame.around(scene, (&cells, &why), kind);
    // All percentiles, not the one that gives the direction.
    figure.chart.subtitle =
        figure.chart.subtitle.replacen(&super::frame::capital(quantity.words()), words, 1);
    Some(figure)
}

/// Returns a sentence with the longest time of all runs of each cell, beyond all percentiles; empty without times.
fn longest(focus: &[(&Series, &CellResult)], kind: &str) -> String {
    let of_cell = |(series, cell): &(&Series, &CellResult)| {
        let runs = cell.claimed_runs().filter_map(|run| run.latency.get(kind)).filter(|of| of.n > 0);
        let longest = charts::number::value(runs.map(|of| of.max_ns).max()? as f64, Unit::Nanoseconds);
        Some(if focus.len() > 1 { format!("{longest} with {}", series.name) } else { longest })
    };
    let all: Vec<String> = focus.iter().filter_map(of_cell).collect();
    if all.is_empty() { String::new() } else { format!(" The longest of all: {}.", list(&all)) }
}

fn of_cell(series: &Series, cell: &CellResult, kind: &str) -> Option<PercentileSeries> {
    let whole = cell.latency.get(kind)?;
    let runs: Vec<&results::Latency> =
        cell.claimed_runs().filter_map(|run| run.latency.get(kind)).filter(|of| of.n > 0).collect();
    let mut shown = PercentileSeries { series: series.clone(), ..PercentileSeries::default() };
    let minima: Vec<f64> = runs.iter().map(|run| run.min_ns as f64).collect();
    shown.median.extend(estimate(&minima).map(|estimate| PercentilePoint { quantile: 0.0, estimate }));
    for (index, quantile) in QUANTILES.into_iter().enumerate() {
        let Some(value) = whole.quantiles()[index].filter(|ns| whole.is_resolved(*ns)) else { continue };
        if whole.is_pooled(quantile) {
            shown.pooled.push(PercentilePoint { quantile, estimate: Estimate::exact(value) });
            continue;
        }
        let of_run = |run: &&results::Latency| match run.quantiles()[index] {
            Some(ns) => Some(ns as f64),
            None if run.is_lost(quantile) => Some(f64::INFINITY),
            None => None,
        };
        let values: Vec<f64> = runs.iter().filter_map(of_run).collect();
        shown.median.extend(estimate(&values).map(|estimate| PercentilePoint { quantile, estimate }));
    }
    let hair = |run: &&results::Latency| {
        let known = run.quantiles().into_iter().zip(QUANTILES).filter_map(|(ns, quantile)| {
            Some(PercentilePoint { quantile, estimate: Estimate::exact(ns? as f64) })
        });
        let least = PercentilePoint { quantile: 0.0, estimate: Estimate::exact(run.min_ns as f64) };
        std::iter::once(least).chain(known).collect()
    };
    if runs.len() > 1 {
        shown.runs = runs.iter().map(hair).collect();
    }
    Some(shown).filter(|shown| shown.median.len() > 1)
}
