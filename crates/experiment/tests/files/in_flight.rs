//! Samples in flight around a ring.

use experiment::{Role, RunTopology};

use crate::{ids, plan, rejected, with};

#[test]
fn one_in_flight_is_the_round_trip_and_several_have_relays() {
    let experiment = plan(&with("topology = \"ring-3\"\nin_flight = [1, 4, 1000]\n"), &["factors.size=64"]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/latency/ring-3/64",
            "dds/udp4/latency/ring-3/in-flight-4/64",
            "dds/udp4/latency/ring-3/in-flight-1000/64",
        ]
    );
    for (cell, (in_flight, role)) in
        [(None, Role::Echo), (Some(4), Role::Relay), (Some(1000), Role::Relay)].into_iter().enumerate()
    {
        let factors = &experiment.cells[cell].factors;
        assert_eq!((factors.in_flight, factors.is_pipelined()), (in_flight, in_flight.is_some()));
        let run_topology = RunTopology::of(factors, &experiment.design);
        let roles: Vec<_> = run_topology.endpoints.iter().map(|endpoint| endpoint.role).collect();
        assert_eq!(roles, [Role::Pinger, role, role]);
        // Each node knows how many samples it may have to keep.
        for endpoint in &run_topology.endpoints {
            assert_eq!(endpoint.writers[0].stream.in_flight, in_flight, "{endpoint:?}");
            assert_eq!(endpoint.readers[0].streams[0].in_flight, in_flight, "{endpoint:?}");
        }
    }
    // The default is one, also without a ring.
    let pair = plan(&with("in_flight = 1\n"), &["factors.size=64"]);
    assert_eq!(pair.cells[0].factors.in_flight, None);
    let baseline = "topology = \"ring-2\"\nin_flight = [1, 4]\n[design]\nbaseline = { in_flight = 1 }\n";
    assert_eq!(plan(&with(baseline), &["factors.size=64"]).comparisons().len(), 1);
}

#[test]
fn several_in_flight_without_a_ring_are_rejected() {
    let ring = "topology = \"ring-2\"\n";
    for (more, set, error, hint) in [
        ("in_flight = 0", ring, "`in_flight = 0` is out of range", "1 to 1000"),
        ("in_flight = [1, 1001]", ring, "`in_flight = 1001` is out of range", "1 to 1000"),
        ("in_flight = -1", ring, "", ""),
        ("in_flight = 4", "", "`topology = \"pair\"` has one sample in flight, not 4", "`ring-2`"),
        (
            "in_flight = [1, 4]",
            "topology = [\"ring-2\", \"1-3\"]\n",
            "`topology = \"1-3\"` has one sample in flight, not 4",
            "rings only",
        ),
        (
            "all_readers_echo = true\nin_flight = 4",
            ring,
            "a ring has no readers that echo to node 1",
            "remove `all_readers_echo`",
        ),
    ] {
        let found = rejected(&with(&format!("{set}{more}\n")), &["factors.size=64"]);
        assert!(found.0.contains(error), "{more}: {found:?}");
        assert!(found.0.contains(hint) || found.2.contains(hint), "{more}: {found:?}");
    }
    let found = rejected(&with("in_flight = 4\n"), &["factors.size=64", "workload=throughput"]);
    assert!(found.0.contains("only the workload `latency`"), "{found:?}");
    assert!(found.2.contains("--in-flight"), "{found:?}");
}
