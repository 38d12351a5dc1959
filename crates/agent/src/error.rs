//! Errors of an agent.

use std::time::Duration;

use control::{ChannelError, MAX_WINDOWS};
use driver_host::{DriverError, LoadError};

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The driver cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The runner is gone.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Nobody is there.
    #[error("{}", not_matched(*readers, *writers, *expected, *limit))]
    NotMatched {
        /// Readers that the writer is matched with.
        readers: Option<u32>,
        /// Writers that the reader is matched with.
        writers: Option<u32>,
        /// How many of each were to be.
        expected: u32,
        /// For how long was waited.
        limit: Duration,
    },
    /// Cores that cannot be had.
    #[error("cannot run on core {cpu}: {error}")]
    Pin {
        /// The core.
        cpu: u32,
        /// Why.
        error: nix::errno::Errno,
    },
    /// More windows than there is memory for.
    #[error("the order to configure has {found} `windows`, and there are {MAX_WINDOWS} at most")]
    TooManyWindows {
        /// As ordered.
        found: u32,
    },
    /// A batch that never leaves.
    #[error("the batch could not be flushed: there was no room for ten seconds")]
    CannotFlush,
    /// A plan without a begin.
    #[error("the order to measure a plan does not say when the plan begins")]
    NoBegin,
    /// A plan whose begin was missed.
    #[error("the plan had begun {} ms before its writer was ready", *late_ns as f64 / 1e6)]
    MissedBegin {
        /// By so much.
        late_ns: u64,
    },
    /// A plan of other times than it was made for.
    #[error("the flow `{flow}` follows a file of {expected} times, and {found} came with the order")]
    WrongTrace {
        /// Name of the flow.
        flow: String,
        /// As planned.
        expected: u64,
        /// As sent.
        found: u64,
    },
    /// An order that makes no sense now.
    #[error("the order `{0}` came out of turn")]
    OutOfTurn(&'static str),
    /// A case of the contract that there is not.
    #[error("there is no case `{0}`")]
    NoCase(String),
    /// The entities are closed.
    #[error("the entities of this run are closed already")]
    Closed,
}

fn not_matched(readers: Option<u32>, writers: Option<u32>, expected: u32, limit: Duration) -> String {
    let part = |what: &str, whom: &str, count: Option<u32>| {
        count
            .filter(|count| *count < expected)
            .map(|count| format!("the {what} found {count} of {expected} {whom}"))
    };
    let parts: Vec<_> = [part("writer", "readers", readers), part("reader", "writers", writers)]
        .into_iter()
        .flatten()
        .collect();
    format!("no match: {} within {} s", parts.join(" and "), limit.as_secs_f64())
}

impl AgentError {
    /// The next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Load(error) => Some(error.hint()),
            Self::Driver(error) => error.hint.clone(),
            Self::NotMatched { .. } => Some(
                "check that both ends use the same interface and transport, and that no firewall is between them; discovery \
                 has more time with `limits.match` of an experiment, or `--match-timeout` of `characterize`"
                    .to_owned(),
            ),
            Self::Pin { .. } => Some(
                "`nproc` and `taskset -p $$` show which cores may be used; see `design.pin` of an experiment, or `--pin` \
                 of `characterize`"
                    .to_owned(),
            ),
            Self::NoCase(_) | Self::NoBegin | Self::WrongTrace { .. } | Self::TooManyWindows { .. } => {
                Some("use the agent that was built with this ddsmark".to_owned())
            }
            Self::MissedBegin { .. } => Some(
                "other processes take the cores of this run: give the writer a core of its own with `design.pin` of an \
                 experiment, or `--pin` of `characterize`; or measure when the host is quiet"
                    .to_owned(),
            ),
            Self::CannotFlush | Self::Channel(_) | Self::OutOfTurn(_) | Self::Closed => None,
        }
    }
}
