//! Environment variables of the agents as factors.

use crate::{ids, plan, planned_with, rejected, source, with};

fn value(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn list_of_values_becomes_cells_and_baseline_selects_one() {
    let text = with("[factors.env]\nLD_PRELOAD = [false, \"/opt/new/slow.so\"]\nTHREADS = 4\nEMPTY = \"\"\n");
    let sets = ["factors.size=32", "design.baseline.env.LD_PRELOAD=false"];
    let experiment = plan(&text, &sets);
    // A variable that all cells have in common is not part of the id.
    let expected = ["dds/udp4/latency/32/LD-PRELOAD-unset", "dds/udp4/latency/32/LD-PRELOAD-slow.so"];
    assert_eq!(ids(&experiment), expected);
    let [unset, set] = [0, 1].map(|cell| &experiment.cells[cell].factors.env);
    assert_eq!((unset["LD_PRELOAD"].clone(), set["LD_PRELOAD"].clone()), (None, value("/opt/new/slow.so")));
    assert_eq!((unset["THREADS"].clone(), unset["EMPTY"].clone()), (value("4"), value("")));
    assert_eq!(experiment.design.baseline, expected[..1]);
    let [(cell, baseline)] = experiment.comparisons()[..] else { panic!("one pair") };
    assert_eq!((cell.id.as_str(), baseline.id.as_str()), (expected[1], expected[0]));
    assert_eq!(set_text(&experiment, 1), "EMPTY=, LD_PRELOAD=/opt/new/slow.so, THREADS=4");
    assert_eq!(set_text(&experiment, 0), "EMPTY=, LD_PRELOAD not set, THREADS=4");
}

fn set_text(experiment: &experiment::Plan, cell: usize) -> String {
    experiment.cells[cell].factors.env_text()
}

#[test]
fn baseline_with_several_values_pairs_cells_of_the_same_value() {
    let sets = ["factors.env.A=1,2", "factors.env.B=x,y", "factors.size=32", "design.baseline.env.B=x"];
    let experiment = plan(&with(""), &sets);
    let pairs: Vec<[&str; 2]> =
        experiment.comparisons().iter().map(|(cell, base)| [cell.id.as_str(), base.id.as_str()]).collect();
    assert_eq!(pairs.len(), 2);
    for [cell, baseline] in pairs {
        assert_eq!(cell.replace("/B-y", "/B-x"), baseline);
    }
}

#[test]
fn values_are_excluded_included_and_inherited() {
    let text = with(
        "exclude = [{ env = { MODE = \"b\" }, size = 32 }]\ninclude = [{ env = { EXTRA = \"1\" }, size = 64 }]\n\
         [factors.env]\nMODE = [\"a\", \"b\"]\n",
    );
    let experiment = plan(&text, &[]);
    let all = [
        "dds/udp4/latency/32/MODE-a",
        "dds/udp4/latency/4096/MODE-a",
        "dds/udp4/latency/4096/MODE-b",
        "dds/udp4/latency/64/EXTRA-1/MODE-a",
        "dds/udp4/latency/64/EXTRA-1/MODE-b",
    ];
    assert_eq!(ids(&experiment), all);
    assert!(!experiment.cells[0].factors.env.contains_key("EXTRA"), "inherited");
    let (error, marked, hint) = rejected(&with("exclude = [{ env = { MODE = \"c\" } }]\n"), &[]);
    assert!(error.contains("matches no cell: no cell has variable `MODE`"), "{error}");
    assert!(hint.starts_with("variables of the cells:"), "{hint}");
    assert!(marked.contains("MODE"), "{marked}");
}

#[test]
fn quoted_words_in_a_list_of_set_are_text() {
    let experiment = plan(&with(""), &["factors.env.FAST=\"false\",\"true\"", "factors.size=32"]);
    let values: Vec<_> = experiment.cells.iter().map(|cell| cell.factors.env["FAST"].clone()).collect();
    assert_eq!(values, [value("false"), value("true")]);
}

#[test]
fn invalid_names_and_values_are_rejected_where_they_stand() {
    let of = |line: &str| rejected(&with(&format!("[factors.env]\n{line}\n")), &[]);
    for (line, marked, part) in [
        ("DDSMARK_PADDING = \"x\"", "DDSMARK_PADDING", "a variable of ddsmark itself"),
        ("\"A=B\" = \"x\"", "\"A=B\"", "not a valid name"),
        ("\"\" = \"x\"", "\"\"", "not a valid name"),
        ("A = \"x\\u0000\"", "\"x\\u0000\"", "contains a NUL byte"),
        ("A = [\"x\", \"x\"]", "\"x\"", "given twice"),
        ("A = true", "true", "`true` is not valid for `A`"),
        ("A = 1.50", "1.50", "`1.5` is not valid for `A`"),
        ("A = []", "A", "no values of the variable"),
    ] {
        let (error, found, hint) = of(line);
        assert!(error.contains(part) && found == marked, "{line}: {error}, {found}");
        assert!(!hint.is_empty(), "{line}");
    }
    let (_, _, hint) = of("A = true");
    assert!(hint.contains("in quotes"), "{hint}");
}

#[test]
fn variable_that_a_driver_does_not_declare_is_noted() {
    let text = with("[factors.env]\nRMW_X = \"1\"\nGONE = false\nDDS_URI = \"a\"\nLD_BIND_NOW = \"1\"\n");
    let notes = |declared: &[&str]| {
        let mut drivers = crate::support::drivers();
        let dds = drivers.get_mut("dds").expect("a driver");
        dds.variables = declared.iter().map(|name| (*name).to_owned()).collect();
        let plan = planned_with(&source(&text, &["factors.size=32"]), &drivers).expect("a plan");
        plan.notes.into_iter().filter(|note| note.contains("declare")).collect::<Vec<_>>()
    };
    let expected = "driver `dds` does not declare that it reads `RMW_X`: it may have no effect";
    assert_eq!(notes(&["DDS_*"]), [expected]);
    assert!(notes(&[]).is_empty(), "a driver that declares none may read any");
}
