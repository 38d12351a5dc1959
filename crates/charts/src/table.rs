//! Tables of the values that charts draw.

use crate::{
    axes::XAxis,
    draw::{MOST_RUNS, NO_SAMPLE, heat_prefix},
    model::{
        Bars, Chart, ChartKind, Estimate, Forest, Heat, HeatRow, Line, LineStyle, Lines, PercentilePoint,
        Percentiles, Point, Reference, RunMark, RunStrip, SearchTrials, StripSeries, Table, Timeline,
        TimelinePanel, Trials, Unit,
    },
    number::{NONE, Prefix, change, round, with_unit},
};

/// Returns the values that a chart draws, as text with the same digits as in the chart.
#[must_use]
pub fn table(chart: &Chart) -> Table {
    let bounds = chart.interval_name.as_str();
    let bounds = if bounds.is_empty() { "interval" } else { bounds };
    match &chart.kind {
        ChartKind::Forest(forest) => self::forest(forest, bounds),
        ChartKind::RunStrip(strip) => self::strip(strip, bounds),
        ChartKind::Percentiles(percentiles) => self::percentiles(percentiles, bounds),
        ChartKind::Lines(lines) => self::lines(lines, bounds),
        ChartKind::Timeline(timeline) => self::timeline(timeline),
        ChartKind::Bars(bars) => self::bars(bars, bounds),
        ChartKind::Heat(heat) => self::heat(heat),
        ChartKind::Trials(trials) => self::trials(trials, bounds),
    }
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn titled(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

/// Returns an interval without its unit.
fn ends(estimate: Estimate, prefix: Prefix) -> String {
    estimate.interval.map_or_else(|| NONE.to_owned(), |interval| prefix.ends(interval))
}

/// Returns the row of a value: what it belongs to, its place, the value with its interval, and remarks.
fn row(name: &str, place: String, value: Estimate, prefix: Prefix, remarks: String) -> Vec<String> {
    vec![name.to_owned(), place, prefix.number(value.value), ends(value, prefix), remarks]
}

/// Returns the texts that are not empty, joined.
fn joined(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    texts.join("; ")
}

fn forest(forest: &Forest, bounds: &str) -> Table {
    let rows = forest.rows.iter().map(|row| {
        let both = |low: f64, high: f64| format!("{} to {}", change(low), change(high));
        let bounds = row.ratio.interval.map_or_else(|| NONE.to_owned(), |ends| both(ends.low, ends.high));
        let noise = row.noise.map_or_else(|| NONE.to_owned(), |noise| both(noise.low, noise.high));
        let name =
            if row.group.is_empty() { row.label.clone() } else { format!("{}, {}", row.group, row.label) };
        let words = if row.words.is_empty() { row.claim.word().to_owned() } else { row.words.clone() };
        vec![name, change(row.ratio.value), bounds, noise, words]
    });
    let change = if forest.axis_label.is_empty() { "change" } else { &forest.axis_label };
    Table { head: head(&["comparison", change, bounds, "noise floor", "verdict"]), rows: rows.collect() }
}

fn strip(strip: &RunStrip, bounds: &str) -> Table {
    let runs = strip.series.iter().flat_map(|series| &series.runs);
    let prefix = strip.y.unit.common_prefix(runs.map(|run| run.value));
    let mut rows = Vec::new();
    for StripSeries { series, runs, median, limit } in &strip.series {
        let row = |place: String, value, remarks| row(&series.name, place, value, prefix, remarks);
        rows.extend(median.map(|median| row("median".to_owned(), median, String::new())));
        rows.extend(limit.map(|limit| row("limit".to_owned(), Estimate::exact(limit), String::new())));
        for run in runs {
            let kind = match run.mark {
                RunMark::Counted => "",
                RunMark::Second => "second run of the baseline, not in the median",
                RunMark::Doubtful => "compare with care",
                RunMark::Invalid => "invalid, not in the median",
            };
            let noisy = if strip.noisy.contains(&run.block) { "noisy block" } else { "" };
            let remarks = joined(&[kind, noisy, &run.detail]);
            rows.push(row(format!("block {}", run.block), Estimate::exact(run.value), remarks));
        }
    }
    let value = titled("value", prefix.name);
    Table { head: head(&["series", "run", &value, bounds, "remarks"]), rows }
}

fn percentiles(percentiles: &Percentiles, bounds: &str) -> Table {
    let unit = percentiles.y.unit;
    let runs = percentiles.series.iter().map(|series| series.runs.len()).filter(|runs| *runs <= MOST_RUNS);
    let runs = runs.max().unwrap_or(0);
    let drawn = percentiles.series.iter().flat_map(|series| series.median.iter().chain(&series.pooled));
    let prefix = unit.common_prefix(drawn.map(|point| point.estimate.value));
    let mut rows = Vec::new();
    for series in &percentiles.series {
        let shown_runs = if series.runs.len() <= MOST_RUNS { series.runs.as_slice() } else { &[] };
        let all = series.median.iter().chain(&series.pooled).chain(shown_runs.iter().flatten());
        let mut quantiles: Vec<f64> = all.map(|point| point.quantile).collect();
        quantiles.sort_by(f64::total_cmp);
        quantiles.dedup();
        for quantile in quantiles {
            let find = |points: &[PercentilePoint]| {
                points.iter().find(|point| point.quantile == quantile).map(|point| point.estimate)
            };
            let value = |estimate: Option<Estimate>| estimate.unwrap_or(Estimate::exact(f64::NAN));
            let pooled = prefix.number(value(find(&series.pooled)).value);
            let median = value(find(&series.median));
            let mut row = row(&series.series.name, round(quantile * 100.0), median, prefix, pooled);
            let of_run = |run: usize| value(shown_runs.get(run).and_then(|points| find(points))).value;
            row.extend((0..runs).map(|run| prefix.number(of_run(run))));
            rows.push(row);
        }
    }
    let median = titled("median of the runs", prefix.name);
    let mut head = head(&["series", "percentile (%)", &median, bounds, "all runs pooled"]);
    head.extend((1..=runs).map(|run| format!("run {run}")));
    Table { head, rows }
}

fn lines(lines: &Lines, bounds: &str) -> Table {
    let shown = |line: &&Line| line.style != LineStyle::Ghost;
    let all = || lines.panels.iter().flat_map(|panel| &panel.lines).filter(shown);
    let values = all().flat_map(|line| line.points.iter().chain(&line.band).chain(&line.runs));
    let prefix = lines.y.unit.common_prefix(values.map(|point| point.y.value));
    let mut rows = Vec::new();
    for line in all() {
        let row = |role: &str, point: &Point| {
            let name = [line.series.name.as_str(), role].into_iter().filter(|text| !text.is_empty());
            let name = name.collect::<Vec<_>>().join(", ");
            let care = if point.hollow { "compare with care" } else { "" };
            let remarks = joined(&[care, &point.detail]);
            row(&name, XAxis::text(&lines.x, point.x), point.y, prefix, remarks)
        };
        rows.extend(line.points.iter().map(|point| row(&line.role, point)));
        rows.extend(line.band.iter().map(|point| row(&line.band_name, point)));
        rows.extend(line.runs.iter().map(|point| row("run", point)));
    }
    for Reference { at, label, .. } in lines.panels.iter().flat_map(|panel| &panel.references) {
        let none = Estimate::exact(f64::NAN);
        let row = row(label, XAxis::text(&lines.x, *at), none, prefix, "dotted line".to_owned());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let x = if lines.x.label.is_empty() { "x" } else { &lines.x.label };
    let value = titled("value", prefix.name);
    Table { head: head(&["series", x, &value, bounds, "remarks"]), rows }
}

fn timeline(timeline: &Timeline) -> Table {
    let unit = timeline.y.unit;
    let windows = || timeline.panels.iter().flat_map(|panel| &panel.windows);
    let prefix = unit.common_prefix(windows().map(|window| window.value));
    let has_longest = windows().any(|window| window.longest.is_some());
    let times = Unit::Nanoseconds.prefix(windows().map(|window| window.end).fold(0.0, f64::max));
    let time = |time: f64| round(time / times.factor);
    let mut rows = Vec::new();
    for TimelinePanel { series, windows, gaps } in &timeline.panels {
        let mut add = |[start, end]: [f64; 2], value: f64, longest: Option<f64>, has_gap: bool| {
            let mut row = vec![series.name.clone(), time(start), time(end), prefix.number(value)];
            row.extend(has_longest.then(|| prefix.number(longest.unwrap_or(f64::NAN))));
            row.push(if has_gap { NO_SAMPLE } else { "" }.to_owned());
            rows.push(row);
        };
        for window in windows {
            let has_gap = gaps.iter().any(|gap| gap.low < window.end && gap.high > window.start);
            add([window.start, window.end], window.value, window.longest, has_gap);
        }
        gaps.iter().for_each(|gap| add([gap.low, gap.high], f64::NAN, None, true));
    }
    let [start, end] = ["start", "end"].map(|name| titled(name, times.name));
    let value = titled(if has_longest { "median" } else { "value" }, prefix.name);
    let longest = titled("longest", prefix.name);
    let mut head = head(&["series", &start, &end, &value]);
    head.extend(has_longest.then_some(longest));
    head.push("remarks".to_owned());
    Table { head, rows }
}

fn bars(bars: &Bars, bounds: &str) -> Table {
    let all = || bars.groups.iter().flat_map(|group| &group.bars);
    let prefix = bars.x.unit.common_prefix(all().map(|bar| bar.total.value));
    let mut rows = Vec::new();
    for group in &bars.groups {
        for bar in &group.bars {
            let part = |index: usize| prefix.number(bar.parts.get(index).copied().unwrap_or(f64::NAN));
            let mut row = vec![bar.series.name.clone(), group.label.clone()];
            row.extend((0..bars.parts.len()).map(part));
            row.extend([prefix.number(bar.total.value), ends(bar.total, prefix)]);
            rows.push(row);
        }
    }
    let group = if bars.group_label.is_empty() { "group" } else { &bars.group_label };
    let mut head = head(&["series", group]);
    head.extend(bars.parts.iter().map(|part| titled(part, prefix.name)));
    let total = if bars.parts.is_empty() { "value" } else { "sum" };
    head.extend([titled(total, prefix.name), bounds.to_owned()]);
    Table { head, rows }
}

fn heat(heat: &Heat) -> Table {
    let prefix = heat_prefix(heat);
    let row = |row: &HeatRow| {
        let mut texts = vec![row.label.clone()];
        texts.extend((0..heat.columns.len()).map(|column| match row.cells.get(column) {
            Some(cell) if cell.hollow => joined(&[&prefix.number(cell.value), "compare with care"]),
            Some(cell) => prefix.number(cell.value),
            None => NONE.to_owned(),
        }));
        texts
    };
    let mut head =
        vec![titled(if heat.row_label.is_empty() { "cell" } else { &heat.row_label }, prefix.name)];
    head.extend(heat.columns.iter().cloned());
    Table { head, rows: heat.rows.iter().map(row).collect() }
}

fn trials(trials: &Trials, bounds: &str) -> Table {
    let unit = trials.y.unit;
    let all = trials.searches.iter().flat_map(|search| &search.trials);
    let prefix = unit.common_prefix(all.map(|trial| trial.load));
    let mut rows = Vec::new();
    for SearchTrials { series, trials, found } in &trials.searches {
        let row = |place: String, load, outcome| row(&series.name, place, load, prefix, outcome);
        for (index, trial) in trials.iter().enumerate() {
            let outcome = joined(&[trial.outcome.word(), &trial.detail]);
            rows.push(row(format!("trial {}", index + 1), Estimate::exact(trial.load), outcome));
        }
        if let Some(found) = *found {
            let words = found.interval.map_or_else(String::new, |ends| with_unit(&prefix.ends(ends), prefix));
            rows.push(row("found".to_owned(), found, words));
        }
    }
    let load = titled("load", prefix.name);
    Table { head: head(&["search", "trial", &load, bounds, "outcome"]), rows }
}
