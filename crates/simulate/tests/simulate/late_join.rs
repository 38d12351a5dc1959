//! Late join of a reader against the truth of the configuration: what it gets, and what it does not.

use collector::RunReports;
use control::{PastReception, WrittenBeforeJoin};
use experiment::{Cell, Design, Durability, History, Join, ScheduledRun, Topology, Workload};
use results::{LateJoinRecord, Run, RunState, WarningKind};
use simulate::Simulator;

use crate::rig::{MS, SECOND, cell, constant, design, paced, run};

fn late(mut cell: Cell, writers: u16, readers: u16) -> Cell {
    cell.factors.topology = Topology::Mesh { writers, readers };
    cell.factors.discovery.join = Join::Late;
    cell
}

fn record(run: &Run) -> &LateJoinRecord {
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    run.late_join.as_ref().expect("a late join")
}

/// Asserts that each accepted sample was written before the join, delivered, lost or under way.
#[track_caller]
fn reconciles(run: &Run) {
    let join = record(run);
    for flow in &join.flows {
        let counted = &flow.counted;
        let accepted = run.flows.iter().find(|other| other.writer == flow.writer).map(|of| of.counted.sent);
        assert_eq!(Some(flow.before + counted.sent), accepted, "{flow:?}");
        assert_eq!(counted.sent, counted.delivered + counted.lost + counted.undelivered, "{flow:?}");
        assert!(flow.before_delivered <= flow.before, "{flow:?}");
    }
    assert!(run.flows.iter().all(|flow| flow.reader != join.reader), "the run has the values of the others");
}

#[test]
fn volatile_reader_misses_what_was_written_before_and_loses_nothing() {
    for (writers, readers) in [(1, 2), (1, 3), (3, 2)] {
        let cell = late(paced(constant(1_000), true, &[("latency", "50us")]), writers, readers);
        let run = run(&mut Simulator::new(), &cell, 3 * SECOND, 1);
        reconciles(&run);
        let join = record(&run);
        assert_eq!(join.reader, format!("reader-{readers}"));
        assert_eq!((join.begin_ns, join.flows.len()), (SECOND, usize::from(writers)));
        for flow in &join.flows {
            assert_eq!(
                (flow.before_delivered, flow.counted.lost, flow.counted.undelivered),
                (0, 0, 0),
                "{flow:?}"
            );
            // 1,000 samples per second until it has joined
            let expected = 1_000 + join.joined_ns.div_ceil(MS);
            assert!(flow.before.abs_diff(expected) <= 1, "{flow:?}, {join:?}");
            assert_eq!(flow.counted.delivered, 3_000 - flow.before, "{flow:?}");
        }
        assert!(run.warnings.iter().all(|warning| warning.kind != WarningKind::Loss), "{:?}", run.warnings);
        // The first sample that it can get is written at most 1 ms after it has joined.
        let first = join.first_sample_ns.expect("a sample");
        assert!((join.joined_ns..join.joined_ns + 2 * MS).contains(&first), "{join:?}");
        assert_eq!(join.caught_up_ns, None);
    }
}

#[test]
fn kept_samples_are_served_and_counted_as_past() {
    let past = |history, depth| {
        let mut cell = late(paced(constant(1_000), true, &[("latency", "50us")]), 1, 2);
        cell.factors.qos.durability = Some(Durability::TransientLocal);
        cell.factors.qos.history = Some(history);
        cell.factors.qos.history_depth = depth;
        let run = run(&mut Simulator::new(), &cell, 3 * SECOND, 1);
        reconciles(&run);
        let join = record(&run).clone();
        let caught_up = join.caught_up_ns.expect("samples of the past");
        assert!((join.joined_ns..join.joined_ns + 10 * MS).contains(&caught_up), "{join:?}");
        assert_eq!(join.flows[0].counted.lost, 0);
        (join.flows[0].before, join.flows[0].before_delivered)
    };
    assert_eq!(past(History::KeepLast, Some(100)).1, 100);
    assert_eq!(past(History::KeepLast, None).1, 1);
    let (before, delivered) = past(History::KeepAll, None);
    assert_eq!(before, delivered);
}

#[test]
fn only_samples_written_since_the_join_are_lost() {
    let (loss, options) = (0.1, [("service", "20us"), ("queue", "10"), ("loss", "10%")]);
    let cell = late(cell(Workload::Throughput, false, 0, &options), 2, 3);
    let run = run(&mut Simulator::new(), &cell, 3 * SECOND, 1);
    reconciles(&run);
    let join = record(&run);
    for flow in &join.flows {
        let expected = flow.counted.sent as f64 * loss;
        let allowed = 4.0 * (expected * (1.0 - loss)).sqrt();
        assert!((flow.counted.lost as f64 - expected).abs() <= allowed, "{flow:?}");
        assert_eq!(flow.before_delivered, 0, "{flow:?}");
    }
    let warned =
        |text: &str| run.warnings.iter().any(|of| of.kind == WarningKind::Loss && of.text.contains(text));
    assert!(warned("reader-3 joined late and lost "), "{:?}", run.warnings);
    // Rates are those of the other readers.
    assert_eq!(run.flows.len(), 4);
    assert_eq!(join.others.len(), 4);
    let rates = run.throughput().expect("rates");
    for cost in &join.others {
        for rate in cost.delivered_sps {
            assert!((rate / (rates.delivered_sps / 2.0) - 1.0).abs() < 0.1, "{cost:?}, {rates:?}");
        }
    }
}

#[test]
fn all_values_of_the_others_are_as_without_the_late_reader() {
    let options = [("latency", "50us")];
    let together = |readers| {
        let mut cell = paced(constant(1_000), true, &options);
        cell.factors.topology = Topology::Mesh { writers: 1, readers };
        run(&mut Simulator::new(), &cell, SECOND, 1)
    };
    let without = together(2);
    let with = run(&mut Simulator::new(), &late(paced(constant(1_000), true, &options), 1, 3), SECOND, 1);
    let counts = |run: &Run| -> Vec<_> {
        run.flows.iter().map(|flow| (flow.reader.clone(), flow.counted.sent, flow.counted.lost)).collect()
    };
    assert_eq!(counts(&with), counts(&without));
    assert_eq!(with.latency["response"].n, without.latency["response"].n);
}

/// Returns the record of a run with changed reports.
fn changed(change: impl FnOnce(&mut RunReports)) -> Run {
    const SCHEDULED: ScheduledRun = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    let cell = late(paced(constant(1_000), true, &[("latency", "50us")]), 1, 2);
    // A third of the measurement has several windows.
    let design = Design { windows: 20, ..design(300 * MS) };
    let mut simulator = Simulator::new();
    let mut reports = simulator.reports(&cell, &design, SCHEDULED).expect("reports");
    change(&mut reports);
    simulator.record(&cell, &design, SCHEDULED, &reports).run
}

fn before(reports: &mut RunReports) -> &mut WrittenBeforeJoin {
    let writer = reports.agents[0].report.writer_mut().expect("a writer");
    writer.flows[0].before_join.as_mut().expect("a late join")
}

fn past(reports: &mut RunReports) -> &mut PastReception {
    let reader = reports.agents[2].report.reader_mut().expect("a reader");
    reader.flows[0].join.as_mut().and_then(|join| join.past.as_mut()).expect("a late reader")
}

#[test]
fn records_of_writer_and_late_reader_must_agree() {
    let contradicts = |text: &str, change: fn(&mut RunReports)| {
        let run = changed(change);
        assert_eq!(run.state, RunState::Invalid, "{text}");
        assert!(run.warnings.iter().any(|warning| warning.text.contains(text)), "{text}: {:?}", run.warnings);
    };
    assert_eq!(changed(|_| {}).state, RunState::Valid);
    contradicts("samples written since the reader had joined came, but only", |reports| {
        before(reports).samples += 1;
    });
    contradicts("samples written before the reader had joined came, but of", |reports| {
        past(reports).delivered = before(reports).samples + 1;
    });
    contradicts("when the record of the samples written meanwhile was full", |reports| {
        before(reports).exact = false;
    });
    contradicts("when the record of the samples written meanwhile was full", |reports| {
        past(reports).exact = false;
    });
    contradicts("did not report what it recorded of the late join", |reports| {
        let reader = reports.agents[2].report.reader_mut().expect("a reader");
        reader.flows[0].join = None;
    });
}

#[test]
fn lost_sample_of_a_late_reader_is_counted_and_named() {
    let run = changed(|reports| {
        let reader = reports.agents[2].report.reader_mut().expect("a reader");
        let read = &mut reader.flows[0];
        let received = &mut read.received;
        (received.delivered, received.missing) = (received.delivered - 1, received.missing + 1);
        received.bytes -= 1000;
        received.given -= 1;
        received.taken = Some(received.given);
        let last = received.window_delivered.iter().rposition(|count| *count > 0).expect("samples");
        received.window_delivered[last] -= 1;
    });
    let join = record(&run);
    assert_eq!(join.flows[0].counted.lost, 1);
    assert!(
        run.warnings.iter().any(|warning| warning.text.starts_with("reader-2 joined late and lost 1 of "))
    );
}

#[test]
fn gap_of_another_reader_around_the_join_is_found() {
    let run = changed(|reports| {
        let reader = reports.agents[1].report.reader_mut().expect("a reader");
        reader.flows[0].join.as_mut().expect("a late join").longest_gap_ns = [MS, 40 * MS, 2 * MS];
    });
    let [cost] = &record(&run).others[..] else { panic!("one other reader") };
    assert_eq!((cost.reader.as_str(), cost.longest_gap_ns), ("reader-1", [MS, 40 * MS, 2 * MS]));
    assert!(cost.service_p99_ns.is_some_and(|p99| p99.iter().all(|ns| *ns > 0.0)), "{cost:?}");
}
