//! Errors of a phase, and what they say.

use std::time::Duration;

use control::Reply;
use host::{ChannelEnd, ProcessExit};

/// First phase, which no request starts.
pub(crate) const HELLO: &str = "hello";

/// Hint for a message of another version of the protocol.
pub(super) const SAME_BUILD: &str = "use the agent of the same build as ddsmark";

/// Error that ended a run early.
#[derive(Debug)]
pub(crate) enum PhaseError {
    /// Stop request.
    Stopped,
    /// Failed phase.
    Phase {
        phase: &'static str,
        /// Index of the agent at fault.
        agent: usize,
        error: String,
        hint: Option<String>,
        cause: Cause,
    },
}

/// Cause of a failed phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The error says it.
    Error,
    /// The exit of the agent's process, which explains the error.
    Exit,
    /// The driver of the agent rejects the request permanently.
    Rejection,
}

impl PhaseError {
    /// Creates an error that says its cause.
    pub(crate) const fn new(phase: &'static str, agent: usize, error: String, hint: Option<String>) -> Self {
        Self::Phase { phase, agent, error, hint, cause: Cause::Error }
    }

    /// Returns the error as one of another phase.
    pub(crate) fn in_phase(mut self, other: &'static str) -> Self {
        if let Self::Phase { phase, .. } = &mut self {
            *phase = other;
        }
        self
    }
}

/// Returns what `take` extracts from each reply.
pub(super) fn extract<T>(
    phase: &'static str,
    replies: Vec<(usize, Reply)>,
    take: impl Fn(Reply) -> Result<T, Reply>,
) -> Result<Vec<(usize, T)>, PhaseError> {
    let taken = replies.into_iter().map(|(agent, reply)| match take(reply) {
        Ok(taken) => Ok((agent, taken)),
        Err(other) => Err(unexpected(phase, agent, &other)),
    });
    taken.collect()
}

/// Returns whether an agent was ended by a signal that asks a process to exit.
pub(super) const fn was_asked_to_exit(ending: ProcessExit) -> bool {
    matches!(ending, ProcessExit::Signal(libc::SIGTERM | libc::SIGINT | libc::SIGHUP))
}

/// Returns the error and the hint for an agent that closed its channel.
pub(super) fn exit_cause(ending: ProcessExit) -> (String, Option<String>) {
    let hint = match ending {
        ProcessExit::Signal(libc::SIGKILL) => "check `dmesg` for the OOM killer",
        _ if was_asked_to_exit(ending) => {
            "find out which program or user ended it: a batch system, a time limit"
        }
        ProcessExit::Signal(_) => "the driver or its middleware crashed",
        ProcessExit::Status(_) => "the driver or its middleware ended the process",
        ProcessExit::Killed => {
            let error = "the agent closed the control channel and was killed after the time limit";
            return (error.to_owned(), None);
        }
        ProcessExit::Unknown => return ("the agent's host is lost".to_owned(), None),
        ProcessExit::Stuck => "check its state with `ps`: it waits for a device or a file system",
    };
    (format!("the agent's process {ending}"), Some(hint.to_owned()))
}

/// Returns the error of an agent that has said goodbye, and whose process did not exit successfully.
pub(super) fn not_exited(phase: &'static str, agent: usize, ending: ProcessExit) -> PhaseError {
    let (_, hint) = exit_cause(ending);
    let error = format!("the agent's process {ending} after closing its entities");
    // The loss of its host says more.
    let cause = if ending == ProcessExit::Unknown { Cause::Exit } else { Cause::Error };
    PhaseError::Phase { phase, agent, error, hint, cause }
}

/// Returns the error that a reply reports, or else the reply.
pub(super) fn failure(phase: &'static str, agent: usize, reply: Reply) -> Result<Reply, PhaseError> {
    match reply {
        Reply::Failed { error, hint, refused } => {
            let cause = if refused { Cause::Rejection } else { Cause::Error };
            Err(PhaseError::Phase { phase, agent, error, hint, cause })
        }
        reply => Ok(reply),
    }
}

pub(crate) fn unexpected(phase: &'static str, agent: usize, reply: &Reply) -> PhaseError {
    let mut text = format!("{reply:?}");
    if let Some((end, _)) = text.char_indices().nth(80) {
        text.truncate(end);
        text.push_str(" ...");
    }
    let error = format!("unexpected reply from the agent: {text}");
    PhaseError::new(phase, agent, error, Some(SAME_BUILD.to_owned()))
}

pub(super) fn broken(phase: &'static str, agent: usize, error: &ChannelEnd) -> PhaseError {
    let (hint, cause) = match error {
        ChannelEnd::Gone(_) => (None, Cause::Exit),
        ChannelEnd::Invalid(_) => (Some(SAME_BUILD.to_owned()), Cause::Error),
        ChannelEnd::Lost(lost) => (lost.hint(), Cause::Error),
    };
    PhaseError::Phase { phase, agent, error: error.to_string(), hint, cause }
}

/// Returns the error of a writer that was ready `late_ns` after the start of its schedule.
pub(crate) fn missed_start(phase: &'static str, agent: usize, late_ns: u64) -> PhaseError {
    let error = format!("the schedule started {} ms before its writer was ready", late_ns as f64 / 1e6);
    let hint = "reserve a core for the writer with `design.pin` in the experiment (`--pin` of `characterize`), or measure on \
                an idle host";
    PhaseError::new(phase, agent, error, Some(hint.to_owned()))
}

pub(super) fn timed_out(phase: &'static str, agent: usize, limit: Duration) -> PhaseError {
    let hint = match phase {
        HELLO => "loading the driver hangs, or the host is too busy",
        "match" => "increase `limits.match` of the experiment, or `--match-timeout` of `characterize`",
        _ => "a call of the driver hangs, or the host is too busy",
    };
    let error = format!("no answer within {} s", limit.as_millis() as f64 / 1e3);
    PhaseError::new(phase, agent, error, Some(hint.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_after_the_goodbye_names_its_cause_or_the_loss_of_the_host() {
        let of = |ending: ProcessExit| match not_exited("exit", 1, ending) {
            PhaseError::Phase { error, hint, cause, .. } => (error, hint.is_some(), cause == Cause::Exit),
            other => panic!("{other:?}"),
        };
        let killed = "the agent's process was killed by signal 9 (SIGKILL) after closing its entities";
        assert_eq!(of(ProcessExit::Signal(libc::SIGKILL)), (killed.to_owned(), true, false));
        // The error and hint of an agent that is gone are those of its end.
        assert!(of(ProcessExit::Unknown).2);
    }
}
