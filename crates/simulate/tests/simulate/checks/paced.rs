//! Schedules, counts and latencies of paced runs.

use collector::RunReports;
use control::{FlowReaderReport, FlowWriterReport, ReaderReport, RoleReport, WriterReport};
use experiment::{Flow, Load, SizeDistribution, Sizes};
use results::{Distribution, Usage, WarningKind, Windows};

use super::{DRIVING, SERVING, Subject, warns};
use crate::rig::{MS, constant, paced, poisson};

fn subject(load: Load) -> Subject {
    Subject::new(paced(load, true, &[("latency", "50us"), ("service", "10us")]))
}

fn writer(reports: &mut RunReports) -> &mut WriterReport {
    reports.agents[DRIVING].report.writer_mut().expect("a writer")
}

fn reader(reports: &mut RunReports) -> &mut ReaderReport {
    reports.agents[SERVING].report.reader_mut().expect("a reader")
}

fn written(reports: &mut RunReports) -> &mut FlowWriterReport {
    &mut writer(reports).flows[0]
}

fn read(reports: &mut RunReports) -> &mut FlowReaderReport {
    &mut reader(reports).flows[0]
}

/// Returns a distribution of `n` equal values.
fn values(n: u64, value_ns: u64) -> Distribution {
    let mut windows = Windows::new(1, 100 * MS);
    windows.begin(0);
    (0..n).for_each(|_| windows.record(0, value_ns));
    windows.distribution()
}

#[test]
fn writer_must_follow_the_schedule_that_the_runner_computes() {
    for load in [constant(2_000), poisson(2_000)] {
        let subject = subject(load);
        subject.contradicts("samples for the measured time, the writer had", |reports| {
            written(reports).planned += 1;
        });
        subject.contradicts("planned", |reports| written(reports).offered += 1);
        subject.contradicts("send lags were recorded", |reports| {
            let offered = written(reports).offered;
            written(reports).send_lag = values(offered - 1, 0);
        });
        subject.contradicts("were time of write calls", |reports| written(reports).held_ns += 10.0);
        subject.contradicts("were sent when measured", |reports| reports.agents[DRIVING].sent += 1);
        subject.contradicts("did not report what its role records", |reports| {
            reports.agents[SERVING].report.role = RoleReport::Participant;
        });
        subject.contradicts("of 1 flows the reader reported 0", |reports| {
            reader(reports).flows.clear();
        });
    }
    // The seed determines a random schedule: with another one the numbers of samples differ.
    let mut other = subject(poisson(2_000));
    let planned = other.run().paced().expect("a paced run").planned;
    other.design.seed += 1;
    let run = other.run();
    assert!(warns(&run, WarningKind::RunsInvalid, &format!("the writer had {planned}")), "{run:?}");
}

#[test]
fn bytes_of_different_sizes_must_be_those_planned() {
    let mut cell = paced(constant(2_000), true, &[("latency", "50us"), ("service", "10us")]);
    let distribution = SizeDistribution::Values { values: vec![64, 1_024], weights: vec![9, 1] };
    cell.factors.load = None;
    cell.factors.size_bytes = 1_024;
    let sizes = Some(Sizes { distribution, seed: 1 });
    cell.factors.flows = vec![Flow { sizes, ..Flow::new("mix", 1_024, constant(2_000)) }];
    let subject = Subject::new(cell);
    // All arrived: the sum is known. One large sample instead of a small one is found.
    subject.contradicts("bytes in all, not", |reports| read(reports).received.bytes += 960);
    subject.contradicts("bytes in all, not", |reports| read(reports).received.bytes -= 1);
    // Some are missing: each has at least the smallest size.
    subject.contradicts("bytes in all, not", |reports| {
        let received = &mut read(reports).received;
        received.bytes = 64 * received.delivered - 1;
        written(reports).accepted += 1;
    });
}

#[test]
fn latencies_must_agree_with_counts_and_with_each_other() {
    let subject = subject(constant(2_000));
    subject.contradicts("service times were recorded", |reports| {
        let n = read(reports).service.n;
        read(reports).service = values(n - 1, 60_000);
    });
    subject.contradicts("came too late for one", |reports| read(reports).unplaced += 1);
    subject.contradicts("samples were written before their intended times", |reports| {
        let n = read(reports).response.n;
        read(reports).response = values(n, 50_000);
    });
    subject.contradicts("writer and reader do not follow the same plan", |reports| {
        let n = read(reports).response.n;
        read(reports).response = values(n, 90_000);
    });
    // The rest of the response is time of attempts before the successful one.
    let repeated = subject.with(|reports| {
        let n = read(reports).response.n;
        read(reports).response = values(n, 90_000);
        written(reports).timed_out = 1;
    });
    assert!(!warns(&repeated, WarningKind::RunsInvalid, ""), "{:?}", repeated.warnings);
}

#[test]
fn load_without_intended_times_has_no_responses() {
    let subject = subject(Load::Max);
    subject.contradicts("without intended times, 2 responses", |reports| {
        read(reports).response = values(2, 90_000);
    });
    subject.contradicts("and 3 send lags were recorded", |reports| {
        written(reports).send_lag = values(3, 90_000);
    });
}

#[test]
fn each_flow_is_checked_under_its_name() {
    let flow = |name: &str, load| Flow::new(name, 100, load);
    let mut cell = paced(constant(1_000), true, &[("latency", "50us")]);
    cell.factors.load = None;
    cell.factors.flows = vec![flow("state", constant(1_000)), flow("events", poisson(500))];
    let subject = Subject::new(cell);
    subject.contradicts("flow `events`: the plan has", |reports| writer(reports).flows[1].planned += 1);
    subject.contradicts("flow `state`: the sink was given", |reports| read(reports).received.given += 1);
    subject.contradicts("flow `events`: the writer's driver says that it sent 1 bytes", |reports| {
        let counters = &mut reports.agents[DRIVING].report.counters;
        counters.insert("writer-2".to_owned(), [("bytes_sent".to_owned(), 1)].into());
    });
}

#[test]
fn multicast_is_compared_with_the_samples_of_all_flows() {
    let flow = |name: &str, size_bytes| {
        let load = constant(1_000);
        Flow::new(name, size_bytes, load)
    };
    let mut cell = paced(constant(1_000), true, &[("latency", "50us")]);
    cell.factors.load = None;
    cell.factors.multicast = true;
    cell.factors.flows = vec![flow("a", 100), flow("b", 900)];
    Subject::new(cell).contradicts("of samples with 100000 B the kernel sent 50000 B", |reports| {
        let sockets = reports.agents[DRIVING].report.sockets.as_mut().expect("counters");
        sockets.multicast.as_mut().expect("counters").bytes = 50_000;
    });
}

/// A sender that waits in its calls is held up, unless its calls or other processes use its time.
#[test]
fn late_sender_is_classified_by_its_cause() {
    let subject = subject(constant(2_000));
    let late = |reports: &mut RunReports, held: f64, usage: Usage| {
        let flow = written(reports);
        let n = flow.offered;
        (flow.send_lag, flow.held_ns) = (values(n, 100_000), held * 100_000.0);
        flow.write_call = values(n, 400_000);
        let n = read(reports).service.n;
        (read(reports).service, read(reports).response) = (values(n, 60_000), values(n, 160_000));
        let writer = &mut reports.agents[DRIVING].report;
        writer.usage = Usage { elapsed_ns: 100 * MS, samples: writer.usage.samples, ..usage };
    };
    let used = |user_ns| Usage { user_ns, ..Usage::default() };
    let waited = Usage { user_ns: 10 * MS, run_delay_ns: Some(80 * MS), ..Usage::default() };
    for (held, usage, kind, text) in [
        (1.0, used(10 * MS), WarningKind::BackPressure, "the middleware holds its writer up"),
        (0.3, used(10 * MS), WarningKind::SenderLimited, "90 % of the send lag is 100 µs"),
        (1.0, used(95 * MS), WarningKind::SenderLimited, "what writing costs holds the sender up"),
        (1.0, waited, WarningKind::SenderLimited, "its process was kept from its cores"),
    ] {
        subject.warns(kind, text, |reports| late(reports, held, usage.clone()));
        let paced = subject.with(|reports| late(reports, held, usage)).paced().expect("a paced run").clone();
        let held_up = kind == WarningKind::BackPressure;
        assert_eq!((paced.back_pressure, paced.sender_limited), (held_up, !held_up), "{text}");
    }
}
