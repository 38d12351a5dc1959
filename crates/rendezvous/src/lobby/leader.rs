//! Lobby of the leader: who is there, who is missing, and who does not fit.

use std::{collections::BTreeMap, time::Duration};

use super::{
    announcement::{Announcement, Peer, clean},
    guest::SAME_DDSMARK,
    rules::LeaderRules,
};
use crate::{
    error::RendezvousError,
    identity::{PeerAddress, PeerRole, ProcessId},
};

/// Time without an announcement after which a process is gone.
const GONE: Duration = Duration::from_secs(3);
/// Time for which two processes with the same id are watched: one of them may have been restarted.
const RIVALRY: Duration = Duration::from_millis(1500);
/// Time for which nothing changes before the lobby is complete: an unexpected process may come.
const SETTLE: Duration = Duration::from_secs(1);

/// Maximum number of processes of a role: that of ids.
const MAX_COUNT: u32 = 1 << 16;
/// Maximum number of missing processes of a role that are named.
const MAX_NAMED: usize = 8;

/// Processes that are missing.
pub struct Missing {
    /// Number of missing publishers; `None` until a subscriber says how many there are.
    pub publishers: Option<usize>,
    /// Number of missing subscribers.
    pub subscribers: Option<usize>,
    /// Missing processes, by role and id.
    pub names: Vec<String>,
}

/// Lobby of the leader. Times are since its start.
#[derive(Debug)]
pub struct LeaderLobby {
    own: Peer,
    places: BTreeMap<(PeerRole, u16), Place>,
    changed: Duration,
}

/// Place of a role and an id.
#[derive(Debug)]
struct Place {
    current: Guest,
    /// Another process with the same role and id.
    rival: Option<Guest>,
}

#[derive(Debug)]
struct Guest {
    peer: Peer,
    first: Duration,
    last: Duration,
}

impl LeaderLobby {
    /// Creates the lobby of a leader.
    #[must_use]
    pub const fn new(own: Peer) -> Self {
        Self { own, places: BTreeMap::new(), changed: Duration::ZERO }
    }

    /// Takes an announcement.
    ///
    /// # Errors
    /// Returns an error if the process does not fit.
    pub fn announced(
        &mut self,
        now: Duration,
        address: PeerAddress,
        announcement: &Announcement,
        rules: &LeaderRules<'_>,
    ) -> Result<(), RendezvousError> {
        if address.process == self.own.address.process {
            return Ok(());
        }
        let peer = Peer { address, announcement: announcement.clone() };
        if address.leads() {
            let text = format!("two processes are publisher 0: {} and {peer}", self.own);
            let hint =
                "start one side with `-sub`; with several publishers, give each another `-pidMultiPubTest`";
            return Err(RendezvousError::new(text, hint));
        }
        self.update(now);
        if self.touch(now, &peer)? {
            return Ok(());
        }
        self.changed = now;
        let guest = Guest { peer: peer.clone(), first: now, last: now };
        match self.places.get_mut(&(address.role, address.id)) {
            Some(place) => place.rival = Some(guest),
            None => {
                self.places.insert((address.role, address.id), Place { current: guest, rival: None });
            }
        }
        self.check(&peer, rules)?;
        self.check_counts()
    }

    /// Updates the time of a process that is known. Returns whether it is.
    fn touch(&mut self, now: Duration, peer: &Peer) -> Result<bool, RendezvousError> {
        let Some(place) = self.places.get_mut(&(peer.address.role, peer.address.id)) else {
            return Ok(false);
        };
        let process = peer.address.process;
        if place.current.peer.address.process == process {
            place.current.last = now;
        } else {
            match &mut place.rival {
                Some(rival) if rival.peer.address.process == process => rival.last = now,
                Some(rival) if now < rival.last + RIVALRY => {
                    return Err(duplicate(&rival.peer, peer));
                }
                Some(_) | None => return Ok(false),
            }
        }
        // Announcements of a killed process may still arrive when the new one is there, but not for long.
        if let Some(rival) = &place.rival
            && place.current.last >= rival.first + RIVALRY
            && rival.last + RIVALRY >= place.current.last
        {
            return Err(duplicate(&place.current.peer, &rival.peer));
        }
        Ok(true)
    }

    /// Removes a process that has said goodbye.
    pub fn left(&mut self, now: Duration, process: ProcessId) {
        self.remove(now, |guest| guest.peer.address.process == process);
    }

    /// Removes processes that are gone.
    fn update(&mut self, now: Duration) {
        self.remove(now, |guest| now >= guest.last + GONE);
    }

    /// Removes guests. A rival takes the place of the process that it has replaced.
    fn remove(&mut self, now: Duration, is_gone: impl Fn(&Guest) -> bool) {
        let mut has_changed = false;
        let places = std::mem::take(&mut self.places);
        for (key, Place { current, rival }) in places {
            let had_rival = rival.is_some();
            let rival = rival.filter(|guest| !is_gone(guest));
            let current_is_gone = is_gone(&current);
            has_changed |= current_is_gone || rival.is_some() != had_rival;
            let place = match (current_is_gone, rival) {
                (false, rival) => Place { current, rival },
                (true, Some(rival)) => Place { current: rival, rival: None },
                (true, None) => continue,
            };
            self.places.insert(key, place);
        }
        if has_changed {
            self.changed = now;
        }
    }

    /// Compares a new process with the leader.
    fn check(&self, peer: &Peer, rules: &LeaderRules<'_>) -> Result<(), RendezvousError> {
        let (own, other) = (&self.own.announcement, &peer.announcement);
        if own.ddsmark != other.ddsmark {
            let versions = [own, other].map(|of| clean(&of.ddsmark));
            let text =
                format!("ddsmark has version {} at {} and {} at {peer}", versions[0], self.own, versions[1]);
            return Err(RendezvousError::new(text, SAME_DDSMARK));
        }
        if own.driver.name != other.driver.name && !(rules.interoperate)(&own.driver, &other.driver) {
            let drivers = format!("{} at {} and {} at {peer}", own.driver, self.own, other.driver);
            let text = format!("`-driver` is {drivers}: they do not interoperate");
            return Err(RendezvousError::new(text, "set the same `-driver` on both sides"));
        }
        (rules.compare)(&self.own, peer).map_err(|outcome| {
            RendezvousError::with(clean(&outcome.text), outcome.hint.as_deref().map(clean))
        })
    }

    /// Checks that all agree on the numbers, and that there are at most as many processes as expected, with any ids.
    fn check_counts(&self) -> Result<(), RendezvousError> {
        for role in [PeerRole::Subscriber, PeerRole::Publisher] {
            let Some((count, _)) = self.count(role)? else { continue };
            if self.places_of(role).count() <= self.guests(role, count) {
                continue;
            }
            // Usual ids are below the number.
            let newest = |place: &&Place| {
                let Guest { peer, first, .. } = &place.current;
                (u32::from(peer.address.id) >= count, *first)
            };
            if let Some(place) = self.places_of(role).max_by_key(newest) {
                return Err(unexpected(&place.current.peer, count));
            }
        }
        Ok(())
    }

    /// Returns the places of a role, by id.
    fn places_of(&self, role: PeerRole) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(move |((of, _), _)| *of == role).map(|(_, place)| place)
    }

    /// Returns the number of guests among `count` processes of a role: this leader is one of the publishers.
    fn guests(&self, role: PeerRole, count: u32) -> usize {
        (count as usize).saturating_sub(usize::from(role == self.own.address.role))
    }

    /// Returns the number of processes of a role, and who expects it; `None` if it is not known yet.
    fn count(&self, role: PeerRole) -> Result<Option<(u32, &Peer)>, RendezvousError> {
        let expected = |peer: &Peer| match role {
            PeerRole::Publisher => peer.announcement.publishers,
            PeerRole::Subscriber => peer.announcement.subscribers,
        };
        let all = std::iter::once(&self.own).chain(self.settled());
        let mut counts = all.filter_map(|peer| Some((expected(peer)?, peer)));
        let Some((first_count, first)) = counts.next() else { return Ok(None) };
        match counts.find(|(count, _)| *count != first_count) {
            None => Ok(Some((first_count, first))),
            Some((second_count, second)) => {
                let option = role.count_option();
                let text = format!("`{option}` is {first_count} at {first} and {second_count} at {second}");
                Err(RendezvousError::new(text, format!("set the same `{option}` on both")))
            }
        }
    }

    /// Returns the processes without a rival: one that was restarted may have other options now.
    fn settled(&self) -> impl Iterator<Item = &Peer> {
        self.places.values().filter(|place| place.rival.is_none()).map(|place| &place.current.peer)
    }

    /// Returns all other processes that are there.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        let guests = self.places.values().flat_map(|place| [Some(&place.current), place.rival.as_ref()]);
        guests.flatten().map(|guest| &guest.peer)
    }

    /// Returns who is missing.
    pub fn missing(&mut self, now: Duration) -> Missing {
        self.update(now);
        let mut names = Vec::new();
        let mut missing_of = |role: PeerRole| {
            // A disagreement has been reported.
            let (count, _) = self.count(role).ok().flatten()?;
            let count = count.min(MAX_COUNT);
            let missing_count = self.guests(role, count).saturating_sub(self.places_of(role).count());
            let is_free = |id: &u16| {
                let is_own = (role, *id) == (self.own.address.role, self.own.address.id);
                !is_own && !self.places.contains_key(&(role, *id))
            };
            let usual = (0..count).filter_map(|id| u16::try_from(id).ok());
            let free: Vec<u16> = usual.filter(is_free).collect();
            // The missing processes may have other ids if one that is there has.
            let named = if free.len() == missing_count { free.len().min(MAX_NAMED) } else { 0 };
            names.extend(free.iter().take(named).map(|id| format!("{} {id}", role.name())));
            match missing_count - named {
                0 => {}
                1 => names.push(format!("1 more {}", role.name())),
                others => names.push(format!("{others} more {}s", role.name())),
            }
            Some(missing_count)
        };
        let subscribers = missing_of(PeerRole::Subscriber);
        let publishers = missing_of(PeerRole::Publisher);
        Missing { publishers, subscribers, names }
    }

    /// Returns all guests if they are complete: then no other process is expected.
    ///
    /// # Errors
    /// Returns an error if they expect different numbers.
    pub fn complete(&mut self, now: Duration) -> Result<Option<Vec<Peer>>, RendezvousError> {
        let Missing { publishers, subscribers, .. } = self.missing(now);
        self.check_counts()?;
        let counts = [publishers, subscribers];
        let has_rivals = self.places.values().any(|place| place.rival.is_some());
        let is_complete = counts == [Some(0); 2] && !has_rivals && now >= self.changed + SETTLE;
        Ok(is_complete.then(|| self.peers().cloned().collect()))
    }
}

/// Returns the error of two processes with the same role and id.
fn duplicate(first: &Peer, second: &Peer) -> RendezvousError {
    let PeerAddress { role, .. } = first.address;
    RendezvousError::new(
        format!("two processes are {}: {first} and {second}", first.address),
        format!("give each {} another `{}`", role.name(), role.id_option()),
    )
}

/// Returns the error of a process beyond the expected number of its role.
fn unexpected(peer: &Peer, count: u32) -> RendezvousError {
    let role = peer.address.role;
    let other = match role {
        PeerRole::Publisher => PeerRole::Subscriber,
        PeerRole::Subscriber => PeerRole::Publisher,
    };
    let expected = match (count, role) {
        (0, _) => format!("no {} is", role.name()),
        (1, PeerRole::Publisher) => "only publisher 0 is".to_owned(),
        (1, PeerRole::Subscriber) => "only 1 subscriber is".to_owned(),
        _ => format!("only {count} {}s are", role.name()),
    };
    RendezvousError::new(
        format!("unexpected {peer}: {expected} expected"),
        format!("end it, or set `{}` on each {}", role.count_option(), other.name()),
    )
}
