//! Rings with several samples in flight against the truth of the configuration.

use experiment::{Cell, Topology, Workload};
use results::{Ring, Run, RunState, WarningKind, kind_of_hop};
use simulate::{HOST_NS, Simulator};

use crate::{
    rig::{MS, cell, run},
    ring::assert_losses_of_hops,
};

fn pipelined(nodes: u16, in_flight: u32, reliable: bool, options: &[(&str, &str)]) -> Cell {
    let mut cell = cell(Workload::Latency, reliable, 0, options);
    cell.factors.topology = Topology::Ring { nodes };
    cell.factors.in_flight = (in_flight > 1).then_some(in_flight);
    cell
}

fn measured(cell: &Cell, measure_ns: u64) -> Run {
    let run = run(&mut Simulator::new(), cell, measure_ns, 1);
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    run
}

fn ring(run: &Run) -> &Ring {
    run.ring().expect("a ring")
}

#[track_caller]
fn assert_near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= share * expected, "{found} is not {expected}");
}

#[test]
fn time_per_sample_and_hop_is_the_round_trip_divided_by_the_samples_in_flight() {
    // Without a bottleneck, samples do not wait for each other.
    let options = [("latency", "50us")];
    for (nodes, in_flight) in [(2, 1), (2, 4), (5, 16), (16, 1000)] {
        let run = measured(&pipelined(nodes, in_flight, true, &options), 1_000 * MS);
        let round_ns = f64::from(nodes) * 50_000.0;
        let of_sample = (round_ns + HOST_NS as f64) / f64::from(in_flight) / f64::from(nodes);
        let ring = ring(&run);
        assert_near(ring.per_sample_hop_ns.expect("a time"), of_sample, 0.002);
        assert_near(ring.returned_sps, 1e9 / of_sample / f64::from(nodes), 0.002);
        assert_near(
            ring.mean_in_flight,
            f64::from(in_flight) * round_ns / (round_ns + HOST_NS as f64),
            0.002,
        );
        assert_eq!(ring.in_flight, in_flight);
        let rtt = &run.latency["rtt"];
        assert_near(rtt.mean_ns, round_ns, 1e-9);
        for (index, hop) in ring.hops.iter().enumerate() {
            assert_eq!((hop.sent, hop.lost, hop.out_of_order, hop.held_writes), (rtt.n, 0, 0, 0), "{hop:?}");
            assert_near(run.latency[&kind_of_hop(index)].mean_ns, 50_000.0, 1e-9);
        }
        // The samples in flight at the end return, and are not in the rate.
        assert!(ring.returned_in_time <= rtt.n && rtt.n <= ring.returned_in_time + u64::from(in_flight));
        assert!(!run.warnings.iter().any(|warning| warning.kind == WarningKind::FewInFlight));
    }
}

#[test]
fn bottleneck_limits_a_pipelined_ring_and_the_rest_is_waiting() {
    // 10 µs in the server of each hop, then 50 µs: 120 µs for a sample alone.
    let options = [("latency", "50us"), ("service", "10us"), ("queue", "1000")];
    let [alone, few, many] =
        [1, 4, 64].map(|in_flight| measured(&pipelined(2, in_flight, true, &options), 500 * MS));
    let per = |run: &Run| ring(run).per_sample_hop_ns.expect("a time");
    assert_near(per(&alone), (120_000.0 + HOST_NS as f64) / 2.0, 0.002);
    assert!(per(&few) < per(&alone) / 3.0 && per(&many) < per(&few));
    // Every 10 µs, one sample leaves a server: that of both hops.
    assert_near(per(&many), 5_000.0, 0.01);
    assert_near(many.latency["rtt"].mean_ns, 64.0 * 10_000.0, 0.01);
    assert_near(ring(&many).mean_in_flight, 64.0, 0.02);
}

#[test]
fn full_queue_holds_writes_on_its_hop_and_loses_nothing() {
    let options = [("latency", "50us"), ("service", "10us"), ("queue", "2")];
    let run = measured(&pipelined(3, 32, true, &options), 200 * MS);
    let ring = ring(&run);
    assert!(ring.hops.iter().all(|hop| hop.lost == 0 && hop.stopped == 0), "{ring:?}");
    assert!(ring.hops[0].held_writes > 100, "{ring:?}");
    assert_near(ring.per_sample_hop_ns.expect("a time"), 10_000.0 / 3.0, 0.02);
    let named =
        format!("{} writes from node-2 to node-3 timed out or were rejected", ring.hops[1].held_writes);
    let warned = run.warnings.iter().any(|warning| warning.text.starts_with(&named));
    assert_eq!(warned, ring.hops[1].held_writes > 0, "{named}: {:?}", run.warnings);
}

#[test]
fn each_loss_of_a_pipelined_ring_is_counted_on_its_hop() {
    let (nodes, loss) = (4, 0.02);
    let cell = pipelined(nodes, 8, false, &[("latency", "5us"), ("loss", "2%")]);
    let run = measured(&cell, 60_000 * MS);
    assert_losses_of_hops(&run, loss);
    // A lost sample keeps its place for 200 ms, and the others go around in 20 µs.
    assert!(ring(&run).mean_in_flight < 1.0, "{:?}", ring(&run).mean_in_flight);
    let warned = run.warnings.iter().any(|warning| {
        warning.kind == WarningKind::FewInFlight && warning.text.contains(" of 8 samples were in flight")
    });
    assert!(warned, "{:?}", run.warnings);
}

#[test]
fn samples_that_are_overtaken_are_counted_on_their_hop() {
    let options = [("latency", "50us"), ("reorder", "1%"), ("hold", "30us")];
    let mut cell = pipelined(3, 16, false, &options);
    let run = measured(&cell, 300 * MS);
    let ring = ring(&run);
    // The places of the pipelined ring are 16 samples that go around together: one that is held back is overtaken.
    for hop in &ring.hops {
        let share = hop.out_of_order as f64 / hop.sent as f64;
        assert!(share > 0.002 && share < 0.011, "{hop:?}");
    }
    assert!(run.flows[0].counted.out_of_order > 0);
    assert!(run.warnings.iter().any(|warning| warning.kind == WarningKind::Order), "{:?}", run.warnings);
    // No sample overtakes one that is alone in flight.
    cell.factors.in_flight = None;
    let run = measured(&cell, 300 * MS);
    assert!(self::ring(&run).hops.iter().all(|hop| hop.out_of_order == 0));
}

#[test]
fn duplicates_of_a_pipelined_ring_are_counted_and_change_no_time() {
    let run = measured(&pipelined(2, 4, false, &[("latency", "50us"), ("duplicate", "5%")]), 200 * MS);
    let ring = ring(&run);
    assert!(ring.hops.iter().all(|hop| hop.duplicate > 0 && hop.lost == 0), "{ring:?}");
    assert_near(ring.per_sample_hop_ns.expect("a time"), 101_000.0 / 8.0, 0.002);
}
