//! Warnings that the simulated middleware or its host cause, each beside a run without the cause.

use experiment::{Cell, Load, Rate, ReceiveMode, Workload};
use results::{Run, RunState, WarningKind};
use simulate::{HostModel, Simulator};

use super::{Subject, warns};
use crate::rig::{SECOND, cell, constant, paced};

/// Returns the record of 100 ms of a cell.
fn run(cell: Cell) -> Run {
    Subject::new(cell).run()
}

/// Checks that the second run has this warning, and the first one has not.
#[track_caller]
fn causes(runs: [Run; 2], kind: WarningKind, text: &str) {
    let [without, with] = runs;
    assert!(!warns(&without, kind, text), "{text}: {:?}", without.warnings);
    assert!(warns(&with, kind, text), "{text}: {:?}", with.warnings);
}

fn stream(reliable: bool, options: &[(&str, &str)]) -> Cell {
    cell(Workload::Throughput, reliable, 0, options)
}

#[test]
fn simulated_middleware_without_a_fault_has_no_warning() {
    let options = [("latency", "50us"), ("service", "20us"), ("queue", "10")];
    for cell in [
        cell(Workload::Latency, true, 0, &options),
        stream(true, &options),
        stream(false, &options),
        paced(constant(1_000), true, &options),
        paced(Load::Max, false, &options),
    ] {
        let run = run(cell);
        assert_eq!((run.state, run.warnings), (RunState::Valid, Vec::new()));
    }
}

#[test]
fn losses_duplicates_and_order_are_reported() {
    let stream = |option| run(stream(false, &[("service", "10us"), option]));
    let none = || stream(("loss", "0"));
    causes([none(), stream(("loss", "2%"))], WarningKind::Loss, "samples were lost (");
    causes([none(), stream(("duplicate", "2%"))], WarningKind::Order, "samples came again, 0 out of order");
    let reordered = run(self::stream(false, &[("service", "10us"), ("reorder", "2%"), ("hold", "1ms")]));
    causes([none(), reordered], WarningKind::Order, "0 samples came again");
    let pings = |loss| run(cell(Workload::Latency, false, 0, &[("latency", "50us"), ("loss", loss)]));
    causes([pings("0"), pings("5%")], WarningKind::Loss, "pings were lost (");
}

/// An echo after the timeout of 200 ms is late.
#[test]
fn late_echoes_are_reported() {
    let pings = |latency| run(cell(Workload::Latency, true, 0, &[("latency", latency)]));
    causes(
        [pings("90ms"), pings("120ms")],
        WarningKind::LatePings,
        "1 of the pings that count as lost came back",
    );
}

#[test]
fn samples_after_the_end_are_the_tail_or_are_not_waited_for() {
    let run = |latency, reliable| {
        run(stream(reliable, &[("latency", latency), ("service", "1ms"), ("queue", "5")]))
    };
    // The quickest sample takes longer than half of the measurement.
    causes([run("1ms", true), run("60ms", true)], WarningKind::Tail, "even the quickest sample took 6");
    // The drain waits for 5 s.
    let (soon, late) = (run("4s", true), run("6s", true));
    causes([soon, late.clone()], WarningKind::Incomplete, "were still under way");
    assert_eq!(
        (late.flows[0].counted.lost, late.flows[0].counted.undelivered),
        (0, late.flows[0].counted.sent)
    );
    // Without reliability a silence of 200 ms ends it, and what is missing is lost.
    causes([run("150ms", false), run("350ms", false)], WarningKind::Loss, "samples were lost (100 %)");
    // Half of the samples are read after the end.
    let slow = |read_ns| {
        let host = HostModel { write_ns: 10_000.0, read_ns, ..HostModel::default() };
        Subject::on(Simulator::on(host), stream(true, &[])).run()
    };
    causes([slow(5_000.0), slow(20_000.0)], WarningKind::Tail, "came after the writing had ended");
}

#[test]
fn rate_of_few_samples_is_reported() {
    let run = |service| run(stream(true, &[("service", service), ("queue", "1")]));
    causes([run("1ms"), run("20ms")], WarningKind::FewSamples, "one more or less would change the rate by");
    let lost = self::run(stream(false, &[("loss", "100%")]));
    causes([run("1ms"), lost], WarningKind::FewSamples, "0 of");
}

#[test]
fn drops_at_a_full_socket_buffer_are_reported() {
    let run = |receive_buffer| {
        let host = HostModel { read_ns: 5_000.0, receive_buffer, ..HostModel::default() };
        Subject::on(Simulator::on(host), stream(false, &[])).run()
    };
    causes([run(None), run(Some(8))], WarningKind::BufferDrops, "the kernel dropped");
}

#[test]
fn polling_reader_waits_by_using_its_core() {
    let run = |receive| {
        let mut cell = stream(true, &[("service", "20us")]);
        cell.factors.receive = receive;
        run(cell)
    };
    let runs = [ReceiveMode::Waitset, ReceiveMode::Polling].map(run);
    causes(runs, WarningKind::IdleCpu, "the reader's process waits by using its core");
}

#[test]
fn sender_that_falls_behind_is_reported_with_the_cause() {
    let options = [("service", "100us"), ("queue", "5"), ("latency", "50us")];
    let middleware = |offered| run(paced(constant(offered), true, &options));
    causes([middleware(9_000), middleware(12_000)], WarningKind::BackPressure, "holds its writer up");
    causes([middleware(9_000), middleware(12_000)], WarningKind::Unsent, "planned samples (");
    let writer = |write_ns| {
        let host = HostModel { write_ns, ..HostModel::default() };
        Subject::on(Simulator::on(host), paced(constant(9_000), true, &options)).run()
    };
    causes([writer(1_000.0), writer(150_000.0)], WarningKind::SenderLimited, "what writing costs");
}

/// A burst is late by design: its samples are written one after the other.
#[test]
fn burst_is_measured_by_its_own_period() {
    let burst = |samples| Load::Burst { rate: Rate { samples, period_ns: SECOND / 50 } };
    let run = |samples| run(paced(burst(samples), true, &[("latency", "50ms")]));
    causes([run(1_000), run(5_000)], WarningKind::BackPressure, "more than a tenth of the period (20000 µs)");
}
