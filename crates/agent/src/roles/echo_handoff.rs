//! Handoff of pings from a listener to the thread that echoes them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use driver_host::Sample;

use crate::{
    base::clock::now_ns,
    traffic::{
        header::Header,
        identity::{Identity, Origin},
    },
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

/// Listener that hands pings over, for a driver whose listener must not write.
#[derive(Debug)]
pub struct HandoffListener {
    identity: Identity,
    pub(super) wrong_size: u64,
    pub(super) foreign: u64,
    pub(super) dropped: u64,
    pub(super) overwritten: u64,
    free: Receiver<Vec<u8>>,
    pings: SyncSender<HandoffPing>,
}

impl HandoffListener {
    /// Creates the listener. The echoing thread receives pings from the receiver, and returns buffers to the
    /// sender. `in_flight`: number of pings in flight.
    #[must_use]
    pub fn new(identity: Identity, in_flight: usize) -> (Self, Receiver<HandoffPing>, SyncSender<Vec<u8>>) {
        let slots = in_flight + LATE_SLOTS;
        let (pings, handed) = sync_channel(slots);
        let (give_back, free) = sync_channel(slots);
        for _ in 0..slots {
            give_back.send(Vec::with_capacity(identity.size)).expect("there is room for all");
        }
        let listener = Self { identity, wrong_size: 0, foreign: 0, dropped: 0, overwritten: 0, free, pings };
        (listener, handed, give_back)
    }

    /// Hands a ping to the echoing thread.
    pub fn on_sample(&mut self, sample: Sample<'_>) {
        let arrived_ns = now_ns();
        let header = match self.identity.origin(sample.payload, arrived_ns) {
            Origin::Ours(header) => header,
            Origin::Damaged => return self.wrong_size += 1,
            Origin::Foreign => return self.foreign += 1,
        };
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
        if self.pings.try_send(HandoffPing { header, arrived_ns, key: sample.key, payload }).is_err() {
            self.dropped += 1;
        }
    }
}
