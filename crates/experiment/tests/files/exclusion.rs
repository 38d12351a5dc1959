//! Excluded cells: a driver need not support them.

use std::collections::BTreeMap;

use experiment::{Diagnostic, DriverDescription, Plan, ReceiveMode};

use crate::{ids, planned_with, source, support::drivers};

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
