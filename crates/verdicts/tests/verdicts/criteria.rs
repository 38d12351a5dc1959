//! Criteria: passed, failed, and inconclusive.

use results::{CriterionOutcome, Metric, ResultDocument};
use verdicts::{CompareError, CompareOptions, Criterion, compare};

use crate::{latency, p50, side};

fn criteria(texts: &[&str]) -> Vec<Criterion> {
    texts.iter().map(|text| Criterion::parse(text).expect("a criterion")).collect()
}

#[test]
fn criteria_are_broken_kept_or_undecided() {
    let judged = |ratio: f64, reach: f64, blocks: u32, texts: &[&str]| {
        let document = latency(blocks, ratio, reach);
        let options = CompareOptions {
            factors: vec!["driver".to_owned(), "qos".to_owned()],
            criteria: criteria(texts),
            ..CompareOptions::default()
        };
        let found = compare(&side("a", &document, "plain"), &side("a", &document, "dds"), &options);
        let judged = found.expect("compared").criteria;
        judged.into_iter().map(|judged| judged.outcome).collect::<Vec<_>>()
    };
    use CriterionOutcome::{Broken, CannotTell, Kept};
    assert_eq!(judged(1.10, 0.01, 12, &["p99 > +5%", "p50 > 20%", "p50 < -5%"]), [Broken, Kept, Kept]);
    assert_eq!(judged(0.9, 0.01, 12, &["p50 < -5%"]), [Broken]);
    assert_eq!(judged(1.05, 0.1, 12, &["p99 > +5%"]), [CannotTell]);
    assert_eq!(judged(3.0, 0.01, 5, &["p99 > +5%"]), [CannotTell]);
    let document = latency(12, 1.0, 0.01);
    let options = CompareOptions { criteria: criteria(&["goodput < -5%"]), ..CompareOptions::default() };
    let wrong = compare(&side("a", &document, "dds"), &side("a", &document, "dds"), &options);
    assert!(
        matches!(wrong, Err(CompareError::WrongMetric { wanted, .. }) if wanted.means(Metric::Goodput)),
        "{wrong:?}"
    );
}

/// The level differs from that of a verdict: a verdict shares it with all metrics of the table, a criterion with
/// the other criteria.
#[test]
fn criterion_text_has_its_interval() {
    let outcomes = |document: &ResultDocument, treatment: &str, texts: &[&str]| {
        let options = CompareOptions {
            factors: vec!["driver".to_owned(), "qos".to_owned()],
            criteria: criteria(texts),
            ..CompareOptions::default()
        };
        let sides = (side("a", document, "plain"), side("a", document, treatment));
        let judged = compare(&sides.0, &sides.1, &options).expect("compared").criteria;
        judged.into_iter().map(|judged| judged.text).collect::<Vec<_>>()
    };
    let six = latency(6, 1.1, 0.01);
    assert!(p50(&six).text.starts_with("RTT p50 has too few blocks"), "{}", p50(&six).text);
    let one = outcomes(&six, "dds", &["p50 > +20%"]);
    assert!(one[0].starts_with("met: RTT p50 +") && one[0].contains(" % (95 % +"), "{one:?}");
    let two = outcomes(&six, "dds", &["p50 > +20%", "p50 > +5%"]);
    assert_eq!(two, ["inconclusive: RTT p50 has 6 blocks, needs 7"; 2]);
    let two = outcomes(&latency(12, 1.1, 0.01), "dds", &["p50 > +20%", "p50 > +5%"]);
    assert!(two[0].starts_with("met: ") && two[1].starts_with("failed: "), "{two:?}");
    assert!(two.iter().all(|text| text.contains(" % (97.5 % +")), "{two:?}");
    assert!(two[1].ends_with("; at most +5 % is allowed") && !two[0].contains("allowed"), "{two:?}");
    let itself = outcomes(&six, "plain", &["p50 > +20%"]);
    assert_eq!(itself, ["inconclusive: both sides are the same runs"]);
}
