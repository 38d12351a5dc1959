//! Ends of a stream, and other events of a session.

use crate::{
    error::RendezvousError,
    identity::PeerAddress,
    lobby::{Peer, clean},
    message::Outcome,
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
    /// Peer that is lost, or an error of the channel, which ends all streams.
    #[error(transparent)]
    Lost(#[from] RendezvousError),
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
            Self::Lost(error) => error.hint().map(ToOwned::to_owned),
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
