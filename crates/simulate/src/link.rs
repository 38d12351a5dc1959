//! Simulated links: each writer with its server, and each reader with what arrives at it.

use std::sync::Arc;

use control::JoinReception;
use experiment::{Design, ReaderSpec, Reliability, RunTopology, SizeTable, WriterSpec};
use results::{Received, SequenceSet, WindowCounts};
use sim_model::{Config, Flow, SampleOutcome};

use crate::{
    arrival::Arrival,
    host_model::{HostModel, ReaderQueue},
    late_join::{Packet, Reception, SimJoin, WriterHistory},
};

/// Reader of an endpoint, with its thread and the buffer before it.
pub(crate) struct Reader {
    /// Index of its endpoint.
    pub endpoint: usize,
    pub spec: ReaderSpec,
    host: HostModel,
    queue: ReaderQueue,
    /// Whether packets wait at their writers while the buffer is full; otherwise they are dropped. Such a reader reads
    /// in the order of sending.
    holds_up: bool,
    /// Datagrams dropped at the full buffer.
    pub dropped: u64,
    /// Late join of a reader of the run.
    pub join: Option<SimJoin>,
    arrivals: Vec<Arrival>,
}

impl Reader {
    fn new(endpoint: usize, spec: &ReaderSpec, host: HostModel, mut arrivals: Vec<Arrival>) -> Self {
        arrivals.clear();
        let is_reliable = spec.qos.reliability == Some(Reliability::Reliable);
        let holds_up = is_reliable && host.receive_buffer.is_some();
        let queue = ReaderQueue::new(host.receive_buffer);
        Self { endpoint, spec: spec.clone(), host, queue, holds_up, dropped: 0, join: None, arrivals }
    }

    /// Starts a phase: what was sent before it is the warm-up.
    pub fn begin(&mut self) {
        for arrival in &mut self.arrivals {
            arrival.warm_up = true;
        }
    }

    /// Returns whether samples that are written at this time do not reach it, because it has not joined.
    fn is_away(&self, at_ns: u64) -> bool {
        self.join.is_some_and(|join| join.is_late && at_ns < join.joined_ns)
    }

    /// Returns when there is room for a packet; `None` if there is, or if packets do not wait for it.
    fn full_until(&mut self, at_ns: u64) -> Option<u64> {
        if self.holds_up { self.queue.full_until(at_ns) } else { None }
    }

    /// Adds a packet of the stream at this position, once or twice.
    pub fn add(&mut self, position: u32, due_ns: u64, twice: bool, packet: Packet) {
        let Packet { sequence, samples, bytes, tried_ns } = packet;
        let due_ns = if self.holds_up { self.take(due_ns, bytes, samples) } else { due_ns };
        for copy in 0..=u64::from(twice) {
            let order = sequence * 2 + copy * 2 * samples;
            let warm_up = false;
            self.arrivals.push(Arrival {
                due_ns,
                order,
                position,
                sequence,
                samples,
                bytes,
                tried_ns,
                warm_up,
            });
        }
    }

    /// Reads a packet that arrives at `due_ns`, and processes its samples. Returns when it has been read.
    fn take(&mut self, due_ns: u64, bytes: u64, samples: u64) -> u64 {
        let processing_ns = self.spec.processing_ns.unwrap_or(0).saturating_mul(samples);
        let cost_ns = self.read_ns(bytes, samples).saturating_add(processing_ns);
        self.queue.take(due_ns, cost_ns).saturating_sub(processing_ns)
    }

    /// Returns the CPU time of reading a packet.
    pub fn read_ns(&self, bytes: u64, samples: u64) -> u64 {
        self.host.read_cost(bytes, samples)
    }

    /// Determines when each packet is read, in the order of arrival. Packets without room in the buffer are removed and
    /// counted. A reader that holds up its writers has read them already. Ends a phase.
    pub fn read(&mut self, config: &Config) {
        if self.holds_up {
            return;
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.sort_unstable();
        arrivals.retain_mut(|arrival| {
            let room = self.queue.full_until(arrival.due_ns).is_none();
            if room {
                arrival.due_ns = self.take(arrival.due_ns, arrival.bytes, arrival.samples);
            } else if !arrival.warm_up {
                self.dropped += config.datagrams(arrival.bytes);
            }
            room
        });
        self.arrivals = arrivals;
    }

    /// Returns the time of each arrival that has been read, with the number of its writer and its number of distinct
    /// samples: none in a duplicate or of the warm-up.
    pub fn arrivals(&self) -> impl Iterator<Item = (u16, (u64, u64))> {
        self.arrivals.iter().map(|arrival| {
            // A duplicate has the rank of the next packet.
            let counts = !arrival.warm_up && arrival.order == 2 * arrival.sequence;
            let writer = self.spec.streams[arrival.position as usize].writer;
            (writer, (arrival.due_ns, if counts { arrival.samples } else { 0 }))
        })
    }

    /// Ends the reading at `closed_ns`.
    pub fn close(&mut self, closed_ns: u64) {
        self.arrivals.retain(|arrival| arrival.due_ns <= closed_ns);
    }

    /// Returns what the agent of this reader counts of the stream at this position. `first` is called for each distinct
    /// sample with the time at which its packet was taken and its sequence number.
    pub fn receive(
        &self,
        position: usize,
        design: &Design,
        mut first: impl FnMut(u64, u64),
    ) -> (Received, Option<JoinReception>) {
        let mut reception = self.join.map(Reception::of);
        let stream = &self.spec.streams[position];
        let sizes = stream.size_table();
        let check_every = u64::from(design.check_every.max(1));
        let mut set = SequenceSet::new();
        let mut windows = WindowCounts::new(design.windows, design.measure_ns);
        let (mut first_ns, mut last_ns, mut quickest_ns) = (None, 0, u64::MAX);
        let (mut given, mut warm_up, mut checked_in_full) = (0, 0, 0);
        let (mut given_bytes, mut bytes) = (0, 0);
        for arrival in self.arrivals.iter().filter(|arrival| arrival.position as usize == position) {
            given_bytes += arrival.bytes;
            if arrival.warm_up {
                (given, warm_up) = (given + arrival.samples, warm_up + arrival.samples);
                continue;
            }
            let taken_ns = arrival.due_ns - self.read_ns(arrival.bytes, arrival.samples);
            for sequence in arrival.sequence..arrival.sequence + arrival.samples {
                given += 1;
                if set.insert(sequence) {
                    first_ns.get_or_insert(arrival.due_ns);
                    last_ns = arrival.due_ns;
                    quickest_ns = quickest_ns.min(arrival.due_ns - arrival.tried_ns);
                    bytes += sizes.as_ref().map_or(stream.size_bytes, |sizes| sizes.at(sequence as u32));
                    checked_in_full += u64::from(sequence.is_multiple_of(check_every));
                    windows.count(arrival.due_ns);
                    if let Some(reception) = &mut reception {
                        reception.record(arrival.tried_ns, arrival.due_ns);
                    }
                    first(taken_ns, sequence);
                }
            }
        }
        let received = set.received(stream.writer);
        let received = Received {
            given,
            given_bytes,
            taken: Some(given),
            warm_up,
            checked_in_full,
            bytes,
            first_ns: first_ns.unwrap_or(last_ns),
            last_ns,
            window_ns: windows.window_ns(),
            window_delivered: windows.counts(),
            quickest_ns: if received.delivered > 0 { quickest_ns.cast_signed() } else { 0 },
            arrivals: windows.arrivals(),
            ..received
        };
        (received, reception.map(Reception::report))
    }

    /// Returns the CPU time of all packets of the measurement. Processing is not CPU time of the middleware.
    pub fn reading_ns(&self) -> u64 {
        let measured = self.arrivals.iter().filter(|arrival| !arrival.warm_up);
        measured.map(|arrival| self.read_ns(arrival.bytes, arrival.samples)).sum()
    }
}

/// Counts of a writer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentSample {
    /// Number of accepted samples.
    pub accepted: u64,
    pub wire_bytes: u64,
    pub wire_packets: u64,
    /// Samples accepted in the warm-up.
    pub warm_up: u64,
}

/// Writer of an endpoint, with its server and its ways to the readers.
pub(crate) struct Link {
    /// Index of its endpoint.
    pub endpoint: usize,
    pub spec: WriterSpec,
    /// Size of each sample; `None` if all have one.
    sizes: Option<SizeTable>,
    pub flow: Flow,
    pub config: Arc<Config>,
    host: HostModel,
    /// Its readers, by their index in the network, and the position of its stream in each.
    pub readers: Vec<(usize, u32)>,
    multicast: bool,
    sent: SentSample,
    /// Samples kept for a reader that joins late.
    pub kept: Option<WriterHistory>,
}

impl Link {
    /// Starts a phase: what was sent before it is the warm-up. Packets in transit remain in the link.
    pub fn begin(&mut self) {
        self.sent = SentSample { warm_up: self.sent.accepted, ..SentSample::default() };
        self.kept = None;
    }

    /// Returns the outcome of a packet offered at the time `at`, and the time of its acceptance.
    fn offer(&mut self, readers: &mut [Reader], mut at: u64, end: u64, bytes: u64) -> (SampleOutcome, u64) {
        loop {
            let no_room = self.readers.iter().find_map(|(reader, _)| readers[*reader].full_until(at));
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
    pub fn send(&mut self, readers: &mut [Reader], tried: u64, end: u64, samples: u64) -> Option<u64> {
        let sequence = self.sent.accepted;
        let bytes = (sequence..sequence + samples).map(|sequence| self.size(sequence)).sum();
        let (fate, at) = self.offer(readers, tried, end, bytes);
        let packet = Packet { sequence, samples, bytes, tried_ns: tried };
        let mut transmissions = 0;
        match fate {
            SampleOutcome::Full { .. } => return None,
            SampleOutcome::Dropped => {}
            SampleOutcome::Lost | SampleOutcome::Comes { .. } => {
                transmissions += self.copies();
                for ((reader, position), outcome) in self.readers.iter().zip(self.flow.outcomes()) {
                    if readers[*reader].is_away(tried) {
                        continue;
                    }
                    if let SampleOutcome::Comes { due_ns, twice, retransmissions } = outcome {
                        transmissions += u64::from(retransmissions);
                        readers[*reader].add(*position, due_ns, twice, packet);
                    }
                }
            }
        }
        self.keep(readers, packet);
        let (bytes, packets) = self.on_wire(bytes);
        self.sent.wire_bytes += transmissions * bytes;
        self.sent.wire_packets += transmissions * packets;
        self.sent.accepted += samples;
        Some(at)
    }

    /// Keeps a packet for a reader that has not joined; hands the kept ones over when it has.
    fn keep(&mut self, readers: &mut [Reader], packet: Packet) {
        let late = self.readers.iter().copied().find(|(reader, _)| {
            let join = readers[*reader].join;
            join.is_some_and(|join| join.is_late)
        });
        let Some((reader, position)) = late else { return };
        let kept = self.kept.get_or_insert_with(|| WriterHistory::of(&self.spec.qos));
        if readers[reader].is_away(packet.tried_ns) {
            kept.keep(packet);
            return;
        }
        let joined_ns = readers[reader].join.map_or(0, |join| join.joined_ns);
        for packet in kept.replay() {
            readers[reader].add(position, joined_ns, false, packet);
        }
    }

    /// Returns bytes and datagrams of one copy of a packet with this payload on the wire.
    pub fn on_wire(&self, bytes: u64) -> (u64, u64) {
        self.host.on_wire(&self.config, bytes)
    }

    /// Returns the size of a sample in bytes.
    fn size(&self, sequence: u64) -> u64 {
        self.sizes.as_ref().map_or(self.spec.stream.size_bytes, |sizes| sizes.at(sequence as u32))
    }

    /// Returns the number of copies of a packet on the wire.
    pub fn copies(&self) -> u64 {
        if self.multicast { 1 } else { self.readers.len() as u64 }
    }

    /// Returns the number of samples in a full packet.
    pub fn samples(&self) -> u64 {
        samples_per_packet(self.spec.batch_bytes, self.spec.stream.size_bytes)
    }

    /// Returns the CPU time of the writer for a sample in a full packet.
    pub fn write_ns(&self, sequence: u64) -> u64 {
        self.host.write_cost(self.size(sequence), self.samples())
    }

    /// Returns the counts of the writer.
    pub const fn sent(&self) -> SentSample {
        self.sent
    }
}

/// Writers and readers of a run, in the order of its endpoints.
pub(crate) struct Network {
    pub links: Vec<Link>,
    pub readers: Vec<Reader>,
}

impl Network {
    /// Creates the idle network of a topology that reuses this memory. `middleware` configures a
    /// server whose times have a factor, for packets of that payload in bytes; `flow` creates that of the writer with an
    /// index.
    pub fn new(
        topology: &RunTopology,
        host: &HostModel,
        multicast: bool,
        middleware: impl Fn(f64, u64) -> Arc<Config>,
        flow: impl Fn(&Arc<Config>, u64) -> Flow,
        memory: &mut Vec<Vec<Arrival>>,
    ) -> Self {
        let factors: Vec<f64> = topology.endpoints.iter().map(|of| host.factor_of(&of.id)).collect();
        let mut readers = Vec::new();
        for (endpoint, of) in topology.endpoints.iter().enumerate() {
            for spec in &of.readers {
                let memory = memory.pop().unwrap_or_default();
                readers.push(Reader::new(endpoint, spec, host.slowed(factors[endpoint]), memory));
            }
        }
        let mut links = Vec::new();
        for (endpoint, of) in topology.endpoints.iter().enumerate() {
            for spec in &of.writers {
                let size = spec.stream.size_bytes;
                let payload =
                    samples_per_packet(spec.batch_bytes, size) as f64 * spec.stream.mean_size_bytes();
                let config = middleware(factors[endpoint], payload.round() as u64);
                let mut reached = Vec::new();
                for (index, reader) in
                    readers.iter().enumerate().filter(|(_, of)| of.spec.topic == spec.topic)
                {
                    let streams = &reader.spec.streams;
                    let expected = streams.iter().position(|stream| stream.writer == spec.stream.writer);
                    reached.extend(expected.map(|position| (index, position as u32)));
                }
                let of_readers = reached.iter().map(|(reader, _)| factors[readers[*reader].endpoint]);
                let flow = flow(&config, links.len() as u64).to_readers(of_readers, multicast);
                links.push(Link {
                    endpoint,
                    spec: spec.clone(),
                    sizes: spec.stream.size_table(),
                    flow,
                    config,
                    host: host.slowed(factors[endpoint]),
                    readers: reached,
                    multicast,
                    sent: SentSample::default(),
                    kept: None,
                });
            }
        }
        Self { links, readers }
    }

    /// Returns the memory for the next run.
    pub fn into_arrivals(self) -> Vec<Vec<Arrival>> {
        self.readers.into_iter().map(|reader| reader.arrivals).collect()
    }
}

/// Returns the number of samples of this size in one packet.
pub(crate) fn samples_per_packet(batch_bytes: u64, size_bytes: u64) -> u64 {
    (batch_bytes / size_bytes.max(1)).max(1)
}
