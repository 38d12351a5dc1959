//! Two variants as one experiment.

use std::collections::BTreeMap;

use experiment::{Diagnostic, Pin, Plan, PlanInputs};

use crate::{SMALL, ids, planned, source, support::drivers};

/// Joins the plans of the small file with these changes.
fn joined(a: &[&str], b: &[&str]) -> Result<Plan, Diagnostic> {
    let mut file = source(SMALL, a).read().expect("an experiment");
    let had_baseline = file.prepare_variant();
    assert_eq!(had_baseline, a.iter().any(|set| set.contains("baseline")));
    let plan = |sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().copied().filter(|set| !set.contains("baseline")).collect();
        planned(&source(SMALL, &sets)).unwrap_or_else(|fault| panic!("{fault:#?}"))
    };
    let (descriptions, traces) = (drivers(), BTreeMap::new());
    let inputs = PlanInputs {
        name: "f",
        descriptions: &descriptions,
        installed: &[],
        files: &traces,
        pin: Pin::None,
        hosts: &[],
        seed: 7,
        // Only the joint plan has a baseline.
        least_blocks: &|plan| 7 * u32::from(!plan.design.baseline.is_empty()),
    };
    file.interleave(&inputs, [plan(a), plan(b)], ["a".to_owned(), "b".to_owned()], false)
}

fn pairs(experiment: &Plan) -> Vec<[&str; 2]> {
    let pairs = experiment.comparisons();
    pairs.into_iter().map(|(cell, baseline)| [cell.id.as_str(), baseline.id.as_str()]).collect()
}

#[test]
fn cells_of_b_are_compared_with_those_of_a_that_agree_in_the_other_factors() {
    let experiment = joined(&[], &["factors.env.X=/new/x.so"]).expect("a plan");
    let all = [
        "A/dds/udp4/latency/32",
        "A/dds/udp4/latency/4096",
        "B/dds/udp4/latency/32",
        "B/dds/udp4/latency/4096",
    ];
    assert_eq!(ids(&experiment), all);
    assert_eq!(experiment.design.baseline, all[..2]);
    assert!(experiment.design.repeat_noisy);
    assert_eq!(pairs(&experiment), [[all[2], all[0]], [all[3], all[1]]]);
    assert_eq!([all[0], all[3]].map(|id| experiment.variant(id)), [Some("A"), Some("B")]);
    // The blocks that the claims need, and one to spare; A twice, B once.
    assert_eq!(experiment.design.blocks, 8);
    assert_eq!(experiment.runs_per_block(), 6);
    assert!(experiment.notes.is_empty(), "{:?}", experiment.notes);
    let text = serde_json::to_string(&experiment).expect("JSON");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("the same"), experiment);
}

#[test]
fn several_cells_that_differ_in_what_the_variants_differ_in_are_paired_in_order() {
    let a = ["factors.size=32", "factors.env.X=/old/1.so,/old/2.so"];
    let b = ["factors.size=32", "factors.env.X=/new/1.so,/new/2.so"];
    let experiment = joined(&a, &b).expect("a plan");
    let expected = [1, 2].map(|n| ["B", "A"].map(|side| format!("{side}/dds/udp4/latency/32/X-{n}.so")));
    assert_eq!(pairs(&experiment), expected.each_ref().map(|pair| pair.each_ref().map(String::as_str)));
}

#[test]
fn equal_variants_are_planned_with_a_note() {
    let experiment = joined(&["design.baseline.size=32"], &[]).expect("a plan");
    assert_eq!(experiment.notes, ["A and B are the same: whatever differs between them is noise"]);
    assert_eq!(pairs(&experiment).len(), 2);
}

#[test]
fn variants_without_counterparts_or_with_another_design_are_rejected() {
    let error = joined(&[], &["factors.size=32,64"]).expect_err("other sizes");
    let expected = [
        "`dds/udp4/latency/64` of B has no counterpart in A",
        "`dds/udp4/latency/4096` of A has no counterpart in B",
    ];
    assert_eq!(error.excerpt, expected);
    let error = joined(&["workload=throughput"], &[]).expect_err("other workloads");
    assert_eq!(error.excerpt.len(), 4);
    let error = joined(&[], &["design.measure=1s", "limits.match=1s"]).expect_err("other times");
    assert_eq!(error.error, "A and B are not measured in the same way");
    let expected = [
        "design.measure_ns: A has 800000000, B has 1000000000",
        "limits.match_ns: A has 10000000000, B has 1000000000",
    ];
    let details: Vec<String> = error.excerpt.into_iter().filter(|line| !line.contains("windows")).collect();
    assert_eq!(details, expected);
    let error = joined(&["design.budget=30s"], &["design.budget=30s"]).expect_err("too long");
    assert!(error.excerpt.is_empty() && error.to_string().contains("budget"), "{error}");
}
