//! Values that a leader chooses: a guest rejects each that would exhaust its memory, and accepts those of ordinary tests.

use control::{Configure, LateJoin, MAX_WINDOWS, Match, MatchedPeers, PayloadBytes, Request};
use experiment::{
    Arrival, KeyFilter, Load, PercentOfMax, Qos, Rate, ReaderSpec, ReceiveGroup, Role, SizeDistribution,
    Sizes, StreamSpec, WriterSpec,
};

use crate::{
    fake_site::{configure, guest},
    leader::{command, launch, rejected, rejection},
};

/// Change of a configuration.
type Change = fn(&mut Configure);

/// Adds a writer of the stream of the first reader, so that a configuration has all fields.
fn with_writer(configure: &mut Configure) -> &mut WriterSpec {
    let stream = stream(configure).clone();
    let reader = &configure.readers[0];
    configure.writers = vec![WriterSpec {
        name: "writer".to_owned(),
        topic: reader.topic.clone(),
        qos: reader.qos.clone(),
        stream,
        ..WriterSpec::default()
    }];
    &mut configure.writers[0]
}

fn stream(configure: &mut Configure) -> &mut StreamSpec {
    &mut configure.readers[0].streams[0]
}

fn reader(configure: &mut Configure) -> &mut ReaderSpec {
    &mut configure.readers[0]
}

/// Sets the QoS of the reader, and the size of its samples.
fn with_qos(configure: &mut Configure, size_bytes: u64, set: impl FnOnce(&mut Qos)) {
    stream(configure).size_bytes = size_bytes;
    set(&mut reader(configure).qos);
}

/// Repeats the stream of the reader, and the reader.
fn repeat(configure: &mut Configure, readers: usize, streams: usize) {
    let stream = stream(configure).clone();
    reader(configure).streams = vec![stream; streams];
    configure.readers = vec![reader(configure).clone(); readers];
}

const POISSON: Load = Load::Poisson { rate: Rate { samples: 1, period_ns: 1000 } };

/// One hostile value for each field that an agent allocates memory for, with the item that the error names, the value and
/// its limit.
const HOSTILE: &[(Change, &str, u64, u64)] = &[
    (
        |all| {
            let distribution = SizeDistribution::Values { values: vec![64; 65], weights: vec![1; 65] };
            stream(all).sizes = Some(Sizes { distribution, seed: 0 });
        },
        "the number of sizes of a stream",
        65,
        64,
    ),
    (|all| all.windows = u32::MAX, "the number of windows", 4_294_967_295, MAX_WINDOWS as u64),
    (
        |all| all.participant.peers = vec!["10.0.0.1".to_owned(); 70_000].into(),
        "the number of peers",
        70_000,
        65_536,
    ),
    (
        |all| all.participant.send_buffer_bytes = Some(1 << 40),
        "the send buffer in bytes",
        1 << 40,
        i32::MAX as u64,
    ),
    (
        |all| all.participant.receive_buffer_bytes = Some(1 << 31),
        "the receive buffer in bytes",
        1 << 31,
        i32::MAX as u64,
    ),
    (|all| all.participant.participants = Some(1 << 20), "the number of participants", 1 << 20, 65_536),
    (|all| repeat(all, 1, 70_000), "the number of entities", 70_000, 65_536),
    (|all| repeat(all, 70_000, 1), "the number of entities", 70_000, 65_536),
    (|all| with_writer(all).name = "w".repeat(256), "the length of the name of a writer", 256, 255),
    (|all| with_writer(all).batch_bytes = 1 << 31, "the size of a batch in bytes", 1 << 31, 1 << 30),
    (
        |all| with_writer(all).stream.in_flight = Some(u32::MAX),
        "the number of samples in flight",
        4_294_967_295,
        1000,
    ),
    (|all| with_writer(all).stream.instances = Some(1 << 30), "the number of instances", 1 << 30, 100_000),
    (
        |all| with_writer(all).stream.size_bytes = 1 << 31,
        "the size of the samples in bytes",
        (1 << 31) + 1024,
        1 << 30,
    ),
    (|all| reader(all).name = "r".repeat(300), "the length of the name of a reader", 300, 255),
    (|all| stream(all).in_flight = Some(1001), "the number of samples in flight", 1001, 1000),
    (|all| stream(all).instances = Some(u32::MAX), "the number of instances", 4_294_967_295, 100_000),
    (|all| stream(all).size_bytes = u64::MAX, "the size of the samples in bytes", u64::MAX, 1 << 30),
    (
        |all| reader(all).receive_group = Some(ReceiveGroup::new(u32::MAX, 1000)),
        "the samples of a receive group",
        4_294_967_295,
        4096,
    ),
    (
        |all| with_qos(all, 1 << 20, |qos| qos.history_depth = Some(i32::MAX)),
        "the history in bytes",
        (i32::MAX as u64) << 20,
        4 << 30,
    ),
    (
        |all| with_qos(all, 1 << 20, |qos| qos.service_history_depth = Some(20_000)),
        "the history in bytes",
        20_000 << 20,
        4 << 30,
    ),
    (
        |all| with_qos(all, 1 << 20, |qos| qos.max_samples = Some(20_000)),
        "the queue of samples in bytes",
        20_000 << 20,
        4 << 30,
    ),
    (
        |all| with_qos(all, 1 << 20, |qos| qos.service_max_samples = Some(20_000)),
        "the queue of samples in bytes",
        20_000 << 20,
        4 << 30,
    ),
    (
        |all| with_qos(all, 1 << 20, |qos| qos.max_samples_per_instance = Some(20_000)),
        "the queue of an instance in bytes",
        20_000 << 20,
        4 << 30,
    ),
    (
        |all| with_qos(all, 1 << 20, |qos| qos.service_max_samples_per_instance = Some(20_000)),
        "the queue of an instance in bytes",
        20_000 << 20,
        4 << 30,
    ),
    (
        |all| with_qos(all, 64, |qos| qos.max_instances = Some(i32::MAX)),
        "the instances of a queue",
        i32::MAX as u64,
        100_000,
    ),
    (
        |all| with_qos(all, 64, |qos| qos.service_max_instances = Some(i32::MAX)),
        "the instances of a queue",
        i32::MAX as u64,
        100_000,
    ),
    (
        |all| with_qos(all, 64, |qos| qos.user_data = Some("u".repeat(2 << 20))),
        "the length of the texts of a QoS",
        (2 << 20) + 1,
        1 << 20,
    ),
    (
        |all| with_qos(all, 64, |qos| qos.partitions = Some(vec![String::new(); 2 << 20])),
        "the length of the texts of a QoS",
        2 << 20,
        1 << 20,
    ),
    (
        |all| {
            all.payload = PayloadBytes::new(&vec![7; 1 << 19]);
            stream(all).size_bytes = 17;
        },
        "the number of samples of a file",
        1 << 19,
        1 << 18,
    ),
];

/// Values within their own limits that together need too much memory.
const TOGETHER: &[Change] = &[
    |all| {
        stream(all).in_flight = Some(1000);
        stream(all).size_bytes = 512 << 20;
    },
    |all| {
        reader(all).receive_group = Some(ReceiveGroup::new(4096, 1000));
        stream(all).size_bytes = 4 << 20;
    },
    |all| {
        stream(all).instances = Some(100_000);
        repeat(all, 1, 6000);
    },
    |all| {
        (all.role, all.windows) = (Role::Pinger, MAX_WINDOWS);
        repeat(all, 100, 1);
    },
    |all| {
        stream(all).load = Some(POISSON);
        repeat(all, 1, 1000);
    },
    |all| {
        let (rate, percent) = (None, PercentOfMax::of_percent(50.0).expect("a percentage"));
        stream(all).load = Some(Load::Share { percent, arrival: Arrival::Poisson, rate });
        repeat(all, 1, 1000);
    },
    |all| {
        all.late_join = Some(LateJoin::Early);
        repeat(all, 1, 1000);
    },
    |all| {
        let writer = with_writer(all).clone();
        all.writers = vec![WriterSpec { batch_bytes: 1 << 30, ..writer }; 5];
    },
];

/// Values of tests with the options of perftest, up to their limits.
const ORDINARY: &[Change] = &[
    |_| {},
    |all| all.windows = 100,
    |all| all.measure_ns = 86_400_000_000_000,
    |all| with_qos(all, 63_000, |qos| (qos.max_samples, qos.history_depth) = (Some(50), Some(1))),
    |all| with_qos(all, 63_000, |qos| qos.max_samples = Some(10_000)),
    |all| with_qos(all, 1024, |qos| qos.max_samples = Some(1_000_000)),
    |all| with_qos(all, 63_000, |qos| (qos.max_samples, qos.max_instances) = (Some(-1), Some(-1))),
    // The shortest queue by default, with the longest samples of two writers.
    |all| with_qos(all, 100 << 20, |qos| qos.max_samples = Some(64)),
    |all| stream(all).size_bytes = 512 << 20,
    |all| stream(all).instances = Some(100_000),
    |all| reader(all).content_filter = Some(KeyFilter { first: 0, last: u32::MAX }),
    |all| {
        all.windows = 100;
        stream(all).load = Some(POISSON);
        stream(all).size_bytes = 63_000;
        repeat(all, 1, 100);
    },
    |all| {
        all.windows = 100;
        repeat(all, 1, 1000);
    },
    |all| {
        stream(all).size_bytes = 8192;
        reader(all).receive_group = Some(ReceiveGroup::new(4096, 100_000_000));
    },
    |all| {
        (all.role, all.windows) = (Role::Pinger, 100);
        with_writer(all).batch_bytes = 65_470;
    },
    |all| all.participant.send_queue_bytes = Some(u64::MAX),
    |all| all.payload = PayloadBytes::new(&vec![7; PayloadBytes::MAX]),
];

#[test]
fn each_hostile_value_is_rejected_by_name() {
    for (change, item, value, most) in HOSTILE {
        assert_eq!(rejected(change), format!("a guest rejects {item}: {value}, at most {most}"));
    }
}

#[test]
fn values_that_together_exhaust_the_memory_are_rejected() {
    for (index, change) in TOGETHER.iter().enumerate() {
        let error = rejected(change);
        assert!(error.starts_with("a guest rejects the memory of the agent in bytes: "), "{index}: {error}");
    }
}

#[test]
fn values_of_ordinary_tests_are_accepted() {
    for (index, change) in ORDINARY.iter().enumerate() {
        let mut configure = configure();
        change(&mut configure);
        let (guest, site, seen) = guest();
        let (agent, _) = launch(&guest, &command()).expect("an agent");
        agent.send(0, &Request::Configure(Box::new(configure))).expect("an answer");
        assert_eq!(site.calls().requests.len(), 1, "{index}: {:?}", seen.texts());
    }
}

#[test]
fn peers_to_match_are_limited() {
    let of = |locators: Vec<String>, entities: usize| {
        let peers = MatchedPeers { count: u32::MAX, locators, endpoints: Vec::new() };
        Request::Match(Match { writers: vec![peers; entities], ..Match::default() })
    };
    for (request, error) in [
        (of(Vec::new(), 200_000), "the number of entities to match: 200000, at most 131072"),
        (of(vec![String::new(); 70_000], 1), "the number of peers to match: 70000, at most 65536"),
        (of(vec!["l".repeat(256)], 1), "the length of a locator: 256, at most 255"),
    ] {
        assert_eq!(rejection(0, &request).0, format!("a guest rejects {error}"));
    }
    let (guest, site, _) = guest();
    let (agent, _) = launch(&guest, &command()).expect("an agent");
    agent.send(0, &of(vec!["10.0.0.1:7400".to_owned(); 100], 10)).expect("an answer");
    assert_eq!(site.calls().requests.len(), 1);
}
