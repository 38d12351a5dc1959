//! Findings on the highest loss-free load.

use experiment::{Load, Rate, Reliability};
use results::{FindingKind, ResultDocument, Run};

use crate::{
    rig::{number, of_kind},
    sample::paced,
};

const KINDS: [FindingKind; 3] =
    [FindingKind::BestLossFree, FindingKind::HighestLossFree, FindingKind::NoneLossFree];

/// Truth of the runs at a load.
#[derive(Clone, Copy)]
struct Truth {
    /// Lost samples in percent of those sent, by block.
    lost_pct: fn(u32) -> u64,
    undelivered: u64,
    accepted: f64,
    /// Samples that arrived after the end of the writing, in percent.
    late_pct: u64,
}

const WELL: Truth = Truth { lost_pct: |_| 0, undelivered: 0, accepted: 1.0, late_pct: 0 };
const LOSSY: Truth = Truth { lost_pct: u64::from, ..WELL };

fn bursts(samples: u64, period_ms: u64) -> Load {
    Load::Burst { rate: Rate { samples, period_ns: period_ms * 1_000_000 } }
}

/// Returns a result of one driver with these loads, each with its truth.
fn result(reliability: Reliability, loads: &[(Load, Truth)]) -> ResultDocument {
    let plans: Vec<Load> = loads.iter().map(|(load, _)| load.clone()).collect();
    let mut header = paced::header(&plans, &[]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    for cell in &mut header.experiment.cells {
        cell.factors.qos.reliability = Some(reliability);
    }
    let cells = header.experiment.cells.clone();
    paced::document_with(&header, |run: &mut Run| {
        let cell = cells.iter().find(|cell| cell.id == run.cell).expect("its cell");
        let load = cell.factors.load.as_ref().expect("a load");
        let (_, truth) = loads.iter().find(|(known, _)| known == load).expect("its truth");
        let counted = &mut run.flows[0].counted;
        counted.lost = counted.sent * (truth.lost_pct)(run.block) / 100;
        counted.undelivered = truth.undelivered;
        counted.delivered = counted.sent - counted.lost - counted.undelivered;
        let block = run.block;
        let throughput = run.throughput_mut().expect("rates");
        let sps = load.rate().map_or(0.0, Rate::sps);
        throughput.accepted_sps = sps * truth.accepted;
        throughput.tail.samples = throughput.delivered * truth.late_pct / 100;
        throughput.delivered_sps = throughput.accepted_sps + f64::from(block);
        throughput.goodput_mbps = 8.0;
    })
}

fn found(reliability: Reliability, loads: &[(Load, Truth)]) -> Vec<results::Finding> {
    let document = result(reliability, loads);
    KINDS.iter().flat_map(|kind| of_kind(&document, *kind)).collect()
}

#[test]
fn best_load_is_the_highest_without_loss_in_any_run() {
    let loads = [
        (bursts(1000, 10), LOSSY),
        (bursts(10, 10), WELL),
        (bursts(100, 10), WELL),
        (bursts(1000, 100), LOSSY),
    ];
    let [best] = &found(Reliability::BestEffort, &loads)[..] else { panic!("not one") };
    assert_eq!(best.kind, FindingKind::BestLossFree);
    // at the same rate, larger bursts are the higher load
    assert_eq!(
        best.text,
        "`dds` under load at 1024 bytes: the best load that is free of loss is 10000/s in bursts of 100: 10000/s sent, \
         10001 to 10003/s delivered (8.00 Mbit/s; 3 runs). At the next higher one, 10000/s in bursts of 1000, 1.00 to \
         3.00 % of the samples did not come, in 3 of 3 runs."
    );
    number(best, "loss_free_sps", 10_000.0);
    number(best, "loss_free_burst_samples", 100.0);
    number(best, "delivered_sps", 10_002.0);
    number(best, "next_burst_samples", 1_000.0);
    number(best, "next_missing_max_pct", 3.0);
    assert_eq!(best.cells.len(), 4);
}

#[test]
fn one_run_is_enough_to_spoil_a_load_and_a_lower_load_that_lost_is_named() {
    let once = Truth { lost_pct: |block| u64::from(block == 2), ..WELL };
    let at = paced::constant;
    let loads = [(at(1_000), WELL), (at(5_000), once), (at(10_000), WELL), (at(20_000), once)];
    let [best] = &found(Reliability::BestEffort, &loads)[..] else { panic!("not one") };
    number(best, "loss_free_sps", 10_000.0);
    number(best, "next_sps", 20_000.0);
    let expected = "in 1 of 3 runs. Not free of loss below it: 5000/s (0 to 1.00 % of the samples did not come, in 1 of 3 runs).";
    assert!(best.text.ends_with(expected), "{}", best.text);
}

#[test]
fn a_load_that_was_not_sent_is_not_free_of_loss() {
    let short = Truth { accepted: 0.8, ..WELL };
    let loads = [(paced::constant(1_000), WELL), (paced::constant(5_000), short)];
    let [best] = &found(Reliability::BestEffort, &loads)[..] else { panic!("not one") };
    number(best, "loss_free_sps", 1_000.0);
    let expected = "nothing was lost, but 80.0 % of the plan was sent, less than 99 % in 3 of 3 runs.";
    assert!(best.text.ends_with(expected), "{}", best.text);
}

#[test]
fn a_load_that_arrived_after_its_end_is_not_free_of_loss_and_falls_short() {
    let loads =
        |late_pct| [(paced::constant(1_000), WELL), (paced::constant(5_000), Truth { late_pct, ..WELL })];
    let [best] = &found(Reliability::BestEffort, &loads(40))[..] else { panic!("not one") };
    number(best, "loss_free_sps", 1_000.0);
    let expected = "nothing was lost, but 40.0 % of the samples came after the writing had ended, more than 5 % in 3 of 3 runs.";
    assert!(best.text.ends_with(expected), "{}", best.text);
    // A few samples are on their way at the end.
    let [best] = &found(Reliability::BestEffort, &loads(4))[..] else { panic!("not one") };
    assert_eq!(best.kind, FindingKind::HighestLossFree);
    // A queue of a reliable writer takes what the link does not.
    let [short] = &of_kind(&result(Reliability::Reliable, &loads(40)), FindingKind::FallsShort)[..] else {
        panic!("not one")
    };
    number(short, "short_from_sps", 5_000.0);
}

#[test]
fn loss_at_the_lowest_load_and_no_loss_at_the_highest_are_reported() {
    let both = |low, high| {
        let found = found(Reliability::BestEffort, &[(bursts(10, 10), low), (bursts(10, 1), high)]);
        let [finding] = &found[..] else { panic!("{found:#?}") };
        finding.clone()
    };
    let none = both(LOSSY, LOSSY);
    assert_eq!(none.kind, FindingKind::NoneLossFree);
    assert!(
        none.text.contains("no load is free of loss: at the lowest, 1000/s in bursts of 10, "),
        "{}",
        none.text
    );
    let all = both(WELL, WELL);
    assert_eq!(all.kind, FindingKind::HighestLossFree);
    let expected = "free of loss at all loads from 1000/s in bursts of 10 to 10000/s in bursts of 10";
    assert!(all.text.contains(expected), "{}", all.text);
    let high = both(LOSSY, WELL);
    assert_eq!(high.kind, FindingKind::HighestLossFree);
    assert!(high.text.contains("free of loss at the highest load, 10000/s"), "{}", high.text);
    assert!(high.text.contains("Not free of loss below it: 1000/s in bursts of 10 ("), "{}", high.text);
}

#[test]
fn only_broken_guarantee_is_reported() {
    let loads = |high| [(paced::constant(1_000), WELL), (paced::constant(5_000), high)];
    assert_eq!(found(Reliability::Reliable, &loads(WELL)), []);
    assert_eq!(found(Reliability::Reliable, &loads(Truth { accepted: 0.8, ..WELL })), []);
    let owed = found(Reliability::Reliable, &loads(Truth { undelivered: 10, ..WELL }));
    let [best] = &owed[..] else { panic!("{owed:#?}") };
    assert_eq!(best.kind, FindingKind::BestLossFree);
    number(best, "loss_free_sps", 1_000.0);
    // a single load is not a series
    assert_eq!(found(Reliability::BestEffort, &loads(WELL)[..1]), []);
}
