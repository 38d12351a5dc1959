//! Simulated link from one writer to one reader.

use std::sync::Arc;

use experiment::Design;
use results::{Counted, Received, SequenceSet, WindowCounts};
use sim_model::{Config, Fate, Flow};

use crate::machine::{Intake, Machine};

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
    /// Send time.
    sent_ns: u64,
}

/// Counts of the writer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Number of accepted samples.
    pub accepted: u64,
    pub wire_bytes: u64,
    pub wire_packets: u64,
    /// Datagrams dropped at the full receive buffer.
    pub dropped: u64,
}

/// Link: the writer's server, and the reader with its receive buffer.
pub(crate) struct Way<'r> {
    flow: Flow,
    config: Arc<Config>,
    machine: &'r Machine,
    /// Reader; if its buffer is full, packets wait at the writer or are dropped.
    reader: Intake,
    reliable: bool,
    size: u64,
    arrivals: Vec<Arrival>,
    sent: Sent,
}

impl<'r> Way<'r> {
    /// Creates an idle link that reuses the memory of `arrivals`.
    pub fn new(
        flow: Flow,
        config: Arc<Config>,
        machine: &'r Machine,
        reliable: bool,
        size: u64,
        mut arrivals: Vec<Arrival>,
    ) -> Self {
        arrivals.clear();
        let reader = Intake::new(machine.receive_buffer);
        Self { flow, config, machine, reader, reliable, size, arrivals, sent: Sent::default() }
    }

    /// Returns the mode factor of the run.
    pub const fn mode(&self) -> f64 {
        self.flow.mode()
    }

    /// Returns the memory for the next run.
    pub fn into_arrivals(self) -> Vec<Arrival> {
        self.arrivals
    }

    /// Resets the counts; packets in transit remain in the link.
    pub fn begin(&mut self) {
        self.read();
        self.arrivals.clear();
        self.sent = Sent::default();
    }

    /// Returns the outcome of a packet offered at the time `at`, and the time of its acceptance.
    fn offer(&mut self, mut at: u64, end: u64, bytes: u64) -> (Fate, u64) {
        loop {
            let no_room = if self.reliable { self.reader.full_until(at) } else { None };
            let fate = match no_room {
                Some(until_ns) => Fate::Full { until_ns },
                None => self.flow.offer(at, bytes),
            };
            match fate {
                Fate::Full { until_ns } if until_ns < end => at = until_ns,
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
            Fate::Full { .. } => return None,
            Fate::Dropped => transmissions = 0,
            Fate::Lost => {}
            Fate::Comes { due_ns, twice, retransmissions } => {
                transmissions += u64::from(retransmissions);
                let due_ns =
                    if self.reliable { self.reader.take(due_ns, self.read_ns(samples)) } else { due_ns };
                let sequence = self.sent.accepted;
                for copy in 0..=u64::from(twice) {
                    let order = sequence * 2 + copy * 2 * samples;
                    self.arrivals.push(Arrival { due_ns, order, sequence, samples, sent_ns: at });
                }
            }
        }
        let (bytes, packets) = self.machine.on_wire(&self.config, samples * self.size);
        self.sent.wire_bytes += transmissions * bytes;
        self.sent.wire_packets += transmissions * packets;
        self.sent.accepted += samples;
        Some(at)
    }

    /// Returns the CPU time of the writer per sample of a packet.
    pub fn write_ns(&self, samples: u64) -> u64 {
        self.machine.write_cost(self.size, samples)
    }

    /// Returns the CPU time of the reader per packet.
    pub fn read_ns(&self, samples: u64) -> u64 {
        self.machine.read_cost(self.size, samples)
    }

    /// Determines when a best effort reader reads each packet, in the order of arrival. Packets without room in the
    /// buffer are removed and counted. A reliable reader has read them already.
    fn read(&mut self) {
        if self.reliable {
            return;
        }
        self.arrivals.sort_unstable();
        let (machine, size, reader) = (self.machine, self.size, &mut self.reader);
        let mut dropped = 0;
        self.arrivals.retain_mut(|arrival| {
            let room = reader.full_until(arrival.due_ns).is_none();
            if room {
                arrival.due_ns = reader.take(arrival.due_ns, machine.read_cost(size, arrival.samples));
            } else {
                dropped += self.config.datagrams(arrival.samples * size);
            }
            room
        });
        self.sent.dropped += dropped;
    }

    /// Returns the counts of a reader's agent. `first` is called for each distinct sample with the time at which its
    /// packet was taken and its sequence number.
    pub fn receive(&mut self, writer: u16, design: &Design, mut first: impl FnMut(u64, u64)) -> Received {
        self.read();
        let mut set = SequenceSet::new();
        let mut windows = WindowCounts::new(design.windows, design.measure_ns);
        let (mut first_ns, mut last_ns, mut quickest_ns) = (None, 0, u64::MAX);
        let mut given = 0;
        for arrival in &self.arrivals {
            let taken_ns = arrival.due_ns - self.read_ns(arrival.samples);
            for sequence in arrival.sequence..arrival.sequence + arrival.samples {
                given += 1;
                if set.insert(sequence) {
                    first_ns.get_or_insert(arrival.due_ns);
                    last_ns = arrival.due_ns;
                    quickest_ns = quickest_ns.min(arrival.due_ns - arrival.sent_ns);
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
    pub const fn sent(&self) -> Sent {
        self.sent
    }

    /// Returns the CPU time of the reader for all packets.
    pub fn reading_ns(&self) -> u64 {
        self.arrivals.iter().map(|arrival| self.read_ns(arrival.samples)).sum()
    }
}

/// Returns the delivery counts of `sent` samples, with nothing left in transit.
pub(crate) fn counted(sent: u64, received: &Received) -> Counted {
    Counted {
        writer: received.writer,
        reader: received.writer.saturating_sub(1),
        sent,
        delivered: received.delivered,
        lost: received.missing + (sent - received.next),
        undelivered: 0,
        duplicate: received.duplicate,
        out_of_order: received.out_of_order,
        ..Counted::default()
    }
}

/// Returns samples/s; 0 for a duration of 0.
pub(crate) fn rate(samples: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { samples as f64 * 1e9 / ns as f64 }
}
