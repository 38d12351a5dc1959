//! Samples that did not arrive within a run, whatever the reason: lost, not delivered when the drain ended, not accepted, or
//! not written in time.

use std::iter::Sum;

use stats::total;

use crate::schema::{CellFlow, CellResult, DeliveryCounts, FlowRecord, Run};

/// Samples that were to arrive, and those of them that did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// Number of samples that were to arrive: the planned ones; without intended send times, the accepted ones, or those that
    /// the writer tried to write if none was accepted. For a latency run the pings.
    pub expected: u64,
    /// Number of these that did not arrive.
    pub missing: u64,
}

impl Shortfall {
    fn new(planned: Option<u64>, offered: u64, counted: &DeliveryCounts) -> Self {
        let DeliveryCounts { sent, filtered, lost, undelivered, .. } = *counted;
        let expected = match planned {
            // A content filter excludes a part of them.
            Some(planned) => planned.saturating_sub(filtered).max(sent),
            None if sent == 0 => offered.saturating_sub(filtered),
            None => sent,
        };
        Self { expected, missing: total([lost, undelivered, expected - sent]) }
    }

    /// Returns the missing samples in percent of those that were to arrive.
    #[must_use]
    pub fn pct(self) -> f64 {
        if self.expected == 0 { 0.0 } else { 100.0 * self.missing as f64 / self.expected as f64 }
    }
}

impl Sum for Shortfall {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            expected: sum.expected.saturating_add(one.expected),
            missing: sum.missing.saturating_add(one.missing),
        })
    }
}

impl FlowRecord {
    /// Returns the samples of the flow that did not arrive.
    #[must_use]
    pub fn shortfall(&self) -> Shortfall {
        Shortfall::new(self.load.as_ref().map(|_| self.planned), self.offered, &self.counted)
    }
}

impl CellFlow {
    /// Returns the samples of the flow that did not arrive in all runs.
    #[must_use]
    pub fn shortfall(&self) -> Shortfall {
        Shortfall::new(Some(self.planned), self.offered, &self.counted)
    }
}

impl Run {
    /// Returns the samples (pings) of the run that did not arrive.
    #[must_use]
    pub fn shortfall(&self) -> Shortfall {
        self.flows.iter().map(FlowRecord::shortfall).sum()
    }
}

impl CellResult {
    /// Returns the samples (pings) of the valid runs that did not arrive.
    #[must_use]
    pub fn shortfall(&self) -> Shortfall {
        self.valid_runs().map(Run::shortfall).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(sent: u64, delivered: u64, filtered: u64) -> DeliveryCounts {
        let [lost, undelivered] = [(sent - delivered) / 2, (sent - delivered).div_ceil(2)];
        DeliveryCounts { sent, delivered, filtered, lost, undelivered, ..DeliveryCounts::default() }
    }

    #[test]
    fn each_reason_counts() {
        let flow = |load: Option<&str>, planned, offered, counted| FlowRecord {
            load: load.map(str::to_owned),
            planned,
            offered,
            counted,
            ..FlowRecord::default()
        };
        // lost or undelivered, not accepted, not written
        assert_eq!(
            flow(Some("5/s"), 15, 15, counted(15, 0, 0)).shortfall(),
            Shortfall { expected: 15, missing: 15 }
        );
        assert_eq!(flow(Some("5/s"), 100, 60, counted(50, 50, 0)).shortfall().missing, 50);
        assert_eq!(flow(Some("5/s"), 100, 100, counted(40, 40, 60)).shortfall().missing, 0);
        // without intended times the accepted ones count, and at least those tried
        assert_eq!(flow(None, 11, 11, counted(10, 9, 0)).shortfall(), Shortfall { expected: 10, missing: 1 });
        assert_eq!(flow(None, 1, 1, counted(0, 0, 0)).shortfall().pct(), 100.0);
        assert_eq!(flow(None, 0, 0, counted(0, 0, 0)).shortfall().pct(), 0.0);
    }
}
