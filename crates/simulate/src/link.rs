//! Simulated link from one writer to one reader.

use std::sync::Arc;

use experiment::Design;
use results::{Received, SequenceSet, WindowCounts};
use sim_model::{Config, Flow, SampleOutcome};

use crate::host_model::{HostModel, ReaderQueue};

/// Packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    /// Time at which it has been read.
    due_ns: u64,
    /// Rank among packets with the same time.
    order: u64,
    /// Number of its first sample.
    sequence: u64,
    /// Number of samples in it.
    samples: u64,
    /// Start of its write.
    tried_ns: u64,
    /// Whether it was sent in the warm-up.
    warm_up: bool,
}

/// Counts of the writer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentSample {
    /// Number of accepted samples.
    pub accepted: u64,
    pub wire_bytes: u64,
    pub wire_packets: u64,
    /// Datagrams dropped at the full receive buffer.
    pub dropped: u64,
    /// Samples accepted in the warm-up.
    pub warm_up: u64,
}

/// Link: the writer's server, and the reader with its receive buffer.
pub(crate) struct Link<'r> {
    flow: Flow,
    config: Arc<Config>,
    host: &'r HostModel,
    /// Reader; if its buffer is full, packets wait at the writer or are dropped.
    reader: ReaderQueue,
    reliable: bool,
    size: u64,
    arrivals: Vec<Arrival>,
    sent: SentSample,
}

impl<'r> Link<'r> {
    /// Creates an idle link that reuses the memory of `arrivals`.
    pub fn new(
        flow: Flow,
        config: Arc<Config>,
        host: &'r HostModel,
        reliable: bool,
        size: u64,
        mut arrivals: Vec<Arrival>,
    ) -> Self {
        arrivals.clear();
        let reader = ReaderQueue::new(host.receive_buffer);
        Self { flow, config, host, reader, reliable, size, arrivals, sent: SentSample::default() }
    }

    /// Returns the mode factor of the run.
    pub const fn mode(&self) -> f64 {
        self.flow.mode()
    }

    /// Returns the memory for the next run.
    pub fn into_arrivals(self) -> Vec<Arrival> {
        self.arrivals
    }

    /// Starts a phase: what was sent before it is the warm-up. Packets in transit remain in the link.
    pub fn begin(&mut self) {
        for arrival in &mut self.arrivals {
            arrival.warm_up = true;
        }
        self.sent = SentSample { warm_up: self.sent.accepted, ..SentSample::default() };
    }

    /// Returns the outcome of a packet offered at the time `at`, and the time of its acceptance.
    fn offer(&mut self, mut at: u64, end: u64, bytes: u64) -> (SampleOutcome, u64) {
        loop {
            let no_room = if self.reliable { self.reader.full_until(at) } else { None };
            let fate = match no_room {
                Some(until_ns) => SampleOutcome::Full { until_ns },
                None => self.flow.offer(at, bytes),
            };
            match fate {
                SampleOutcome::Full { until_ns } if until_ns < end => at = until_ns,
                other => return (other, at),
            }
        }
    }

    /// Sends the next `samples` samples in one packet, offered at the time `tried`. Returns when it is accepted;
    /// `None` if the end comes first.
    pub fn send(&mut self, tried: u64, end: u64, samples: u64) -> Option<u64> {
        let (fate, at) = self.offer(tried, end, samples * self.size);
        let mut transmissions = 1;
        match fate {
            SampleOutcome::Full { .. } => return None,
            SampleOutcome::Dropped => transmissions = 0,
            SampleOutcome::Lost => {}
            SampleOutcome::Comes { due_ns, twice, retransmissions } => {
                transmissions += u64::from(retransmissions);
                let due_ns =
                    if self.reliable { self.reader.take(due_ns, self.read_ns(samples)) } else { due_ns };
                let sequence = self.sent.accepted;
                for copy in 0..=u64::from(twice) {
                    let order = sequence * 2 + copy * 2 * samples;
                    self.arrivals.push(Arrival {
                        due_ns,
                        order,
                        sequence,
                        samples,
                        tried_ns: tried,
                        warm_up: false,
                    });
                }
            }
        }
        let (bytes, packets) = self.host.on_wire(&self.config, samples * self.size);
        self.sent.wire_bytes += transmissions * bytes;
        self.sent.wire_packets += transmissions * packets;
        self.sent.accepted += samples;
        Some(at)
    }

    /// Returns the CPU time of the writer per sample of a packet.
    pub fn write_ns(&self, samples: u64) -> u64 {
        self.host.write_cost(self.size, samples)
    }

    /// Returns the CPU time of the reader per packet.
    pub fn read_ns(&self, samples: u64) -> u64 {
        self.host.read_cost(self.size, samples)
    }

    /// Determines when a best effort reader reads each packet, in the order of arrival. Packets without room in the
    /// buffer are removed and counted. A reliable reader has read them already. Ends a phase.
    pub fn read(&mut self) {
        if self.reliable {
            return;
        }
        self.arrivals.sort_unstable();
        let (host, size, reader) = (self.host, self.size, &mut self.reader);
        let mut dropped = 0;
        self.arrivals.retain_mut(|arrival| {
            let room = reader.full_until(arrival.due_ns).is_none();
            if room {
                arrival.due_ns = reader.take(arrival.due_ns, host.read_cost(size, arrival.samples));
            } else if !arrival.warm_up {
                dropped += self.config.datagrams(arrival.samples * size);
            }
            room
        });
        self.sent.dropped += dropped;
    }

    /// Returns the time of each arrival that has been read, with its number of distinct samples: none in a duplicate or
    /// of the warm-up.
    pub fn arrivals(&self) -> impl Iterator<Item = (u64, u64)> {
        self.arrivals.iter().map(|arrival| {
            // A duplicate has the rank of the next packet.
            let counts = !arrival.warm_up && arrival.order == 2 * arrival.sequence;
            (arrival.due_ns, if counts { arrival.samples } else { 0 })
        })
    }

    /// Returns the counts of a reader's agent that is closed at `closed_ns`. `first` is called for each distinct
    /// sample with the time at which its packet was taken and its sequence number.
    pub fn receive(
        &mut self,
        writer: u16,
        design: &Design,
        closed_ns: u64,
        mut first: impl FnMut(u64, u64),
    ) -> Received {
        self.arrivals.retain(|arrival| arrival.due_ns <= closed_ns);
        let check_every = u64::from(design.check_every.max(1));
        let mut set = SequenceSet::new();
        let mut windows = WindowCounts::new(design.windows, design.measure_ns);
        let (mut first_ns, mut last_ns, mut quickest_ns) = (None, 0, u64::MAX);
        let (mut given, mut warm_up, mut checked_in_full) = (0, 0, 0);
        for arrival in &self.arrivals {
            if arrival.warm_up {
                (given, warm_up) = (given + arrival.samples, warm_up + arrival.samples);
                continue;
            }
            let taken_ns = arrival.due_ns - self.read_ns(arrival.samples);
            for sequence in arrival.sequence..arrival.sequence + arrival.samples {
                given += 1;
                if set.insert(sequence) {
                    first_ns.get_or_insert(arrival.due_ns);
                    last_ns = arrival.due_ns;
                    quickest_ns = quickest_ns.min(arrival.due_ns - arrival.tried_ns);
                    checked_in_full += u64::from(sequence.is_multiple_of(check_every));
                    windows.count(arrival.due_ns);
                    first(taken_ns, sequence);
                }
            }
        }
        let received = set.received(writer);
        Received {
            given,
            given_bytes: given * self.size,
            taken: Some(given),
            warm_up,
            checked_in_full,
            bytes: received.delivered * self.size,
            first_ns: first_ns.unwrap_or(last_ns),
            last_ns,
            window_ns: windows.window_ns(),
            window_delivered: windows.counts(),
            quickest_ns: if received.delivered > 0 { quickest_ns } else { 0 },
            arrivals: windows.arrivals(),
            ..received
        }
    }

    /// Returns the counts of the writer; complete after the reception.
    pub const fn sent(&self) -> SentSample {
        self.sent
    }

    /// Returns the CPU time of the reader for all packets of the measurement.
    pub fn reading_ns(&self) -> u64 {
        self.arrivals
            .iter()
            .filter(|arrival| !arrival.warm_up)
            .map(|arrival| self.read_ns(arrival.samples))
            .sum()
    }
}

/// Returns the number of samples of this size in one packet.
pub(crate) fn samples_per_packet(batch_bytes: u64, size_bytes: u64) -> u64 {
    (batch_bytes / size_bytes.max(1)).max(1)
}
