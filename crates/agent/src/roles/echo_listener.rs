//! Echoes of a listener: sent from it at once where the middleware allows that and has room, else handed to another thread.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use driver_host::Sample;

use crate::{
    base::{clock::now_ns, error::AgentError},
    roles::echo_sender::{EchoSender, OriginCheck},
    traffic::{header::Header, identity::Identity},
};

/// Maximum number of pings in the handoff, in addition to those in flight: late ones.
const LATE_SLOTS: usize = 15;

/// Ping on its way from a listener to the thread that echoes it.
#[derive(Debug)]
pub struct HandoffPing {
    pub(super) header: Header,
    pub(super) arrived_ns: u64,
    pub(super) key: u32,
    pub(super) payload: Vec<u8>,
}

/// Listener of pings.
#[derive(Debug)]
pub struct EchoListener {
    pub(super) origins: OriginCheck,
    /// Sends the echoes of the listener, and of the thread.
    sender: Arc<Mutex<EchoSender>>,
    /// Whether the listener may write; its writer then never blocks.
    sends: bool,
    pub(super) dropped: u64,
    pub(super) overwritten: u64,
    /// Echoes sent by the listener.
    pub(super) sent: u64,
    free: Receiver<Vec<u8>>,
    pings: SyncSender<HandoffPing>,
    handed: Arc<AtomicU64>,
}

/// Pings that a listener handed over, for the thread that echoes them.
#[derive(Debug)]
pub struct HandedPings {
    sender: Arc<Mutex<EchoSender>>,
    pings: Receiver<HandoffPing>,
    give_back: SyncSender<Vec<u8>>,
    /// Pings that are not echoed yet.
    handed: Arc<AtomicU64>,
}

impl HandedPings {
    /// Echoes the next ping, if one comes in this time.
    ///
    /// # Errors
    /// Returns the first failure of a write.
    pub fn serve(&self, slice: Duration) -> Result<(), AgentError> {
        let Ok(HandoffPing { header, arrived_ns, key, payload }) = self.pings.recv_timeout(slice) else {
            return Ok(());
        };
        let mut sender = lock(&self.sender);
        sender.echo(&header, (key, &payload), arrived_ns);
        let failure = sender.failure.take();
        drop(sender);
        self.handed.fetch_sub(1, Ordering::Release);
        // There is a slot for every buffer.
        let _ = self.give_back.try_send(payload);
        failure.map_or(Ok(()), Err)
    }

    /// Returns the sender; all listeners with it have been closed.
    pub(super) fn into_sender(self) -> Result<EchoSender, AgentError> {
        let sender = Arc::try_unwrap(self.sender).map_err(|_| AgentError::Closed)?;
        Ok(sender.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn lock(sender: &Mutex<EchoSender>) -> MutexGuard<'_, EchoSender> {
    sender.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EchoListener {
    /// Creates the listener, and the part of the thread. `sends`: whether it may write. `in_flight`: number of pings in flight.
    #[must_use]
    pub fn new(sender: EchoSender, identity: Identity, sends: bool, in_flight: usize) -> (Self, HandedPings) {
        let slots = in_flight + LATE_SLOTS;
        let (pings, taken) = sync_channel(slots);
        let (give_back, free) = sync_channel(slots);
        for _ in 0..slots {
            give_back.send(Vec::with_capacity(identity.size.largest())).expect("there is room for all");
        }
        let (sender, handed) = (Arc::new(Mutex::new(sender)), Arc::new(AtomicU64::new(0)));
        let thread =
            HandedPings { sender: Arc::clone(&sender), pings: taken, give_back, handed: Arc::clone(&handed) };
        let origins = OriginCheck::new(identity);
        let listener =
            Self { origins, sender, sends, dropped: 0, overwritten: 0, sent: 0, free, pings, handed };
        (listener, thread)
    }

    /// Echoes a ping, or hands it to the thread.
    #[inline]
    pub fn on_sample(&mut self, sample: Sample<'_>) {
        let arrived_ns = now_ns();
        let Some(header) = self.origins.header(sample.payload, arrived_ns) else { return };
        // Pings keep their order. The thread has the sender only while it has pings, so this does not wait, and the lock is free.
        if self.sends
            && self.handed.load(Ordering::Acquire) == 0
            && let Ok(mut sender) = self.sender.try_lock()
            && sender.try_echo(&header, (sample.key, sample.payload), arrived_ns)
        {
            self.sent += u64::from(!header.warm_up);
            // Checked after the write has read the payload.
            self.overwritten += u64::from(!sample.is_intact());
            return;
        }
        self.hand_over(header, arrived_ns, sample);
    }

    #[cold]
    fn hand_over(&mut self, header: Header, arrived_ns: u64, sample: Sample<'_>) {
        let Ok(mut payload) = self.free.try_recv() else {
            self.dropped += 1;
            return;
        };
        payload.clear();
        payload.extend_from_slice(sample.payload);
        if !sample.is_intact() {
            // the header may be of another ping: no echo, so the pinger counts this one as lost
            self.overwritten += 1;
            return;
        }
        self.handed.fetch_add(1, Ordering::Relaxed);
        if self.pings.try_send(HandoffPing { header, arrived_ns, key: sample.key, payload }).is_err() {
            self.handed.fetch_sub(1, Ordering::Relaxed);
            self.dropped += 1;
        }
    }
}
