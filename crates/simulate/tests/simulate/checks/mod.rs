//! Checks of the collector, each on a simulated run that passes it and on one that does not: with changed reports of
//! the agents, or on middleware and hosts that cause the condition.

mod clocks;
mod configuration;
mod delivery;
mod latency;
mod middleware;
mod overflow;
mod paced;
mod physics;
mod probes;
mod ring;
mod topologies;

use collector::RunReports;
use experiment::{Cell, Design, RunTopology, ScheduledRun};
use results::{Run, RunState, WarningKind};
use simulate::Simulator;

use crate::rig::{MS, design};

/// Indices of the agents of a pair.
const DRIVING: usize = 0;
const SERVING: usize = 1;

const SCHEDULED: ScheduledRun = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };

/// A run without contradictions, and the reports that it is made from.
struct Subject {
    simulator: Simulator,
    cell: Cell,
    design: Design,
    reports: RunReports,
}

impl Subject {
    /// Simulates 100 ms of a cell.
    #[track_caller]
    fn new(cell: Cell) -> Self {
        Self::on(Simulator::new(), cell)
    }

    #[track_caller]
    fn on(mut simulator: Simulator, cell: Cell) -> Self {
        let design = design(100 * MS);
        let reports = simulator.reports(&cell, &design, SCHEDULED).unwrap_or_else(|error| panic!("{error}"));
        let subject = Self { simulator, cell, design, reports };
        let run = subject.run();
        assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
        subject
    }

    /// Returns the record of the run.
    fn run(&self) -> Run {
        self.with(|_| {})
    }

    /// Returns the record of the run with changed reports.
    fn with(&self, change: impl FnOnce(&mut RunReports)) -> Run {
        let mut reports = self.reports.clone();
        // A test may change what the cell requests.
        for (agent, endpoint) in
            reports.agents.iter_mut().zip(RunTopology::of(&self.cell.factors, &self.design).endpoints)
        {
            agent.endpoint = endpoint;
        }
        change(&mut reports);
        self.simulator.record(&self.cell, &self.design, SCHEDULED, &reports).run
    }

    /// Checks that the run is valid, and invalid for this reason with changed reports.
    #[track_caller]
    fn contradicts(&self, reason: &str, change: impl FnOnce(&mut RunReports)) {
        assert_eq!(self.run().state, RunState::Valid, "{:?}", self.run().warnings);
        let run = self.with(change);
        assert_eq!(run.state, RunState::Invalid, "{reason}: {:?}", run.warnings);
        assert!(warns(&run, WarningKind::RunsInvalid, reason), "{reason}: {:?}", run.warnings);
    }

    /// Checks that the run has no such warning, and has it with changed reports, which leave it valid.
    #[track_caller]
    fn warns(&self, kind: WarningKind, text: &str, change: impl FnOnce(&mut RunReports)) {
        assert!(!warns(&self.run(), kind, text), "{text}: {:?}", self.run().warnings);
        let run = self.with(change);
        assert_eq!(run.state, RunState::Valid, "{text}: {:?}", run.warnings);
        assert!(warns(&run, kind, text), "{text}: {:?}", run.warnings);
    }
}

/// Returns whether a run has a warning of this kind that contains this text.
fn warns(run: &Run, kind: WarningKind, text: &str) -> bool {
    run.warnings.iter().any(|warning| warning.kind == kind && warning.text.contains(text))
}
