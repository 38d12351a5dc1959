//! Errors of a mailbox.

use std::{net::SocketAddr, time::Duration};

use host::{ProcessExit, SiteError};

use super::MAX_SAMPLE_BYTES;

/// Error of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailboxError {
    /// Agent that cannot be started.
    #[error("cannot start the agent of the control topic: {0}")]
    Start(SiteError),
    /// Agent that failed, with the hint of its error.
    #[error("the control topic cannot be used: {error}")]
    Failed {
        /// Error of the agent.
        error: String,
        /// Suggested next step.
        hint: Option<String>,
        /// Whether the driver rejects the participant permanently.
        refused: bool,
    },
    /// Agent that ended without an error message.
    #[error("the agent of the control topic {exit}{}", quoted(.lines))]
    Ended {
        /// Exit of its process.
        exit: ProcessExit,
        /// Last lines that it printed.
        lines: Vec<String>,
    },
    /// Agent of another version, or an invalid message.
    #[error("the agent of the control topic sent an invalid message: {0}")]
    Protocol(String),
    /// Agent that does not answer.
    #[error("the agent of the control topic did not answer `{request}` within {} s", .limit.as_secs())]
    NoAnswer {
        /// Name of the request.
        request: &'static str,
        /// Time limit.
        limit: Duration,
    },
    /// Address on which the mailbox cannot listen.
    #[error("cannot listen for control messages on {address}: {error}")]
    Listen {
        /// Address.
        address: SocketAddr,
        /// Cause.
        error: String,
        /// Whether another process uses the address.
        in_use: bool,
    },
    /// Thread that cannot be started.
    #[error("cannot start a thread for control messages: {0}")]
    Thread(String),
    /// Sample that is too long.
    #[error("a control sample of {0} bytes is too long: at most {MAX_SAMPLE_BYTES}")]
    TooLong(usize),
    /// Too many samples that were posted and not sent.
    #[error("{0} control samples wait to be sent: the peers do not acknowledge them")]
    Full(usize),
    /// Closed mailbox.
    #[error("the mailbox is closed")]
    Closed,
}

impl MailboxError {
    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Start(error) => error.hint(),
            Self::Failed { hint, .. } => hint.clone(),
            Self::Protocol(_) => Some("use the agent of the same build as ddsmark".to_owned()),
            Self::NoAnswer { .. } => {
                Some("a call of the driver hangs, or the host is too busy: check it with `top`".to_owned())
            }
            Self::Listen { in_use: true, .. } => {
                Some("another subscriber with this id and domain runs on this host: end it, or set another `-domain` or \
                      `-sidMultiSubTest` on both sides".to_owned())
            }
            Self::Listen { in_use: false, .. } => {
                Some("set `-nic` to an interface or address of this host: `ip -br addr` lists them".to_owned())
            }
            Self::Full(_) => Some("check the link to the peers, and their processes".to_owned()),
            Self::Ended { .. } | Self::Thread(_) | Self::TooLong(_) | Self::Closed => None,
        }
    }
}

fn quoted(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" / ")) }
}
