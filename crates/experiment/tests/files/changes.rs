//! Changes of an experiment file by `--set`, and the types of their values.

use experiment::{Cell, Override};

use crate::{SMALL, ids, plan, planned, rejected, source, with};

#[test]
fn set_value_has_the_type_of_the_file() {
    let experiment = plan(
        SMALL,
        &[
            "factors.size=64,1KiB",
            "design.blocks=4",
            "design.measure=50ms",
            "options.dds.depth=5",
            "design.keep_awake=true",
        ],
    );
    assert_eq!(ids(&experiment), ["dds/udp4/latency/64", "dds/udp4/latency/1024"]);
    assert_eq!((experiment.design.blocks, experiment.design.measure_ns), (4, 50_000_000));
    assert_eq!(experiment.cells[0].factors.options["depth"], "5");
    assert!(experiment.design.keep_awake);
    // A table is merged, not replaced.
    let experiment = plan(&with("[design]\nseed = 9\n"), &["design.blocks=5"]);
    assert_eq!((experiment.design.blocks, experiment.design.seed), (5, 9));
}

#[test]
fn key_that_a_flag_gives_twice_is_rejected() {
    let (error, _, hint) = rejected(SMALL, &["design.blocks=4", "design.blocks=5"]);
    assert_eq!(error, "--set design.blocks=5: `design.blocks` is given twice");
    assert!(hint.starts_with("give it once"), "{hint}");
    // another flag, such as a preset, may be overridden
    let mut source = source(SMALL, &["design.blocks=4"]);
    source.sets.push(Override::flag("--runs", "design.blocks", "6"));
    assert_eq!(planned(&source).expect("a plan").design.blocks, 6);
}

#[test]
fn option_of_a_driver_can_be_the_baseline() {
    let options = "options.dds.depth=[5, 10, 20]";
    let experiment = plan(SMALL, &["factors.size=64,1024", options, "design.baseline.options.dds.depth=5"]);
    let depth = |cell: &Cell| cell.factors.options["depth"].clone();
    let pairs = experiment.comparisons();
    let compared: Vec<(String, String, u64, u64)> = pairs
        .iter()
        .map(|(cell, base)| (depth(cell), depth(base), cell.factors.size_bytes, base.factors.size_bytes))
        .collect();
    assert_eq!(compared.len(), 4);
    for (cell, base, size, size_of_base) in compared {
        assert!(cell != "5" && base == "5" && size == size_of_base, "{cell} {base} {size} {size_of_base}");
    }
    // each other option agrees
    let more = "options.dds.mode=[\"a\", \"b\"]";
    let experiment = plan(SMALL, &["factors.size=64", options, more, "design.baseline.options.dds.depth=5"]);
    let pairs = experiment.comparisons();
    assert_eq!(pairs.len(), 4);
    assert!(pairs.iter().all(|(cell, base)| cell.factors.options["mode"] == base.factors.options["mode"]));
    let (error, ..) = rejected(SMALL, &["factors.size=64", options, "design.baseline.options.dds.depth=6"]);
    assert!(error.ends_with("the baseline matches no cell: no cell has `dds.depth` 6"), "{error}");
    for (baseline, why, step) in [
        ("dds.depht=5", "driver `dds` has no option `depht`", "did you mean `depth`? available: "),
        (
            "dds.mode=\"a\"",
            "no cell has a value of `dds.mode`",
            "measure it: `--option dds.mode=a`, and another one",
        ),
        ("bare.depth=5", "driver `bare` is not measured", "drivers of the cells: dds"),
    ] {
        let baseline = format!("design.baseline.options.{baseline}");
        let (error, _, hint) =
            rejected(SMALL, &["factors.size=64", "factors.driver=dds", options, &baseline]);
        assert!(error.ends_with(&format!("the baseline matches no cell: {why}")), "{error}");
        assert!(hint.starts_with(step), "{hint}");
    }
    let include = "factors.include=[{ options = { dds = { depth = 5 } } }]";
    let (error, _, hint) = rejected(SMALL, &["factors.size=64", include]);
    assert!(error.contains("cannot set options") && hint.contains("`[options]`"), "{error} {hint}");
}

#[test]
fn true_and_false_and_numbers_of_a_list_are_what_they_are_in_a_file() {
    let cells = |set: &str| {
        let experiment = plan(SMALL, &["factors.size=32", set]);
        ids(&experiment).into_iter().map(|id| id.replace("dds/udp4/latency/32", "")).collect::<Vec<_>>()
    };
    assert_eq!(cells("factors.vendor_defaults=false,true"), ["", "/as-shipped"]);
    assert_eq!(cells("factors.vendor_defaults=true, false"), ["/as-shipped", ""]);
    assert_eq!(cells("factors.send_queue=10, 100"), ["/send-queue-10", "/send-queue-100"]);
    let (error, marked, hint) = rejected(SMALL, &["factors.vendor_defaults=false,yes"]);
    assert!(error.starts_with("--set factors.vendor_defaults=false,yes: "), "{error}");
    assert_eq!((marked.as_str(), hint.as_str()), ("yes", "write `true` or `false`"));
}

#[test]
fn list_where_text_is_expected_is_text() {
    let experiment = plan(SMALL, &["factors.size=32", "options.dds.depth=false,true,5,07, deep"]);
    let depths: Vec<&str> =
        experiment.cells.iter().map(|cell| cell.factors.options["depth"].as_str()).collect();
    assert_eq!(depths, ["false", "true", "5", "07", "deep"]);
    for pin in ["0,1", "0-3,4-7"] {
        let file = source(SMALL, &[&format!("design.pin={pin}")]).read().expect("a file");
        assert_eq!(file.design.pin.expect("cores").get().to_string(), pin);
    }
}
