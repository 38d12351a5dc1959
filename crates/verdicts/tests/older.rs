//! Older results, without blocks, noise and environment: they load, and are compared as far as possible.

use std::path::Path;

use results::{Conclusion, Directory, Document, Metric, Pairing};
use verdicts::{Asked, Criterion, Refusal, Side, compare};

fn older() -> Document {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/without-steady-state.json");
    let document = Directory::load(&data).expect("an older result");
    assert_eq!(document.schema_version, 1);
    assert!(document.blocks.is_empty() && document.noise_rule.is_none() && document.environment.is_none());
    document
}

fn side<'d>(name: &str, document: &'d Document) -> Side<'d> {
    Side { name: name.to_owned(), document, cells: document.cells.iter().collect() }
}

#[test]
fn it_has_no_baseline_and_so_no_verdict_of_its_own() {
    assert_eq!(verdicts::of(&older()), []);
}

#[test]
fn it_is_compared_with_a_later_one() {
    let before = older();
    let mut after = before.clone();
    let runs = after.cells.iter_mut().flat_map(|cell| &mut cell.runs);
    for rtt in runs.filter_map(|run| run.latency.get_mut("rtt")) {
        rtt.p50_ns = rtt.p50_ns.map(|ns| 2 * ns);
    }
    let asked = Asked {
        criteria: vec![Criterion::parse("p50 > +5%").expect("one")],
        // without references
        force: true,
        ..Asked::default()
    };
    let found = compare(&side("before", &before), &side("after", &after), &asked).expect("compared");
    let p50 = found.verdicts.iter().find(|verdict| verdict.metric == Metric::RttP50).expect("a verdict");
    assert_eq!((p50.pairing, p50.treatment.runs, p50.baseline.runs), (Pairing::Apart, 3, 3));
    let answer = p50.answer.as_ref().expect("an answer");
    assert!(answer.change_pct > Some(90.0), "{answer:?}");
    assert!(matches!(answer.conclusion, Conclusion::TooFew { .. }), "{}", p50.text);
    assert_eq!(p50.without_noisy, None, "no block is known to be noisy");
    assert_eq!(
        found.criteria[0].text,
        "the data cannot tell: p50 RTT has 3 and 3 runs, needs 4 on each side"
    );
}

#[test]
fn what_it_says_of_its_host_is_held_against_the_other_host() {
    let before = older();
    let mut after = before.clone();
    after.host.kernel = "Linux 9".to_owned();
    let refused = compare(&side("before", &before), &side("after", &after), &Asked::default());
    let Err(Refusal::Differ(differences)) = refused else { panic!("{refused:?}") };
    assert!(differences.iter().any(|difference| difference.field.contains("kernel")), "{differences:?}");
}
