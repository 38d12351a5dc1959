//! Classification and counts of received samples.

use std::sync::Arc;

use control::ProbeEchoReport;
use driver_host::Sample;
use results::{Received, SequenceSet, WindowCounts};

use crate::{
    base::{error::AgentError, progress::ReceiveProgress},
    traffic::{
        filtered::FilteredStream,
        identity::{Identity, Origin},
        keys::InstanceOrder,
        late_join::ReceptionLog,
        payload::Payloads,
        probes::ProbeResponder,
    },
};

/// Counts of the samples received from one writer.
#[derive(Debug)]
pub struct ReceiveStats {
    identity: Identity,
    payloads: Payloads,
    check_every: u64,
    set: SequenceSet,
    /// Numbers of the samples that the reader expects; `None`: it expects all.
    pub(crate) filtered: Option<FilteredStream>,
    /// Order of each instance; `None` without keys.
    order: Option<InstanceOrder>,
    windows: WindowCounts,
    /// Counts that neither the set, the order nor the windows have.
    pub(super) counts: Received,
    progress: Arc<ReceiveProgress>,
    /// Responder that sends probes back; `None` without probes.
    pub(crate) echo: Option<ProbeResponder>,
    /// Reception around a late join; `None` if all join together.
    pub(crate) join: Option<ReceptionLog>,
}

impl ReceiveStats {
    /// Creates empty counts of a reader without a filter, probes and late join. Every byte of each `check_every`-th sample is checked.
    #[must_use]
    pub fn new(identity: Identity, payloads: Payloads, check_every: u32, windows: WindowCounts) -> Self {
        Self {
            progress: Arc::new(ReceiveProgress::of_size(identity.size.mean())),
            order: InstanceOrder::new(identity.keys),
            counts: Received { writer: identity.writer, quickest_ns: i64::MAX, ..Received::default() },
            identity,
            payloads,
            check_every: u64::from(check_every.max(1)),
            set: SequenceSet::new(),
            filtered: None,
            windows,
            echo: None,
            join: None,
        }
    }

    /// Returns the counts of probes; `None` without a responder.
    ///
    /// # Errors
    /// Returns an error if the driver failed to send an echo.
    pub fn probes(&mut self) -> Result<Option<ProbeEchoReport>, AgentError> {
        self.echo.as_mut().map(ProbeResponder::report).transpose()
    }

    /// Returns the progress, for the thread that waits.
    #[must_use]
    pub fn progress(&self) -> Arc<ReceiveProgress> {
        Arc::clone(&self.progress)
    }

    /// Records a sample that arrived at `now_ns`. Returns its sequence number and send time if it is new and of the
    /// measurement phase.
    #[inline]
    pub fn count(&mut self, sample: &Sample<'_>, now_ns: u64) -> Option<(u64, u64)> {
        let payload = sample.payload;
        self.counts.given += 1;
        self.counts.given_bytes += payload.len() as u64;
        match self.identity.origin(payload, now_ns) {
            Origin::Ours(header) => {
                self.progress.arrived(now_ns);
                if header.warm_up {
                    self.counts.warm_up += 1;
                    if let Some(join) = &mut self.join {
                        join.warm_up(now_ns);
                    }
                    if let Some(echo) = &mut self.echo {
                        echo.on_sample(header.sequence.into(), true, sample);
                    }
                    return None;
                }
                let sequence = match &self.filtered {
                    None => self.set.unwrap(header.sequence),
                    Some(filtered) => filtered.unwrap(header.sequence),
                };
                let checked = sequence.is_multiple_of(self.check_every);
                let damaged = !self.identity.keys.matches(header.sequence, sample.key)
                    || (checked && !self.payloads.is_intact(sequence, payload));
                // after the last read of the payload, which the driver may have overwritten meanwhile
                if !sample.is_intact() {
                    self.counts.overwritten += 1;
                    self.counts.corrupt += 1;
                    return None;
                }
                let number = match &mut self.filtered {
                    None => sequence,
                    Some(filtered) => {
                        let Some(number) = filtered.number(sequence, sample.key) else {
                            self.counts.excluded += 1;
                            return None;
                        };
                        number
                    }
                };
                if !self.set.insert(number) {
                    return None;
                }
                if let Some(order) = &mut self.order {
                    order.record(sequence);
                }
                if let Some(echo) = &mut self.echo {
                    echo.on_sample(sequence, false, sample);
                }
                if self.counts.first_ns == 0 {
                    self.counts.first_ns = now_ns;
                    self.progress.begin(now_ns);
                }
                self.counts.last_ns = now_ns;
                if let Some(join) = &mut self.join {
                    join.record(header.sent_ns, now_ns);
                }
                let took_ns = now_ns.wrapping_sub(header.sent_ns).cast_signed();
                self.counts.quickest_ns = self.counts.quickest_ns.min(took_ns);
                self.windows.count(now_ns);
                self.counts.bytes += payload.len() as u64;
                self.progress.set_of(self.set.delivered(), self.set.next());
                self.counts.checked_in_full += u64::from(checked);
                self.counts.corrupt += u64::from(damaged);
                return Some((sequence, header.sent_ns));
            }
            // a sample overwritten while its header was read may have any origin
            _ if !sample.is_intact() => {
                self.counts.overwritten += 1;
                self.counts.corrupt += 1;
            }
            Origin::Damaged => {
                self.counts.wrong_size += 1;
                self.counts.corrupt += 1;
            }
            Origin::Foreign => self.counts.foreign += 1,
        }
        None
    }

    /// Returns the number of distinct samples of the measurement phase.
    #[inline]
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.set.delivered()
    }

    /// Returns the number of samples that are not of this run.
    #[must_use]
    pub const fn foreign(&self) -> u64 {
        self.counts.foreign
    }

    /// Sets the number of samples returned by receive calls, as the driver counts them.
    pub const fn set_taken(&mut self, taken: u64) {
        self.counts.taken = Some(taken);
    }

    /// Returns the counts for the report.
    #[must_use]
    pub fn received(&self) -> Received {
        let of_set = self.set.received(self.identity.writer);
        Received {
            delivered: of_set.delivered,
            missing: of_set.missing,
            next: of_set.next,
            duplicate: of_set.duplicate,
            out_of_order: self.order.as_ref().map_or(of_set.out_of_order, InstanceOrder::out_of_order),
            beyond_reach: of_set.beyond_reach,
            window_ns: self.windows.window_ns(),
            window_delivered: self.windows.counts(),
            quickest_ns: if self.delivered() > 0 { self.counts.quickest_ns } else { 0 },
            arrivals: self.windows.arrivals(),
            ..self.counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use experiment::{KeyFilter, StreamSpec};

    use super::*;
    use crate::{
        base::clock::now_ns,
        traffic::{header::Header, identity::PayloadSize, keys::Keys},
    };

    const IDENTITY: Identity = Identity {
        tag: 5,
        writer: 2,
        size: PayloadSize::One(64),
        since_ns: 0,
        keys: Keys::NONE,
        slack_ns: 0,
    };

    fn header(sequence: u32) -> Header {
        Header { sequence, writer: 2, tag: 5, warm_up: false, sent_ns: now_ns() }
    }

    fn stats() -> ReceiveStats {
        ReceiveStats::new(IDENTITY, Payloads::new(1, 64), 1, WindowCounts::new(4, u64::MAX))
    }

    fn give(stats: &mut ReceiveStats, header: Header, sequence: u64) {
        let mut payloads = Payloads::new(1, 64);
        let _ = stats.count(&Sample::new(payloads.stamped(sequence, &header), 0), now_ns());
    }

    #[test]
    fn only_samples_of_this_run_count() {
        let mut stats = stats();
        give(&mut stats, header(0), 0);
        give(&mut stats, Header { tag: 6, ..header(1) }, 1);
        give(&mut stats, Header { writer: 3, ..header(1) }, 1);
        give(&mut stats, Header { sent_ns: u64::MAX / 2, ..header(1) }, 1);
        give(&mut stats, Header { sent_ns: u64::MAX, ..header(1) }, 1);
        let _ = stats.count(&Sample::new(&[1; 9], 0), now_ns());
        assert_eq!((stats.received().delivered, stats.foreign(), stats.received().corrupt), (1, 5, 0));
    }

    #[test]
    fn warm_up_samples_are_not_counted() {
        let mut stats = stats();
        for sequence in 0..9 {
            give(&mut stats, Header { warm_up: true, ..header(sequence) }, u64::from(sequence));
        }
        give(&mut stats, header(1), 1);
        let received = stats.received();
        assert_eq!((received.delivered, received.missing, received.next), (1, 1, 2));
        assert_eq!(received.window_delivered, [1]);
    }

    const KEYED: StreamSpec = StreamSpec {
        flow: 0,
        writer: 2,
        size_bytes: 64,
        sizes: None,
        instances: Some(3),
        write_instance: None,
        in_flight: None,
        loans: false,
        load: None,
        delay_ns: 0,
        deadline_ns: None,
    };

    #[test]
    fn samples_of_a_filter_have_no_gaps_and_all_others_are_excluded() {
        let identity = Identity { keys: Keys::of_stream(&KEYED), ..IDENTITY };
        let filter = KeyFilter { first: 1, last: 2 };
        let mut stats =
            ReceiveStats::new(identity, Payloads::new(1, 64), u32::MAX, WindowCounts::new(4, u64::MAX));
        stats.filtered = Some(FilteredStream::new(&KEYED, filter));
        let mut payloads = Payloads::new(1, 64);
        // 0 and 3 have the key 0; 5 is missing; 7 arrives twice; 8 comes with a key that the filter excludes.
        for (sequence, key) in [(1, 1), (2, 2), (3, 0), (4, 1), (7, 1), (7, 1), (8, 0)] {
            let payload = payloads.stamped(u64::from(sequence), &header(sequence));
            let _ = stats.count(&Sample::new(payload, key), now_ns());
        }
        let received = stats.received();
        assert_eq!((received.delivered, received.missing, received.next), (4, 1, 5));
        assert_eq!((received.excluded, received.duplicate, received.given), (2, 1, 7));
    }

    #[test]
    fn sample_with_another_key_is_corrupt() {
        let keys = Keys::of_stream(&KEYED);
        let identity = Identity { keys, ..IDENTITY };
        let mut stats =
            ReceiveStats::new(identity, Payloads::new(1, 64), u32::MAX, WindowCounts::new(4, u64::MAX));
        let mut payloads = Payloads::new(1, 64);
        // sample 4 has the key of sample 5; instance 2 comes first
        for (sequence, key) in [(2, 2), (5, 2), (0, 0), (1, 1), (3, 0), (4, 2)] {
            let payload = payloads.stamped(u64::from(sequence), &header(sequence));
            let _ = stats.count(&Sample::new(payload, key), now_ns());
        }
        let received = stats.received();
        assert_eq!((received.delivered, received.corrupt, received.out_of_order), (6, 1, 0));
    }

    #[test]
    fn sample_with_wrong_size_or_content_is_corrupt() {
        let mut stats = stats();
        // payload of another sequence number
        give(&mut stats, header(1), 0);
        let mut payloads = Payloads::new(1, 48);
        let _ = stats.count(&Sample::new(payloads.stamped(2, &header(2)), 0), now_ns());
        assert_eq!(stats.received().corrupt, 2);
    }
}
