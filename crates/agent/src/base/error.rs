//! Errors of an agent.

use std::{collections::BTreeSet, time::Duration};

use control::{ChannelError, MAX_WINDOWS};
use driver_host::{DriverError, LoadError};

/// Error that ends the work of an agent.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Error from loading the driver.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Error of the driver.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Error of the control channel.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Entity that was not matched with all its peers within the time limit.
    #[error(
        "no match: the {entity} matched {matched} of {expected} peers within {} s; expected {}",
        limit.as_secs_f64(),
        peers.join(", ")
    )]
    NotMatched {
        /// Name of the entity.
        entity: String,
        /// Number of its matched peers.
        matched: u32,
        /// Expected number of peers.
        expected: u32,
        /// Endpoints of the expected peers, by id.
        peers: Vec<String>,
        /// UDP ports on which this process receives.
        ports: BTreeSet<u16>,
        /// Time limit of the wait.
        limit: Duration,
    },
    /// CPU affinity that could not be set.
    #[error("cannot run on core {cpu}: {error}")]
    Pin {
        /// Core that is out of range; else the first of the cores requested.
        cpu: u32,
        /// OS error from setting the CPU affinity.
        error: nix::errno::Errno,
    },
    /// Priority that could not be set.
    #[error("cannot give the {thread} thread the priority {priority} of SCHED_FIFO: {error}")]
    Priority {
        /// Requested priority.
        priority: u32,
        /// Name of the thread.
        thread: &'static str,
        /// OS error.
        error: nix::errno::Errno,
    },
    /// More than [`MAX_WINDOWS`] windows.
    #[error("`windows` of the order `configure` is out of range: {found}, at most {MAX_WINDOWS}")]
    TooManyWindows {
        /// Windows requested.
        found: u32,
    },
    /// Batch that could not be flushed within the time limit.
    #[error("flush timed out: the driver had no room for the batch within {} s", limit.as_secs())]
    CannotFlush {
        /// Time limit of the flush.
        limit: Duration,
    },
    /// Order to measure a paced workload that lacks the start time of the schedule.
    #[error("the order `measure` lacks the start time of the schedule")]
    NoBegin,
    /// Schedule that started before the writer was ready. It has written nothing.
    #[error("the schedule started {} ms ago", *late_ns as f64 / 1e6)]
    MissedBegin {
        /// Lateness in ns.
        late_ns: u64,
    },
    /// Trace whose number of times differs from the plan.
    #[error("trace file `{file}`: expected {expected} times, received {found}")]
    WrongTrace {
        /// Path of the trace file.
        file: String,
        /// Planned number of times.
        expected: u64,
        /// Received number of times.
        found: u64,
    },
    /// Trace whose sizes differ from the plan.
    #[error("trace file `{file}`: other sizes than planned received")]
    WrongSizes {
        /// Path of the trace file.
        file: String,
    },
    /// Part of a request that the role needs.
    #[error("a request lacks the {0}")]
    Missing(&'static str),
    /// Order that is invalid in the current phase.
    #[error("order `{0}` is invalid in this phase")]
    OutOfTurn(&'static str),
    /// Unknown conformance case.
    #[error("unknown case `{0}`")]
    NoCase(String),
    /// Driver that cannot carry the messages of a mailbox.
    #[error(
        "driver `{driver}` cannot carry control messages, which must be reliable, transient-local and keep-all: {reason}"
    )]
    NoMailbox {
        /// Name of the driver.
        driver: String,
        /// Missing feature or policy.
        reason: String,
    },
    /// Message that is longer than the mailbox allows.
    #[error("a message of {bytes} bytes is too long: at most {max}")]
    MessageTooLong {
        /// Size in bytes.
        bytes: usize,
        /// Maximum size in bytes.
        max: usize,
    },
    /// Operation on closed entities.
    #[error("the entities of this run are already closed")]
    Closed,
}

impl AgentError {
    /// Returns whether the request is rejected permanently. After other errors a retry may succeed.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Driver(error) => error.is_refusal(),
            Self::NoMailbox { .. } => true,
            _ => false,
        }
    }

    /// Returns a hint for the next step, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Load(error) => Some(error.hint()),
            Self::Driver(error) => error.hint.clone(),
            Self::NotMatched { ports, .. } => Some(format!(
                "use the same interface and transport on both sides and allow their traffic in the firewall{}, or set a longer \
                 `limits.match` in the experiment (`--match-timeout` of `characterize`)",
                to_open(ports)
            )),
            Self::Pin { .. } => Some(
                "list the allowed cores with `taskset -cp $$`, and select some of them with `design.pin` in the experiment \
                 (`--pin` of `characterize`)"
                    .to_owned(),
            ),
            Self::Priority { error: nix::errno::Errno::EPERM, .. } => Some(
                "allow it with `ulimit -r 99`, or give the agent the capability: `sudo setcap cap_sys_nice+ep \
                 $(command -v ddsmark-agent)`"
                    .to_owned(),
            ),
            Self::Priority { .. } => Some("use priorities from 1 to 99".to_owned()),
            Self::NoCase(_)
            | Self::NoBegin
            | Self::Missing(_)
            | Self::WrongTrace { .. }
            | Self::WrongSizes { .. }
            | Self::TooManyWindows { .. }
            | Self::MessageTooLong { .. } => Some("use the agent of the same build as ddsmark".to_owned()),
            Self::NoMailbox { .. } => Some("use a driver whose topics can be all of that".to_owned()),
            Self::CannotFlush { .. }
            | Self::MissedBegin { .. }
            | Self::Channel(_)
            | Self::OutOfTurn(_)
            | Self::Closed => None,
        }
    }
}

/// Names the ports that a firewall of this host must not block.
fn to_open(ports: &BTreeSet<u16>) -> String {
    let list: Vec<String> = ports.iter().map(u16::to_string).collect();
    match list.as_slice() {
        [] => String::new(),
        list => format!(" (this endpoint receives at the UDP ports {})", list.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_of_a_missing_match_names_the_ports_to_open() {
        let hint = |ports: &[u16]| {
            let (entity, peers) = ("writer".to_owned(), vec!["echo".to_owned()]);
            let ports = ports.iter().copied().collect();
            let limit = Duration::from_secs(1);
            AgentError::NotMatched { entity, matched: 0, expected: 1, peers, ports, limit }
                .hint()
                .expect("a hint")
        };
        let named = hint(&[7411, 7410]);
        assert!(
            named.contains("in the firewall (this endpoint receives at the UDP ports 7410, 7411), or"),
            "{named}"
        );
        assert!(hint(&[]).contains("in the firewall, or set"));
    }
}
