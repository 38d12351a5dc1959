use super::*;
use crate::{Flow, Rate};

fn shape(workload: Workload, probed: bool, change: impl FnOnce(&mut Factors)) -> Shape {
    let mut factors = Factors { driver: "a+b".to_owned(), workload, ..Factors::default() };
    change(&mut factors);
    Shape::new(&factors, &Pin::Cores(vec![1], vec![2, 3]), probed).in_run("run-7")
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
    let Shape { endpoints } = shape(Workload::Latency, false, |_| {});
    let [pinger, echo] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!((pinger.id.as_str(), pinger.driver.as_str(), &pinger.cpus), ("pinger", "a", &Some(vec![1])));
    assert_eq!((echo.id.as_str(), echo.driver.as_str(), &echo.cpus), ("echo", "b", &Some(vec![2, 3])));
    assert_eq!(topics(pinger), [["run_7_out"], ["run_7_back"]]);
    assert_eq!(topics(echo), [["run_7_back"], ["run_7_out"]]);
    // An echo has the header of its ping.
    assert_eq!(echo.writers[0].stream, pinger.writers[0].stream);
    assert_eq!(pinger.readers[0].streams, [pinger.writers[0].stream.clone()]);
}

#[test]
fn each_flow_has_a_topic_and_a_writer_number_of_its_own() {
    let load = Load::Constant { rate: Rate::per_second(10) };
    let flow = |name: &str, size_bytes| Flow {
        name: name.to_owned(),
        size_bytes,
        load: load.clone(),
        qos: None,
        qos_of_ends: None,
    };
    let flows = vec![flow("a", 64), flow("b", 128)];
    let Shape { endpoints } = shape(Workload::Paced, false, |factors| factors.flows = flows);
    let [writer, reader] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!(topics(writer)[0], ["run_7_out", "run_7_out_2"]);
    assert_eq!(topics(reader)[1], ["run_7_out", "run_7_out_2"]);
    let streams: Vec<_> =
        writer.writers.iter().map(|writer| (writer.stream.writer, writer.stream.size_bytes)).collect();
    assert_eq!(streams, [(1, 64), (2, 128)]);
    for (writer, reader) in writer.writers.iter().zip(&reader.readers) {
        assert_eq!(reader.streams, [writer.stream.clone()]);
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
    let Shape { endpoints } = shape(Workload::Throughput, true, batched);
    let [writer, reader] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!((writer.writers[0].batch_bytes, reader.writers[0].batch_bytes), (8192, 0));
    assert_eq!(
        (reader.readers[0].receive, writer.readers[0].receive),
        (ReceiveMode::Polling, ReceiveMode::Waitset)
    );
    assert!(reader.readers[0].unpacks_batches && !writer.readers[0].unpacks_batches);
    assert_eq!(writer.writers[0].stream.load, None);
    // The middleware of another driver unpacks them itself.
    let pair = shape(Workload::Throughput, false, |factors| {
        batched(factors);
        factors.driver = "a+b".to_owned();
    });
    assert!(!pair.endpoints[1].readers[0].unpacks_batches);
    assert!(pair.endpoints.iter().all(|endpoint| endpoint.entities().count() == 1));
}
