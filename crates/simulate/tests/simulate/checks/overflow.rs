//! Counts at their maximum, as a faulty agent may send them.

use collector::RunReports;
use control::{TimestampLog, TimestampPair};
use experiment::{Load, Workload};
use results::RunState;

use super::Subject;
use crate::rig::{cell, constant, paced};

/// Sets the counters that are added to others to their maximum.
fn overflow(reports: &mut RunReports) {
    for agent in &mut reports.agents {
        let report = &mut agent.report;
        report.usage.user_ns = u64::MAX;
        for flow in report.reader_mut().into_iter().flat_map(|reader| &mut reader.flows) {
            let received = &mut flow.received;
            received.delivered = u64::MAX;
            received.missing = u64::MAX;
            received.duplicate = u64::MAX;
            received.out_of_order = u64::MAX;
            received.window_delivered.fill(u64::MAX);
            received.window_ns = u64::MAX / 2;
            received.last_ns = u64::MAX;
            received.quickest_ns = i64::MAX;
            received.arrivals.window_ns = u64::MAX / 2;
            received.arrivals.windows.fill(u64::MAX);
        }
        for flow in report.writer_mut().into_iter().flat_map(|writer| &mut writer.flows) {
            (flow.timed_out, flow.refused) = (u64::MAX, u64::MAX);
        }
        for back in report.pinger_mut().into_iter().flat_map(|pinger| &mut pinger.returns) {
            (back.returned, back.lost) = (u64::MAX, u64::MAX);
            (back.foreign, back.duplicate) = (u64::MAX, u64::MAX);
        }
        if let Some(echo) = report.echo_mut() {
            echo.foreign = u64::MAX;
            let pings = echo.stamps.as_slice().len();
            echo.stamps = TimestampLog::with_capacity(pings);
            let ends = [0, u64::MAX].map(|ns| TimestampPair { first_ns: ns, second_ns: ns });
            for (sequence, stamp) in (0..pings as u64).zip(ends.into_iter().cycle()) {
                echo.stamps.record(sequence, stamp);
            }
        }
    }
}

#[test]
fn counts_that_overflow_are_contradictions() {
    let options = [("latency", "50us"), ("service", "100us")];
    for cell in [
        cell(Workload::Latency, true, 0, &options),
        cell(Workload::Throughput, true, 0, &options),
        paced(constant(2_000), true, &options),
        paced(Load::Max, false, &options),
    ] {
        assert_eq!(Subject::new(cell).with(overflow).state, RunState::Invalid);
    }
}
