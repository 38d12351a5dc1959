//! Times between two hosts: errors of their clocks, and negative times.

use collector::RunReports;
use control::{NegativeTimes, TimestampLog, TimestampPair};
use experiment::Workload;
use results::WarningKind;

use super::{DRIVING, SERVING, Subject, warns};
use crate::rig::{cell, constant, paced};

/// Sets the errors of the clocks of the driving and the serving agent, in ns.
fn clocks(reports: &mut RunReports, errors_ns: [Option<u64>; 2]) {
    for (agent, error_ns) in reports.agents.iter_mut().zip(errors_ns) {
        agent.clock_error_ns = error_ns;
    }
}

/// Shifts the clock of the echo.
fn shift(reports: &mut RunReports, ns: i64) {
    let echo = reports.agents[SERVING].report.echo_mut().expect("an echo");
    let old = std::mem::replace(&mut echo.stamps, TimestampLog::with_capacity(0));
    echo.stamps = TimestampLog::with_capacity(old.as_slice().len());
    for (sequence, stamp) in (0..).zip(old.as_slice()) {
        let shifted = |at_ns: u64| at_ns.saturating_add_signed(ns);
        let [first_ns, second_ns] = [stamp.first_ns, stamp.second_ns].map(shifted);
        echo.stamps.record(sequence, TimestampPair { first_ns, second_ns });
    }
}

fn pings() -> Subject {
    Subject::new(cell(Workload::Latency, true, 0, &[("latency", "50us")]))
}

#[test]
fn one_way_times_between_hosts_have_the_errors_of_both_clocks() {
    let subject = pings();
    assert_eq!(subject.run().latency["one_way_out"].clock_error_ns, 0);
    let run = subject.with(|reports| clocks(reports, [Some(2_000), Some(3_000)]));
    for (kind, error_ns) in [("rtt", 0), ("one_way_out", 5_000), ("one_way_back", 5_000)] {
        assert_eq!(run.latency[kind].clock_error_ns, error_ns, "{kind}");
    }
    assert_eq!(
        run.endpoints.iter().map(|of| of.clock_error_ns).collect::<Vec<_>>(),
        [Some(2_000), Some(3_000)]
    );
    // The same clock: the errors against a third one do not matter.
    let run = subject.with(|reports| {
        clocks(reports, [Some(2_000), Some(3_000)]);
        for agent in &mut reports.agents {
            agent.clock.boot_id = Some("one".to_owned());
        }
    });
    assert_eq!(run.latency["one_way_out"].clock_error_ns, 0);
    // An unknown clock has no one-way times.
    let run = subject.with(|reports| clocks(reports, [Some(0), None]));
    assert_eq!(run.latency.keys().collect::<Vec<_>>(), ["rtt"]);
}

#[test]
fn negative_times_within_the_error_are_counted() {
    let subject = pings();
    let pings = subject.run().latency["one_way_back"].n;
    let shifted = |reports: &mut RunReports, error_ns| {
        clocks(reports, [Some(0), Some(error_ns)]);
        // A one-way time is about 50 us.
        shift(reports, 80_000);
    };
    let run = subject.with(|reports| shifted(reports, 100_000));
    assert!(!warns(&run, WarningKind::RunsInvalid, ""), "{:?}", run.warnings);
    assert!(!run.latency.contains_key("one_way_back"), "all of them are negative");
    assert_eq!((run.latency["one_way_out"].n, run.latency["one_way_out"].negative), (pings, 0));
    subject.contradicts("the error of the clocks is at most 10000 ns", |reports| shifted(reports, 10_000));
}

#[test]
fn negative_service_and_response_times_are_part_of_the_counts() {
    let subject = Subject::new(paced(constant(2_000), true, &[("latency", "50us")]));
    let negative = |reports: &mut RunReports, service, response| {
        clocks(reports, [Some(0), Some(100_000)]);
        let report = reports.agents[SERVING].report.reader_mut().expect("a reader");
        report.flows[0].negative_service = NegativeTimes { count: service, largest_ns: 20_000 };
        report.flows[0].negative_response = NegativeTimes { count: response, largest_ns: 20_000 };
    };
    subject.contradicts("service times were recorded", |reports| negative(reports, 1, 0));
    subject.contradicts("responses were recorded", |reports| negative(reports, 0, 1));
    subject.contradicts("by up to 20000 ns: the error of the clocks is at most 0 ns", |reports| {
        negative(reports, 1, 0);
        clocks(reports, [Some(0), Some(0)]);
    });
    let run = subject.with(|reports| clocks(reports, [Some(1_000), Some(100_000)]));
    for (kind, error_ns) in [("service", 101_000), ("response", 101_000), ("send_lag", 0), ("write_call", 0)]
    {
        assert_eq!(run.latency[kind].clock_error_ns, error_ns, "{kind}");
        assert_eq!(run.flows[0].latency[kind].clock_error_ns, error_ns, "{kind}");
    }
}

#[test]
fn clock_that_steps_makes_the_run_invalid() {
    pings().contradicts("host `b`: the offset of its clock changed", |reports| {
        reports.clock_faults.push("host `b`: the offset of its clock changed".to_owned());
        assert!(reports.agents[DRIVING].clock_error_ns.is_some());
    });
}
