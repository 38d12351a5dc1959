//! Growth of a value over the number of endpoints of a topology, or of samples in flight around a ring.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Discovery, Factors, Topology, Workload, gather, gather_series};
use results::{
    CellResult, Finding, FindingKind, Growth, GrowthEstimate, GrowthLaw, GrowthValue, MAX_LATENCY_LOSS_PCT,
    ResultDocument, Run, format_value,
};
use stats::{Estimate, LEAST_LEVELS, Law, law};

use crate::{
    MIN_RUNS,
    curves::{lost_pct, median_rtt_ns, over_runs},
    format::finding,
};

/// Value that may grow with the number of endpoints.
struct Quantity {
    workload: Workload,
    /// Name in texts.
    what: &'static str,
    /// Name in the numbers of a finding.
    key: &'static str,
    /// Name in the growth of a finding.
    grown: GrowthValue,
    /// Unit in texts, and its length in the unit of `of`.
    unit: (&'static str, f64),
    /// Unit in the numbers of a finding: that of `of`.
    unit_of_numbers: &'static str,
    of: fn(&Run, &Factors) -> Option<f64>,
}

/// Creates the quantities, each from a row: workload, name in the growth and in the numbers of a finding, name in texts,
/// unit in texts and its length, unit in numbers, value.
macro_rules! quantities {
    ($($workload:ident $grown:ident $key:literal $what:literal, $unit:literal $length:literal $number:literal, $of:expr;)*) => {
        [$(Quantity {
            workload: Workload::$workload,
            what: $what,
            key: $key,
            grown: GrowthValue::$grown,
            unit: ($unit, $length),
            unit_of_numbers: $number,
            of: $of,
        }),*]
    };
}

const QUANTITIES: [Quantity; 7] = quantities! {
    Throughput TimePerSample "time_per_sample" "the time of a writer per sample", "µs" 1e3 "ns", ns_per_sample;
    Latency Rtt "rtt" "the median RTT", "µs" 1e3 "ns", |run, _| median_rtt_ns(run);
    Latency SampleHop "sample_hop" "the time per sample and hop", "µs" 1e3 "ns", |run, _| run.ring()?.per_sample_hop_ns;
    Discovery AllMatched "all_matched" "the time until all are matched", "ms" 1e6 "ns",
        |run, _| run.discovery()?.all_matched_ns.map(|ns| ns as f64);
    Discovery Packets "packets" "the traffic until then", "packets" 1.0 "packets",
        |run, _| Some(run.discovery()?.until_matched.as_ref()?.tx_packets as f64);
    Discovery IdlePackets "idle_packets" "the traffic while idle", "packets/s" 1.0 "packets_per_s",
        |run, _| run.discovery()?.idle_packets_per_s();
    Discovery Memory "memory" "the memory of a participant", "KiB" 1024.0 "bytes",
        |run, _| run.discovery()?.memory_per_participant_bytes.map(|bytes| bytes as f64);
};

/// Returns the time between two accepted samples of one writer, in ns.
fn ns_per_sample(run: &Run, factors: &Factors) -> Option<f64> {
    let (writers, _) = factors.topology.mesh()?;
    let accepted = run.throughput()?.accepted_sps;
    (accepted > 0.0).then(|| f64::from(writers) * 1e9 / accepted)
}

/// Numeric axis through a topology, or over the samples in flight around a ring.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Axis {
    /// Key of the factor in which the cells on the axis differ.
    factor: &'static str,
    /// Name of one endpoint or sample on the axis, and of several.
    one: &'static str,
    many: &'static str,
    /// Number of endpoints of the other kind, which all points of the axis have in common; 0 if there is none.
    fixed: u16,
}

impl Axis {
    /// Creates an axis over endpoints of a kind.
    const fn of_endpoints(one: &'static str, many: &'static str, fixed: u16) -> Self {
        Self { factor: "topology", one, many, fixed }
    }

    /// Returns the axes on which a cell is a point, each with its position.
    fn through(factors: &Factors) -> Vec<(Self, u32)> {
        match factors.topology {
            Topology::Mesh { writers, readers } => vec![
                (Self::of_endpoints("reader", "readers", writers), readers.into()),
                (Self::of_endpoints("writer", "writers", readers), writers.into()),
            ],
            Topology::Ring { nodes } => vec![
                (Self::of_endpoints("node", "nodes", 0), nodes.into()),
                (
                    Self {
                        factor: "in_flight",
                        one: "sample in flight",
                        many: "samples in flight",
                        fixed: nodes,
                    },
                    factors.in_flight.unwrap_or(1),
                ),
            ],
            Topology::FullMesh { participants } => {
                vec![(Self::of_endpoints("participant", "participants", 0), participants.into())]
            }
        }
    }

    /// Returns whether a value over this axis is worth a finding. With one sample in flight, the time per sample and hop
    /// says what the RTT says.
    fn has(self, quantity: &Quantity, factors: &Factors) -> bool {
        quantity.key != "sample_hop" || self.factor == "in_flight" || factors.is_pipelined()
    }

    /// Formats the endpoints that all points have in common.
    fn common(self) -> String {
        let other = match self.one {
            "reader" => "writer",
            "writer" => "reader",
            "sample in flight" => "node",
            _ => return String::new(),
        };
        format!(", {} {other}{}", self.fixed, if self.fixed == 1 { "" } else { "s" })
    }
}

/// Cells that differ only in their position on an axis, in ascending order.
struct Scale<'d> {
    axis: Axis,
    points: BTreeMap<u32, &'d CellResult>,
}

/// Returns a finding for each value over each axis with at least [`LEAST_LEVELS`] cells.
pub(crate) fn findings(document: &ResultDocument) -> Vec<Finding> {
    let scales = scales(document);
    let rivals = rivals(&scales);
    let mut findings = Vec::new();
    for scale in &scales {
        for quantity in &QUANTITIES {
            findings.extend(growth(document, &rivals, scale, quantity));
        }
    }
    findings
}

fn scales<'d>(document: &'d ResultDocument) -> Vec<Scale<'d>> {
    let through = |cell: &'d CellResult| {
        Axis::through(&cell.factors).into_iter().map(move |(axis, position)| (axis, position, cell))
    };
    let points = document.cells.iter().flat_map(through);
    let groups = gather_series(points, |(axis, _, cell)| {
        (&cell.factors, axis.factor, (*axis, document.experiment.variant(&cell.id)))
    });
    let scale = |points: Vec<(Axis, u32, &'d CellResult)>| Scale {
        axis: points[0].0,
        points: points.into_iter().map(|(_, position, cell)| (position, cell)).collect(),
    };
    let mut scales: Vec<Scale<'_>> = groups.into_iter().map(scale).collect();
    scales.retain(|scale| scale.points.len() >= LEAST_LEVELS);
    scales
}

/// Returns the finding on how a value grows along an axis.
fn growth(
    document: &ResultDocument,
    rivals: &Rivals<'_>,
    scale: &Scale<'_>,
    quantity: &Quantity,
) -> Option<Finding> {
    let points: Vec<(f64, &CellResult)> = scale
        .points
        .iter()
        .filter(|(_, cell)| cell.factors.workload == quantity.workload)
        .filter(|(_, cell)| scale.axis.has(quantity, &cell.factors))
        .filter(|(_, cell)| quantity.workload != Workload::Latency || lost_pct(cell) <= MAX_LATENCY_LOSS_PCT)
        .filter(|(_, cell)| over_runs(cell, |run| (quantity.of)(run, &cell.factors)).is_some())
        .map(|(position, cell)| (f64::from(*position), *cell))
        .collect();
    let (first, last) = (points.first()?, points.last()?);
    let levels: Vec<f64> = points.iter().map(|(position, _)| *position).collect();
    let blocks = blocks(&points, quantity);
    if blocks.len() < MIN_RUNS {
        return None;
    }
    let law = law(&levels, &blocks)?;
    let (unit, scale_of_unit) = quantity.unit;
    let value = |ns: f64| format_value(ns / scale_of_unit);
    let Axis { one: endpoint, many, .. } = scale.axis;
    let [key_of_one, key_of_many] = [endpoint, many].map(|name| name.replace(' ', "_"));
    let mut numbers = vec![
        (format!("from_{key_of_many}"), first.0),
        (format!("to_{key_of_many}"), last.0),
        ("blocks".to_owned(), blocks.len() as f64),
    ];
    let mut add = |name: &str, unit: &str, estimate: &Estimate| {
        numbers.push((format!("{name}_{unit}"), estimate.value));
        numbers.push((format!("{name}_low_{unit}"), estimate.interval.low));
        numbers.push((format!("{name}_high_{unit}"), estimate.interval.high));
    };
    let per_endpoint = format!("{}_per_{key_of_one}", quantity.unit_of_numbers);
    let slope_text = |slope: &Estimate| {
        let interval = format!("{} to {}", value(slope.interval.low), value(slope.interval.high));
        format!("{} {unit} (95 % interval {interval})", value(slope.value))
    };
    let what = quantity.what;
    let estimate =
        |of: &Estimate| GrowthEstimate { value: of.value, low: of.interval.low, high: of.interval.high };
    let (kind, says, words, grows) = match &law {
        Law::Linear { slope } => {
            add(&format!("{}_slope", quantity.key), &per_endpoint, slope);
            let says = format!("one more {endpoint} adds {} to {what}", slope_text(slope));
            let words = format!("each adds {} {unit}", value(slope.value));
            (FindingKind::ScalesLinearly, says, words, GrowthLaw::Linear { slope: estimate(slope) })
        }
        Law::Power { exponent } => {
            add("exponent", "power", exponent);
            let interval = format!(
                "{} to {}",
                format_value(exponent.interval.low),
                format_value(exponent.interval.high)
            );
            let grows = if exponent.value < 0.0 { "falls" } else { "grows" };
            let power = format_value(exponent.value);
            let says = format!(
                "{what} {grows} as the number of {many} to the power of {power} (95 % interval {interval})"
            );
            let words = format!("exponent {power} ({interval})");
            (FindingKind::ScalesAsPower, says, words, GrowthLaw::Power { exponent: estimate(exponent) })
        }
        Law::Bends { at, before, after } => {
            add(&format!("{}_slope_below", quantity.key), &per_endpoint, before);
            add(&format!("{}_slope_above", quantity.key), &per_endpoint, after);
            numbers.push((format!("bends_at_{key_of_many}"), *at));
            let says = format!(
                "{what} bends at {at} {many}: one more {endpoint} adds {} below, and {} above",
                slope_text(before),
                slope_text(after)
            );
            let words = format!(
                "each adds {} {unit} up to {at}, and {} {unit} above",
                value(before.value),
                value(after.value)
            );
            let [before, after] = [before, after].map(estimate);
            (FindingKind::ScalesWithBend, says, words, GrowthLaw::Bends { at: *at, before, after })
        }
        Law::None => {
            let says = format!("{what} follows neither a line, nor a power law, nor two lines");
            (FindingKind::ScalesIrregularly, says, String::new(), GrowthLaw::None)
        }
    };
    let at = |(position, cell): &(f64, &CellResult)| {
        let spread = over_runs(cell, |run| (quantity.of)(run, &cell.factors));
        format!("{} {unit} with {position}", value(spread.map_or(0.0, |spread| spread.median)))
    };
    let name = name(document, rivals, scale, first.1);
    let sentence = format!("{name}: from {} to {} {many}, {says}", first.0, last.0);
    let text = format!("{sentence}: {}, {} ({} blocks).", at(first), at(last), blocks.len());
    let growth = Growth { value: quantity.grown, law: grows, sentence: format!("{sentence}."), words };
    let finding = finding(kind, text, points.iter().map(|(_, cell)| *cell), numbers);
    Some(Finding { growth: Some(growth), ..finding })
}

/// Returns the values of each block that has a run of each cell.
fn blocks(points: &[(f64, &CellResult)], quantity: &Quantity) -> Vec<Vec<f64>> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (index, (_, cell)) in points.iter().enumerate() {
        for run in cell.claimed_runs() {
            let value = (quantity.of)(run, &cell.factors).filter(|value| value.is_finite() && *value >= 0.0);
            let of_block = blocks.entry(run.block).or_default();
            // A block that lacks an earlier cell stays incomplete.
            of_block.extend(value.filter(|_| of_block.len() == index));
        }
    }
    blocks.into_values().filter(|values| values.len() == points.len()).collect()
}

/// Labels of all scales, by the factor of an axis on which they are shown and by driver.
type Rivals<'d> = BTreeMap<(&'static str, &'d str), BTreeSet<String>>;

fn rivals<'d>(scales: &[Scale<'d>]) -> Rivals<'d> {
    let mut all = Rivals::new();
    let axes: Vec<Axis> = gather(scales.iter().map(|scale| scale.axis), |axis| axis.factor, |_, _| true)
        .into_iter()
        .map(|same| same[0])
        .collect();
    for cell in scales.iter().filter_map(|scale| scale.points.values().next().copied()) {
        for axis in &axes {
            let key = (axis.factor, cell.factors.driver.as_str());
            all.entry(key).or_default().insert(labels(*axis, cell));
        }
    }
    all
}

/// Returns the texts that tell a cell from those on other scales.
fn labels(axis: Axis, cell: &CellResult) -> String {
    let (topology, discovery) = (Topology::PAIR, Discovery::default());
    let in_flight = if axis.factor == "in_flight" { None } else { cell.factors.in_flight };
    let writers_per_process = None;
    Factors { topology, discovery, in_flight, writers_per_process, ..cell.factors.clone() }
        .labels()
        .join(", ")
}

/// Returns the name of the cells on a scale: driver, size, what is fixed, and in what other scales differ.
fn name(document: &ResultDocument, rivals: &Rivals<'_>, scale: &Scale<'_>, cell: &CellResult) -> String {
    let factors = &cell.factors;
    let labels = labels(scale.axis, cell);
    let differs = rivals.get(&(scale.axis.factor, factors.driver.as_str())).is_some_and(|all| all.len() > 1);
    let variant = document.experiment.variant(&cell.id).map_or_else(String::new, |name| format!("{name}, "));
    let driver = factors.driver.rsplit('/').next().unwrap_or_default();
    // Values of processes with one endpoint, and with several, are not comparable: the name always has the number.
    let shared = factors.shared_process().map_or_else(String::new, |text| format!(", {text}"));
    let labels = if differs { format!(" ({labels})") } else { String::new() };
    if factors.workload == Workload::Discovery {
        let Discovery { endpoints, join, .. } = factors.discovery;
        return format!(
            "{variant}`{driver}`{labels}, {endpoints} {} each, join {join}{shared}",
            if endpoints == 1 { "writer and reader" } else { "writers and readers" }
        );
    }
    let batch = if factors.batch_bytes > 0 { " batched" } else { "" };
    format!(
        "{variant}`{driver}`{labels} at {} bytes{batch}{}{shared}",
        factors.size_bytes,
        scale.axis.common()
    )
}
