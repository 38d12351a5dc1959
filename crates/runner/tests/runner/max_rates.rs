//! Rates in percent of a maximum rate, which is measured once before the first block. If that fails, the cells that
//! need it fail.

use std::ops::ControlFlow;

use experiment::{Arrival, Cell, Load, MAXIMUM_RUNS, PercentOfMax, Rate, Workload};
use results::{MAXIMUM_PHASE, MaxRate, MaxRateRun, ResultDocument, Run, RunState, State};
use runner::{Observer, Progress, StopToken};

use crate::rig::{Rig, StopAfter, children};

fn share(percent: f64) -> Load {
    let percent = PercentOfMax::of_percent(percent).expect("a share");
    Load::Share { percent, arrival: Arrival::Constant, rate: None }
}

/// Returns the rate that gives the sample count of the fake agent in the measurement time of the rig.
fn absolute() -> Load {
    Load::Constant { rate: Rate { samples: 1000, period_ns: 2_000_000 } }
}

/// Returns an experiment with cells of one driver that differ only in their load.
fn rig(script: &str, loads: &[Load]) -> Rig {
    let mut rig = Rig::new(&[("d", script)]).of_workload(Workload::Throughput);
    let template = rig.experiment.cells.remove(0);
    rig.experiment.cells = (1..)
        .zip(loads)
        .map(|(number, load)| {
            let mut cell = Cell { id: format!("d/paced/{number}"), ..template.clone() };
            cell.factors.workload = Workload::Paced;
            cell.factors.load = Some(load.clone());
            cell
        })
        .collect();
    rig
}

fn runs<'d>(document: &'d ResultDocument, cell: &str) -> &'d [Run] {
    &document.cells.iter().find(|candidate| candidate.id == cell).expect("a cell").runs
}

/// Observer that counts the runs for maximum rates and can request a stop.
struct Counting<F> {
    before: u32,
    after: u32,
    started: u32,
    on_start: F,
}

impl<F: FnMut(u32) -> ControlFlow<StopToken>> Counting<F> {
    const fn new(on_start: F) -> Self {
        Self { before: 0, after: 0, started: 0, on_start }
    }
}

impl<F: FnMut(u32) -> ControlFlow<StopToken>> Observer for Counting<F> {
    fn maximum_measured(&mut self, _: &MaxRate, _: &MaxRateRun, done: usize, total: usize) {
        assert!(done <= total);
        if self.started == 0 {
            self.before += 1;
        } else {
            self.after += 1;
        }
        if let ControlFlow::Break(stop) = (self.on_start)(self.before) {
            stop.request();
        }
    }

    fn run_started(&mut self, _: &Progress, _: &Cell) {
        self.started += 1;
    }
}

#[test]
fn percent_rate_refers_to_the_unpaced_rate() {
    let mut rig = rig("", &[share(200.0), Load::Max]);
    // The fake reader receives a sample per ms: 500 in this time, which is 1000/s between arrivals. Twice that rate gives the 1000
    // samples of the fake writer.
    rig.experiment.design.measure_ns = 499_900_000;
    let mut counting = Counting::new(|_| ControlFlow::Continue(()));
    let document = rig.execute_with(&mut counting).document;
    assert_eq!((counting.before, counting.after, counting.started), (MAXIMUM_RUNS, 0, 2));

    let [maximum] = &document.max_rates[..] else { panic!("{:?}", document.max_rates) };
    assert_eq!((maximum.cells.as_slice(), maximum.runs.len()), (&["d/paced/1".to_owned()][..], 3));
    let sps = maximum.sps.expect("it is known");
    assert!((sps - 1_000.0).abs() < 1e-6, "{sps}");
    for run in &maximum.runs {
        let unpaced = run.unpaced.as_ref().expect("measured");
        assert!(unpaced.offered_sps > unpaced.delivered_sps && run.number > 1_000_000, "{run:?}");
        assert!(run.took_ns > unpaced.duration_ns && run.failure.is_none(), "{run:?}");
    }

    let cell = &document.cells[0];
    let rate = cell.factors.load.as_ref().and_then(Load::rate).expect("it came to one");
    assert!((rate.sps() - 2.0 * sps).abs() < 1e-6, "{rate}");
    let run = &cell.runs[0];
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let paced = run.paced().expect("a plan");
    assert_eq!((paced.planned, run.flows[0].load.as_deref()), (1000, Some("200% (2000/s)")));
    // The plan of the experiment is unchanged.
    assert_eq!(document.experiment.cells[0].factors.load, Some(share(200.0)));
    assert_eq!(results::Directory::load(&rig.results()).expect("saved"), document);
}

#[test]
fn max_rate_is_measured_once_wherever_the_experiment_stopped() {
    // Stop between the runs for a maximum rate, and between runs of blocks.
    for made in 0..=1 {
        let mut rig = rig("", &[share(50.0), share(10.0)]);
        rig.experiment.design.blocks = 2;
        let first = if made == 0 {
            let stop = rig.stop.clone();
            let on_start =
                |count| if count == 2 { ControlFlow::Break(stop.clone()) } else { ControlFlow::Continue(()) };
            rig.execute_with(&mut Counting::new(on_start)).document
        } else {
            rig.execute_with(&mut StopAfter(made, rig.stop.clone())).document
        };
        assert_eq!(first.state, State::Interrupted);
        let saved = first.max_rates[0].runs.len();
        assert_eq!((saved, first.max_rates[0].sps.is_some()), if made == 0 { (2, false) } else { (3, true) });
        // They are loaded without `result.json` too.
        std::fs::remove_file(rig.results().join("result.json")).expect("a result");
        assert_eq!(results::Directory::load(&rig.results()).expect("saved").max_rates, first.max_rates);

        let mut counting = Counting::new(|_| ControlFlow::Continue(()));
        let outcome = rig.resume_with(&[], &StopToken::new(), &mut counting);
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let whole = outcome.document;
        assert_eq!((whole.state, counting.before as usize, counting.after), (State::Complete, 3 - saved, 0));
        assert_eq!(whole.max_rates[0].runs[..saved], first.max_rates[0].runs[..]);
        for (cell, text) in [("d/paced/1", "50% (500/s)"), ("d/paced/2", "10% (100/s)")] {
            let runs = runs(&whole, cell);
            assert_eq!(runs.len(), 2, "{cell}");
            for run in runs {
                assert_eq!(run.flows[0].load.as_deref(), Some(text));
            }
        }
        assert_eq!(children(), [""; 0]);
    }
}

#[test]
fn cells_without_maximum_fail_and_others_are_measured() {
    let mut rig = rig("jam writer measure", &[share(50.0), absolute()]);
    rig.experiment.design.blocks = 4;
    let document = rig.execute();
    assert_eq!(document.state, State::Complete);
    let maximum = &document.max_rates[0];
    assert_eq!((maximum.sps, maximum.runs.len()), (None, 3));
    let failure = maximum.runs[0].failure.as_ref().expect("it failed");
    assert_eq!((failure.phase.as_str(), failure.error.as_str()), ("measure", "it is jammed"));

    let failed = runs(&document, "d/paced/1");
    assert_eq!(failed.len(), 4);
    for run in failed {
        let failure = run.failure.as_ref().expect("it was not attempted");
        assert_eq!((run.state, failure.phase.as_str()), (RunState::Failed, MAXIMUM_PHASE));
        assert!(failure.error.contains("all 3 runs as fast as it goes failed"), "{failure:?}");
        assert!(failure.error.ends_with("in phase `measure` of the writer: it is jammed"), "{failure:?}");
        assert!(failure.hint.is_some());
    }
    // More failures than a driver may have before it is given up.
    let measured = runs(&document, "d/paced/2");
    assert_eq!(measured.iter().map(|run| run.state).collect::<Vec<_>>(), [RunState::Valid; 4]);
    assert_eq!(document.cells[0].factors.load, Some(share(50.0)));
}

/// Observer that requests a stop when a run starts.
struct StopAtOnce(StopToken);

impl Observer for StopAtOnce {
    fn run_started(&mut self, _: &Progress, _: &Cell) {
        self.0.request();
    }
}

#[test]
fn resume_does_not_count_cells_without_maximum_against_their_driver() {
    let mut rig = rig("jam writer measure", &[share(10.0), share(50.0), share(90.0), absolute()]);
    while rig.experiment.schedule().last().is_none_or(|last| last.cell != 3) {
        rig.experiment.design.seed += 1;
    }
    // The runs not attempted are as many as the failures that give up a driver, and no run of it was measured.
    let first = rig.execute_with(&mut StopAtOnce(rig.stop.clone())).document;
    assert_eq!(first.state, State::Interrupted);
    assert_eq!(first.cells.iter().map(|cell| cell.runs.len()).collect::<Vec<_>>(), [1, 1, 1, 0]);
    let whole = rig.resume_with(&[], &StopToken::new(), &mut ()).document;
    let measured = runs(&whole, "d/paced/4");
    assert_eq!((whole.state, measured[0].state), (State::Complete, RunState::Valid), "{measured:?}");
}

#[test]
fn maxima_of_a_failing_driver_are_not_attempted() {
    let mut rig = rig("kill any hello", &[share(50.0), share(50.0), share(50.0)]);
    for (cell, size_bytes) in rig.experiment.cells.iter_mut().zip([64, 128, 256]) {
        cell.factors.size_bytes = size_bytes;
    }
    let document = rig.execute();
    let all = || document.max_rates.iter().flat_map(|maximum| &maximum.runs);
    assert_eq!((document.max_rates.len(), all().count()), (3, 9));
    assert_eq!(all().filter(|run| run.took_ns > 0).count(), 3);
    let words = "the first 3 runs of driver `d` at the maximum rate all failed";
    let on_start =
        |run: &&MaxRateRun| run.failure.as_ref().is_some_and(|failure| failure.error.contains(words));
    assert_eq!(all().filter(on_start).count(), 6);
    assert!(document.cells.iter().flat_map(|cell| &cell.runs).all(|run| run.state == RunState::Failed));
}
