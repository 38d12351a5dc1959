//! Results on different hosts: a change that the reference explains is not claimed. Without a reference, nothing is
//! claimed.

use experiment::Workload;
use results::{
    Block, Conclusion, CriterionOutcome, Metric, Pairing, ReferenceMetric, ResultDocument, Verdict,
};
use verdicts::{CompareOptions, Criterion, compare};

use crate::{conclusion, result, rtt, sample, side};

/// Returns a result whose cell takes `ratio` times 100 µs, on a host that is slower by the factor `host`.
fn on(host: f64, ratio: f64) -> ResultDocument {
    let offset = if host == 1.0 { 0 } else { 1000 };
    let mut document = result(Workload::Latency, 20, |run| {
        let number = run.number;
        run.number += offset;
        rtt(run, ratio * host, 0.01);
        run.number = number;
    });
    for (block, number) in document.blocks.iter_mut().zip(0_u64..) {
        let around = &mut block.hosts[0];
        for reference in [&mut around.reference_before, &mut around.reference_after].into_iter().flatten() {
            let noise =
                (sample::Noise(number + u64::from(offset)).next() >> 11) as f64 / (1_u64 << 53) as f64;
            reference.rtt_p50_ns *= host * (1.0 + 0.01 * noise);
            reference.rtt_p99_ns = reference.rtt_p99_ns.map(|p99| p99 * host * (1.0 + 0.01 * noise));
            reference.rate_sps /= host;
        }
    }
    document
}

fn options(force: bool) -> CompareOptions {
    let criteria = vec![Criterion::parse("p50 > +5%").expect("a criterion")];
    CompareOptions { metrics: vec![Metric::RttP50.into()], criteria, force, ..CompareOptions::default() }
}

/// Returns the verdict between the two results, the outcome of the criterion, and the notes.
fn compared(
    before: &ResultDocument,
    after: &ResultDocument,
    force: bool,
) -> (Verdict, CriterionOutcome, Vec<String>) {
    let found = compare(&side("a", before, "dds"), &side("b", after, "dds"), &options(force));
    let mut found = found.expect("the same experiment");
    found.verdicts.retain(|verdict| verdict.pairing == Pairing::Apart);
    (found.verdicts.remove(0), found.criteria[0].outcome, found.notes)
}

fn for_each_block(document: &mut ResultDocument, change: impl Fn(&mut Block)) {
    document.blocks.iter_mut().for_each(change);
}

#[test]
fn change_that_the_host_explains_is_inconclusive_and_says_by_how_much_it_changed() {
    for host in [0.45, 1.3] {
        let (verdict, criterion, notes) = compared(&on(1.0, 1.0), &on(host, 1.0), false);
        assert!(matches!(conclusion(&verdict), Conclusion::Inconclusive { .. }), "{}", verdict.text);
        assert_eq!(criterion, CriterionOutcome::CannotTell);
        assert!(verdict.host_explains);
        let change = &verdict.references[0];
        assert_eq!(change.metric, ReferenceMetric::RttP50);
        assert!((change.change_pct - 100.0 * (host - 1.0)).abs() < 1.0, "{change:?}");
        assert!(verdict.text.starts_with("RTT p50 inconclusive: the host changed by "), "{}", verdict.text);
        assert!(notes.iter().any(|note| note.contains("`ddsmark compare --interleave")), "{notes:?}");
    }
}

#[test]
fn change_that_the_host_does_not_explain_is_claimed_with_the_reference_beside_it() {
    // the cell became slower by half; the host did not change, became slower by 10 %, or became faster
    for host in [1.000_1, 1.1, 0.9] {
        let (verdict, criterion, _) = compared(&on(1.0, 1.0), &on(host, 1.5 / host), false);
        assert!(matches!(conclusion(&verdict), Conclusion::Higher { .. }), "{}", verdict.text);
        assert_eq!(criterion, CriterionOutcome::Broken);
        assert!(!verdict.host_explains && verdict.text.contains("; reference: RTT p50 of a bare socket "));
        let answer = verdict.answer.as_ref().expect("an answer");
        // the interval includes the possible effect of the host
        assert!(answer.low_pct < Some(50.0) && answer.high_pct > Some(50.0), "{answer:?}");
    }
}

#[test]
fn without_a_reference_nothing_is_claimed_unless_forced() {
    let (mut before, after) = (on(1.0, 1.0), on(1.000_1, 1.5));
    for_each_block(&mut before, |block| block.hosts[0].reference_before = None);
    let (verdict, criterion, _) = compared(&before, &after, false);
    assert_eq!((&verdict.answer, criterion), (&None, CriterionOutcome::CannotTell));
    assert!(verdict.text.contains("no verdict: no reference shows how the host changed"), "{}", verdict.text);
    let (verdict, criterion, notes) = compared(&before, &after, true);
    assert!(conclusion(&verdict).differs() && verdict.references.is_empty(), "{}", verdict.text);
    assert_eq!(criterion, CriterionOutcome::Broken);
    assert!(notes.iter().any(|note| note.starts_with("FORCED: a result has no reference")), "{notes:?}");
}

#[test]
fn without_a_quiet_block_nothing_is_claimed_without_a_reference() {
    let (mut before, mut after) = (on(1.0, 1.0), on(1.000_1, 1.5));
    for document in [&mut before, &mut after] {
        for_each_block(document, |block| block.noisy = true);
    }
    // with references, all reference values of a disturbed host are used
    let (verdict, _, _) = compared(&before, &after, false);
    assert!(conclusion(&verdict).differs(), "{}", verdict.text);
    assert_eq!(verdict.references.len(), 3);
    for_each_block(&mut after, |block| {
        if let Some(reference) = &mut block.hosts[0].reference_before {
            reference.rtt_p99_ns = reference.rtt_p99_ns.map(|p99| 9.0 * p99);
        }
    });
    let (verdict, criterion, _) = compared(&before, &after, false);
    assert!(!conclusion(&verdict).is_claim() && verdict.host_explains, "{}", verdict.text);
    assert_eq!(criterion, CriterionOutcome::CannotTell);
    for_each_block(&mut before, |block| block.hosts[0].reference_before = None);
    for force in [false, true] {
        let (verdict, criterion, _) = compared(&before, &after, force);
        assert_eq!((&verdict.answer, criterion), (&None, CriterionOutcome::CannotTell), "{}", verdict.text);
        assert!(verdict.text.contains("no quiet block is left"), "{}", verdict.text);
    }
}

#[test]
fn claim_contradicted_by_quiet_blocks_is_withheld() {
    let (before, mut after) = (on(1.0, 1.0), on(1.000_1, 1.0));
    // in 14 of 20 blocks the host was disturbed in a way that the reference did not show
    for block in &mut after.blocks[..14] {
        block.noisy = true;
    }
    for run in after.cells.iter_mut().flat_map(|cell| &mut cell.runs).filter(|run| run.block <= 14) {
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        rtt.p50_ns = rtt.p50_ns.map(|ns| 3 * ns);
    }
    let (verdict, criterion, _) = compared(&before, &after, false);
    assert!(!conclusion(&verdict).is_claim(), "{}", verdict.text);
    assert_ne!(criterion, CriterionOutcome::Broken);
    // control: if these blocks are not marked as noisy, there is a claim
    for_each_block(&mut after, |block| block.noisy = false);
    let (verdict, criterion, _) = compared(&before, &after, false);
    assert!(conclusion(&verdict).differs(), "{}", verdict.text);
    assert_eq!(criterion, CriterionOutcome::Broken);
}

#[test]
fn claim_on_a_tail_needs_quiet_blocks() {
    let (before, mut after) = (on(1.0, 1.0), on(1.000_1, 1.5));
    let of = |after: &ResultDocument, metric: Metric, criterion: &str| {
        let criteria = vec![Criterion::parse(criterion).expect("a criterion")];
        let options = CompareOptions { metrics: vec![metric.into()], criteria, ..CompareOptions::default() };
        let found = compare(&side("a", &before, "dds"), &side("b", after, "dds"), &options);
        let mut found = found.expect("the same experiment");
        found.verdicts.retain(|verdict| verdict.pairing == Pairing::Apart);
        (found.verdicts.remove(0), found.criteria[0].outcome)
    };
    let (quiet, criterion) = of(&after, Metric::RttP99, "p99 > +5%");
    assert!(conclusion(&quiet).differs() && !quiet.lacks_quiet_blocks(), "{}", quiet.text);
    assert_eq!(criterion, CriterionOutcome::Broken);
    for_each_block(&mut after, |block| block.noisy = true);
    let (noisy, criterion) = of(&after, Metric::RttP99, "p99 > +5%");
    assert!(!conclusion(&noisy).is_claim() && noisy.host_explains, "{}", noisy.text);
    let words = "interruptions of the host may explain +50";
    assert!(noisy.text.contains(words) && noisy.text.contains("too few blocks were quiet"), "{}", noisy.text);
    assert_eq!(criterion, CriterionOutcome::CannotTell);
    // the references show what interruptions do to a median
    let (median, criterion) = of(&after, Metric::RttP50, "p50 > +5%");
    assert!(conclusion(&median).differs(), "{}", median.text);
    assert_eq!(criterion, CriterionOutcome::Broken);
}

/// Compares two results as those of a host before and after tuning.
fn tuned(before: &ResultDocument, after: &ResultDocument) -> (Verdict, CriterionOutcome, Vec<String>) {
    let options = CompareOptions { factors: vec!["host-settings".to_owned()], ..options(false) };
    let found = compare(&side("a", before, "dds"), &side("b", after, "dds"), &options);
    let mut found = found.expect("only settings of the host differ");
    found.verdicts.retain(|verdict| verdict.pairing == Pairing::Apart);
    (found.verdicts.remove(0), found.criteria[0].outcome, found.notes)
}

#[test]
fn change_of_a_tuned_host_is_the_effect_and_the_reference_is_shown() {
    let (before, mut after) = (on(1.0, 1.0), on(1.3, 1.0));
    after.hosts[0].environment = sample::environment("8388608");
    let refused = compare(&side("a", &before, "dds"), &side("b", &after, "dds"), &options(false));
    assert!(refused.is_err(), "{refused:?}");
    let (verdict, criterion, notes) = tuned(&before, &after);
    assert!(matches!(conclusion(&verdict), Conclusion::Higher { .. }), "{}", verdict.text);
    assert_eq!(criterion, CriterionOutcome::Broken);
    assert!(
        !verdict.host_explains && verdict.text.contains("; reference: RTT p50 of a bare socket "),
        "{}",
        verdict.text
    );
    assert!(notes.iter().any(|note| note.contains("Settings of the host are what is compared")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("env.sysctl.net.core.rmem_max")), "{notes:?}");
    // without an effect, nothing is claimed; nor is a reference needed
    let mut same = on(1.000_1, 1.0);
    for_each_block(&mut same, |block| block.hosts[0].reference_before = None);
    let (verdict, criterion, _) = tuned(&before, &same);
    assert!(!conclusion(&verdict).differs() && verdict.references.is_empty(), "{}", verdict.text);
    assert_eq!(criterion, CriterionOutcome::Kept);
}

#[test]
fn another_computer_is_not_a_tuned_host() {
    let (before, mut after) = (on(1.0, 1.0), on(1.3, 1.0));
    let mut fields = sample::environment("8388608").fields;
    fields.entry("host".to_owned()).or_default().insert("cpu".to_owned(), "Another CPU".to_owned());
    after.hosts[0].environment = results::Environment::new(fields);
    let options = CompareOptions { factors: vec!["host-settings".to_owned()], ..options(false) };
    let error =
        compare(&side("a", &before, "dds"), &side("b", &after, "dds"), &options).expect_err("it is refused");
    assert_eq!(error.details(), ["env.host.cpu: none, then `Another CPU`"]);
    assert!(error.hint().contains("add `--factor host.cpu`;"), "{}", error.hint());
}
