//! Comparison of the model with its truth, and rejection of invalid options.

use std::sync::Arc;

use proptest::prelude::*;
use sim_model::{Config, Flow, GroundTruth, OPTIONS, Random, SampleOutcome};

fn config(options: &[(&str, &str)]) -> Config {
    Config::parse(options.iter().copied()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the sorted latencies of a closed loop of one flow.
fn latencies(config: &Config, reliable: bool, n: usize) -> Vec<f64> {
    let mut flow = Flow::new(Arc::new(config.clone()), reliable, 0.0, 3, 0);
    let mut now = 0;
    let mut all = Vec::with_capacity(n);
    while all.len() < n {
        if let SampleOutcome::Comes { due_ns, .. } = flow.offer(now, 100) {
            all.push((due_ns - now) as f64);
            now = due_ns;
        }
        now += 1;
    }
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn drawn_values_follow_the_ground_truth() {
    for (options, reliable) in [
        (&[("latency", "normal:50us,5us")][..], false),
        (&[("latency", "normal:5us,5us")], false),
        (&[("latency", "lognormal:50us,0.5")], false),
        (&[("latency", "gamma:50us,0.4")], false),
        (&[("latency", "gamma:50us,30")], false),
        (&[("latency", "0.9*normal:50us,5us+0.1*gamma:1ms,2")], false),
        (&[("latency", "normal:50us,5us"), ("loss", "20%"), ("retransmit", "200us")], true),
        (&[("latency", "normal:50us,5us"), ("reorder", "0.1"), ("hold", "70us")], false),
        (&[("latency", "gamma:50us,3"), ("bandwidth", "100Mbit"), ("service", "3us")], false),
        (&[("latency", "0"), ("service", "50us"), ("jitter", "0.5")], false),
        (&[("latency", "50us"), ("service", "30us"), ("jitter", "1.5")], true),
    ] {
        let config = config(options);
        let n = 40_000;
        let all = latencies(&config, reliable, n);
        let truth = GroundTruth::new(&config, reliable, 0.0, 100, 1.0, 0);
        // Kolmogorov-Smirnov: the distance exceeds 1.95 / sqrt(n) with a probability of 0.1 %. Values are rounded to
        // 1 ns.
        let distance = all.iter().enumerate().map(|(rank, &x)| {
            let (below, above) = (rank as f64 / n as f64, (rank + 1) as f64 / n as f64);
            (truth.cdf(x - 0.5) - above).max(below - truth.cdf(x + 0.5))
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.95 / (n as f64).sqrt(), "{options:?}: {distance}");
        let (mean, sd) = truth.mean_and_sd();
        let measured = all.iter().sum::<f64>() / n as f64;
        assert!(
            (measured - mean).abs() < 4.0 * sd / (n as f64).sqrt() + 0.5,
            "{options:?}: {measured}, {mean}"
        );
        for q in [0.01, 0.5, 0.9, 0.999] {
            let x = truth.quantile(q);
            assert!(truth.cdf(x) >= q && truth.cdf(x * (1.0 - 1e-9) - 1e-9) < q, "{options:?}: {q}, {x}");
        }
    }
}

#[test]
fn samples_of_a_stall_arrive_at_its_end() {
    for options in [
        &[("latency", "normal:2ms,1ms"), ("stall", "10ms,3ms")][..],
        &[("latency", "gamma:2ms,2"), ("stall", "10ms,3ms"), ("service", "1500us")],
    ] {
        let config = config(options);
        let mut flow = Flow::new(Arc::new(config.clone()), false, 0.0, 3, 0);
        let mut random = Random::new(11, 0);
        // The first offer is time 0; each later one finds an idle link.
        let mut at = 0;
        let (mut found, mut times) = (Vec::new(), Vec::new());
        while found.len() < 4_000 {
            if let SampleOutcome::Comes { due_ns, .. } = flow.offer(at, 100) {
                found.push((due_ns - at) as f64);
                times.push(at);
            }
            at += 50_000_000 + random.bits() % 10_000_000;
        }
        let n = found.len() as f64;
        // The distribution depends on the time of the write: the mean of all distributions is that of all samples.
        let truths: Vec<_> =
            times.iter().map(|&at| GroundTruth::new(&config, false, 0.0, 100, 1.0, at)).collect();
        for step in 0..60 {
            let x = f64::from(step) * 250_000.0;
            let measured = found.iter().filter(|value| **value <= x).count() as f64 / n;
            let expected = truths.iter().map(|truth| truth.cdf(x)).sum::<f64>() / n;
            assert!(
                (measured - expected).abs() < 1.95 / n.sqrt(),
                "{options:?}, {x}: {measured}, {expected}"
            );
        }
        // A sample that is written just before a stall arrives at its end.
        let truth = GroundTruth::new(&config, false, 0.0, 100, 1.0, 6_900_000);
        assert!(truth.quantile(0.3) >= 3_099_999.0, "{options:?}: {}", truth.quantile(0.3));
    }
}

#[test]
fn a_packet_of_several_datagrams_is_lost_with_any_of_them() {
    let config = config(&[("loss", "5%"), ("fragment", "1000"), ("latency", "0")]);
    for (bytes, datagrams) in [(1, 1), (1000, 1), (1001, 2), (10_000, 10)] {
        let truth = GroundTruth::new(&config, false, 0.0, bytes, 1.0, 0).loss();
        assert!((truth - (1.0 - 0.95_f64.powi(datagrams))).abs() < 1e-12, "{bytes}: {truth}");
        let mut flow = Flow::new(Arc::new(config.clone()), false, 0.0, 1, 0);
        let lost = (0..20_000).filter(|at| flow.offer(*at, bytes) == SampleOutcome::Lost).count() as f64;
        let allowed = 4.0 * (20_000.0 * truth * (1.0 - truth)).sqrt();
        assert!((lost - 20_000.0 * truth).abs() < allowed, "{bytes}: {lost}, {truth}");
    }
}

#[test]
fn wrong_ground_truth_is_detected() {
    let all = latencies(&config(&[("latency", "normal:50us,5us")]), false, 40_000);
    let other = config(&[("latency", "normal:50.2us,5us")]);
    let median = all[all.len() / 2];
    let difference = GroundTruth::new(&other, false, 0.0, 100, 1.0, 0).cdf(median) - 0.5;
    assert!(difference.abs() > 1.95 / 200.0, "{difference}");
}

#[test]
fn the_queue_blocks_or_drops_and_the_server_keeps_its_rate() {
    // 1000 bytes at 8 Mbit/s: 1 ms.
    let options = [("bandwidth", "8Mbit"), ("queue", "3"), ("latency", "0")];
    let mut flow = Flow::new(Arc::new(config(&options)), false, 0.0, 1, 0);
    let due = |fate| match fate {
        SampleOutcome::Comes { due_ns, .. } => due_ns,
        other => panic!("{other:?}"),
    };
    assert_eq!([(); 3].map(|()| due(flow.offer(500, 1000))), [1_000_500, 2_000_500, 3_000_500]);
    assert_eq!(flow.offer(500, 1000), SampleOutcome::Full { until_ns: 1_000_500 });
    assert_eq!(due(flow.offer(1_000_500, 1000)), 4_000_500);

    let dropping = Arc::new(config(&[options[0], options[1], options[2], ("full", "drop")]));
    let mut flow = Flow::new(dropping.clone(), false, 0.0, 1, 0);
    let fates = [(); 5].map(|()| flow.offer(0, 1000) == SampleOutcome::Dropped);
    assert_eq!(fates, [false, false, false, true, true]);
    // A reliable writer loses nothing.
    let mut flow = Flow::new(dropping, true, 0.0, 1, 0);
    let fates = [(); 4].map(|()| flow.offer(0, 1000));
    assert_eq!(fates[3], SampleOutcome::Full { until_ns: 1_000_000 });
    assert_eq!(GroundTruth::new(&config(&options), false, 0.0, 1000, 1.0, 0).capacity_pps(), Some(1000.0));
}

#[test]
fn capacity_is_what_the_server_takes_whatever_it_spreads_and_what_is_offered_beyond_it_does_not_come() {
    for jitter in ["0", "0.3", "2"] {
        for (stall, share) in [("off", 1.0), ("10ms,1ms", 0.9)] {
            // 20 µs and 80 µs.
            let options = [
                ("bandwidth", "100Mbit"),
                ("service", "20us"),
                ("jitter", jitter),
                ("stall", stall),
                ("loss", "10%"),
            ];
            let config = config(&options);
            let truth = |reliable| GroundTruth::new(&config, reliable, 0.0, 1000, 1.0, 0);
            assert_eq!(truth(true).capacity_sps(1), Some(10_000.0 * share));
            assert_eq!(truth(false).capacity_sps(4), Some(40_000.0 * share));
            assert!((truth(true).delivered_sps(20_000.0) - 10_000.0 * share).abs() < 1e-9);
            assert!((truth(false).delivered_sps(5_000.0) - 4_500.0).abs() < 1e-9);
            // 50,000 packets through a server that is never idle: the standard deviation of their total time is at
            // most 0.9 %.
            let mut flow = Flow::new(Arc::new(config.clone()), true, 0.0, 1, 0);
            let mut now = 0;
            for _ in 0..50_000 {
                while let SampleOutcome::Full { until_ns } = flow.offer(now, 1000) {
                    now = until_ns;
                }
            }
            let rate = 49_000.0 * 1e9 / now as f64;
            assert!((rate / (10_000.0 * share) - 1.0).abs() < 0.036, "{options:?}: {rate}");
        }
    }
    let config = config(&[("service", "100us")]);
    let truth = GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0);
    let waiting = |rate| truth.waiting(rate).map(|waiting| waiting.mean_ns().round());
    assert_eq!([0.0, 5_000.0, 9_000.0, 10_000.0].map(waiting), [None, Some(50_000.0), Some(450_000.0), None]);
    assert!(
        GroundTruth::new(&Config::default(), true, 0.0, 1000, 1.0, 0).waiting(1.0).is_none(),
        "no server"
    );
}

#[test]
fn delayed_samples_are_overtaken_unless_the_writer_is_reliable() {
    let config = Arc::new(config(&[("reorder", "0.3"), ("hold", "50us")]));
    let passed = |reliable| {
        let mut flow = Flow::new(config.clone(), reliable, 0.0, 1, 0);
        let dues = (0..1000).map(|at| match flow.offer(at * 10_000, 8) {
            SampleOutcome::Comes { due_ns, .. } => due_ns,
            other => panic!("{other:?}"),
        });
        let dues: Vec<_> = dues.collect();
        dues.windows(2).filter(|two| two[1] < two[0]).count()
    };
    assert!(passed(false) > 100);
    assert_eq!(passed(true), 0);
}

#[test]
fn runs_differ_in_mode_and_flows_of_one_run_do_not() {
    let config = Arc::new(config(&[("modes", "0.7*1+0.3*1.5")]));
    let mode = |run, stream| Flow::new(config.clone(), false, 0.0, run, stream).mode;
    let slow = (0..2000).filter(|&run| mode(run, 0) == 1.5).count();
    // 600 expected; four standard deviations are 82.
    assert!(slow.abs_diff(600) < 82, "{slow}");
    assert!((0..50).all(|run| mode(run, 0) == mode(run, 1)));
}

#[test]
fn errors_name_the_option_its_value_the_cause_and_what_is_right() {
    for (option, value, cause) in [
        ("latency", "50", "`50` is not a time"),
        ("latency", "normal:50us", "`normal` takes two values"),
        ("latency", "normals:50us,1us", "there is no distribution `normals`"),
        ("latency", "0.5*1us+0.4*2us", "the weights add up to 0.9, not to 1"),
        ("latency", "1us+0.4*2us", "`1us` has no weight"),
        ("latency", "lognormal:1us,4", "sigma 4 is not within 0 to 3"),
        ("latency", "101s", "longer than 100s"),
        ("modes", "0", "the factor 0 is not within 0.001 to 1000"),
        ("loss", "101%", "is not within 0 to 1"),
        ("loss", "-1", "`-1` is not a number"),
        ("bandwidth", "100", "`100` is not a rate"),
        ("fragment", "0", "0 is not within 1 to 1000000"),
        ("queue", "0", "0 is not within 1 to 1000000"),
        ("jitter", "4", "the spread 4 is not within 0 to 3"),
        ("full", "maybe", "neither `block` nor `drop`"),
        ("stall", "5ms,5ms", "does not fit into a period"),
        ("warmup", "hump:2,1ms", "there is no shape `hump`"),
        ("warmup", "ramp:2,0", "`0` is under 1ns"),
        ("qos", "colour:5us", "there is no policy `colour`"),
        ("seed", "x", "not a whole number"),
    ] {
        let error = Config::parse([(option, value)]).expect_err(value);
        assert!(error.message.starts_with(&format!("option `{option}` cannot be `{value}`: ")), "{error}");
        assert!(error.message.contains(cause), "{error}");
        assert!(!error.hint.is_empty());
    }
    let error = Config::parse([("delay", "1us")]).expect_err("unknown").to_string();
    assert!(error.starts_with("there is no option `delay`; hint: the options are latency, "), "{error}");
    assert!(Config::parse([("loss", "0"), ("loss", "1")]).is_err());
    for option in OPTIONS {
        Config::parse([(option.name, option.default)]).expect(option.name);
    }
}

fn any_value() -> impl Strategy<Value = String> {
    prop::string::string_regex("[a-z]{0,9}:?[0-9.]{0,4}(us|ms|s|%|,|\\*|\\+|Mbit|-){0,2}[0-9.]{0,3}(us|ms)?")
        .expect("a pattern")
}

proptest! {
    #[test]
    fn any_text_parses_or_is_rejected(option in 0..OPTIONS.len(), value in any_value(), other in ".*") {
        for text in [&value, &other] {
            let _ = Config::parse([(OPTIONS[option].name, text.as_str())]);
        }
    }

    #[test]
    fn no_configuration_panics_and_time_never_goes_backwards(
        latency in prop::sample::select(vec!["0", "100s", "normal:0,1s", "lognormal:100s,3", "gamma:0,0.05", "0.5*1ns+0.5*gamma:9s,0.05"]),
        rates in prop::sample::select(vec![("off", "0"), ("1kbit", "100s"), ("10000Gbit", "1ns")]),
        stall in prop::sample::select(vec!["off", "2ns,1ns", "100s,99s", "1ns,0"]),
        warmup in prop::sample::select(vec!["flat", "ramp:1000,1ns", "step:0.001,1s", "cycle:1000,1ns", "slowdown:9,1ms"]),
        drift in prop::sample::select(vec!["0", "-100", "100"]),
        chance in prop::sample::select(vec!["0", "0.5", "1"]),
        jitter in prop::sample::select(vec!["0", "0.01", "3"]),
        full in prop::sample::select(vec!["block", "drop"]),
        reliable in any::<bool>(),
        steps in prop::collection::vec((any::<u32>(), 0..u64::MAX), 1..50),
    ) {
        let config = config(&[
            ("latency", latency), ("bandwidth", rates.0), ("service", rates.1), ("stall", stall), ("warmup", warmup),
            ("drift", drift), ("loss", chance), ("duplicate", chance), ("reorder", chance), ("full", full),
            ("queue", "2"), ("qos", "reliability:100s"), ("jitter", jitter),
        ]);
        let mut flow = Flow::new(Arc::new(config.clone()), reliable, 1e11, 1, 0);
        let mut now = 0_u64;
        for (step, bytes) in steps {
            now = now.saturating_add(u64::from(step) * 1000);
            match flow.offer(now, bytes) {
                SampleOutcome::Full { until_ns } => prop_assert!(until_ns > now),
                SampleOutcome::Lost | SampleOutcome::Dropped => prop_assert!(!reliable),
                SampleOutcome::Comes { due_ns, twice, retransmissions } => {
                    prop_assert!(due_ns >= now && !(reliable && twice) && (reliable || retransmissions == 0));
                }
            }
            // The truth of a server with jitter is a sum over many slices.
            let steady = Config { jitter: 0.0, ..config.clone() };
            let truth = GroundTruth::new(&steady, reliable, 0.0, bytes, 1.0, now);
            let (mean, sd) = truth.mean_and_sd();
            prop_assert!(mean >= 0.0 && sd >= 0.0 && truth.quantile(0.5) >= 0.0, "{mean} {sd}");
        }
    }
}
