//! Time per hop of rings, and per sample and hop with several samples in flight. How these grow with the number of nodes or
//! of samples is a finding of its own.

use experiment::{Factors, Topology, Workload, gather_series};
use results::{CellResult, Finding, FindingKind, MAX_LATENCY_LOSS_PCT, ResultDocument, Run, format_micros};
use stats::Spread;

use crate::{
    curves::{lost_pct, over_runs},
    format::{finding, list, micros, runs, three},
};

/// Rings that differ in the number of nodes only, by that number.
struct Rings<'d> {
    factors: Factors,
    cells: Vec<(u16, &'d CellResult)>,
}

pub(crate) fn findings(document: &ResultDocument) -> Vec<Finding> {
    let of_ring = |cell: &'_ CellResult| match cell.factors.topology {
        Topology::Ring { nodes }
            if cell.factors.workload == Workload::Latency && lost_pct(cell) <= MAX_LATENCY_LOSS_PCT =>
        {
            Some(nodes)
        }
        _ => None,
    };
    let cells = document.cells.iter().filter_map(|cell| Some((of_ring(cell)?, cell)));
    let rings = |cells: Vec<_>| {
        let (_, first): &(u16, &CellResult) = &cells[0];
        Rings { factors: Factors { topology: Topology::PAIR, ..first.factors.clone() }, cells }
    };
    let groups = gather_series(cells, |(_, cell)| (&cell.factors, "topology", ()));
    let mut all: Vec<Rings<'_>> = groups.into_iter().map(rings).collect();
    all.iter_mut().for_each(|rings| rings.cells.sort_by_key(|(nodes, _)| *nodes));
    let names: Vec<String> = all.iter().map(|rings| short_name(&rings.factors)).collect();
    let name = |index: usize, rings: &Rings<'_>| {
        let alone = names.iter().filter(|name| **name == names[index]).count() == 1;
        let labels = rings.factors.labels().join(", ");
        let labels = if alone { String::new() } else { format!(" ({labels})") };
        format!("`{}`{labels}, {} bytes", names[index], rings.factors.size_bytes)
    };
    all.iter().enumerate().filter_map(|(index, rings)| rings.finding(&name(index, rings))).collect()
}

impl Rings<'_> {
    fn finding(&self, name: &str) -> Option<Finding> {
        let (kind, key, what, of_run): (_, _, _, fn(&Run) -> Option<f64>) = match self.factors.in_flight {
            None => (
                FindingKind::RingHop,
                "per_hop_of",
                "one hop of a ring, the mean round trip divided by the number of nodes, takes".to_owned(),
                per_hop_ns,
            ),
            Some(in_flight) => (
                FindingKind::PipelinedRing,
                "per_sample_hop_of",
                format!("a ring with {in_flight} samples in flight takes, per sample and hop,"),
                per_sample_hop_ns,
            ),
        };
        let measured =
            self.cells.iter().filter_map(|&(nodes, cell)| Some((nodes, cell, over_runs(cell, of_run)?)));
        let measured: Vec<(u16, &CellResult, Spread)> = measured.collect();
        if measured.is_empty() {
            return None;
        }
        let each: Vec<String> = measured
            .iter()
            .map(|(nodes, _, spread)| {
                let range = micros(spread.min, spread.max);
                format!("{} µs with {nodes} nodes ({range})", format_micros(spread.median))
            })
            .collect();
        let text = format!(
            "{name}: {what} {}; {}.",
            list(&each),
            runs(measured.iter().map(|(_, _, spread)| spread))
        );
        let mut numbers: Vec<(String, f64)> = Vec::new();
        for (nodes, _, spread) in &measured {
            numbers.extend(three(&format!("{key}_{nodes}"), "ns", spread));
        }
        Some(finding(kind, text, measured.iter().map(|(_, cell, _)| *cell), numbers))
    }
}

fn short_name(factors: &Factors) -> String {
    factors.driver.rsplit('/').next().unwrap_or_default().to_owned()
}

fn per_hop_ns(run: &Run) -> Option<f64> {
    run.ring()?.per_hop_mean_ns
}

fn per_sample_hop_ns(run: &Run) -> Option<f64> {
    run.ring()?.per_sample_hop_ns
}
