//! Echo probes in a stream. The simulated middleware echoes none: the reports get those of a consistent run.

use collector::RunReports;
use control::{ProbeEchoReport, ProbeReport};
use experiment::{Topology, Workload};
use results::{Distribution, WarningKind, Windows};

use super::{DRIVING, Subject};
use crate::rig::{MS, cell};

const EVERY: u64 = 101;

fn sender(reports: &mut RunReports) -> &mut ProbeReport {
    reports.agents[DRIVING].report.writer_mut().expect("a writer").probes.as_mut().expect("probes")
}

/// Returns the report of the reader that echoes, the first one.
fn echo(reports: &mut RunReports) -> &mut ProbeEchoReport {
    let readers = reports.agents.iter_mut().filter_map(|agent| agent.report.reader_mut());
    readers.filter_map(|reader| reader.probes.as_mut()).next().expect("probes")
}

/// Returns `n` equal round trips.
fn round_trips(n: u64) -> Distribution {
    let mut rtt = Windows::new(1, 100 * MS);
    rtt.begin(0);
    (0..n).for_each(|_| rtt.record(0, 100_000));
    rtt.distribution()
}

fn subject(writers: u16, readers: u16) -> Subject {
    let mut cell = cell(Workload::Throughput, false, 0, &[("service", "100us")]);
    cell.factors.topology = Topology::Mesh { writers, readers };
    let mut subject = Subject::new(cell);
    subject.design.probe_every = Some(EVERY as u32);
    let first_reader = usize::from(writers);
    let agents = &mut subject.reports.agents;
    let n = agents[DRIVING].sent.div_ceil(EVERY);
    agents[DRIVING].report.writer_mut().expect("a writer").probes = Some(ProbeReport {
        every: EVERY,
        sent: n,
        returned: n,
        duplicate: 0,
        corrupt: 0,
        foreign: 0,
        checked_in_full: 0,
        rtt: round_trips(n),
    });
    let read = agents[first_reader].report.reader_mut().expect("a reader");
    read.probes = Some(ProbeEchoReport { came: n, echoed: n, refused: 0 });
    subject
}

#[test]
fn counts_of_probes_must_agree() {
    for (writers, readers, between) in
        [(1, 1, ["writer", "reader"]), (1, 3, ["writer", "reader-1"]), (2, 2, ["writer-1", "reader-1"])]
    {
        let subject = subject(writers, readers);
        let throughput = subject.run().throughput().expect("a throughput").clone();
        let probes = throughput.probes.expect("probes");
        assert_eq!([probes.writer.as_str(), probes.reader.as_str()], between);
        assert!(probes.sent > 2, "{probes:?}");
        subject.contradicts("an agent did not report its probes", |reports| {
            reports.agents[usize::from(writers)].report.reader_mut().expect("a reader").probes = None;
        });
        subject.contradicts("were probes, not one in 101", |reports| sender(reports).sent += 1);
        subject.contradicts("probes came, of", |reports| {
            let sent = sender(reports).sent;
            (echo(reports).came, echo(reports).echoed) = (sent + 1, sent + 1);
        });
        subject.contradicts("were echoed and 1 refused", |reports| echo(reports).refused = 1);
        subject.contradicts("echoes came back, of", |reports| {
            let returned = sender(reports).returned;
            *echo(reports) = ProbeEchoReport { came: returned, echoed: returned - 1, refused: 1 };
        });
        subject.contradicts("round trips were recorded", |reports| sender(reports).rtt.n -= 1);
        subject.contradicts("2 echoes came damaged", |reports| sender(reports).corrupt = 2);
    }
}

#[test]
fn lost_and_foreign_echoes_are_reported() {
    let subject = subject(1, 1);
    subject.warns(WarningKind::Foreign, "3 echoes came that are not of this run", |reports| {
        sender(reports).foreign = 3;
    });
    subject.warns(WarningKind::Loss, "probes had no echo", |reports| {
        let sender = sender(reports);
        sender.returned -= 1;
        sender.rtt = round_trips(sender.returned);
    });
}
