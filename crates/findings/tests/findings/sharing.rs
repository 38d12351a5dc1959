//! Several readers or writers, of which one gets less than the others.

use experiment::{Factors, Workload};
use results::{EndpointSpread, Finding, FindingKind, Run};

use crate::rig::{Truth, alone, of_kind, result_with};

/// Returns the findings of a kind, with these rates of the first and the last of four endpoints.
fn found(
    kind: FindingKind,
    rates: fn(usize) -> (f64, f64),
    set: fn(&mut Run, EndpointSpread),
) -> Vec<Finding> {
    let document = result_with(
        &alone("dds", Workload::Throughput),
        |_: &Factors| Truth::default(),
        |run| {
            let (first, last) = rates(run.block as usize);
            let all = [first, 1_000.0, 1_000.0, last];
            let squares: f64 = all.iter().map(|rate| rate * rate).sum();
            let spread = EndpointSpread {
                endpoints: 4,
                lowest: "reader-1".to_owned(),
                lowest_sps: first,
                highest: "reader-4".to_owned(),
                highest_sps: last,
                fairness: all.iter().sum::<f64>().powi(2) / (4.0 * squares),
            };
            if let Some(rates) = run.throughput_mut() {
                rates.delivered_sps = all.iter().sum::<f64>() / 4.0;
            }
            set(run, spread);
        },
    );
    of_kind(&document, kind)
}

fn readers(run: &mut Run, spread: EndpointSpread) {
    if let Some(rates) = run.throughput_mut() {
        rates.readers = Some(spread);
    }
}

fn writers(run: &mut Run, spread: EndpointSpread) {
    if let Some(rates) = run.throughput_mut() {
        rates.writers = Some(spread);
    }
}

#[test]
fn reader_that_is_behind_in_every_run_is_named() {
    let [finding] = &found(FindingKind::ReaderBehind, |_| (500.0, 1_000.0), readers)[..] else {
        panic!("one finding")
    };
    assert!(finding.text.contains("the slowest of 4 readers fell behind"), "{}", finding.text);
    assert!(
        finding.text.contains("`reader-1` had the least in most runs, 500 samples/s"),
        "{}",
        finding.text
    );
    assert!((finding.numbers["slowest_of_mean_ratio"] - 500.0 / 875.0).abs() < 1e-9);
    // once as fast as the others, or by a little only
    assert!(
        found(
            FindingKind::ReaderBehind,
            |run| (if run.is_multiple_of(3) { 1_000.0 } else { 500.0 }, 1_000.0),
            readers
        )
        .is_empty()
    );
    assert!(found(FindingKind::ReaderBehind, |_| (950.0, 1_000.0), readers).is_empty());
}

#[test]
fn reader_of_a_run_over_hosts_is_named_with_its_host() {
    let over_hosts = |run: &mut Run, spread: EndpointSpread| {
        readers(run, spread);
        let mut any = run.endpoints[0].clone();
        run.endpoints = [("reader-1", "pi1"), ("reader-4", "pi2")]
            .map(|(id, host)| {
                (any.id, any.host) = (id.to_owned(), host.to_owned());
                any.clone()
            })
            .to_vec();
    };
    let [finding] = &found(FindingKind::ReaderBehind, |_| (500.0, 1_000.0), over_hosts)[..] else {
        panic!("one finding")
    };
    for words in ["`reader-1@pi1` had the least in most runs", "`reader-4@pi2` the most"] {
        assert!(finding.text.contains(words), "{}", finding.text);
    }
}

#[test]
fn writers_share_evenly_unevenly_or_without_a_finding() {
    let [finding] = &found(FindingKind::WritersUneven, |_| (100.0, 3_000.0), writers)[..] else {
        panic!("one finding")
    };
    assert!(finding.text.contains("4 writers do not share evenly"), "{}", finding.text);
    assert!(finding.numbers["jain_index"] < 0.95, "{:?}", finding.numbers);
    assert!(found(FindingKind::WritersEven, |_| (100.0, 3_000.0), writers).is_empty());
    let even = found(FindingKind::WritersEven, |_| (990.0, 1_010.0), writers);
    assert!(even[0].text.contains("the writers share evenly"), "{}", even[0].text);
    let mixed = |run: usize| if run.is_multiple_of(2) { (100.0, 3_000.0) } else { (1_000.0, 1_000.0) };
    for kind in [FindingKind::WritersEven, FindingKind::WritersUneven] {
        assert!(found(kind, mixed, writers).is_empty(), "{kind:?}");
    }
}
