//! Lobby of a guest: whom it has seen, and the answer of the leader.

use std::{collections::BTreeMap, time::Duration};

use super::{
    DEFAULT_SILENCE,
    announcement::{Announcement, Peer, clean},
};
use crate::{
    envelope::PROTOCOL,
    error::RendezvousError,
    identity::{PeerAddress, ProcessId},
    message::{Control, Message, Outcome},
    message_channel::Delivery,
};

/// Maximum number of processes that are remembered for messages.
const MAX_SEEN: usize = 64;

/// Lobby of a guest. Times are since its start.
#[derive(Debug)]
pub struct GuestLobby {
    own: PeerAddress,
    seen: BTreeMap<ProcessId, KnownPeer>,
    invited_by: Option<PeerAddress>,
}

/// Process that was seen.
#[derive(Debug)]
struct KnownPeer {
    peer: Peer,
    /// Time of its last announcement.
    last: Duration,
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
    /// Returns an error if the leader rejects this process or ends, or if its messages cannot be read.
    pub fn received(&mut self, now: Duration, delivery: Delivery) -> Result<Option<Peer>, RendezvousError> {
        match delivery {
            Delivery::Message {
                from,
                to_all: true,
                message: Message::Control(Control::Announce(announcement)),
            } => {
                self.announced(now, from, *announcement);
            }
            Delivery::Message { from, to_all: true, message: Message::Control(Control::Goodbye(_)) } => {
                self.seen.remove(&from.process);
            }
            Delivery::Message { from, to_all: false, message: Message::Control(control) } if from.leads() => {
                match control {
                    Control::Invite => self.invited_by = Some(from),
                    Control::Reject(outcome) | Control::Goodbye(outcome) => {
                        return Err(rejected(&self.name(from), &outcome));
                    }
                    _ => {}
                }
            }
            Delivery::OtherVersion { from, version } if from.leads() => {
                return Err(other_version(from, version));
            }
            Delivery::Broken { from, cause } if from.leads() => {
                return Err(broken(from, &cause));
            }
            _ => {}
        }
        // The invitation may overtake the announcement.
        Ok(self.invited_by.and_then(|leader| Some(self.seen.get(&leader.process)?.peer.clone())))
    }

    /// Checks that a leader that was seen is still there.
    ///
    /// # Errors
    /// Returns an error if the last sign of life of any leader is too long ago.
    pub fn check(&self, now: Duration) -> Result<(), RendezvousError> {
        let leaders = self.seen.values().filter(|seen| seen.peer.address.leads());
        match leaders.max_by_key(|seen| seen.last) {
            Some(KnownPeer { peer, last }) if now >= *last + DEFAULT_SILENCE => {
                let silence = DEFAULT_SILENCE.as_secs_f64();
                let hint = "check whether its process still runs, and the link between the hosts; then start both sides again";
                Err(RendezvousError::new(format!("{peer} is lost: no sign of life for {silence} s"), hint))
            }
            _ => Ok(()),
        }
    }

    fn announced(&mut self, now: Duration, address: PeerAddress, announcement: Announcement) {
        let has_room = self.seen.len() < MAX_SEEN || self.seen.contains_key(&address.process);
        if !has_room {
            if !address.leads() {
                return;
            }
            self.seen.pop_first();
        }
        let peer = Peer { address, announcement };
        self.seen.insert(address.process, KnownPeer { peer, last: now });
    }

    /// Returns the name of a process, with its host if it is known.
    fn name(&self, address: PeerAddress) -> String {
        self.seen.get(&address.process).map_or_else(|| address.to_string(), |seen| seen.peer.to_string())
    }

    /// Returns the processes that were seen.
    pub fn seen(&self) -> impl Iterator<Item = &Peer> {
        self.seen.values().map(|seen| &seen.peer)
    }

    /// Returns what to do if no leader invites this process.
    #[must_use]
    pub fn hint(&self) -> String {
        let has_leader = self.seen().any(|peer| peer.address.leads());
        if has_leader {
            return "publisher 0 waits for other processes: see its output".to_owned();
        }
        let own = self.own.role;
        if self.seen().any(|peer| peer.address.role == own) {
            return format!(
                "all processes are {}s: start the other side, publisher 0 with `-pub`",
                own.name()
            );
        }
        "start publisher 0 with `-pub`, with the same `-domain` and `-driver`, and a `-nic` or `-peer` of this network"
            .to_owned()
    }
}

/// Next step if processes have different versions.
pub(super) const SAME_DDSMARK: &str = "install the same version of ddsmark on both hosts";

/// Returns the error that a leader sent.
pub(super) fn rejected(leader: &str, outcome: &Outcome) -> RendezvousError {
    let text = format!("rejected by {leader}: {}", clean(&outcome.text));
    RendezvousError::with(text, outcome.hint.as_deref().map(clean))
}

/// Returns the error of a process with another version of the messages.
pub(super) fn other_version(address: PeerAddress, version: u16) -> RendezvousError {
    let versions = format!("{version} of the messages between hosts, this process version {PROTOCOL}");
    RendezvousError::new(format!("{address} uses version {versions}"), SAME_DDSMARK)
}

/// Returns the error of a process whose messages cannot be read.
pub(super) fn broken(address: PeerAddress, cause: &str) -> RendezvousError {
    RendezvousError::new(format!("messages of {address} cannot be read: {cause}"), "start both sides again")
}
