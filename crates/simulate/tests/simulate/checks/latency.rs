//! Counts, timestamps and warnings of latency runs.

use collector::RunReports;
use control::{EchoReport, PingerReport, ReturnReport, RoleReport, TimestampLog, TimestampPair};
use experiment::Workload;
use results::{PingRetries, WarningKind};

use super::{DRIVING, SERVING, Subject};
use crate::rig::cell;

fn subject() -> Subject {
    Subject::new(cell(Workload::Latency, true, 0, &[("latency", "50us")]))
}

fn pinger(reports: &mut RunReports) -> &mut PingerReport {
    reports.agents[DRIVING].report.pinger_mut().expect("a pinger")
}

fn back(reports: &mut RunReports) -> &mut ReturnReport {
    &mut pinger(reports).returns[0]
}

fn echo(reports: &mut RunReports) -> &mut EchoReport {
    reports.agents[SERVING].report.echo_mut().expect("a echo")
}

/// Returns timestamps with one of them changed.
fn changed(stamps: &TimestampLog, change: impl FnOnce(&mut TimestampPair)) -> TimestampLog {
    let mut all = stamps.as_slice().to_vec();
    change(&mut all[3]);
    let mut changed = TimestampLog::with_capacity(all.len());
    for (sequence, stamp) in (0..).zip(all) {
        changed.record(sequence, stamp);
    }
    changed
}

#[test]
fn counts_of_pings_must_agree() {
    let subject = subject();
    subject.contradicts("were lost", |reports| back(reports).lost += 1);
    subject.contradicts("pings were sent when measured", |reports| reports.agents[DRIVING].sent -= 1);
    subject.contradicts("round trips were recorded", |reports| back(reports).rtt.n -= 1);
    subject.contradicts("were echoed", |reports| {
        let returned = back(reports).returned;
        echo(reports).echoed = returned - 1;
    });
    subject.contradicts("the echo metered", |reports| {
        reports.agents[SERVING].report.usage.samples += 1;
    });
    subject.contradicts("did not report what its role records", |reports| {
        reports.agents[SERVING].report.role = RoleReport::Participant;
    });
    subject.contradicts("2 pings came damaged", |reports| echo(reports).overwritten = 2);
    subject.contradicts("3 pings came damaged", |reports| echo(reports).wrong_size = 3);
    subject.contradicts("1 pings came damaged", |reports| back(reports).corrupt = 1);
    subject.contradicts("histograms of `rtt` cannot be read", |reports| {
        back(reports).rtt.windows.pop();
    });
}

#[test]
fn timestamps_of_both_agents_must_fit() {
    let subject = subject();
    subject.contradicts("samples came before they were sent", |reports| {
        let echo = echo(reports);
        echo.stamps = changed(&echo.stamps, |stamp| stamp.first_ns -= 60_000);
    });
    subject.contradicts("1 echoes were sent before their ping was received", |reports| {
        let echo = echo(reports);
        echo.stamps = changed(&echo.stamps, |stamp| stamp.second_ns = stamp.first_ns - 1);
    });
    subject.warns(WarningKind::Incomplete, "the others have no stamps at both ends", |reports| {
        let echo = echo(reports);
        echo.stamps = changed(&echo.stamps, |stamp| *stamp = TimestampPair::default());
    });
}

#[test]
fn repeated_and_late_writes_are_reported() {
    let subject = subject();
    subject.warns(WarningKind::WritesRefused, "2 writes of pings timed out and 3 were refused", |reports| {
        let pinger = pinger(reports);
        (pinger.timed_out, pinger.refused) = (2, 3);
    });
    subject.warns(WarningKind::WritesRefused, "the last ping was not accepted", |reports| {
        pinger(reports).unsent = 1;
    });
    subject.warns(WarningKind::WritesRefused, "4 writes of echoes timed out and 5 were refused", |reports| {
        let echo = echo(reports);
        (echo.timed_out, echo.refused) = (4, 5);
    });
    let run = subject.with(|reports| {
        (pinger(reports).unsent, pinger(reports).timed_out, echo(reports).refused) = (1, 2, 5);
    });
    let expected = PingRetries { unsent: 1, timed_out: 2, echoes_refused: 5, ..PingRetries::default() };
    assert_eq!(run.ping_retries(), Some(&expected));
    // A ping that was never accepted is lost.
    let sent = subject.reports.sent();
    assert_eq!(
        (run.flows[0].counted.sent, run.flows[0].counted.delivered, run.flows[0].counted.lost),
        (sent + 1, sent, 1)
    );
    subject.warns(WarningKind::LatePings, "came back later than 200 ms", |reports| back(reports).late = 1);
    subject.warns(WarningKind::Foreign, "5 samples came that are not of this run", |reports| {
        back(reports).foreign = 2;
        echo(reports).foreign = 3;
    });
}
