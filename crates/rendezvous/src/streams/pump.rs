//! Pump: the thread that moves bytes between pipes and channel, and watches the peers.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    end::{SessionEnd, SessionEvent},
    link::{Link, LinkEvent, broken},
    pipes::{Incoming, Outgoing},
};
use crate::{
    error::RendezvousError,
    identity::PeerAddress,
    lobby::{BEAT, Peer, busy},
    message::{Control, Message, Outcome},
    message_channel::{Delivery, MessageChannel},
    shared::Shared,
};

/// Maximum number of bytes in a message, and of messages that are received before others are sent.
const MAX_DATA: usize = 32 << 10;
const MAX_RECEIVED: usize = 64;
/// Maximum time to send what waits at the end, and to close the channel after it.
const FLUSH: Duration = Duration::from_secs(2);
const CLOSE: Duration = Duration::from_secs(5);
/// Maximum number of unexpected processes that are reported.
const MAX_INTRUDERS: usize = 256;

/// Called by the pump for each event.
pub(super) type Observer = Box<dyn FnMut(SessionEvent) + Send>;

/// State that the session and its pump share.
#[derive(Debug, Default)]
pub(super) struct State {
    /// First end of a stream.
    end: Option<SessionEnd>,
    /// Result of this process, when it ends.
    closing: Option<Outcome>,
}

impl Shared<State> {
    pub(super) fn end(&self) -> Option<SessionEnd> {
        self.lock().end.clone()
    }

    /// Waits for the first end of a stream.
    pub(super) fn wait_for_end(&self, limit: Duration) -> Option<SessionEnd> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        while state.end.is_none() && Instant::now() < deadline {
            state = self.wait(state, deadline.saturating_duration_since(Instant::now()));
        }
        state.end.clone()
    }

    pub(super) fn close(&self, outcome: Outcome) {
        self.lock().closing = Some(outcome);
    }

    fn closing(&self) -> Option<Outcome> {
        self.lock().closing.clone()
    }
}

/// Link with its pipes. Without a link, the stream has ended.
pub(super) struct Stream {
    link: Option<Link>,
    outgoing: Arc<Outgoing>,
    incoming: Arc<Incoming>,
}

impl Stream {
    pub(super) const fn new(peer: Peer, outgoing: Arc<Outgoing>, incoming: Arc<Incoming>) -> Self {
        Self { link: Some(Link::new(peer, Duration::ZERO)), outgoing, incoming }
    }
}

/// Pump of a session.
pub(super) struct Pump {
    channel: MessageChannel,
    streams: Vec<Stream>,
    silence: Duration,
    observer: Observer,
    shared: Arc<Shared<State>>,
    began: Instant,
    next_beat: Duration,
    intruders: BTreeSet<PeerAddress>,
}

impl Pump {
    pub(super) fn new(
        channel: MessageChannel,
        streams: Vec<Stream>,
        silence: Duration,
        observer: Observer,
        shared: Arc<Shared<State>>,
    ) -> Self {
        Self {
            channel,
            streams,
            silence,
            observer,
            shared,
            began: Instant::now(),
            next_beat: Duration::ZERO,
            intruders: BTreeSet::new(),
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Runs until the session ends.
    pub(super) fn run(mut self) {
        if let Err(error) = self.serve() {
            for index in 0..self.streams.len() {
                self.end(index, error.clone().into());
            }
        }
        let ignored = self.channel.ignored();
        if ignored > 0 {
            (self.observer)(SessionEvent::Ignored(ignored));
        }
        // The bytes that have arrived are still delivered.
        for stream in &self.streams {
            stream.outgoing.close();
            stream.incoming.end();
        }
    }

    fn serve(&mut self) -> Result<(), RendezvousError> {
        let mut deadline = None;
        loop {
            self.send()?;
            if let Some(outcome) = self.shared.closing() {
                let deadline = *deadline.get_or_insert(self.now() + FLUSH);
                // After a failure, bytes that are still in a pipe have no meaning.
                let is_sent =
                    |outgoing: &Outgoing| outgoing.is_over() || (!outcome.success && outgoing.is_empty());
                let waits = |stream: &Stream| stream.link.is_some() && !is_sent(&stream.outgoing);
                if !self.streams.iter().any(waits) || self.now() >= deadline {
                    return self.say_goodbye(&outcome);
                }
            }
            let limit = self.next_beat.saturating_sub(self.now());
            self.receive(limit.min(deadline.map_or(limit, |_| FLUSH / 40)))?;
            self.check_silence();
        }
    }

    /// Sends bytes of the applications, and signs of life.
    fn send(&mut self) -> Result<(), RendezvousError> {
        let is_beat = self.now() >= self.next_beat;
        if is_beat {
            self.next_beat = self.now() + BEAT;
        }
        for Stream { link, outgoing, incoming } in &mut self.streams {
            let Some(link) = link else { continue };
            let to = Some(link.peer.address.process);
            loop {
                let bytes = outgoing.take(link.room().min(MAX_DATA));
                if bytes.is_empty() {
                    break;
                }
                link.sent(bytes.len());
                self.channel.post(to, &Message::Data(bytes))?;
            }
            if outgoing.is_over() && link.ends() {
                self.channel.tell(to, Control::End)?;
            }
            if let Some(bytes) = link.report(incoming.taken(), is_beat) {
                self.channel.tell(to, Control::Taken { bytes })?;
            }
            if is_beat {
                self.channel.tell(to, Control::Beat)?;
            }
        }
        Ok(())
    }

    /// Receives messages: waits for the first one only.
    fn receive(&mut self, limit: Duration) -> Result<(), RendezvousError> {
        let mut limit = limit;
        for _ in 0..MAX_RECEIVED {
            let Some(delivery) = self.channel.receive(limit)? else { return Ok(()) };
            limit = Duration::ZERO;
            self.process(delivery)?;
        }
        Ok(())
    }

    fn process(&mut self, delivery: Delivery) -> Result<(), RendezvousError> {
        let now = self.now();
        let (from, event) = match delivery {
            Delivery::Message { from, to_all, message } => {
                let Some(index) = self.index(from) else { return self.intruded(from, message) };
                let Some(link) = &mut self.streams[index].link else { return Ok(()) };
                if to_all {
                    // An announcement that was sent before the invitation.
                    link.hear(now);
                    return Ok(());
                }
                (index, link.receive(now, message))
            }
            Delivery::OtherVersion { from, version } => {
                if self.is_new(from) {
                    (self.observer)(SessionEvent::OtherVersion { address: from, version });
                }
                return Ok(());
            }
            Delivery::Broken { from, cause } => {
                let Some(index) = self.index(from) else { return Ok(()) };
                let Some(link) = &self.streams[index].link else { return Ok(()) };
                (index, LinkEvent::End(broken(&link.peer, &cause)))
            }
        };
        let Stream { incoming, .. } = &self.streams[from];
        match event {
            LinkEvent::Data(bytes) => incoming.push(bytes),
            LinkEvent::EndOfData => incoming.end(),
            LinkEvent::Nothing => {}
            LinkEvent::End(end) => self.end(from, end),
        }
        Ok(())
    }

    fn index(&self, address: PeerAddress) -> Option<usize> {
        let is_from = |stream: &Stream| stream.link.as_ref().is_some_and(|link| link.peer.address == address);
        self.streams.iter().position(is_from)
    }

    fn is_new(&mut self, address: PeerAddress) -> bool {
        self.intruders.len() < MAX_INTRUDERS && self.intruders.insert(address)
    }

    /// Handles a message of a process without a stream.
    fn intruded(&mut self, from: PeerAddress, message: Message) -> Result<(), RendezvousError> {
        let Message::Control(Control::Announce(announcement)) = message else { return Ok(()) };
        let peer = Peer { address: from, announcement: *announcement };
        let same_place =
            |link: &&mut Link| (link.peer.address.role, link.peer.address.id) == (from.role, from.id);
        if let Some(link) = self.streams.iter_mut().filter_map(|stream| stream.link.as_mut()).find(same_place)
        {
            link.succeeded_by(&peer);
        }
        let own = self.channel.own();
        if self.is_new(from) && own.leads() {
            self.channel.tell(Some(from.process), Control::Reject(busy(from.role, own)))?;
            (self.observer)(SessionEvent::Intruder(Box::new(peer)));
        }
        Ok(())
    }

    fn check_silence(&mut self) {
        let (now, limit) = (self.now(), self.silence);
        for index in 0..self.streams.len() {
            let silence = self.streams[index].link.as_ref().and_then(|link| link.silence(now, limit));
            if let Some(end) = silence {
                self.end(index, end);
            }
        }
    }

    /// Ends a stream.
    fn end(&mut self, index: usize, end: SessionEnd) {
        let stream = &mut self.streams[index];
        if stream.link.take().is_none() {
            return;
        }
        // Before the application notices the end of its pipes: it then finds the reason.
        self.shared.change(|state| {
            state.end.get_or_insert_with(|| end.clone());
        });
        stream.outgoing.close();
        stream.incoming.end();
        (self.observer)(SessionEvent::Ended(end));
    }

    /// Ends all streams that are left.
    fn say_goodbye(&mut self, outcome: &Outcome) -> Result<(), RendezvousError> {
        for link in self.streams.iter().filter_map(|stream| stream.link.as_ref()) {
            let to = Some(link.peer.address.process);
            self.channel.tell(to, Control::Goodbye(outcome.clone()))?;
        }
        self.channel.close(CLOSE)
    }
}
