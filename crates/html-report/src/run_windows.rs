//! Windows of runs over time, which a result does not contain: the caller reads them from the logs of the runs.

use results::LogWindow;

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
