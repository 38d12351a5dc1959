//! Comparison of simulated runs with the truth of their configuration.

use std::collections::BTreeMap;

use experiment::{Design, Load, Plan, Policy, Rate, ScheduledRun, Workload};
use proptest::prelude::*;
use results::{ResultDocument, RunState, WarningKind};
use sim_model::{Config, GroundTruth, POLICIES};
use simulate::{HOST_NS, HostModel, Simulator};

use crate::rig::{MS, cell, config, design, experiment_of, run};

/// Relative precision of a histogram.
const PRECISION: f64 = 0.001;

/// Returns the maximum deviation, in probability, of the `q` quantile of `n` independent values, exceeded with a
/// chance of 1 in 16,000: four standard deviations of the binomial count of values below it.
fn reach(q: f64, n: u64) -> f64 {
    4.0 * (q * (1.0 - q) / n as f64).sqrt()
}

/// Checks that every quantile of a run is within the true quantiles that its number of values allows.
fn recovers_quantiles(latency: &results::Latency, truth: impl Fn(f64) -> f64) -> Result<(), String> {
    for (q, measured) in
        [(0.5, latency.p50_ns), (0.9, latency.p90_ns), (0.99, latency.p99_ns), (0.999, latency.p99_9_ns)]
    {
        let Some(measured) = measured else {
            assert!(!stats::supports_quantile(latency.n, q), "{latency:?}");
            continue;
        };
        let reach = reach(q, latency.n);
        let low = truth((q - reach).max(1e-12)) * (1.0 - PRECISION) - 1.0;
        let high = truth((q + reach).min(1.0 - 1e-12)) * (1.0 + PRECISION) + 1.0;
        if !(low..=high).contains(&(measured as f64)) {
            return Err(format!("{q}: {measured} is not within {low} to {high}"));
        }
    }
    Ok(())
}

/// Checks quantiles and mean of a one-way latency.
fn recovers(latency: &results::Latency, truth: &GroundTruth<'_>) -> Result<(), String> {
    recovers_quantiles(latency, |q| truth.quantile(q))?;
    let (mean, sd) = truth.mean_and_sd();
    let allowed = 4.0 * sd / (latency.n as f64).sqrt() + 1.0;
    if (latency.mean_ns - mean).abs() > allowed {
        return Err(format!("the mean {} is not {mean} within {allowed}", latency.mean_ns));
    }
    Ok(())
}

#[test]
fn statistics_of_a_run_are_recovered_from_the_truth() {
    let mut simulator = Simulator::new();
    for (options, reliable) in [
        (&[("latency", "50us")][..], true),
        (&[("latency", "normal:50us,5us")], true),
        (&[("latency", "lognormal:50us,0.3")], false),
        (&[("latency", "gamma:50us,2"), ("bandwidth", "100Mbit")], false),
        (&[("latency", "0.98*normal:50us,2us+0.02*gamma:500us,2")], true),
        (&[("latency", "normal:50us,5us"), ("loss", "5%"), ("retransmit", "300us")], true),
        (
            &[
                ("latency", "normal:50us,5us"),
                ("reorder", "5%"),
                ("hold", "300us"),
                ("qos", "reliability:7us"),
            ],
            true,
        ),
    ] {
        let config = config(options);
        let cell = cell(Workload::Latency, reliable, 0, options);
        let run = run(&mut simulator, &cell, 4_000 * MS, 1);
        let qos_ns = if reliable { config.qos_ns(["reliability"]) } else { 0.0 };
        let truth = GroundTruth::new(&config, reliable, qos_ns, 1000, 1.0, 0);
        let rtt = &run.latency["rtt"];
        assert!(rtt.n > 10_000, "{options:?}: {}", rtt.n);
        for kind in ["one_way_out", "one_way_back"] {
            recovers(&run.latency[kind], &truth)
                .unwrap_or_else(|error| panic!("{options:?}, {kind}: {error}"));
        }
        // A round trip is the sum of two one-way latencies.
        let round_trip = truth.round_trip();
        recovers_quantiles(rtt, |q| round_trip.quantile(q))
            .unwrap_or_else(|error| panic!("{options:?}, rtt: {error}"));
        let (mean, sd) = truth.mean_and_sd();
        assert!(
            (rtt.mean_ns - 2.0 * mean).abs() <= 4.0 * sd * (2.0 / rtt.n as f64).sqrt() + 2.0,
            "{options:?}"
        );
        assert!(sd == 0.0 || (rtt.sd_ns / (sd * 2.0_f64.sqrt()) - 1.0).abs() < 0.1, "{options:?}: {rtt:?}");
    }
}

#[test]
fn error_of_half_a_percent_is_detected() {
    let options = [("latency", "normal:50us,1us")];
    let run = run(&mut Simulator::new(), &cell(Workload::Latency, false, 0, &options), 4_000 * MS, 1);
    let recovered = |latency| {
        recovers(
            &run.latency["one_way_out"],
            &GroundTruth::new(&config(&[("latency", latency)]), false, 0.0, 1000, 1.0, 0),
        )
    };
    let round_trip = |latency| {
        let config = config(&[("latency", latency)]);
        let truth = GroundTruth::new(&config, false, 0.0, 1000, 1.0, 0).round_trip();
        recovers_quantiles(&run.latency["rtt"], |q| truth.quantile(q))
    };
    assert_eq!(round_trip("normal:50us,1us"), Ok(()));
    assert!(round_trip("normal:50.25us,1us").is_err());
    assert!(round_trip("normal:50us,1.2us").is_err());
    assert_eq!(recovered("normal:50us,1us"), Ok(()));
    assert!(recovered("normal:50.25us,1us").is_err());
    assert!(recovered("normal:50us,1.2us").is_err());
}

#[test]
fn constant_latency_is_found_to_the_last_nanosecond() {
    let run =
        run(&mut Simulator::new(), &cell(Workload::Latency, true, 0, &[("latency", "50us")]), 20 * MS, 1);
    let rtt = &run.latency["rtt"];
    assert_eq!((rtt.min_ns, rtt.max_ns, rtt.mean_ns, rtt.sd_ns), (100_000, 100_000, 100_000.0, 0.0));
    assert_eq!(rtt.p50_ns, Some(100_000));
    assert_eq!(rtt.n, (20 * MS).div_ceil(100_000 + HOST_NS));
}

#[test]
fn throughput_is_the_capacity_of_the_server_and_counts_reconcile() {
    let mut simulator = Simulator::new();
    let options = [("bandwidth", "100Mbit"), ("service", "20us"), ("latency", "normal:50us,5us")];
    let truth_of = |config: &Config, bytes| {
        GroundTruth::new(config, true, 0.0, bytes, 1.0, 0).capacity_pps().expect("a limit")
    };
    // 20 µs and 80 µs per packet.
    assert_eq!(truth_of(&config(&options), 1000), 10_000.0);
    for (batch_bytes, samples) in [(0, 1), (8_000, 8)] {
        let run =
            run(&mut simulator, &cell(Workload::Throughput, true, batch_bytes, &options), 1_000 * MS, 1);
        let throughput = run.throughput().expect("throughput");
        let capacity = truth_of(&config(&options), 1000 * samples) * samples as f64;
        assert!((throughput.delivered_sps / capacity - 1.0).abs() < 0.005, "{throughput:?}, {capacity}");
        assert_eq!((throughput.lost, throughput.duplicate, throughput.out_of_order), (0, 0, 0));
        assert!(run.latency["write_call"].n == throughput.sent);
    }
    // Stalls take a tenth of the time.
    let stalled = [options[0], options[1], options[2], ("stall", "10ms,1ms")];
    let run = run(&mut simulator, &cell(Workload::Throughput, true, 0, &stalled), 1_000 * MS, 1);
    let delivered = run.throughput().expect("throughput").delivered_sps;
    assert!((delivered / 9_000.0 - 1.0).abs() < 0.01, "{delivered}");
}

#[test]
fn loss_duplicates_and_order_are_as_configured() {
    let mut simulator = Simulator::new();
    let options =
        [("loss", "2%"), ("duplicate", "3%"), ("reorder", "1%"), ("hold", "100us"), ("service", "10us")];
    let within = |count: u64, of: u64, probability: f64| {
        let expected = of as f64 * probability;
        (count as f64 - expected).abs() < 4.0 * (expected * (1.0 - probability)).sqrt() + 1.0
    };
    let written = run(&mut simulator, &cell(Workload::Throughput, false, 0, &options), 1_000 * MS, 1);
    let counted = &written.flows[0].counted;
    assert!(counted.sent > 90_000, "{counted:?}");
    assert!(within(counted.lost, counted.sent, 0.02), "{counted:?}");
    assert!(within(counted.duplicate, counted.delivered, 0.03), "{counted:?}");
    assert!(within(counted.out_of_order, counted.delivered, 0.01), "{counted:?}");
    assert!(!within(counted.lost, counted.sent, 0.025), "half a percent is seen");
    let pinged = run(&mut simulator, &cell(Workload::Latency, false, 0, &options), 100_000 * MS, 1);
    let counted = &pinged.flows[0].counted;
    let config = config(&options);
    assert!(
        within(counted.lost, counted.sent, GroundTruth::new(&config, false, 0.0, 8, 1.0, 0).ping_loss()),
        "{counted:?}"
    );
    // Reliable: no loss, no duplicates, in order.
    let reliable = run(&mut simulator, &cell(Workload::Throughput, true, 0, &options), 200 * MS, 1);
    let counted = &reliable.flows[0].counted;
    assert_eq!((counted.lost, counted.duplicate, counted.out_of_order), (0, 0, 0), "{counted:?}");
    // A queue that drops: the excess over the capacity is lost.
    let dropping = [("service", "10us"), ("full", "drop"), ("latency", "5us")];
    let dropped = run(&mut simulator, &cell(Workload::Throughput, false, 0, &dropping), 1_000 * MS, 1);
    let throughput = dropped.throughput().expect("throughput");
    assert!((throughput.delivered_sps / 100_000.0 - 1.0).abs() < 0.02, "{throughput:?}");
    assert!((throughput.lost_pct - 90.0).abs() < 1.0, "{throughput:?}");
}

#[test]
fn shapes_show_over_time() {
    let mut simulator = Simulator::new();
    let median_of = |simulator: &mut Simulator, shape, from: u64, to: u64| {
        let cell = cell(Workload::Latency, true, 0, &[("latency", "normal:50us,1us"), ("warmup", shape)]);
        run(simulator, &cell, 100 * MS, 1);
        let values = simulator.series("rtt").expect("values").values.iter();
        let mut some: Vec<_> =
            values.filter(|(at, _)| (from * MS..to * MS).contains(at)).map(|(_, v)| *v).collect();
        some.sort_unstable();
        some[some.len() / 2] as f64 / 100_000.0
    };
    // The warm-up of 10 ms ends before the measurement.
    for (shape, early, late) in [
        ("flat", 1.0, 1.0),
        ("ramp:2,60ms", 1.75, 1.0),
        ("step:2,60ms", 2.0, 1.0),
        ("cycle:2,100ms", 1.0, 2.0),
        ("slowdown:2,60ms", 1.0, 2.0),
    ] {
        let found = (median_of(&mut simulator, shape, 0, 10), median_of(&mut simulator, shape, 60, 80));
        assert!((found.0 - early).abs() < 0.02 && (found.1 - late).abs() < 0.02, "{shape}: {found:?}");
    }
}

/// Returns an experiment with three blocks of two cells that differ by 10 %.
fn experiment() -> Plan {
    let mut cells = vec![
        cell(Workload::Latency, true, 0, &[("latency", "normal:50us,2us")]),
        cell(Workload::Latency, true, 0, &[("latency", "normal:55us,2us")]),
    ];
    cells[1].id = "slower".to_owned();
    experiment_of(cells, design(50 * MS))
}

#[test]
fn simulated_experiment_is_reproducible() {
    let document: ResultDocument = Simulator::new().experiment(&experiment()).expect("measured");
    assert_eq!(document.cells.iter().map(|cell| cell.runs.len()).collect::<Vec<_>>(), [3, 3]);
    let p50 = |cell: usize| document.cells[cell].latency["rtt"].p50_ns.expect("supported");
    assert!((p50(1) / p50(0) - 1.1).abs() < 0.01, "{}, {}", p50(0), p50(1));
    assert_eq!(
        Simulator::new().experiment(&experiment()).expect("measured"),
        document,
        "the same seed gives the same"
    );
    let other = Plan { design: Design { seed: 8, ..design(50 * MS) }, ..experiment() };
    assert_ne!(Simulator::new().experiment(&other).expect("measured").cells, document.cells);
    let mut wrong = experiment();
    wrong.cells[0].factors.options = BTreeMap::from([("latency".to_owned(), "soon".to_owned())]);
    assert!(Simulator::new().experiment(&wrong).is_err());
}

#[test]
fn the_model_knows_the_policies_by_their_names() {
    assert_eq!(Policy::ALL.iter().map(|policy| policy.name()).collect::<Vec<_>>(), POLICIES);
}

fn any_load() -> impl Strategy<Value = Load> {
    let rate = (1..2000_u64, 1..5_000_000_u64).prop_map(|(samples, period_ns)| Rate { samples, period_ns });
    prop_oneof![
        rate.clone().prop_map(|rate| Load::Constant { rate }),
        rate.clone().prop_map(|rate| Load::Poisson { rate }),
        rate.prop_map(|rate| Load::Burst { rate }),
        Just(Load::Max),
    ]
}

proptest! {
    #[test]
    fn no_configuration_panics_and_counts_always_reconcile(
        latency in prop::sample::select(vec!["0", "100s", "normal:1us,1us", "lognormal:1ms,3", "0.5*1ns+0.5*gamma:9s,0.05"]),
        rates in prop::sample::select(vec![("off", "0"), ("1kbit", "100s"), ("10000Gbit", "1ns"), ("1Mbit", "10us")]),
        stall in prop::sample::select(vec!["off", "2ns,1ns", "3ms,2ms"]),
        drift in prop::sample::select(vec!["0", "-100", "100"]),
        jitter in prop::sample::select(vec!["0", "1"]),
        chances in prop::collection::vec(prop::sample::select(vec!["0", "0.3", "1"]), 3),
        full in prop::sample::select(vec!["block", "drop"]),
        queue in prop::sample::select(vec!["1", "7"]),
        reliable in any::<bool>(),
        workload in prop::sample::select(vec![Workload::Latency, Workload::Throughput, Workload::Paced]),
        load in any_load(),
        batch_bytes in prop::sample::select(vec![0, 100, 5000]),
    ) {
        let mut cell = cell(workload, reliable, batch_bytes, &[
            ("latency", latency), ("bandwidth", rates.0), ("service", rates.1), ("stall", stall), ("drift", drift),
            ("loss", chances[0]), ("duplicate", chances[1]), ("reorder", chances[2]), ("full", full),
            ("queue", queue), ("modes", "0.5*0.001+0.5*1000"), ("jitter", jitter),
        ]);
        cell.factors.load = (workload == Workload::Paced).then_some(load);
        let run = run(&mut Simulator::new(), &cell, 3 * MS, 1);
        prop_assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
        let counted = &run.flows[0].counted;
        if let Some(rtt) = run.latency.get("rtt") {
            prop_assert_eq!(rtt.n, counted.delivered);
        }
        if let Some(paced) = run.paced() {
            let flow = &run.flows[0];
            prop_assert!(paced.planned >= flow.offered && flow.offered >= counted.sent, "{paced:?}");
            prop_assert_eq!(paced.unsent, paced.planned - flow.offered);
            prop_assert_eq!(run.latency.get("service").map_or(0, |service| service.n), counted.delivered);
        }
        if reliable && workload != Workload::Latency {
            prop_assert_eq!((counted.lost, counted.duplicate, counted.out_of_order), (0, 0, 0));
        }
    }
}

/// A few of at least 25,000 samples arrive late. Within the silence that ends a drain they count in the tail, not in
/// the rate of half a second. Later they are lost, as in a run of real agents.
#[test]
fn late_repairs_are_in_the_tail_or_lost_and_never_in_the_rate() {
    let mut simulator = Simulator::new();
    let options = |hold| [("service", "10us"), ("latency", "50us"), ("reorder", "0.001"), ("hold", hold)];
    for workload in [Workload::Throughput, Workload::Paced] {
        let mut measured = |options: &[(&str, &str)]| {
            let mut cell = cell(workload, false, 0, options);
            cell.factors.load =
                (workload == Workload::Paced).then(|| Load::Constant { rate: Rate::per_second(50_000) });
            run(&mut simulator, &cell, 500 * MS, 1).throughput().expect("rates").clone()
        };
        let healthy = measured(&options("0")[..2]);
        let [repaired, too_late] = ["150ms", "3s"].map(|hold| measured(&options(hold)));
        assert_eq!((repaired.lost, repaired.delivered), (0, repaired.sent), "{repaired:?}");
        assert!((1..50).contains(&repaired.tail.samples), "{repaired:?}");
        assert!((50 * MS..170 * MS).contains(&repaired.tail.ns), "{repaired:?}");
        assert!(too_late.lost > 0 && too_late.delivered == too_late.sent - too_late.lost, "{too_late:?}");
        for late in [&repaired, &too_late] {
            let ratio = late.delivered_sps / healthy.delivered_sps;
            assert!((ratio - 1.0).abs() < 0.002, "{healthy:?}, {late:?}");
        }
        assert!(healthy.tail.samples < 10 && healthy.tail.ns < 100 * MS, "{healthy:?}");
    }
}

/// Samples of one take were in transit since the first write: their rate cannot exceed the rate of writing, as in the
/// runner.
#[test]
fn the_rate_of_one_take_is_over_the_time_in_which_it_was_written() {
    // In 10 ms one packet of 10 samples is written; its writer needs 1 ms for each sample.
    let host = HostModel { write_ns: 1e6, read_ns: 0.0, ..HostModel::default() };
    let cell = cell(Workload::Throughput, true, 10_000, &[("latency", "50us")]);
    let run = run(&mut Simulator::on(host), &cell, 10 * MS, 1);
    let throughput = run.throughput().expect("rates");
    assert_eq!((throughput.delivered, throughput.lost), (10, 0));
    assert_eq!((throughput.delivered_sps, throughput.accepted_sps), (1000.0, 1000.0));
    assert_eq!(throughput.goodput_mbps, throughput.delivered_sps * 8e3 / 1e6);
}

/// The clock of the reader differs by any amount: the rate is that of the run with one clock.
#[test]
fn rate_without_a_common_clock_is_that_of_the_run_with_one() {
    let options = [("bandwidth", "100Mbit"), ("service", "20us"), ("latency", "normal:50us,5us")];
    let cell = cell(Workload::Throughput, true, 0, &options);
    let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
    let mut simulator = Simulator::new();
    let design = Design { windows: 20, ..design(500 * MS) };
    let reports = simulator.reports(&cell, &design, scheduled).expect("reports");
    let truth =
        simulator.record(&cell, &design, scheduled, &reports).run.throughput().expect("throughput").clone();
    for offset_ns in
        [0, 7, 3_600_000 * MS as i64, -(MS as i64) / 20, -5_000 * MS as i64, i64::MAX / 2, i64::MIN / 2]
    {
        let mut reports = reports.clone();
        let reader = reports.agents.last_mut().expect("a reader");
        reader.clock_error_ns = None;
        for flow in &mut reader.report.reader_mut().expect("of a reader").flows {
            let received = &mut flow.received;
            received.first_ns = received.first_ns.wrapping_add_signed(offset_ns);
            received.last_ns = received.last_ns.wrapping_add_signed(offset_ns);
            received.quickest_ns = received.quickest_ns.wrapping_add(offset_ns);
        }
        let run = simulator.record(&cell, &design, scheduled, &reports).run;
        let throughput = run.throughput().expect("throughput");
        assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
        assert!(
            (throughput.delivered_sps / truth.delivered_sps - 1.0).abs() < 1e-3,
            "{throughput:?}, {truth:?}"
        );
        assert_eq!(throughput.accepted_sps, truth.accepted_sps);
        assert!(throughput.tail.ns < 2 * MS, "{throughput:?}");
        assert!(run.warnings.iter().all(|warning| warning.kind != WarningKind::Tail), "{:?}", run.warnings);
    }
}
