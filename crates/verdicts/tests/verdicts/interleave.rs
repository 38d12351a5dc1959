//! Hint to measure two results as variants of one, and comparison of variants.

use std::collections::BTreeMap;

use experiment::Variants;
use results::{Environment, Pairing, ResultDocument, VerdictKind};
use verdicts::{CompareOptions, compare_variants, interleave_hint};

use crate::latency;

fn measured(command: &[&str], fields: &[(&str, &str, &str)]) -> ResultDocument {
    let mut document = latency(7, 0.9, 0.01);
    document.tool.command_line = command.iter().map(|&word| word.to_owned()).collect();
    let mut groups: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (group, name, value) in fields {
        groups.entry((*group).to_owned()).or_default().insert((*name).to_owned(), (*value).to_owned());
    }
    document.hosts[0].environment = Environment::new(groups);
    document
}

/// Returns the arguments of the command in a hint.
fn words(hint: &str) -> Vec<String> {
    let command = hint.split('`').nth(1).unwrap_or_else(|| panic!("{hint}"));
    shlex::split(command).unwrap_or_else(|| panic!("{hint}"))
}

#[test]
fn commands_that_differ_are_the_variants_without_places_and_seeds() {
    let before =
        ["ddsmark", "run", "q.toml", "--set", "factors.driver=./old dir/x.so", "-o", "old", "--json"];
    let after = [
        "/bin/ddsmark",
        "run",
        "q.toml",
        "--set",
        "factors.driver=./new.so",
        "--set",
        "design.seed=7",
        "--out=new",
    ];
    let hint = interleave_hint(&measured(&before, &[]), &measured(&after, &[]));
    let words = words(&hint);
    assert_eq!(words[..3], ["ddsmark", "compare", "--interleave"]);
    let variants: Vec<Vec<String>> =
        words[3..].iter().map(|words| shlex::split(words).expect("words")).collect();
    assert_eq!(
        variants,
        [
            ["q.toml", "--set", "factors.driver=./old dir/x.so"],
            ["q.toml", "--set", "factors.driver=./new.so"]
        ]
    );
}

#[test]
fn variables_and_files_that_differ_become_factors() {
    let command = ["ddsmark", "run", "qos-cost"];
    let before = measured(&command, &[("variable", "X", "a,b"), ("variable", "X/etc/x.xml", "1")]);
    let after = measured(&command, &[("variable", "X/etc/x.xml", "2")]);
    let hint = words(&interleave_hint(&before, &after));
    assert_eq!(hint[3..], ["qos-cost --set 'factors.env.X=\"a,b\"'", "qos-cost --set 'factors.env.X=false'"]);
    // no difference between the two can be a factor
    for (before, after) in [
        (before.clone(), measured(&command, &[("variable", "X", "a,b"), ("sysctl", "net.x", "1")])),
        (before.clone(), measured(&["ddsmark", "run", "--resume", "old"], &[])),
        (before, measured(&["ddsmark", "selftest"], &[])),
    ] {
        let hint = interleave_hint(&before, &after);
        assert!(hint.contains("`ddsmark compare --interleave 'A' 'B'`"), "{hint}");
    }
}

#[test]
fn variants_are_compared_block_by_block_in_all_that_they_differ_in() {
    let mut document = latency(12, 0.9, 0.01);
    assert!(compare_variants("place", &document, &CompareOptions::default()).is_none());
    let [a, b] = ["plain", "dds"].map(|end| {
        let cell = document.cells.iter().find(|cell| cell.id.contains(end)).expect("a cell");
        cell.id.clone()
    });
    let counterparts = BTreeMap::from([(b.clone(), a.clone())]);
    document.experiment.variants =
        Some(Variants { a: "one".to_owned(), b: "other".to_owned(), counterparts });
    let compared = compare_variants("place", &document, &CompareOptions::default())
        .expect("variants")
        .expect("compared");
    assert!(compared.factors.contains(&"driver".to_owned()), "{:?}", compared.factors);
    assert!(!compared.forced && compared.notes[0].starts_with("A: one; B: other"), "{:?}", compared.notes);
    let verdict =
        compared.verdicts.iter().find(|verdict| verdict.kind == VerdictKind::Comparison).expect("one");
    assert_eq!((&verdict.baseline.cell, &verdict.treatment.cell), (&a, &b));
    assert_eq!(verdict.pairing, Pairing::Blocks);
}
