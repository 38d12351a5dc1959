//! Waits of a run for its last samples: their ends.

use control::IDLE_NS;
use simulate::drain::{Acknowledged, Drained};

const MS: u64 = 1_000_000;

/// Drains a run that wrote until 1 s, with a limit of 5 s and one sample per arrival time in ms. Returns whether
/// all were acknowledged and arrived, and the end of the drain in ms.
fn drained(sent: u64, reliable: bool, arrivals_ms: &[u64]) -> (bool, bool, u64) {
    let arrivals = arrivals_ms.iter().map(|ms| (ms * MS, 1));
    let acknowledged = Acknowledged::wait(arrivals.clone(), (sent, reliable), 1_000 * MS, 5_000 * MS);
    let drained = Drained::new(arrivals, sent, (1_000 * MS, acknowledged.at_ns), 5_000 * MS);
    (acknowledged.all, drained.arrived, (drained.closed_ns - IDLE_NS) / MS)
}

#[test]
fn complete_run_ends_with_its_last_arrival() {
    for reliable in [false, true] {
        assert_eq!(drained(2, reliable, &[900, 990]), (true, true, 1_000));
        assert_eq!(drained(2, reliable, &[900, 1_150]), (true, true, 1_150));
    }
    // Only a reliable writer waits for a late repair.
    assert_eq!(drained(2, true, &[900, 4_000]), (true, true, 4_000));
    assert_eq!(drained(2, false, &[900, 4_000]), (true, false, 1_200));
}

#[test]
fn silence_ends_the_drain_of_a_reader_that_misses_samples() {
    assert_eq!(drained(4, false, &[900, 1_150, 1_340, 1_600]), (true, false, 1_540));
    // Late samples of the warm-up are no silence.
    let arrivals = [(1_150, 0), (1_300, 0), (1_450, 1), (1_800, 1)].map(|(ms, samples)| (ms * MS, samples));
    let drained = Drained::new(arrivals.into_iter(), 2, (1_000 * MS, 1_000 * MS), 5_000 * MS);
    assert_eq!((drained.arrived, drained.closed_ns), (false, 1_650 * MS + IDLE_NS));
}

#[test]
fn time_limit_ends_both_waits() {
    // The writer waits 5 s for its acknowledgments, then the reader 200 ms for a sample.
    assert_eq!(drained(2, true, &[900, 7_000]), (false, false, 6_200));
    assert_eq!(drained(2, true, &[900, 6_100]), (false, true, 6_100));
    let steady: Vec<u64> = (0..200).map(|index| 900 + 100 * index).collect();
    assert_eq!(drained(200, false, &steady), (true, false, 6_000));
}
