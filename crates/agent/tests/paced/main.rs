//! Paced writers and readers: agents in processes of their own, with a bare socket and with a simulated
//! middleware of known speed. No test asserts that something was fast: the host may be busy.

mod allocations;
mod rig;
mod sizes;

use std::{collections::BTreeMap, net::UdpSocket};

use agent::traffic::header::Header;
use control::{Configure, Configured, FlowReaderReport, FlowWriterReport, MAX_WINDOWS};
use experiment::{Load, Rate, ReceiveGroup, ReceiveMode, Schedule, Trace, TraceSamples};
use results::Distribution;
use rig::{MS, Outcome, Run, cell, cell_of, reliable};

fn constant(sps: u64) -> Load {
    Load::Constant { rate: Rate::per_second(sps) }
}

fn quantile(distribution: &Distribution, quantile: f64) -> u64 {
    let mut histograms = distribution.histograms().expect("as recorded").into_iter();
    let mut all = histograms.next().expect("a window");
    histograms.for_each(|histogram| all.add(histogram).expect("of one shape"));
    all.value_at_quantile(quantile)
}

/// Asserts all conditions of a flow whose schedule was kept and whose samples all arrived.
#[track_caller]
fn assert_held(paced_writer: &FlowWriterReport, read: &FlowReaderReport, planned: u64) {
    let (of_writer, of_reader) =
        ((paced_writer.planned, paced_writer.offered, paced_writer.accepted), &read.received);
    assert_eq!(of_writer, (planned, planned, planned));
    assert_eq!((of_reader.delivered, of_reader.missing, of_reader.next), (planned, 0, planned));
    assert_eq!((of_reader.duplicate, of_reader.out_of_order, of_reader.corrupt), (0, 0, 0));
    assert_eq!((paced_writer.send_lag.n, paced_writer.write_call.n), (planned, planned));
    assert_eq!((read.service.n, read.response.n, read.unplaced), (planned, planned, 0));
}

/// Asserts that the response times are service times plus send lags. This holds exactly for each sample, and so for
/// the sums, if writer and reader use the same intended times.
#[track_caller]
fn assert_times_agree(paced_writer: &FlowWriterReport, read: &FlowReaderReport) {
    let sum = |distribution: &Distribution| distribution.mean_ns * distribution.n as f64;
    let (apart, together) = (sum(&paced_writer.send_lag) + sum(&read.service), sum(&read.response));
    assert!((apart - together).abs() <= 1e-6 * together, "{apart} and {together}");
}

#[track_caller]
fn of_one(outcome: &Outcome) -> (&FlowWriterReport, &FlowReaderReport) {
    let ([paced_writer], [read]) = (&outcome.paced_writer.flows[..], &outcome.read.flows[..]) else {
        panic!("one flow");
    };
    (paced_writer, read)
}

#[test]
fn rate_is_exact_and_both_endpoints_use_the_same_schedule() {
    for (driver, receive) in
        [("udp", ReceiveMode::Waitset), ("udp", ReceiveMode::Listener), ("sim", ReceiveMode::Waitset)]
    {
        let mut factors = cell(driver, constant(2_000));
        factors.receive = receive;
        let outcome = Run::new(factors, 300 * MS).held();
        let (paced_writer, read) = of_one(&outcome);
        assert_held(paced_writer, read, 600);
        assert_times_agree(paced_writer, read);
        assert_eq!(outcome.paced_writer.begin_ns, outcome.begin_ns);
        assert!(outcome.paced_writer.end_ns >= outcome.begin_ns + 299 * MS);
        assert!((20_000..=300_000).contains(&outcome.paced_writer.spin_ns));
        assert_eq!(outcome.read.foreign, 0);
        if driver == "sim" {
            // 100 us, the default of the driver `sim`
            assert!(read.service.min_ns >= 100_000, "{}", read.service.min_ns);
        }
    }
}

#[test]
fn traffic_ends_after_the_last_sample_or_with_the_time() {
    let outcome = Run { samples: Some(50), ..Run::new(cell("udp", constant(1_000)), 60_000 * MS) }.such_that(
        |outcome| {
            let (paced_writer, read) = of_one(outcome);
            // on a busy host the usage is metered from a later time on
            let is_metered = outcome.writer.usage.elapsed_ns >= 50 * MS;
            paced_writer.accepted == 50 && read.received.delivered == 50 && is_metered
        },
    );
    let (flow, read) = of_one(&outcome);
    assert_held(flow, read, 50);
    // The last of 50 ms begins with the last sample.
    let took_ns = outcome.paced_writer.end_ns - outcome.begin_ns;
    assert!((49 * MS..30_000 * MS).contains(&took_ns), "{took_ns}");
    assert!(outcome.writer.usage.elapsed_ns < 30_000 * MS, "{:?}", outcome.writer.usage);
    let run = Run { samples: Some(1), ..Run::new(cell("udp", Load::Max), 60_000 * MS) };
    let outcome = run.such_that(|outcome| of_one(outcome).1.received.delivered == 1);
    assert_eq!((of_one(&outcome).0.planned, of_one(&outcome).0.accepted), (1, 1));
    let run = Run { samples: Some(u64::MAX), ..Run::new(cell("udp", constant(1_000)), 100 * MS) };
    let outcome = run.held();
    assert_held(of_one(&outcome).0, of_one(&outcome).1, 100);
}

/// The schedule starts long after the order, and lasts a tenth of that.
#[test]
fn usage_is_of_the_traffic_and_not_of_the_wait_before() {
    let mut run = Run::new(cell("udp", constant(1_000)), 100 * MS);
    run.lead_ns = 1_000 * MS as i64;
    // on a busy host some samples are too late to be offered, some arrive after the metered time, and it begins late
    let outcome = run.such_that(|outcome| {
        let usages = [&outcome.writer.usage, &outcome.reader.usage];
        usages.iter().all(|usage| (99 * MS..400 * MS).contains(&usage.elapsed_ns) && usage.samples == 100)
    });
    for report in [&outcome.writer, &outcome.reader] {
        let idle = report.usage.idle.as_ref().expect("nothing is under way");
        assert!(idle.elapsed_ns >= 50 * MS && idle.used_ns < idle.elapsed_ns, "{idle:?}");
    }
}

#[test]
fn most_samples_leave_long_before_the_next_is_due() {
    for spin in [true, false] {
        let run = Run { spin, ..Run::new(cell("udp", constant(20)), 1_000 * MS) };
        run.such_that(|outcome| quantile(&of_one(outcome).0.send_lag, 0.5) < 5 * MS);
    }
}

#[test]
fn writer_without_spin_sleeps_and_writes_as_many() {
    let mut run = Run::new(cell("udp", constant(1_000)), 200 * MS);
    run.spin = false;
    let outcome = run.held();
    assert_eq!(outcome.paced_writer.spin_ns, 0);
    let (paced_writer, read) = of_one(&outcome);
    assert_held(paced_writer, read, 200);
    assert_times_agree(paced_writer, read);
}

#[test]
fn every_plan_is_followed() {
    let times: Vec<u64> = vec![0, 0, MS, 90 * MS, 90 * MS + 1, 150 * MS];
    let trace = Trace {
        file: "times".to_owned(),
        sha256: "5ca1ab1e".to_owned(),
        samples: times.len() as u64,
        length_ns: 150 * MS,
        sizes: None,
    };
    // the last time is not within the measurement time
    let mut run = Run::new(cell("udp", Load::Trace { trace }), 150 * MS);
    let samples = TraceSamples { times_ns: times.into(), ..TraceSamples::default() };
    run.traces = BTreeMap::from([("5ca1ab1e".to_owned(), samples)]);
    let outcome = run.held();
    assert_held(of_one(&outcome).0, of_one(&outcome).1, 5);
    // a flow that follows a file needs its times
    run.traces.clear();
    let (error, hint) = run.try_outcome().expect_err("without times");
    assert!(error.contains("trace file `times`: expected 6 times, received 0"), "{error}");
    assert!(hint.is_some());

    let rate = Rate { samples: 10, period_ns: 20 * MS };
    let outcome = Run::new(cell("udp", Load::Burst { rate }), 200 * MS).held();
    assert_held(of_one(&outcome).0, of_one(&outcome).1, 100);
    assert_times_agree(of_one(&outcome).0, of_one(&outcome).1);

    let load = Load::Poisson { rate: Rate::per_second(2_000) };
    let planned = Schedule::new(&load, 7, 0, [].into()).expect("a plan").planned(200 * MS);
    let outcome = Run::new(cell("udp", load), 200 * MS).held();
    assert_held(of_one(&outcome).0, of_one(&outcome).1, planned);
    assert_times_agree(of_one(&outcome).0, of_one(&outcome).1);
}

#[test]
fn without_intended_times_only_service_is_known() {
    let mut factors = cell("sim", Load::Max);
    // the middleware blocks: 1,000 samples/s pass
    factors.qos = reliable();
    factors.options = options(&[("service", "1ms"), ("queue", "4")]);
    let outcome = Run::new(factors, 300 * MS).outcome();
    let (paced_writer, read) = of_one(&outcome);
    assert!(paced_writer.accepted > 0 && paced_writer.planned == paced_writer.offered);
    assert_eq!((paced_writer.send_lag.n, read.response.n, read.unplaced), (0, 0, 0));
    assert_eq!((read.service.n, read.received.delivered), (paced_writer.accepted, paced_writer.accepted));
}

fn options(options: &[(&str, &str)]) -> BTreeMap<String, String> {
    options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// 5,000 samples/s are planned, and 1,000 samples/s pass.
#[test]
fn schedule_is_not_shifted_if_it_cannot_be_met() {
    let mut factors = cell("sim", constant(5_000));
    factors.qos = reliable();
    factors.options = options(&[("service", "1ms"), ("queue", "4")]);
    let outcome = Run::new(factors, 400 * MS).outcome();
    let (paced_writer, read) = of_one(&outcome);
    assert_eq!(paced_writer.planned, 2_000);
    // besides those that passed, 4 samples are in the queue, and one may be in the call
    assert!(paced_writer.offered <= 410, "{}", paced_writer.offered);
    assert!(paced_writer.offered - paced_writer.accepted <= 1);
    assert_eq!(read.received.delivered, paced_writer.accepted);
    assert_times_agree_if_all_accepted(paced_writer, read);
    // the lag grows: the last sample is late by 4/5 of the time
    let windows = paced_writer.send_lag.histograms().expect("as recorded");
    let (first, last) = (windows[0].max(), windows.last().expect("a window").max());
    assert!(first < 100 * MS && last > 200 * MS && last > 4 * first, "{first} {last}");
    assert!(paced_writer.send_lag.max_ns <= 400 * MS);
    // most of the lag is time of write calls, and never more than all of it
    let lag_ns = paced_writer.send_lag.mean_ns;
    assert!(
        paced_writer.held_ns > 0.5 * lag_ns && paced_writer.held_ns <= lag_ns,
        "{} {lag_ns}",
        paced_writer.held_ns
    );
    // service time does not show the lag, response time does
    assert!(quantile(&read.response, 0.99) > 10 * quantile(&read.service, 0.5));
}

fn assert_times_agree_if_all_accepted(paced_writer: &FlowWriterReport, read: &FlowReaderReport) {
    // a sample that was not accepted has a send lag, and no response time
    if paced_writer.offered == paced_writer.accepted && paced_writer.timed_out + paced_writer.refused == 0 {
        assert_times_agree(paced_writer, read);
    }
}

/// A write that may not block is rejected, and retried until the time is over.
#[test]
fn refused_samples_are_retried_without_hanging() {
    let mut factors = cell("sim", constant(5_000));
    factors.qos = reliable();
    factors.qos.max_blocking_ns = Some(experiment::QosDuration::Ns(0));
    factors.options = options(&[("service", "20ms"), ("queue", "1")]);
    let outcome = Run::new(factors, 200 * MS).outcome();
    let (paced_writer, read) = of_one(&outcome);
    assert!(paced_writer.refused + paced_writer.timed_out > 0);
    assert!(paced_writer.offered < paced_writer.planned && paced_writer.accepted > 0);
    assert_eq!(read.received.delivered, paced_writer.accepted);
    assert_eq!(paced_writer.send_lag.n, paced_writer.offered);
    assert_eq!(paced_writer.write_call.n, paced_writer.accepted);
    // a write call lasts until it succeeds: as long as the middleware needs for a sample
    assert!(paced_writer.write_call.max_ns > 5 * MS, "{}", paced_writer.write_call.max_ns);
}

#[test]
fn several_flows_are_written_by_one_thread_and_each_reconciles() {
    let poisson = Load::Poisson { rate: Rate::per_second(500) };
    let burst = Load::Burst { rate: Rate { samples: 5, period_ns: 50 * MS } };
    let flows = [("fast", 32, constant(1_000)), ("large", 4_096, poisson), ("bursts", 100, burst)];
    let planned: Vec<_> = flows
        .iter()
        .enumerate()
        .map(|(index, flow)| Schedule::new(&flow.2, 7, index, [].into()).expect("a plan").planned(300 * MS))
        .collect();
    for (driver, receive) in
        [("udp", ReceiveMode::Waitset), ("udp", ReceiveMode::Polling), ("sim", ReceiveMode::Listener)]
    {
        let mut factors = cell_of(driver, &flows);
        factors.receive = receive;
        let outcome = Run::new(factors, 300 * MS).held();
        assert_eq!(outcome.paced_writer.flows.len(), 3);
        for (index, planned) in planned.iter().enumerate() {
            let (paced_writer, read) = (&outcome.paced_writer.flows[index], &outcome.read.flows[index]);
            assert_held(paced_writer, read, *planned);
            assert_times_agree(paced_writer, read);
            assert_eq!(read.received.bytes, planned * flows[index].1);
            assert_eq!(read.received.writer, index as u16 + 1);
        }
        // each endpoint is reported under its own name
        let [writer, reader] = &outcome.configured;
        for (found, expected) in [
            (reader.effective_qos.keys().collect::<Vec<_>>(), ["reader", "reader-2", "reader-3"]),
            (writer.effective_qos.keys().collect(), ["writer", "writer-2", "writer-3"]),
            (outcome.writer.counters.keys().collect(), ["writer", "writer-2", "writer-3"]),
            (outcome.reader.counters.keys().collect(), ["reader", "reader-2", "reader-3"]),
        ] {
            assert_eq!(found, expected);
        }
        assert_eq!(reader.reader_locators.len(), 3);
    }
}

#[test]
fn samples_of_others_are_not_counted() {
    /// Sends to the reader's socket: a sample of another run, one of another writer, and a datagram that is no
    /// sample.
    fn intrude([_, reader]: &[Configured; 2], configure: &Configure) {
        let address = reader.reader_locators[0].strip_prefix("udp4:").expect("a locator");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let ours = Header {
            sequence: 3,
            writer: 1,
            tag: configure.run_tag,
            warm_up: false,
            sent_ns: agent::base::clock::now_ns(),
        };
        let mut payload = [0; 64];
        for header in [Header { tag: 0x321, ..ours }, Header { writer: 2, ..ours }] {
            header.stamp(&mut payload);
            assert_eq!(socket.send_to(&payload, address).expect("sent"), 64);
        }
        socket.send_to(b"hello", address).expect("sent");
    }
    let mut run = Run::new(cell("udp", constant(500)), 100 * MS);
    run.disturb = intrude;
    let outcome = run.held();
    assert_held(of_one(&outcome).0, of_one(&outcome).1, 50);
    assert_eq!(outcome.read.foreign, 3);
}

/// At 1,000 samples/s a group of 8 is not full after 5 ms.
#[test]
fn samples_are_received_in_groups_and_their_times_have_the_wait() {
    for driver in ["udp", "sim"] {
        let grouped = |group: Option<ReceiveGroup>| {
            let mut factors = cell(driver, constant(1_000));
            factors.queues.receive_group = group;
            Run::new(factors, 300 * MS)
        };
        let outcome = grouped(Some(ReceiveGroup::new(8, 5 * MS))).held();
        let (paced_writer, read) = of_one(&outcome);
        assert_held(paced_writer, read, 300);
        assert_times_agree(paced_writer, read);
        let takes = read.takes.as_ref().expect("of a reader that is asked");
        assert_eq!(takes.samples, 300);
        // a group that is not full has waited 5 ms: at most 61 of these, and 38 full ones
        assert!(takes.groups < 100 && (3..=8).contains(&takes.max_samples), "{takes:?}");
        assert!(takes.calls >= takes.groups, "{takes:?}");
        assert!(read.response.max_ns >= 5 * MS, "{}", read.response.max_ns);
        assert!(read.service.mean_ns > 1e6, "{}", read.service.mean_ns);

        // without groups; repeated until the host is quiet enough
        let run = grouped(None);
        let outcome = run.such_that(|outcome| {
            let takes = of_one(outcome).1.takes.as_ref().expect("of a reader that is asked");
            takes.groups > 200 && of_one(outcome).1.service.mean_ns < 1e6
        });
        let (_, read) = of_one(&outcome);
        assert_eq!(read.takes.as_ref().map(|takes| takes.samples), Some(read.received.delivered));
    }
}

/// A full group does not wait: the time limit of the groups alone would add up to 30 s.
#[test]
fn a_full_group_does_not_wait() {
    let mut factors = cell("udp", Load::Burst { rate: Rate { samples: 4, period_ns: MS } });
    factors.queues.receive_group = Some(ReceiveGroup::new(4, 100 * MS));
    let outcome = Run::new(factors, 300 * MS).held();
    let (paced_writer, read) = of_one(&outcome);
    assert_held(paced_writer, read, 1_200);
    assert_times_agree(paced_writer, read);
    let takes = read.takes.as_ref().expect("of a reader that is asked");
    assert_eq!((takes.samples, takes.max_samples), (1_200, 4));
    assert!(takes.groups >= 300, "{takes:?}");
}

/// Samples wait until a batch is full, and the rest leaves at the end.
#[test]
fn a_batch_leaves_when_it_is_full() {
    let mut factors = cell("udp", constant(1_000));
    (factors.batch_bytes, factors.batching) = (640, experiment::Batching::Application);
    let outcome = Run::new(factors, 105 * MS).held();
    let (paced_writer, read) = of_one(&outcome);
    assert_held(paced_writer, read, 105);
    assert_times_agree(paced_writer, read);
    // the first of ten samples waits for nine others
    assert!(read.response.max_ns >= 9 * MS, "{}", read.response.max_ns);
}

#[test]
fn writer_that_misses_the_start_keeps_a_later_one() {
    let mut run = Run::new(cell("udp", constant(100)), 100 * MS);
    run.lead_ns = -50 * MS as i64;
    let outcome = run.held();
    assert!(outcome.missed[0] >= 50 * MS, "{:?}", outcome.missed);
    // Nothing of the missed start is left on either side.
    let (writer, read) = of_one(&outcome);
    assert_held(writer, read, 10);
    assert_times_agree(writer, read);
    assert_eq!(outcome.paced_writer.begin_ns, outcome.begin_ns);
}

#[test]
fn too_many_windows_are_rejected_by_name() {
    let mut run = Run::new(cell("udp", constant(10)), 100 * MS);
    for windows in [MAX_WINDOWS + 1, u32::MAX] {
        run.windows = windows;
        let (error, hint) = run.try_outcome().expect_err("too many");
        assert_eq!(
            error,
            format!("`windows` of the order `configure` is out of range: {windows}, at most {MAX_WINDOWS}")
        );
        assert!(hint.is_some());
    }
}
