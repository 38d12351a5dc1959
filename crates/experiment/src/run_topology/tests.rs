use driver_abi::description::ReceiveMode;

use super::*;
use crate::factors::{Batching, load::Load, rate::Rate, topology::Topology};

fn run_topology(workload: Workload, probed: bool, change: impl FnOnce(&mut Factors)) -> RunTopology {
    let mut factors = Factors { driver: "a+b".to_owned(), workload, ..Factors::default() };
    change(&mut factors);
    RunTopology::new(&factors, &Pin::Cores(vec![1], vec![2, 3]), probed).in_run("run-7")
}

/// Returns the topics of the writers and of the readers of an endpoint.
fn topics(endpoint: &Endpoint) -> [Vec<&str>; 2] {
    [
        endpoint.writers.iter().map(|writer| writer.topic.as_str()).collect(),
        endpoint.readers.iter().map(|reader| reader.topic.as_str()).collect(),
    ]
}

#[test]
fn pings_and_echoes_have_a_topic_each() {
    let RunTopology { endpoints } = run_topology(Workload::Latency, false, |_| {});
    let [pinger, echo] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!(
        (pinger.id.as_str(), pinger.driver.as_str(), &pinger.place.cpus),
        ("pinger", "a", &Some(vec![1]))
    );
    assert_eq!((echo.id.as_str(), echo.driver.as_str(), &echo.place.cpus), ("echo", "b", &Some(vec![2, 3])));
    assert_eq!(topics(pinger), [["run_7_out"], ["run_7_back"]]);
    assert_eq!(topics(echo), [["run_7_back"], ["run_7_out"]]);
    // An echo has the header of its ping.
    assert_eq!(echo.writers[0].stream, pinger.writers[0].stream);
    assert_eq!(pinger.readers[0].streams, std::slice::from_ref(&pinger.writers[0].stream));
}

#[test]
fn each_participant_knows_how_many_there_are() {
    for (topology, expected) in [
        (Topology::PAIR, 2),
        (Topology::Mesh { writers: 2, readers: 40 }, 42),
        (Topology::Ring { nodes: 5 }, 5),
        (Topology::FullMesh { participants: 100 }, 100),
    ] {
        let run_topology = run_topology(Workload::Latency, false, |factors| factors.topology = topology);
        let counts: Vec<_> = run_topology.endpoints.iter().map(|of| of.participant.participants).collect();
        assert_eq!(counts, vec![Some(expected); expected as usize]);
    }
}

#[test]
fn each_flow_has_a_topic_and_a_writer_number_of_its_own() {
    let load = Load::Constant { rate: Rate::per_second(10) };
    let flow = |name: &str, size_bytes| Flow::new(name, size_bytes, load.clone());
    let flows = vec![flow("a", 64), flow("b", 128)];
    let RunTopology { endpoints } = run_topology(Workload::Paced, false, |factors| factors.flows = flows);
    let [writer, reader] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!(topics(writer)[0], ["run_7_out", "run_7_out_2"]);
    assert_eq!(topics(reader)[1], ["run_7_out", "run_7_out_2"]);
    let streams: Vec<_> =
        writer.writers.iter().map(|writer| (writer.stream.writer, writer.stream.size_bytes)).collect();
    assert_eq!(streams, [(1, 64), (2, 128)]);
    for (writer, reader) in writer.writers.iter().zip(&reader.readers) {
        assert_eq!(reader.streams, std::slice::from_ref(&writer.stream));
        assert_eq!(writer.stream.load, Some(load.clone()));
    }
    let names: Vec<_> = reader.entities().map(|(name, _)| name).collect();
    assert_eq!(names, ["reader", "reader-2"]);
}

#[test]
fn probes_are_echoed_without_batches_and_without_polling() {
    let batched = |factors: &mut Factors| {
        (factors.batch_bytes, factors.batching) = (8192, Batching::Application);
        factors.driver = "a".to_owned();
        factors.receive = ReceiveMode::Polling;
    };
    let RunTopology { endpoints } = run_topology(Workload::Throughput, true, batched);
    let [writer, reader] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!((writer.writers[0].batch_bytes, reader.writers[0].batch_bytes), (8192, 0));
    assert_eq!(
        (reader.readers[0].receive, writer.readers[0].receive),
        (ReceiveMode::Polling, ReceiveMode::Waitset)
    );
    assert!(reader.readers[0].unpacks_batches && !writer.readers[0].unpacks_batches);
    assert_eq!(writer.writers[0].stream.load, None);
    // The middleware of another driver unpacks them itself.
    let pair = run_topology(Workload::Throughput, false, |factors| {
        batched(factors);
        factors.driver = "a+b".to_owned();
    });
    assert!(!pair.endpoints[1].readers[0].unpacks_batches);
    assert!(pair.endpoints.iter().all(|endpoint| endpoint.entities().count() == 1));
}

fn of_topology(workload: Workload, writers: u16, readers: u16) -> RunTopology {
    run_topology(workload, false, |factors| factors.topology = Topology::Mesh { writers, readers })
}

fn ids(run_topology: &RunTopology) -> Vec<&str> {
    run_topology.endpoints.iter().map(|endpoint| endpoint.id.as_str()).collect()
}

#[test]
fn every_reader_expects_the_samples_of_every_writer() {
    let run_topology = of_topology(Workload::Throughput, 3, 2);
    assert_eq!(ids(&run_topology), ["writer-1", "writer-2", "writer-3", "reader-1", "reader-2"]);
    let numbers: Vec<u16> =
        run_topology.driving().map(|(_, writer)| writer.writers[0].stream.writer).collect();
    assert_eq!(numbers, [1, 2, 3]);
    for (_, reader) in run_topology.serving() {
        assert_eq!((reader.driver.as_str(), &reader.place.cpus), ("b", &Some(vec![2, 3])));
        let expected: Vec<u16> = reader.readers[0].streams.iter().map(|stream| stream.writer).collect();
        assert_eq!(expected, [1, 2, 3]);
    }
    let topic = &run_topology.endpoints[0].writers[0].topic;
    let topics = run_topology.topics();
    assert_eq!(topics.readers(topic), [(3, 0), (4, 0)]);
    assert_eq!((topics.writers(topic).len(), topics.writers("other").len()), (3, 0));
}

#[test]
fn flows_of_several_writers_have_numbers_of_their_own() {
    let load = Load::Constant { rate: Rate::per_second(10) };
    let flow = |name: &str| Flow::new(name, 64, load.clone());
    let flows = vec![flow("a"), flow("b")];
    let run_topology = run_topology(Workload::Paced, false, |factors| {
        (factors.flows, factors.topology) = (flows, Topology::Mesh { writers: 2, readers: 1 });
    });
    let of_writer = |index: usize| -> Vec<u16> {
        run_topology.endpoints[index].writers.iter().map(|writer| writer.stream.writer).collect()
    };
    assert_eq!([of_writer(0), of_writer(1)], [[1, 2], [3, 4]]);
    let expected: Vec<Vec<u16>> = (run_topology.endpoints[2].readers.iter())
        .map(|reader| reader.streams.iter().map(|stream| stream.writer).collect())
        .collect();
    assert_eq!(expected, [[1, 3], [2, 4]], "each topic has a flow of each writer");
}

#[test]
fn first_reader_of_pings_echoes_and_the_others_receive() {
    let run_topology = of_topology(Workload::Latency, 1, 3);
    assert_eq!(ids(&run_topology), ["pinger", "echo", "reader-1", "reader-2"]);
    let topics = run_topology.topics();
    assert_eq!((topics.readers("run_7_back"), topics.writers("run_7_back").len()), (&[(0, 0)][..], 1));
    assert_eq!(topics.readers("run_7_out").len(), 3);
}

#[test]
fn first_writer_probes_and_first_reader_echoes() {
    for workload in [Workload::Throughput, Workload::Paced] {
        let run_topology = run_topology(workload, true, |factors| {
            factors.topology = Topology::Mesh { writers: 2, readers: 3 };
            factors.all_readers_echo = true;
        });
        assert_eq!(ids(&run_topology), ["writer-1", "writer-2", "reader-1", "reader-2", "reader-3"]);
        let echoes: Vec<bool> = run_topology.endpoints.iter().map(Endpoint::has_echoes).collect();
        assert_eq!(echoes, [true, false, true, false, false]);
        let topics = run_topology.topics();
        assert_eq!(topics.readers("run_7_back"), [(0, 0)]);
        assert_eq!(topics.writers("run_7_back"), [(2, 0)]);
        let first = &run_topology.endpoints[0];
        assert_eq!(first.readers[0].streams, std::slice::from_ref(&first.writers[0].stream));
        assert_eq!(run_topology.endpoints[2].readers[0].streams[0], first.writers[0].stream);
    }
}

#[test]
fn each_node_of_a_ring_reads_the_topic_of_the_node_before_it() {
    let ring =
        |nodes| run_topology(Workload::Latency, false, |factors| factors.topology = Topology::Ring { nodes });
    let three = ring(3);
    assert_eq!(ids(&three), ["node-1", "node-2", "node-3"]);
    let of: Vec<_> = three.endpoints.iter().map(topics).collect();
    assert_eq!(of[0], [["run_7_hop"], ["run_7_hop_3"]]);
    assert_eq!(of[1], [["run_7_hop_2"], ["run_7_hop"]]);
    assert_eq!(of[2], [["run_7_hop_3"], ["run_7_hop_2"]]);
    let roles: Vec<_> = three.endpoints.iter().map(|node| (node.role, node.driver.as_str())).collect();
    assert_eq!(roles, [(Role::Pinger, "a"), (Role::Echo, "b"), (Role::Echo, "b")]);
    // All carry the samples of the first node, and each has one reader.
    for node in &three.endpoints {
        assert_eq!(node.writers[0].stream, three.endpoints[0].writers[0].stream);
        assert_eq!(node.readers[0].streams, std::slice::from_ref(&node.writers[0].stream));
        assert_eq!(three.topics().readers(&node.writers[0].topic).len(), 1);
    }
    assert_eq!(three.connections_of("node-3"), ["from node-2 to node-3", "from node-3 to node-1"]);
    // A ring of two nodes is a pinger and its echo.
    let pair = run_topology(Workload::Latency, false, |_| {});
    for (node, of_pair) in ring(2).endpoints.iter().zip(&pair.endpoints) {
        assert_eq!((node.role, &node.driver), (of_pair.role, &of_pair.driver));
        assert_eq!(node.writers[0].qos, of_pair.writers[0].qos);
        assert_eq!(node.readers[0].receive, of_pair.readers[0].receive);
    }
}

#[test]
fn each_entity_of_a_full_mesh_matches_one_of_every_participant() {
    let RunTopology { endpoints } = run_topology(Workload::Discovery, false, |factors| {
        factors.topology = Topology::FullMesh { participants: 3 };
        factors.discovery.endpoints = 2;
    });
    let ids: Vec<_> =
        endpoints.iter().map(|endpoint| (endpoint.id.as_str(), endpoint.driver.as_str())).collect();
    assert_eq!(ids, [("participant-1", "a"), ("participant-2", "b"), ("participant-3", "a")]);
    for endpoint in &endpoints {
        assert_eq!(topics(endpoint), [["run_7_mesh", "run_7_mesh_2"], ["run_7_mesh", "run_7_mesh_2"]]);
        assert_eq!(endpoint.place.cpus, Some(vec![1, 2, 3]));
        assert!(endpoint.readers.iter().all(|reader| reader.streams.len() == 3));
    }
    let run_topology = RunTopology { endpoints };
    assert_eq!(run_topology.topics().readers("run_7_mesh_2"), [(0, 1), (1, 1), (2, 1)]);
    let mut numbers: Vec<u16> =
        run_topology.endpoints.iter().flat_map(|of| &of.writers).map(|writer| writer.stream.writer).collect();
    numbers.dedup();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert_eq!((run_topology.driving().count(), run_topology.dispensable()), (3, Vec::new()));
}

#[test]
fn others_have_traffic_without_some_endpoints() {
    let groups = |run_topology: &RunTopology| -> Vec<(Vec<String>, usize)> {
        let group = |of: Dispensable| {
            (of.endpoints.iter().map(|index| run_topology.endpoints[*index].id.clone()).collect(), of.most)
        };
        run_topology.dispensable().into_iter().map(group).collect()
    };
    let named = |ids: &[&str], most: usize| (ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), most);
    let readers = named(&["reader-1", "reader-2", "reader-3"], 2);
    assert_eq!(groups(&of_topology(Workload::Throughput, 1, 3)), [readers]);
    let writers = named(&["writer-1", "writer-2", "writer-3"], 2);
    assert_eq!(groups(&of_topology(Workload::Paced, 3, 1)), [writers]);
    let mesh = [named(&["reader-1", "reader-2"], 1), named(&["writer-1", "writer-2"], 1)];
    assert_eq!(groups(&of_topology(Workload::Paced, 2, 2)), mesh);
    assert_eq!(groups(&of_topology(Workload::Latency, 1, 3)), [named(&["reader-1", "reader-2"], 2)]);
    let echoes = run_topology(Workload::Latency, false, |factors| {
        factors.topology = Topology::Mesh { writers: 1, readers: 3 };
        factors.all_readers_echo = true;
    });
    assert_eq!(groups(&echoes), [named(&["echo-1", "echo-2", "echo-3"], 2)]);
    for topology in [Topology::PAIR, Topology::Ring { nodes: 4 }] {
        let run_topology = run_topology(Workload::Latency, false, |factors| factors.topology = topology);
        assert_eq!(groups(&run_topology), [], "{topology}");
    }
}

#[test]
fn each_echoing_reader_has_a_topic_of_its_own() {
    let run_topology = run_topology(Workload::Latency, false, |factors| {
        factors.topology = Topology::Mesh { writers: 1, readers: 3 };
        factors.all_readers_echo = true;
    });
    assert_eq!(ids(&run_topology), ["pinger", "echo-1", "echo-2", "echo-3"]);
    let back = ["run_7_back", "run_7_back_2", "run_7_back_3"];
    let [out, echoes] = topics(&run_topology.endpoints[0]);
    assert_eq!((out.as_slice(), echoes.as_slice()), (&["run_7_out"][..], &back[..]));
    let names: Vec<&str> = run_topology.endpoints[0].entities().map(|(name, _)| name).collect();
    assert_eq!(names, ["writer", "reader", "reader-2", "reader-3"]);
    for ((_, echo), back) in run_topology.serving().zip(back) {
        assert_eq!(topics(echo), [vec![back], vec!["run_7_out"]]);
        assert_eq!(echo.entities().map(|(name, _)| name).collect::<Vec<_>>(), ["writer", "reader"]);
    }
}

/// Returns the number of the process of each endpoint.
fn processes(run_topology: &RunTopology) -> Vec<u32> {
    run_topology.endpoints.iter().map(|endpoint| endpoint.process).collect()
}

#[test]
fn writers_share_processes_and_readers_have_their_own() {
    let mesh = Topology::Mesh { writers: 4, readers: 2 };
    for (per_process, expected) in
        [(None, [1, 2, 3, 4, 5, 6]), (Some(2), [1, 1, 2, 2, 3, 4]), (Some(4), [1, 1, 1, 1, 2, 3])]
    {
        let run_topology = run_topology(Workload::Throughput, false, |factors| {
            (factors.topology, factors.writers_per_process) = (mesh, per_process);
        });
        assert_eq!(processes(&run_topology), expected);
        let alone = of_topology(Workload::Throughput, 4, 2);
        let without = |run_topology: &RunTopology| {
            let endpoints = run_topology.endpoints.iter().map(|of| Endpoint { process: 0, ..of.clone() });
            endpoints.collect::<Vec<_>>()
        };
        assert_eq!(without(&run_topology), without(&alone), "only the process differs");
    }
    // Nothing but streams has several writers in a process.
    let pinger = run_topology(Workload::Latency, false, |factors| factors.writers_per_process = Some(2));
    assert_eq!(processes(&pinger), [1, 2]);
}

#[test]
fn participants_share_processes_with_one_driver_each() {
    let run_topology = run_topology(Workload::Discovery, false, |factors| {
        factors.topology = Topology::FullMesh { participants: 8 };
        factors.discovery.participants_per_process = 4;
    });
    assert_eq!(processes(&run_topology), [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(run_topology.processes(), [[0, 1, 2, 3], [4, 5, 6, 7]]);
    let drivers: Vec<&str> = run_topology.endpoints.iter().map(|of| of.driver.as_str()).collect();
    assert_eq!(drivers, ["a", "a", "a", "a", "b", "b", "b", "b"]);
}
