//! Latency roles `echo` and `relay`: send every ping back, or on to the next node of a ring, unchanged.

use std::{sync::Arc, time::Duration};

use control::{Drain, EchoReport, MeasureReply, TimestampLog, TimestampPair};
use driver_host::{ListeningReader, Reader, Sample, WriteOutcome, Writer};

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::{SHORTEST_WAIT_NS, TrafficMeter},
        progress::{ProgressSource, ReceiveProgress},
        role::{AgentRole, Extent, RoleReport},
    },
    roles::{
        echo_listener::{EchoListener, HandedPings},
        repeats::Repeats,
    },
    traffic::{
        header::Header,
        identity::{Identity, Origin},
    },
};

/// Duration for which a drain serves before it checks its conditions.
const SLICE: Duration = Duration::from_millis(2);

/// Counts and timestamps of received pings and their echoes.
#[derive(Debug)]
pub struct PingRecorder {
    identity: Identity,
    stamps: TimestampLog,
    /// Repetition of writes that are not accepted; `None`: they are not repeated.
    repeats: Option<Repeats>,
    received: u64,
    duplicate: u64,
    echoed: u64,
    timed_out: u64,
    refused: u64,
    overwritten: u64,
    wrong_size: u64,
    foreign: u64,
    failure: Option<AgentError>,
    /// Number of echoes, for the thread that waits.
    progress: Arc<ReceiveProgress>,
}

impl PingRecorder {
    /// Creates empty counts, with this timestamp log.
    #[must_use]
    pub fn new(identity: Identity, stamps: TimestampLog) -> Self {
        Self {
            identity,
            stamps,
            repeats: None,
            received: 0,
            duplicate: 0,
            echoed: 0,
            timed_out: 0,
            refused: 0,
            overwritten: 0,
            wrong_size: 0,
            foreign: 0,
            failure: None,
            progress: Arc::new(ReceiveProgress::of_size(identity.size as u64)),
        }
    }

    /// Repeats writes that are not accepted. Only for a thread that is not the driver's.
    #[must_use]
    pub fn repeating(self) -> Self {
        Self { repeats: Some(Repeats::default()), ..self }
    }

    /// Returns how many echoes were accepted, for the thread that waits.
    #[must_use]
    pub fn progress(&self) -> Arc<ReceiveProgress> {
        Arc::clone(&self.progress)
    }

    /// Returns the header of a ping of this run. Samples of another size or origin are counted and not echoed.
    #[inline]
    fn recognise(&mut self, payload: &[u8], now_ns: u64) -> Option<Header> {
        match self.identity.origin(payload, now_ns) {
            Origin::Ours(header) => return Some(header),
            Origin::Damaged => self.wrong_size += 1,
            Origin::Foreign => self.foreign += 1,
        }
        None
    }

    /// Sends back a ping, key and payload unchanged, that arrived at `arrived_ns`.
    #[inline]
    fn echo(&mut self, writer: &Writer, header: &Header, (key, payload): (u32, &[u8]), arrived_ns: u64) {
        let sent_ns = now_ns();
        let mut outcome = writer.write(key, payload);
        if let (Some(repeats), Ok(WriteOutcome::TimedOut | WriteOutcome::Refused)) =
            (&mut self.repeats, &outcome)
        {
            let (again, tries) = repeats.repeat(outcome, || writer.write(key, payload));
            outcome = again;
            if !header.warm_up {
                self.timed_out += tries.timed_out;
                self.refused += tries.refused;
            }
        }
        self.record(header, arrived_ns, sent_ns, outcome);
    }

    /// Sends back a ping, if there is room. Returns false if there is none; the ping then counts as not received.
    #[inline]
    fn try_echo(
        &mut self,
        writer: &Writer,
        header: &Header,
        (key, payload): (u32, &[u8]),
        arrived_ns: u64,
    ) -> bool {
        let sent_ns = now_ns();
        let outcome = writer.write(key, payload);
        match outcome {
            Ok(WriteOutcome::TimedOut) => self.timed_out += u64::from(!header.warm_up),
            Ok(WriteOutcome::Refused) => self.refused += u64::from(!header.warm_up),
            Ok(WriteOutcome::Accepted) | Err(_) => {
                self.record(header, arrived_ns, sent_ns, outcome);
                return true;
            }
        }
        false
    }

    /// Records the write of an echo.
    #[inline]
    fn record(
        &mut self,
        header: &Header,
        arrived_ns: u64,
        sent_ns: u64,
        outcome: Result<WriteOutcome, driver_host::DriverError>,
    ) {
        if header.warm_up {
            return self.note_failure(outcome);
        }
        if self.received == 0 {
            self.progress.begin(arrived_ns);
        }
        self.received += 1;
        let sequence = u64::from(header.sequence);
        let known = self.stamps.get(sequence);
        self.duplicate += u64::from(known.first_ns > 0);
        if known.second_ns == 0 {
            let accepted = matches!(outcome, Ok(WriteOutcome::Accepted));
            let second_ns = if accepted { sent_ns } else { 0 };
            self.stamps.record(sequence, TimestampPair { first_ns: arrived_ns, second_ns });
        }
        match outcome {
            Ok(WriteOutcome::Accepted) => {
                self.echoed += 1;
                self.progress.set(self.echoed);
                self.repeats.iter_mut().for_each(Repeats::accepted);
            }
            // The pinger counts the ping as lost.
            Ok(WriteOutcome::TimedOut) => self.timed_out += 1,
            Ok(WriteOutcome::Refused) => self.refused += 1,
            Err(_) => self.note_failure(outcome),
        }
    }

    fn note_failure(&mut self, outcome: Result<WriteOutcome, driver_host::DriverError>) {
        if let Err(error) = outcome {
            self.failure.get_or_insert(error.into());
        }
    }
}

/// Writer and counts of the echoes.
#[derive(Debug)]
pub struct EchoSender {
    writer: Writer,
    pings: PingRecorder,
}

impl EchoSender {
    /// Creates the state for echoes with this writer.
    #[must_use]
    pub const fn new(writer: Writer, pings: PingRecorder) -> Self {
        Self { writer, pings }
    }

    /// Echoes a ping that the role's own thread reads.
    #[inline]
    fn on_sample(&mut self, sample: Sample<'_>) {
        let now = now_ns();
        if let Some(header) = self.pings.recognise(sample.payload, now) {
            self.pings.echo(&self.writer, &header, (sample.key, sample.payload), now);
            // checked after the write has read the payload
            self.pings.overwritten += u64::from(!sample.is_intact());
        }
    }

    /// Echoes a ping that a listener handed over.
    pub(super) fn echo(&mut self, header: &Header, ping: (u32, &[u8]), arrived_ns: u64) {
        self.pings.echo(&self.writer, header, ping, arrived_ns);
    }

    /// Echoes a ping from a listener, with one attempt. Returns false if there is no room.
    #[inline]
    pub(super) fn try_echo(&mut self, header: &Header, ping: (u32, &[u8]), arrived_ns: u64) -> bool {
        self.pings.try_echo(&self.writer, header, ping, arrived_ns)
    }

    pub(super) fn take_failure(&mut self) -> Option<AgentError> {
        self.pings.failure.take()
    }
}

/// Source of pings, and the place that sends the echoes.
#[derive(Debug)]
pub enum EchoInput {
    /// Reader called by the role's own thread, by waitset or polling; its sink sends the echo.
    Asked {
        /// Reader of the pings.
        reader: Reader,
        /// Writer and counts of the echoes.
        sender: Box<EchoSender>,
        /// Whether the reader is polled.
        polling: bool,
    },
    /// Listener that sends the echo, or hands the ping to the role's own thread.
    Listening {
        /// Reader of the pings.
        reader: ListeningReader<EchoListener>,
        /// Pings handed over.
        handed: HandedPings,
    },
}

/// Role that echoes.
#[derive(Debug)]
pub struct Echo {
    inlet: Option<EchoInput>,
    progress: Arc<ReceiveProgress>,
    /// Whether several pings may be on their way when the pinger has ended.
    several_in_flight: bool,
}

impl Echo {
    /// Creates the role with this source of pings.
    #[must_use]
    pub const fn new(inlet: EchoInput, progress: Arc<ReceiveProgress>, several_in_flight: bool) -> Self {
        Self { inlet: Some(inlet), progress, several_in_flight }
    }

    /// Closes reader and writer. Returns the counts, the pings that the listener dropped, and the echoes that it sent; `None` without
    /// a listener.
    fn close_inlet(&mut self) -> Result<(PingRecorder, u64, Option<u64>), AgentError> {
        let (sender, dropped, in_listener) = match self.inlet.take().ok_or(AgentError::Closed)? {
            EchoInput::Asked { reader, sender, .. } => {
                reader.close()?;
                (*sender, 0, None)
            }
            EchoInput::Listening { reader, handed } => {
                let EchoListener { wrong_size, foreign, overwritten, dropped, sent, .. } = reader.close()?;
                let mut sender = handed.into_sender()?;
                sender.pings.wrong_size += wrong_size;
                sender.pings.foreign += foreign;
                sender.pings.overwritten += overwritten;
                (sender, dropped, Some(sent))
            }
        };
        sender.writer.close()?;
        Ok((sender.pings, dropped, in_listener))
    }
}

impl AgentRole for Echo {
    fn serve(&mut self, slice: Duration, wait_ns: u64) -> Result<(), AgentError> {
        match &mut self.inlet {
            Some(EchoInput::Asked { reader, sender, polling }) => {
                let end_ns = now_ns() + slice.as_nanos() as u64;
                let timeout_ns = if *polling { 0 } else { wait_ns };
                loop {
                    reader.receive(timeout_ns, 1, |sample| sender.on_sample(sample))?;
                    if let Some(failure) = sender.take_failure() {
                        return Err(failure);
                    }
                    if now_ns() >= end_ns {
                        break;
                    }
                }
            }
            Some(EchoInput::Listening { handed, .. }) => handed.serve(slice)?,
            None => {}
        }
        Ok(())
    }

    fn warm_up(&mut self, _extent: Extent) -> Result<(), AgentError> {
        Ok(())
    }

    fn progress(&self) -> ProgressSource {
        ProgressSource { reception: vec![Arc::clone(&self.progress)], ..ProgressSource::default() }
    }

    fn recorded(&self) -> u64 {
        self.progress.delivered()
    }

    fn measure(
        &mut self,
        _extent: Extent,
        _begin_ns: Option<u64>,
        _meter: &mut TrafficMeter,
    ) -> Result<MeasureReply, AgentError> {
        Ok(MeasureReply::default())
    }

    /// With several pings in flight, passes on those that are still on their way, so that each is counted where it
    /// stops.
    fn drain(&mut self, drain: &Drain, meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        let begin_ns = now_ns();
        let (mut last_ns, mut passed_on) = (begin_ns, self.recorded());
        while self.several_in_flight && passed_on < drain.sent {
            self.serve(SLICE, SHORTEST_WAIT_NS)?;
            let (now, recorded) = (now_ns(), self.recorded());
            meter.look(recorded, now);
            if recorded > passed_on {
                (last_ns, passed_on) = (now, recorded);
            } else if now - last_ns >= drain.quiet_ns || now - begin_ns >= drain.timeout_ns {
                break;
            }
        }
        Ok(true)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let (mut pings, dropped, echoed_in_listener) = self.close_inlet()?;
        if let Some(failure) = pings.failure.take() {
            return Err(failure);
        }
        Ok(RoleReport::Echo(EchoReport {
            received: pings.received + dropped,
            duplicate: pings.duplicate,
            echoed: pings.echoed,
            timed_out: pings.timed_out,
            refused: pings.refused + dropped,
            overwritten: pings.overwritten,
            wrong_size: pings.wrong_size,
            foreign: pings.foreign,
            echoed_in_listener,
            stamps: pings.stamps,
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        if self.inlet.is_some() { self.close_inlet().map(|_| ()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{keys::Keys, payload::Payloads};

    #[test]
    fn ping_of_another_size_is_counted_and_not_echoed() {
        let identity = Identity { tag: 5, writer: 1, size: 64, since_ns: 0, keys: Keys::NONE, slack_ns: 0 };
        let mut pings = PingRecorder::new(identity, TimestampLog::with_capacity(8));
        for (size, tag) in [(64, 5), (48, 5), (64, 6)] {
            let mut payloads = Payloads::new(1, size);
            let header = Header { sequence: 0, writer: 1, tag, warm_up: false, sent_ns: now_ns() };
            let payload = payloads.stamped(0, &header);
            assert_eq!(pings.recognise(payload, now_ns()).is_some(), (size, tag) == (64, 5));
        }
        assert_eq!([pings.wrong_size, pings.foreign], [1, 1]);
    }
}
