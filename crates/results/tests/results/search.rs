//! Searches in results: values of a cell over several searches, their metrics, and interrupted searches.

use experiment::{GoalKind, Workload};
use results::{
    Directory, ExperimentLog, IntervalLog, Measurement, Metric, RunState, SearchState, metrics_of,
};

use crate::sample;

#[test]
fn a_cell_has_the_median_of_what_was_found_and_counts_the_rest() {
    let document = sample::search::document_with(|_| ());
    let cell =
        document.cells.iter().find(|cell| cell.runs.iter().any(|run| run.number == 2)).expect("a cell");
    let goals = &cell.search.as_ref().expect("searches").goals;
    let searches = cell.runs.len() as u32;
    assert_eq!((goals[0].aim, goals[0].searches, goals[0].found), (GoalKind::Ndr, searches, searches));
    assert_eq!((goals[1].aim, goals[1].searches, goals[1].found), (GoalKind::Pdr, searches, searches - 1));
    assert_eq!((goals[0].limited_by_sender, goals[0].trials), (1, 3 * searches));
    let of = |metric| cell.runs.iter().filter_map(move |run| run.value(metric)).collect::<Vec<f64>>();
    assert_eq!(goals[0].conditional_sps, stats::median(&of(Metric::Ndr)));
    assert_eq!(of(Metric::Pdr).len() as u32, searches - 1, "a rate that was not found has no value");
    assert!(of(Metric::Slo).is_empty() && of(Metric::Delivered).is_empty());
    let claimed: Vec<Metric> = metrics_of(&document.experiment, &cell.factors).collect();
    assert_eq!(claimed, [Metric::Ndr, Metric::Pdr], "its goals");
    assert_eq!(Metric::claims(&cell.factors), [Metric::Ndr, Metric::Pdr, Metric::Slo, Metric::Headroom]);
    assert!(Metric::Ndr.is_of(Workload::Search) && !Metric::Ndr.is_of(Workload::Paced));
}

#[test]
fn irregular_outcome_gives_no_value_even_with_a_rate() {
    let document = sample::search::document_with(|run| {
        run.measured.as_mut().and_then(Measurement::search_mut).expect("a search").goals[0].state =
            SearchState::Ceiling;
    });
    let runs = document.cells.iter().flat_map(|cell| &cell.runs);
    assert!(runs.clone().all(|run| run.value(Metric::Ndr).is_none()));
    assert!(runs.into_iter().any(|run| run.value(Metric::Pdr).is_some()));
}

#[test]
fn interrupted_search_is_shown_and_repeated() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("result");
    let header = sample::search::header();
    let directory = Directory::create(&path, 2).expect("room");
    directory.save_experiment(&header).expect("saved");
    let log: ExperimentLog = serde_json::from_value(serde_json::json!({
        "schema_version": results::SCHEMA_VERSION,
        "noise_rule": { "gap_ns": 1, "probe_ns": 1, "max_stolen_pct": 1.0, "max_gap_per_rtt": 1.0,
            "max_touched_pct": 1.0, "repeat_noisy": false },
        "allocation": { "planned": 3, "made": 0 },
        "max_rates": [],
        "resumed": [],
        "blocks": [],
    }))
    .expect("a log");
    directory.save_log(&log).expect("saved");
    for (run, _) in sample::runs_of(&header.experiment).into_iter().take(2) {
        let mut run = sample::search::search(&run);
        if run.number == 2 {
            run.state = RunState::Failed;
            run.measured.as_mut().and_then(Measurement::search_mut).expect("a search").ended = false;
        }
        directory.save_run(&run, IntervalLog::new()).expect("saved");
    }
    drop(directory);
    let shown = Directory::load(&path).expect("a result");
    assert_eq!(shown.cells.iter().flat_map(|cell| &cell.runs).count(), 2);
    let saved = Directory::reopen(&path).expect("interrupted");
    assert!(saved.assembler.holds(1) && !saved.assembler.holds(2));
}

#[test]
fn headroom_is_the_median_scale_and_names_what_fails_first() {
    let document = sample::search::system_document();
    for cell in &document.cells {
        let goal = &cell.search.as_ref().expect("searches").goals[0];
        let headroom = goal.headroom.as_ref().expect("a system");
        let of: Vec<f64> = cell.runs.iter().filter_map(|run| run.value(Metric::Headroom)).collect();
        assert_eq!((of.len() as u32, headroom.scale), (goal.searches, stats::median(&of)));
        let (lowest, highest) =
            (headroom.lowest_scale.expect("found"), headroom.highest_scale.expect("found"));
        assert!(of.iter().all(|scale| (lowest..highest).contains(scale)), "{headroom:?} {of:?}");
        let searches: u32 = headroom.fails_first.iter().map(|first| first.searches).sum();
        assert_eq!(searches, goal.searches, "{headroom:?}");
        assert!(headroom.fails_first.is_sorted_by(|left, right| left.searches >= right.searches));
        assert!(headroom.fails_first.iter().all(|first| ["imu", "small"].contains(&first.flow.as_str())));
        let claimed: Vec<Metric> = metrics_of(&document.experiment, &cell.factors).collect();
        assert_eq!(claimed, [Metric::Headroom]);
    }
}
