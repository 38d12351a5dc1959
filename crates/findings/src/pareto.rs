//! Pareto front of the ways to batch, by throughput and latency.

use experiment::{Factors, Workload, distinct};
use results::{CellResult, Finding, FindingKind, format_value};
use stats::Spread;

use crate::{
    curves::{Side, delivered_sps, over_runs},
    format::{finding, list, micros, runs, three, values},
    tail::Tail,
};

/// Way to batch samples of a size.
struct BatchingMode<'d> {
    /// Name in reports.
    name: String,
    /// Name in the names of numbers.
    key: String,
    /// Cell with the highest rate, and the cell at the load at which all are compared.
    cells: [&'d CellResult; 2],
    rate: Spread,
    p99_ns: Spread,
}

impl BatchingMode<'_> {
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
    let names = distinct(of_size().map(|cell| cell.factors.batch()));
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
    let mut modes: Vec<BatchingMode<'_>> = names
        .iter()
        .filter_map(|name| {
            let own = || of_size().filter(|cell| cell.factors.batch() == *name);
            let low = own().find(|cell| cell.factors.load.as_ref() == Some(&load))?;
            let p99_ns = tail.over_runs(low)?;
            let rates = own().filter_map(|cell| Some((cell, over_runs(cell, delivered_sps)?)));
            let (high, rate) = rates.max_by(|left, right| left.1.median.total_cmp(&right.1.median))?;
            let (name, key) = named(&low.factors);
            Some(BatchingMode { name, key, cells: [high, low], rate, p99_ns })
        })
        .collect();
    modes.sort_by(|left, right| left.rate.median.total_cmp(&right.rate.median));
    let beaten = |mode: &BatchingMode<'_>| modes.iter().any(|other| other.beats(mode));
    let (behind, ahead): (Vec<&BatchingMode<'_>>, Vec<&BatchingMode<'_>>) =
        modes.iter().partition(|mode| beaten(mode));
    let trade =
        modes.iter().any(|mode| modes.iter().any(|other| mode.is_faster(other) && other.is_sooner(mode)));
    let names = |modes: &[&BatchingMode<'_>]| list(&modes.iter().map(|mode| words(mode)).collect::<Vec<_>>());
    let at = format!("the 99 % {} is that at {}/s", tail.words(), format_value(sps));
    let low: Vec<(String, &CellResult)> =
        modes.iter().map(|mode| (format!("{}/s", format_value(sps)), mode.cells[1])).collect();
    let why = tail.why(&low);
    let each = runs(modes.iter().flat_map(|mode| [&mode.rate, &mode.p99_ns]));
    let what = format!("`{}` under load at {size} bytes", side.name);
    let others = if behind.is_empty() { String::new() } else { format!(" Beaten: {}.", names(&behind)) };
    let (kind, text) = match &ahead[..] {
        [best] if modes.len() > 1 => {
            let text = format!(
                "{what}: of {} ways to batch one is beaten by none, {}; {at} ({each}).",
                modes.len(),
                words(best)
            );
            (FindingKind::BatchingOneBest, text)
        }
        front if trade => {
            let text = format!(
                "{what}: more throughput costs latency: of {} ways to batch {} are on the front, {}; {at} \
                 ({each}).",
                modes.len(),
                front.len(),
                names(front)
            );
            (FindingKind::BatchingFront, text)
        }
        _ => return None,
    };
    let mut numbers =
        vec![("load_sps".to_owned(), sps), ("ways_on_the_front".to_owned(), ahead.len() as f64)];
    for mode in &modes {
        numbers.extend(three(&format!("{}_delivered", mode.key), "sps", &mode.rate));
        numbers.extend(three(&format!("{}_{}_p99", mode.key, tail.key()), "ns", &mode.p99_ns));
    }
    Some(finding(kind, (text, format!("{others}{why}")), modes.iter().flat_map(|mode| mode.cells), numbers))
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

fn words(mode: &BatchingMode<'_>) -> String {
    let BatchingMode { rate, p99_ns, .. } = mode;
    format!("{} ({}/s, {} µs)", mode.name, values(rate.min, rate.max), micros(p99_ns.min, p99_ns.max))
}
