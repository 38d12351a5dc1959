//! Contradictions in the counts of one of several endpoints.

use collector::RunReports;
use experiment::{Join, Load, Topology, Workload};
use results::{Received, WarningKind};

use super::Subject;
use crate::{
    discovery::full_mesh,
    rig::{cell, constant, paced},
};

fn subject(reliable: bool) -> Subject {
    let options = [("latency", "50us"), ("service", "100us")];
    let mut cell = cell(Workload::Throughput, reliable, 0, &options);
    cell.factors.topology = Topology::Mesh { writers: 2, readers: 2 };
    Subject::new(cell)
}

/// Returns what the last reader received of the last writer.
fn received(reports: &mut RunReports) -> &mut Received {
    &mut reports.agents[3].report.reader_mut().expect("a reader").flows[1].received
}

#[test]
fn count_of_one_reader_must_agree_with_its_writer() {
    let subject = subject(true);
    let of = "writer-2 to reader-2";
    subject.contradicts(&format!("{of}: sample "), |reports| received(reports).next += 1_000_000);
    subject.contradicts(&format!("{of}: "), |reports| received(reports).delivered -= 1);
    subject.contradicts(&format!("{of}: the driver says that it gave"), |reports| {
        let received = received(reports);
        received.taken = Some(received.given - 1);
    });
    subject.contradicts("writer-2: ", |reports| reports.agents[1].sent -= 1);
    subject.contradicts("of 2 flows the reader-2 reported 1", |reports| {
        _ = reports.agents[3].report.reader_mut().expect("a reader").flows.pop();
    });
    subject.contradicts("the reader-1 metered", |reports| reports.agents[2].report.usage.samples += 1);
}

#[test]
fn loss_of_one_reader_is_reported_and_leaves_the_others() {
    let subject = subject(false);
    let change = |reports: &mut RunReports| {
        let received = received(reports);
        (received.delivered, received.missing) = (received.delivered - 1, received.missing + 1);
        received.window_delivered[0] -= 1;
        received.bytes -= 1000;
        received.given -= 1;
        received.taken = Some(received.given);
        reports.agents[3].report.usage.samples -= 1;
    };
    subject.warns(WarningKind::Loss, "1 of ", change);
    let lost: Vec<u64> = subject.with(change).flows.iter().map(|flow| flow.counted.lost).collect();
    assert_eq!(lost, [0, 0, 0, 1]);
}

#[test]
fn echoes_of_one_endpoint_must_agree_with_its_pings() {
    let mut cell = cell(Workload::Latency, true, 0, &[("latency", "50us")]);
    cell.factors.topology = Topology::Mesh { writers: 1, readers: 3 };
    cell.factors.all_readers_echo = true;
    let subject = Subject::new(cell);
    let second = |reports: &mut RunReports, by: u64| {
        reports.agents[0].report.pinger_mut().expect("a pinger").returns[1].returned -= by;
    };
    subject.contradicts("pinger to echo-2: ", |reports| second(reports, 1));
    subject.contradicts("pings came back, but", |reports| {
        reports.agents[2].report.echo_mut().expect("an echo").echoed -= 1;
    });
    subject.contradicts("did not report what its role records", |reports| {
        _ = reports.agents[0].report.pinger_mut().expect("a pinger").returns.pop();
    });
}

#[test]
fn plans_of_all_writers_must_be_kept() {
    let mut cell = paced(constant(1_000), true, &[("latency", "50us")]);
    cell.factors.topology = Topology::Mesh { writers: 2, readers: 2 };
    let subject = Subject::new(cell);
    subject.contradicts("writer-2 to reader-1: the plan has", |reports| {
        reports.agents[1].report.writer_mut().expect("a writer").flows[0].planned += 1;
    });
    subject.contradicts("of 2 flows the reader-2 reported 1", |reports| {
        _ = reports.agents[3].report.reader_mut().expect("a reader").flows.pop();
    });
}

#[test]
fn plan_of_each_writer_is_its_own() {
    let mut cell = paced(
        Load::PerWriter { loads: vec![constant(1_000), constant(3_000)] },
        true,
        &[("latency", "50us")],
    );
    cell.factors.topology = Topology::Mesh { writers: 2, readers: 1 };
    let subject = Subject::new(cell);
    subject.contradicts("writer-1 to reader: the plan has", |reports| {
        let [first, second] =
            [0, 1].map(|agent| reports.agents[agent].report.writer().expect("a writer").flows[0].planned);
        assert_eq!(second, 3 * first);
        reports.agents[0].report.writer_mut().expect("a writer").flows[0].planned = second;
    });
    subject.contradicts("writer-2 to reader: ", |reports| {
        reports.agents[1].report.writer_mut().expect("a writer").flows[0].accepted += 1;
    });
}

#[test]
fn participants_must_have_all_of_their_peers() {
    let subject = Subject::new(full_mesh(4, 2, Join::Together, &[("latency", "1ms")]));
    subject.contradicts("participant-3: the reader-2 has 3 peers, not 4", |reports| {
        reports.agents[2].report.participant.as_mut().expect("a participant").readers[1].matched = 3;
    });
    subject.contradicts("the participants have different starts", |reports| {
        reports.agents[2].report.participant.as_mut().expect("a participant").begin_ns -= 1;
    });
}
