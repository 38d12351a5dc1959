//! Latency role `pinger`: exactly one ping in flight.

use std::{
    sync::{
        Arc,
        atomic::Ordering::{Acquire, Relaxed, Release},
    },
    thread,
    time::Duration,
};

use control::{Configure, Drain, MeasureReply, PingerReport, TimestampLog, TimestampPair, ping_timeout_ns};
use driver_host::{ListeningReader, Reader, WriteOutcome, Writer};
use experiment::StreamSpec;
use results::Windows;

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::TrafficMeter,
        role::{AgentRole, RoleReport},
    },
    roles::echo_recorder::{EchoRecorder, NOTHING, PingInFlight, WARM_UP},
    traffic::{header::Header, keys::Keys, payload::Payloads, retry::RetryCounts, timestamps::stamps_for},
};

/// Source of echoes.
#[derive(Debug)]
pub enum PingerInput {
    /// Reader called by the role's own thread, by waitset or polling.
    Asked {
        /// Reader of the echoes.
        reader: Reader,
        /// Counts of the echoes.
        echoes: Box<EchoRecorder>,
        /// Whether the reader is polled.
        polling: bool,
    },
    /// Listener, called from a thread of the driver.
    Listening(ListeningReader<EchoRecorder>),
}

impl PingerInput {
    const fn is_polling(&self) -> bool {
        matches!(self, Self::Asked { polling: true, .. })
    }
}

/// Role of a pinger.
#[derive(Debug)]
pub struct Pinger {
    writer: Option<Writer>,
    inlet: Option<PingerInput>,
    flight: Arc<PingInFlight>,
    payloads: Payloads,
    /// Number of the writer.
    number: u16,
    tag: u16,
    keys: Keys,
    ping_timeout_ns: u64,
    rtt: Windows,
    stamps: TimestampLog,
    counts: Counts,
}

/// Counts of one phase of traffic.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    lost: u64,
    /// Write calls that were repeated.
    tries: RetryCounts,
    /// Pings that were never accepted: 0 or 1, the last ping.
    unsent: u64,
}

impl Pinger {
    /// Creates the role with this writer and this source of echoes.
    #[must_use]
    pub fn new(
        configure: &Configure,
        stream: &StreamSpec,
        writer: Writer,
        inlet: PingerInput,
        flight: Arc<PingInFlight>,
    ) -> Self {
        Self {
            writer: Some(writer),
            inlet: Some(inlet),
            flight,
            payloads: Payloads::of_stream(configure.seed, stream),
            number: stream.writer,
            tag: configure.run_tag,
            keys: Keys::of_stream(stream),
            ping_timeout_ns: ping_timeout_ns(0),
            rtt: Windows::new(configure.windows, configure.measure_ns),
            stamps: stamps_for(configure.measure_ns),
            counts: Counts::default(),
        }
    }

    /// Pings for `duration_ns`. A ping that is not accepted is retried and keeps the time of its first attempt: its
    /// wait for room is part of its RTT. The last ping is retried beyond the end, up to the ping timeout. With a
    /// meter, the traffic is recorded and the meter is read; without one, it is the warm-up.
    fn ping(&mut self, duration_ns: u64, mut meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        let warm_up = meter.is_none();
        let writer = self.writer.as_ref().ok_or(AgentError::Closed)?;
        let inlet = self.inlet.as_mut().ok_or(AgentError::Closed)?;
        self.rtt.begin(now_ns());
        self.stamps.clear();
        self.counts = Counts::default();
        if let Some(meter) = &mut meter {
            meter.begin();
        }
        let mut now = now_ns();
        let end_ns = now + duration_ns;
        let mut sequence = 0;
        'pings: while now < end_ns {
            self.flight.arrived_ns.store(0, Relaxed);
            self.flight.awaited.store(sequence | if warm_up { WARM_UP } else { 0 }, Release);
            // read again: the time to record the previous echo is not part of this ping
            let sent_ns = now_ns();
            let header =
                Header { sequence: sequence as u32, writer: self.number, tag: self.tag, warm_up, sent_ns };
            let payload = self.payloads.stamped(sequence, &header);
            let key = self.keys.of(header.sequence);
            loop {
                match writer.write(key, payload)? {
                    WriteOutcome::Accepted => break,
                    WriteOutcome::TimedOut => self.counts.tries.timed_out += 1,
                    WriteOutcome::Refused => self.counts.tries.refused += 1,
                }
                let now = now_ns();
                if now >= end_ns && now - sent_ns >= self.ping_timeout_ns {
                    self.counts.unsent += 1;
                    break 'pings;
                }
            }
            self.counts.sent += 1;
            let arrived_ns = await_echo(inlet, &self.flight, sent_ns, self.ping_timeout_ns)?;
            if arrived_ns == 0 {
                self.counts.lost += 1;
                now = now_ns();
            } else {
                self.rtt.record(arrived_ns, arrived_ns - sent_ns);
                now = arrived_ns;
            }
            self.stamps.record(sequence, TimestampPair { first_ns: sent_ns, second_ns: arrived_ns });
            sequence += 1;
        }
        self.flight.awaited.store(NOTHING, Release);
        if let Some(meter) = meter {
            meter.end(self.counts.sent);
        }
        Ok(())
    }

    fn close_inlet(&mut self) -> Result<Box<EchoRecorder>, AgentError> {
        match self.inlet.take() {
            Some(PingerInput::Asked { reader, echoes, .. }) => {
                reader.close()?;
                Ok(echoes)
            }
            Some(PingerInput::Listening(reader)) => Ok(Box::new(reader.close()?)),
            None => Err(AgentError::Closed),
        }
    }
}

/// Returns the arrival time of the echo in ns; 0: none within the timeout, which starts when the ping was accepted.
/// `sent_ns`: time of the first attempt.
#[inline]
fn await_echo(
    inlet: &mut PingerInput,
    flight: &PingInFlight,
    sent_ns: u64,
    timeout_ns: u64,
) -> Result<u64, AgentError> {
    let mut deadline_ns = sent_ns + timeout_ns;
    let mut is_first_look = true;
    loop {
        match inlet {
            PingerInput::Asked { reader, echoes, polling } => {
                let timeout_ns = if *polling { 0 } else { timeout_ns };
                reader.receive(timeout_ns, 1, |sample| echoes.arrived(sample))?;
            }
            PingerInput::Listening(_) => {
                if flight.arrived_ns.load(Acquire) == 0 {
                    thread::park_timeout(Duration::from_nanos(timeout_ns));
                }
            }
        }
        let arrived_ns = flight.arrived_ns.load(Acquire);
        if arrived_ns != 0 {
            return Ok(arrived_ns);
        }
        let now = now_ns();
        // Polling: the ping has just been accepted. The clock is read here, not after each write.
        if std::mem::take(&mut is_first_look) && inlet.is_polling() {
            deadline_ns = now + timeout_ns;
        } else if now >= deadline_ns {
            return Ok(0);
        }
    }
}

impl AgentRole for Pinger {
    /// Receives in the same way as for an echo.
    fn serve(&mut self, slice: Duration, _wait_ns: u64) -> Result<(), AgentError> {
        let slice_ns = slice.as_nanos() as u64;
        match &mut self.inlet {
            Some(PingerInput::Asked { reader, echoes, polling }) => {
                let end_ns = now_ns() + slice_ns;
                let timeout_ns = if *polling { 0 } else { slice_ns };
                while now_ns() < end_ns {
                    reader.receive(timeout_ns, 1, |sample| echoes.arrived(sample))?;
                }
            }
            Some(PingerInput::Listening(_)) | None => thread::sleep(slice),
        }
        Ok(())
    }

    fn recorded(&self) -> u64 {
        self.counts.sent
    }

    fn warm_up(&mut self, duration_ns: u64) -> Result<(), AgentError> {
        self.ping(duration_ns, None)?;
        self.ping_timeout_ns = ping_timeout_ns(self.rtt.median());
        Ok(())
    }

    fn measure(
        &mut self,
        duration_ns: u64,
        _begin_ns: Option<u64>,
        meter: &mut TrafficMeter,
    ) -> Result<MeasureReply, AgentError> {
        self.ping(duration_ns, Some(meter))?;
        Ok(MeasureReply { sent: self.counts.sent })
    }

    /// Waits for echoes of lost pings, which count as late.
    fn drain(&mut self, drain: &Drain, _meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        if self.counts.lost > 0 {
            let wait_ns = drain.quiet_ns.min(drain.timeout_ns);
            match &mut self.inlet {
                Some(PingerInput::Asked { reader, echoes, .. }) => {
                    let end_ns = now_ns() + wait_ns;
                    while now_ns() < end_ns {
                        reader.receive(1_000_000, 1, |sample| echoes.arrived(sample))?;
                    }
                }
                Some(PingerInput::Listening(_)) => thread::sleep(Duration::from_nanos(wait_ns)),
                None => {}
            }
        }
        Ok(true)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let echoes = self.close_inlet()?;
        let Counts { sent, lost, tries, unsent } = self.counts;
        Ok(RoleReport::Pinger(PingerReport {
            sent,
            unsent,
            timed_out: tries.timed_out,
            refused: tries.refused,
            returned: self.rtt.len(),
            lost,
            late: echoes.late,
            duplicate: echoes.duplicate,
            corrupt: echoes.corrupt,
            foreign: echoes.foreign,
            checked_in_full: echoes.checked_in_full,
            ping_timeout_ns: self.ping_timeout_ns,
            rtt: self.rtt.distribution(),
            stamps: std::mem::take(&mut self.stamps),
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        if self.inlet.is_some() {
            self.close_inlet()?;
        }
        Ok(self.writer.take().map_or(Ok(()), Writer::close)?)
    }
}
