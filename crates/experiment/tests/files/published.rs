//! Published figures: which cells they are beside, and what is rejected.

use experiment::{Figure, Plan, RttStatistic};

use crate::{plan, source, with};

/// Returns the error without its position, and the hint.
#[track_caller]
fn rejected(text: &str) -> (String, String) {
    let (error, _, hint) = crate::rejected(text, &[]);
    let error = error.splitn(4, ':').nth(3).map_or(error.clone(), |rest| rest.trim().to_owned());
    (error, hint)
}

/// Returns an entry with these keys besides its texts.
fn table(system: &str, rest: &str) -> String {
    format!(
        "[[published]]\nsystem = \"{system}\"\nsource = \"A. Author, 2020\"\nnote = \"Other hosts.\"\n{rest}\n"
    )
}

fn latency(system: &str) -> String {
    table(system, "figures = [\"half_rtt_p50_us\", \"rtt_p99_us\"]\nrows = [[32, 10, 31.5], [4096, 20, 40]]")
}

/// Returns cell, batch limit and value of each figure of a table.
fn of<'p>(plan: &'p Plan, system: &str) -> Vec<(&'p str, u64, f64)> {
    let table = plan.published.iter().find(|table| table.system == system).expect("the table");
    table.figures.iter().map(|figure| (figure.cell.as_str(), figure.batch_bytes, figure.value)).collect()
}

#[test]
fn figures_are_beside_the_cells_of_their_size() {
    let plan = plan(&with(&latency("Old")), &[]);
    assert_eq!(
        of(&plan, "Old"),
        [
            ("dds/udp4/latency/32", 0, 10.0),
            ("dds/udp4/latency/32", 0, 31.5),
            ("dds/udp4/latency/4096", 0, 20.0),
            ("dds/udp4/latency/4096", 0, 40.0),
        ]
    );
    let [table] = &plan.published[..] else { panic!("{:?}", plan.published) };
    assert_eq!((table.source.as_str(), table.note.as_str()), ("A. Author, 2020", "Other hosts."));
    let figures: Vec<Figure> = table.figures.iter().map(|figure| figure.figure).collect();
    assert_eq!(figures[..2], [Figure::HalfRtt(RttStatistic::P50), Figure::Rtt(RttStatistic::P99)]);
    // saved with the plan, and the same when it is read
    let text = serde_json::to_string(&plan).expect("JSON");
    assert!(text.contains("\"figure\":\"half_rtt_p50_us\""), "{text}");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan);
}

#[test]
fn cells_are_selected_and_excepted() {
    let factors = "question = \"?\"\nworkload = [\"latency\", \"throughput\"]\n[factors]\ndriver = [\"dds\", \"bare\"]\n\
                   size = [32, 2048]\nbatch_bytes = [0, \"3KiB\"]\nexclude = { driver = \"bare\", batch_bytes = 3072 }\n";
    let batched = table(
        "Packed",
        "cells = { workload = \"throughput\", batch_bytes = 3072 }\nexcept = { driver = \"bare\" }\nfigures = [\"goodput_mbps\"]\n\
         rows = [[32, 5.5], [2048, 80], [9999, 1]]",
    );
    let alone = table(
        "Alone",
        "cells = { workload = \"throughput\", batch_bytes = 0 }\nfigures = [\"goodput_mbps\"]\nrows = [[32, 2.5]]",
    );
    let exclude = factors.replace("exclude = {", "exclude = [{").replace("3072 }\n", "3072 }]\n");
    let plan = plan(&format!("{exclude}{batched}{alone}"), &[]);
    // A batch of one sample is measured unbatched; 9999 bytes are not measured.
    assert_eq!(
        of(&plan, "Packed"),
        [("dds/udp4/throughput/32/batch-3072", 3072, 5.5), ("dds/udp4/throughput/2048", 3072, 80.0)]
    );
    assert_eq!(of(&plan, "Alone"), [("dds/udp4/throughput/32", 0, 2.5), ("bare/udp4/throughput/32", 0, 2.5)]);
}

#[test]
fn table_that_the_command_line_leaves_without_a_cell_is_noted() {
    let text = with(&latency("Old").replace("figures", "cells = { driver = \"dds\" }\nfigures"));
    for set in ["factors.driver=bare", "factors.size=64"] {
        let plan = plan(&text, &[set]);
        assert_eq!(plan.published, [], "{set}");
        assert!(
            plan.notes.contains(&"no published figures of Old are shown: no cell matches them".to_owned()),
            "{set}: {:?}",
            plan.notes
        );
    }
    // of several sizes one is enough
    assert_eq!(of(&plan(&text, &["factors.size=32"]), "Old").len(), 2);
}

#[test]
fn table_that_fits_nothing_is_rejected() {
    let (error, hint) =
        rejected(&with(&latency("Old").replace("figures", "cells = { driver = \"bare\" }\nfigures")));
    assert_eq!(error, "this table of published figures matches no cell");
    assert!(hint.contains("--dry-run"), "{hint}");
    let (error, _) = rejected(&with(&table("Old", "figures = [\"goodput_mbps\"]\nrows = [[32, 1]]")));
    assert_eq!(error, "cells of the workload `latency` have no `goodput_mbps`");
}

#[test]
fn wrong_texts_figures_and_rows_are_rejected() {
    let good = latency("Old");
    for (from, to, expected) in [
        ("\"A. Author, 2020\"", "\" \"", "no source of the published figures given"),
        ("\"Other hosts.\"", "\"\"", "no note on what differs from the published figures given"),
        ("\"Old\"", "\"\"", "no system of the published figures given"),
        ("[\"half_rtt_p50_us\", \"rtt_p99_us\"]", "[]", "no published figures given"),
        ("\"rtt_p99_us\"", "\"half_rtt_p50_us\"", "figure `half_rtt_p50_us` is given twice"),
        ("31.5]", "31.5, 1]", "a row has 4 entries instead of 3"),
        ("[32, 10", "[8, 10", "`8` is not the size of a sample"),
        ("[32, 10", "[32.5, 10", "`32.5` is not the size of a sample"),
        ("31.5", "-31.5", "`-31.5` is not a published figure"),
        ("31.5", "nan", "`NaN` is not a published figure"),
        ("[4096, 20", "[32, 20", "size `32` is given twice"),
        ("[32, 10", "[\"default\", 10", "`default` is not the size of a sample"),
        ("31.5", "\"31.5\"", "`31.5` is not a published figure"),
        ("rows = [[32", "by = \"profile\"\nrows = [[32", "`32` is not the name of a profile"),
    ] {
        assert!(good.contains(from), "{from}");
        let (error, _) = rejected(&with(&good.replace(from, to)));
        assert_eq!(error, expected, "{from} -> {to}");
    }
    let twice = format!("{good}{good}");
    assert_eq!(rejected(&with(&twice)).0, "system `Old` is given twice");
    let unknown = source(&with(&good.replace("rtt_p99_us", "p99")), &[]).read().expect_err("it is refused");
    assert!(unknown.error.contains("unknown figure `p99`; available: delivered_sps"), "{unknown:?}");
}

#[test]
fn rows_by_profile_are_beside_the_cells_of_their_profile() {
    let profiles =
        "[profiles.fast]\nreliability = \"best_effort\"\n[profiles.slow]\nreliability = \"reliable\"\n";
    let rows = "by = \"profile\"\nfigures = [\"hop_mean_us\"]\nrows = [[\"default\", 400], [\"fast\", 358], [\"unknown\", 1]]";
    let small = with("").replace("[32, \"4KiB\"]", "32");
    let with_profiles = plan(&format!("{small}{profiles}{}", table("Study", rows)), &[]);
    let cells: Vec<(&str, f64)> =
        of(&with_profiles, "Study").into_iter().map(|(cell, _, value)| (cell, value)).collect();
    assert_eq!(cells.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [400.0, 358.0], "{cells:?}");
    assert!(cells[0].0.contains("/default") && cells[1].0.contains("/fast"), "{cells:?}");
    // cells without profiles have the policies of `default`, at every size
    assert_eq!(of(&plan(&with(&table("Study", rows)), &[]), "Study").len(), 2);
    let twice = rows.replace("fast", "default");
    assert_eq!(rejected(&with(&table("Study", &twice))).0, "profile `default` is given twice");
}

#[test]
fn figures_that_a_cell_cannot_have_are_rejected() {
    let rejected_for = |figure: &str, topology: &str| {
        let text = with(&format!("topology = \"{topology}\"\n"));
        rejected(&format!("{text}{}", table("Old", &format!("figures = [\"{figure}\"]\nrows = [[32, 1]]")))).0
    };
    assert_eq!(rejected_for("hop_mean_us", "1-2"), "cells of the workload `latency` have no `hop_mean_us`");
    assert_eq!(
        rejected_for("two_hops_per_sample_us", "ring-3"),
        "cells of the workload `latency` have no `two_hops_per_sample_us`"
    );
    let rings = with("topology = \"ring-3\"\nin_flight = 4\n");
    let flood = table("Flood", "figures = [\"two_hops_per_sample_us\"]\nrows = [[32, 1]]");
    assert_eq!(of(&plan(&format!("{rings}{flood}"), &[]), "Flood").len(), 1);
    // round trips under load are those of echo probes
    let load = with("").replace("\"latency\"", "\"throughput\"");
    let loaded = table("Loaded", "figures = [\"half_rtt_p50_us\"]\nrows = [[32, 1]]");
    assert_eq!(
        rejected(&format!("{load}{loaded}")).0,
        "cells of the workload `throughput` have no `half_rtt_p50_us`"
    );
    let probed = format!("{load}{loaded}[design]\nprobe_every = 1000\n");
    assert_eq!(of(&plan(&probed, &[]), "Loaded").len(), 1);
}

#[test]
fn overlay_has_the_figures_of_its_name() {
    let named = |name: &str| format!("overlay = \"{name}\"\n{}", with(""));
    let overlaid = plan(&named("seed-004"), &[]);
    let [lower, upper] = [0, 1].map(|index| &overlaid.published[index]);
    assert_eq!((lower.figures[0].value, upper.figures[0].value), (90.0, 100.0));
    assert!(lower.conditions.hardware.is_some() && lower.source.contains("https://"), "{lower:?}");
    assert!(overlaid.notes.iter().any(|note| note.starts_with("no published figures of ")));
    let (error, hint) = rejected(&named("seed-9"));
    assert_eq!(error, "published figures `seed-9` not found");
    assert_eq!(hint, "available: seed-000, seed-001, seed-002, seed-003, seed-004");
    assert_eq!(rejected(&named("seed-001")).0, "this overlay matches no cell");
}
