//! Cause of the end of an agent that closed its channel.

use std::{
    sync::mpsc::Receiver,
    thread,
    time::{Duration, Instant},
};

use host::{Agent, ProcessExit, SiteError};

use super::{
    agent::Event,
    phase_error::{PhaseError, exit_cause, failure, was_asked_to_exit},
};

/// Maximum wait for the loss of a host whose agent was asked to exit, or that closed its channel without an exit.
const LOSS_PATIENCE: Duration = Duration::from_secs(5);

/// Maximum wait for the failure that an agent of an ended process reported.
const FAILURE_PATIENCE: Duration = Duration::from_secs(1);

/// Returns the failure that one of these agents reported. It may come after the end of the channel of another agent of the same
/// process.
pub(super) fn failure_of(
    events: &Receiver<Event>,
    phase: &'static str,
    is_of_process: impl Fn(usize) -> bool,
) -> Option<PhaseError> {
    loop {
        match events.recv_timeout(FAILURE_PATIENCE).ok()? {
            Event::Stop => return Some(PhaseError::Stopped),
            Event::Reply(agent, Ok(reply)) if is_of_process(agent) => {
                if let Err(error) = failure(phase, agent, *reply) {
                    return Some(error);
                }
            }
            Event::Reply(..) => {}
        }
    }
}

/// Returns the error and the hint for an agent that has ended: the loss of its host, or else its exit.
pub(super) fn end_cause(
    agent: &dyn Agent,
    is_elsewhere: bool,
    ending: ProcessExit,
) -> (String, Option<String>) {
    // Whatever asked the agent on another host to exit, such as Slurm when it cancels a step, asks the steward as well,
    // whose end is known a moment later. An agent that is still ending then is killed.
    let is_awaited = is_elsewhere && (was_asked_to_exit(ending) || ending == ProcessExit::Killed);
    match lost_within(agent, if is_awaited { LOSS_PATIENCE } else { Duration::ZERO }) {
        Some(lost) => (lost.to_string(), lost.hint()),
        None => exit_cause(ending),
    }
}

/// Returns the cause if the host of an agent is lost, or is within this time.
fn lost_within(agent: &dyn Agent, limit: Duration) -> Option<SiteError> {
    let deadline = Instant::now() + limit;
    loop {
        let lost = agent.lost();
        if lost.is_some() || Instant::now() >= deadline {
            return lost;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use control::Request;
    use host::ChannelEnd;

    use super::*;

    /// Agent of a host whose loss is known at this time.
    struct LostAt(Instant);

    impl Agent for LostAt {
        fn send(&self, _: u32, _: &Request) -> Result<(), ChannelEnd> {
            Ok(())
        }

        fn hang_up(&self) {}

        fn end(&mut self, _: Duration) -> ProcessExit {
            ProcessExit::Unknown
        }

        fn last_log_lines(&self) -> Vec<String> {
            Vec::new()
        }

        fn lost(&self) -> Option<SiteError> {
            (Instant::now() >= self.0).then(|| SiteError::Lost {
                host: "far".to_owned(),
                error: "its step was cancelled".to_owned(),
                hint: None,
            })
        }
    }

    #[test]
    fn loss_of_the_host_explains_agents_that_were_told_to_end_before_it_was_known() {
        for (ending, is_elsewhere, is_explained) in [
            (ProcessExit::Signal(libc::SIGTERM), true, true),
            (ProcessExit::Killed, true, true),
            (ProcessExit::Signal(libc::SIGSEGV), true, false),
            (ProcessExit::Killed, false, false),
        ] {
            let agent = LostAt(Instant::now() + Duration::from_millis(200));
            let (error, _) = end_cause(&agent, is_elsewhere, ending);
            assert_eq!(error.contains("far"), is_explained, "{ending:?}: {error}");
        }
    }
}
