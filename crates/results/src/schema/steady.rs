//! Steady-state classes of runs, from windowed measurements, and their warnings.

use serde::{Deserialize, Serialize};

/// Steady-state class of a run by one of its metrics, with its levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyState {
    /// Class.
    pub verdict: SteadyClass,
    /// Start of the steady level, in ns after the start of the measurement. Null if there is none.
    pub steady_from_ns: Option<u64>,
    /// Segments of constant level in their order. Adjacent levels differ.
    pub segments: Vec<SteadySegment>,
    /// Rate over time. Absent for a latency, whose windows are in the log of the run, and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<RateWindows>,
}

/// Samples that arrived in each window of a run, from the first arrival on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateWindows {
    /// Length of a window in ns.
    pub length_ns: u64,
    /// Number of distinct samples that arrived in each window, in their order; at most 25 windows.
    pub delivered: Vec<u64>,
}

/// Steady-state class of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SteadyClass {
    /// One level.
    Flat,
    /// The metric improved, and then kept its level for at least half of the time.
    WarmUp,
    /// The metric became worse, and then kept its level for at least half of the time.
    Slowdown,
    /// The last level was not kept for at least half of the time.
    NoSteadyState,
    /// Like `no_steady_state`, with levels that go up and down regularly.
    Cyclic,
}

/// Segment of a run in which its level was constant.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadySegment {
    /// Start, in ns after the start of the measurement.
    pub from_ns: u64,
    /// End, in ns after the start of the measurement.
    pub to_ns: u64,
    /// Level of a latency in ns: geometric mean over its windows, with outliers clamped. Absent for a rate.
    pub level_ns: Option<f64>,
    /// Level of a rate: samples/s delivered over the segment. Absent for a latency.
    pub level_sps: Option<f64>,
}

impl SteadySegment {
    pub(crate) fn level(&self) -> f64 {
        self.level_ns.or(self.level_sps).unwrap_or(0.0)
    }
}
