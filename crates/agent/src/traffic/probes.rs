//! Echo probes of a stream: every Nth sample, from the first on, is sent back; the writer's agent records the RTT
//! under load.
//!
//! The receiving thread of the reader sends the echo, over a writer of its own. The writer's agent receives the
//! echoes in a separate thread. A sample has no probe mark: both sides derive it from the sequence number.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::{self, Thread},
    time::Duration,
};

use control::{Configure, ProbeEchoReport, ProbeReport, QUIET_NS};
use driver_host::{DriverError, Reader, Sample, WriteOutcome, Writer};
use experiment::StreamSpec;
use results::{SequenceSet, Windows, nearest};

use crate::{
    base::{
        clock::now_ns, error::AgentError, meters::LONGEST_WAIT_NS, priority::NamedThread,
        progress::RoundTrips,
    },
    traffic::{
        echo_content::EchoContent, grouped_reader::MAX_SAMPLES, identity::Identity, payload::Payloads,
        receiving_thread::ReceivingThread,
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
    content: EchoContent,
    every: u64,
    /// Next expected sequence number, used to unwrap 32-bit numbers.
    next: u64,
    /// Numbers of the probes with an echo.
    set: SequenceSet,
    rtt: Windows,
    /// The same, for other threads.
    trips: Arc<RoundTrips>,
    /// Silence after the last echo, in ns, after which no other one is awaited.
    quiet_ns: u64,
}

impl ProbeReceiver {
    /// Creates empty measurements, for one in `every` samples.
    #[must_use]
    pub fn new(identity: Identity, configure: &Configure, stream: &StreamSpec, every: u32) -> Self {
        let mut rtt = Windows::new(configure.windows, configure.measure_ns);
        rtt.begin(0);
        let payloads = Payloads::of_stream(configure, stream);
        let every = u64::from(every);
        // Each `check_every`-th probe.
        let check_every = every * u64::from(configure.check_every.max(1));
        Self {
            known: Arc::default(),
            content: EchoContent::new(identity, payloads, check_every),
            every,
            quiet_ns: QUIET_NS.max(configure.ping_timeout_ns),
            next: 0,
            set: SequenceSet::new(),
            rtt,
            trips: Arc::default(),
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
        let Some(header) = self.content.recognise(&sample, now) else { return };
        if header.warm_up {
            return self.known.note_progress(header.sequence.into(), true);
        }
        let sequence = nearest(self.next, header.sequence);
        if !is_probe(sequence, self.every) {
            self.content.foreign += 1;
            return;
        }
        if !self.set.insert(sequence / self.every) {
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
        self.content.check(&header, sequence, &sample);
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
    thread: Option<ReceivingThread<(Reader, ProbeReceiver)>>,
}

impl ProbeRecorder {
    /// Starts to receive echoes from this reader.
    #[must_use]
    pub fn start(reader: Reader, returns: ProbeReceiver) -> Self {
        let (known, trips) = (Arc::clone(&returns.known), Arc::clone(&returns.trips));
        let (every, quiet_ns) = (returns.every, returns.quiet_ns);
        let thread = ReceivingThread::start((reader, returns), |(reader, returns)| {
            reader.receive(LONGEST_WAIT_NS, MAX_SAMPLES, |sample| returns.arrived(sample)).map(|_| ())
        });
        Self { known, trips, every, quiet_ns, thread: Some(thread) }
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
        self.thread.as_ref().map(ReceivingThread::named)
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
            && !self.thread.as_ref().is_none_or(ReceivingThread::is_finished)
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
            corrupt: returns.content.corrupt,
            foreign: returns.content.foreign,
            checked_in_full: returns.content.checked_in_full,
            rtt: returns.rtt.distribution(),
        })
    }

    fn end(&mut self) -> Result<Option<ProbeReceiver>, AgentError> {
        let Some(thread) = self.thread.take() else { return Ok(None) };
        let (reader, returns) = thread.end()?;
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
