//! Interface of a role: the actions in each phase of a run, and the measurements for the report.

use std::{thread, time::Duration};

use control::{Drain, RoleReport};

use crate::base::{
    clock::now_ns,
    error::AgentError,
    meters::{SHORTEST_WAIT_NS, TrafficMeter},
    priority::NamedThread,
    progress::ProgressSource,
};

/// Start and limits of the traffic of a phase, which ends with the first of both limits.
#[derive(Clone, Copy, Debug)]
pub struct TrafficLimit {
    /// Maximum duration in ns.
    pub duration_ns: u64,
    /// Maximum number of samples of each writer; `None`: no limit.
    pub samples: Option<u64>,
    /// Start of the schedule of a measurement, for paced roles.
    pub begin_ns: Option<u64>,
}

impl TrafficLimit {
    /// Creates a limit of time only.
    #[must_use]
    pub const fn of_time(duration_ns: u64) -> Self {
        Self { duration_ns, samples: None, begin_ns: None }
    }

    /// Returns the maximum number of samples; the highest number: no limit.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.samples.unwrap_or(u64::MAX)
    }
}

/// Actions of a role in each phase. A serving role also serves while no order arrives. An error of an action ends the run.
pub trait AgentRole {
    /// Serves for about `slice`; may return early. A driving role waits in the same way as for its samples.
    /// `wait_ns`: longest wait of one call for a sample. By default, sleeps.
    fn serve(&mut self, slice: Duration, _wait_ns: u64) -> Result<(), AgentError> {
        thread::sleep(slice);
        Ok(())
    }
    /// Returns the number of samples sent, received or echoed so far in the measurement phase.
    fn recorded(&self) -> u64;
    /// Returns the progress that another thread may read while the role runs.
    fn progress(&self) -> ProgressSource {
        ProgressSource::default()
    }
    /// Returns the threads of the role that receive, besides the thread that executes it.
    fn receiving_threads(&self) -> Vec<NamedThread<'_>> {
        Vec::new()
    }
    /// Runs the traffic: with a meter that of the measurement, which is recorded, without one that of the warm-up.
    /// A driving role reads the meter where its traffic starts and ends. By default, does nothing: a serving role serves
    /// while no order arrives.
    fn run(&mut self, _limit: TrafficLimit, _meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        Ok(())
    }
    /// Waits for outstanding samples. Returns false if some are outstanding at the time limit. A serving role
    /// updates the meter meanwhile. By default, waits for the samples that [`Self::progress`] counts, and not at all if it
    /// counts none.
    fn drain(&mut self, drain: &Drain, meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        let reception = self.progress().reception;
        let begin_ns = now_ns();
        while !reception.is_empty() && self.recorded() < drain.sent {
            let now = now_ns();
            let last_ns = reception.iter().map(|progress| progress.last_ns()).max().unwrap_or(0);
            if now.saturating_sub(begin_ns) >= drain.timeout_ns
                || now.saturating_sub(last_ns.max(begin_ns)) >= drain.quiet_ns
            {
                return Ok(false);
            }
            self.serve(Duration::from_millis(1), SHORTEST_WAIT_NS)?;
            meter.look(self.recorded(), now_ns());
        }
        Ok(true)
    }
    /// Returns the measurements of the role.
    fn report(&mut self) -> Result<RoleReport, AgentError>;
    /// Closes writer and reader.
    ///
    /// # Errors
    /// Returns the driver's error if a close fails.
    fn close(&mut self) -> Result<(), AgentError>;
}
