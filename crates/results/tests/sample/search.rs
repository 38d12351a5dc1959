//! Deterministic searches.

use experiment::{Factors, Search, Workload};
use results::{
    Assembler, GoalRecord, Measurement, ResultDocument, ResultHeader, Run, SearchBound, SearchRecord,
    SearchState, State, TrialGoalResult, TrialRecord, UnpacedRate,
};

/// Returns the header of the sample with one search for each driver, with samples of 1024 bytes.
pub fn header() -> ResultHeader {
    let mut header = super::header();
    header.experiment.cells.retain(|cell| {
        cell.factors.size_bytes == 1024
            && cell.factors.workload == Workload::Throughput
            && cell.factors.batch_bytes == 0
    });
    for cell in &mut header.experiment.cells {
        cell.id = cell.id.replace("throughput", "search");
        cell.factors = Factors { workload: Workload::Search, ..cell.factors.clone() };
    }
    header.experiment.search = Some(Search::default());
    header
}

fn trial(load_sps: f64, violation_ratio: f64) -> TrialRecord {
    let planned = (5.0 * load_sps) as u64;
    let missing = (violation_ratio * planned as f64) as u64;
    let goals = Search::default().goals;
    let judged = goals.iter().map(|goal| TrialGoalResult {
        aim: goal.aim,
        violation_ratio,
        good: violation_ratio <= goal.loss_ratio,
    });
    TrialRecord {
        load_sps,
        duration_ns: 5_000_000_000,
        planned,
        unsent: 0,
        delivered: planned - missing,
        lost: missing,
        undelivered: 0,
        late_ns: None,
        falls_behind: 0.0,
        limited_by_sender: false,
        judged: judged.collect(),
        repeats: None,
    }
}

/// Returns a search that found the bounds of both goals; the search of run `unfinished` only those of the first.
pub fn record(run: u32, unfinished: u32) -> SearchRecord {
    let sustained = 100_000.0 + 500.0 * f64::from(run);
    let bound = |load_sps, trials| Some(SearchBound { load_sps, trials });
    let goals = Search::default().goals.into_iter().enumerate().map(|(index, goal)| {
        let is_found = index == 0 || run != unfinished;
        let more = 1.0 + 0.005 * index as f64;
        GoalRecord {
            aim: goal.aim,
            deadline_ns: None,
            state: if is_found { SearchState::Found } else { SearchState::Budget },
            lower: bound(more * sustained, 2),
            upper: bound(1.01 * more * sustained, 3),
            conditional_sps: is_found.then_some(sustained),
            contradicting: 0,
            limited_by_sender: index == 0 && run == unfinished,
        }
    });
    SearchRecord {
        ended: true,
        unpaced: Some(UnpacedRate {
            duration_ns: 1_000_000_000,
            offered_sps: 120_000.0,
            delivered_sps: 95_000.0,
        }),
        floor_sps: Some(24.0),
        ceiling_sps: Some(240_000.0),
        goals: goals.collect(),
        trials: vec![trial(95_000.0, 0.0), trial(1.01 * sustained, 0.01), trial(sustained, 0.0)],
        took_ns: 19_500_000_000,
    }
}

pub fn search(run: &Run) -> Run {
    let record = record(run.number, 2);
    Run {
        latency: std::collections::BTreeMap::new(),
        steady_state: std::collections::BTreeMap::new(),
        flows: Vec::new(),
        cpu_ns_per_sample: None,
        wire: None,
        udp_buffer_drops: None,
        udp_drops_of_all_programs: false,
        measured: Some(Measurement::Search { search: record }),
        ..run.clone()
    }
}

/// Returns a complete result; `change` is applied to each run before it is added.
pub fn document_with(change: impl Fn(&mut Run)) -> ResultDocument {
    let header = header();
    let mut assembler = Assembler::new(header.clone());
    for (run, _) in super::runs_of(&header.experiment) {
        let mut run = search(&run);
        change(&mut run);
        assembler.add(run, &results::Histograms::new());
    }
    assembler.document(State::Complete)
}
