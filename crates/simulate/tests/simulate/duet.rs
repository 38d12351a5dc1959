//! Duets: a disturbance of the host affects both runs, and their ratio shows effects that consecutive runs cannot
//! show.

use experiment::{Cell, Design, Pin, Plan, Workload};
use results::{Assembler, Histograms, Metric, ResultDocument, ResultHeader, Run, State, VerdictKind};
use simulate::{HostModel, RunVariation, Simulator};

use crate::rig::{MS, cell, design, experiment_of};

/// Seeds, fixed before the first result.
const SEEDS: std::ops::Range<u64> = 500..520;
const BLOCKS: u32 = 12;
const EXPERIMENTS: u64 = SEEDS.end - SEEDS.start;
/// Runs of a noisy host: their level scatters by 10 %.
const BETWEEN: RunVariation = RunVariation { drift: 0.0, sd: 0.1, autocorrelation: 0.0 };
/// Factor of all times on the second half of the cores, where it differs.
const OTHER_HALF: f64 = 1.03;
const BASELINE: &str = "baseline";

/// Returns an experiment with a baseline and a cell whose RTT is longer by `effect`. The median of a run scatters by
/// about 0.5 %.
fn experiment(seed: u64, duet: bool, effect: f64) -> Plan {
    let one = |id: &str, factor: f64| {
        let latency = format!("lognormal:{}ns,0.03", (20_000.0 * factor).round());
        let mut cell = cell(Workload::Latency, true, 0, &[("latency", &latency)]);
        cell.factors.profile = Some(id.to_owned());
        Cell { id: id.to_owned(), ..cell }
    };
    let design = Design {
        blocks: BLOCKS,
        seed: seed << 32,
        baseline: vec![BASELINE.to_owned()],
        duet,
        pin: Pin::Cores(vec![0, 1], vec![2, 3]),
        warm_up_ns: 0,
        windows: 4,
        ..design(2 * MS)
    };
    experiment_of(vec![one(BASELINE, 1.0), one("treatment", 1.0 + effect)], design)
}

fn measured(experiment: &Plan, other_half: f64) -> ResultDocument {
    let mut simulator = Simulator::on(HostModel { between: BETWEEN, other_half, ..HostModel::default() });
    simulator.experiment(experiment).expect("options")
}

/// Returns the same result with changed runs.
fn changed(document: &ResultDocument, change: impl Fn(&mut Run)) -> ResultDocument {
    let ResultDocument { tool, hosts, experiment, drivers, .. } = document.clone();
    let mut assembler = Assembler::new(ResultHeader::new(tool, hosts, experiment, drivers, Vec::new()));
    for run in document.cells.iter().flat_map(|cell| &cell.runs) {
        let mut run = run.clone();
        change(&mut run);
        assembler.add(run, &Histograms::new());
    }
    assembler.document(State::Complete)
}

/// Returns whether the median RTT is claimed to differ, between the two cells or between the baseline and itself.
fn differs(document: &ResultDocument, kind: VerdictKind) -> bool {
    let verdicts = verdicts::judge(document);
    let mut of = verdicts.iter().filter(|verdict| verdict.kind == kind && verdict.metric == Metric::RttP50);
    let (Some(verdict), None) = (of.next(), of.next()) else { panic!("{verdicts:?}") };
    let answer = verdict.answer.as_ref().unwrap_or_else(|| panic!("{}", verdict.text));
    assert_eq!((answer.n, answer.incomplete), (BLOCKS, 0), "{}", verdict.text);
    answer.conclusion.differs()
}

/// Returns the number of experiments in which the median RTT is claimed to differ.
fn count(kind: VerdictKind, document: impl Fn(u64) -> ResultDocument) -> usize {
    SEEDS.filter(|seed| differs(&document(*seed), kind)).count()
}

#[test]
fn an_effect_that_runs_one_after_the_other_cannot_show_is_found_in_duets() {
    let found = |duet| count(VerdictKind::Comparison, |seed| measured(&experiment(seed, duet, 0.02), 1.0));
    let (duets, alone) = (found(true), found(false));
    println!("of {EXPERIMENTS} experiments a true 2 % is found in {duets} in duets, in {alone} without");
    assert!(duets >= 18 && alone <= 4, "{duets}, {alone}");
}

/// Also holds with different halves of the cores: they are swapped, which adds scatter but no effect.
#[test]
fn no_effect_is_rarely_called_a_difference() {
    for other_half in [1.0, OTHER_HALF] {
        let documents: Vec<ResultDocument> =
            SEEDS.map(|seed| measured(&experiment(seed, true, 0.0), other_half)).collect();
        for kind in [VerdictKind::Comparison, VerdictKind::NoiseFloor] {
            let wrong = documents.iter().filter(|document| differs(document, kind)).count();
            println!("{kind:?}, {other_half}: nothing differs, {wrong} of {EXPERIMENTS} say so");
            // With a true rate of 5 %, 5 or more of 20 occur about 3 times in 1,000.
            assert!(wrong <= 4, "{kind:?}, {other_half}: {wrong}");
        }
    }
}

/// The pairing alone gives the power: with the partners of another block it is lost.
#[test]
fn pairs_that_are_scrambled_lose_it() {
    let scrambled = |seed: u64| {
        let document = measured(&experiment(seed, true, 0.02), 1.0);
        let treated = || document.cells[1].runs.iter();
        let mut beside: Vec<u32> = treated().filter_map(|run| Some(run.duet.as_ref()?.partner)).collect();
        beside.rotate_left(1);
        let pairs: Vec<(u32, u32)> = treated().map(|run| run.number).zip(beside).collect();
        changed(&document, |run| {
            let partner = pairs.iter().find_map(|&(one, other)| match run.number {
                number if number == one => Some(other),
                number if number == other => Some(one),
                _ => None,
            });
            if let (Some(partner), Some(duet)) = (partner, &mut run.duet) {
                duet.partner = partner;
            }
        })
    };
    let found = count(VerdictKind::Comparison, scrambled);
    println!("with scrambled pairs it is found in {found} of {EXPERIMENTS}");
    assert!(found <= 4, "{found}");
}

/// Halves that are not swapped are taken for an effect.
#[test]
fn halves_that_stay_are_caught() {
    let stays = |seed: u64| {
        let document = measured(&experiment(seed, true, 0.0), OTHER_HALF);
        let schedule = document.experiment.schedule();
        let second = |number: u32| {
            let run = schedule.iter().find(|run| run.number == number);
            run.and_then(|run| run.duet).expect("a duet").half == 1
        };
        // Emulates all runs of the treatment, and none of the baseline, on the second half.
        changed(&document, |run| {
            let factor = match (second(run.number), run.cell != BASELINE) {
                (true, false) => 1.0 / OTHER_HALF,
                (false, true) => OTHER_HALF,
                _ => 1.0,
            };
            let rtt = run.latency.get_mut("rtt").expect("a round trip");
            rtt.p50_ns = rtt.p50_ns.map(|ns| (ns as f64 * factor) as u64);
        })
    };
    let wrong = count(VerdictKind::Comparison, stays);
    println!("with halves that stay, {wrong} of {EXPERIMENTS} say that it differs");
    assert!(wrong >= 18, "{wrong}");
}
