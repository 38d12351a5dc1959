//! Excluded cells: a driver need not support them.

use std::collections::BTreeMap;

use experiment::{Diagnostic, DriverDescription, Plan, Policy, PolicySupport, ReceiveMode, Support};

use crate::{SMALL, ids, plan, planned_with, source, support::drivers};

/// Two drivers; `bare` supports no shared memory, polling, multicast or reliability.
fn unequal() -> BTreeMap<String, DriverDescription> {
    let mut drivers = drivers();
    drivers.get_mut("bare").expect("it is there").transports.retain(|transport| transport.name == "udp4");
    let dds = drivers.get_mut("dds").expect("it is there");
    dds.receive_modes.push(ReceiveMode::Polling);
    dds.features.push("multicast".to_owned());
    drivers
}

fn planned(factors: &str) -> Result<Plan, Diagnostic> {
    let text = format!("question = \"?\"\nworkload = \"latency\"\n[factors]\n{factors}\n");
    planned_with(&source(&text, &[]), &unequal())
}

const BOTH: &str = "driver = [\"bare\", \"dds\"]";

#[test]
fn excluded_value_is_not_checked_against_the_driver() {
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (
            "size = 64\ntransport = [\"udp4\", \"shm\"]",
            "{ driver = \"bare\", transport = \"shm\" }",
            "driver `bare` has no transport `shm`",
            &["bare/udp4/latency/64", "dds/udp4/latency/64", "dds/shm/latency/64"],
        ),
        (
            "size = 64\nreceive = [\"waitset\", \"polling\"]",
            "{ driver = \"bare\", receive = \"polling\" }",
            "driver `bare` cannot receive by polling",
            &["bare/udp4/latency/64/waitset", "dds/udp4/latency/64/waitset", "dds/udp4/latency/64/polling"],
        ),
        (
            "size = 64\nmulticast = [false, true]",
            "{ driver = [\"bare\", \"plain\"], multicast = true }",
            "driver `bare` does not send by multicast",
            &["bare/udp4/latency/64", "dds/udp4/latency/64", "dds/udp4-multicast/latency/64"],
        ),
        (
            "size = 64\n[profiles.sure]\nreliability = \"reliable\"",
            "{ driver = \"bare\", profile = \"sure\" }",
            "driver `bare` cannot guarantee delivery",
            &["bare/udp4/latency/64/default", "dds/udp4/latency/64/default", "dds/udp4/latency/64/sure"],
        ),
    ];
    for (factors, exclude, error, expected) in cases {
        let text = |exclude: &str| format!("{BOTH}\nexclude = [{exclude}]\n{factors}");
        let rejected = planned(&text("")).expect_err("it is refused");
        assert!(rejected.error.contains(error), "{rejected:?}");
        let experiment = planned(&text(exclude)).unwrap_or_else(|fault| panic!("{fault:#?}"));
        assert_eq!(ids(&experiment), *expected);
    }
}

#[test]
fn size_above_a_transport_limit_is_excluded_for_it_only() {
    let text = |exclude: &str| {
        format!(
            "driver = \"dds\"\nsize = [64, 100000]\ntransport = [\"udp4\", \"shm\"]\nexclude = [{exclude}]"
        )
    };
    let rejected = planned(&text("")).expect_err("it is refused");
    assert!(rejected.error.contains("size 100000 is too large: `udp4`"), "{rejected:?}");
    let experiment = planned(&text("{ transport = \"udp4\", size = 100000 }")).expect("a plan");
    assert_eq!(ids(&experiment), ["dds/udp4/latency/64", "dds/shm/latency/64", "dds/shm/latency/100000"]);
}

#[test]
fn unexcluded_cells_are_still_rejected() {
    let text = |more: &str| format!("{BOTH}\nsize = [64, 128]\ntransport = [\"udp4\", \"shm\"]\n{more}");
    // Cells of another size are left.
    for exclude in ["{ driver = \"bare\", transport = \"shm\", size = 64 }", "{ driver = \"dds\" }"] {
        let rejected = planned(&text(&format!("exclude = [{exclude}]"))).expect_err("it is refused");
        assert!(rejected.error.ends_with("driver `bare` has no transport `shm`"), "{exclude}: {rejected:?}");
        assert!(rejected.hint.contains("available: udp4"), "{rejected:?}");
    }
    // Excludes do not apply to included cells.
    let added = "exclude = [{ driver = \"bare\", transport = \"shm\" }]\ninclude = [{ driver = \"bare\", transport = \"shm\" }]";
    let rejected = planned(&text(added)).expect_err("it is refused");
    assert!(rejected.error.ends_with("driver `bare` has no transport `shm`"), "{rejected:?}");
    // No cell of the file has this transport.
    let stray =
        "exclude = [{ driver = \"bare\", transport = \"shm\" }, { driver = \"bare\", transport = \"tcp4\" }]";
    let rejected = planned(&text(stray)).expect_err("it is refused");
    assert!(rejected.error.contains("this exclude matches no cell"), "{rejected:?}");
    assert!(rejected.excerpt.join("\n").contains("tcp4"), "{rejected:?}");
}

#[test]
fn experiment_whose_cells_are_all_excluded_says_why() {
    // of the cells of the second exclude, the driver supports none
    let text = "driver = \"bare\"\nsize = [64, 128]\ntransport = [\"udp4\", \"shm\"]\n\
                exclude = [{ driver = \"bare\", reason = \"it has no policies\" }, \
                { transport = \"shm\", size = 64, reason = \"too small\" }]";
    let rejected = planned(text).expect_err("nothing is left");
    let words = "no cell is left to measure; excluded (driver bare): it has no policies";
    assert!(rejected.error.contains(words), "{rejected:?}");
}

#[test]
fn exclusions_of_an_unnamed_driver_have_no_note() {
    let left_out = |exclude: &str| {
        let text = format!("size = 64\ntransport = [\"udp4\", \"shm\"]\nexclude = [{exclude}]");
        let experiment = planned(&text).expect("a plan");
        assert_eq!(experiment.cells.len(), 3);
        experiment.notes.iter().any(|note| note.contains("has no transport `shm`; left out"))
    };
    assert!(left_out(""));
    assert!(!left_out("{ driver = \"bare\", transport = \"shm\" }"));
}

#[test]
fn exclude_of_drivers_that_a_flag_leaves_out_has_no_note() {
    let text =
        |exclude: &str| format!("{}exclude = [{exclude}]\n", SMALL.replace("\"dds\"", "[\"bare\", \"dds\"]"));
    let notes = |exclude: &str, sets: &[&str]| plan(&text(exclude), sets).notes;
    let selected = ["factors.driver=dds"];
    assert_eq!(notes("{ driver = \"bare\", size = 32 }", &selected), [""; 0]);
    // an exclude of the selected driver does not match for another reason, which is said
    let unmatched = ["an `exclude` of the file matches no cell: driver dds, size 32"];
    assert_eq!(
        notes("{ driver = \"dds\", size = 32 }", &["factors.driver=dds", "factors.size=64"]),
        unmatched
    );
}

#[test]
fn notes_with_one_reason_are_one_note() {
    let text = format!(
        "{SMALL}exclude = [\n{{ size = 32, reason = \"too small\" }},\n{{ profile = \"late\", size = \"4KiB\", reason = \"too large\" }},\n\
         {{ profile = \"soon\", size = \"4KiB\", reason = \"too large\" }},\n]\n[profiles.late]\ndeadline = \"10s\"\n\
         [profiles.soon]\ndeadline = \"1s\"\n[profiles.both]\ndeadline = \"2s\"\nlatency_budget = \"1s\"\n"
    );
    let ignoring = |policies: &[Policy]| {
        let mut drivers = drivers();
        let dds = drivers.get_mut("dds").expect("it is there");
        for policy in [Policy::Deadline, Policy::LatencyBudget] {
            let support = if policies.contains(&policy) { Support::Ignored } else { Support::Enforced };
            dds.policies.insert(policy, PolicySupport::of_both(support, None));
        }
        planned_with(&source(&text, &[]), &drivers).expect("a plan").notes
    };
    let excluded = [
        "excluded (size 32): too small",
        "excluded (size 4096, profile late; size 4096, profile soon): too large",
    ];
    assert_eq!(ignoring(&[]), excluded);
    let ignored = "driver `dds` accepts policies deadline, latency_budget without effect";
    assert_eq!(ignoring(&[Policy::Deadline, Policy::LatencyBudget]), [&excluded[..], &[ignored]].concat());
    let one = "driver `dds` accepts policy latency_budget without effect";
    assert_eq!(ignoring(&[Policy::LatencyBudget]), [&excluded[..], &[one]].concat());
}
