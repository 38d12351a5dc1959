//! Echo probes of a stream: every Nth sample, from the first on, is sent back; the writer's agent records the RTT
//! under load.
//!
//! The receiving thread of the reader sends the echo, over a writer of its own. The writer's agent receives the
//! echoes in a separate thread. A sample has no probe mark: both sides derive it from the sequence number.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use control::{Configure, ProbeEchoReport, ProbeReport, QUIET_NS};
use driver_host::{DriverError, Reader, Sample, WriteOutcome, Writer};
use experiment::StreamSpec;
use results::{SequenceSet, Windows};

use crate::{
    base::{
        clock::now_ns, error::AgentError, meters::LONGEST_WAIT_NS, priority::NamedThread,
        progress::RoundTrips,
    },
    traffic::{
        grouped_reader::GroupedReader,
        identity::{Identity, Origin},
        payload::Payloads,
    },
};

/// Returns whether a sample is the first of `every` samples, so that a short stream has a probe, too.
#[inline]
pub(super) fn is_probe(sequence: u64, every: u64) -> bool {
    sequence.is_multiple_of(every)
}

/// Responder at the reader, which sends probes back.
#[derive(Debug)]
pub struct ProbeResponder {
    writer: Writer,
    every: u64,
    counts: ProbeEchoReport,
    failure: Option<DriverError>,
}

impl ProbeResponder {
    /// Creates the responder for one in `every` samples, with this writer.
    #[must_use]
    pub fn new(writer: Writer, every: u32) -> Self {
        Self { writer, every: every.into(), counts: ProbeEchoReport::default(), failure: None }
    }

    /// Sends a new sample back unchanged if it is a probe.
    #[inline]
    pub fn on_sample(&mut self, sequence: u64, warm_up: bool, sample: &Sample<'_>) {
        if is_probe(sequence, self.every) {
            self.send(warm_up, sample);
        }
    }

    fn send(&mut self, warm_up: bool, sample: &Sample<'_>) {
        let outcome = self.writer.write(sample.key, sample.payload);
        let counted = u64::from(!warm_up);
        self.counts.came += counted;
        match outcome {
            Ok(WriteOutcome::Accepted) => self.counts.echoed += counted,
            Ok(WriteOutcome::TimedOut | WriteOutcome::Refused) => self.counts.refused += counted,
            Err(error) => _ = self.failure.get_or_insert(error),
        }
    }

    /// Returns the numbers of probes received and echoed.
    ///
    /// # Errors
    /// Returns an error if the driver failed to send an echo.
    pub fn report(&mut self) -> Result<ProbeEchoReport, AgentError> {
        match self.failure.take() {
            Some(error) => Err(error.into()),
            None => Ok(self.counts.clone()),
        }
    }
}

/// Progress of the reader as known from echoes, shared with the thread that writes.
#[derive(Debug, Default)]
pub struct ReaderProgress {
    /// Start of the current phase in ns; 0: no phase has started.
    begin_ns: AtomicU64,
    returned: AtomicU64,
    last_ns: AtomicU64,
    /// One more than the highest sequence number of this phase with an echo, combined with [`WARM_UP`].
    taken: AtomicU64,
    /// Thread that waits for echoes, if one does.
    waiting: OnceLock<Thread>,
}

const WARM_UP: u64 = 1 << 63;

impl ReaderProgress {
    /// Starts a phase of traffic at this time. Called before its first sample is written.
    pub fn begin(&self, begin_ns: u64, warm_up: bool) {
        self.begin_ns.store(begin_ns, Release);
        self.taken.store(if warm_up { WARM_UP } else { 0 }, Release);
    }

    /// Returns how many samples of this phase the reader has taken at least, if it took them in order.
    #[inline]
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Acquire) & !WARM_UP
    }

    /// Returns the number of echoes received in the measurement phase.
    #[must_use]
    pub fn returned(&self) -> u64 {
        self.returned.load(Relaxed)
    }

    /// Records the echo of a sample. An echo of another phase is ignored.
    #[inline]
    pub fn note_progress(&self, sequence: u64, warm_up: bool) {
        let phase = if warm_up { WARM_UP } else { 0 };
        let further = |known: u64| {
            let newer = known & WARM_UP == phase && known & !WARM_UP <= sequence;
            newer.then_some((sequence + 1) | phase)
        };
        // fails if the echo is not newer
        let _ = self.taken.fetch_update(Release, Relaxed, further);
        if let Some(thread) = self.waiting.get() {
            thread.unpark();
        }
    }

    /// Waits for the echo of a sample of this phase, until this time at most. Called by one thread only.
    pub fn await_echo(&self, sequence: u64, deadline_ns: u64) {
        self.waiting.get_or_init(thread::current);
        while self.taken() <= sequence {
            match deadline_ns.checked_sub(now_ns()) {
                None | Some(0) => break,
                Some(left_ns) => thread::park_timeout(Duration::from_nanos(left_ns)),
            }
        }
    }
}

/// Measurements of the echoes, at the writer.
#[derive(Debug)]
pub struct ProbeReceiver {
    known: Arc<ReaderProgress>,
    identity: Identity,
    payloads: Payloads,
    every: u64,
    check_every: u64,
    /// Next expected sequence number, used to unwrap 32-bit numbers.
    next: u64,
    /// Numbers of the probes with an echo.
    set: SequenceSet,
    rtt: Windows,
    /// The same, for other threads.
    trips: Arc<RoundTrips>,
    corrupt: u64,
    foreign: u64,
    checked_in_full: u64,
    /// Silence after the last echo, in ns, after which no other one is awaited.
    quiet_ns: u64,
}

impl ProbeReceiver {
    /// Creates empty measurements, for one in `every` samples.
    #[must_use]
    pub fn new(identity: Identity, configure: &Configure, stream: &StreamSpec, every: u32) -> Self {
        let mut rtt = Windows::new(configure.windows, configure.measure_ns);
        rtt.begin(0);
        Self {
            known: Arc::default(),
            identity,
            payloads: Payloads::of_stream(configure, stream),
            every: u64::from(every),
            check_every: u64::from(configure.check_every.max(1)),
            quiet_ns: QUIET_NS.max(configure.ping_timeout_ns),
            next: 0,
            set: SequenceSet::new(),
            rtt,
            trips: Arc::default(),
            corrupt: 0,
            foreign: 0,
            checked_in_full: 0,
        }
    }

    /// Returns the progress of the reader.
    #[must_use]
    pub fn progress(&self) -> Arc<ReaderProgress> {
        Arc::clone(&self.known)
    }

    /// Records an echo.
    #[inline]
    pub fn arrived(&mut self, sample: Sample<'_>) {
        let now = now_ns();
        let header = match self.identity.origin(sample.payload, now) {
            Origin::Ours(header) => header,
            Origin::Damaged => return self.corrupt += 1,
            Origin::Foreign => return self.foreign += 1,
        };
        if header.warm_up {
            return self.known.note_progress(header.sequence.into(), true);
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
        self.known.note_progress(sequence, false);
        if self.set.delivered() == 1 {
            self.rtt.begin_at(self.known.begin_ns.load(Acquire));
        }
        let rtt_ns = now.saturating_sub(header.sent_ns);
        self.rtt.record(now, rtt_ns);
        self.trips.record(rtt_ns);
        let wrong_key = !self.identity.keys.matches(header.sequence, sample.key);
        if number.is_multiple_of(self.check_every) {
            self.checked_in_full += 1;
            let damaged = wrong_key || !self.payloads.is_intact(sequence, sample.payload);
            self.corrupt += u64::from(damaged || !sample.is_intact());
        } else {
            self.corrupt += u64::from(wrong_key || !sample.is_intact());
        }
        self.known.last_ns.store(now, Relaxed);
        self.known.returned.store(self.set.delivered(), Relaxed);
    }
}

/// Receiver of a stream's echoes, in a thread of its own.
#[derive(Debug)]
pub struct ProbeRecorder {
    known: Arc<ReaderProgress>,
    trips: Arc<RoundTrips>,
    every: u64,
    quiet_ns: u64,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(GroupedReader, ProbeReceiver), DriverError>>>,
}

impl ProbeRecorder {
    /// Starts to receive echoes from this reader.
    #[must_use]
    pub fn start(reader: Reader, mut returns: ProbeReceiver) -> Self {
        let mut reader = GroupedReader::ungrouped(reader);
        let (known, trips) = (Arc::clone(&returns.known), Arc::clone(&returns.trips));
        let (every, quiet_ns) = (returns.every, returns.quiet_ns);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Relaxed) {
                reader.receive(LONGEST_WAIT_NS, |sample| returns.arrived(sample))?;
            }
            Ok((reader, returns))
        });
        Self { known, trips, every, quiet_ns, stop, thread: Some(thread) }
    }

    /// Returns the progress of the reader.
    #[must_use]
    pub fn progress(&self) -> Arc<ReaderProgress> {
        Arc::clone(&self.known)
    }

    /// Returns the round trips so far.
    #[must_use]
    pub fn round_trips(&self) -> Arc<RoundTrips> {
        Arc::clone(&self.trips)
    }

    /// Returns its thread.
    #[must_use]
    pub fn thread(&self) -> Option<NamedThread<'_>> {
        self.thread.as_ref().map(|thread| NamedThread::of("receive", thread))
    }

    /// Waits until all echoes are back or none arrived for 200 ms, or for the time after which a ping is lost, then stops the thread and returns the
    /// measurements. `accepted`: samples accepted in the measurement phase.
    ///
    /// # Errors
    /// Returns an error if the driver failed, or on a second call.
    pub fn report(&mut self, accepted: u64) -> Result<ProbeReport, AgentError> {
        let sent = accepted.div_ceil(self.every);
        let begin_ns = now_ns();
        while self.known.returned() < sent
            && now_ns().saturating_sub(self.known.last_ns.load(Relaxed).max(begin_ns)) < self.quiet_ns
            && !self.thread.as_ref().is_none_or(JoinHandle::is_finished)
        {
            thread::sleep(Duration::from_millis(1));
        }
        let returns = self.end()?.ok_or(AgentError::Closed)?;
        let counts = returns.set.received(0);
        Ok(ProbeReport {
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

    fn end(&mut self) -> Result<Option<ProbeReceiver>, AgentError> {
        self.stop.store(true, Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(None) };
        let (reader, returns) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        reader.close()?;
        Ok(Some(returns))
    }

    /// Stops the thread and closes the reader.
    ///
    /// # Errors
    /// Returns the driver's error if receiving or the close failed.
    pub fn close(&mut self) -> Result<(), AgentError> {
        self.end().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_the_first_sample_and_never_more_than_their_share_of_the_others() {
        for every in [101, 200, 1_000] {
            let mut probes = 0;
            for accepted in 1..5_000 {
                probes += u64::from(is_probe(accepted - 1, every));
                assert_eq!(probes, accepted.div_ceil(every));
                assert!(probes > 0 && 100 * (probes - 1) < accepted, "{probes} of {accepted}");
            }
        }
    }
}
