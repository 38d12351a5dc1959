//! Small picture in characters: what a table says less well, on one scale.

use experiment::Workload;
use results::{CellLatency, CellResult, MAX_LATENCY_LOSS_PCT, ResultDocument, Run, format_value};
use stats::median_interval;

use super::{
    line::{Kind, Line},
    rows::{Named, named},
    scale::Scale,
};
use crate::{number::count, tables::quantile};

/// Characters of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Characters of UTF-8.
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Minimum number of columns of a terminal with a picture.
pub(super) const MIN_COLUMNS: usize = 80;
/// Maximum number of rows, besides the title and the scale.
const ROWS: usize = 4;
/// Maximum number of characters of a name.
const NAME: usize = 24;
/// Minimum number of sizes of a picture over the size.
const SIZES: usize = 4;
/// Unit of latencies, and kind of their scale.
const UNIT: &str = "µs, logarithmic";
/// Index of the median and of the 99 % quantile among the quantiles.
const P50: usize = 0;
const P99: usize = 2;

/// Marks of a distribution.
struct Marks {
    median: char,
    interval: char,
    tail: char,
    p99: char,
}

impl Charset {
    const fn marks(self) -> Marks {
        match self {
            Self::Unicode => Marks { median: '●', interval: '━', tail: '─', p99: '┤' },
            Self::Ascii => Marks { median: 'o', interval: '=', tail: '-', p99: '|' },
        }
    }

    /// Returns bars of increasing height.
    const fn bars(self) -> [char; 8] {
        match self {
            Self::Unicode => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => ['1', '2', '3', '4', '5', '6', '7', '8'],
        }
    }
}

/// Returns the picture of a result, at most 6 lines of at most `width` columns: the latency of several configurations, else their
/// rates over the size. None if neither says more than the table.
pub(super) fn picture(document: &ResultDocument, charset: Charset, width: usize) -> Vec<Line> {
    if width < MIN_COLUMNS {
        return Vec::new();
    }
    let named = named(document);
    let lines = latencies(&named, charset, width).or_else(|| rates(&named, charset, width));
    let plain = |text: String| Line::new(Kind::Plain, &text);
    lines.unwrap_or_default().into_iter().map(plain).collect()
}

/// Distribution of a configuration.
struct Distribution<'d> {
    name: String,
    latency: &'d CellLatency,
    /// Median and 99 % quantile in µs, and the medians of the runs.
    p50_us: f64,
    p99_us: Option<f64>,
    of_runs: Vec<f64>,
}

impl<'d> Distribution<'d> {
    /// Returns the distribution of a cell; `None` without one that can be compared.
    fn of((name, cell): &Named<'d>, kind: &str) -> Option<Self> {
        let latency = cell.latency.get(kind)?;
        let of_quantile =
            |index: usize| latency.quantiles()[index].filter(|ns| *ns > 0.0 && latency.is_resolved(*ns));
        let p50_us = of_quantile(P50)? / 1e3;
        let of_run = |run: &Run| Some(run.latency.get(kind)?.quantiles()[P50]? as f64 / 1e3);
        let of_runs: Vec<f64> = cell.claimed_runs().filter_map(of_run).filter(|us| *us > 0.0).collect();
        let is_lossy = cell.shortfall().pct() > MAX_LATENCY_LOSS_PCT;
        let p99_us = of_quantile(P99).map(|ns| ns / 1e3);
        (!is_lossy).then(|| Self { name: shortened(name), latency, p50_us, p99_us, of_runs })
    }

    /// Returns the 95 % interval of the median over the runs, or the range of the runs.
    fn interval_us(&self, is_exact: bool) -> (f64, f64) {
        let range = || {
            let ends = (self.p50_us, self.p50_us);
            self.of_runs.iter().fold(ends, |(least, most), us| (least.min(*us), most.max(*us)))
        };
        median_interval(&self.of_runs).filter(|_| is_exact).unwrap_or_else(range)
    }
}

/// Returns the latency of the configurations at one size and load: the first one with most of them.
fn latencies(named: &[Named<'_>], charset: Charset, width: usize) -> Option<Vec<String>> {
    let kind_of = |workload: Workload| match workload {
        Workload::Latency => Some("rtt"),
        Workload::Paced => Some("response"),
        Workload::Throughput | Workload::Search | Workload::Discovery => None,
    };
    let point =
        |cell: &CellResult| (cell.factors.workload, cell.factors.size_bytes, cell.factors.load.clone());
    let mut best: Vec<Distribution<'_>> = Vec::new();
    let mut shown = None;
    for (_, first) in named {
        let Some(kind) = kind_of(first.factors.workload) else { continue };
        let same: Vec<_> = named.iter().filter(|(_, cell)| point(cell) == point(first)).collect();
        let found: Vec<_> = same.iter().filter_map(|one| Distribution::of(one, kind)).collect();
        let is_whole = found.len() == same.len() && (2..=ROWS).contains(&found.len());
        if is_whole && are_distinct(found.iter().map(|one| &one.name)) && found.len() > best.len() {
            (best, shown) = (found, Some(first));
        }
    }
    let factors = &shown?.factors;
    let what = if factors.workload == Workload::Latency { "RTT" } else { "Response" };
    let load = factors.load.as_ref().map_or_else(String::new, |load| format!(", {load}"));
    Some(distributions(&best, &format!("{what} at {} bytes{load}", factors.size_bytes), charset, width))
}

fn are_distinct<'n>(names: impl Iterator<Item = &'n String>) -> bool {
    let mut names: Vec<&String> = names.collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() == all
}

/// Draws distributions on one scale.
fn distributions(all: &[Distribution<'_>], what: &str, charset: Charset, width: usize) -> Vec<String> {
    let Marks { median, interval, tail, p99 } = charset.marks();
    let is_exact = all.iter().all(|one| median_interval(&one.of_runs).is_some());
    let intervals: Vec<(f64, f64)> = all.iter().map(|one| one.interval_us(is_exact)).collect();
    let least = all.iter().zip(&intervals).map(|(one, interval)| interval.0.min(one.p50_us));
    let least = least.fold(f64::INFINITY, f64::min);
    let ends = all.iter().zip(&intervals).map(|(one, interval)| one.p99_us.unwrap_or(0.0).max(interval.1));
    let values: Vec<String> = all.iter().map(|one| quantile(one.latency, P50)).collect();
    let names = longest(all.iter().map(|one| one.name.as_str()));
    let before = 2 + names + 2 + longest(values.iter().map(String::as_str)) + 2;
    let before = before.max(2 + UNIT.chars().count() + 2);
    let scale = Scale::new((least, ends.fold(least, f64::max)), width - before - 1);
    let runs = || all.iter().map(|one| one.of_runs.len());
    let runs = match (runs().min().unwrap_or(0), runs().max().unwrap_or(0)) {
        (least, most) if least != most => format!("{least} to {most} runs"),
        (_, most) => count(most, "run"),
    };
    let of_runs = match is_exact {
        true => format!("95 % interval of {runs}"),
        false => format!("range of {runs}"),
    };
    let tails =
        if all.iter().any(|one| one.p99_us.is_some()) { format!(", {p99} p99") } else { String::new() };
    let mut lines = vec![format!("  {what}: {median} p50, {interval} {of_runs}{tails}")];
    for ((one, value), ends_us) in all.iter().zip(&values).zip(intervals) {
        let mut row = vec![' '; scale.columns];
        let at = |us: f64| scale.column(us);
        if let Some(p99_us) = one.p99_us {
            row[at(one.p50_us)..=at(p99_us).max(at(one.p50_us))].fill(tail);
            row[at(p99_us)] = p99;
        }
        row[at(ends_us.0)..=at(ends_us.1)].fill(interval);
        row[at(one.p50_us)] = median;
        let row: String = row.into_iter().collect();
        let name = &one.name;
        let space = before - 2 - names - 2 - 2;
        lines.push(format!("  {name:names$}  {value:>space$}  {row}").trim_end().to_owned());
    }
    lines.push(format!("  {UNIT:<room$}{}", scale.labels(), room = before - 2));
    lines
}

/// Draws the rates of configurations over the size, if they have at least four sizes, all the same ones.
fn rates(named: &[Named<'_>], charset: Charset, width: usize) -> Option<Vec<String>> {
    let is_of_rates = |(_, cell): &&Named<'_>| cell.factors.workload == Workload::Throughput;
    let measured: Vec<(&String, u64, f64)> = named
        .iter()
        .filter(is_of_rates)
        .filter_map(|(name, cell)| {
            let rate = cell.throughput.as_ref()?.delivered_sps;
            (rate > 0.0).then_some((name, cell.factors.size_bytes, rate))
        })
        .collect();
    let mut sizes: Vec<u64> = measured.iter().map(|(_, size, _)| *size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let rows: Vec<_> = measured.chunk_by(|one, next| one.0 == next.0).collect();
    let has_all = |row: &&[(&String, u64, f64)]| row.iter().map(|one| &one.1).eq(&sizes);
    let heads: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let column = longest(heads.iter().map(String::as_str)).max(3) + 1;
    let names: Vec<String> = rows.iter().map(|row| shortened(row[0].0)).collect();
    let name = longest(names.iter().map(String::as_str)).max(4);
    let room = 2 + name + 2 + 9 + column * sizes.len() + 11;
    if sizes.len() < SIZES || rows.len() > ROWS || !rows.iter().all(has_all) || room > width {
        return None;
    }
    let bars = charset.bars();
    let of_all = || measured.iter().map(|(_, _, rate)| *rate);
    let (least, most) = (of_all().fold(f64::INFINITY, f64::min), of_all().fold(0.0, f64::max));
    let scale = Scale::new((least, most), bars.len());
    let (low, high) = scale.ends();
    let (short, tall) = (bars[0], bars[bars.len() - 1]);
    let mut lines = vec![format!(
        "  Samples/s over the size, from {short} {} to {tall} {}, logarithmic; first and last in figures",
        format_value(low),
        format_value(high)
    )];
    for (row, name_of_row) in rows.iter().zip(&names) {
        let bar = |rate: f64| bars[scale.column(rate)].to_string().repeat(column - 1);
        let drawn: Vec<String> = row.iter().map(|(_, _, rate)| bar(*rate)).collect();
        let [first, last] = [row[0], row[row.len() - 1]].map(|(_, _, rate)| format_value(rate));
        lines.push(format!("  {name_of_row:name$}  {first:>9}  {}  {last}", drawn.join(" ")));
    }
    let labels: Vec<String> = heads.iter().map(|head| format!("{head:<0$}", column - 1)).collect();
    lines.push(format!("  {:name$}  {:>9}  {}", "Size", "(B)", labels.join(" ")));
    Some(lines)
}

fn longest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Returns a name with at most [`NAME`] characters.
fn shortened(name: &str) -> String {
    let name = crate::escape::escaped(name);
    match name.chars().count() {
        0..=NAME => name.to_string(),
        _ => name.chars().take(NAME - 3).chain("...".chars()).collect(),
    }
}
