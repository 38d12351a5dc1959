//! Verdicts of two results: which of them the second result repeats.

use experiment::Workload;
use results::{AgreementOutcome, Metric, ResultDocument, VerdictAgreement};
use verdicts::{CompareOptions, compare};

use crate::{made_of, rtt, side};

const SIZES: [u64; 4] = [64, 128, 256, 512];
const BLOCKS: u32 = 14;

/// Returns a result in which the cell of each size takes `ratios` times its baseline; runs differ by up to `reach`. `offset` makes other
/// runs of the same experiment.
fn result(ratios: [f64; 4], reach: [f64; 4], offset: u32) -> ResultDocument {
    made_of(&SIZES, Workload::Latency, BLOCKS, false, |run| {
        let size = SIZES.iter().position(|size| run.cell.ends_with(&format!("/{size}"))).expect("a size");
        let number = run.number;
        run.number += offset;
        rtt(run, ratios[size], reach[size]);
        run.number = number;
    })
}

fn agreement(before: &ResultDocument, after: &ResultDocument, options: &CompareOptions) -> VerdictAgreement {
    let compared = compare(&side("a", before, ""), &side("b", after, ""), options).expect("one experiment");
    compared.agreement.expect("verdicts in both results")
}

fn outcomes(agreement: &VerdictAgreement, metric: Metric) -> Vec<(&str, AgreementOutcome)> {
    let of_metric = agreement.claims.iter().filter(|claim| claim.metric == metric);
    of_metric.map(|claim| (claim.cell.rsplit('/').next().expect("a size"), claim.outcome)).collect()
}

/// The second result has the opposite sign at 64 bytes, and too much scatter at 512.
#[test]
fn planted_contradiction_and_weaker_verdict_are_counted_and_named() {
    use AgreementOutcome::{Agree, Contradict, Weaker};
    let before = result([0.9, 1.1, 1.0, 1.1], [0.002; 4], 0);
    let after = result([1.1, 1.1, 1.0, 1.1], [0.002, 0.002, 0.002, 0.4], 1000);
    let found = agreement(&before, &after, &CompareOptions::default());
    for metric in [Metric::RttP50, Metric::RttP99] {
        let expected = [("64", Contradict), ("128", Agree), ("256", Agree), ("512", Weaker)];
        assert_eq!(outcomes(&found, metric), expected);
    }
    let all = found.all;
    assert_eq!((all.claims, all.agree, all.undecided, all.weaker, all.contradict), (8, 4, 0, 2, 2));
    let contradiction = &found.claims[0];
    let texts =
        [&contradiction.baseline, &contradiction.treatment].map(|text| text.clone().expect("a verdict"));
    assert!(texts[0].contains("% lower") && texts[1].contains("% higher"), "{texts:?}");
    assert!(contradiction.baseline_change_pct < Some(-9.0) && contradiction.treatment_change_pct > Some(9.0));

    // opposite effects do not correlate, and a result agrees with one that repeats it
    let r = |agreement: &VerdictAgreement| agreement.groups[0].r.expect("four estimates");
    let repeated =
        agreement(&before, &result([0.9, 1.1, 1.0, 1.1], [0.002; 4], 1000), &CompareOptions::default());
    assert_eq!((repeated.all.claims, repeated.all.agree), (8, 8));
    assert!(r(&repeated) > 0.99 && r(&found) < 0.5, "{} and {}", r(&repeated), r(&found));
    assert_eq!(repeated.groups.len(), 2, "RTT p50 and p99 of one driver");
}

#[test]
fn equivalent_against_different_is_a_contradiction_and_two_open_verdicts_are_none() {
    let before = result([1.0, 1.0, 1.0, 1.0], [0.002, 0.4, 0.002, 0.4], 0);
    let after = result([1.1, 1.0, 1.0, 1.3], [0.002, 0.4, 0.002, 0.4], 1000);
    let options = CompareOptions { metrics: vec![Metric::RttP50.into()], ..CompareOptions::default() };
    let found = agreement(&before, &after, &options);
    let claims = outcomes(&found, Metric::RttP50);
    assert_eq!(claims[0], ("64", AgreementOutcome::Contradict));
    assert_eq!(claims[1], ("128", AgreementOutcome::Undecided));
    assert_eq!(found.all.claims, 4, "only the selected metric");
}

/// A change of the host by a third is in both sides of each verdict.
#[test]
fn change_of_the_host_between_the_results_is_no_contradiction() {
    let (before, mut after) =
        (result([0.9, 1.1, 1.0, 1.1], [0.002; 4], 0), result([0.9, 1.1, 1.0, 1.1], [0.002; 4], 1000));
    for run in after.cells.iter_mut().flat_map(|cell| &mut cell.runs) {
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        rtt.p50_ns = rtt.p50_ns.map(|ns| ns * 4 / 3);
        rtt.p99_ns = rtt.p99_ns.map(|ns| ns * 4 / 3);
    }
    let found = agreement(&before, &after, &CompareOptions::default());
    assert_eq!((found.all.agree, found.all.contradict), (8, 0));
}

#[test]
fn results_without_verdicts_of_their_own_have_no_agreement() {
    let with = result([0.9; 4], [0.002; 4], 0);
    let mut without = result([0.9; 4], [0.002; 4], 1000);
    without.experiment.design.baseline.clear();
    let compared = |before: &ResultDocument, after: &ResultDocument| {
        let options = CompareOptions { force: true, ..CompareOptions::default() };
        let compared = compare(&side("a", before, "dds"), &side("b", after, "dds"), &options);
        compared.expect("one experiment").agreement
    };
    assert_eq!(compared(&with, &without), None);
    assert_eq!(compared(&with, &with), None, "one result");
    let both = compared(&with, &result([0.9; 4], [0.002; 4], 1000));
    assert_eq!(both.map(|agreement| agreement.all.claims), Some(8), "the baseline need not be selected");
}
