//! Topics among which a writing endpoint spreads its samples.

use experiment::{Load, Rate, RunTopology};

use crate::{ids, plan, rejected};

fn paced(more: &str) -> String {
    format!("question = \"?\"\nworkload = \"paced\"\n[factors]\ndriver = \"dds\"\nsize = 64\n{more}\n")
}

#[test]
fn topics_take_turns_and_have_a_writer_and_a_reader_each() {
    let experiment = plan(&paced("rate = \"1000/s\"\ntopics = [1, 4]\ntopology = \"2-1\""), &[]);
    assert_eq!(
        ids(&experiment),
        ["dds/udp4/paced/2-1/64/rate-1000", "dds/udp4/paced/2-1/topics-4/64/rate-1000"]
    );
    let topology = |cell: usize| RunTopology::of(&experiment.cells[cell].factors, &experiment.design);
    let one = topology(0);
    assert_eq!((one.endpoints[0].writers.len(), one.endpoints[2].readers.len()), (1, 1));
    assert_eq!(one.endpoints[0].writers[0].stream.delay_ns, 0);
    let four = topology(1);
    let load = Some(Load::Constant { rate: Rate { samples: 1_000, period_ns: 4_000_000_000 } });
    for (writing, first) in [(0, 1), (1, 5)] {
        let writers = &four.endpoints[writing].writers;
        let topics: Vec<&str> = writers.iter().map(|writer| writer.topic.as_str()).collect();
        assert_eq!(topics, ["out", "out_2", "out_3", "out_4"]);
        for (topic, writer) in writers.iter().enumerate() {
            assert_eq!(usize::from(writer.stream.writer), first + topic);
            assert_eq!((&writer.stream.load, writer.stream.delay_ns), (&load, topic as u64 * 1_000_000));
        }
    }
    // Each reader hears the writer of its topic in both endpoints.
    for (topic, reader) in four.endpoints[2].readers.iter().enumerate() {
        let heard: Vec<usize> = reader.streams.iter().map(|stream| stream.writer.into()).collect();
        assert_eq!(heard, [1 + topic, 5 + topic]);
    }
    // The load of the cell is that of all topics.
    let load = experiment.cells[1].factors.load.clone().expect("a load");
    assert_eq!(load.planned(1_000_000_000), Some(1_000));
}

#[test]
fn loads_that_are_not_divided_among_topics_are_rejected() {
    for (text, sets, error) in [
        (paced("rate = 10\ntopics = 0"), &[][..], "f.toml:7:10: `topics = 0` is out of range"),
        (paced("rate = 10\ntopics = 1001"), &[], "f.toml:7:10: `topics = 1001` is out of range"),
        (
            paced("topics = 2"),
            &["workload=throughput"],
            "f.toml:6:10: `topics` has an effect on the workload `paced` only",
        ),
        (
            paced("topics = 2\ntrace = \"all.txt\""),
            &["design.measure=1s"],
            "f.toml:6:10: the samples of a trace are not",
        ),
        (
            paced("rate = \"10/100ms\"\narrival = \"burst\"\ntopics = 4"),
            &[],
            "f.toml:8:10: the bursts of `10/100ms` cannot be divided evenly among 4 topics",
        ),
        (
            paced("rate = \"10/s\"\ntopics = 2"),
            &["design.probe_every=200"],
            "--set design.probe_every=200: echo probes",
        ),
    ] {
        let found = rejected(&text, sets);
        assert!(found.0.starts_with(error), "{error}: {found:?}");
        assert!(!found.2.is_empty(), "{found:?}");
    }
    let bursts = plan(&paced("rate = \"10/100ms\"\narrival = \"burst\"\ntopics = 5"), &[]);
    let topology = RunTopology::of(&bursts.cells[0].factors, &bursts.design);
    let two = Some(Load::Burst { rate: Rate { samples: 2, period_ns: 100_000_000 } });
    assert!(topology.endpoints[0].writers.iter().all(|writer| writer.stream.load == two));
}
