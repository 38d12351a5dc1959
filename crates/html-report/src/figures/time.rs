//! One run over time.

use charts::{Axis, ChartKind, Interval, Scale, Series, Timeline, TimelinePanel, Unit, Window};
use experiment::{Load, Rate, Workload};
use results::{CellResult, LogWindow, Metric};

use super::{
    choice::telling,
    distribution::{OfWorkload, at_one_size, scale},
    frame::{Frame, MOST_NAMED, first_of, names, noisy, sizes_and_n},
    limits::ONE_PANEL,
};
use crate::{page::Figure, scene::Scene, values::Quantity};

fn of_workload<'s, 'd>(scene: &'s Scene<'d>, workload: Workload) -> Vec<(&'s Series, &'d CellResult)> {
    let mut all = scene.of_workload(workload);
    if workload == Workload::Paced {
        // The highest load shows most of what a load does.
        let rate = |cell: &CellResult| cell.factors.load.as_ref().and_then(Load::rate).map_or(0.0, Rate::sps);
        for (_, cells) in &mut all {
            let highest = cells.iter().map(|cell| rate(cell)).fold(0.0, f64::max);
            cells.retain(|cell| rate(cell) >= highest);
        }
    }
    let mut focus = at_one_size(&all, false);
    // The median of all flows of a mix depends on which one sends most.
    focus.retain(|(_, cell)| cell.factors.flows.len() < 2);
    focus
}

/// Returns the median run of each series over time, if its windows are known.
pub(crate) fn figures(scene: &Scene<'_>, workload: Workload) -> Vec<Figure> {
    let nominal = window_ns(scene);
    let (id, metric, kind, words) = match workload {
        Workload::Paced => ("time-under-load", Metric::ResponseP50, "response", "Response time"),
        _ => ("time", Metric::RttP50, "rtt", "Round-trip time"),
    };
    let quantity = Quantity::Metric(metric);
    let focus = of_workload(scene, workload);
    let (focus, why) = telling(scene, focus, (ONE_PANEL, |cell| quantity.median(cell)), |cell| *cell);
    let panel = |(series, cell): &(&Series, &CellResult)| {
        let windows = (scene.windows)(quantity.median_run(cell)?.number, kind);
        panel(series, &windows, nominal)
    };
    let panels: Vec<TimelinePanel> = focus.iter().filter_map(panel).collect();
    if panels.is_empty() {
        return Vec::new();
    }
    let cells: Vec<&CellResult> = focus.iter().map(|(_, cell)| *cell).collect();
    let has_gaps = panels.iter().any(|panel| !panel.gaps.is_empty());
    let gaps = if has_gaps { " Shaded: no sample arrived." } else { "" };
    let mut conditions = vec![
        format!("median and longest of each {}", report::parts::duration(nominal)),
        "logarithmic".to_owned(),
    ];
    conditions.extend(sizes_and_n(&cells, None));
    let frame = Frame {
        id,
        short: "Time",
        title: format!("{words} within one run{}", which_run(&cells)),
        quantity,
        conditions,
        note: format!("Line: median of a window. Stem: its longest time.{gaps}"),
        drawn: format!(
            "Time series of the median run of {}: the median of each window as a line, its longest time as a stem.",
            names(&focus)
        ),
    };
    let y = Axis { unit: Unit::Nanoseconds, scale: Scale::Log, ..Axis::default() };
    vec![frame.around(scene, (&cells, &why), ChartKind::Timeline(Timeline { y, panels }))]
}

/// Returns which run is shown of these cells, to follow a title.
fn which_run(cells: &[&CellResult]) -> &'static str {
    match cells {
        [cell] if cell.claimed_runs().count() < 2 => "",
        [_] => ": the median run",
        _ => ": the median run of each",
    }
}

/// Returns the length of a window of a run, in ns.
fn window_ns(scene: &Scene<'_>) -> u64 {
    let design = &scene.document.experiment.design;
    (design.measure_ns / u64::from(design.windows.max(1))).max(1)
}

/// Returns the rate of each window of a run; of results of earlier versions, its levels.
fn rate_windows(state: &results::SteadyState, length: u64) -> Vec<Window> {
    let Some(kept) = &state.windows else { return steps(&state.segments, length) };
    let length = kept.length_ns.max(1) as f64;
    let of_window = |(index, delivered): (usize, &u64)| {
        let start = index as f64 * length;
        Window { start, end: start + length, value: *delivered as f64 * 1e9 / length, longest: None }
    };
    kept.delivered.iter().enumerate().map(of_window).collect()
}

/// Returns the levels of a rate as windows of one length, so that a change is a step.
fn steps(segments: &[results::SteadySegment], length: u64) -> Vec<Window> {
    let of_segment = |segment: &results::SteadySegment| {
        let (value, end) = (segment.level_sps, segment.to_ns);
        let starts = (segment.from_ns..end).step_by(usize::try_from(length).unwrap_or(usize::MAX));
        let windows = starts.filter_map(move |start| {
            let end = (start + length).min(end) as f64;
            Some(Window { start: start as f64, end, value: value?, longest: None })
        });
        windows.collect::<Vec<_>>()
    };
    segments.iter().flat_map(of_segment).collect()
}

/// Returns a panel; `None` without windows.
fn panel(series: &Series, windows: &[LogWindow], length: u64) -> Option<TimelinePanel> {
    let known: Vec<&LogWindow> = windows.iter().filter(|window| window.samples > 0).collect();
    let shown: Vec<Window> = known
        .iter()
        .map(|window| Window {
            start: window.start_ns as f64,
            end: (window.start_ns + length) as f64,
            value: window.p50_ns as f64,
            longest: Some(window.max_ns as f64),
        })
        .collect();
    let gap = |pair: &[&LogWindow]| {
        let end = pair[0].start_ns + length;
        // Starts are accurate to 1 ms.
        let gap = Interval { low: end as f64, high: pair[1].start_ns as f64 };
        (pair[1].start_ns > end + length / 2).then_some(gap)
    };
    let gaps = known.windows(2).filter_map(gap).collect();
    (shown.len() > 1).then(|| TimelinePanel { series: series.clone(), windows: shown, gaps })
}

/// Returns the delivered rate of the median run over time, if a run has more than one level.
pub(crate) fn rates(scene: &Scene<'_>, all: &OfWorkload<'_, '_>) -> Vec<Figure> {
    let quantity = Quantity::Metric(Metric::Delivered);
    let nominal = window_ns(scene);
    let (focus, why) =
        telling(scene, at_one_size(all, true), (ONE_PANEL, |cell| quantity.median(cell)), |cell| *cell);
    let noisy = noisy(scene);
    let panel = |(series, cell): &(&Series, &CellResult)| {
        let run = quantity.median_run(cell)?;
        let levels = run.steady_state.get("delivered")?;
        let is_varying = levels.segments.len() > 1;
        let windows = rate_windows(levels, nominal);
        let length = levels.windows.as_ref().map(|kept| kept.length_ns);
        let panel = TimelinePanel { series: (*series).clone(), windows, gaps: Vec::new() };
        let is_noisy = noisy.contains(&run.block);
        (!panel.windows.is_empty()).then_some((panel, (is_varying, length, is_noisy)))
    };
    let (panels, shown): (Vec<TimelinePanel>, Vec<_>) = focus.iter().filter_map(panel).unzip();
    if !shown.iter().any(|(is_varying, ..)| *is_varying) {
        return Vec::new();
    }
    let mut note = match shown.iter().map(|(_, length, _)| *length).min().flatten() {
        Some(length) => format!("Step: the rate of {}.", report::parts::duration(length)),
        None => {
            "Step: a level of the rate, between two changes that a test of change points finds.".to_owned()
        }
    };
    let in_noise = panels.iter().zip(&shown).filter(|(_, (.., is_noisy))| *is_noisy);
    let in_noise: Vec<String> = in_noise.map(|(panel, _)| panel.series.name.clone()).collect();
    if !in_noise.is_empty() {
        note.push_str(&format!(" In a noisy block: {}.", first_of(MOST_NAMED, in_noise)));
    }
    let cells: Vec<&CellResult> = focus.iter().map(|(_, cell)| *cell).collect();
    let values: Vec<f64> =
        panels.iter().flat_map(|panel| panel.windows.iter().map(|window| window.value)).collect();
    let scale = match scale(&values) {
        Scale::Log => Scale::Log,
        _ => Scale::FromZero,
    };
    let frame = Frame {
        id: "rate-over-time",
        short: "Rate over time",
        title: format!("Delivered rate within one run{}", which_run(&cells)),
        quantity,
        conditions: sizes_and_n(&cells, None),
        note,
        drawn: format!("Time series of the delivered rate of the median run of {}, in steps.", names(&focus)),
    };
    let y = Axis { unit: Unit::SamplesPerSecond, scale, ..Axis::default() };
    vec![frame.around(scene, (&cells, &why), ChartKind::Timeline(Timeline { y, panels }))]
}
