//! Growth of a value over the number of endpoints of a topology, or of samples in flight around a ring.

use std::collections::BTreeMap;

use experiment::{Discovery, Factors, Topology, Workload};
use results::{CellResult, Finding, FindingKind, MAX_LATENCY_LOSS_PCT, ResultDocument, Run, format_value};
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
    /// Unit in texts, and its length in the unit of `of`.
    unit: (&'static str, f64),
    /// Unit in the numbers of a finding: that of `of`.
    unit_of_numbers: &'static str,
    of: fn(&Run, &Factors) -> Option<f64>,
}

const QUANTITIES: [Quantity; 7] = [
    Quantity {
        workload: Workload::Throughput,
        what: "the time of a writer per sample",
        key: "time_per_sample",
        unit: ("µs", 1e3),
        unit_of_numbers: "ns",
        of: ns_per_sample,
    },
    Quantity {
        workload: Workload::Latency,
        what: "the median RTT",
        key: "rtt",
        unit: ("µs", 1e3),
        unit_of_numbers: "ns",
        of: |run, _| median_rtt_ns(run),
    },
    Quantity {
        workload: Workload::Latency,
        what: "the time per sample and hop",
        key: "sample_hop",
        unit: ("µs", 1e3),
        unit_of_numbers: "ns",
        of: |run, _| run.ring()?.per_sample_hop_ns,
    },
    Quantity {
        workload: Workload::Discovery,
        what: "the time until all are matched",
        key: "all_matched",
        unit: ("ms", 1e6),
        unit_of_numbers: "ns",
        of: |run, _| run.discovery()?.all_matched_ns.map(|ns| ns as f64),
    },
    Quantity {
        workload: Workload::Discovery,
        what: "the traffic until then",
        key: "packets",
        unit: ("packets", 1.0),
        unit_of_numbers: "packets",
        of: |run, _| Some(run.discovery()?.until_matched.as_ref()?.tx_packets as f64),
    },
    Quantity {
        workload: Workload::Discovery,
        what: "the traffic while idle",
        key: "idle_packets",
        unit: ("packets/s", 1.0),
        unit_of_numbers: "packets_per_s",
        of: |run, _| run.discovery()?.idle_packets_per_s(),
    },
    Quantity {
        workload: Workload::Discovery,
        what: "the memory of a participant",
        key: "memory",
        unit: ("KiB", 1024.0),
        unit_of_numbers: "bytes",
        of: |run, _| run.discovery()?.memory_per_participant_bytes.map(|bytes| bytes as f64),
    },
];

/// Returns the time between two accepted samples of one writer, in ns.
fn ns_per_sample(run: &Run, factors: &Factors) -> Option<f64> {
    let (writers, _) = factors.topology.mesh()?;
    let accepted = run.throughput()?.accepted_sps;
    (accepted > 0.0).then(|| f64::from(writers) * 1e9 / accepted)
}

/// Numeric axis through a topology, or over the samples in flight around a ring.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    let mut findings = Vec::new();
    for scale in &scales {
        for quantity in &QUANTITIES {
            findings.extend(growth(document, &scales, scale, quantity));
        }
    }
    findings
}

fn scales(document: &ResultDocument) -> Vec<Scale<'_>> {
    let mut scales: Vec<Scale<'_>> = Vec::new();
    let variant = |cell: &CellResult| document.experiment.variant(&cell.id);
    for cell in &document.cells {
        for (axis, position) in Axis::through(&cell.factors) {
            let same = |scale: &&mut Scale<'_>| {
                let known = scale.points.values().next().expect("a scale has a point");
                scale.axis == axis
                    && known.factors.differs_only_in(&cell.factors, axis.factor)
                    && variant(known) == variant(cell)
            };
            match scales.iter_mut().find(same) {
                Some(scale) => _ = scale.points.insert(position, cell),
                None => scales.push(Scale { axis, points: BTreeMap::from([(position, cell)]) }),
            }
        }
    }
    scales.retain(|scale| scale.points.len() >= LEAST_LEVELS);
    scales
}

/// Returns the finding on how a value grows along an axis.
fn growth(
    document: &ResultDocument,
    all: &[Scale<'_>],
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
    let (kind, says) = match &law {
        Law::Linear { slope } => {
            add(&format!("{}_slope", quantity.key), &per_endpoint, slope);
            (FindingKind::ScalesLinearly, format!("one more {endpoint} adds {} to {what}", slope_text(slope)))
        }
        Law::Power { exponent } => {
            add("exponent", "power", exponent);
            let interval = format!(
                "{} to {}",
                format_value(exponent.interval.low),
                format_value(exponent.interval.high)
            );
            let grows = if exponent.value < 0.0 { "falls" } else { "grows" };
            let says = format!(
                "{what} {grows} as the number of {many} to the power of {} (95 % interval {interval})",
                format_value(exponent.value)
            );
            (FindingKind::ScalesAsPower, says)
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
            (FindingKind::ScalesWithBend, says)
        }
        Law::None => {
            let says = format!("{what} follows neither a line, nor a power law, nor two lines");
            (FindingKind::ScalesIrregularly, says)
        }
    };
    let at = |(position, cell): &(f64, &CellResult)| {
        let spread = over_runs(cell, |run| (quantity.of)(run, &cell.factors));
        format!("{} {unit} with {position}", value(spread.map_or(0.0, |spread| spread.median)))
    };
    let text = format!(
        "{}: from {} to {} {many}, {says}: {}, {} ({} blocks).",
        name(document, all, scale, first.1),
        first.0,
        last.0,
        at(first),
        at(last),
        blocks.len()
    );
    Some(finding(kind, text, points.iter().map(|(_, cell)| *cell), numbers))
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

/// Returns the name of the cells on a scale: driver, size, what is fixed, and in what other scales differ.
fn name(document: &ResultDocument, all: &[Scale<'_>], scale: &Scale<'_>, cell: &CellResult) -> String {
    let labels = |cell: &CellResult| {
        let (topology, discovery) = (Topology::PAIR, Discovery::default());
        let in_flight = if scale.axis.factor == "in_flight" { None } else { cell.factors.in_flight };
        let writers_per_process = None;
        Factors { topology, discovery, in_flight, writers_per_process, ..cell.factors.clone() }
            .labels()
            .join(", ")
    };
    let factors = &cell.factors;
    let rivals = all.iter().filter_map(|other| other.points.values().next());
    let differs = rivals
        .filter(|other| other.factors.driver == factors.driver)
        .any(|other| labels(other) != labels(cell));
    let variant = document.experiment.variant(&cell.id).map_or_else(String::new, |name| format!("{name}, "));
    let driver = factors.driver.rsplit('/').next().unwrap_or_default();
    // Values of processes with one endpoint, and with several, are not comparable: the name always has the number.
    let shared = factors.shared_process().map_or_else(String::new, |text| format!(", {text}"));
    let labels = if differs { format!(" ({})", labels(cell)) } else { String::new() };
    if factors.workload == Workload::Discovery {
        let Discovery { endpoints, join, .. } = factors.discovery;
        return format!(
            "{variant}`{driver}`{labels}, {endpoints} writers and readers each, join {join}{shared}"
        );
    }
    let batch = if factors.batch_bytes > 0 { " batched" } else { "" };
    format!(
        "{variant}`{driver}`{labels} at {} bytes{batch}{}{shared}",
        factors.size_bytes,
        scale.axis.common()
    )
}
