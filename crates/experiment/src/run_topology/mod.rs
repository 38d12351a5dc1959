//! Topology of a run: its endpoints, and what each of them opens, writes and expects.
//!
//! ```text
//! Factors, Design --RunTopology::of()--> endpoints --(run name, domain, cores)--> configure requests of the agents
//! ```
//!
//! Everything that depends on the factor `topology` of a cell follows from it: the agents of a run and the processes in
//! which they are, their requests, the locators that they exchange, and the flows that its evaluation compares.

mod cell_shape;
mod full_mesh;
mod included;
mod placements;
mod places;
mod processes;
mod ring;
mod role;
mod specs;
mod system;
#[cfg(test)]
mod tests;
mod topics;
mod writers;

pub use self::{
    places::{LOCAL_HOST, Place},
    role::Role,
    specs::{ParticipantSpec, ReaderSpec, StreamSpec, WriterSpec},
    topics::{EntityIndex, Topics},
};
use driver_abi::policies::Qos;

use self::cell_shape::CellShape;
use crate::{
    factors::{
        Factors, Workload,
        discovery::Join,
        flow::{Flow, WRITING_PROCESS},
        topology::Topology,
    },
    plan::{
        design::{Design, Pin},
        experiment::Plan,
    },
};

/// Number of participants for which a driver looks on a host if it is not known.
const USUAL_PARTICIPANTS: u32 = 32;
/// Beginning of the names of transports over connections.
const CONNECTIONS: &str = "tcp";

/// Endpoints of a run. Driving endpoints come before serving ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTopology {
    /// Endpoints.
    pub endpoints: Vec<Endpoint>,
}

/// Endpoint of a run: one participant, with one driver and one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Name, unique in the run: that of the role, with a number from 1 if several endpoints have it; in a ring,
    /// `node-N`.
    pub id: String,
    /// Role.
    pub role: Role,
    /// Number of its process, from 1. Endpoints of one process have the same driver and cores.
    pub process: u32,
    /// Name of its process, if the flows name processes.
    pub process_name: Option<String>,
    /// Name of its driver.
    pub driver: String,
    /// Host and cores.
    pub place: Place,
    /// Participant.
    pub participant: ParticipantSpec,
    /// Writers of its samples; in a role that receives, writers of echoes.
    pub writers: Vec<WriterSpec>,
    /// Readers of samples; in a role that sends, readers of echoes.
    pub readers: Vec<ReaderSpec>,
}

/// Endpoints of which some may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispensable {
    /// Endpoints, by index.
    pub endpoints: Vec<usize>,
    /// Maximum number of them that may be missing.
    pub most: usize,
}

impl Plan {
    /// Returns the topology of each cell.
    #[must_use]
    pub fn run_topologies(&self) -> Vec<RunTopology> {
        self.cells.iter().map(|cell| RunTopology::of(&cell.factors, &self.design)).collect()
    }
}

impl Endpoint {
    /// Returns whether it gets echoes of its samples, or sends them.
    #[must_use]
    pub const fn has_echoes(&self) -> bool {
        !self.writers.is_empty() && !self.readers.is_empty()
    }

    /// Returns its entities: name and requested policies.
    pub fn entities(&self) -> impl Iterator<Item = (&str, Qos)> {
        let writers =
            self.writers.iter().map(|writer| (writer.name.as_str(), writer.qos.clone().of_writers()));
        writers
            .chain(self.readers.iter().map(|reader| (reader.name.as_str(), reader.qos.clone().of_readers())))
    }
}

impl RunTopology {
    /// Returns the topology of the runs of a cell. Its topics are unique within a run: see [`RunTopology::in_run`].
    #[must_use]
    pub fn of(factors: &Factors, design: &Design) -> Self {
        let mut run_topology = Self::new(factors, &design.pin, probe_every(factors, design).is_some());
        run_topology.place(factors, &design.hosts, &design.pin);
        if design.domain.is_some() {
            // A domain that was asked for has participants of others, too: the driver looks for as many as usual, or for twice ours.
            let twice = u32::try_from(2 * run_topology.endpoints.len()).unwrap_or(u32::MAX);
            // Over connections, those that do not exist take no time: a driver that connects two processes rejects more.
            let counts = run_topology.endpoints.len() > 2 && factors.transport.starts_with(CONNECTIONS);
            let twice =
                Some(twice.max(USUAL_PARTICIPANTS)).filter(|count| counts || *count > USUAL_PARTICIPANTS);
            for endpoint in &mut run_topology.endpoints {
                endpoint.participant.participants = twice;
            }
        }
        if factors.instances.is_some() {
            run_topology.streams_mut().for_each(|stream| stream.write_instance = design.write_instance);
        }
        run_topology.set_readers(factors, design);
        run_topology.set_writers(factors, design);
        // A late reader is connected by the only thread that writes.
        if factors.discovery.join != Join::Late {
            for endpoint in run_topology.endpoints.iter_mut().filter(|endpoint| endpoint.role.drives()) {
                let flow = |writer: &WriterSpec| factors.flows.get(writer.stream.flow as usize);
                let written: Vec<&Flow> = endpoint.writers.iter().filter_map(flow).collect();
                let process = endpoint.process_name.as_deref().unwrap_or(WRITING_PROCESS);
                let threads = design.threads.of_flows(process, &written);
                endpoint
                    .writers
                    .iter_mut()
                    .zip(&threads)
                    .for_each(|(writer, thread)| writer.thread = *thread);
            }
        }
        run_topology
    }

    /// Applies the settings of single readers.
    fn set_readers(&mut self, factors: &Factors, design: &Design) {
        let serving = self.endpoints.iter_mut().filter(|endpoint| !endpoint.role.drives());
        for (endpoint, own) in serving.zip(&design.readers) {
            for reader in &mut endpoint.readers {
                (reader.receive, reader.receive_group) = (own.receive, own.receive_group);
                reader.content_filter = own.content_filter;
            }
            if endpoint.role == Role::Echo {
                endpoint.writers.iter_mut().for_each(|writer| writer.answer_from(own.receive, factors));
            }
        }
        for pinger in self.endpoints.iter_mut().filter(|endpoint| endpoint.role == Role::Pinger) {
            for reader in &mut pinger.readers {
                reader.receive = design.echo_receive.unwrap_or(reader.receive);
            }
            // Echoes have the keys of their pings: the filter says which pings an endpoint echoes.
            for (reader, own) in pinger.readers.iter_mut().zip(&design.readers) {
                reader.content_filter = own.content_filter;
            }
        }
    }

    /// Returns the topology of a cell on one host; `probed`: whether samples of its stream are echoed.
    #[must_use]
    pub fn new(factors: &Factors, pin: &Pin, probed: bool) -> Self {
        let shape = CellShape { factors, pin, probed };
        let is_system = factors.is_system();
        let mut run_topology = match factors.topology {
            Topology::Ring { nodes } => shape.ring(nodes),
            Topology::FullMesh { participants } => {
                Self { endpoints: full_mesh::endpoints(&shape, participants) }
            }
            _ if is_system => Self { endpoints: system::endpoints(&shape) },
            _ => shape.writers_and_readers(),
        };
        let participants =
            if is_system { run_topology.processes().len() } else { run_topology.endpoints.len() };
        for endpoint in &mut run_topology.endpoints {
            endpoint.participant.participants = u32::try_from(participants).ok();
        }
        if !is_system {
            run_topology.share_processes(factors.endpoints_per_process());
        }
        run_topology
    }

    /// Returns the topology with the topics of a run, `RUN_TOPIC`. DDS guarantees letters, digits and `_`; some
    /// implementations allow nothing else.
    #[must_use]
    pub fn in_run(mut self, run_name: &str) -> Self {
        let prefix = run_name.replace('-', "_");
        for endpoint in &mut self.endpoints {
            let topics = endpoint.writers.iter_mut().map(|writer| &mut writer.topic);
            for topic in topics.chain(endpoint.readers.iter_mut().map(|reader| &mut reader.topic)) {
                *topic = format!("{prefix}_{topic}");
            }
        }
        self
    }

    /// Returns the streams of all writers and readers.
    pub(crate) fn streams_mut(&mut self) -> impl Iterator<Item = &mut StreamSpec> {
        self.endpoints.iter_mut().flat_map(|endpoint| {
            let written = endpoint.writers.iter_mut().map(|writer| &mut writer.stream);
            written.chain(endpoint.readers.iter_mut().flat_map(|reader| &mut reader.streams))
        })
    }

    /// Returns the endpoints that drive the traffic, with their indices.
    pub fn driving(&self) -> impl Iterator<Item = (usize, &Endpoint)> {
        self.endpoints.iter().enumerate().filter(|(_, endpoint)| endpoint.role.drives())
    }

    /// Returns the endpoints that serve the traffic, with their indices.
    pub fn serving(&self) -> impl Iterator<Item = (usize, &Endpoint)> {
        self.endpoints.iter().enumerate().filter(|(_, endpoint)| !endpoint.role.drives())
    }

    /// Returns the endpoints without which the others still have traffic to measure, in groups: readers and echoes, as long
    /// as one endpoint serves and a pinger gets echoes, and writers, as long as one drives.
    #[must_use]
    pub fn dispensable(&self) -> Vec<Dispensable> {
        let of_role = |role: Role| -> Vec<usize> {
            self.endpoints
                .iter()
                .enumerate()
                .filter(|(_, of)| of.role == role)
                .map(|(index, _)| index)
                .collect()
        };
        let (readers, echoes, writers) = (of_role(Role::Reader), of_role(Role::Echo), of_role(Role::Writer));
        let with_one_left =
            |endpoints: Vec<usize>| Dispensable { most: endpoints.len().saturating_sub(1), endpoints };
        // The echoes of a ring hand the samples on to each other.
        let topics = self.topics();
        let is_of_echo = |(from, _): &EntityIndex| self.endpoints[*from].role == Role::Echo;
        let is_ring = echoes.iter().any(|echo| {
            let mut readers = self.endpoints[*echo].readers.iter();
            readers.any(|reader| topics.writers(&reader.topic).iter().any(is_of_echo))
        });
        let of_readers = if echoes.is_empty() {
            with_one_left(readers)
        } else {
            Dispensable { most: readers.len(), endpoints: readers }
        };
        let of_echoes = if is_ring { None } else { Some(with_one_left(echoes)) };
        let groups = [Some(of_readers), of_echoes, Some(with_one_left(writers))];
        groups.into_iter().flatten().filter(|group| group.most > 0).collect()
    }

    /// Returns the connections of an endpoint's own samples, as text: from each writer to it, and from it to each reader.
    #[must_use]
    pub fn connections_of(&self, id: &str) -> Vec<String> {
        let topics = self.topics();
        let ids = |peers: &[EntityIndex]| -> Vec<&String> {
            peers.iter().map(|(peer, _)| &self.endpoints[*peer].id).collect()
        };
        let Some(endpoint) = self.endpoints.iter().find(|endpoint| endpoint.id == id) else {
            return Vec::new();
        };
        let into = endpoint.readers.iter().flat_map(|reader| ids(topics.writers(&reader.topic)));
        let out = endpoint.writers.iter().flat_map(|writer| ids(topics.readers(&writer.topic)));
        into.map(|from| format!("from {from} to {id}"))
            .chain(out.map(|to| format!("from {id} to {to}")))
            .collect()
    }

    /// Returns the writers and readers by topic.
    #[must_use]
    pub fn topics(&self) -> Topics<'_> {
        Topics::of(self)
    }
}

/// Returns the probe interval of a stream in samples; `None` without probes.
#[must_use]
pub fn probe_every(factors: &Factors, design: &Design) -> Option<u32> {
    let every = design.probe_every_of_size.get(&factors.size_bytes).copied().or(design.probe_every);
    every.filter(|_| factors.workload != Workload::Latency)
}

/// Returns the name of an entity in reports: its kind, from the second one of an endpoint on with a number.
#[must_use]
pub fn entity_name(kind: &str, index: usize) -> String {
    if index == 0 { kind.to_owned() } else { format!("{kind}-{}", index + 1) }
}
