//! Leader and guests, as threads of a test.

use std::{
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use rendezvous::{
    MessageChannel, PeerAddress, PeerRole, RendezvousError,
    lobby::{Announcement, DriverIdentity, LeaderRules, Peer, join, lead},
    mailbox::Mailbox,
    streams::{PeerStream, Session, SessionEvent, SessionOptions},
};
use serde_json::Value;

use crate::network::MemoryNetwork;

/// Time limit of everything that should happen.
pub const LIMIT: Duration = Duration::from_secs(30);
/// Time limit of the lobby where it should not complete.
pub const SHORT: Duration = Duration::from_millis(300);

pub const RULES: LeaderRules<'static> = LeaderRules { interoperate: &|_, _| false, compare: &|_, _| Ok(()) };

pub fn address(role: PeerRole, id: u16) -> PeerAddress {
    PeerAddress::of_this_process(role, id).expect("random bytes")
}

pub fn announcement(publishers: Option<u32>, subscribers: Option<u32>) -> Announcement {
    Announcement {
        host: "here".to_owned(),
        pid: 7,
        driver: DriverIdentity { name: "x".to_owned(), version: "1".to_owned() },
        ddsmark: "0.1.0".to_owned(),
        generation: "4.3".to_owned(),
        options: vec![("-domain".to_owned(), "1".to_owned())],
        publishers,
        subscribers,
        offer: Value::Null,
    }
}

pub fn message_channel(mailbox: impl Mailbox + 'static, role: PeerRole, id: u16) -> MessageChannel {
    MessageChannel::new(Box::new(mailbox), address(role, id))
}

pub fn leads(
    channel: &mut MessageChannel,
    subscribers: u32,
    limit: Duration,
) -> Result<Vec<Peer>, RendezvousError> {
    let own = announcement(None, Some(subscribers));
    lead(channel, &own, &RULES, limit, &|| false)
}

pub fn joins(channel: &mut MessageChannel, limit: Duration) -> Result<Peer, RendezvousError> {
    join(channel, &announcement(Some(1), None), limit, &|| false)
}

/// Side of a meeting.
pub struct Side {
    pub session: Session,
    pub streams: Vec<PeerStream>,
    pub events: Receiver<SessionEvent>,
}

pub fn start(channel: MessageChannel, peers: Vec<Peer>, silence: Duration) -> Side {
    let (sender, events) = mpsc::channel();
    let observer = Box::new(move |event| {
        // A test may not look at events.
        let _ = sender.send(event);
    });
    let (session, streams) =
        Session::start(channel, peers, SessionOptions { silence, observer }).expect("pipes");
    Side { session, streams, events }
}

/// Lets a leader and its subscribers meet: mailbox 0 is that of the leader, the others follow.
pub fn meet(network: &MemoryNetwork, subscribers: u16, silence: Duration) -> (Side, Vec<Side>) {
    let mut leader = message_channel(network.mailbox(), PeerRole::Publisher, 0);
    let guests: Vec<_> = (0..subscribers)
        .map(|id| {
            let mut guest = message_channel(network.mailbox(), PeerRole::Subscriber, id);
            thread::spawn(move || {
                let leader = joins(&mut guest, LIMIT).expect("an invitation");
                start(guest, vec![leader], silence)
            })
        })
        .collect();
    let invited = leads(&mut leader, subscribers.into(), LIMIT).expect("guests");
    let leader = start(leader, invited, silence);
    (leader, guests.into_iter().map(|guest| guest.join().expect("no panic")).collect())
}
