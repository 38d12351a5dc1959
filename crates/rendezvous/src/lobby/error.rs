//! Errors of the lobby.

use std::time::Duration;

use super::announcement::{Peer, clean};
use crate::{
    envelope::PROTOCOL,
    identity::{PeerAddress, PeerRole},
    message::Outcome,
    message_channel::PostError,
};

/// Reason why processes do not meet.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LobbyError {
    /// Two processes that lead.
    #[error("two processes are publisher 0: {first} and {second}")]
    SecondLeader {
        /// This process.
        first: Box<Peer>,
        /// The other one.
        second: Box<Peer>,
    },
    /// Two processes with the same role and id.
    #[error("two processes are {}: {first} and {second}", .first.address)]
    DuplicateId {
        /// Process that was there first.
        first: Box<Peer>,
        /// The other one.
        second: Box<Peer>,
    },
    /// More processes of a role than expected.
    #[error("unexpected {peer}: {} expected", expected(*.count, .peer.address.role))]
    Unexpected {
        /// Process beyond the expected number.
        peer: Box<Peer>,
        /// Expected number of processes of its role.
        count: u32,
    },
    /// Processes that expect different numbers.
    #[error("`{}` is {first_count} at {first} and {second_count} at {second}", .role.count_option())]
    CountDisagreement {
        /// Role that is counted.
        role: PeerRole,
        /// A process.
        first: Box<Peer>,
        /// Number that it expects.
        first_count: u32,
        /// Another process.
        second: Box<Peer>,
        /// Number that it expects.
        second_count: u32,
    },
    /// Drivers that do not interoperate.
    #[error("`-driver` is {} at {first} and {} at {second}: they do not interoperate", .first.announcement.driver, .second.announcement.driver)]
    Driver {
        /// Leader.
        first: Box<Peer>,
        /// Guest.
        second: Box<Peer>,
    },
    /// Different versions of ddsmark.
    #[error("ddsmark has version {} at {first} and {} at {second}", clean(&.first.announcement.ddsmark), clean(&.second.announcement.ddsmark))]
    Build {
        /// Leader.
        first: Box<Peer>,
        /// Guest.
        second: Box<Peer>,
    },
    /// Different versions of the messages.
    #[error(
        "{address} uses version {version} of the messages between hosts, this process version {PROTOCOL}"
    )]
    Version {
        /// Other process.
        address: PeerAddress,
        /// Version of that process.
        version: u16,
    },
    /// Options that contradict each other.
    #[error("{}", clean(&.0.text))]
    Disagreement(Outcome),
    /// Reason of the leader.
    #[error("rejected by {leader}: {}", clean(&.outcome.text))]
    Rejected {
        /// Leader.
        leader: String,
        /// Reason, with a hint.
        outcome: Outcome,
    },
    /// Leader that was there, and has not given a sign of life since.
    #[error("{leader} is lost: no sign of life for {} s", .silence.as_secs_f64())]
    Lost {
        /// Leader.
        leader: Box<Peer>,
        /// Time without a sign of life.
        silence: Duration,
    },
    /// Processes that are missing after the time limit.
    #[error("{} not found within {} s; {}{}", .missing.join(", "), .limit.as_secs_f64(), seen_text(.seen), diagnosis_text(.diagnosis))]
    Missing {
        /// Missing processes, by role and id.
        missing: Vec<String>,
        /// Processes that were seen.
        seen: Vec<String>,
        /// State of the mailbox.
        diagnosis: Vec<String>,
        /// Time limit.
        limit: Duration,
        /// Suggested next step.
        hint: String,
    },
    /// Stop request.
    #[error("stopped while waiting for the other side")]
    Stopped,
    /// Process whose messages cannot be read.
    #[error("messages of {address} cannot be read: {cause}")]
    Broken {
        /// The process.
        address: PeerAddress,
        /// Cause.
        cause: String,
    },
    /// Error of the channel.
    #[error(transparent)]
    Post(#[from] PostError),
}

impl LobbyError {
    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::SecondLeader { .. } => {
                "start one side with `-sub`; with several publishers, give each another `-pidMultiPubTest`"
                    .to_owned()
            }
            Self::DuplicateId { first, .. } => {
                format!(
                    "give each {} another `{}`",
                    first.address.role.name(),
                    first.address.role.id_option()
                )
            }
            Self::Unexpected { peer, .. } => {
                let role = peer.address.role;
                let other = match role {
                    PeerRole::Publisher => PeerRole::Subscriber,
                    PeerRole::Subscriber => PeerRole::Publisher,
                };
                format!("end it, or set `{}` on each {}", role.count_option(), other.name())
            }
            Self::CountDisagreement { role, .. } => {
                format!("set the same `{}` on both", role.count_option())
            }
            Self::Driver { .. } => "set the same `-driver` on both sides".to_owned(),
            Self::Build { .. } | Self::Version { .. } => {
                "install the same version of ddsmark on both hosts".to_owned()
            }
            Self::Disagreement(outcome) | Self::Rejected { outcome, .. } => {
                return outcome.hint.as_deref().map(clean);
            }
            Self::Lost { .. } => {
                "check whether its process still runs, and the link between the hosts; then start both sides again"
                    .to_owned()
            }
            Self::Missing { hint, .. } => hint.clone(),
            Self::Broken { .. } => "start both sides again".to_owned(),
            Self::Stopped => return None,
            Self::Post(error) => return error.hint(),
        };
        Some(hint)
    }

    /// Returns the error as the result of this process, for the other side.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::failure(self.to_string(), self.hint())
    }
}

fn expected(count: u32, role: PeerRole) -> String {
    match (count, role) {
        (0, _) => format!("no {} is", role.name()),
        (1, PeerRole::Publisher) => "only publisher 0 is".to_owned(),
        (1, PeerRole::Subscriber) => "only 1 subscriber is".to_owned(),
        _ => format!("only {count} {}s are", role.name()),
    }
}

fn seen_text(seen: &[String]) -> String {
    if seen.is_empty() {
        "no other process was seen".to_owned()
    } else {
        format!("seen: {}", seen.join(", "))
    }
}

fn diagnosis_text(diagnosis: &[String]) -> String {
    diagnosis.iter().map(|line| format!("; {line}")).collect()
}
