//! Counts, timestamps and warnings of rings.

use collector::RunReports;
use control::{EchoReport, PingerReport, ReturnReport, RoleReport, TimestampLog, TimestampPair};
use experiment::{Topology, Workload};
use results::WarningKind;

use super::Subject;
use crate::rig::cell;

fn subject() -> Subject {
    let mut cell = cell(Workload::Latency, true, 0, &[("latency", "50us")]);
    cell.factors.topology = Topology::Ring { nodes: 3 };
    Subject::new(cell)
}

fn back(reports: &mut RunReports) -> &mut ReturnReport {
    &mut reports.agents[0].report.pinger_mut().expect("a pinger").returns[0]
}

/// Returns the report of the node with this number.
fn node(reports: &mut RunReports, number: usize) -> &mut EchoReport {
    reports.agents[number - 1].report.echo_mut().expect("an echo")
}

/// Changes the timestamps of one sample.
fn change(stamps: &mut TimestampLog, change: impl FnOnce(&mut TimestampPair)) {
    let mut pair = stamps.get(3);
    change(&mut pair);
    stamps.record(3, pair);
}

/// Lets one sample not return.
fn lose(reports: &mut RunReports) {
    let back = back(reports);
    (back.lost, back.returned, back.rtt.n) = (1, back.returned - 1, back.rtt.n - 1);
    change(&mut back.stamps, |pair| pair.second_ns = 0);
}

#[test]
fn sample_that_a_node_did_not_receive_is_lost_before_it() {
    let subject = subject();
    let run = subject.with(|reports| {
        lose(reports);
        change(&mut node(reports, 3).stamps, |pair| *pair = TimestampPair::default());
    });
    let hops = &run.ring().expect("a ring").hops;
    assert_eq!(hops.iter().map(|hop| hop.lost).collect::<Vec<_>>(), [0, 1, 0], "{:?}", run.warnings);
    let text = format!("1 of {} samples were lost between node-2 and node-3", hops[1].sent);
    assert!(super::warns(&run, WarningKind::Loss, &text), "{:?}", run.warnings);
}

#[test]
fn sample_that_a_node_did_not_pass_on_is_counted_there() {
    let subject = subject();
    let run = subject.with(|reports| {
        lose(reports);
        let middle = node(reports, 2);
        middle.refused = 1;
        change(&mut middle.stamps, |pair| pair.second_ns = 0);
        change(&mut node(reports, 3).stamps, |pair| *pair = TimestampPair::default());
    });
    let hops = &run.ring().expect("a ring").hops;
    assert_eq!(hops.iter().map(|hop| (hop.lost, hop.stopped)).collect::<Vec<_>>(), [(0, 1), (0, 0), (0, 0)]);
    let text = format!("node-2 did not pass on 1 of {} samples", hops[0].delivered);
    assert!(super::warns(&run, WarningKind::WritesRefused, &text), "{:?}", run.warnings);
}

#[test]
fn late_sample_is_delivered_by_the_last_hop() {
    let run = subject().with(|reports| {
        lose(reports);
        back(reports).late = 1;
    });
    let hops = &run.ring().expect("a ring").hops;
    assert!(hops.iter().all(|hop| hop.lost == 0 && hop.delivered == hop.sent), "{hops:?}");
    assert!(super::warns(&run, WarningKind::LatePings, "came back later than 200 ms"), "{:?}", run.warnings);
}

#[test]
fn counts_of_a_ring_must_agree() {
    let subject = subject();
    subject.contradicts("were lost on a hop", |reports| back(reports).late = 1);
    subject.contradicts("of those that came were not", |reports| {
        change(&mut node(reports, 2).stamps, |pair| pair.second_ns = 0);
    });
    subject.contradicts("has timestamps of", |reports| node(reports, 3).received -= 1);
    subject.contradicts("has timestamps of", |reports| node(reports, 2).echoed -= 1);
    subject.contradicts("node-2 to node-3: 1 samples came before they were sent", |reports| {
        change(&mut node(reports, 3).stamps, |pair| pair.first_ns -= 60_000);
    });
    subject.contradicts("did not report what its role records", |reports| {
        reports.agents[2].report.role = RoleReport::Participant;
    });
    subject.contradicts("pings were sent when measured", |reports| reports.agents[0].sent -= 1);
    subject.contradicts("came damaged", |reports| node(reports, 3).overwritten = 1);
}

/// Subject with four samples in flight.
fn pipelined() -> Subject {
    let mut cell = cell(Workload::Latency, true, 0, &[("latency", "50us")]);
    (cell.factors.topology, cell.factors.in_flight) = (Topology::Ring { nodes: 3 }, Some(4));
    Subject::new(cell)
}

fn pinger(reports: &mut RunReports) -> &mut PingerReport {
    reports.agents[0].report.pinger_mut().expect("a pinger")
}

#[test]
fn counts_of_a_pipelined_ring_must_agree() {
    let subject = pipelined();
    subject.contradicts("samples returned, but", |reports| {
        let pinger = pinger(reports);
        pinger.in_time = pinger.returns[0].returned + 1;
    });
    let run = subject.with(|reports| {
        lose(reports);
        change(&mut node(reports, 2).stamps, |pair| pair.second_ns = 0);
        change(&mut node(reports, 3).stamps, |pair| *pair = TimestampPair::default());
    });
    assert_eq!(run.ring().expect("a ring").hops.iter().map(|hop| hop.stopped).sum::<u64>(), 1);
}

#[test]
fn back_pressure_of_a_pipelined_ring_names_its_hop() {
    let subject = pipelined();
    let text = "7 writes from node-2 to node-3 timed out or were rejected";
    let run = subject.with(|reports| (node(reports, 2).timed_out, node(reports, 2).refused) = (3, 4));
    assert!(super::warns(&run, WarningKind::WritesRefused, text), "{:?}", run.warnings);
    let held: Vec<u64> = run.ring().expect("a ring").hops.iter().map(|hop| hop.held_writes).collect();
    assert_eq!(held, [0, 7, 0]);
}

#[test]
fn pipelined_ring_with_few_samples_in_flight_or_returned_warns() {
    let subject = pipelined();
    // Half of the samples in flight are enough.
    for (longer, warns) in [(1.9, false), (2.2, true)] {
        let run = subject.with(|reports| {
            let pinger = pinger(reports);
            pinger.elapsed_ns = (pinger.elapsed_ns as f64 * longer) as u64;
        });
        let text = "of 4 samples were in flight";
        assert_eq!(super::warns(&run, WarningKind::FewInFlight, text), warns, "{longer}: {:?}", run.warnings);
    }
    let run = subject.with(|reports| pinger(reports).in_time = 0);
    assert_eq!(run.ring().and_then(|ring| ring.per_sample_hop_ns), None);
}

#[test]
fn samples_beyond_the_timestamps_are_not_counted_on_hops() {
    subject().warns(
        WarningKind::Incomplete,
        "counts and times of the hops are of the first 5 of",
        |reports| {
            let stamps = &mut back(reports).stamps;
            let mut first = TimestampLog::with_capacity(5);
            (0..5).for_each(|sequence| first.record(sequence, stamps.get(sequence)));
            *stamps = first;
        },
    );
}
