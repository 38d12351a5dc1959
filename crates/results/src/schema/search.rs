//! Workload `search` in a result: trials, bounds, and values over the searches of a cell.

use experiment::GoalKind;
use serde::{Deserialize, Serialize};

/// Search for the highest sustained rate (MLRsearch, RFC 9971): many paced trials, each with new processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchRecord {
    /// Whether the search ended, also if a trial failed. An interrupted search is repeated from its start.
    pub ended: bool,
    /// First trial, without a schedule: its rates set the range of the search. Null before that trial.
    pub unpaced: Option<UnpacedRate>,
    /// Lowest load that may be tried, in samples/s. Null before the first trial.
    pub floor_sps: Option<f64>,
    /// Highest load that may be tried, in samples/s. Null before the first trial.
    pub ceiling_sps: Option<f64>,
    /// Outcome for each goal.
    pub goals: Vec<GoalRecord>,
    /// Trials, in the order of execution.
    pub trials: Vec<TrialRecord>,
    /// Time from the start of the first trial to the end of the last one so far, in ns.
    pub took_ns: u64,
}

/// Rates of a writer without a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnpacedRate {
    /// Planned duration, in ns.
    pub duration_ns: u64,
    /// Offered rate, in samples/s.
    pub offered_sps: f64,
    /// Delivered rate, in samples/s.
    pub delivered_sps: f64,
}

/// Outcome of a search for one goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalRecord {
    /// Goal.
    pub aim: GoalKind,
    /// Deadline of the goal `slo`, in ns. Absent for other goals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// State of the search for this goal.
    pub state: SearchState,
    /// Relevant lower bound: a sustained load. Null if there is none.
    pub lower: Option<SearchBound>,
    /// Relevant upper bound: the lowest load that is not sustained. Null if there is none.
    pub upper: Option<SearchBound>,
    /// Conditional throughput: the delivered samples/s that are typical at the lower bound. Present in the states
    /// `found` and `ceiling`. Of a system: what all flows write there.
    pub conditional_sps: Option<f64>,
    /// Flow of a system, or group of equal flows, that exceeds its limit most in most of the bad trials at the upper
    /// bound. Absent without an upper bound, and for rates of one flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_first: Option<String>,
    /// Number of full-length trials that contradict the bounds: good trials at or above the upper bound, and bad
    /// trials at or below the lower bound. If there are many, the sustained load varies between trials.
    pub contradicting: u32,
    /// Whether the sender limits the upper bound: most bad trials there were limited by the writing thread, not by
    /// the middleware.
    pub limited_by_sender: bool,
}

/// State of a search for one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// Both bounds are known, and their distance is at most the width of the goal.
    Found,
    /// Even the lowest load is not sustained: there is no lower bound.
    Floor,
    /// The highest load is sustained: there is no upper bound.
    Ceiling,
    /// The time budget ended before the bounds were close enough, or the search is still running.
    Budget,
}

/// Bound of a search: a load, and the number of trials at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchBound {
    /// Load, in samples/s. Of a system: what all flows write.
    pub load_sps: f64,
    /// Factor of the rates of all flows of a system. Absent for rates of one flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Number of trials of any duration.
    pub trials: u32,
}

/// Trial of a search: a constant load for a fixed duration, and its outcome.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialRecord {
    /// Offered load by the schedule, in samples/s. Of a system: of all flows.
    pub load_sps: f64,
    /// Factor of the rates of all flows of a system. Absent for rates of one flow.
    pub scale: Option<f64>,
    /// Duration of the schedule, in ns.
    pub duration_ns: u64,
    /// Number of planned samples.
    pub planned: u64,
    /// Number of planned samples that were not tried before the end of the schedule.
    pub unsent: u64,
    /// Number of distinct samples delivered, including those during the drain.
    pub delivered: u64,
    /// Number of lost samples.
    pub lost: u64,
    /// Number of samples that a reliable flow had not delivered when the drain ended.
    pub undelivered: u64,
    /// For a reliable flow: time from the end of the schedule to the last arrival, less that of the quickest
    /// sample, in ns.
    pub late_ns: Option<u64>,
    /// Share of the schedule that the writer did not keep, 0 to 1: growth of the send lag per time. 0 if it did not
    /// grow significantly.
    pub falls_behind: f64,
    /// Whether the sender limited the trial of a best-effort flow: more than half of the missing samples were not
    /// tried, and the writing thread used or waited for more than 90 % of a core. Not determined for systems.
    pub limited_by_sender: bool,
    /// Flow of a system that is nearest to its limit, or exceeds it most. Absent if no flow missed a deadline, and for rates
    /// of one flow.
    pub worst: Option<WorstFlow>,
    /// Judgement of each goal, in the order of the goals.
    pub judged: Vec<TrialGoalResult>,
    /// Reason why a first attempt of this trial failed. Absent if there was none.
    pub repeats: Option<String>,
}

/// Flow of a system whose share of missed samples is the largest multiple of its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstFlow {
    /// Name of the flow.
    pub flow: String,
    /// Name of its group, if it is one of several equal flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Reader at which it is the worst, by id.
    pub reader: String,
    /// Share of its planned samples that missed the deadline, lost ones included, in percent.
    pub missed_pct: f64,
    /// Share that may miss it, in percent.
    pub limit_pct: f64,
}

/// Judgement of a trial by one goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialGoalResult {
    /// Goal.
    pub aim: GoalKind,
    /// Violation ratio: share of the planned samples that did not meet the goal, 0 to 1. Of a system: of the samples of a flow, those
    /// that missed its deadline beyond its limit; the largest of all flows.
    pub violation_ratio: f64,
    /// Whether the violation ratio is at most the one that the goal allows.
    pub good: bool,
}

/// Values over the valid searches of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchCell {
    /// Values for each goal.
    pub goals: Vec<GoalCell>,
}

/// Values of one goal over the valid searches of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalCell {
    /// Goal.
    pub aim: GoalKind,
    /// Deadline of the goal `slo`, in ns. Absent for other goals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// Number of searches.
    pub searches: u32,
    /// Number of searches that found both bounds. The rates below are over these.
    pub found: u32,
    /// Number of trials of all searches, for all goals.
    pub trials: u32,
    /// Lowest of the lower bounds, in samples/s.
    pub lowest_sps: Option<f64>,
    /// Highest of the upper bounds, in samples/s.
    pub highest_sps: Option<f64>,
    /// Conditional throughput, in samples/s: median over the searches.
    pub conditional_sps: Option<f64>,
    /// Half-range of the conditional throughputs, relative to their median: 0.02 is ±2 %.
    pub spread: Option<f64>,
    /// Number of searches whose upper bound is limited by the sender.
    pub limited_by_sender: u32,
    /// Number of full-length trials that contradict the bounds of their search: sum over the searches.
    pub contradicting: u32,
    /// Headroom of a system. Absent for rates of one flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
}

/// Headroom of a system over the searches that found it: the highest factor of all rates at which each flow keeps its limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Headroom {
    /// Median over the searches. Null if none found it.
    pub scale: Option<f64>,
    /// Lowest of the scales that are sustained.
    pub lowest_scale: Option<f64>,
    /// Highest of the scales that are not.
    pub highest_scale: Option<f64>,
    /// Flows, or groups of equal flows, that fail first, by descending number of searches.
    pub fails_first: Vec<FirstFailure>,
}

/// Flow of a system that is the first to exceed its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstFailure {
    /// Name of the flow, or of the group of equal flows.
    pub flow: String,
    /// Number of searches in which it fails first.
    pub searches: u32,
}
