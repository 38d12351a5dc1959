//! Several versions of a middleware in one experiment: options and pairs.

use std::collections::BTreeMap;

use experiment::{Diagnostic, DriverDescription, Plan, describe_pair};

use crate::{planned_with, source, support::drivers, with};

/// The driver `dds` without a version and in two versions, and the pair of both versions.
fn versions() -> BTreeMap<String, DriverDescription> {
    let mut descriptions = drivers();
    for version in ["2.14", "3.2"] {
        let mut description = descriptions["dds"].clone();
        version.clone_into(&mut description.middleware_version);
        descriptions.insert(format!("dds@{version}"), description);
    }
    let pair = describe_pair(&descriptions["dds@2.14"], &descriptions["dds@3.2"]);
    descriptions.insert("dds@2.14+dds@3.2".to_owned(), pair);
    descriptions
}

/// Plans the small file with these drivers and more text appended.
fn planned(drivers: &str, more: &str) -> Result<Plan, Diagnostic> {
    let text = with(more).replace("driver = \"dds\"", &format!("driver = {drivers}"));
    planned_with(&source(&text, &[]), &versions())
}

#[test]
fn two_versions_share_no_memory() {
    let pair = "\"dds@2.14+dds@3.2\"";
    assert!(planned(pair, "transport = [\"udp4\"]\n").is_ok());
    let all = planned(pair, "transport = [\"all\"]\n").expect("those of both");
    assert!(all.cells.iter().all(|cell| cell.factors.transport == "udp4"));
    let fault = planned(pair, "transport = [\"udp4\", \"shm\"]\n").expect_err("it is refused");
    let words = "the two of `dds@2.14+dds@3.2` do not understand each other over `shm`";
    assert!(fault.error.contains(words), "{}", fault.error);
    assert_eq!(fault.hint, "available for both: udp4");
    assert!(fault.excerpt[0].contains("transport = "), "{:?}", fault.excerpt);
    let fault = planned(pair, "transport = \"pigeon\"\n").expect_err("no driver has it");
    assert!(fault.error.contains("has no transport `pigeon`"), "{}", fault.error);
}

/// Returns the requested option of each driver, in the order of the cells.
fn depths(drivers: &str, options: &str) -> Vec<(String, Option<String>)> {
    let experiment = planned(drivers, options).unwrap_or_else(|fault| panic!("{fault:#?}"));
    let of = |cell: experiment::Cell| (cell.factors.driver, cell.factors.options.get("depth").cloned());
    let mut depths: Vec<_> = experiment.cells.into_iter().map(of).collect();
    depths.dedup();
    depths
}

#[test]
fn options_of_a_name_hold_for_its_versions() {
    let all = "[\"dds\", \"dds@2.14\", \"dds@3.2\", \"plain\"]";
    let of = |depths: [Option<&str>; 4]| -> Vec<(String, Option<String>)> {
        let drivers = ["dds", "dds@2.14", "dds@3.2", "plain"].map(str::to_owned);
        drivers.into_iter().zip(depths.map(|depth| depth.map(str::to_owned))).collect()
    };
    assert_eq!(depths(all, "[options.dds]\ndepth = 5\n"), of([Some("5"), Some("5"), Some("5"), None]));
    let own = "[options.dds]\ndepth = 5\n[options.\"dds@3.2\"]\ndepth = 6\n";
    assert_eq!(depths(all, own), of([Some("5"), Some("5"), Some("6"), None]), "its own come first");
    let none = "[options.dds]\ndepth = 5\n[options.\"dds@3.2\"]\n";
    assert_eq!(depths(all, none), of([Some("5"), Some("5"), None, None]), "also where they are none");
    let version = "[options.\"dds@2.14\"]\ndepth = 7\n";
    assert_eq!(depths(all, version), of([None, Some("7"), None, None]));
    // The driver without a version is not measured.
    let found = depths("[\"dds@2.14\", \"dds@3.2\"]", "[options.dds]\ndepth = [1, 2]\n");
    let each = ["dds@2.14", "dds@3.2"].into_iter().flat_map(|driver| ["1", "2"].map(|depth| (driver, depth)));
    let each: Vec<_> = each.map(|(driver, depth)| (driver.to_owned(), Some(depth.to_owned()))).collect();
    assert_eq!(found, each);
}

#[test]
fn unknown_options_are_rejected() {
    let pair = "\"dds@2.14+dds@3.2\"";
    for (drivers, options, stray) in [
        ("\"dds@3.2\"", "[options.dds]\ndepth = 5\n[options.\"dds@3.2\"]\ndepth = 6\n", "dds"),
        ("\"dds\"", "[options.\"dds@3.2\"]\ndepth = 6\n", "dds@3.2"),
        ("\"plain\"", "[options.dds]\ndepth = 5\n", "dds"),
        (pair, "[options.dds]\ndepth = 5\n", "dds"),
    ] {
        let fault = planned(drivers, options).expect_err("no driver takes them");
        assert!(
            fault.error.contains(&format!("for driver `{stray}`, which is not measured")),
            "{}",
            fault.error
        );
    }
    let pair = planned(pair, &format!("[options.{pair}]\ndepth = 5\n")).expect("its own");
    assert!(pair.cells.iter().all(|cell| cell.factors.options["depth"] == "5"));
}

#[test]
fn options_of_a_pair_are_for_both_ends_or_for_one() {
    let pair = "\"dds@2.14+dds@3.2\"";
    let text = |options: &[(&str, &str)]| -> BTreeMap<String, String> {
        options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let planned_pair = |options: &str| planned(pair, &format!("[options.{pair}]\n{options}"));
    let experiment = planned_pair("depth = 5\nreader_depth = 6\n").expect("a plan");
    let factors = &experiment.cells[0].factors;
    assert_eq!(factors.options_of_end(true), text(&[("depth", "5")]));
    assert_eq!(factors.options_of_end(false), text(&[("depth", "6")]));
    let experiment = planned_pair("writer_depth = [1, 2]\n").expect("a plan");
    let options: Vec<_> = experiment.cells.iter().map(|cell| cell.factors.options_of_end(true)).collect();
    assert!(options.contains(&text(&[("depth", "1")])) && options.contains(&text(&[("depth", "2")])));
    assert!(experiment.cells.iter().all(|cell| cell.factors.options_of_end(false).is_empty()));
    let fault = planned_pair("writer_width = 1\n").expect_err("no such option");
    assert!(fault.error.contains("has no option `writer_width`"), "{}", fault.error);
    // Options of a single driver have no prefix.
    let experiment = planned("\"dds\"", "[options.dds]\ndepth = 5\n").expect("a plan");
    let factors = &experiment.cells[0].factors;
    assert_eq!(
        [true, false].map(|writes| factors.options_of_end(writes)),
        [text(&[("depth", "5")]), text(&[("depth", "5")])]
    );
}
