//! Several readers, and participants that find each other, compared with the truth.

use std::sync::Arc;

use sim_model::{
    Announcements, Config, DiscoveryTruth, Flow, GroundTruth, RoundTrip, SampleOutcome, discover,
};

fn config(options: &[(&str, &str)]) -> Config {
    Config::parse(options.iter().copied()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns when a packet arrives at each reader.
fn dues(flow: &Flow) -> Vec<u64> {
    let due = |outcome| match outcome {
        SampleOutcome::Comes { due_ns, .. } => due_ns,
        other => panic!("{other:?}"),
    };
    flow.outcomes().map(due).collect()
}

#[test]
fn each_reader_has_a_copy_of_its_own_by_unicast_and_one_together_by_multicast() {
    let config = Arc::new(config(&[("latency", "50us"), ("service", "10us")]));
    let flow = |multicast| Flow::new(config.clone(), true, 0.0, 1, 0).to_readers([1.0, 1.0, 2.0], multicast);
    for (multicast, expected) in [(false, [60_000, 70_000, 130_000]), (true, [60_000, 60_000, 110_000])] {
        let mut flow = flow(multicast);
        flow.offer(0, 8);
        assert_eq!(dues(&flow), expected, "{multicast}");
        // The next sample waits until the last copy has left.
        let busy = if multicast { 10_000 } else { 30_000 };
        assert_eq!(
            flow.offer(1, 8),
            SampleOutcome::Comes { due_ns: busy + 60_000, twice: false, retransmissions: 0 }
        );
    }
    let truth = GroundTruth::new(&config, true, 0.0, 8, 1.0, 0).of_copies(3).of_reader(2.0);
    assert_eq!((truth.mean_and_sd().0, truth.capacity_pps()), (130_000.0, Some(1e9 / 30_000.0)));
}

#[test]
fn readers_lose_independently_of_each_other() {
    let config = Arc::new(config(&[("loss", "20%")]));
    let mut flow = Flow::new(config, false, 0.0, 1, 0).to_readers([1.0, 1.0], false);
    let mut lost = [0_u32; 4];
    for at in 0..10_000 {
        flow.offer(at * 1000, 8);
        let which: Vec<usize> = flow.outcomes().map(|of| usize::from(of == SampleOutcome::Lost)).collect();
        lost[which[0] + 2 * which[1]] += 1;
    }
    // 6,400, 1,600, 1,600 and 400 expected; within five standard deviations.
    for (found, share) in lost.into_iter().zip([0.64, 0.16, 0.16, 0.04]) {
        let allowed = 5.0 * (10_000.0_f64 * share * (1.0 - share)).sqrt();
        assert!((f64::from(found) - 10_000.0 * share).abs() < allowed, "{lost:?}");
    }
}

#[test]
fn last_echo_is_the_largest_of_independent_round_trips() {
    let config = config(&[("latency", "normal:50us,5us"), ("service", "4us")]);
    let truth = GroundTruth::new(&config, true, 0.0, 100, 1.0, 0);
    let trips: Vec<RoundTrip<'_>> =
        (1..=3).map(|copy| truth.clone().of_copies(copy).round_trip_by(truth.clone())).collect();
    let shared = Arc::new(config.clone());
    let flow = |stream| Flow::new(shared.clone(), true, 0.0, 1, stream);
    let mut out = flow(0).to_readers([1.0; 3], false);
    let mut backs = [1, 2, 3].map(flow);
    let mut last: Vec<u64> = Vec::new();
    let mut now = 0;
    for _ in 0..10_000 {
        out.offer(now, 100);
        let there = dues(&out);
        let here = backs.iter_mut().zip(there).map(|(back, at)| {
            back.offer(at, 100);
            dues(back)[0]
        });
        let here = here.max().expect("three echoes");
        last.push(here - now);
        now = here + 1_000;
    }
    last.sort_unstable();
    for q in [0.5, 0.99] {
        // Four standard deviations of the share of values below the quantile.
        let reach = 4.0 * (q * (1.0 - q) / 10_000.0_f64).sqrt();
        let found = last[(q * 10_000.0) as usize] as f64;
        let [low, high] = [q - reach, q + reach].map(|q| RoundTrip::last_quantile(&trips, q));
        assert!((low - 1.0..=high + 1.0).contains(&found), "{q}: {found} is not within {low} to {high}");
        assert!(RoundTrip::last_quantile(&trips[..1], q) < low, "{q}: one echo returns earlier than three");
    }
}

#[test]
fn participants_find_each_other_at_the_true_time() {
    for (service, participants, endpoints) in [
        ("0", 2, 1),
        ("0", 30, 3),
        ("10us", 2, 1),
        ("10us", 3, 2),
        ("10us", 40, 1),
        ("2us", 100, 2),
        ("90us", 60, 1),
    ] {
        let config = Arc::new(config(&[("latency", "1ms"), ("service", service)]));
        let truth = DiscoveryTruth::new(&config, 1.0, participants, endpoints).expect("constant");
        let found = |opens: &[u64]| discover(&config, Announcements { endpoints, run: 1 }, opens);
        let together = found(&vec![0; participants]);
        let case = (service, participants, endpoints);
        assert_eq!(together.all_matched_ns() as f64, truth.together_ns(), "{case:?}");
        assert_eq!(together.packets as f64, truth.packets(), "{case:?}");
        let mut opens = vec![0; participants];
        opens[participants - 1] = 10_000_000_000;
        let late = found(&opens);
        assert_eq!((late.all_matched_ns() - 10_000_000_000) as f64, truth.late_ns(), "{case:?}");
        assert_eq!(late.packets as f64, truth.packets(), "{case:?}");
        let entities = late.writers.iter().chain(&late.readers).flatten();
        assert!(entities.clone().all(|at| *at > 10_000_000_000), "the late one is a peer of all: {case:?}");
        assert_eq!(entities.count(), 2 * endpoints * participants);
    }
    let random = config(&[("latency", "normal:1ms,1us")]);
    assert_eq!(DiscoveryTruth::new(&random, 1.0, 3, 1), None);
}
