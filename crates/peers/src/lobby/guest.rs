//! Lobby of a guest: whom it has seen, and the answer of the leader.

use std::collections::BTreeMap;

use super::{
    announcement::{Announcement, Peer},
    error::LobbyError,
};
use crate::{
    identity::{PeerAddress, ProcessId},
    message::{Control, Message},
    postbox::Delivery,
};

/// Maximum number of processes that are remembered for messages.
const MAX_SEEN: usize = 64;

/// Lobby of a guest.
#[derive(Debug)]
pub struct GuestLobby {
    own: PeerAddress,
    seen: BTreeMap<ProcessId, Peer>,
    invited_by: Option<PeerAddress>,
}

impl GuestLobby {
    /// Creates the lobby of a guest.
    #[must_use]
    pub const fn new(own: PeerAddress) -> Self {
        Self { own, seen: BTreeMap::new(), invited_by: None }
    }

    /// Takes what has arrived. Returns the leader when it has invited this process.
    ///
    /// # Errors
    /// Returns an error if the leader rejects this process, or if its messages cannot be read.
    pub fn received(&mut self, delivery: Delivery) -> Result<Option<Peer>, LobbyError> {
        match delivery {
            Delivery::Message {
                from,
                to_all: true,
                message: Message::Control(Control::Announce(announcement)),
            } => {
                self.announced(from, *announcement);
            }
            Delivery::Message { from, to_all: true, message: Message::Control(Control::Goodbye(_)) } => {
                self.seen.remove(&from.process);
            }
            Delivery::Message { from, to_all: false, message: Message::Control(control) } if from.leads() => {
                match control {
                    Control::Invite => self.invited_by = Some(from),
                    Control::Reject(outcome) => {
                        return Err(LobbyError::Rejected { leader: self.name(from), outcome });
                    }
                    _ => {}
                }
            }
            Delivery::OtherVersion { from, version } if from.leads() => {
                return Err(LobbyError::Version { address: from, version });
            }
            Delivery::Broken { from, cause } if from.leads() => {
                return Err(LobbyError::Broken { address: from, cause });
            }
            _ => {}
        }
        // The invitation may overtake the announcement.
        Ok(self.invited_by.and_then(|leader| self.seen.get(&leader.process).cloned()))
    }

    fn announced(&mut self, address: PeerAddress, announcement: Announcement) {
        let has_room = self.seen.len() < MAX_SEEN || self.seen.contains_key(&address.process);
        if !has_room {
            if !address.leads() {
                return;
            }
            self.seen.pop_first();
        }
        self.seen.insert(address.process, Peer { address, announcement });
    }

    /// Returns the name of a process, with its host if it is known.
    fn name(&self, address: PeerAddress) -> String {
        self.seen.get(&address.process).map_or_else(|| address.to_string(), Peer::to_string)
    }

    /// Returns the processes that were seen.
    pub fn seen(&self) -> impl Iterator<Item = &Peer> {
        self.seen.values()
    }

    /// Returns what to do if no leader invites this process.
    #[must_use]
    pub fn hint(&self) -> String {
        let has_leader = self.seen.values().any(|peer| peer.address.leads());
        if has_leader {
            return "publisher 0 waits for other processes: see its output".to_owned();
        }
        let own = self.own.role;
        if self.seen.values().any(|peer| peer.address.role == own) {
            return format!(
                "all processes are {}s: start the other side, publisher 0 with `-pub`",
                own.name()
            );
        }
        "start publisher 0 with `-pub`, with the same `-domain` and `-driver`, and a `-nic` or `-peer` of this network"
            .to_owned()
    }
}
