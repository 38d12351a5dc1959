//! Second tier: cells that are measured in the first blocks, if the budget has time for them.

use std::collections::BTreeMap;

use experiment::Plan;

use crate::{ids, plan, rejected, with};

const TIERS: &str = "base = [\"default\", \"loose\", \"kept\"]\n\
                     [bases.loose]\nreliability = \"best_effort\"\n\
                     [bases.kept]\ndurability = \"transient_local\"\n\
                     [profiles.late]\nhistory = \"keep_last\"\nhistory_depth = 1\n\
                     [design]\nblocks = 8\nbaseline = { profile = \"default\" }\n\
                     second_tier = { cells = { base = [\"loose\", \"kept\"] }, blocks = 3 }\n";

fn planned(sets: &[&str]) -> Plan {
    plan(&with(TIERS), &[&["factors.size=64"], sets].concat())
}

fn notes(plan: &Plan) -> String {
    plan.notes.join("; ")
}

#[test]
fn second_tier_is_measured_in_the_first_blocks_only() {
    let plan = planned(&["design.budget=1h"]);
    assert_eq!(plan.cells.len(), 6);
    let schedule = plan.schedule();
    let of_block = |block: u32| schedule.iter().filter(|run| run.block == block).collect::<Vec<_>>();
    for block in 1..=8 {
        let runs = of_block(block);
        // two cells of the first tier, of which the baseline is measured twice, and four of the second
        assert_eq!(runs.len(), if block <= 3 { 7 } else { 3 });
        assert_eq!(
            (runs.len(), runs[0].number as usize),
            (plan.runs_before(block + 1) - plan.runs_before(block), plan.runs_before(block) + 1)
        );
        assert_eq!(runs.iter().filter(|run| run.twin).count(), 1);
    }
    assert_eq!((schedule.len(), plan.runs()), (3 * 7 + 5 * 3, 3 * 7 + 5 * 3));
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    schedule.iter().for_each(|run| *runs.entry(&plan.cells[run.cell].id).or_default() += 1);
    for cell in &plan.cells {
        assert_eq!(plan.runs_of(&cell.id), runs[cell.id.as_str()], "{}", cell.id);
    }
    // a repeated block has the first tier
    assert_eq!(plan.block_again(9, plan.runs() as u32 + 1).len(), 3);
    assert!(
        notes(&plan).contains("second tier: 4 cells, measured in the first 3 blocks"),
        "{}",
        notes(&plan)
    );
}

#[test]
fn claims_are_those_of_the_first_tier_and_each_base_has_its_own_baseline() {
    let plan = planned(&["design.budget=1h"]);
    let id = |base: &str, profile: &str| format!("dds/udp4/latency/64/base-{base}/{profile}");
    let pair =
        |(cell, baseline): (&experiment::Cell, &experiment::Cell)| (cell.id.clone(), baseline.id.clone());
    let of = |base: &str| (id(base, "late"), id(base, "default"));
    assert_eq!(plan.comparisons().into_iter().map(pair).collect::<Vec<_>>(), [of("default")]);
    assert_eq!(
        plan.comparisons_over_bases().into_iter().map(pair).collect::<Vec<_>>(),
        [of("default"), of("loose"), of("kept")]
    );
    assert_eq!(plan.design.baseline, [id("default", "default")]);
}

#[test]
fn second_tier_is_left_out_without_time_for_it() {
    let first = ["dds/udp4/latency/64/default", "dds/udp4/latency/64/late"];
    let without = planned(&[]);
    assert_eq!(ids(&without), first);
    assert_eq!(without.design.baseline, first[..1]);
    assert_eq!((without.design.second_tier.as_ref(), without.runs()), (None, 24));
    assert!(notes(&without).contains("the second tier is left out (4 cells): measure it with `--budget 1m`"));
    // what fits is decided by the time of both tiers
    let both = planned(&["design.budget=1h"]).expected_ns();
    assert!(without.expected_ns() < both);
    let seconds = |ns: u64| format!("design.budget={}ms", ns.div_ceil(1_000_000));
    assert_eq!(planned(&[&seconds(both)]).cells.len(), 6);
    assert_eq!(ids(&planned(&[&seconds(both - 2_000_000)])), first);
    let (error, ..) = rejected(&with(TIERS), &["factors.size=64", "design.budget=3s"]);
    assert!(error.contains("24 runs"), "{error}");
    let text = TIERS.replace("blocks = 8\n", "precision = \"2%\"\nbudget = \"1h\"\n");
    let precise = plan(&with(&text), &["factors.size=64"]);
    assert!(notes(&precise).contains("left out (4 cells): a precision decides"), "{}", notes(&precise));
}

#[test]
fn bases_of_the_command_line_are_a_first_tier() {
    // without a first tier there is no second one
    let alone = planned(&["factors.base=loose"]);
    assert_eq!((alone.cells.len(), alone.design.second_tier.as_ref(), alone.runs()), (2, None, 24));
    let default = planned(&["factors.base=default"]);
    assert_eq!((default.cells.len(), default.design.second_tier.as_ref()), (2, None));
}

#[test]
fn unusable_second_tier_is_rejected() {
    for (from, to, words) in [
        ("blocks = 3 }", "blocks = 1 }", "a second tier of 1 blocks is out of range"),
        (
            "[\"loose\", \"kept\"] }, blocks",
            "\"lost\" }, blocks",
            "the second tier matches no cell: no cell has base lost",
        ),
        ("second_tier", "duet = true\nsecond_tier", "`duet` and `second_tier` are both given"),
    ] {
        let (error, ..) = rejected(&with(&TIERS.replace(from, to)), &["factors.size=64"]);
        assert!(error.contains(words), "{words}: {error}");
    }
}
