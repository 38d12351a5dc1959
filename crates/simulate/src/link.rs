//! Simulated links: each writer with its server and its ways to the readers.

use std::sync::Arc;

use collector::TraceFiles;
use experiment::{RunTopology, SizeTable, WriterSpec};
use sim_model::{Config, Flow, SampleOutcome};

use crate::{
    arrival::Arrival,
    host_model::HostModel,
    late_join::{Packet, WriterHistory},
    reader::Reader,
};

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
    /// Counts of the writer.
    pub sent: SentSample,
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
        traces: &TraceFiles,
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
                let host = host.slowed(factors[endpoint]);
                readers.push(Reader::new(endpoint, spec, traces, host, memory));
            }
        }
        let mut links = Vec::new();
        for (endpoint, of) in topology.endpoints.iter().enumerate() {
            for spec in &of.writers {
                let size = spec.stream.size_bytes;
                let payload =
                    samples_per_packet(spec.batch_bytes, size) as f64 * spec.stream.flow_sizes().mean_bytes();
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
                    sizes: spec.stream.flow_sizes().table(&traces.of_stream(&spec.stream)),
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
