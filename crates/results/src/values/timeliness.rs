//! Deadlines over the runs of a cell.

use stats::{median, total};

use crate::{
    CellFlow, CellTimeliness, FlowRecord, NotMet, Run, SystemOutcome, Timeliness, values::rules::percent,
};

impl Timeliness {
    /// Returns the share of the planned samples that missed the deadline, in percent.
    #[must_use]
    pub fn missed_pct(&self) -> f64 {
        percent(self.missed, self.planned)
    }

    /// Returns how far the share exceeds the limit, in percentage points; negative if the deadline was met.
    fn excess_pct(&self) -> f64 {
        self.missed_pct() - self.limit_pct
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

/// Weight of a percentage point beyond a limit, against a response time as long as the deadline.
const BEYOND_LIMIT: f64 = 1e6;

impl CellFlow {
    /// Returns a number that sorts flows by how much they suffer: by the missed share beyond the limit, then by the 99 % response time
    /// relative to the deadline. Without a deadline, by that time in s.
    #[must_use]
    pub fn strain(&self) -> f64 {
        let p99_ns = self.latency.get("response").and_then(|response| response.quantiles()[2]).unwrap_or(0.0);
        match &self.timeliness {
            Some(of) => {
                let beyond = (of.missed_pct() - of.limit_pct).max(0.0);
                BEYOND_LIMIT * beyond + p99_ns / of.deadline_ns.max(1) as f64
            }
            None => p99_ns / 1e9,
        }
    }
}

impl SystemOutcome {
    /// Returns the outcome over the valid runs; `None` without deadlines.
    pub(crate) fn from_runs(valid: &[&&Run]) -> Option<Self> {
        let has_deadline = |run: &&&&Run| run.flows.iter().any(|flow| flow.timeliness.is_some());
        let with_deadlines: Vec<&&&Run> = valid.iter().filter(has_deadline).collect();
        let not_met: Vec<NotMet> = with_deadlines.iter().filter_map(|run| NotMet::of(run)).collect();
        let runs = with_deadlines.len() as u32;
        (runs > 0).then(|| Self { runs, met_runs: runs - not_met.len() as u32, not_met })
    }
}

impl NotMet {
    /// Returns what was not met in a run; `None` if all was.
    fn of(run: &Run) -> Option<Self> {
        let failed = run.flows.iter().filter_map(|flow| {
            let timeliness = flow.timeliness.as_ref().filter(|timeliness| !timeliness.is_met)?;
            Some((flow, timeliness))
        });
        let failed: Vec<(&FlowRecord, &Timeliness)> = failed.collect();
        let (flow, worst) =
            failed.iter().max_by(|(_, left), (_, right)| left.excess_pct().total_cmp(&right.excess_pct()))?;
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
