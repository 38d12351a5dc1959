//! Windows of runs over time, which a result does not contain: the caller reads them from the logs of the runs.

use experiment::Workload;
use results::{CellResult, LogWindow, Metric, ResultDocument};

/// Windows of a run, of the wanted kind of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunWindows {
    /// Number of the run.
    pub run: u32,
    /// Windows in ascending order of time, without empty ones.
    pub windows: Vec<LogWindow>,
}

/// Run whose windows a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedRun {
    /// Number of the run.
    pub run: u32,
    /// Kind of times, as the log of the run has it.
    pub kind: &'static str,
}

/// Returns the runs whose windows the page of a result shows: of each cell in a chart over time its median run.
#[must_use]
pub fn wanted_runs(document: &ResultDocument) -> Vec<WantedRun> {
    let scene = crate::scene::Scene::new(document, &[]);
    let shown = crate::figures::time::shown(&scene);
    shown.iter().filter_map(|(_, cell)| median_run(cell)).collect()
}

/// Returns the run of a cell whose median time is the median of all runs.
pub(crate) fn median_run(cell: &CellResult) -> Option<WantedRun> {
    let (metric, kind) = match cell.factors.workload {
        Workload::Latency => (Metric::RttP50, "rtt"),
        Workload::Paced => (Metric::ResponseP50, "response"),
        Workload::Throughput | Workload::Search | Workload::Discovery => return None,
    };
    let mut runs: Vec<(f64, u32)> =
        cell.claimed_runs().filter_map(|run| Some((run.value(metric)?, run.number))).collect();
    runs.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    let (_, run) = *runs.get(runs.len().checked_sub(1)? / 2)?;
    Some(WantedRun { run, kind })
}
