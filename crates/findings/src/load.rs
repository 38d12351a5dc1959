//! How an open loop goes over loads: up to which the response stays near that of the lowest one, and up to which as many
//! samples are accepted as were planned.

use experiment::{Arrival, Load, Share, Workload};
use results::{Cell, Finding, FindingKind, MAX_LATENCY_LOSS_PCT, Run};
use stats::Spread;

use crate::{
    KEPT, KNEE,
    figures::{Place, Side, lost_pct, over_runs, place, range},
    words::{between, figure, finding, list, micros, runs, three},
};

/// A cell in a curve over loads.
struct Point<'d> {
    cell: &'d Cell,
    sps: f64,
    spread: Spread,
}

impl Point<'_> {
    /// Its load in words.
    fn load(&self) -> String {
        in_words(self.cell, self.sps)
    }

    /// In percent of the maximum, as a number of this name, where it is planned so.
    fn percent(&self, name: &str) -> Option<(String, f64)> {
        Some((format!("{name}_of_maximum_pct"), share(self.cell)?.percent()))
    }
}

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (what, cells) in curves(side) {
        findings.extend(knee(&what, &cells));
        findings.extend(shortfall(&what, &cells));
    }
    findings
}

/// The cells that differ in their rate only, ascending, and what they are in words.
fn curves<'d>(side: &Side<'d>) -> Vec<(String, Vec<(&'d Cell, f64)>)> {
    let mut curves: Vec<(String, Vec<(&'d Cell, f64)>)> = Vec::new();
    for cell in side.of_workload(Workload::Paced) {
        let Some((load, rate)) = cell.factors.load.as_ref().and_then(|load| Some((load, load.rate()?)))
        else {
            continue;
        };
        let plan = match load {
            Load::Poisson { .. } | Load::Share { arrival: Arrival::Poisson, .. } => " (poisson)".to_owned(),
            Load::Burst { rate } => format!(" (bursts of {})", rate.samples),
            _ => String::new(),
        };
        let batch = match cell.factors.batch_bytes {
            0 => String::new(),
            bytes if cell.factors.batching.is_turbo() => {
                format!(" with {} batches up to {bytes} bytes", cell.factors.batching)
            }
            bytes => format!(" batched up to {bytes} bytes per flush"),
        };
        let what = format!("`{}` under load{plan} at {} bytes{batch}", side.name, cell.factors.size_bytes);
        match curves.iter_mut().find(|(known, _)| *known == what) {
            Some((_, cells)) => cells.push((cell, rate.sps())),
            None => curves.push((what, vec![(cell, rate.sps())])),
        }
    }
    for (_, cells) in &mut curves {
        cells.sort_by(|left, right| left.1.total_cmp(&right.1));
    }
    curves
}

/// The highest load at which the 99 % response is at most [`KNEE`] times that at the lowest one.
fn knee(what: &str, cells: &[(&Cell, f64)]) -> Option<Finding> {
    let takes_part = |cell: &Cell| !cell.is_sender_limited() && lost_pct(cell) <= MAX_LATENCY_LOSS_PCT;
    let points = points(cells.iter().filter(|(cell, _)| takes_part(cell)), response_p99_ns);
    let [first, .., last] = &points[..] else { return None };
    let limit = KNEE * first.spread.median;
    let places: Vec<Place> = points.iter().map(|point| place(&point.spread, limit)).collect();
    let within = places.iter().take_while(|place| **place == Place::Below).count();
    let (near, far) = points.split_at(within);
    let beyond = places.iter().rev().take_while(|place| **place == Place::Above).count();
    let unclear = &places[within..places.len() - beyond];
    let at_knee = near.last()?;
    let (low, high) = range(near.iter().map(|point| &point.spread));
    let lowest = format!(
        "that at the lowest load, {}: {} µs ({})",
        first.load(),
        micros(first.spread.median),
        between(&micros(first.spread.min), &micros(first.spread.max))
    );
    let each = runs(points.iter().map(|point| &point.spread));
    let left_out = left_out(cells);
    let mut numbers = vec![
        ("lowest_sps".to_owned(), first.sps),
        ("response_p99_min_ns".to_owned(), low),
        ("response_p99_max_ns".to_owned(), high),
    ];
    numbers.extend(three("lowest_response_p99", "ns", &first.spread));
    let (kind, text) = match far {
        [] => {
            numbers.push(("highest_sps".to_owned(), last.sps));
            numbers.extend(last.percent("highest"));
            let text = format!(
                "{what}: no knee up to {}: at all loads the 99 % response stays within twice {lowest}; it is {} µs \
                 ({each}).{left_out}",
                last.load(),
                between(&micros(low), &micros(high))
            );
            (FindingKind::NoKnee, text)
        }
        far if beyond > 0 && unclear.iter().all(|place| *place == Place::Between) => {
            let after = &far[far.len() - beyond];
            numbers.push(("knee_sps".to_owned(), at_knee.sps));
            numbers.extend(at_knee.percent("knee"));
            numbers.push(("beyond_sps".to_owned(), after.sps));
            numbers.extend(after.percent("beyond"));
            numbers.extend(three("beyond_response_p99", "ns", &after.spread));
            let both = on_both_sides(&far[..far.len() - beyond]);
            let text = format!(
                "{what}: the knee is at {}: up to there the 99 % response, {} µs, stays within twice {lowest}; at {} it \
                 is {} µs ({each}).{both}{left_out}",
                at_knee.load(),
                between(&micros(low), &micros(high)),
                after.load(),
                between(&micros(after.spread.min), &micros(after.spread.max))
            );
            (FindingKind::Knee, text)
        }
        _ => return None,
    };
    Some(finding(kind, text, points.iter().map(|point| point.cell), numbers))
}

/// At which loads runs are on either side, as a sentence; nothing where there is none.
fn on_both_sides(points: &[Point<'_>]) -> String {
    let loads: Vec<String> = points.iter().map(Point::load).collect();
    match loads.len() {
        0 => String::new(),
        _ => format!(" At {} the runs lie on both sides.", list(&loads)),
    }
}

/// Which loads say nothing of the response, as a sentence; nothing where all do.
fn left_out(cells: &[(&Cell, f64)]) -> String {
    let why = |cell: &Cell| {
        let lost = lost_pct(cell);
        if cell.is_sender_limited() {
            Some("sender-limited".to_owned())
        } else {
            (lost > MAX_LATENCY_LOSS_PCT).then(|| format!("{} % lost", figure(lost)))
        }
    };
    let told: Vec<String> = cells
        .iter()
        .filter_map(|(cell, sps)| Some(format!("{} ({})", in_words(cell, *sps), why(cell)?)))
        .collect();
    match told.len() {
        0 => String::new(),
        _ => format!(" Left out, because their responses are not the middleware's alone: {}.", list(&told)),
    }
}

/// From which load on fewer samples are accepted than were planned.
fn shortfall(what: &str, cells: &[(&Cell, f64)]) -> Option<Finding> {
    let points = points(cells.iter(), accepted_share);
    let [first, .., last] = &points[..] else { return None };
    let places: Vec<Place> = points.iter().map(|point| place(&point.spread, KEPT)).collect();
    let kept = places.iter().take_while(|place| **place == Place::Above).count();
    let short = places.iter().rev().take_while(|place| **place == Place::Below).count();
    let percent = |points: &[Point<'_>]| {
        let (least, most) = range(points.iter().map(|point| &point.spread));
        (100.0 * least, 100.0 * most)
    };
    let of_planned = |(least, most): (f64, f64)| between(&figure(least), &figure(most));
    let each = runs(points.iter().map(|point| &point.spread));
    let ids = || points.iter().map(|point| point.cell);
    if kept == points.len() {
        let (least, most) = percent(&points);
        let text = format!(
            "{what}: the achieved rate is the planned one at all loads from {} to {}: {} % of it ({each}).",
            first.load(),
            last.load(),
            of_planned((least, most))
        );
        let numbers = [
            ("lowest_sps", first.sps),
            ("highest_sps", last.sps),
            ("accepted_min_pct", least),
            ("accepted_max_pct", most),
        ];
        let numbers = numbers.map(|(name, number)| (name.to_owned(), number));
        return Some(finding(FindingKind::KeepsUp, text, ids(), numbers));
    }
    if short == 0 || places[kept..places.len() - short].iter().any(|place| *place != Place::Between) {
        return None;
    }
    let (holds, falls) = (&points[..kept], &points[points.len() - short..]);
    let begins = &falls[0];
    let accepted = |point: &Point<'_>| {
        let Spread { min, max, .. } = point.spread;
        between(&figure(min * point.sps), &figure(max * point.sps))
    };
    let before = holds.last().map_or_else(String::new, |point| {
        format!("; up to {} it is the planned one: {} % of it", point.load(), of_planned(percent(holds)))
    });
    let text = format!(
        "{what}: the achieved rate falls short of the planned one from {} on: {}/s there, {}/s at {}{before} ({each}).{}",
        begins.load(),
        accepted(begins),
        accepted(falls.last().unwrap_or(begins)),
        falls.last().unwrap_or(begins).load(),
        on_both_sides(&points[kept..points.len() - short])
    );
    let scaled = |point: &Point<'_>| {
        let Spread { n, min, median, max } = point.spread;
        Spread { n, min: min * point.sps, median: median * point.sps, max: max * point.sps }
    };
    let mut numbers = vec![("short_from_sps".to_owned(), begins.sps)];
    numbers.extend(holds.last().map(|point| ("kept_to_sps".to_owned(), point.sps)));
    numbers.extend(three("accepted", "sps", &scaled(begins)));
    Some(finding(FindingKind::FallsShort, text, ids(), numbers))
}

/// The cells of which enough runs have the figure.
fn points<'c, 'd: 'c>(
    cells: impl Iterator<Item = &'c (&'d Cell, f64)>,
    of: fn(&Run) -> Option<f64>,
) -> Vec<Point<'d>> {
    cells.filter_map(|(cell, sps)| Some(Point { cell, sps: *sps, spread: over_runs(cell, of)? })).collect()
}

fn response_p99_ns(run: &Run) -> Option<f64> {
    run.latency.get("response")?.p99_ns.map(|ns| ns as f64)
}

fn accepted_share(run: &Run) -> Option<f64> {
    let planned = run.paced.as_ref()?.planned_sps.filter(|planned| *planned > 0.0)?;
    Some(run.throughput.as_ref()?.accepted_sps / planned)
}

fn share(cell: &Cell) -> Option<Share> {
    cell.factors.load.as_ref()?.share()
}

/// A load in samples/s and, where it is planned so, in percent of the maximum.
fn in_words(cell: &Cell, sps: f64) -> String {
    let of_maximum =
        share(cell).map_or_else(String::new, |share| format!(" ({} % of the maximum)", share.percent()));
    format!("{}{of_maximum}", per_second(sps))
}

fn per_second(sps: f64) -> String {
    let digits = if sps.fract() == 0.0 || sps >= 1000.0 { 0 } else { 2 };
    format!("{sps:.digits$}/s")
}
