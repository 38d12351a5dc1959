//! Roles of agents.

use serde::{Deserialize, Serialize};

use crate::syntax::named::named;

/// Role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes samples: as fast as back-pressure allows, or by a schedule.
    Writer,
    /// Receives and counts samples.
    Reader,
    /// Sends a ping when the previous one is back or lost; with several in flight, when one of them is.
    Pinger,
    /// Sends every ping back unchanged.
    Echo,
    /// Sends every sample of a ring on to the next node, unchanged. Several may be in flight, so it repeats a write that
    /// is not accepted.
    Relay,
    /// Opens a participant with writers and readers, which match those of all other participants. Sends nothing.
    Participant,
}

named!(Role {
    Writer = "writer",
    Reader = "reader",
    Pinger = "pinger",
    Echo = "echo",
    Relay = "relay",
    Participant = "participant"
});

impl Role {
    /// Returns whether samples of the role's own traffic pass through entities of this kind, `writer` or `reader`.
    #[must_use]
    pub fn uses(self, entity: &str) -> bool {
        match self {
            Self::Writer => entity == "writer",
            Self::Reader => entity == "reader",
            Self::Pinger | Self::Echo | Self::Relay => true,
            Self::Participant => false,
        }
    }

    /// Returns whether the role drives the traffic; the other roles serve.
    #[must_use]
    pub const fn drives(self) -> bool {
        matches!(self, Self::Writer | Self::Pinger | Self::Participant)
    }
}
