//! Curves over sizes: one value per run, and its range over the runs.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Factors, Workload, gather};
use results::{CellResult, MAX_LATENCY_LOSS_PCT, ResultDocument, Run};
use stats::Spread;

use crate::MIN_RUNS;

/// Side: one driver as configured, with the cells that differ only in workload, size and batching.
pub(crate) struct Side<'d> {
    /// Name in reports.
    pub name: String,
    /// Name of its driver in reports.
    pub driver: String,
    /// Description of the driver; `None` if the result lacks it.
    pub description: Option<&'d DriverDescription>,
    cells: Vec<&'d CellResult>,
}

/// Cell in a curve.
pub(crate) struct Point<'d> {
    /// Cell with the values of its runs.
    pub cell: &'d CellResult,
    /// Value over the valid runs.
    pub spread: Spread,
}

impl Point<'_> {
    /// Returns the payload size in bytes.
    pub const fn size(&self) -> u64 {
        self.cell.factors.size_bytes
    }
}

/// Values of two cells with one size.
pub(crate) struct Compared<'d> {
    pub size: u64,
    pub cells: [&'d CellResult; 2],
    pub spreads: [Spread; 2],
    /// Change from the base: of the medians, and minimum and maximum between any two runs.
    pub change: Spread,
}

impl<'d> Point<'d> {
    /// Compares with the point of `base` that has the same size. `change`: of a value from that of the base.
    pub fn compared(&self, base: &[Self], change: fn(f64, f64) -> f64) -> Option<Compared<'d>> {
        let base = base.iter().find(|base| base.size() == self.size())?;
        let (to, from) = (self.spread, base.spread);
        let change = Spread {
            n: to.n.min(from.n),
            min: change(to.min, from.max),
            median: change(to.median, from.median),
            max: change(to.max, from.min),
        };
        Some(Compared { size: self.size(), cells: [self.cell, base.cell], spreads: [to, from], change })
    }
}

/// Returns the sides of a result in the order of its cells.
pub(crate) fn sides(document: &ResultDocument) -> Vec<Side<'_>> {
    let mut sides: Vec<Side<'_>> =
        document.curves().into_iter().map(|cells| Side::new(document, cells)).collect();
    // a path is shortened to the file name; if names are equal, the differing factors are appended
    let short: Vec<String> =
        sides.iter().map(|side| side.name.rsplit('/').next().unwrap_or_default().to_owned()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    short.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    for (index, side) in sides.iter_mut().enumerate() {
        if counts[short[index].as_str()] == 1 {
            side.name.clone_from(&short[index]);
            if side.factors().vendor_defaults {
                side.name.push_str(" (as shipped)");
            }
            if let Some(text) = side.factors().shared_process() {
                side.name = format!("{} ({text})", side.name);
            }
        } else {
            side.name = format!("{} ({})", side.name, side.factors().labels().join(", "));
        }
    }
    for (side, short) in sides.iter_mut().zip(&short) {
        side.driver.clone_from(short);
        if let Some(variant) = document.experiment.variant(&side.cells[0].id) {
            side.name = format!("{variant}, {}", side.name);
            side.driver = format!("{variant}, {}", side.driver);
        }
    }
    sides
}

impl<'d> Side<'d> {
    fn new(document: &'d ResultDocument, cells: Vec<&'d CellResult>) -> Self {
        let driver = &cells[0].factors.driver;
        let description = document.drivers.get(driver);
        Self { name: driver.clone(), driver: String::new(), description, cells }
    }

    fn factors(&self) -> &'d Factors {
        &self.cells[0].factors
    }

    /// Returns whether both were measured over the same transport and interface, and receive in the same way.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.factors().shares_socket(other.factors())
    }

    /// Returns whether it has one writer and one reader.
    pub fn is_pair(&self) -> bool {
        self.factors().topology.is_pair()
    }

    /// Returns whether `pair` has one writer and one reader, and this side, otherwise configured alike, has more.
    pub fn extends_pair(&self, pair: &Self) -> bool {
        pair.is_pair() && !self.is_pair() && self.factors().differs_only_in(pair.factors(), "topology")
    }

    /// Returns whether its driver is a bare socket.
    pub fn is_bare_socket(&self) -> bool {
        self.description.is_some_and(DriverDescription::is_bare_socket)
    }

    /// Returns the median RTT by size, in ns. Cells that lost too many pings are excluded.
    pub fn rtt(&self) -> Vec<Point<'d>> {
        let cells = self.of_workload(Workload::Latency);
        curve(cells.filter(|cell| lost_pct(cell) <= MAX_LATENCY_LOSS_PCT), median_rtt_ns)
    }

    /// Returns a value of unbatched throughput by size.
    pub fn unbatched(&self, of: fn(&Run) -> Option<f64>) -> Vec<Point<'d>> {
        curve(self.of_workload(Workload::Throughput).filter(|cell| cell.factors.batch_bytes == 0), of)
    }

    /// Like [`Side::unbatched`], with a batch of at most `ceiling` bytes.
    pub fn batched(&self, ceiling: u64, of: fn(&Run) -> Option<f64>) -> Vec<Point<'d>> {
        curve(
            self.of_workload(Workload::Throughput)
                .filter(|cell| !cell.factors.batching.is_turbo() && cell.factors.batch_bytes == ceiling),
            of,
        )
    }

    /// Returns the curves of throughput with their names: unbatched, and of each batch ceiling. Above half of a ceiling a
    /// batch holds one sample, so the unbatched cells continue the curve.
    pub fn throughput_curves(&self, of: fn(&Run) -> Option<f64>) -> Vec<(String, Vec<Point<'d>>)> {
        let mut curves = vec![(format!("`{}` unbatched", self.name), self.unbatched(of))];
        for ceiling in self.ceilings() {
            let mut curve = self.batched(ceiling, of);
            let alone = |point: &Point<'_>| ceiling / point.size().max(1) <= 1;
            let measured: Vec<u64> = curve.iter().map(Point::size).collect();
            if measured.is_empty() {
                continue;
            }
            let others = self.unbatched(of).into_iter();
            curve.extend(others.filter(|point| alone(point) && !measured.contains(&point.size())));
            curve.sort_by_key(Point::size);
            curves.push((format!("`{}` batched up to {ceiling} bytes per flush", self.name), curve));
        }
        curves
    }

    /// Returns the batch ceilings in bytes, ascending.
    pub fn ceilings(&self) -> Vec<u64> {
        // without a schedule, a turbo batch is as full as any other
        let cells = self.of_workload(Workload::Throughput).filter(|cell| !cell.factors.batching.is_turbo());
        let mut ceilings: Vec<u64> =
            cells.map(|cell| cell.factors.batch_bytes).filter(|bytes| *bytes > 0).collect();
        ceilings.sort_unstable();
        ceilings.dedup();
        ceilings
    }

    /// Returns all cells.
    pub fn cells(&self) -> impl Iterator<Item = &'d CellResult> {
        self.cells.iter().copied()
    }

    /// Returns the cells of a workload.
    pub fn of_workload(&self, workload: Workload) -> impl Iterator<Item = &'d CellResult> {
        self.cells.iter().copied().filter(move |cell| cell.factors.workload == workload)
    }
}

/// Returns the cells of which enough runs have the value, by size.
pub(crate) fn curve<'d>(
    cells: impl Iterator<Item = &'d CellResult>,
    of: fn(&Run) -> Option<f64>,
) -> Vec<Point<'d>> {
    let point = |cell: &'d CellResult| Some(Point { cell, spread: over_runs(cell, of)? });
    let mut points: Vec<Point<'d>> = cells.filter_map(point).collect();
    points.sort_by_key(Point::size);
    points
}

/// Returns the range of a value over the valid runs; `None` if fewer than [`MIN_RUNS`] have it.
pub(crate) fn over_runs(cell: &CellResult, of: impl Fn(&Run) -> Option<f64>) -> Option<Spread> {
    let values = cell.claimed_runs().filter_map(of).filter(|value| value.is_finite() && *value >= 0.0);
    Spread::from_values(&values.collect::<Vec<f64>>()).filter(|spread| spread.n >= MIN_RUNS)
}

pub(crate) fn median_rtt_ns(run: &Run) -> Option<f64> {
    run.latency.get("rtt")?.p50_ns.map(|ns| ns as f64)
}

pub(crate) fn delivered_sps(run: &Run) -> Option<f64> {
    run.throughput().map(|throughput| throughput.delivered_sps)
}

pub(crate) fn goodput_mbps(run: &Run) -> Option<f64> {
    run.throughput().map(|throughput| throughput.goodput_mbps)
}

/// Returns the accepted samples of a run that did not arrive, lost or undelivered when the drain ended, in percent.
pub(crate) fn run_lost_pct(run: &Run) -> Option<f64> {
    let throughput = run.throughput()?;
    let undelivered = throughput.undelivered as f64 / throughput.sent.max(1) as f64;
    Some(throughput.lost_pct + 100.0 * undelivered)
}

/// Returns the share of accepted samples (pings) in the valid runs that did not arrive, in percent.
pub(crate) fn lost_pct(cell: &CellResult) -> f64 {
    let counted = || cell.valid_runs().flat_map(Run::counts);
    let sent: f64 = counted().map(|counted| counted.sent as f64).sum();
    let lost: f64 = counted().map(|counted| counted.lost as f64 + counted.undelivered as f64).sum();
    if sent == 0.0 { 0.0 } else { lost / sent * 100.0 }
}

/// Position of the runs of a cell relative to a threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Position {
    Below,
    Above,
    /// Runs on both sides.
    Between,
}

/// Returns the position of the runs relative to the threshold.
pub(crate) fn position(spread: &Spread, threshold: f64) -> Position {
    if spread.max < threshold {
        Position::Below
    } else if spread.min >= threshold {
        Position::Above
    } else {
        Position::Between
    }
}

/// Groups items by their names, in the order of the first item of each.
pub(crate) fn by_name<T>(named: impl Iterator<Item = (String, T)>) -> Vec<(String, Vec<T>)> {
    let groups = gather(named, |(name, _)| name.clone(), |_, _| true);
    let group = |items: Vec<(String, T)>| {
        (items[0].0.clone(), items.into_iter().map(|(_, item)| item).collect::<Vec<T>>())
    };
    groups.into_iter().map(group).collect()
}

/// Returns minimum and maximum over all ranges.
pub(crate) fn range<'s>(spreads: impl Iterator<Item = &'s Spread>) -> (f64, f64) {
    spreads.fold((f64::INFINITY, 0.0), |(min, max), spread| (spread.min.min(min), spread.max.max(max)))
}
