//! 99 % time of samples under load: where it starts, and which runs have one that is not caused by their sender.

use results::{CellResult, MAX_LATENCY_LOSS_PCT, Metric, Run, format_value};
use stats::Spread;

use crate::{
    KEPT,
    curves::{lost_pct, over_runs},
    format::{list, micros},
};

/// Maximum median send lag of a sender that kept its schedule, as a share of the median response time.
const TOLERABLE: f64 = 0.1;
/// Share of the send lag, in percent, above which write calls are the cause of a late sender.
const MOST_PCT: f64 = 50.0;

/// Start of the time of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    /// Intended send time.
    Response,
    /// Start of the write call, because some sender was late by itself. If most of a lag is due to write calls, the
    /// intended send time.
    Service,
}

impl Tail {
    /// Returns the time by which cells can be compared: the service time if a cell is sender-limited but kept its
    /// schedule; otherwise the response time.
    pub fn of<'c>(mut cells: impl Iterator<Item = &'c CellResult>) -> Self {
        if cells.any(|cell| cell.is_sender_limited() && Self::Service.over_runs(cell).is_some()) {
            Self::Service
        } else {
            Self::Response
        }
    }

    /// Returns the range of the 99 % time over the runs of a cell, in ns; `None` if the cell is excluded.
    pub fn over_runs(self, cell: &CellResult) -> Option<Spread> {
        if lost_pct(cell) > MAX_LATENCY_LOSS_PCT || is_short(cell) {
            return None;
        }
        match self {
            Self::Response if cell.is_sender_limited() => None,
            Self::Response => over_runs(cell, response_p99_ns),
            Self::Service => over_runs(cell, service_p99_ns),
        }
    }

    /// Returns the name in the names of numbers.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
        }
    }

    /// Returns the name in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service time",
        }
    }

    /// Formats a sentence on why the response time is not used, for the included cells with their loads; empty if
    /// it is used.
    pub fn why(self, cells: &[(String, &CellResult)]) -> String {
        if self == Self::Response {
            return String::new();
        }
        let late = || cells.iter().filter(|(_, cell)| cell.is_sender_limited());
        let mut loads: Vec<String> = late().map(|(load, _)| load.clone()).collect();
        loads.dedup();
        let lags = late().flat_map(|(_, cell)| cell.valid_runs()).filter_map(|run| p99_ns(run, "send_lag"));
        let lag = Spread::from_values(&lags.collect::<Vec<f64>>());
        let lag = lag.map_or_else(String::new, |lag| {
            format!(" (99 % of the send lag {} µs)", micros(lag.min, lag.max))
        });
        let held = if cells.iter().flat_map(|(_, cell)| cell.valid_runs()).any(was_held_up) {
            " Where most of a lag was time of write calls, they are from the intended time."
        } else {
            ""
        };
        format!(
            " Times are from the start of the write: at {} the sender was late by itself{lag}, and responses have that in \
             them.{held}",
            list(&loads)
        )
    }
}

/// Returns why a cell is excluded; `None` if it is included, or has too few runs.
pub(crate) fn why_not(cell: &CellResult) -> Option<String> {
    let lost = lost_pct(cell);
    if lost > MAX_LATENCY_LOSS_PCT {
        return Some(format!("{} % lost", format_value(lost)));
    }
    if is_short(cell) {
        return Some("a run has too few samples for it".to_owned());
    }
    if !cell.is_sender_limited() || Tail::Service.over_runs(cell).is_some() {
        return None;
    }
    let kept = cell.valid_runs().filter(|run| service_p99_ns(run).is_some()).count();
    Some(format!("sender-limited, and {kept} of {} runs kept to the plan", cell.valid_runs().count()))
}

/// Returns whether a run has too few samples for the 99 % time of them.
fn is_short(cell: &CellResult) -> bool {
    [Metric::ResponseP99, Metric::ServiceP99].iter().any(|metric| cell.values_of(*metric, None).is_none())
}

pub(crate) fn response_p99_ns(run: &Run) -> Option<f64> {
    p99_ns(run, "response")
}

fn service_p99_ns(run: &Run) -> Option<f64> {
    if run.is_sender_limited() && !kept_to_the_plan(run) {
        return None;
    }
    p99_ns(run, if was_held_up(run) { "response" } else { "service" })
}

fn p99_ns(run: &Run, kind: &str) -> Option<f64> {
    run.latency.get(kind)?.p99_ns.map(|ns| ns as f64)
}

/// Returns whether at least [`KEPT`] of the samples were sent, most of them on time: the middleware had the planned
/// load.
fn kept_to_the_plan(run: &Run) -> bool {
    let Some(paced) = run.paced() else { return false };
    let median_ns = |kind: &str| run.latency.get(kind)?.p50_ns.map(|ns| ns as f64);
    let sent = paced.planned.saturating_sub(paced.unsent) as f64 >= KEPT * paced.planned as f64;
    let times = median_ns("send_lag").zip(median_ns("response"));
    sent && times.is_some_and(|(lag, response)| lag <= TOLERABLE * response)
}

/// Returns whether a sender was late, and most of its lag was due to write calls.
fn was_held_up(run: &Run) -> bool {
    let Some(paced) = run.paced() else { return false };
    let held = |pct: f64| pct > MOST_PCT;
    (paced.sender_limited || paced.back_pressure)
        && run.flows.first().and_then(|flow| flow.lag_in_writes_pct).is_some_and(held)
}
