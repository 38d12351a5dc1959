//! Samples that return from a ring with several in flight: recognised, checked, and passed on to node 1.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, Thread},
};

use driver_host::Sample;
use results::SequenceSet;

use crate::{
    base::clock::now_ns,
    traffic::{echo_content::EchoContent, identity::Identity, payload::Payloads},
};

/// Places for arrivals in addition to those of the samples in flight. Late samples need them.
const SPARE_PLACES: usize = 1024;

/// First arrival of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Sequence number.
    pub sequence: u64,
    /// Whether the sample is of the warm-up.
    pub(super) warm_up: bool,
    /// Time of the arrival in ns.
    pub(super) arrived_ns: u64,
}

/// Counts of returned samples, on the thread that receives them.
#[derive(Debug)]
pub struct PipelinedRecorder {
    pub(super) content: EchoContent,
    /// Samples of the measurement phase that returned.
    returned: SequenceSet,
    pub(super) duplicate: u64,
    /// Arrivals without a place. Node 1 did not take them in time.
    pub(super) dropped: u64,
    arrivals: SyncSender<Arrival>,
    pinger: Thread,
}

impl PipelinedRecorder {
    /// Creates empty counts, and the receiver of the arrivals. Every byte of each `check_every`-th sample is checked.
    /// Must be called on the thread of node 1.
    #[must_use]
    pub fn new(
        identity: Identity,
        payloads: Payloads,
        check_every: u32,
        in_flight: usize,
    ) -> (Self, Receiver<Arrival>) {
        // A bounded channel allocates only here, and a channel that is only polled takes no lock.
        let (arrivals, receiver) = sync_channel(2 * in_flight + SPARE_PLACES);
        let recorder = Self {
            content: EchoContent::new(identity, payloads, check_every.into()),
            returned: SequenceSet::new(),
            duplicate: 0,
            dropped: 0,
            arrivals,
            pinger: thread::current(),
        };
        (recorder, receiver)
    }

    /// Records a returned sample.
    #[inline]
    pub fn arrived(&mut self, sample: Sample<'_>) {
        let arrived_ns = now_ns();
        let Some(header) = self.content.recognise(&sample, arrived_ns) else { return };
        let warm_up = header.warm_up;
        let sequence =
            if warm_up { u64::from(header.sequence) } else { self.returned.unwrap(header.sequence) };
        if !warm_up && !self.returned.insert(sequence) {
            return self.duplicate += 1;
        }
        let sent = self.arrivals.try_send(Arrival { sequence, warm_up, arrived_ns });
        self.dropped += u64::from(sent.is_err() && !warm_up);
        self.content.check(&header, sequence, &sample);
    }

    /// Records a returned sample on a thread of the driver, and wakes node 1.
    pub fn on_sample(&mut self, sample: Sample<'_>) {
        self.arrived(sample);
        self.pinger.unpark();
    }
}
