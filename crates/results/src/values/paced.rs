//! Values over the paced runs of a cell.

use recording::Histograms;
use stats::{median, total};

use crate::schema::{
    CellFlow, CellResult, CellTimeliness, DeliveryCounts, EndedProcess, FlowRecord, Paced, PacedCell, Run,
    SystemOutcome, kind_of_flow, latency::cell_latency,
};

/// Returns the record of a flow in a run. It is at this index unless the run lost an endpoint.
fn same_flow<'r>(run: &'r Run, index: usize, flow: &FlowRecord) -> Option<&'r FlowRecord> {
    let is_same = |other: &&FlowRecord| {
        (&other.name, &other.writer, &other.reader) == (&flow.name, &flow.writer, &flow.reader)
    };
    run.flows.get(index).filter(is_same).or_else(|| run.flows.iter().find(is_same))
}

impl PacedCell {
    /// Returns the values over the valid runs of a cell, or `None` if no run has a schedule. `ended` has the runs in which a process ended.
    pub(crate) fn from_runs(valid: &[&Run], ended: Vec<EndedProcess>, pooled: &Histograms) -> Option<Self> {
        let runs: Vec<&Paced> = valid.iter().filter_map(|run| run.paced()).collect();
        runs.first()?;
        let rates: Option<Vec<f64>> = runs.iter().map(|run| run.planned_sps).collect();
        let paced: Vec<&&Run> = valid.iter().filter(|run| run.paced().is_some()).collect();
        // A run without a lost endpoint has more.
        let flows = paced.iter().map(|run| &run.flows[..]).max_by_key(|flows| flows.len()).unwrap_or(&[]);
        let log_names = FlowRecord::log_names(flows);
        let flow = |(index, flow): (usize, &FlowRecord)| {
            let of_runs: Vec<(&&&Run, &FlowRecord)> =
                paced.iter().filter_map(|run| Some((run, same_flow(run, index, flow)?))).collect();
            let same: Vec<&FlowRecord> = of_runs.iter().map(|(_, flow)| *flow).collect();
            let latencies = of_runs.iter().map(|(run, flow)| (&flow.latency, !run.twin));
            let by_number: Vec<(u32, &FlowRecord)> =
                of_runs.iter().map(|(run, flow)| (run.number, *flow)).collect();
            let sum = |of: fn(&FlowRecord) -> u64| total(same.iter().map(|flow| of(flow)));
            // a single flow has the histogram of the whole run
            let histogram = |kind: &str| match flows.len() {
                1 => pooled.get(kind),
                _ => pooled.get(&kind_of_flow(kind, &log_names[index])),
            };
            CellFlow {
                name: flow.name.clone(),
                writer: flow.writer.clone(),
                reader: flow.reader.clone(),
                timeliness: CellTimeliness::from_runs(&by_number),
                size_bytes: flow.size_bytes,
                load: flow.load.clone().unwrap_or_default(),
                planned: sum(|flow| flow.planned),
                offered: sum(|flow| flow.offered),
                unplaced: sum(|flow| flow.unplaced),
                late: same
                    .iter()
                    .map(|flow| flow.late)
                    .try_fold(0, |sum: u64, late| Some(sum.saturating_add(late?))),
                delivered_in_time: sum(|flow| flow.delivered_in_time),
                lag_in_writes_pct: lag_in_writes_pct(&same),
                counted: DeliveryCounts::sum(same.iter().map(|flow| &flow.counted)),
                latency: cell_latency(latencies, histogram),
            }
        };
        Some(Self {
            planned: total(runs.iter().map(|run| run.planned)),
            planned_sps: rates.and_then(|rates| median(&rates)),
            unsent: total(runs.iter().map(|run| run.unsent)),
            sender_limited_runs: runs.iter().filter(|run| run.sender_limited).count() as u32,
            back_pressure_runs: runs.iter().filter(|run| run.back_pressure).count() as u32,
            flows: flows.iter().enumerate().map(flow).collect(),
            system: SystemOutcome::from_runs(&paced, ended),
        })
    }
}

/// Returns the share over the lags of all these flows together.
fn lag_in_writes_pct(flows: &[&FlowRecord]) -> Option<f64> {
    let parts = flows.iter().filter_map(|flow| {
        let lag = flow.latency.get("send_lag")?;
        Some((flow.lag_in_writes_pct?, lag.mean_ns * lag.n as f64))
    });
    let (held, lags) = parts.fold((0.0, 0.0), |(held, lags), (pct, lag)| (held + pct * lag, lags + lag));
    (lags > 0.0).then(|| held / lags)
}

impl CellResult {
    /// Returns whether the sender determines the response times in at least half of the valid runs.
    #[must_use]
    pub fn is_sender_limited(&self) -> bool {
        let limited = self.paced.as_ref().map_or(0, |paced| paced.sender_limited_runs as usize);
        limited > 0 && 2 * limited >= self.valid_runs().count()
    }
}

impl Run {
    /// Returns whether the sender determines the response times of this run.
    #[must_use]
    pub fn is_sender_limited(&self) -> bool {
        self.paced().is_some_and(|paced| paced.sender_limited)
    }
}
