//! Flags adapt a file to what is left to measure; a wrong file remains an error.

use experiment::{Override, Source};

use crate::{SMALL, planned, source};

/// A recipe with a baseline, an exclude, an include and options of drivers.
const RECIPE: &str = r#"question = "Which?"
workload = "latency"

[factors]
driver = ["bare", "dds"]
size = [32, 64]
exclude = [{ driver = "bare", size = 64 }]
include = [{ driver = "bare", size = 128 }, { driver = "dds", size = 256 }]

[options.dds]
depth = 4

[design]
baseline = { driver = "bare", size = 32 }
"#;

fn with_flags(text: &str, flags: &[(&str, &str, &str)]) -> Source {
    let sets = flags.iter().map(|(flag, key, value)| Override::flag(*flag, key, value)).collect();
    Source { sets, ..source(text, &[]) }
}

/// Returns the ids of the cells, those of the baseline, and the notes.
fn plan(flags: &[(&str, &str, &str)]) -> (Vec<String>, Vec<String>, String) {
    let plan = planned(&with_flags(RECIPE, flags)).expect("a plan");
    let ids = plan.cells.into_iter().map(|cell| cell.id).collect();
    (ids, plan.design.baseline, plan.notes.join("\n"))
}

#[test]
fn file_is_measured_as_written_without_flags() {
    let (ids, baseline, notes) = plan(&[]);
    assert_eq!(
        ids,
        [
            "bare/udp4/latency/32",
            "dds/udp4/latency/32",
            "dds/udp4/latency/64",
            "bare/udp4/latency/128",
            "dds/udp4/latency/256"
        ]
    );
    assert_eq!(baseline, ["bare/udp4/latency/32"]);
    assert!(!notes.contains("of the file"), "{notes}");
}

#[test]
fn given_driver_adapts_baseline_exclude_include_and_options_with_notes() {
    let (ids, baseline, notes) = plan(&[("--driver", "factors.driver", "dds")]);
    assert_eq!(ids, ["dds/udp4/latency/32", "dds/udp4/latency/64", "dds/udp4/latency/256"]);
    assert_eq!(baseline, ["dds/udp4/latency/32"]);
    for words in [
        "an `include` of the file is left out: driver bare, size 128",
        "the baseline is size 32; that of the file is driver bare, size 32",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert!(!notes.contains("exclude"), "an exclude of a driver that is left out says nothing: {notes}");
    // options of a driver that is not measured
    let (ids, ..) = plan(&[("--driver", "factors.driver", "bare")]);
    assert_eq!(ids, ["bare/udp4/latency/32", "bare/udp4/latency/128"]);
}

#[test]
fn given_size_adapts_too_and_without_a_baseline_nothing_is_compared() {
    let (ids, baseline, notes) =
        plan(&[("--driver", "factors.driver", "dds"), ("--size", "factors.size", "1024")]);
    assert_eq!(ids, ["dds/udp4/latency/1024"]);
    assert!(baseline.is_empty());
    assert!(
        notes.contains("no baseline, so no comparison: that of the file is driver bare, size 32"),
        "{notes}"
    );
}

#[test]
fn size_of_the_file_that_a_given_driver_does_not_support_is_left_out() {
    let text = SMALL.replace("\"4KiB\"", "100000");
    let plan = planned(&with_flags(&text, &[("--driver", "factors.driver", "bare")])).expect("a plan");
    assert_eq!(plan.cells.len(), 1);
    assert!(plan.notes.iter().any(|note| note.ends_with("; left out")), "{:?}", plan.notes);
    // both are given
    let both = [("--driver", "factors.driver", "bare"), ("--size", "factors.size", "32,100000")];
    let rejected = planned(&with_flags(&text, &both)).expect_err("it is refused");
    assert!(rejected.error.starts_with("--size 32,100000: size 100000 is too large"), "{rejected:?}");
    assert_eq!(rejected.excerpt, ["32,100000", "   ^^^^^^"]);
    // a change by `--set` is part of the file
    let set = source(&text, &["factors.driver=bare"]);
    assert!(planned(&set).is_err());
}

#[test]
fn nothing_left_to_measure_is_rejected() {
    let text =
        RECIPE.replace("exclude = [{ driver = \"bare\", size = 64 }]", "exclude = [{ driver = \"bare\" }]");
    let text = text.replace("{ driver = \"bare\", size = 128 }, ", "");
    let rejected =
        planned(&with_flags(&text, &[("--driver", "factors.driver", "bare")])).expect_err("it is refused");
    assert!(rejected.error.contains("no cell is left to measure"), "{rejected:?}");
}

#[test]
fn exclude_and_baseline_without_a_cell_are_rejected_unless_a_flag_displaces_them() {
    for wrong in
        [RECIPE.replace("size = 64 }]", "size = 63 }]"), RECIPE.replace("size = 32 }", "size = 31 }")]
    {
        let rejected = planned(&with_flags(&wrong, &[])).expect_err("it is refused");
        assert!(rejected.error.contains("matches no cell"), "{rejected:?}");
    }
    // given by a flag itself
    let inputs = [("--size", "factors.size", "32"), ("--baseline", "design.baseline.size", "31")];
    let rejected = planned(&with_flags(RECIPE, &inputs)).expect_err("it is refused");
    assert!(rejected.error.contains("the baseline matches no cell"), "{rejected:?}");
}

#[test]
fn error_shows_a_flag_as_written_and_marks_a_part_of_its_value() {
    let source = |change: Override| Source { sets: vec![change], ..with_flags(SMALL, &[]) };
    let rejected = planned(&source(Override::flag("--qos", "qos.sise", "3"))).expect_err("it is refused");
    assert_eq!((rejected.error.as_str(), &rejected.excerpt[..]), ("--qos 3: unknown key `sise`", &[][..]));
    let change = Override::flag("--qos", "qos.sise", "3").shown_as("--qos sise=3");
    let rejected = planned(&source(change)).expect_err("it is refused");
    assert_eq!(
        (rejected.error.as_str(), &rejected.excerpt[..]),
        ("--qos sise=3: unknown key `sise`", &[][..])
    );
    let rejected =
        planned(&source(Override::flag("--size", "factors.size", "64,x"))).expect_err("it is refused");
    assert_eq!(rejected.excerpt, ["64,x", "   ^"]);
}
