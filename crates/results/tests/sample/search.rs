//! Deterministic searches.

use experiment::{Deadline, Factors, Flow, GoalKind, Scale, ScaleRange, Search, SearchGoal, Workload};
use results::{
    Assembler, GoalRecord, Measurement, ResultDocument, ResultHeader, Run, SearchBound, SearchRecord,
    SearchState, State, TrialGoalResult, TrialRecord, UnpacedRate, WorstFlow,
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
        scale: None,
        duration_ns: 5_000_000_000,
        planned,
        unsent: 0,
        delivered: planned - missing,
        lost: missing,
        undelivered: 0,
        late_ns: None,
        falls_behind: 0.0,
        limited_by_sender: false,
        worst: None,
        judged: judged.collect(),
        repeats: None,
    }
}

/// Returns a search that found the bounds of both goals; the search of run `unfinished` only those of the first.
pub fn record(run: u32, unfinished: u32) -> SearchRecord {
    let sustained = 100_000.0 + 500.0 * f64::from(run);
    let bound = |load_sps, trials| Some(SearchBound { load_sps, scale: None, trials });
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
            fails_first: None,
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
    with_record(run, record(run.number, 2))
}

fn with_record(run: &Run, record: SearchRecord) -> Run {
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

/// Rate of all flows of the system at scale 1.
const SYSTEM_SPS: f64 = 500.0;

/// Returns the header of searches over the scale of a system of an IMU and ten equal topics, for each driver.
fn system_header() -> ResultHeader {
    let flow = |name: &str, samples| {
        let load = super::paced::constant(samples);
        let deadline = Some(Deadline { deadline_ns: 10_000_000, missed_ppm: 1_000 });
        Flow { deadline, ..Flow::new(name, 256, load) }
    };
    let small = |index: u64| Flow { group: Some("small".to_owned()), ..flow(&format!("small-{index}"), 10) };
    let flows: Vec<Flow> = std::iter::once(flow("imu", 400)).chain((1..=10).map(small)).collect();
    let mut header = header();
    for cell in &mut header.experiment.cells {
        cell.factors.flows.clone_from(&flows);
    }
    let usual = Search::default();
    let goal = SearchGoal { aim: GoalKind::System, loss_ratio: 0.0, width: 0.05, ..usual.goals[0].clone() };
    let scales = ScaleRange { lowest: Scale::nearest(0.01), highest: Scale::nearest(100.0) };
    header.experiment.search = Some(Search { goals: vec![goal], scales: Some(scales), ..usual });
    header
}

/// Returns a search that found a headroom of 1.8, a little more in later runs. In the third run a topic of the group fails first.
fn system_record(run: u32) -> SearchRecord {
    let lower = 1.8 + 0.01 * f64::from(run);
    let upper = 1.04 * lower;
    let bound =
        |scale: f64, trials| Some(SearchBound { load_sps: scale * SYSTEM_SPS, scale: Some(scale), trials });
    let (flow, group) =
        if run.is_multiple_of(3) { ("small-7", Some("small".to_owned())) } else { ("imu", None) };
    let system_trial = |scale: f64, missed_pct: f64| {
        let good = missed_pct <= 0.1;
        let worst = WorstFlow {
            flow: flow.to_owned(),
            group: group.clone(),
            reader: "reader".to_owned(),
            missed_pct,
            limit_pct: 0.1,
        };
        let violation_ratio = ((missed_pct - 0.1) / 100.0).max(0.0);
        TrialRecord {
            scale: Some(scale),
            worst: Some(worst).filter(|_| missed_pct > 0.0),
            judged: vec![TrialGoalResult { aim: GoalKind::System, violation_ratio, good }],
            ..trial(scale * SYSTEM_SPS, 0.0)
        }
    };
    let goal = GoalRecord {
        aim: GoalKind::System,
        deadline_ns: None,
        state: SearchState::Found,
        lower: bound(lower, 3),
        upper: bound(upper, 2),
        conditional_sps: Some(lower * SYSTEM_SPS),
        fails_first: Some(group.clone().unwrap_or_else(|| flow.to_owned())),
        contradicting: 0,
        limited_by_sender: false,
    };
    SearchRecord {
        ended: true,
        unpaced: None,
        floor_sps: Some(0.01 * SYSTEM_SPS),
        ceiling_sps: Some(100.0 * SYSTEM_SPS),
        goals: vec![goal],
        trials: vec![system_trial(1.0, 0.0), system_trial(upper, 31.4), system_trial(lower, 0.05)],
        took_ns: 19_500_000_000,
    }
}

/// Returns a complete result of searches over the scale of a system.
pub fn system_document() -> ResultDocument {
    let header = system_header();
    let mut assembler = Assembler::new(header.clone());
    for (run, _) in super::runs_of(&header.experiment) {
        assembler.add(with_record(&run, system_record(run.number)), &results::Histograms::new());
    }
    assembler.document(State::Complete)
}
