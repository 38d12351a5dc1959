//! Pareto front of the ways to batch, by throughput and latency.

use experiment::{Factors, Workload};
use results::{CellResult, Finding, FindingKind, format_micros, format_value};
use stats::Spread;

use crate::{
    curves::{Side, delivered_sps, over_runs},
    format::{between, finding, list, runs, three},
    tail::Tail,
};

/// Way to batch samples of a size.
struct Way<'d> {
    /// Name in reports.
    name: String,
    /// Name in the names of numbers.
    key: String,
    /// Cell with the highest rate, and the cell at the load at which all are compared.
    cells: [&'d CellResult; 2],
    rate: Spread,
    p99_ns: Spread,
}

impl Way<'_> {
    fn is_faster(&self, other: &Self) -> bool {
        self.rate.min > other.rate.max
    }

    fn is_sooner(&self, other: &Self) -> bool {
        self.p99_ns.max < other.p99_ns.min
    }

    /// Returns whether it is better in one, and not worse in the other.
    fn beats(&self, other: &Self) -> bool {
        (self.is_faster(other) && !other.is_sooner(self)) || (self.is_sooner(other) && !other.is_faster(self))
    }
}

pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let mut sizes: Vec<u64> = cells(side).map(|cell| cell.factors.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter().filter_map(|size| front(side, size)).collect()
}

/// Returns the paced cells with a single flow.
fn cells<'d>(side: &Side<'d>) -> impl Iterator<Item = &'d CellResult> {
    side.of_workload(Workload::Paced).filter(|cell| cell.factors.load.is_some())
}

fn front(side: &Side<'_>, size: u64) -> Option<Finding> {
    let of_size = || cells(side).filter(|cell| cell.factors.size_bytes == size);
    // the lowest rate at which all ways were measured
    let mut names: Vec<String> = Vec::new();
    for cell in of_size() {
        let name = cell.factors.batch();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let loads = of_size()
        .filter_map(|cell| Some((cell.factors.load.clone()?, cell.factors.load.as_ref()?.rate()?.sps())));
    let common = loads.filter(|(load, _)| {
        names.iter().all(|name| {
            let is_such = |cell: &&CellResult| {
                cell.factors.batch() == *name && cell.factors.load.as_ref() == Some(load)
            };
            of_size().any(|cell| is_such(&cell))
        })
    });
    let (load, sps) = common.min_by(|left, right| left.1.total_cmp(&right.1))?;
    let tail = Tail::of(of_size().filter(|cell| cell.factors.load.as_ref() == Some(&load)));
    let mut ways: Vec<Way<'_>> = names
        .iter()
        .filter_map(|name| {
            let own = || of_size().filter(|cell| cell.factors.batch() == *name);
            let low = own().find(|cell| cell.factors.load.as_ref() == Some(&load))?;
            let p99_ns = tail.over_runs(low)?;
            let rates = own().filter_map(|cell| Some((cell, over_runs(cell, delivered_sps)?)));
            let (high, rate) = rates.max_by(|left, right| left.1.median.total_cmp(&right.1.median))?;
            let (name, key) = named(&low.factors);
            Some(Way { name, key, cells: [high, low], rate, p99_ns })
        })
        .collect();
    ways.sort_by(|left, right| left.rate.median.total_cmp(&right.rate.median));
    let beaten = |way: &Way<'_>| ways.iter().any(|other| other.beats(way));
    let (behind, ahead): (Vec<&Way<'_>>, Vec<&Way<'_>>) = ways.iter().partition(|way| beaten(way));
    let trade = ways.iter().any(|way| ways.iter().any(|other| way.is_faster(other) && other.is_sooner(way)));
    let told = |ways: &[&Way<'_>]| list(&ways.iter().map(|way| words(way)).collect::<Vec<_>>());
    let at = format!("the 99 % {} is that at {}/s", tail.words(), format_value(sps));
    let low: Vec<(String, &CellResult)> =
        ways.iter().map(|way| (format!("{}/s", format_value(sps)), way.cells[1])).collect();
    let why = tail.why(&low);
    let each = runs(ways.iter().flat_map(|way| [&way.rate, &way.p99_ns]));
    let what = format!("`{}` under load at {size} bytes", side.name);
    let others = if behind.is_empty() { String::new() } else { format!(" Beaten: {}.", told(&behind)) };
    let (kind, text) = match &ahead[..] {
        [best] if ways.len() > 1 => {
            let text = format!(
                "{what}: of {} ways to batch one is beaten by none, {}; {at} ({each}).{others}{why}",
                ways.len(),
                words(best)
            );
            (FindingKind::BatchingOneBest, text)
        }
        front if trade => {
            let text = format!(
                "{what}: more throughput costs latency: of {} ways to batch {} are on the front, {}; {at} \
                 ({each}).{others}{why}",
                ways.len(),
                front.len(),
                told(front)
            );
            (FindingKind::BatchingFront, text)
        }
        _ => return None,
    };
    let mut numbers =
        vec![("load_sps".to_owned(), sps), ("ways_on_the_front".to_owned(), ahead.len() as f64)];
    for way in &ways {
        numbers.extend(three(&format!("{}_delivered", way.key), "sps", &way.rate));
        numbers.extend(three(&format!("{}_{}_p99", way.key, tail.key()), "ns", &way.p99_ns));
    }
    Some(finding(kind, text, ways.iter().flat_map(|way| way.cells), numbers))
}

/// Returns the names of a way: in reports, and in the names of numbers.
fn named(factors: &Factors) -> (String, String) {
    let bytes = factors.batch_bytes;
    match bytes {
        0 => ("unbatched".to_owned(), "unbatched".to_owned()),
        _ if factors.batching.is_turbo() => {
            (format!("{} up to {bytes} bytes", factors.batching), format!("turbo_{bytes}"))
        }
        _ => (format!("{} samples", factors.samples_per_flush()), format!("batch_{bytes}")),
    }
}

fn words(way: &Way<'_>) -> String {
    let Way { rate, p99_ns, .. } = way;
    format!(
        "{} ({}/s, {} µs)",
        way.name,
        between(&format_value(rate.min), &format_value(rate.max)),
        between(&format_micros(p99_ns.min), &format_micros(p99_ns.max))
    )
}
