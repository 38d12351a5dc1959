//! Sender of echoes: its writer, and the counts and timestamps of pings and echoes.

use std::sync::Arc;

use control::{EchoReport, TimestampLog, TimestampPair};
use driver_host::{Sample, WriteOutcome, Writer};

use crate::{
    base::{clock::now_ns, error::AgentError, progress::ReceiveProgress},
    roles::repeats::Repeats,
    traffic::{
        header::Header,
        identity::{Identity, Origin},
    },
};

/// Check whether samples are pings of this run, with counts of those that are not: they are not echoed.
#[derive(Debug)]
pub struct OriginCheck {
    pub(super) identity: Identity,
    /// Samples of this run with another size.
    pub(super) wrong_size: u64,
    /// Samples that are not of this run.
    pub(super) foreign: u64,
}

impl OriginCheck {
    pub(super) const fn new(identity: Identity) -> Self {
        Self { identity, wrong_size: 0, foreign: 0 }
    }

    /// Returns the header of a ping of this run.
    #[inline]
    pub(super) fn header(&mut self, payload: &[u8], now_ns: u64) -> Option<Header> {
        match self.identity.origin(payload, now_ns) {
            Origin::Ours(header) => return Some(header),
            Origin::Damaged => self.wrong_size += 1,
            Origin::Foreign => self.foreign += 1,
        }
        None
    }
}

/// Writer of echoes, with the counts and timestamps of received pings and their echoes.
#[derive(Debug)]
pub struct EchoSender {
    pub(super) writer: Writer,
    pub(super) origins: OriginCheck,
    /// Counts, without those of the origins.
    pub(super) counts: EchoReport,
    /// Repetition of writes that are not accepted; `None`: they are not repeated.
    repeats: Option<Repeats>,
    pub(super) failure: Option<AgentError>,
    /// Number of accepted echoes, for the thread that waits.
    pub(crate) progress: Arc<ReceiveProgress>,
}

impl EchoSender {
    /// Creates empty counts, with this timestamp log. `repeats`: whether it repeats writes that are not accepted, only for a thread
    /// that is not the driver's.
    #[must_use]
    pub fn new(writer: Writer, identity: Identity, stamps: TimestampLog, repeats: bool) -> Self {
        Self {
            writer,
            counts: EchoReport { stamps, ..EchoReport::default() },
            repeats: repeats.then(Repeats::default),
            failure: None,
            progress: Arc::new(ReceiveProgress::of_size(identity.size.mean())),
            origins: OriginCheck::new(identity),
        }
    }

    /// Echoes a ping that the role's own thread reads.
    #[inline]
    pub(super) fn on_sample(&mut self, sample: Sample<'_>) {
        let now = now_ns();
        if let Some(header) = self.origins.header(sample.payload, now) {
            self.echo(&header, (sample.key, sample.payload), now);
            // checked after the write has read the payload
            self.counts.overwritten += u64::from(!sample.is_intact());
        }
    }

    /// Sends back a ping, key and payload unchanged, that arrived at `arrived_ns`.
    #[inline]
    pub(super) fn echo(&mut self, header: &Header, (key, payload): (u32, &[u8]), arrived_ns: u64) {
        let sent_ns = now_ns();
        let mut outcome = self.writer.write(key, payload);
        if let (Some(repeats), Ok(WriteOutcome::TimedOut | WriteOutcome::Refused)) =
            (&mut self.repeats, &outcome)
        {
            let (again, tries) = repeats.repeat(outcome, || self.writer.write(key, payload));
            outcome = again;
            if !header.warm_up {
                self.counts.timed_out += tries.timed_out;
                self.counts.refused += tries.refused;
            }
        }
        self.record(header, arrived_ns, sent_ns, outcome);
    }

    /// Sends back a ping from a listener with one attempt. Returns false if there is no room; the ping then counts as not received.
    #[inline]
    pub(super) fn try_echo(
        &mut self,
        header: &Header,
        (key, payload): (u32, &[u8]),
        arrived_ns: u64,
    ) -> bool {
        let sent_ns = now_ns();
        let outcome = self.writer.write(key, payload);
        match outcome {
            Ok(WriteOutcome::TimedOut) => self.counts.timed_out += u64::from(!header.warm_up),
            Ok(WriteOutcome::Refused) => self.counts.refused += u64::from(!header.warm_up),
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
        if self.counts.received == 0 {
            self.progress.begin(arrived_ns);
        }
        self.counts.received += 1;
        let sequence = u64::from(header.sequence);
        let known = self.counts.stamps.get(sequence);
        self.counts.duplicate += u64::from(known.first_ns > 0);
        if known.second_ns == 0 {
            let accepted = matches!(outcome, Ok(WriteOutcome::Accepted));
            let second_ns = if accepted { sent_ns } else { 0 };
            self.counts.stamps.record(sequence, TimestampPair { first_ns: arrived_ns, second_ns });
        }
        match outcome {
            Ok(WriteOutcome::Accepted) => {
                self.counts.echoed += 1;
                self.progress.set(self.counts.echoed);
                self.repeats.iter_mut().for_each(Repeats::accepted);
            }
            // The pinger counts the ping as lost.
            Ok(WriteOutcome::TimedOut) => self.counts.timed_out += 1,
            Ok(WriteOutcome::Refused) => self.counts.refused += 1,
            Err(_) => self.note_failure(outcome),
        }
    }

    fn note_failure(&mut self, outcome: Result<WriteOutcome, driver_host::DriverError>) {
        if let Err(error) = outcome {
            self.failure.get_or_insert(error.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{identity::PayloadSize, keys::Keys, payload::Payloads};

    #[test]
    fn ping_of_another_size_is_counted_and_not_echoed() {
        let identity = Identity {
            tag: 5,
            writer: 1,
            size: PayloadSize::One(64),
            since_ns: 0,
            keys: Keys::NONE,
            slack_ns: 0,
        };
        let mut origins = OriginCheck::new(identity);
        for (size, tag) in [(64, 5), (48, 5), (64, 6)] {
            let mut payloads = Payloads::new(1, size);
            let header = Header { sequence: 0, writer: 1, tag, warm_up: false, sent_ns: now_ns() };
            let payload = payloads.stamped(0, &header);
            assert_eq!(origins.header(payload, now_ns()).is_some(), (size, tag) == (64, 5));
        }
        assert_eq!([origins.wrong_size, origins.foreign], [1, 1]);
    }
}
