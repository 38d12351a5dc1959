//! Typical experiments of users end with conclusions, possibly inconclusive, but never with too few blocks for a
//! claim.

use std::{collections::BTreeMap, fs, path::Path};

use experiment::{Pin, PlanInputs, Source};
use results::{Conclusion, ResultDocument, VerdictKind, least_blocks};
use simulate::{HostModel, RunVariation, Simulator, describe};

/// Returns the result of the recipe with these settings, in virtual time on a host whose runs scatter by 1 %.
fn latency_vs_size(sets: &[&str]) -> ResultDocument {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes/latency-vs-size.toml");
    let short = ["factors.driver=[\"udp\",\"cyclonedds\"]", "design.measure=100ms", "design.warm_up=0s"];
    let sets = short.iter().chain(sets).map(|set| experiment::Override::set(*set)).collect();
    let source =
        Source { path: "recipe".to_owned(), text: fs::read_to_string(path).expect("a recipe"), sets };
    let descriptions: BTreeMap<_, _> = [("udp", true), ("cyclonedds", false)]
        .map(|(name, bare)| (name.to_owned(), describe(name, bare)))
        .into();
    let given = PlanInputs {
        name: "latency-vs-size",
        descriptions: &descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin: Pin::None,
        hosts: &[],
        seed: 7,
        least_blocks: &least_blocks,
    };
    let experiment = source.read().expect("a file").plan(&given).expect("a plan");
    let between = RunVariation { sd: 0.01, ..RunVariation::default() };
    let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
    let mut document = simulator.experiment(&experiment).expect("options of the simulation");
    document.verdicts = verdicts::judge(&document);
    document
}

#[track_caller]
fn claims(document: &ResultDocument) -> usize {
    let claims: Vec<_> =
        document.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison).collect();
    for claim in &claims {
        let answer = claim.answer.as_ref().unwrap_or_else(|| panic!("{}", claim.text));
        assert!(!matches!(answer.conclusion, Conclusion::TooFew { .. }), "{}", claim.text);
        assert_eq!(answer.family as usize, claims.len());
    }
    claims.len()
}

#[test]
fn two_drivers_at_one_size_end_with_claims() {
    assert_eq!(claims(&latency_vs_size(&["factors.size=64"])), 2);
}

#[test]
fn two_sizes_with_a_precision_end_with_claims() {
    let document = latency_vs_size(&["factors.size=[64,1024]", "design.precision=20%"]);
    assert_eq!(claims(&document), 4);
    // Default pilot of 4 claims: 8 blocks plus one in reserve.
    assert_eq!(document.allocation.as_ref().map(|allocation| allocation.made), Some(9));
}
