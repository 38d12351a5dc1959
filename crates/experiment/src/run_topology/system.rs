//! Endpoints of a system: processes that write some flows and read others.

use super::{
    Endpoint, Role,
    cell_shape::{CellShape, OUT, number},
    places,
};
use crate::{
    factors::flow::Flow,
    gather::distinct,
    run_topology::{
        entity_name,
        specs::{ReaderSpec, StreamSpec, WriterSpec},
    },
};

/// Returns the endpoints of the processes that the flows name: one for what a process writes, and one for what it reads.
/// Both share its participant.
pub(super) fn endpoints(cell: &CellShape<'_>) -> Vec<Endpoint> {
    let flows = &cell.factors.flows;
    let streams = streams(cell.streams(0), flows);
    let processes = processes(flows);
    let of_role = |role| {
        (1..).zip(&processes).filter_map({
            let streams = &streams;
            move |(number, name)| endpoint(cell, role, (number, name), streams)
        })
    };
    let mut endpoints: Vec<Endpoint> = of_role(Role::Writer).chain(of_role(Role::Reader)).collect();
    let numbers: Vec<u32> = endpoints.iter().map(|endpoint| endpoint.process).collect();
    for endpoint in &mut endpoints {
        if numbers.iter().filter(|number| **number == endpoint.process).count() < 2 {
            continue;
        }
        endpoint.id = format!("{}-{}", endpoint.id, endpoint.role.name());
        endpoint.participant.shared = true;
        endpoint.place.cpus = places::all_cpus(cell.pin);
    }
    endpoints
}

/// Returns the names of the processes, in the order in which the flows name them.
fn processes(flows: &[Flow]) -> Vec<&str> {
    distinct(flows.iter().flat_map(|flow| flow.writing_processes().chain(flow.reading_processes())))
}

/// Stream of a flow, and the name of the process that writes it.
type NamedStream<'f> = (&'f str, StreamSpec);

/// Returns the streams of each flow: one for each process that writes it.
fn streams(of_flows: Vec<StreamSpec>, flows: &[Flow]) -> Vec<Vec<NamedStream<'_>>> {
    let mut writers = 0;
    let mut stream_of = |of_flow: &StreamSpec, index: usize| {
        let writer = number(writers);
        writers += 1;
        let sizes = of_flow.sizes.as_ref().map(|sizes| sizes.of_writer(index));
        StreamSpec { writer, sizes, ..of_flow.clone() }
    };
    let of_flow = |(stream, flow): (StreamSpec, _)| {
        let processes = Flow::writing_processes(flow).enumerate();
        processes.map(|(index, process)| (process, stream_of(&stream, index))).collect()
    };
    of_flows.into_iter().zip(flows).map(of_flow).collect()
}

/// Returns what a process writes or reads; `None` if it does not.
fn endpoint(
    cell: &CellShape<'_>,
    role: Role,
    (process, name): (u32, &str),
    streams: &[Vec<NamedStream<'_>>],
) -> Option<Endpoint> {
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for (index, (flow, written)) in cell.factors.flows.iter().zip(streams).enumerate() {
        if role.drives() {
            let own = written.iter().find(|(process, _)| *process == name);
            writers.extend(own.map(|(_, stream)| WriterSpec {
                name: entity_name("writer", writers.len()),
                ..cell.writer(index, OUT, stream)
            }));
        } else if flow.reading_processes().any(|process| process == name) {
            let streams = written.iter().map(|(_, stream)| stream.clone()).collect();
            readers.push(ReaderSpec {
                name: entity_name("reader", readers.len()),
                ..cell.reader(index, OUT, streams)
            });
        }
    }
    let has_entities = !writers.is_empty() || !readers.is_empty();
    let process_name = Some(name.to_owned());
    let bare = cell.bare(name.to_owned(), role, role.drives());
    has_entities.then_some(Endpoint { process, process_name, writers, readers, ..bare })
}

#[cfg(test)]
mod tests {
    use crate::{
        factors::{Factors, Workload, load::Load, rate::Rate},
        plan::design::Pin,
        run_topology::{RunTopology, role::Role},
    };

    use super::*;

    fn flow(name: &str, from: &[&str], to: &[&str]) -> Flow {
        let names = |of: &[&str]| of.iter().map(|&name| name.to_owned()).collect();
        let load = Load::Constant { rate: Rate::per_second(10) };
        Flow { from: names(from), to: names(to), ..Flow::new(name, 64, load) }
    }

    fn topology(flows: Vec<Flow>) -> RunTopology {
        let factors = Factors { workload: Workload::Paced, flows, ..Factors::default() };
        RunTopology::new(&factors, &Pin::Cores(vec![0], vec![1]), false)
    }

    #[test]
    fn process_that_writes_and_reads_has_two_endpoints_and_one_participant() {
        let topology = topology(vec![
            flow("scan", &["sensor"], &["control", "log"]),
            flow("command", &["control"], &["motor"]),
            flow("status", &["motor", "sensor"], &["log"]),
        ]);
        let endpoints = topology.endpoints.iter().map(|of| {
            let topics =
                |count: usize, topic: &dyn Fn(usize) -> String| (0..count).map(topic).collect::<Vec<_>>();
            (
                of.id.as_str(),
                of.role,
                of.process,
                of.participant.shared,
                topics(of.writers.len(), &|index| of.writers[index].topic.clone()),
                topics(of.readers.len(), &|index| of.readers[index].topic.clone()),
            )
        });
        let names = |of: &[&str]| of.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            endpoints.collect::<Vec<_>>(),
            [
                ("sensor", Role::Writer, 1, false, names(&["out", "out_3"]), Vec::new()),
                ("control-writer", Role::Writer, 2, true, names(&["out_2"]), Vec::new()),
                ("motor-writer", Role::Writer, 4, true, names(&["out_3"]), Vec::new()),
                ("control-reader", Role::Reader, 2, true, Vec::new(), names(&["out"])),
                ("log", Role::Reader, 3, false, Vec::new(), names(&["out", "out_3"])),
                ("motor-reader", Role::Reader, 4, true, Vec::new(), names(&["out_2"])),
            ]
        );
        assert_eq!(topology.processes(), [vec![0], vec![1, 3], vec![2, 5], vec![4]]);
        let participants = topology.endpoints.iter().map(|of| of.participant.participants);
        assert_eq!(participants.collect::<Vec<_>>(), [Some(4); 6]);
        let cpus: Vec<_> =
            topology.endpoints.iter().map(|of| of.place.cpus.clone().unwrap_or_default()).collect();
        assert_eq!(cpus, [vec![0], vec![0, 1], vec![0, 1], vec![0, 1], vec![1], vec![0, 1]]);
        // Each writer of a topic has a number, and its readers expect all of them.
        let log = &topology.endpoints[4];
        let expected = log.readers[1].streams.iter().map(|stream| (stream.writer, stream.flow));
        assert_eq!(expected.collect::<Vec<_>>(), [(3, 2), (4, 2)]);
        assert_eq!(topology.endpoints[2].writers[0].stream.writer, 3);
        assert_eq!(
            log.readers.iter().map(|reader| reader.name.as_str()).collect::<Vec<_>>(),
            ["reader", "reader-2"]
        );
    }

    #[test]
    fn flows_without_names_are_of_the_processes_writer_and_reader() {
        let topology = topology(vec![flow("a", &[], &["log"]), flow("b", &["log"], &[])]);
        let ids: Vec<_> = topology.endpoints.iter().map(|of| of.id.as_str()).collect();
        assert_eq!(ids, ["writer", "log-writer", "log-reader", "reader"]);
        let two = self::topology(vec![flow("a", &[], &[]), flow("b", &[], &[])]);
        assert_eq!(two.endpoints.len(), 2, "without names, one process writes and one reads");
    }
}
