//! Processes that a preflight opens for a cell: of those that open the same kinds of entities only one.

use std::{cmp::Reverse, collections::BTreeSet};

use experiment::{Endpoint, ParticipantSpec, ReaderSpec, RunTopology, StreamSpec, WriterSpec};

/// Maximum number of endpoints of a process that are opened: two show whether they can share it.
const MOST_ENDPOINTS: usize = 2;

/// Returns the endpoints to open, by process. Of the processes of a system each is opened that has a writer or a reader with settings,
/// or with larger samples, than those that are opened have. Of others on a host one is opened for each kind of endpoint.
pub(super) fn opened_processes(topology: &RunTopology) -> Vec<Vec<Endpoint>> {
    let mut processes: Vec<Vec<Endpoint>> = topology
        .processes()
        .into_iter()
        .map(|members| {
            members
                .into_iter()
                .take(MOST_ENDPOINTS)
                .map(|member| topology.endpoints[member].clone())
                .collect()
        })
        .collect();
    let is_of_system = |members: &[Endpoint]| members[0].process_name.is_some();
    // The largest first, because it opens what the others do.
    processes.sort_by_key(|members| Reverse(if is_of_system(members) { extent(members) } else { (0, 0) }));
    let (mut alike, mut opened) = (BTreeSet::new(), Opened::default());
    processes.retain(|members| match is_of_system(members) {
        true => opened.add(members),
        false => {
            let Endpoint { place, driver, writers, readers, .. } = &members[0];
            alike.insert((place.host.clone(), driver.clone(), writers.is_empty(), readers.is_empty()))
        }
    });
    processes
}

/// Returns the size of the largest sample of a process, and its number of entities.
fn extent(members: &[Endpoint]) -> (u64, usize) {
    let entities = || members.iter().flat_map(entities);
    (entities().map(|(_, size)| size).max().unwrap_or(0), entities().count())
}

/// Settings of a writer or reader, without names, numbers, times and the sizes of samples.
#[derive(PartialEq)]
enum EntityKind {
    Writer(WriterSpec),
    Reader(ReaderSpec),
}

/// Kinds of entities of one process, and where it has them.
struct OpenedKind {
    host: String,
    driver: String,
    participant: ParticipantSpec,
    kind: EntityKind,
    /// Size of its largest sample in bytes.
    size_bytes: u64,
}

/// Kinds of entities that are opened.
#[derive(Default)]
struct Opened(Vec<OpenedKind>);

impl Opened {
    /// Adds the entities of a process. Returns whether it has a new kind, or one with larger samples.
    fn add(&mut self, members: &[Endpoint]) -> bool {
        let mut is_new = false;
        for endpoint in members {
            for (kind, size_bytes) in entities(endpoint) {
                let Endpoint { place, driver, participant, .. } = endpoint;
                let known = self.0.iter_mut().find(|known| {
                    known.kind == kind
                        && (&known.host, &known.driver) == (&place.host, driver)
                        && known.participant == *participant
                });
                match known {
                    Some(known) if known.size_bytes >= size_bytes => {}
                    Some(known) => (known.size_bytes, is_new) = (size_bytes, true),
                    None => {
                        let (host, driver) = (place.host.clone(), driver.clone());
                        let participant = participant.clone();
                        self.0.push(OpenedKind { host, driver, participant, kind, size_bytes });
                        is_new = true;
                    }
                }
            }
        }
        is_new
    }
}

/// Returns the kinds of the entities of an endpoint, each with the size of its largest sample in bytes.
fn entities(endpoint: &Endpoint) -> impl Iterator<Item = (EntityKind, u64)> {
    let writers = endpoint.writers.iter().map(|writer| {
        let stream = kind_of_stream(&writer.stream);
        let kind =
            WriterSpec { name: String::new(), topic: String::new(), stream, thread: 0, ..writer.clone() };
        (EntityKind::Writer(kind), writer.stream.size_bytes)
    });
    let readers = endpoint.readers.iter().map(|reader| {
        let mut streams: Vec<StreamSpec> = reader.streams.iter().map(kind_of_stream).collect();
        streams.dedup();
        let kind = ReaderSpec { name: String::new(), topic: String::new(), streams, ..reader.clone() };
        (EntityKind::Reader(kind), reader.max_size_bytes())
    });
    writers.chain(readers)
}

fn kind_of_stream(stream: &StreamSpec) -> StreamSpec {
    StreamSpec {
        writer: 0,
        flow: 0,
        size_bytes: 0,
        // A loaned sample has the type of a fixed size, if sizes are not drawn.
        sizes: stream.sizes.clone().filter(|_| stream.loans),
        load: None,
        delay_ns: 0,
        deadline_ns: None,
        ..stream.clone()
    }
}

#[cfg(test)]
mod tests {
    use experiment::{Design, Factors, Flow, Load, Qos, Rate, Reliability, Workload};

    use super::*;

    /// Creates a system in which process `a-N` writes flow N, with these policies and size, to process `b-N`.
    fn system(flows: impl IntoIterator<Item = (Qos, u64)>) -> RunTopology {
        let flow = |(index, (qos, size)): (usize, (Qos, u64))| {
            let load = Load::Constant { rate: Rate::per_second(1 + index as u64) };
            let (from, to) = (vec![format!("a-{index}")], vec![format!("b-{index}")]);
            Flow { from, to, qos: Some(qos), ..Flow::new(&format!("flow-{index}"), size, load) }
        };
        let factors = Factors {
            driver: "udp".to_owned(),
            workload: Workload::Paced,
            flows: flows.into_iter().enumerate().map(flow).collect(),
            ..Factors::default()
        };
        RunTopology::of(&factors, &Design::default())
    }

    fn names(topology: &RunTopology) -> Vec<String> {
        let name = |members: Vec<Endpoint>| members[0].process_name.clone().expect("a name");
        opened_processes(topology).into_iter().map(name).collect()
    }

    fn qos(reliability: Reliability) -> Qos {
        Qos { reliability: Some(reliability), ..Qos::default() }
    }

    #[test]
    fn processes_that_open_the_same_are_opened_once() {
        let equal = system((0..100).map(|_| (qos(Reliability::Reliable), 64)));
        assert_eq!(equal.processes().len(), 200);
        assert_eq!(names(&equal), ["a-0", "b-0"], "a writing process and a reading one");
    }

    #[test]
    fn process_with_other_policies_is_opened_and_of_equal_ones_that_with_the_largest_samples() {
        let flows = [
            (qos(Reliability::Reliable), 64),
            (qos(Reliability::Reliable), 4096),
            (qos(Reliability::BestEffort), 32),
            (qos(Reliability::Reliable), 1024),
        ];
        assert_eq!(names(&system(flows)), ["a-1", "b-1", "a-2", "b-2"]);
    }

    #[test]
    fn processes_without_names_are_opened_by_kind() {
        let factors =
            Factors { driver: "udp".to_owned(), workload: Workload::Throughput, ..Factors::default() };
        let opened = opened_processes(&RunTopology::of(&factors, &Design::default()));
        let kinds: Vec<bool> = opened.iter().map(|members| members[0].writers.is_empty()).collect();
        assert_eq!(kinds, [false, true]);
    }
}
