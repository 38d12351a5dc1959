//! Endpoints of a cell on one host, from its factors.

use driver_abi::{
    description::ReceiveMode,
    policies::{QosDuration, Reliability},
};

use super::{
    Endpoint, ParticipantSpec, Place, ReaderSpec, Role, RunTopology, StreamSpec, WriterSpec, entity_name,
};
use crate::{
    factors::{Batching, Factors, Workload, flow::Flow, placement::OWN_INTERFACE},
    plan::design::Pin,
    syntax::driver_name::{drivers_of_ends, is_pair},
};

/// Topic of a flow's samples, and of the echoes of one endpoint.
pub(super) const OUT: &str = "out";
const BACK: &str = "back";

/// Source of the topology of a cell.
pub(super) struct CellShape<'a> {
    pub(super) factors: &'a Factors,
    pub(super) pin: &'a Pin,
    /// Whether samples of its stream are echoed.
    pub(super) probed: bool,
}

impl CellShape<'_> {
    /// Returns the numbers of writing and of reading endpoints.
    fn mesh(&self) -> (u16, u16) {
        self.factors.topology.mesh().unwrap_or((1, 1))
    }

    /// Returns the topology in which each reader gets the samples of every writer.
    pub(super) fn writers_and_readers(&self) -> RunTopology {
        let (writers, readers) = self.mesh();
        let roles = match self.factors.workload {
            // The other readers of a ping only receive it.
            Workload::Latency => {
                let echoes = self.echoes();
                [(Role::Pinger, writers), (Role::Echo, echoes), (Role::Reader, readers - echoes)]
            }
            Workload::Throughput | Workload::Paced | Workload::Search | Workload::Discovery => {
                [(Role::Writer, writers), (Role::Echo, 0), (Role::Reader, readers)]
            }
        };
        let endpoints = roles.into_iter().flat_map(|(role, count)| {
            (0..usize::from(count)).map(move |index| {
                let id = if count == 1 {
                    role.name().to_owned()
                } else {
                    format!("{}-{}", role.name(), index + 1)
                };
                (id, role, index)
            })
        });
        RunTopology { endpoints: endpoints.map(|(id, role, index)| self.endpoint(id, role, index)).collect() }
    }

    /// Returns the number of endpoints that echo pings.
    fn echoes(&self) -> u16 {
        if self.factors.all_readers_echo && !self.probed { self.mesh().1 } else { 1 }
    }

    /// Returns the endpoint with this index among those of its role.
    fn endpoint(&self, id: String, role: Role, index: usize) -> Endpoint {
        let written = |writer: usize| self.streams(writer);
        // Of several endpoints, the first writer probes, and the first reader echoes.
        let has_echoes = matches!(role, Role::Pinger | Role::Echo) || self.probed && index == 0;
        let echoed = written(0).into_iter().next().filter(|_| has_echoes);
        let is_last = role == Role::Reader && index + 1 == usize::from(self.mesh().1);
        let processing_ns = self.factors.queues.slow_reader_ns.filter(|_| is_last);
        let (writers, readers) = if role.drives() {
            let own = written(index);
            let writers = own.iter().enumerate().map(|(flow, stream)| self.writer(flow, OUT, stream));
            let echoes = 0..usize::from(self.echoes());
            let of_echo = |echo| echoed.iter().map(move |stream| self.echo_reader(echo, stream));
            (writers.collect(), echoes.flat_map(of_echo).collect())
        } else {
            let all: Vec<_> = (0..usize::from(self.mesh().0)).map(written).collect();
            let flows = all.first().map_or(0, Vec::len);
            let of_flow = |flow: usize| all.iter().map(|streams| streams[flow].clone()).collect();
            (
                echoed.iter().map(|stream| self.echo_writer(index, stream)).collect(),
                (0..flows)
                    .map(|flow| ReaderSpec { processing_ns, ..self.reader(flow, OUT, of_flow(flow)) })
                    .collect(),
            )
        };
        Endpoint { writers, readers, ..self.bare(id, role, role.drives()) }
    }

    /// Returns the streams of the writing endpoint with this index: one per flow and topic.
    pub(super) fn streams(&self, writer: usize) -> Vec<StreamSpec> {
        let factors = self.factors;
        let flows = factors.streams();
        let scheduled = factors.workload == Workload::Paced;
        let mut streams = Vec::new();
        let mut add = |(size_bytes, sizes), load, delay_ns, deadline_ns| {
            let (flow, instances, in_flight) = (streams.len() as u32, factors.instances, factors.in_flight);
            let of_load = StreamSpec { load, delay_ns, deadline_ns, ..StreamSpec::default() };
            let loans = factors.loans;
            streams.push(StreamSpec { flow, size_bytes, sizes, instances, in_flight, loans, ..of_load });
        };
        for Flow { size_bytes, sizes, load, phase_ns, deadline, .. } in &flows {
            let sizes = sizes.as_ref().map(|sizes| sizes.of_writer(writer));
            let load = load.for_writer(writer);
            let load = load.resolved().unwrap_or_else(|| load.clone());
            let topics = factors.topics.unwrap_or(1);
            for (load, delay_ns) in (0..topics).map(|topic| load.of_topic(topic, topics)) {
                let delay_ns = if scheduled { phase_ns + delay_ns } else { 0 };
                let deadline_ns = deadline.filter(|_| scheduled).map(|deadline| deadline.deadline_ns);
                add((*size_bytes, sizes.clone()), scheduled.then_some(load), delay_ns, deadline_ns);
            }
        }
        if flows.is_empty() {
            add((factors.size_bytes, None), None, 0, None);
        }
        let first = writer * streams.len();
        for (index, stream) in streams.iter_mut().enumerate() {
            stream.writer = number(first + index);
        }
        streams
    }

    /// Returns the participant of an endpoint, with the options of the writing one or of the reading one.
    fn participant(&self, writes: bool) -> ParticipantSpec {
        let factors = self.factors;
        ParticipantSpec {
            transport: factors.transport.clone(),
            // The only host has no interface to others.
            interface: if factors.interface == OWN_INTERFACE { "lo" } else { &factors.interface }.to_owned(),
            multicast: factors.multicast,
            vendor_defaults: factors.vendor_defaults,
            options: factors.options_of_end(writes),
            send_buffer_bytes: factors.queues.send_buffer_bytes,
            receive_buffer_bytes: factors.queues.receive_buffer_bytes,
            send_queue_bytes: factors.send_queue_bytes(),
            ..ParticipantSpec::default()
        }
    }

    /// Returns an endpoint on the only host, with the options of the writing driver or of the reading one.
    pub(super) fn bare(&self, id: String, role: Role, of_writers: bool) -> Endpoint {
        let [writing, reading] = drivers_of_ends(&self.factors.driver);
        Endpoint {
            id,
            role,
            process: 0,
            process_name: None,
            driver: if of_writers { writing } else { reading }.to_owned(),
            place: Place::on_the_only_host(self.pin, role),
            participant: self.participant(of_writers),
            writers: Vec::new(),
            readers: Vec::new(),
        }
    }

    pub(super) fn writer(&self, index: usize, way: &str, stream: &StreamSpec) -> WriterSpec {
        let factors = self.factors;
        // A ping leaves at once.
        let batched = factors.workload != Workload::Latency;
        WriterSpec {
            name: entity_name("writer", index),
            topic: topic(way, index),
            qos: factors.writer_qos(index),
            stream: stream.clone(),
            thread: 0,
            batch_bytes: if batched { factors.batch_bytes } else { 0 },
            batching: if batched { factors.batching } else { Batching::None },
            asynchronous: factors.asynchronous,
            loans: stream.loans,
        }
    }

    pub(super) fn reader(&self, index: usize, way: &str, streams: Vec<StreamSpec>) -> ReaderSpec {
        let factors = self.factors;
        let batched = factors.workload != Workload::Latency && factors.batch_bytes > 0;
        ReaderSpec {
            name: entity_name("reader", index),
            topic: topic(way, index),
            qos: factors.reader_qos(index),
            streams,
            // With a pair of drivers, the reader's middleware itself unpacks what the writer's middleware packs.
            unpacks_batches: batched && !is_pair(&factors.driver),
            receive: factors.receive,
            polling_delay_ns: factors.queues.polling_delay_ns,
            processing_ns: None,
            receive_group: factors.queues.receive_group,
            content_filter: factors.content_filter,
        }
    }

    /// Returns a writer as it answers or passes on what a reader of the same endpoint receives.
    pub(super) fn answering(&self, mut writer: WriterSpec) -> WriterSpec {
        writer.answer_from(self.factors.receive, self.factors);
        writer
    }

    /// Returns the writer of the echoes of the endpoint with this index among those that echo: it never batches.
    fn echo_writer(&self, echo: usize, stream: &StreamSpec) -> WriterSpec {
        let writer = self.writer(0, BACK, stream);
        let writer = if self.probed { writer } else { self.answering(writer) };
        WriterSpec {
            topic: topic(BACK, echo),
            batch_bytes: 0,
            batching: Batching::None,
            loans: false,
            ..writer
        }
    }

    /// Returns the reader of these echoes. Echoes of a stream's probes come by waitset, whatever the stream's own
    /// reader does: a polling thread would occupy the core of the writer.
    fn echo_reader(&self, echo: usize, stream: &StreamSpec) -> ReaderSpec {
        let reader = self.reader(0, BACK, vec![stream.clone()]);
        let receive = if self.probed { ReceiveMode::Waitset } else { reader.receive };
        ReaderSpec {
            name: entity_name("reader", echo),
            topic: topic(BACK, echo),
            unpacks_batches: false,
            receive,
            receive_group: None,
            content_filter: None,
            ..reader
        }
    }
}

impl WriterSpec {
    /// Sets how long its writes may block as answers from a reader. In a listener it never waits: the thread of the middleware may be
    /// the one that makes room.
    pub(super) fn answer_from(&mut self, receive: ReceiveMode, factors: &Factors) {
        let is_reliable = self.qos.reliability == Some(Reliability::Reliable);
        self.qos.max_blocking_ns = match receive {
            ReceiveMode::Listener if is_reliable => Some(QosDuration::Ns(0)),
            _ => factors.writer_qos(0).max_blocking_ns,
        };
    }
}

/// Returns the number of the writer with this index.
pub(super) fn number(index: usize) -> u16 {
    u16::try_from(index + 1).unwrap_or(u16::MAX)
}

/// Returns the topic of a flow, or of the echoes of an endpoint, without the name of the run.
pub(super) fn topic(way: &str, index: usize) -> String {
    if index == 0 { way.to_owned() } else { format!("{way}_{}", index + 1) }
}
