//! Echoes of the pings of a latency run: recognised, counted, and passed on to the pinger.

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Relaxed, Release},
        },
    },
    thread::{self, Thread},
};

use driver_host::Sample;
use results::SequenceSet;

use crate::{
    base::clock::now_ns,
    traffic::{echo_content::EchoContent, identity::Identity, payload::Payloads},
};

/// Ping in flight, shared with the thread that receives its echo.
#[derive(Debug)]
pub struct PingInFlight {
    /// Sequence number, combined with [`WARM_UP`].
    pub(super) awaited: AtomicU64,
    /// Arrival time of its echo in ns; 0: not yet.
    pub(super) arrived_ns: AtomicU64,
    /// Thread of the pinger, woken by a listener.
    pub(super) pinger: Thread,
}

/// Mark of a ping of the warm-up.
pub(super) const WARM_UP: u64 = 1 << 63;
/// No ping in flight.
pub(super) const NOTHING: u64 = u64::MAX;

/// Counts of received echoes.
#[derive(Debug)]
pub struct EchoRecorder {
    flight: Arc<PingInFlight>,
    pub(super) content: EchoContent,
    /// Pings of the measurement phase with an echo.
    pub(super) returned: SequenceSet,
    pub(super) late: u64,
    /// Longest RTT of a late echo in ns.
    pub(super) latest_ns: u64,
    pub(super) duplicate: u64,
}

impl EchoRecorder {
    /// Creates empty counts. Every byte of each `check_every`-th echo is checked. Must be called on the pinger's thread.
    #[must_use]
    pub fn new(identity: Identity, payloads: Payloads, check_every: u32) -> Self {
        let flight = PingInFlight {
            awaited: AtomicU64::new(NOTHING),
            arrived_ns: AtomicU64::new(0),
            pinger: thread::current(),
        };
        Self {
            flight: Arc::new(flight),
            content: EchoContent::new(identity, payloads, check_every.into()),
            returned: SequenceSet::new(),
            late: 0,
            latest_ns: 0,
            duplicate: 0,
        }
    }

    /// Returns the ping in flight, for the thread that waits.
    #[must_use]
    pub fn flight(&self) -> Arc<PingInFlight> {
        Arc::clone(&self.flight)
    }

    /// Records an echo.
    #[inline]
    pub fn arrived(&mut self, sample: Sample<'_>) {
        let now = now_ns();
        let Some(header) = self.content.recognise(&sample, now) else { return };
        let awaited = self.flight.awaited.load(Relaxed);
        let warm_up = awaited & WARM_UP != 0;
        if header.warm_up != warm_up || header.sequence != awaited as u32 {
            if !header.warm_up {
                self.count_unawaited(header.sequence, now.saturating_sub(header.sent_ns));
            }
        } else if self.flight.arrived_ns.load(Relaxed) != 0 {
            self.duplicate += 1;
        } else {
            self.flight.arrived_ns.store(now, Release);
            let sequence = awaited & !WARM_UP;
            if !warm_up {
                self.returned.insert(sequence);
            }
            self.content.check(&header, sequence, &sample);
        }
    }

    /// Counts the echo of a ping that is not in flight: late if it is the first echo of this ping, else a duplicate.
    #[cold]
    fn count_unawaited(&mut self, sequence: u32, rtt_ns: u64) {
        let sequence = self.returned.unwrap(sequence);
        if self.returned.insert(sequence) {
            self.late += 1;
            self.latest_ns = self.latest_ns.max(rtt_ns);
        } else {
            self.duplicate += 1;
        }
    }

    /// Records an echo on a thread of the driver, and wakes the pinger.
    pub fn on_sample(&mut self, sample: Sample<'_>) {
        self.arrived(sample);
        self.flight.pinger.unpark();
    }
}

#[cfg(test)]
#[path = "echo_recorder_tests.rs"]
mod tests;
