//! `ddsmark perftest` with several drivers, and with different ones on its sides. Needs root.

use std::fs;

use crate::{
    perftest_support::{Hosts, assert_done, columns, effective},
    support::{Running, drivers, list, text},
};

/// Drivers that interoperate, of the publisher and of the subscriber.
const PAIRS: [[&str; 2]; 2] = [["cyclonedds", "fastdds"], ["fastdds", "cyclonedds"]];

#[test]
fn different_middleware_interoperates_both_ways() {
    for [publisher, subscriber] in PAIRS {
        let hosts = Hosts::new(2);
        let sub = format!("-sub -driver {subscriber} -noPrint");
        // With the default batch: only the middleware that packs for others has one.
        let throughput = format!(
            "-pub -driver {publisher} -noPrint -dataLen 200 -numIter 5000 -latencyCount 500 -ddsmark-out result"
        );
        let outcomes = hosts.run(&[&throughput, &sub]);
        assert_done(&outcomes);
        assert_eq!(columns(&outcomes[1])[0][..2], ["200", "5000"], "{}", outcomes[1].stdout);
        assert_eq!(columns(&outcomes[0])[0].len(), 10, "{}", outcomes[0].stdout);
        let outcome = hosts.scene.ddsmark(&["report", "result", "--json"]);
        outcome.assert_status(0);
        let document = outcome.document();
        let cell = &list(&document["cells"])[0];
        assert_eq!(text(&cell["factors"], "driver"), format!("{publisher}+{subscriber}"));
        let batched = publisher == "cyclonedds";
        assert_eq!(text(&cell["factors"], "batching") == "native", batched, "{:#}", cell["factors"]);
        for outcome in &outcomes {
            let warning = format!(
                "warning: `-batchSize` has no effect: driver `{publisher}+{subscriber}` has no batches"
            );
            assert_eq!(outcome.stderr.contains(&warning), !batched, "{}", outcome.stderr);
        }
        let latency = format!("-pub -driver {publisher} -noPrint -dataLen 200 -numIter 300 -latencyTest");
        let outcomes = hosts.run(&[&latency, &sub]);
        assert_done(&outcomes);
        assert_eq!(columns(&outcomes[0])[0].len(), 10, "{}", outcomes[0].stdout);
        assert_eq!(columns(&outcomes[1])[0][..2], ["200", "300"], "{}", outcomes[1].stdout);
    }
}

#[test]
fn what_a_pair_of_middleware_cannot_do_is_an_error_on_both_sides() {
    let hosts = Hosts::new(2);
    let outcomes =
        hosts.run(&["-pub -driver fastdds -dataLen 200 -exec 5 -batchSize 4000", "-sub -driver cyclonedds"]);
    for (outcome, status) in outcomes.iter().zip([2, 3]) {
        outcome.assert_status(status);
        let error = "`-batchSize 4000` is not supported: driver `fastdds+cyclonedds` has no batches";
        assert!(outcome.stderr.contains(error) && outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    }
    // Subscribers with different middleware.
    let hosts = Hosts::new(3);
    let outcomes = hosts.run(&[
        "-pub -dataLen 200 -exec 5 -numSubscribers 2",
        "-sub",
        "-sub -driver fastdds -sidMultiSubTest 1",
    ]);
    for outcome in &outcomes {
        outcome.assert_status(3);
        let error = "subscriber-0 has Eclipse Cyclone DDS, and subscriber-1 has ";
        assert!(outcome.stderr.contains(error) && outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    }
}

#[test]
fn same_middleware_under_another_driver_name_works() {
    let hosts = Hosts::new(2);
    // A driver without a version is a link to one with it.
    let library = fs::canonicalize(drivers().join("libddsmark_cyclonedds.so")).expect("the driver");
    let name = library.file_stem().and_then(|name| name.to_str()?.strip_prefix("libddsmark_"));
    let name = name.filter(|name| name.contains('@')).expect("a version");
    let subscriber = hosts.start(1, &format!("-sub -noPrint -driver {name}"));
    let publisher = hosts.start(0, "-pub -noPrint -dataLen 200 -numIter 5000 -latencyCount 500 -batchSize 0");
    publisher.end().assert_status(0);
    let outcome = subscriber.end();
    outcome.assert_status(0);
    assert_eq!(columns(&outcome)[0][..2], ["200", "5000"], "{}", outcome.stdout);
}

#[test]
fn fastdds_measures_both_modes() {
    let hosts = Hosts::new(2);
    let outcomes = hosts.run(&[
        "-pub -driver fastdds -noPrint -dataLen 200 -numIter 5000 -latencyCount 500 -batchSize 0",
        "-sub -driver fastdds -noPrint",
    ]);
    assert_done(&outcomes);
    assert_eq!(columns(&outcomes[1])[0][..2], ["200", "5000"], "{}", outcomes[1].stdout);
    assert_eq!(columns(&outcomes[0])[0].len(), 10, "{}", outcomes[0].stdout);
    let outcomes = hosts.run(&[
        "-pub -driver fastdds -noPrint -dataLen 200 -numIter 300 -latencyTest",
        "-sub -driver fastdds -noPrint",
    ]);
    assert_done(&outcomes);
    assert_eq!(columns(&outcomes[0])[0].len(), 10, "{}", outcomes[0].stdout);
}

#[test]
fn raw_transport_over_shared_memory_is_bare_shared_memory() {
    let hosts = Hosts::new(2);
    let start = |options: &str| {
        hosts.start(0, &format!("{options} -rawTransport -transport SHMEM -noPrint -outputFormat json"))
    };
    let running = [start("-pub -dataLen 200 -exec 1"), start("-sub")];
    for outcome in running.map(Running::end) {
        outcome.assert_status(0);
        assert_eq!(effective(&outcome, "Kind").as_deref(), Some("shm"), "{}", outcome.stdout);
    }
}

#[test]
fn tcp_joins_two_processes_of_a_host_that_has_an_address_in_a_network() {
    let hosts = Hosts::new(2);
    for mode in ["", " -latencyTest"] {
        let start = |options: &str| {
            hosts.start(
                0,
                &format!("{options}{mode} -driver cyclonedds -transport TCP -noPrint -outputFormat json"),
            )
        };
        let running = [start("-pub -executionTime 1"), start("-sub")];
        for outcome in running.map(Running::end) {
            outcome.assert_status(0);
            assert_eq!(effective(&outcome, "Kind").as_deref(), Some("tcp4"), "{}", outcome.stdout);
        }
    }
}
