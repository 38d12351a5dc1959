//! Way back of the pings of a latency run: the echoes of one endpoint, as the pinger receives them.

use std::{
    sync::{
        Arc,
        atomic::Ordering::{Acquire, Relaxed, Release},
    },
    thread,
    time::Duration,
};

use control::{Configure, ReturnReport, TimestampLog, TimestampPair};
use driver_host::Reader;
use experiment::KeyFilter;
use results::Windows;

use crate::{
    base::{
        clock::now_ns, error::AgentError, meters::LONGEST_WAIT_NS, priority::NamedThread,
        progress::RoundTrips,
    },
    roles::echo_recorder::{EchoRecorder, NOTHING, PingInFlight},
    traffic::{receiving_thread::ReceivingThread, sample_input::SampleInput, timestamps::stamps_for},
};

/// Source of the echoes of one endpoint.
#[derive(Debug)]
pub enum ReturnInput {
    /// Reader called by the pinger's own thread, or a listener.
    Direct(SampleInput<EchoRecorder>),
    /// Reader with a thread of its own, which waits for its echoes while the pinger waits for those of the first endpoint.
    Waiting(ReceivingThread<(Reader, Box<EchoRecorder>)>),
}

impl ReturnInput {
    /// Starts a thread that receives echoes from this reader.
    #[must_use]
    pub fn waiting(reader: Reader, echoes: Box<EchoRecorder>) -> Self {
        Self::Waiting(ReceivingThread::start((reader, echoes), |(reader, echoes)| {
            reader.receive(LONGEST_WAIT_NS, 1, |sample| echoes.on_sample(sample)).map(|_| ())
        }))
    }
}

/// Echoes of one endpoint.
#[derive(Debug)]
pub struct EchoReturn {
    inlet: Option<ReturnInput>,
    flight: Arc<PingInFlight>,
    /// Keys of the pings that the endpoint echoes; `None`: all pings.
    pub(crate) filter: Option<KeyFilter>,
    rtt: Windows,
    /// The same, for other threads.
    trips: Arc<RoundTrips>,
    stamps: TimestampLog,
    pub(super) lost: u64,
}

impl EchoReturn {
    /// Creates the way back of all pings with this source of echoes.
    #[must_use]
    pub fn new(configure: &Configure, inlet: ReturnInput, flight: Arc<PingInFlight>) -> Self {
        Self {
            inlet: Some(inlet),
            flight,
            filter: None,
            rtt: Windows::new(configure.windows, configure.measure_ns),
            trips: Arc::default(),
            stamps: stamps_for(configure.measure_ns, configure.readers.len()),
            lost: 0,
        }
    }

    /// Returns whether the endpoint echoes pings with this key.
    #[inline]
    pub(super) fn echoes(&self, key: u32) -> bool {
        self.filter.is_none_or(|filter| filter.includes(key))
    }

    /// Returns whether the endpoint echoes the ping in flight.
    #[inline]
    pub(super) fn is_expected(&self) -> bool {
        self.flight.awaited.load(Relaxed) != NOTHING
    }

    /// Returns whether the endpoint echoes the ping in flight, and the echo has not arrived.
    #[inline]
    pub(super) fn is_outstanding(&self) -> bool {
        self.is_expected() && self.arrived_ns() == 0
    }

    /// Starts a phase of traffic.
    pub(super) fn begin(&mut self) {
        self.rtt.begin(now_ns());
        self.trips.clear();
        self.stamps.clear();
        self.lost = 0;
    }

    /// Expects the echo of this ping: its sequence number and the mark of its phase.
    #[inline]
    pub(super) fn expect(&self, ping: u64) {
        self.flight.arrived_ns.store(0, Relaxed);
        self.flight.awaited.store(ping, Release);
    }

    pub(super) fn expect_nothing(&self) {
        self.flight.awaited.store(NOTHING, Release);
    }

    /// Returns when the echo of the ping in flight arrived, in ns; 0: not yet.
    #[inline]
    pub(super) fn arrived_ns(&self) -> u64 {
        self.flight.arrived_ns.load(Acquire)
    }

    pub(super) const fn is_polled(&self) -> bool {
        matches!(self.inlet, Some(ReturnInput::Direct(SampleInput::Asked { polling: true, .. })))
    }

    /// Looks for the echo once: returns at once if it is polled, else when something arrived or after this time.
    #[inline]
    pub(super) fn look(&mut self, timeout_ns: u64) -> Result<(), AgentError> {
        let is_own = match &mut self.inlet {
            Some(ReturnInput::Direct(inlet)) => inlet.look(timeout_ns, EchoRecorder::arrived)?,
            Some(ReturnInput::Waiting(_)) => false,
            None => return Err(AgentError::Closed),
        };
        if !is_own && self.arrived_ns() == 0 {
            thread::park_timeout(Duration::from_nanos(timeout_ns));
        }
        Ok(())
    }

    /// Waits for the echo of the ping in flight and returns its arrival time in ns; 0: none within the timeout, which
    /// starts when the ping was accepted. `sent_ns`: time of the first attempt.
    #[inline]
    pub(super) fn await_echo(&mut self, sent_ns: u64, timeout_ns: u64) -> Result<u64, AgentError> {
        let mut deadline_ns = sent_ns + timeout_ns;
        let mut is_first_look = true;
        loop {
            self.look(timeout_ns)?;
            let arrived_ns = self.arrived_ns();
            if arrived_ns != 0 {
                return Ok(arrived_ns);
            }
            let now = now_ns();
            // Polling: the ping has just been accepted. The clock is read here, not after each write.
            if std::mem::take(&mut is_first_look) && self.is_polled() {
                deadline_ns = now + timeout_ns;
            } else if now >= deadline_ns {
                return Ok(0);
            }
        }
    }

    /// Records the echo of a ping that was sent at this time; `arrived_ns` is 0 if it is lost.
    #[inline]
    pub(super) fn record(&mut self, sequence: u64, sent_ns: u64, arrived_ns: u64) {
        if arrived_ns == 0 {
            self.lost += 1;
        } else {
            self.rtt.record(arrived_ns, arrived_ns - sent_ns);
            self.trips.record(arrived_ns - sent_ns);
        }
        self.stamps.record(sequence, TimestampPair { first_ns: sent_ns, second_ns: arrived_ns });
    }

    /// Returns the round trips of the phase so far.
    pub(super) fn round_trips(&self) -> Arc<RoundTrips> {
        Arc::clone(&self.trips)
    }

    /// Returns the thread that waits for these echoes, if it is not the pinger's.
    pub(super) fn thread(&self) -> Option<NamedThread<'_>> {
        match &self.inlet {
            Some(ReturnInput::Waiting(thread)) => Some(thread.named()),
            _ => None,
        }
    }

    pub(super) fn median_rtt(&self) -> u64 {
        self.rtt.median()
    }

    /// Receives for a while without a ping in flight.
    pub(super) fn idle(&mut self, duration: Duration) -> Result<(), AgentError> {
        let duration_ns = duration.as_nanos() as u64;
        if let Some(ReturnInput::Direct(inlet @ SampleInput::Asked { .. })) = &mut self.inlet {
            let end_ns = now_ns() + duration_ns;
            while now_ns() < end_ns {
                inlet.look(duration_ns, EchoRecorder::arrived)?;
            }
        } else {
            thread::sleep(duration);
        }
        Ok(())
    }

    /// Closes the reader, if it is open.
    pub(super) fn close(&mut self) -> Result<Option<Box<EchoRecorder>>, AgentError> {
        let close = |inlet| match inlet {
            ReturnInput::Direct(inlet) => inlet.close(),
            ReturnInput::Waiting(thread) => {
                let (reader, echoes) = thread.end()?;
                reader.close().map(|()| echoes)
            }
        };
        Ok(self.inlet.take().map(close).transpose()?)
    }

    /// Closes the reader and returns the measurements.
    pub(super) fn report(&mut self) -> Result<ReturnReport, AgentError> {
        let echoes = self.close()?.ok_or(AgentError::Closed)?;
        Ok(ReturnReport {
            returned: self.rtt.len(),
            lost: self.lost,
            late: echoes.late,
            latest_ns: (echoes.late > 0).then_some(echoes.latest_ns),
            duplicate: echoes.duplicate,
            corrupt: echoes.content.corrupt,
            foreign: echoes.content.foreign,
            checked_in_full: echoes.content.checked_in_full,
            rtt: self.rtt.distribution(),
            stamps: std::mem::take(&mut self.stamps),
        })
    }
}
