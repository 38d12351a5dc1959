//! Values of a flow of a paced cell.

use std::collections::BTreeMap;

use experiment::{Flow, Load};
use results::{CellFlow, CellLatency, CellResult, DeliveryCounts, Latency, Run, Shortfall, Throughput};

/// Position of a flow in a cell, from 0, and number of flows.
#[derive(Clone, Copy)]
pub(crate) struct FlowPosition {
    /// Position of the flow, from 0.
    pub number: usize,
    /// Number of flows of the cell.
    pub flows: usize,
}

impl FlowPosition {
    /// Returns whether it is the first flow.
    pub const fn is_first(self) -> bool {
        self.number == 0
    }
}

/// Row of a cell in the tables of paced cells.
pub(crate) struct FlowRow {
    /// Name: of the flow, or of the writer if writers have different loads; empty if the cell has no other row.
    pub name: String,
    /// Flow with the load of the row.
    pub flow: Flow,
    /// Position of its values.
    pub position: FlowPosition,
}

/// Returns the rows of a cell: one for each flow; if its writers have different loads, or if a flow has several writers or readers,
/// one for each writer with each of its readers.
pub(crate) fn rows(cell: &CellResult) -> Vec<FlowRow> {
    if let Some(rows) = rows_of_writers(cell).or_else(|| rows_of_routes(cell)) {
        return rows;
    }
    let planned = cell.factors.streams();
    let flows = planned.len();
    let row = |(number, flow): (usize, Flow)| {
        let name = if flows > 1 { flow.name.clone() } else { String::new() };
        FlowRow { name, flow, position: FlowPosition { number, flows } }
    };
    planned.into_iter().enumerate().map(row).collect()
}

/// Returns a row for each writer with each of its readers; `None` if all writers have the same load, and for a cell without
/// values.
fn rows_of_writers(cell: &CellResult) -> Option<Vec<FlowRow>> {
    let Some(Load::PerWriter { loads }) = &cell.factors.load else { return None };
    let found = &cell.paced.as_ref()?.flows;
    let first = found.first()?;
    let several_readers = found.iter().any(|flow| flow.reader != first.reader);
    let row = |(number, flow): (usize, &CellFlow)| {
        let load = loads.iter().find(|load| load.to_string() == flow.load)?;
        let name = match several_readers {
            true => cell.flow_label(&flow.writer, &flow.reader),
            false => cell.label(&flow.writer),
        };
        let flow = Flow::new(&flow.name, flow.size_bytes, load.clone());
        Some(FlowRow { name, flow, position: FlowPosition { number, flows: found.len() } })
    };
    // A topic has a part of the load of its writer: the row of all has that load.
    found.iter().enumerate().map(row).collect()
}

/// Returns a row for each writer of a flow with each of its readers; `None` if each flow has one of both, without several flows, and
/// for a cell without values.
fn rows_of_routes(cell: &CellResult) -> Option<Vec<FlowRow>> {
    let planned = &cell.factors.flows;
    let found = &cell.paced.as_ref()?.flows;
    if planned.len() < 2 || found.len() <= planned.len() {
        return None;
    }
    let row = |(number, values): (usize, &CellFlow)| {
        let flow = planned.iter().find(|flow| flow.name == values.name)?.clone();
        let name = format!("{}: {}", values.name, cell.flow_label(&values.writer, &values.reader));
        Some(FlowRow { name, flow, position: FlowPosition { number, flows: found.len() } })
    };
    found.iter().enumerate().map(row).collect()
}

/// Values of a row: those of one flow; without several flows, those of all writers, readers and topics together.
pub(crate) struct FlowValues<'v, L> {
    /// Counts of samples over all runs.
    pub counted: DeliveryCounts,
    /// Samples that were to arrive and did not.
    pub shortfall: Shortfall,
    /// Number of samples that arrived while the writer was writing.
    pub delivered_in_time: u64,
    /// Number of late samples; `None` without intended send times.
    pub late: Option<u64>,
    /// Latencies by kind, such as `response`.
    pub latency: &'v BTreeMap<String, L>,
}

/// Returns the values of a flow over all runs; `None` for a cell without values.
pub(crate) fn measured(
    cell: &CellResult,
    position: FlowPosition,
) -> Option<(FlowValues<'_, CellLatency>, &Throughput)> {
    let (flows, throughput) = (&cell.paced.as_ref()?.flows, cell.throughput.as_ref()?);
    let values = if position.flows == 1 && flows.len() > 1 {
        FlowValues {
            counted: DeliveryCounts::sum(flows.iter().map(|flow| &flow.counted)),
            shortfall: flows.iter().map(CellFlow::shortfall).sum(),
            delivered_in_time: throughput.delivered_in_time,
            late: sum_of_late(flows.iter().map(|flow| flow.late)),
            latency: &cell.latency,
        }
    } else {
        let flow = flows.get(position.number).filter(|_| flows.len() == position.flows)?;
        FlowValues {
            counted: flow.counted.clone(),
            shortfall: flow.shortfall(),
            delivered_in_time: flow.delivered_in_time,
            late: flow.late,
            latency: &flow.latency,
        }
    };
    Some((values, throughput))
}

/// Returns the values of a flow in a run.
pub(crate) fn of_run(run: &Run, position: FlowPosition) -> Option<FlowValues<'_, Latency>> {
    if position.flows == 1 && run.flows.len() > 1 {
        return Some(FlowValues {
            counted: DeliveryCounts::sum(run.flows.iter().map(|flow| &flow.counted)),
            shortfall: run.shortfall(),
            delivered_in_time: run.throughput()?.delivered_in_time,
            late: sum_of_late(run.flows.iter().map(|flow| flow.late)),
            latency: &run.latency,
        });
    }
    // Without a lost endpoint the flows have other positions.
    let flow = run.flows.get(position.number).filter(|_| run.flows.len() == position.flows)?;
    Some(FlowValues {
        counted: flow.counted.clone(),
        shortfall: flow.shortfall(),
        delivered_in_time: flow.delivered_in_time,
        late: flow.late,
        latency: &flow.latency,
    })
}

impl<L> FlowValues<'_, L> {
    /// Returns the late samples in percent of those that were to arrive.
    pub fn late_pct(&self) -> Option<f64> {
        let late = self.late? as f64;
        (self.shortfall.expected > 0).then(|| 100.0 * late / self.shortfall.expected as f64)
    }
}

/// `None` if a flow has no intended send times.
fn sum_of_late(mut flows: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    flows.try_fold(0, |sum: u64, late| Some(sum.saturating_add(late?)))
}
