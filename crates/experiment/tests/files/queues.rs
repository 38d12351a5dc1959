//! Sample queues, socket buffers, receive groups and polling delays.

use crate::sample::Characterize;
use experiment::{Queues, ReceiveGroup, ReceiveMode, RunTopology};

use crate::{ids, plan, rejected, sample::characterize, support::drivers, with};

#[test]
fn queues_and_buffers_are_factors_of_either_end() {
    let text = with("send_queue = [10, 100]\nreceive_buffer = [0, \"4MiB\"]\n");
    let experiment = plan(&text, &["factors.size=64", "factors.receive_queue=1000"]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/latency/64/send-queue-10/receive-queue-1000",
            "dds/udp4/latency/64/send-queue-10/receive-queue-1000/receive-buffer-4194304",
            "dds/udp4/latency/64/send-queue-100/receive-queue-1000",
            "dds/udp4/latency/64/send-queue-100/receive-queue-1000/receive-buffer-4194304",
        ]
    );
    let factors = &experiment.cells[1].factors;
    let queues = Queues {
        send_samples: Some(10),
        receive_samples: Some(1000),
        send_buffer_bytes: None,
        receive_buffer_bytes: Some(4 << 20),
        receive_group: None,
        polling_delay_ns: None,
        slow_reader_ns: None,
    };
    assert_eq!(factors.queues, queues);
    // The endpoints differ only in their limit.
    let (writer, reader) = (factors.writer_qos(0), factors.reader_qos(0));
    assert_eq!((writer.max_samples, reader.max_samples), (Some(10), Some(1000)));
    assert_eq!((writer.history, writer.reliability), (reader.history, reader.reliability));
    // Middleware that limits bytes: the octets of 10 samples, each with 8 bytes that DDS puts before them.
    assert_eq!(factors.send_queue_bytes(), Some(10 * (64 + 8)));
    let unaligned = plan(&text, &["factors.size=65"]);
    assert_eq!(unaligned.cells[0].factors.send_queue_bytes(), Some(10 * (68 + 8)));
    // Without the factors, the QoS of both endpoints is unchanged.
    let factors = &plan(&with(""), &[]).cells[0].factors;
    assert_eq!(factors.queues, Queues::default());
    assert_eq!(factors.send_queue_bytes(), None);
    assert_eq!((factors.writer_qos(0), factors.reader_qos(0)), (factors.qos.clone(), factors.qos.clone()));
}

#[test]
fn queues_are_selected_and_compared() {
    let text = with(
        r#"send_queue = [10, 100]
send_buffer = [0, 65536]
exclude = [{ send_queue = 100, send_buffer = 0 }]
include = [{ receive_queue = 5, send_queue = 10, send_buffer = 0, size = 32 }]
[design]
baseline = { send_queue = 10, send_buffer = 0 }
"#,
    );
    let experiment = plan(&text, &["factors.size=32"]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/latency/32/send-queue-10",
            "dds/udp4/latency/32/send-queue-10/send-buffer-65536",
            "dds/udp4/latency/32/send-queue-100/send-buffer-65536",
            "dds/udp4/latency/32/send-queue-10/receive-queue-5",
        ]
    );
    assert_eq!(experiment.design.baseline.len(), 2);
}

#[test]
fn unnamed_driver_without_the_policy_is_excluded() {
    let text = "question = \"?\"\nworkload = \"throughput\"\nfactors = { size = 64, receive_queue = 9 }\n";
    let experiment = plan(text, &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/throughput/64/receive-queue-9"]);
    assert_eq!(
        experiment.notes,
        [
            "driver `bare` does not support policy resource_limits: `receive_queue` cannot be requested; left out"
        ]
    );
    let (error, marked, hint) = rejected(text, &["factors.driver=bare,dds"]);
    assert!(error.contains("does not support policy resource_limits") && marked == "9", "{error} {marked}");
    assert!(hint.contains("`bare` with `receive_buffer`"), "{hint}");
    // Socket buffers need no RESOURCE_LIMITS.
    assert_eq!(ids(&plan(&text.replace("receive_queue", "receive_buffer"), &[])).len(), 2);
}

#[test]
fn invalid_queue_is_rejected_with_its_position() {
    let cases: &[(&str, &str, &str, &str)] = &[
        ("send_queue = 0", "f.toml:7:14: `send_queue = 0` is out of range", "0", "use 1"),
        ("send_queue = -1", "f.toml:7:14: ", "-1", "write a whole number from 0 on"),
        (
            "receive_queue = [5, 3000000000]",
            "f.toml:7:21: `receive_queue = 3000000000` is out",
            "3000000000",
            "use 1",
        ),
        ("receive_queue = [5, 5]", "f.toml:7:21: receive_queue `5` is given twice", "5", "once"),
        ("send_queue = []", "f.toml: no send_queue given", "", "name at least one"),
        (
            "send_buffer = \"4GiB\"",
            "f.toml:7:15: a send_buffer of 4294967296 bytes is out",
            "\"4GiB\"",
            "2147483647",
        ),
        (
            "send_queue = 5\n[qos]\nmax_samples = 7",
            "f.toml:7:14: `send_queue` and the policy `max_samples`",
            "5",
            "one of them",
        ),
        (
            "send_queue = 5\n[profiles.deep]\nhistory = \"keep_last\"\nhistory_depth = 6",
            "f.toml:7:14: `send_queue = 5` has no room for the 6 samples",
            "5",
            "2.2.3.19",
        ),
    ];
    for &(more, error, marked, hint) in cases {
        let found = rejected(&with(&format!("{more}\n")), &[]);
        assert!(found.0.starts_with(error), "{more}: {found:?}");
        assert!(marked.is_empty() || found.1 == marked, "{more}: {found:?}");
        assert!(found.2.contains(hint), "{more}: {found:?}");
    }
}

#[test]
fn groups_are_of_streams() {
    let more = "receive_group = [1, \"8/5ms\"]\n";
    let experiment = plan(&with(more), &["factors.size=64", "workload=latency,throughput"]);
    assert_eq!(
        ids(&experiment),
        ["dds/udp4/latency/64", "dds/udp4/throughput/64", "dds/udp4/throughput/64/group-8-5ms"]
    );
    let [latency, each, grouped] = &experiment.cells[..] else { panic!("three cells") };
    for cell in [latency, each] {
        assert_eq!(cell.factors.queues, Queues::default());
        assert_eq!(cell.factors.reception(), "waitset");
    }
    assert_eq!(grouped.factors.queues.receive_group, Some(ReceiveGroup::new(8, 5_000_000)));
    assert_eq!(grouped.factors.reception(), "waitset in groups of 8 or what comes within 5ms (application)");
    let more = format!("{more}exclude = [{{ receive_group = 1, workload = \"throughput\" }}]\n");
    let chosen = plan(&with(&more), &["factors.size=64", "workload=throughput"]);
    assert_eq!(ids(&chosen), ["dds/udp4/throughput/64/group-8-5ms"]);
}

#[test]
fn invalid_receive_group_is_rejected_with_its_position() {
    for (text, set, error, hint) in [
        (
            "receive_group = \"8/5ms\"",
            "workload=latency",
            "f.toml:7:17: `receive_group` has no effect",
            "use the workload",
        ),
        (
            "receive_group = \"8/5ms\"\nreceive = \"listener\"",
            "workload=throughput",
            "f.toml:7:17: `receive_group` needs",
            "waitset",
        ),
        (
            "receive_group = \"4096/5ms\"",
            "workload=throughput",
            "f.toml:7:17: a group of 4096 samples of 65000 bytes",
            "smaller",
        ),
        (
            "receive_group = [1, 1]",
            "workload=throughput",
            "f.toml:7:21: receive_group `1` is given twice",
            "once",
        ),
        ("receive_group = []", "workload=throughput", "f.toml: no receive_group given", "name at least one"),
        ("receive_group = 8", "workload=throughput", "f.toml:7:17: ", "8/5ms"),
        ("receive_group = \"8/1s\"", "workload=throughput", "f.toml:7:17: ", "1us to 100ms"),
    ] {
        let found = rejected(&with(&format!("{text}\n")), &[set, "factors.size=65000"]);
        assert!(found.0.starts_with(error), "{text}: {found:?}");
        assert!(found.0.contains(hint) || found.2.contains(hint), "{text}: {found:?}");
    }
}

#[test]
fn delays_are_of_streams_that_are_polled_for() {
    let more = "receive = [\"waitset\", \"polling\"]\npolling_delay = [\"0s\", \"1ms\"]\n";
    let sets = ["factors.driver=plain", "factors.size=64", "workload=latency,throughput"];
    let experiment = plan(&with(more), &sets);
    assert_eq!(
        ids(&experiment),
        [
            "plain/udp4/latency/64/waitset",
            "plain/udp4/throughput/64/waitset",
            "plain/udp4/latency/64/polling",
            "plain/udp4/throughput/64/polling",
            "plain/udp4/throughput/64/polling/delay-1ms",
        ]
    );
    let receptions = experiment.cells.iter().map(|cell| cell.factors.reception());
    let expected = ["waitset", "waitset", "polling", "polling", "polling with a delay of 1ms"];
    assert_eq!(receptions.collect::<Vec<_>>(), expected);
    let delayed = &experiment.cells[4].factors;
    assert_eq!(delayed.queues.polling_delay_ns, Some(1_000_000));
    assert!(delayed.listed_labels().is_empty());
    let more = format!("{more}exclude = [{{ polling_delay = \"0s\" }}]\n");
    assert_eq!(ids(&plan(&with(&more), &sets)), ["plain/udp4/throughput/64/delay-1ms"]);
    // The flags of `characterize` give the same plan.
    let flags = Characterize {
        drivers: vec!["plain".to_owned()],
        sizes: vec![64],
        receive: ReceiveMode::Polling,
        polling_delay_ns: Some(1_000_000),
        ..characterize()
    };
    let delays = flags.plan(&drivers()).expect("a plan").cells;
    let delays: Vec<_> = delays.iter().map(|cell| cell.factors.queues.polling_delay_ns).collect();
    assert_eq!(delays, [None, Some(1_000_000)]);
}

#[test]
fn invalid_polling_delay_is_rejected_with_its_position() {
    for (text, set, error, hint) in [
        (
            "polling_delay = \"1ms\"",
            "workload=latency",
            "f.toml:7:17: `polling_delay` has no effect",
            "throughput",
        ),
        (
            "polling_delay = \"1ms\"",
            "factors.receive=waitset",
            "f.toml:7:17: `polling_delay` needs",
            "polling",
        ),
        (
            "polling_delay = \"1ms\"",
            "factors.receive=listener",
            "f.toml:7:17: `polling_delay` needs",
            "polling",
        ),
        (
            "polling_delay = \"1s\"",
            "workload=throughput",
            "f.toml:7:17: a polling delay of 1s is out",
            "100ms",
        ),
        ("polling_delay = \"999ns\"", "workload=throughput", "f.toml:7:17: a polling delay of 999ns", "1us"),
        ("polling_delay = 5", "workload=throughput", "f.toml:7:17: `5` has no unit", "with its unit"),
        ("polling_delay = 0.5", "workload=throughput", "f.toml:7:17: `0.5` has no unit", "with its unit"),
        ("polling_delay = \"5\"", "workload=throughput", "f.toml:7:17: `5` has no unit", "with its unit"),
        ("polling_delay = []", "workload=throughput", "f.toml: no polling_delay given", "name at least one"),
        (
            "polling_delay = [\"1ms\", \"1ms\"]",
            "workload=throughput",
            "f.toml:7:25: polling_delay `1ms`",
            "once",
        ),
    ] {
        let sets =
            ["factors.driver=plain", "factors.size=64", "factors.receive=polling", "workload=throughput"];
        let key = |set: &str| set.split('=').next().map(str::to_owned);
        let sets: Vec<&str> = sets.into_iter().filter(|other| key(other) != key(set)).chain([set]).collect();
        let found = rejected(&with(&format!("{text}\n")), &sets);
        assert!(found.0.starts_with(error), "{text}: {found:?}");
        assert!(found.0.contains(hint) || found.2.contains(hint), "{text}: {found:?}");
    }
}

#[test]
fn only_the_last_reader_is_slow() {
    let text = with("topology = \"2-3\"\nslow_reader = [\"0s\", \"1ms\"]\n");
    let text = text.replace("workload = \"latency\"", "workload = \"throughput\"");
    let experiment = plan(&text, &["factors.size=64"]);
    let times = |cell: usize| -> Vec<Option<u64>> {
        let run_topology = RunTopology::of(&experiment.cells[cell].factors, &experiment.design);
        let readers = run_topology.endpoints.iter().flat_map(|endpoint| &endpoint.readers);
        readers.map(|reader| reader.processing_ns).collect()
    };
    assert_eq!(times(0), [None; 3]);
    assert_eq!(times(1), [None, None, Some(1_000_000)]);
    assert!(ids(&experiment)[1].ends_with("/slow-reader-1ms"), "{:?}", ids(&experiment));
    for time in ["1us", "1s"] {
        let (error, ..) = rejected(&text, &[&format!("factors.slow_reader={time}")]);
        assert!(error.contains("is out of range"), "{error}");
    }
    let (error, ..) = rejected(&with("slow_reader = \"1ms\"\n"), &["factors.size=64"]);
    assert!(error.contains("has no effect on `latency`"), "{error}");
}
