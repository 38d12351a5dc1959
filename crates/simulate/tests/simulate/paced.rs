//! Comparison of paced runs with queueing theory and exact values.

use experiment::{
    Batching, Cell, Deadline, Design, Flow, Load, Rate, ReceiveGroup, ScheduledRun, SizeDistribution,
    SizeTable, Sizes, Trace, TraceSamples, Workload,
};
use results::{Run, RunState};
use sim_model::{GroundTruth, Mg1Queue};
use simulate::Simulator;

use crate::rig::{MS, SECOND, cell, config, constant, design, paced, poisson, run};

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Checks that the mean of independent runs equals `truth` within four standard errors. Returns the standard error.
fn agree(values: &[f64], truth: f64) -> Result<f64, String> {
    let (n, mean) = (values.len() as f64, mean(values));
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    if (mean - truth).abs() <= 4.0 * error {
        Ok(error)
    } else {
        Err(format!("{mean} is not {truth} within 4 times {error}"))
    }
}

/// Response times of independent runs: mean, shares up to given times, and 99 % quantile.
struct Responses {
    means: Vec<f64>,
    shares: Vec<Vec<f64>>,
    highs: Vec<f64>,
}

fn responses(cell: &Cell, runs: u64, measure_ns: u64, up_to: &[f64]) -> Responses {
    let mut simulator = Simulator::new();
    let mut all = Responses { means: Vec::new(), shares: vec![Vec::new(); up_to.len()], highs: Vec::new() };
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    for seed in 0..runs {
        // A schedule of its own for each run.
        let design = Design { seed, ..design(measure_ns) };
        let metrics = simulator.metrics(cell, &design, scheduled).expect("measured");
        let response = &simulator.series("response").expect("recorded").values;
        let values: Vec<f64> = response.iter().map(|&(_, ns)| ns as f64).collect();
        all.means.push(mean(&values));
        for (shares, up_to) in all.shares.iter_mut().zip(up_to) {
            shares.push(values.iter().filter(|value| *value <= up_to).count() as f64 / values.len() as f64);
        }
        all.highs.push(metrics.response_p99_ns.expect("enough") as f64);
    }
    all
}

/// Returns the distribution of the waiting time at this load.
fn waiting(options: &[(&str, &str)], rate_sps: f64) -> Mg1Queue {
    let config = config(options);
    GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0).waiting(rate_sps).expect("below capacity")
}

/// M/D/1: a server of 100 µs with Poisson arrivals.
#[test]
fn response_times_are_those_of_pollaczek_khinchine_and_of_the_queue_of_constant_service() {
    const ALONE: f64 = 130_000.0;
    let options = [("service", "100us"), ("queue", "1000000"), ("latency", "30us")];
    for (load, runs) in [(0.3, 24), (0.5, 24), (0.7, 24), (0.9, 48)] {
        let rate_sps = load * 10_000.0;
        let cell = paced(poisson(rate_sps as u64), true, &options);
        let waits = [0.5, 30_000.0, 130_000.0, 400_000.0];
        let Responses { means, shares, highs } =
            responses(&cell, runs, 10 * SECOND, &waits.map(|wait| ALONE + wait));
        let truth = waiting(&options, rate_sps);
        let wait = truth.mean_ns();
        let error = agree(&means, wait + ALONE).unwrap_or_else(|error| panic!("{load}: mean: {error}"));
        // The check detects a deviation of 5 % of the waiting time, or less.
        assert!(error < 0.0125 * wait, "{load}: {error}, {wait}");
        let high = truth.quantile(0.99).expect("constant service") + ALONE;
        agree(&highs, high).unwrap_or_else(|error| panic!("{load}: p99: {error}"));
        for (wait, shares) in waits.into_iter().zip(&shares) {
            let known = truth.cdf(wait).expect("constant service");
            agree(shares, known).unwrap_or_else(|error| panic!("{load}, {wait}: {error}"));
            assert!(agree(shares, known - 0.02).is_err(), "{load}, {wait}");
        }
        println!(
            "load {load}: mean wait {:.2} us, {:.2} us known, standard error {:.2} us, {runs} runs; p99 {:.1} us, {:.1} us \
             known",
            (mean(&means) - ALONE) / 1e3,
            wait / 1e3,
            error / 1e3,
            mean(&highs) / 1e3,
            high / 1e3
        );
        // The check can fail: with a load that deviates by a tenth of the free capacity, or a server with jitter.
        let off = waiting(&options, rate_sps + 1_000.0 * (1.0 - load)).mean_ns();
        assert!(agree(&means, off + ALONE).is_err(), "{load}");
        assert!(agree(&means, 2.0 * wait + ALONE).is_err(), "{load}");
    }
}

/// M/G/1.
#[test]
fn a_server_that_jitters_makes_samples_wait_for_longer_as_pollaczek_khinchine_has_it() {
    for (jitter, reliable) in [("0.5", false), ("1", true)] {
        let options = [("service", "100us"), ("jitter", jitter), ("queue", "1000000"), ("latency", "0")];
        let cell = paced(poisson(7_000), reliable, &options);
        let Responses { means, .. } = responses(&cell, 24, 10 * SECOND, &[]);
        let wait = waiting(&options, 7_000.0).mean_ns();
        let error = agree(&means, wait + 100_000.0).expect(jitter);
        assert!(error < 0.02 * wait, "{jitter}: {error}");
        let constant = waiting(&[("service", "100us")], 7_000.0).mean_ns();
        assert!(agree(&means, constant + 100_000.0).is_err(), "{jitter}");
    }
}

#[test]
fn response_without_lag_equals_service() {
    let options = [("latency", "lognormal:80us,0.3"), ("service", "20us")];
    let design = Design { windows: 100, ..design(SECOND) };
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    let run = Simulator::new()
        .run(&paced(constant(10_000), true, &options), &design, scheduled)
        .expect("measured")
        .run;
    let [service, response, lag, call] =
        ["service", "response", "send_lag", "write_call"].map(|kind| &run.latency[kind]);
    assert_eq!(service, response);
    assert_eq!((lag.max_ns, lag.n, service.n, call.n), (0, 10_000, 10_000, 10_000));
    let config = config(&options);
    let truth = GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0);
    // Samples 100 µs apart rarely overtake each other; if they would, they wait.
    let median = service.p50_ns.expect("enough") as f64;
    let (low, high) = (truth.quantile(0.48), truth.quantile(0.53));
    assert!((low..high).contains(&median), "{median}: {low} {high}");
    let paced = run.paced().expect("a paced run");
    assert_eq!((paced.planned, paced.planned_sps, paced.unsent), (10_000, Some(10_000.0), 0));
    assert!(!paced.sender_limited);
    let throughput = run.throughput().expect("rates");
    assert_eq!((throughput.offered_sps, throughput.accepted_sps), (10_000.0, 10_000.0));
    assert!((throughput.delivered_sps / 10_000.0 - 1.0).abs() < 0.001, "{throughput:?}");
    assert!((throughput.goodput_mbps / 80.0 - 1.0).abs() < 0.001, "{throughput:?}");
    assert_eq!(run.steady_state.keys().collect::<Vec<_>>(), ["delivered", "response_p50", "response_p99"]);
}

#[test]
fn each_sample_of_a_burst_waits_for_those_before_it() {
    // 8 samples at once every 10 ms, 100 µs each.
    let load = Load::Burst { rate: Rate { samples: 8, period_ns: 10 * MS } };
    let options = [("service", "100us"), ("latency", "50us")];
    let mut simulator = Simulator::new();
    let run = run(&mut simulator, &paced(load, true, &options), SECOND, 1);
    let response: Vec<u64> =
        simulator.series("response").expect("recorded").values.iter().map(|v| v.1).collect();
    assert_eq!(response.len(), 800);
    for burst in response.chunks(8) {
        let expected: [u64; 8] = std::array::from_fn(|place| 150_000 + 100_000 * place as u64);
        assert_eq!(burst, expected);
    }
    // They are written one after the other, each in 1 µs.
    assert_eq!(run.latency["send_lag"].max_ns, 7_000);
    assert_eq!(run.latency["service"].min_ns, 150_000);
    assert_eq!(run.latency["service"].max_ns, 850_000 - 7_000);
}

fn flow(name: &str, size_bytes: u64, load: Load) -> Flow {
    Flow::new(name, size_bytes, load)
}

#[test]
fn several_flows_are_written_by_one_thread_and_counted_each() {
    // 8 ns per byte at the server.
    let mut cell = cell(Workload::Paced, true, 0, &[("bandwidth", "1Gbit"), ("latency", "50us")]);
    cell.factors.size_bytes = 10_000;
    let trace = Trace {
        file: "times.csv".to_owned(),
        sha256: "5ca1e".to_owned(),
        samples: 3,
        length_ns: 2 * SECOND,
        sizes: None,
    };
    cell.factors.flows = vec![
        flow("scan", 10_000, Load::Burst { rate: Rate { samples: 3, period_ns: 100 * MS } }),
        flow("state", 100, constant(1_000)),
        flow("events", 1_000, poisson(500)),
        flow("replay", 2_000, Load::Trace { trace }),
    ];
    let mut simulator = Simulator::new();
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    let error = simulator.run(&cell, &design(SECOND), scheduled).expect_err("no times").to_string();
    assert!(error.contains("flow `replay`") && error.contains("hint: "), "{error}");
    let times_ns = [5 * MS, 100 * MS, 2 * SECOND].into();
    simulator.traces.insert("5ca1e", TraceSamples { times_ns, ..TraceSamples::default() });
    let outcome = simulator.run(&cell, &design(SECOND), scheduled).expect("measured");
    let run = outcome.run;
    let paced = run.paced().expect("a paced run");
    let [scan, state, events, replay] = &run.flows[..] else { panic!("{paced:?}") };
    assert_eq!([scan, state, replay].map(|flow| flow.planned), [30, 1_000, 2]);
    // Four standard deviations of a Poisson count.
    assert!(events.planned.abs_diff(500) < 90, "{}", events.planned);
    assert_eq!(paced.planned, 1_032 + events.planned);
    for flow in &run.flows {
        assert_eq!(
            (flow.planned, flow.offered, flow.counted.sent),
            (flow.planned, flow.planned, flow.counted.delivered)
        );
        assert_eq!(flow.latency["response"].n, flow.planned);
    }
    let names: Vec<_> = run.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["scan", "state", "events", "replay"]);
    assert_eq!(run.latency["response"].n, paced.planned);
    // Each flow has a server of its own. Of samples due at once the first flow's is written first, for 1 µs.
    let response =
        |flow: &results::FlowRecord| (flow.latency["response"].min_ns, flow.latency["response"].max_ns);
    assert_eq!(response(scan), (130_000, 290_000));
    assert_eq!(response(state).0, 50_800);
    assert_eq!(state.latency["send_lag"].max_ns, 3_000);
    assert_eq!(response(replay).0, 67_000);
    let kinds = outcome.histograms.keys().map(String::as_str).collect::<Vec<_>>();
    assert!(kinds.contains(&"response") && kinds.contains(&"response@events"), "{kinds:?}");
    assert_eq!(outcome.histograms["response@events"].len(), events.planned);
    // All that is pooled over runs is in the log.
    assert_eq!(kinds, run.pooled_kinds().iter().map(String::as_str).collect::<Vec<_>>());
    let invalid = Run { state: RunState::Invalid, ..run.clone() };
    assert!(invalid.pooled_kinds().is_empty());
}

/// A stall that is planned: the server takes 60 ms for a picture, and a command queues behind none, since each flow has a server of
/// its own. Lost samples are missed, too.
#[test]
fn missed_samples_are_those_that_are_late_or_lost_in_the_model() {
    let with = |name, size_bytes, load, deadline_ns| Flow {
        deadline: Some(Deadline { deadline_ns, missed_ppm: 1_000 }),
        ..flow(name, size_bytes, load)
    };
    // 1 ms for each sample at the server, and 50 us on the way.
    let options = [("bandwidth", "8Mbit"), ("latency", "50us")];
    let mut cell = cell(Workload::Paced, true, 0, &options);
    cell.factors.size_bytes = 1_000;
    cell.factors.flows = vec![
        // Bursts of 10: samples arrive 1.05, 2.05, .. 10.05 ms after they were due, 5 of 10 within 5.5 ms.
        with("bursts", 1_000, Load::Burst { rate: Rate { samples: 10, period_ns: 100 * MS } }, 5_500_000),
        with("steady", 1_000, constant(100), 5_500_000),
    ];
    let measured = run(&mut Simulator::new(), &cell, SECOND, 1);
    let [bursts, steady] = &measured.flows[..] else { panic!("{measured:?}") };
    let of = |flow: &results::FlowRecord| flow.timeliness.clone().expect("a deadline");
    assert_eq!((of(bursts).planned, of(bursts).missed, of(bursts).is_met), (100, 50, false));
    assert_eq!((of(steady).planned, of(steady).missed, of(steady).is_met), (100, 0, true));
    // Half a period and the response of 1.05 ms, or up to one more write.
    let age_ns = of(steady).mean_age_ns;
    assert!((5_900_000.0..6_200_000.0).contains(&age_ns), "{age_ns}");
    assert!(steady.latency["age"].p50_ns.expect("a median") > 11_000_000);
    assert!(!measured.latency.contains_key("age"), "ages of several flows are not pooled");

    // Best effort: of those lost, none is in time.
    let options = [("bandwidth", "8Mbit"), ("latency", "50us"), ("loss", "20%")];
    cell.factors.options = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    cell.factors.qos.reliability = Some(experiment::Reliability::BestEffort);
    cell.factors.flows.remove(0);
    let measured = run(&mut Simulator::new(), &cell, SECOND, 1);
    let steady = &measured.flows[0];
    assert!(steady.counted.lost > 5, "{:?}", steady.counted);
    assert_eq!(of(steady).missed, steady.counted.lost);
}

/// A planted mix of sizes: the server takes 1 µs per byte, so each sample has the service time of its size, and the bytes are those
/// of the drawn sizes.
#[test]
fn planted_sizes_have_their_bytes_and_service_times() {
    let options = [("bandwidth", "8Mbit"), ("latency", "50us")];
    let mut cell = cell(Workload::Paced, true, 0, &options);
    let distribution = SizeDistribution::Values { values: vec![100, 1_000], weights: vec![3, 1] };
    let sizes = Sizes { distribution, seed: 7 };
    let table = SizeTable::new(&sizes, 1_000);
    cell.factors.size_bytes = 1_000;
    cell.factors.flows = vec![Flow { sizes: Some(sizes), ..flow("mix", 1_000, constant(500)) }];
    let measured = run(&mut Simulator::new(), &cell, 4 * SECOND, 1);
    let [mix] = &measured.flows[..] else { panic!("{measured:?}") };
    let sent = mix.counted.sent;
    assert_eq!((sent, mix.counted.delivered), (2_000, 2_000));
    let found = mix.sizes.expect("sizes that differ");
    assert_eq!((found.smallest_bytes, found.sent_bytes), (100, table.sum(0..sent)));
    let large = (0..sent).filter(|sequence| table.at(*sequence as u32) == 1_000).count();
    // 500 expected; sd 19
    assert!((420..580).contains(&large), "{large}");
    assert_eq!(found.sent_bytes, 100 * (sent - large as u64) + 1_000 * large as u64);
    // Samples are 2 ms apart, so none waits: 150 µs for a small one, 1.05 ms for a large one.
    let service = &mix.latency["service"];
    assert_eq!((service.min_ns, service.max_ns), (150_000, 1_050_000));
    let share = large as f64 / sent as f64;
    let mean_ns = 150_000.0 + 900_000.0 * share;
    assert!((service.mean_ns / mean_ns - 1.0).abs() < 1e-9, "{} {mean_ns}", service.mean_ns);
    let throughput = measured.throughput().expect("rates");
    let mbps = found.sent_bytes as f64 * 8.0 / 4.0 / 1e6;
    assert!((throughput.goodput_mbps / mbps - 1.0).abs() < 0.01, "{} {mbps}", throughput.goodput_mbps);
}

/// Planted sizes of a trace: each sample has the service time of its own size, in the recorded order.
#[test]
fn recorded_sizes_are_those_of_the_samples_in_their_order() {
    let options = [("bandwidth", "8Mbit"), ("latency", "50us")];
    let mut cell = cell(Workload::Paced, true, 0, &options);
    // 10 ms apart; the last one is past the measurement.
    let samples = TraceSamples {
        times_ns: [0, 10 * MS, 20 * MS, 30 * MS, 2 * SECOND].into(),
        sizes_bytes: [100, 1_000, 400, 100, 800].into(),
    };
    let trace = Trace {
        file: "scan.trace".to_owned(),
        sha256: "5ca1e".to_owned(),
        samples: 5,
        length_ns: 2 * SECOND,
        sizes: samples.sizes(),
    };
    cell.factors.size_bytes = 1_000;
    cell.factors.flows = vec![flow("scan", 1_000, Load::Trace { trace })];
    assert!((cell.factors.flows[0].flow_sizes().mean_bytes() - 480.0).abs() < 1e-9);
    let mut simulator = Simulator::new();
    simulator.traces.insert("5ca1e", samples);
    let measured = run(&mut simulator, &cell, SECOND, 1);
    let [scan] = &measured.flows[..] else { panic!("{measured:?}") };
    assert_eq!((scan.planned, scan.counted.delivered, scan.size_bytes), (4, 4, 1_000));
    let found = scan.sizes.expect("sizes that differ");
    assert_eq!((found.smallest_bytes, found.sent_bytes), (100, 1_600));
    // 1 µs per byte at the server, and 50 µs on the way.
    let service = &scan.latency["service"];
    assert_eq!((service.min_ns, service.max_ns), (150_000, 1_050_000));
    assert!((service.mean_ns - 450_000.0).abs() < 1e-6, "{}", service.mean_ns);
}

/// The seed of the design and the number of the run determine the schedule, as in agents and runner.
#[test]
fn plans_that_are_drawn_can_be_had_again() {
    let cell = paced(poisson(1_000), true, &[("latency", "50us")]);
    let planned = |seed, number| {
        let design = Design { seed, ..design(SECOND) };
        let scheduled = ScheduledRun { number, block: 1, cell: 0, twin: false, duet: None };
        let outcome = Simulator::new().run(&cell, &design, scheduled).expect("measured");
        outcome.run.paced().expect("a paced run").planned
    };
    assert_eq!(planned(7, 1), planned(7, 1));
    assert!(planned(7, 1) != planned(7, 2) || planned(7, 1) != planned(7, 3));
    assert!(planned(7, 1) != planned(8, 1) || planned(7, 1) != planned(9, 1));
}

#[test]
fn features_missing_in_virtual_time_are_rejected() {
    let rejected = |change: &dyn Fn(&mut Cell, &mut Simulator)| {
        let mut cell = paced(constant(1_000), true, &[]);
        let mut simulator = Simulator::new();
        change(&mut cell, &mut simulator);
        let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
        simulator.run(&cell, &design(MS), scheduled).expect_err("refused").message
    };
    let throttled =
        |cell: &mut Cell, _: &mut Simulator| cell.factors.load = Some(Load::Throttled { queue: 2_000 });
    assert!(rejected(&throttled).contains("throttled"));
    let grouped = |cell: &mut Cell, _: &mut Simulator| {
        cell.factors.queues.receive_group = Some(ReceiveGroup::new(8, 5 * MS));
    };
    assert!(rejected(&grouped).contains("in groups"));
    let over_a_link = |cell: &mut Cell, simulator: &mut Simulator| {
        (cell.factors.batch_bytes, cell.factors.batching) = (10_000, Batching::TurboApplication);
        simulator.host.link_mbps = Some(100);
    };
    assert!(rejected(&over_a_link).contains("turbo"));
}
