//! Echo probes inside a stream: every Nth sample, from the Nth on, goes back, and its writer's agent records the round trip under load.
//!
//! The reader echoes from the thread that receives, over a writer of its own; the writer's agent takes the echoes in a thread
//! of their own. Nothing marks a probe: both ends know it by its sequence number.

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::JoinHandle,
    time::Duration,
};

use control::{Configure, ProbesRead, ProbesWritten};
use driver_host::{DriverError, Reader, Sample, WriteOutcome, Writer};
use results::{SequenceSet, Windows};

use crate::{
    clock::now_ns,
    incoming::{Identity, Origin, receive_timeout_ns},
    payload::Payloads,
    session::AgentError,
    taker::Taker,
};

/// After so long without an echo those that are missing are lost.
const QUIET_NS: u64 = 200_000_000;

/// The last of every so many: of however few samples no more than that share are probes.
#[inline]
fn is_probe(sequence: u64, every: u64) -> bool {
    (sequence + 1).is_multiple_of(every)
}

/// Sends probes back, at the reader.
#[derive(Debug)]
pub struct Echo {
    writer: Writer,
    every: u64,
    came: u64,
    echoed: u64,
    refused: u64,
    failure: Option<DriverError>,
}

impl Echo {
    /// Of one in so many samples, with this writer.
    #[must_use]
    pub const fn new(writer: Writer, every: u32) -> Self {
        Self { writer, every: every as u64, came: 0, echoed: 0, refused: 0, failure: None }
    }

    /// A new sample came: if it is a probe it goes back as it is.
    #[inline]
    pub fn heard(&mut self, sequence: u64, warm_up: bool, payload: &[u8]) {
        if is_probe(sequence, self.every) {
            self.send(warm_up, payload);
        }
    }

    fn send(&mut self, warm_up: bool, payload: &[u8]) {
        let outcome = self.writer.write(0, payload);
        let counts = u64::from(!warm_up);
        self.came += counts;
        match outcome {
            Ok(WriteOutcome::Accepted) => self.echoed += counts,
            Ok(WriteOutcome::TimedOut | WriteOutcome::Refused) => self.refused += counts,
            Err(error) => _ = self.failure.get_or_insert(error),
        }
    }

    /// What came and went back.
    ///
    /// # Errors
    /// The driver failed to send one.
    pub fn report(&mut self) -> Result<ProbesRead, AgentError> {
        match self.failure.take() {
            Some(error) => Err(error.into()),
            None => Ok(ProbesRead { came: self.came, echoed: self.echoed, refused: self.refused }),
        }
    }
}

/// How far a stream is known to have come, shared with the thread that writes.
#[derive(Debug, Default)]
pub struct Known {
    /// When the traffic began; 0: it has not.
    begin_ns: AtomicU64,
    returned: AtomicU64,
    last_ns: AtomicU64,
    /// One above the newest sample of this phase that an echo came of, and [`WARM_UP`].
    taken: AtomicU64,
}

const WARM_UP: u64 = 1 << 63;

impl Known {
    /// A phase of traffic begins at this time; before its first sample is written.
    pub fn begin(&self, begin_ns: u64, warm_up: bool) {
        self.begin_ns.store(begin_ns, Release);
        self.taken.store(if warm_up { WARM_UP } else { 0 }, Release);
    }

    /// So many of the samples of this phase the reader has taken at least, if it took them in order.
    #[inline]
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Acquire) & !WARM_UP
    }

    /// Echoes that came back in the measured time.
    #[must_use]
    pub fn returned(&self) -> u64 {
        self.returned.load(Relaxed)
    }

    /// The echo of this sample came. One of another phase says nothing.
    #[inline]
    pub fn seen(&self, sequence: u64, warm_up: bool) {
        let phase = if warm_up { WARM_UP } else { 0 };
        let further = |known: u64| {
            let newer = known & WARM_UP == phase && known & !WARM_UP <= sequence;
            newer.then_some((sequence + 1) | phase)
        };
        // fails where there is nothing new
        let _ = self.taken.fetch_update(Release, Relaxed, further);
    }
}

/// What echoes came, at the writer.
#[derive(Debug)]
pub struct Returns {
    known: Arc<Known>,
    identity: Identity,
    payloads: Payloads,
    every: u64,
    check_every: u64,
    /// Unwraps sequence numbers.
    next: u64,
    /// Of the numbers of probes.
    set: SequenceSet,
    rtt: Windows,
    corrupt: u64,
    foreign: u64,
    checked_in_full: u64,
}

impl Returns {
    /// None yet, of one in so many samples.
    #[must_use]
    pub fn new(identity: Identity, configure: &Configure, every: u32) -> Self {
        let mut rtt = Windows::new(configure.windows, configure.measure_ns);
        rtt.begin(0);
        Self {
            known: Arc::default(),
            identity,
            payloads: Payloads::new(configure.seed, identity.size),
            every: u64::from(every),
            check_every: u64::from(configure.check_every.max(1)),
            next: 0,
            set: SequenceSet::new(),
            rtt,
            corrupt: 0,
            foreign: 0,
            checked_in_full: 0,
        }
    }

    /// What is known of the stream.
    #[must_use]
    pub fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known)
    }

    /// Takes note of an echo.
    #[inline]
    pub fn arrived(&mut self, sample: Sample<'_>) {
        let now = now_ns();
        let header = match self.identity.origin(sample.payload, now) {
            Origin::Ours(header) => header,
            Origin::Damaged => return self.corrupt += 1,
            Origin::Foreign => return self.foreign += 1,
        };
        if header.warm_up {
            return self.known.seen(header.sequence.into(), true);
        }
        let distance = i64::from(header.sequence.wrapping_sub(self.next as u32).cast_signed());
        let sequence = self.next.checked_add_signed(distance).unwrap_or(u64::from(header.sequence));
        if !is_probe(sequence, self.every) {
            self.foreign += 1;
            return;
        }
        let number = sequence / self.every;
        if !self.set.insert(number) {
            return;
        }
        self.next = self.next.max(sequence + 1);
        self.known.seen(sequence, false);
        if self.set.delivered() == 1 {
            self.rtt.begin_at(self.known.begin_ns.load(Acquire));
        }
        self.rtt.record(now, now.saturating_sub(header.sent_ns));
        if number.is_multiple_of(self.check_every) {
            self.checked_in_full += 1;
            let damaged = !self.payloads.is_intact(sequence, sample.payload);
            self.corrupt += u64::from(damaged || !sample.is_intact());
        } else {
            self.corrupt += u64::from(!sample.is_intact());
        }
        self.known.last_ns.store(now, Relaxed);
        self.known.returned.store(self.set.delivered(), Relaxed);
    }
}

/// The echoes of a stream, taken by a thread of their own.
#[derive(Debug)]
pub struct Probes {
    known: Arc<Known>,
    every: u64,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(Taker, Returns), DriverError>>>,
}

impl Probes {
    /// Takes echoes from this reader, from now on.
    #[must_use]
    pub fn start(reader: Reader, mut returns: Returns) -> Self {
        let mut reader = Taker::ungrouped(reader);
        let (known, every) = (Arc::clone(&returns.known), returns.every);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Relaxed) {
                reader.receive(receive_timeout_ns(false), |sample| returns.arrived(sample))?;
            }
            Ok((reader, returns))
        });
        Self { known, every, stop, thread: Some(thread) }
    }

    /// What is known of the stream.
    #[must_use]
    pub fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known)
    }

    /// Ends the thread, once all echoes are there or none came for long. `accepted`: samples of the measured time.
    ///
    /// # Errors
    /// The driver failed, or it was asked twice.
    pub fn report(&mut self, accepted: u64) -> Result<ProbesWritten, AgentError> {
        let sent = accepted / self.every;
        let begin_ns = now_ns();
        while self.known.returned() < sent
            && now_ns().saturating_sub(self.known.last_ns.load(Relaxed).max(begin_ns)) < QUIET_NS
            && !self.thread.as_ref().is_none_or(JoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        let returns = self.end()?.ok_or(AgentError::Closed)?;
        let counts = returns.set.received(0);
        Ok(ProbesWritten {
            every: self.every,
            sent,
            returned: counts.delivered,
            duplicate: counts.duplicate,
            corrupt: returns.corrupt,
            foreign: returns.foreign,
            checked_in_full: returns.checked_in_full,
            rtt: returns.rtt.distribution(),
        })
    }

    fn end(&mut self) -> Result<Option<Returns>, AgentError> {
        self.stop.store(true, Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(None) };
        let (reader, returns) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        reader.close()?;
        Ok(Some(returns))
    }

    /// Closes its reader.
    ///
    /// # Errors
    /// In the driver's words.
    pub fn close(&mut self) -> Result<(), AgentError> {
        self.end().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_under_their_share_of_any_number_of_samples() {
        for every in [101, 200, 1_000] {
            let mut probes = 0;
            for accepted in 1..5_000 {
                probes += u64::from(is_probe(accepted - 1, every));
                assert_eq!(probes, accepted / every);
                assert!(probes == 0 || 100 * probes < accepted, "{probes} of {accepted}");
            }
        }
    }
}
