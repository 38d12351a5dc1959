//! Cause of the end of an agent that closed its channel.

use std::{
    thread,
    time::{Duration, Instant},
};

use site::{Agent, ProcessExit, SiteError};

use super::phase_error::{exit_cause, was_asked_to_exit};

/// Maximum wait for the loss of a host whose agent was asked to exit.
const LOSS_PATIENCE: Duration = Duration::from_secs(5);

/// Returns the error and the hint for an agent that has ended: the loss of its host, or else its exit.
pub(super) fn end_cause(
    agent: &dyn Agent,
    is_elsewhere: bool,
    ending: ProcessExit,
) -> (String, Option<String>) {
    // Whatever asked the agent on another host to exit, such as Slurm when it cancels a step, asks the steward as well,
    // whose end is known a moment later.
    let is_awaited = is_elsewhere && was_asked_to_exit(ending);
    match lost_within(agent, if is_awaited { LOSS_PATIENCE } else { Duration::ZERO }) {
        Some(lost) => (lost.to_string(), lost.hint()),
        None => exit_cause(ending),
    }
}

/// Returns the cause if the host of an agent is lost, or is within this time.
fn lost_within(agent: &dyn Agent, patience: Duration) -> Option<SiteError> {
    let deadline = Instant::now() + patience;
    loop {
        let lost = agent.lost();
        if lost.is_some() || Instant::now() >= deadline {
            return lost;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
