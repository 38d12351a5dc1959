//! Duets.

use experiment::Workload;
use results::{Pairing, ResultDocument, Run, RunState, VerdictKind};
use verdicts::{CompareError, CompareOptions, compare};

use crate::{conclusion, latency, made, p50, rtt, side};

/// Returns a result of duets. Each block has its own level, common to its duets; otherwise runs differ by up to 1
/// %.
fn duets(blocks: u32, ratio: f64, change: impl Fn(&mut Run)) -> ResultDocument {
    made(Workload::Latency, blocks, true, |run| {
        rtt(run, ratio * f64::from(1 + run.block % 3), 0.01);
        if run.cell.starts_with("plain") {
            rtt(run, 1.0, 0.01);
            let rtt = run.latency.get_mut("rtt").expect("a latency run");
            rtt.p50_ns = rtt.p50_ns.map(|ns| ns * u64::from(1 + run.block % 3));
        }
        change(run);
    })
}

#[test]
fn duet_run_is_compared_with_its_partner() {
    let document = duets(12, 0.9, |_| {});
    let verdict = p50(&document);
    assert_eq!((verdict.pairing, verdict.treatment.under_duet_interference), (Pairing::Duets, true));
    assert!(
        verdict.text.starts_with("RTT p50 9.89 % lower (95 % 9.37..10.4, 12 duets); "),
        "{}",
        verdict.text
    );
    // the levels of the blocks affect the values, but not the ratio
    assert!(verdict.text.contains("baseline multi-modal under duet interference: "), "{}", verdict.text);
    assert_eq!((verdict.baseline.runs, verdict.treatment.runs), (12, 12), "{verdict:?}");
    let floors = verdicts::judge(&document);
    let floor = floors.iter().find(|verdict| verdict.kind == VerdictKind::NoiseFloor).expect("a floor");
    assert_eq!((floor.pairing, floor.answer.as_ref().map(|answer| answer.n)), (Pairing::Duets, Some(12)));
    assert!(!conclusion(floor).differs(), "{}", floor.text);
    assert!(p50(&duets(3, 0.9, |_| {})).text.ends_with("has too few duets for any claim: 3, needs 7"));

    // there is no ratio without a value on one side, or without enough overlap
    for spoil in [
        |run: &mut Run| run.state = RunState::Failed,
        |run: &mut Run| run.duet.as_mut().expect("a duet").side_by_side_pct = 80.0,
    ] {
        let spoilt = duets(12, 0.9, |run| {
            if run.block <= 2 && run.cell.starts_with("dds") {
                spoil(run);
            }
        });
        let answer = p50(&spoilt).answer.expect("an answer");
        assert_eq!((answer.n, answer.incomplete), (10, 2));
    }

    // a run with another partner has no ratio to this one
    let strangers = duets(12, 0.9, |run| {
        if run.cell.starts_with("dds") {
            run.duet.as_mut().expect("a duet").partner += 1000;
        }
    });
    let withheld = p50(&strangers).withheld.expect("no verdict");
    assert!(withheld.contains("only between runs that were made beside each other"), "{withheld}");
}

#[test]
fn values_under_duet_interference_are_not_compared_with_others() {
    let document = duets(12, 0.9, |_| {});
    let options =
        CompareOptions { factors: vec!["driver".to_owned(), "qos".to_owned()], ..CompareOptions::default() };
    let one =
        compare(&side("a", &document, "plain"), &side("a", &document, "dds"), &options).expect("compared");
    let judged = one.verdicts.iter().find(|verdict| verdict.kind == VerdictKind::Comparison).expect("one");
    assert!(conclusion(judged).differs(), "{}", judged.text);

    let later = duets(12, 0.8, |run| run.number += 1000);
    let two = compare(&side("a", &document, "dds"), &side("b", &later, "dds"), &CompareOptions::default());
    let two = two.expect("compared");
    let apart: Vec<_> = two.verdicts.iter().filter(|verdict| verdict.pairing == Pairing::Apart).collect();
    assert!(apart.len() == 2 && apart.iter().all(|verdict| verdict.answer.is_none()), "{apart:?}");
    assert!(apart[0].text.contains("no verdict: values under duet interference"), "{}", apart[0].text);

    let alone = latency(12, 0.9, 0.01);
    let rejected =
        compare(&side("a", &alone, "dds"), &side("b", &document, "dds"), &CompareOptions::default());
    let Err(CompareError::Differ(differences)) = rejected else { panic!("{rejected:?}") };
    assert_eq!(differences.iter().map(|d| d.field.as_str()).collect::<Vec<_>>(), ["design.duet"]);
}
