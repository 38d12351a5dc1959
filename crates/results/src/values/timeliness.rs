//! Deadlines over the runs of a cell.

use std::{cmp::Ordering, collections::BTreeSet};

use experiment::{Factors, Pin, RunTopology};
use stats::{median, total};

use crate::{
    schema::{
        CellFlow, CellTimeliness, EndedProcess, FlowRecord, NotMet, Run, RunState, SystemOutcome, Timeliness,
        metric::P99,
    },
    values::rules::percent,
};

/// Rank of a flow by its suffering: the missed share as a multiple of what its limit allows, then that share, and last the time that
/// the slow ones of its samples took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strain {
    /// Missed share as a multiple of the limit: infinite if none may be missed.
    of_limit: f64,
    /// Missed share in percent.
    missed_pct: f64,
    /// 99 % response time relative to the deadline; without a deadline, in s.
    tail: f64,
}

impl Strain {
    /// Creates the strain of a missed share and its limit, both in percent.
    #[must_use]
    pub fn new(missed_pct: f64, limit_pct: f64) -> Self {
        let of_limit = if missed_pct > 0.0 { missed_pct / limit_pct } else { 0.0 };
        Self { of_limit, missed_pct, tail: 0.0 }
    }

    /// Adds how long slow samples take.
    #[must_use]
    pub const fn with_tail(self, tail: f64) -> Self {
        Self { tail, ..self }
    }
}

impl Ord for Strain {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = |of: &Self| [of.of_limit, of.missed_pct, of.tail];
        let pairs = keys(self).into_iter().zip(keys(other));
        pairs.map(|(own, other)| own.total_cmp(&other)).fold(Ordering::Equal, Ordering::then)
    }
}

impl PartialOrd for Strain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Strain {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Strain {}

impl Timeliness {
    /// Returns the share of the planned samples that missed the deadline, in percent.
    #[must_use]
    pub fn missed_pct(&self) -> f64 {
        percent(self.missed, self.planned)
    }

    /// Returns how much the flow suffers.
    #[must_use]
    pub fn strain(&self) -> Strain {
        Strain::new(self.missed_pct(), self.limit_pct)
    }
}

impl CellTimeliness {
    /// Returns the values over runs, given by number; `None` if one has no deadline.
    pub(crate) fn from_runs(runs: &[(u32, &FlowRecord)]) -> Option<Self> {
        let all: Vec<(u32, &Timeliness)> = runs
            .iter()
            .map(|(number, flow)| Some((*number, flow.timeliness.as_ref()?)))
            .collect::<Option<_>>()?;
        let (worst_run, worst) =
            all.iter().max_by(|(_, left), (_, right)| left.missed_pct().total_cmp(&right.missed_pct()))?;
        let ages: Vec<f64> = all.iter().map(|(_, of)| of.mean_age_ns).collect();
        Some(Self {
            deadline_ns: worst.deadline_ns,
            limit_pct: worst.limit_pct,
            planned: total(all.iter().map(|(_, of)| of.planned)),
            missed: total(all.iter().map(|(_, of)| of.missed)),
            runs: all.len() as u32,
            met_runs: all.iter().filter(|(_, of)| of.is_met).count() as u32,
            worst_missed_pct: worst.missed_pct(),
            worst_run: *worst_run,
            mean_age_ns: median(&ages).unwrap_or(0.0),
            gaps: all
                .iter()
                .map(|(_, of)| of.gaps)
                .try_fold(0, |sum: u64, gaps| Some(sum.saturating_add(gaps?))),
        })
    }

    /// Returns the share of the planned samples of all runs that missed the deadline, in percent.
    #[must_use]
    pub fn missed_pct(&self) -> f64 {
        percent(self.missed, self.planned)
    }
}

impl CellFlow {
    /// Returns how much the flow suffers.
    #[must_use]
    pub fn strain(&self) -> Strain {
        let p99_ns =
            self.latency.get("response").and_then(|response| response.quantiles()[P99]).unwrap_or(0.0);
        match &self.timeliness {
            Some(of) => {
                Strain::new(of.missed_pct(), of.limit_pct).with_tail(p99_ns / of.deadline_ns.max(1) as f64)
            }
            None => Strain::default().with_tail(p99_ns / 1e9),
        }
    }
}

impl SystemOutcome {
    /// Returns the outcome over the valid runs, and those in which a process ended; `None` without deadlines.
    pub(crate) fn from_runs(valid: &[&&Run], ended: Vec<EndedProcess>) -> Option<Self> {
        let has_deadline = |run: &&&&Run| run.flows.iter().any(|flow| flow.timeliness.is_some());
        let with_deadlines: Vec<&&&Run> = valid.iter().filter(has_deadline).collect();
        let not_met: Vec<NotMet> = with_deadlines.iter().filter_map(|run| NotMet::of(run)).collect();
        let measured = with_deadlines.len() as u32;
        (measured > 0).then(|| Self {
            runs: measured + ended.len() as u32,
            met_runs: measured - not_met.len() as u32,
            not_met,
            ended,
        })
    }
}

/// Phases in which the processes of a system write and read.
const RUNNING: [&str; 3] = ["warm_up", "measure", "drain"];

impl EndedProcess {
    /// Returns the runs of a cell that failed because a process ended, or stopped answering, while the flows ran.
    pub(crate) fn of_runs(runs: &[Run], factors: &Factors) -> Vec<Self> {
        if factors.flows.iter().all(|flow| flow.deadline.is_none()) {
            return Vec::new();
        }
        let topology = RunTopology::new(factors, &Pin::None, false);
        let of_run = |run: &Run| {
            let failure = run.failure.as_ref().filter(|of| RUNNING.contains(&of.phase.as_str()))?;
            let failed = topology.endpoints.iter().find(|of| Some(&of.id) == failure.endpoint.as_ref())?;
            let process = topology.endpoints.iter().filter(|of| of.process == failed.process);
            let streams = process.flat_map(|endpoint| {
                let written = endpoint.writers.iter().map(|writer| &writer.stream);
                written.chain(endpoint.readers.iter().flat_map(|reader| &reader.streams))
            });
            let flows: BTreeSet<usize> = streams.map(|stream| stream.flow as usize).collect();
            let named = flows.into_iter().filter_map(|index| factors.flows.get(index));
            Some(Self {
                run: run.number,
                endpoint: failed.id.clone(),
                flows: named.map(|flow| flow.name.clone()).collect(),
            })
        };
        runs.iter().filter(|run| run.state == RunState::Failed).filter_map(of_run).collect()
    }
}

impl NotMet {
    /// Returns what was not met in a run; `None` if all was.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        let failed = run.flows.iter().filter_map(|flow| {
            let timeliness = flow.timeliness.as_ref().filter(|timeliness| !timeliness.is_met)?;
            Some((flow, timeliness))
        });
        let failed: Vec<(&FlowRecord, &Timeliness)> = failed.collect();
        let (flow, worst) = failed.iter().max_by_key(|(_, timeliness)| timeliness.strain())?;
        Some(Self {
            run: run.number,
            flow: flow.name.clone(),
            reader: flow.reader.clone(),
            missed_pct: worst.missed_pct(),
            flows: failed.len() as u32,
            udp_buffer_drops: run.udp_buffer_drops,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_suffers_by_the_multiple_of_its_limit_then_by_its_share_then_by_its_times() {
        let ascending = [
            Strain::default(),
            Strain::default().with_tail(2.0),
            Strain::new(0.0, 0.0).with_tail(3.0),
            Strain::new(45.0, 50.0),
            // Three times a small limit is more than twice a large one.
            Strain::new(2.0, 1.0),
            Strain::new(0.3, 0.1),
            Strain::new(3.0, 1.0),
            Strain::new(3.0, 1.0).with_tail(0.1),
            // Nothing may be missed.
            Strain::new(0.1, 0.0),
            Strain::new(0.2, 0.0),
        ];
        assert!(ascending.is_sorted() && ascending.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
