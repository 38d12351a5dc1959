//! Rates in percent of a measured maximum.

use std::collections::BTreeSet;

use experiment::{Arrival, Load, PercentOfMax};

use crate::{ids, paced::paced, plan, rejected};

#[test]
fn percents_are_of_one_maximum_for_cells_that_differ_in_their_load_only() {
    let text = paced(
        "rate = [\"10%\", \"99.5%\", 1000, \"max\"]\narrival = [\"constant\", \"poisson\"]\nbatch_samples = [1, 4]\n",
    );
    let experiment = plan(&text, &[]);
    let ids = ids(&experiment);
    assert_eq!(
        ids[..8],
        [
            "dds/udp4/paced/64/rate-10pct",
            "dds/udp4/paced/64/rate-10pct/batch-256",
            "dds/udp4/paced/64/rate-10pct/poisson",
            "dds/udp4/paced/64/rate-10pct/poisson/batch-256",
            "dds/udp4/paced/64/rate-99.5pct",
            "dds/udp4/paced/64/rate-99.5pct/batch-256",
            "dds/udp4/paced/64/rate-99.5pct/poisson",
            "dds/udp4/paced/64/rate-99.5pct/poisson/batch-256",
        ]
    );
    assert_eq!(ids.len(), 14);
    let load = experiment.cells[6].factors.load.as_ref().expect("a load");
    let percent = PercentOfMax::of_percent(99.5).expect("a share");
    assert_eq!(*load, Load::Share { percent, arrival: Arrival::Poisson, rate: None });
    // The number of planned samples is known only with the maximum.
    assert_eq!((load.planned(1_000_000_000), load.rate(), load.resolved()), (None, None, None));
    let known = load.clone().with_maximum(2_000.0);
    assert_eq!(
        (known.planned(1_000_000_000), known.to_string()),
        (Some(1_990), "poisson 99.5% (1990/s)".to_owned())
    );
    assert!(known.has_times() && load.has_times());

    let max_rates = experiment.max_rates();
    let found: Vec<_> =
        max_rates.iter().map(|maximum| (maximum.cell.id.as_str(), maximum.of.len())).collect();
    assert_eq!(found, [("dds/udp4/paced/64/max", 4), ("dds/udp4/paced/64/max/batch-256", 4)]);
    assert!(max_rates.iter().all(|maximum| maximum.cell.factors.load == Some(Load::Max)));
    let runs = experiment.maximum_runs(max_rates.len());
    assert_eq!(runs.iter().map(|run| run.0).collect::<Vec<_>>(), (1_000_001..=1_000_006).collect::<Vec<_>>());
    for pass in runs.chunks(2) {
        assert_eq!(pass.iter().map(|run| run.1).collect::<BTreeSet<_>>(), [0, 1].into());
    }
    assert_eq!(plan(&text, &["factors.rate=1000,max"]).max_rates(), []);
}

#[test]
fn max_rate_runs_count_towards_the_budget() {
    let text = |budget_ms: u64| {
        paced(&format!("rate = \"50%\"\n[design]\nblocks = 6\nbudget = \"{budget_ms}ms\"\n"))
    };
    let experiment = plan(&text(1_000_000), &[]);
    assert_eq!(experiment.expected_max_rates_ns(), 3 * experiment.design.expected_run_ns());
    let needed_ms = experiment.expected_ns() / 1_000_000;
    assert_eq!(plan(&text(needed_ms + 1), &[]).cells.len(), 1);
    let (error, ..) = rejected(&text(needed_ms - 1), &[]);
    assert!(error.contains("more than the budget"), "{error}");
    // With a target precision, the runs of the maximum leave room for fewer blocks.
    let blocks = |rate: &str| {
        let file = paced(&format!("rate = {rate}\n[design]\nprecision = \"2%\"\nbudget = \"20s\"\n"));
        plan(&file, &[]).design.blocks
    };
    assert_eq!(blocks("1000") - blocks("\"50%\""), 3);
}

#[test]
fn percents_are_excluded_included_and_compared() {
    let text = paced(
        r#"rate = ["10%", "50%", 1000]
arrival = ["constant", "poisson"]
exclude = [{ rate = "10.0%", arrival = "poisson" }, { rate = 1000 }]
include = [{ size = 1024, rate = "90%", arrival = "constant" }]
[design]
baseline = { rate = "10%" }
"#,
    );
    let experiment = plan(&text, &[]);
    assert_eq!(
        ids(&experiment),
        [
            "dds/udp4/paced/64/rate-10pct",
            "dds/udp4/paced/64/rate-50pct",
            "dds/udp4/paced/64/rate-50pct/poisson",
            "dds/udp4/paced/1024/rate-90pct",
        ]
    );
    assert_eq!(experiment.design.baseline, ["dds/udp4/paced/64/rate-10pct"]);
    assert_eq!(experiment.max_rates().len(), 2);
    assert_eq!(ids(&plan(&paced("rate = 1\n"), &["factors.rate=50%"])), ["dds/udp4/paced/64/rate-50pct"]);
}
