//! Ends of a stream, and other events of a session.

use std::time::Duration;

use crate::{
    identity::PeerAddress,
    lobby::{Peer, clean},
    message::Outcome,
    message_channel::PostError,
};

/// Reason why a stream has ended before this process ended it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionEnd {
    /// Goodbye of the peer, with its result.
    #[error("{peer} has ended: {}", clean(&.outcome.text))]
    Goodbye {
        /// Peer.
        peer: Box<Peer>,
        /// Result of the peer.
        outcome: Outcome,
    },
    /// Peer without a sign of life.
    #[error("{peer} is lost: no sign of life for {} s", .silence.as_secs_f64())]
    Silent {
        /// Peer.
        peer: Box<Peer>,
        /// Time without a sign of life.
        silence: Duration,
    },
    /// Peer that was started again during the test.
    #[error("{peer} is lost: it was started again, as process {} on host `{}`", .successor.announcement.pid, clean(&.successor.announcement.host))]
    Restarted {
        /// Peer.
        peer: Box<Peer>,
        /// Process with its role and id.
        successor: Box<Peer>,
    },
    /// Peer whose messages cannot be read.
    #[error("messages of {peer} cannot be read: {cause}")]
    Broken {
        /// Peer.
        peer: Box<Peer>,
        /// Cause.
        cause: String,
    },
    /// Error of the channel: all streams end.
    #[error(transparent)]
    Post(#[from] PostError),
}

impl SessionEnd {
    /// Returns whether the peer ended as intended.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Goodbye { outcome, .. } if outcome.success)
    }

    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Goodbye { outcome, .. } => outcome.hint.as_deref().map(clean),
            Self::Silent { .. } => {
                Some("check whether its process still runs, and the link between the hosts".to_owned())
            }
            Self::Restarted { .. } | Self::Broken { .. } => Some("start both sides again".to_owned()),
            Self::Post(error) => error.hint(),
        }
    }
}

/// Event of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// End of a stream before this process ended it. Both of its pipes end.
    Ended(SessionEnd),
    /// Unexpected process that has announced itself during the test. The leader has told it that it is too late.
    Intruder(Box<Peer>),
    /// Process of another version that has announced itself during the test.
    OtherVersion {
        /// Address of the process.
        address: PeerAddress,
        /// Version of the process.
        version: u16,
    },
    /// Number of control samples of other programs since this process started; reported once, at the end.
    Ignored(u64),
}
