//! Announcing, waiting and answering.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use super::{
    BEAT,
    announcement::{Announcement, Peer},
    guest::{GuestLobby, broken, other_version, rejected},
    leader::LeaderLobby,
    rules::LeaderRules,
};
use crate::{
    error::RendezvousError,
    identity::{PeerAddress, PeerRole, ProcessId},
    message::{Control, Message, Outcome},
    message_channel::{Delivery, MessageChannel},
};

/// Time for which a process that fails stays, so that the others learn the reason. Each announces itself twice meanwhile.
const LINGER: Duration = Duration::from_secs(2);

/// Maximum number of processes that are told why the leader fails.
const MAX_TOLD: usize = 4096;

/// Whether the user ends a wait: asked at least every second.
pub type StopRequest<'a> = &'a dyn Fn() -> bool;

/// Waits as the leader until all expected processes are there, invites them, and returns them. If a process does not
/// fit, all of them are told the reason.
///
/// # Errors
/// Returns an error if a process does not fit, if one is missing after `limit`, or if the channel is broken.
pub fn lead(
    channel: &mut MessageChannel,
    announcement: &Announcement,
    rules: &LeaderRules<'_>,
    limit: Duration,
    stop: StopRequest<'_>,
) -> Result<Vec<Peer>, RendezvousError> {
    let own = Peer { address: channel.own(), announcement: announcement.clone() };
    let mut lobby = LeaderLobby::new(own);
    let mut seen = BTreeSet::new();
    match wait_for_guests(channel, announcement, rules, limit, stop, &mut lobby, &mut seen) {
        Ok(guests) => {
            for guest in &guests {
                channel.tell(Some(guest.address.process), Control::Invite)?;
            }
            Ok(guests)
        }
        Err(error) => {
            let outcome = outcome(&error);
            for process in &seen {
                // The first error is the one to report.
                let _ = channel.tell(Some(*process), Control::Reject(outcome.clone()));
            }
            linger(channel, seen, &outcome);
            Err(error)
        }
    }
}

fn wait_for_guests(
    channel: &mut MessageChannel,
    announcement: &Announcement,
    rules: &LeaderRules<'_>,
    limit: Duration,
    stop: StopRequest<'_>,
    lobby: &mut LeaderLobby,
    seen: &mut BTreeSet<ProcessId>,
) -> Result<Vec<Peer>, RendezvousError> {
    let mut wait = Wait::new(limit, stop);
    loop {
        wait.check_stop()?;
        if let Some(guests) = lobby.complete(wait.now())? {
            return Ok(guests);
        }
        if wait.is_over() {
            let missing = lobby.missing(wait.now()).names.join(", ");
            let hint =
                "start them with the same `-domain` and `-driver`, and a `-nic` or `-peer` of this network";
            return Err(wait.missing(&missing, lobby.peers(), channel, hint.to_owned()));
        }
        let Some(delivery) = wait.receive(channel, announcement)? else { continue };
        match delivery {
            Delivery::Message { from, to_all, message: Message::Control(control) } => {
                if seen.len() < MAX_TOLD {
                    seen.insert(from.process);
                }
                match control {
                    Control::Announce(other) if to_all => {
                        lobby.announced(wait.now(), from, &other, rules)?;
                    }
                    Control::Goodbye(_) => {
                        lobby.left(wait.now(), from.process);
                        seen.remove(&from.process);
                    }
                    Control::Reject(outcome) if !to_all && from.leads() => {
                        return Err(rejected(&from.to_string(), &outcome));
                    }
                    _ => {}
                }
            }
            Delivery::OtherVersion { from, version } => {
                return Err(other_version(from, version));
            }
            Delivery::Broken { from, cause } => return Err(broken(from, &cause)),
            Delivery::Message { .. } => {}
        }
    }
}

/// Waits as a guest for the invitation of the leader, and returns it.
///
/// # Errors
/// Returns an error if the leader rejects this process or is lost, if there is no invitation within `limit`, or if the channel
/// is broken.
pub fn join(
    channel: &mut MessageChannel,
    announcement: &Announcement,
    limit: Duration,
    stop: StopRequest<'_>,
) -> Result<Peer, RendezvousError> {
    let met = wait_for_leader(channel, announcement, limit, stop);
    if let Err(error) = &met {
        // The first error is the one to report.
        let _ = channel.tell(None, Control::Goodbye(outcome(error)));
    }
    met
}

fn wait_for_leader(
    channel: &mut MessageChannel,
    announcement: &Announcement,
    limit: Duration,
    stop: StopRequest<'_>,
) -> Result<Peer, RendezvousError> {
    let mut lobby = GuestLobby::new(channel.own());
    let mut wait = Wait::new(limit, stop);
    loop {
        wait.check_stop()?;
        if wait.is_over() {
            let has_leader = lobby.seen().any(|peer| peer.address.leads());
            let missing = if has_leader { "an invitation of publisher 0" } else { "publisher 0" };
            return Err(wait.missing(missing, lobby.seen(), channel, lobby.hint()));
        }
        lobby.check(wait.now())?;
        let Some(delivery) = wait.receive(channel, announcement)? else { continue };
        if let Some(leader) = lobby.received(wait.now(), delivery)? {
            return Ok(leader);
        }
    }
}

/// Wait with announcements and a time limit.
struct Wait<'a> {
    began: Instant,
    limit: Duration,
    stop: StopRequest<'a>,
    next_beat: Instant,
}

impl<'a> Wait<'a> {
    fn new(limit: Duration, stop: StopRequest<'a>) -> Self {
        let now = Instant::now();
        Self { began: now, limit, stop, next_beat: now }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn is_over(&self) -> bool {
        self.now() >= self.limit
    }

    fn check_stop(&self) -> Result<(), RendezvousError> {
        if !(self.stop)() {
            return Ok(());
        }
        let mut stopped = RendezvousError::with("stopped while waiting for the other side", None);
        stopped.is_stopped = true;
        Err(stopped)
    }

    /// Announces this process if it is time, and waits for a message until the next announcement.
    fn receive(
        &mut self,
        channel: &mut MessageChannel,
        announcement: &Announcement,
    ) -> Result<Option<Delivery>, RendezvousError> {
        let now = Instant::now();
        if now >= self.next_beat {
            channel.tell(None, Control::Announce(Box::new(announcement.clone())))?;
            self.next_beat = now + BEAT;
        }
        let left = (self.began + self.limit).min(self.next_beat).saturating_duration_since(now);
        channel.receive(left)
    }

    fn missing<'p>(
        &self,
        missing: &str,
        present: impl Iterator<Item = &'p Peer>,
        channel: &MessageChannel,
        hint: String,
    ) -> RendezvousError {
        let present: Vec<String> = present.map(ToString::to_string).collect();
        let seen = match &present[..] {
            [] => "no other process was seen".to_owned(),
            present => format!("seen: {}", present.join(", ")),
        };
        let diagnosis: String = channel.diagnosis().iter().map(|line| format!("; {line}")).collect();
        let limit = self.limit.as_secs_f64();
        RendezvousError::new(format!("{missing} not found within {limit} s; {seen}{diagnosis}"), hint)
    }
}

/// Returns the error as the result of a process.
fn outcome(error: &RendezvousError) -> Outcome {
    Outcome::failure(error.to_string(), error.hint().map(ToOwned::to_owned))
}

/// Serves the mailbox for a while, and tells the reason to processes that are new.
fn linger(channel: &mut MessageChannel, mut told: BTreeSet<ProcessId>, outcome: &Outcome) {
    let deadline = Instant::now() + LINGER;
    while Instant::now() < deadline {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(delivery) = channel.receive(left) else { return };
        let Some(Delivery::Message { from, message: Message::Control(Control::Announce(_)), .. }) = delivery
        else {
            continue;
        };
        if told.len() < MAX_TOLD && told.insert(from.process) {
            let _ = channel.tell(Some(from.process), Control::Reject(outcome.clone()));
        }
    }
}

/// Returns the result of a process that another one finds to be unexpected while a test runs.
pub fn busy(role: PeerRole, own: PeerAddress) -> Outcome {
    let text = format!("the test of {own} has already begun without this {}", role.name());
    Outcome::failure(text, Some("wait until it ends, or set another `-domain` on both sides".to_owned()))
}
