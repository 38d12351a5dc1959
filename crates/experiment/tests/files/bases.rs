//! Profiles over bases, and the reasons of exclusions.

use experiment::{Durability, Plan, Policy, Reliability};

use crate::{ids, parts, planned_with, source, support::description, with};

/// Returns the plan for a driver with all policies, or the error, the marked text and the hint.
fn outcome(text: &str, sets: &[&str]) -> Result<Plan, (String, String, String)> {
    let driver = description("dds", &["native_batching"], Policy::ALL);
    planned_with(&source(text, sets), &[("dds".to_owned(), driver)].into()).map_err(parts)
}

#[track_caller]
fn plan(text: &str, sets: &[&str]) -> Plan {
    outcome(text, sets).expect("a plan")
}

#[track_caller]
fn rejected(text: &str, sets: &[&str]) -> (String, String, String) {
    outcome(text, sets).expect_err("it is rejected")
}

const BASES: &str = "base = [\"default\", \"loose\", \"kept\"]\n\
                     [bases.loose]\nreliability = \"best_effort\"\n\
                     [bases.kept]\nreliability = \"reliable\"\ndurability = \"transient_local\"\n\
                     [profiles.volatile]\ndurability = \"volatile\"\n[profiles.late]\ndeadline = \"10s\"\n";

fn requested<'p>(plan: &'p Plan, id: &str) -> &'p experiment::Qos {
    &plan
        .cells
        .iter()
        .find(|cell| cell.id == id)
        .unwrap_or_else(|| panic!("{id}: {:?}", ids(plan)))
        .factors
        .qos
}

#[test]
fn each_profile_is_over_each_base() {
    let plan = plan(&with(BASES), &["factors.size=64"]);
    assert_eq!(plan.cells.len(), 3 * 3);
    let qos =
        |base: &str, profile: &str| requested(&plan, &format!("dds/udp4/latency/64/base-{base}/{profile}"));
    // the base has what the profile does not
    let late = qos("kept", "late");
    assert_eq!(
        (late.durability, late.reliability),
        (Some(Durability::TransientLocal), Some(Reliability::Reliable))
    );
    assert!(late.deadline_ns.is_some());
    assert_eq!(qos("loose", "late").reliability, Some(Reliability::BestEffort));
    // the profile overrides the base
    assert_eq!(qos("kept", "volatile").durability, Some(Durability::Volatile));
    assert_eq!(qos("default", "default").reliability, Some(Reliability::Reliable));
    assert_eq!(qos("kept", "default").durability, Some(Durability::TransientLocal));
}

#[test]
fn bases_are_measured_only_if_they_are_named() {
    let text = with(BASES).replace("base = [\"default\", \"loose\", \"kept\"]\n", "");
    let alone = plan(&text, &["factors.size=64"]);
    assert_eq!(
        ids(&alone),
        ["default", "late", "volatile"].map(|name| format!("dds/udp4/latency/64/{name}"))
    );
    assert!(alone.cells.iter().all(|cell| cell.factors.base.is_none()));
    // an exclusion of a base that the file defines waits for it
    let excluding = text.replace("size = [32, \"4KiB\"]", "size = 64\nexclude = [{ base = \"loose\" }]");
    assert_eq!(plan(&excluding, &[]).cells.len(), 3);
    assert_eq!(plan(&excluding, &["factors.base=default,loose"]).cells.len(), 3);
    let (error, marked, hint) = rejected(&excluding, &["factors.base=lose"]);
    assert_eq!(
        (error.as_str(), hint.as_str()),
        ("--set factors.base=lose: base `lose` not found", "available: kept, loose")
    );
    assert_eq!(marked, "lose");
}

#[test]
fn settings_that_contradict_their_base_are_rejected_unless_excluded() {
    let text = "base = [\"default\", \"filtered\"]\nexclude = [{ size = 32 }]\n\
                [bases.filtered]\nminimum_separation = \"1s\"\n[profiles.fast]\ndeadline = \"10ms\"\n";
    let (error, marked, hint) = rejected(&with(text), &[]);
    assert!(
        error.ends_with(
            "profile `fast` over base `filtered`: the deadline is shorter than the minimum separation"
        ),
        "{error}"
    );
    assert_eq!(marked, "\"10ms\"");
    assert!(hint.contains("DDS 1.4 section 2.2.3.7"), "{hint}");
    let excluded =
        text.replace("{ size = 32 }", "{ size = 32 }, { profile = \"fast\", base = \"filtered\" }");
    assert_eq!(plan(&with(&excluded), &[]).cells.len(), 3);
    // a depth that the limits of the base have no room for
    let shallow = "base = \"small\"\n[bases.small]\nmax_samples = 5\n\
                   [profiles.deep]\nhistory = \"keep_last\"\nhistory_depth = 6\n";
    let (error, ..) = rejected(&with(shallow), &[]);
    assert!(
        error
            .ends_with("profile `deep` over base `small`: `history_depth = 6` exceeds the limits of samples"),
        "{error}"
    );
}

#[test]
fn reason_of_an_exclusion_is_in_the_plan_if_a_cell_is_excluded() {
    let text = |more: &str| with(&format!("exclude = [{{ size = 32{more} }}]\n"));
    let reason = ", reason = \"too small to matter\"";
    assert_eq!(plan(&text(reason), &[]).notes, ["excluded (size 32): too small to matter"]);
    assert_eq!(plan(&text(""), &[]).notes, [""; 0]);
    let baseline = with(
        "[profiles.late]\ndeadline = \"10s\"\n[design]\nbaseline = { profile = \"default\", reason = \"?\" }\n",
    );
    let (error, marked, hint) = rejected(&baseline, &[]);
    assert!(error.ends_with("`reason` has no effect here"), "{error}");
    assert_eq!(
        (marked.as_str(), hint.as_str()),
        ("\"?\"", "remove it: only entries of `exclude` have a reason")
    );
}
