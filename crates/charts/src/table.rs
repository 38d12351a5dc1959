//! Tables of the values that charts draw.

use crate::{
    axes::XAxis,
    draw::{MOST_RUNS, heat_prefix, heat_text},
    model::{
        Axis, Bars, Chart, ChartKind, Estimate, Forest, Heat, Line, LineStyle, Lines, Percentiles, Point,
        RunMark, RunStrip, SpanKind, Table, Timeline, Trials, Unit,
    },
    number::{NONE, Prefix, change, interval, plain, round},
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
    match estimate.interval {
        Some(interval) => {
            format!("{} to {}", plain(interval.low / prefix.factor), plain(interval.high / prefix.factor))
        }
        None => NONE.to_owned(),
    }
}

fn number(value: f64, prefix: Prefix) -> String {
    plain(value / prefix.factor)
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
    let unit = strip.y.unit;
    let prefix =
        unit.common_prefix(strip.series.iter().flat_map(|series| series.runs.iter().map(|run| run.value)));
    let mut rows = Vec::new();
    for series in &strip.series {
        let name = &series.series.name;
        if let Some(median) = series.median {
            let ends = ends(median, prefix);
            rows.push(vec![
                name.clone(),
                "median".to_owned(),
                number(median.value, prefix),
                ends,
                String::new(),
            ]);
        }
        let limit = series
            .limit
            .map(|limit| ["limit".to_owned(), number(limit, prefix), NONE.to_owned(), String::new()]);
        rows.extend(limit.map(|row| [vec![name.clone()], row.to_vec()].concat()));
        for run in &series.runs {
            let kind = match run.mark {
                RunMark::Counted => "",
                RunMark::Second => "second run of the baseline, not in the median",
                RunMark::Doubtful => "compare with care",
                RunMark::Invalid => "invalid, not in the median",
            };
            let noisy = if strip.noisy.contains(&run.block) { "noisy block" } else { "" };
            let words = joined(&[kind, noisy, &run.detail]);
            let value = number(run.value, prefix);
            rows.push(vec![name.clone(), format!("block {}", run.block), value, NONE.to_owned(), words]);
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
            let find = |points: &[crate::model::PercentilePoint]| {
                points.iter().find(|point| point.quantile == quantile).map(|point| point.estimate)
            };
            let value = |estimate: Option<Estimate>| {
                estimate.map_or_else(|| NONE.to_owned(), |estimate| number(estimate.value, prefix))
            };
            let median = find(&series.median);
            let mut row = vec![series.series.name.clone(), round(quantile * 100.0), value(median)];
            row.push(median.map_or_else(|| NONE.to_owned(), |median| ends(median, prefix)));
            row.push(value(find(&series.pooled)));
            row.extend((0..runs).map(|run| value(shown_runs.get(run).and_then(|points| find(points)))));
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
            let place = XAxis::text(&lines.x, point.x);
            let words = joined(&[care, &point.detail]);
            vec![name, place, number(point.y.value, prefix), ends(point.y, prefix), words]
        };
        rows.extend(line.points.iter().map(|point| row(&line.role, point)));
        rows.extend(line.band.iter().map(|point| row(&line.band_name, point)));
        rows.extend(line.runs.iter().map(|point| row("run", point)));
    }
    let references = lines.panels.iter().flat_map(|panel| &panel.references);
    for reference in references {
        let (label, row) = match reference {
            crate::model::Reference::Horizontal { at, label, .. } => {
                (label, ["-".to_owned(), number(*at, prefix)])
            }
            crate::model::Reference::Vertical { at, label, .. } => {
                (label, [XAxis::text(&lines.x, *at), NONE.to_owned()])
            }
        };
        let [x, y] = row;
        let row = vec![label.clone(), x, y, NONE.to_owned(), "reference".to_owned()];
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
    for panel in &timeline.panels {
        let name = &panel.series.name;
        for window in &panel.windows {
            let noisy = panel.spans.iter().filter(|span| span.start < window.end && span.end > window.start);
            let mut words: Vec<&str> = noisy.map(|span| span.kind.words()).collect();
            words.dedup();
            let mut row =
                vec![name.clone(), time(window.start), time(window.end), number(window.value, prefix)];
            if has_longest {
                row.push(window.longest.map_or_else(|| NONE.to_owned(), |longest| number(longest, prefix)));
            }
            row.push(joined(&words));
            rows.push(row);
        }
        for span in panel.spans.iter().filter(|span| span.kind == SpanKind::Gap) {
            let mut row = vec![name.clone(), time(span.start), time(span.end), NONE.to_owned()];
            row.extend(has_longest.then(|| NONE.to_owned()));
            row.push(span.kind.words().to_owned());
            rows.push(row);
        }
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
            let part = |index: usize| {
                bar.parts.get(index).map_or_else(|| NONE.to_owned(), |part| number(*part, prefix))
            };
            let mut row = vec![bar.series.name.clone(), group.label.clone()];
            row.extend((0..bars.parts.len()).map(part));
            row.extend([number(bar.total.value, prefix), ends(bar.total, prefix)]);
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
    let row = |row: &crate::model::HeatRow| {
        let mut texts = vec![row.label.clone()];
        texts.extend((0..heat.columns.len()).map(|column| match row.cells.get(column) {
            Some(cell) if cell.hollow => joined(&[&heat_text(heat, cell, prefix), "compare with care"]),
            Some(cell) => heat_text(heat, cell, prefix),
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
    let Axis { unit, .. } = trials.y;
    let prefix = unit.common_prefix(
        trials.searches.iter().flat_map(|search| search.trials.iter().map(|trial| trial.load)),
    );
    let mut rows = Vec::new();
    for search in &trials.searches {
        let name = &search.series.name;
        for (index, trial) in search.trials.iter().enumerate() {
            let load = number(trial.load, prefix);
            let words = joined(&[trial.outcome.word(), &trial.detail]);
            rows.push(vec![name.clone(), format!("trial {}", index + 1), load, NONE.to_owned(), words]);
        }
        if let Some(found) = search.found {
            let value = number(found.value, prefix);
            rows.push(vec![
                name.clone(),
                "found".to_owned(),
                value,
                ends(found, prefix),
                interval_words(found, unit),
            ]);
        }
    }
    let load = titled("load", prefix.name);
    Table { head: head(&["search", "trial", &load, bounds, "outcome"]), rows }
}

fn interval_words(found: Estimate, unit: Unit) -> String {
    found.interval.map_or_else(String::new, |ends| interval(ends, unit))
}
