//! Campaigns through the code of the product: plan of a file, number of blocks, schedule, result, verdicts. Only the
//! metrics of the runs are drawn: each run is a copy of one simulated run with scaled metrics.

use std::collections::BTreeMap;

use experiment::{DriverDescription, Pin, Plan, PlanInputs, ScheduledRun, Source};
use results::{
    Assembler, Conclusion, Histograms, HostRecord, ResultDocument, ResultHeader, Run, State, Tool, Verdict,
    VerdictKind, comparison_claims, least_blocks,
};
use simulate::{Simulator, describe};
use stopping_rule::NextBlock;

use crate::{
    rate::Rate,
    worlds::{Rig, World},
};

/// Seeds, fixed before the first result.
pub const SEEDS: [u64; 3] = [41, 1908, 777];
/// True relative effect, where the treatment has one.
pub const EFFECT: f64 = 0.02;
const BASELINE: &str = "base";
const TREATMENT: &str = "other";

/// Families of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Goodput of one size.
    One,
    /// p50 and RTT p99 of one size, goodput of two.
    Four,
    /// p50 and RTT p99 of 13 sizes, goodput of 12.
    ThirtyEight,
    /// p50 and RTT p99 of seven identical copies of the baseline.
    Copies,
}

#[allow(dead_code, reason = "the tests name them")]
pub const FAMILIES: [Family; 3] = [Family::One, Family::Four, Family::ThirtyEight];

impl Family {
    pub const fn claims(self) -> usize {
        match self {
            Self::One => 1,
            Self::Four => 4,
            Self::ThirtyEight => 38,
            Self::Copies => 14,
        }
    }

    /// Returns the compared drivers.
    fn treatments(self) -> Vec<String> {
        match self {
            Self::Copies => (1..=7).map(|copy| format!("copy-{copy}")).collect(),
            _ => vec![TREATMENT.to_owned()],
        }
    }

    fn factors(self) -> String {
        let list = |sizes: &[String]| sizes.join(", ");
        let sizes = |n: usize| (0..n).map(|i| (64 + 16 * i).to_string()).collect::<Vec<_>>();
        match self {
            Self::One => "workload = \"throughput\"\nfactors.size = 64\n".to_owned(),
            Self::Copies => "workload = \"latency\"\nfactors.size = 64\n".to_owned(),
            Self::Four => "workload = [\"latency\", \"throughput\"]\nfactors.size = [64, 1024]\n\
                           factors.exclude = [{ workload = \"latency\", size = 1024 }]\n"
                .to_owned(),
            Self::ThirtyEight => format!(
                "workload = [\"latency\", \"throughput\"]\nfactors.size = [{}]\n\
                 factors.exclude = [{{ workload = \"throughput\", size = 64 }}]\n",
                list(&sizes(13))
            ),
        }
    }
}

/// True effects of the claims, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effects {
    /// The same effect everywhere.
    All(f64),
    /// No effect in one half of the compared cells, the margin of equivalence in the other.
    NoneAndMargin,
    /// An effect in these compared cells, none in the others.
    Planted(f64, &'static [usize]),
}

impl Effects {
    /// Returns the true effect of the compared cell with this index.
    fn of(self, cell: usize) -> f64 {
        match self {
            Self::All(effect) => effect,
            Self::Planted(effect, cells) if cells.contains(&cell) => effect,
            Self::Planted(..) => 0.0,
            Self::NoneAndMargin => {
                if cell.is_multiple_of(2) {
                    0.0
                } else {
                    EFFECT
                }
            }
        }
    }
}

/// Rule for the number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Default of the planner.
    Default,
    /// `precision = "2%"`.
    Precise,
}

/// Source of experiments.
pub struct Campaign {
    rig: Rig,
    cv: f64,
    experiment: Plan,
    descriptions: BTreeMap<String, DriverDescription>,
    hosts: Vec<HostRecord>,
    /// Template runs by workload.
    templates: BTreeMap<&'static str, Run>,
    effects: Effects,
    in_one_order: bool,
}

/// Outcome of an experiment.
pub struct Ended {
    pub verdicts: Vec<Verdict>,
    /// True effects by compared cell.
    pub effects: BTreeMap<String, f64>,
    pub blocks: u32,
}

fn descriptions(drivers: &[String]) -> BTreeMap<String, DriverDescription> {
    drivers.iter().map(|name| (name.clone(), describe(name, false))).collect()
}

/// Returns the plan of an experiment file, as `ddsmark run` makes it.
pub fn planned(text: &str, descriptions: &BTreeMap<String, DriverDescription>) -> Plan {
    let source = Source { path: "campaign".to_owned(), text: text.to_owned(), sets: Vec::new() };
    let inputs = PlanInputs {
        name: "campaign",
        descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin: Pin::None,
        hosts: &[],
        seed: 1,
        least_blocks: &least_blocks,
    };
    let characterize = source.read().unwrap_or_else(|fault| panic!("{fault:?}"));
    characterize.plan(&inputs).unwrap_or_else(|error| panic!("{error:?}"))
}

impl Campaign {
    pub fn new(seed: u64, world: World, cv: f64, family: Family, effects: Effects, design: Design) -> Self {
        let precision = match design {
            Design::Default => "",
            Design::Precise => "precision = \"2%\"\nbudget = \"10000h\"\n",
        };
        let mut drivers = vec![BASELINE.to_owned()];
        drivers.extend(family.treatments());
        let descriptions = descriptions(&drivers);
        let text = format!(
            "question = \"?\"\n{}factors.driver = {drivers:?}\n[design]\nwarm_up = \"0s\"\n\
             measure = \"20ms\"\nbaseline = {{ driver = \"{BASELINE}\" }}\n{precision}",
            family.factors()
        );
        let experiment = planned(&text, &descriptions);
        assert_eq!(comparison_claims(&experiment).len(), family.claims());
        assert!(experiment.notes.is_empty(), "{:?}", experiment.notes);
        let mut simulator = Simulator::new();
        let mut templates = BTreeMap::new();
        for cell in &experiment.cells {
            let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
            templates.entry(cell.factors.workload.name()).or_insert_with(|| {
                simulator.run(cell, &experiment.design, scheduled).expect("options of the simulation").run
            });
        }
        let mut one = experiment.clone();
        one.cells.truncate(1);
        one.design.baseline.clear();
        (one.design.precision, one.design.blocks) = (None, 1);
        let hosts = simulator.experiment(&one).expect("options of the simulation").hosts;
        let rig = Rig::new(seed, world, cv);
        Self { rig, cv, experiment, descriptions, hosts, templates, effects, in_one_order: false }
    }

    /// Returns the campaign with a wrong design: the same order in every block.
    #[allow(dead_code, reason = "the tables do not show it")]
    pub fn in_one_order(self) -> Self {
        Self { in_one_order: true, ..self }
    }

    fn run(&mut self, scheduled: ScheduledRun, effect: f64) -> Run {
        let cell = &self.experiment.cells[scheduled.cell];
        let template = &self.templates[cell.factors.workload.name()];
        let factor = self.rig.run() / 100.0 * (1.0 + effect);
        // The tail of a run has scatter of its own.
        let tail = (self.cv * self.rig.normal()).exp();
        let mut run = Run {
            number: scheduled.number,
            block: scheduled.block,
            twin: scheduled.twin,
            cell: cell.id.clone(),
            steady_state: BTreeMap::new(),
            ..template.clone()
        };
        if let Some(rtt) = run.latency.get_mut("rtt") {
            // Large enough that rounding to ns has no effect.
            let ns = |factor: f64| Some((1e8 * factor).round() as u64);
            (rtt.p50_ns, rtt.p99_ns) = (ns(factor), ns(3.0 * factor * tail));
        }
        if let Some(throughput) = run.throughput_mut() {
            throughput.goodput_mbps = 100.0 * factor;
        }
        run
    }

    /// Executes the next experiment, from its plan to its verdicts.
    pub fn experiment(&mut self) -> Ended {
        self.experiment.design.seed += 1;
        let experiment = self.experiment.clone();
        let treated = experiment.cells.iter().filter(|cell| cell.factors.driver != BASELINE);
        let effects: BTreeMap<String, f64> =
            treated.enumerate().map(|(place, cell)| (cell.id.clone(), self.effects.of(place))).collect();
        let tool = Tool { name: "campaign".to_owned(), version: "0".to_owned(), command_line: Vec::new() };
        let header = ResultHeader::new(
            tool,
            self.hosts.clone(),
            experiment.clone(),
            self.descriptions.clone(),
            Vec::new(),
        );
        let mut assembler = Assembler::new(header);
        let mut log = stopping_rule::begin(&experiment);
        let schedule = experiment.schedule();
        loop {
            if stopping_rule::is_due(&experiment, &log) {
                stopping_rule::decide(&experiment, &mut log, |cell| assembler.runs_of(cell));
            }
            let NextBlock::Block { number, repeats, mut runs } =
                stopping_rule::next(&experiment, &schedule, &log)
            else {
                break;
            };
            if self.in_one_order {
                runs.sort_by_key(|run| (run.twin, run.cell));
            }
            for &scheduled in &runs {
                let effect = effects.get(&experiment.cells[scheduled.cell].id).copied().unwrap_or_default();
                assembler.add(self.run(scheduled, effect), &Histograms::new());
            }
            stopping_rule::add_quiet(&mut log, number, repeats, &runs, experiment.expected_block_ns());
        }
        let blocks = log.allocation.made;
        assembler.set_log(log);
        let document: ResultDocument = assembler.document(State::Complete);
        Ended { verdicts: verdicts::judge(&document), effects, blocks }
    }
}

/// Rates over many experiments.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Any false claim in the family: a difference without an effect, in the wrong direction, or equivalence beyond
    /// the margin.
    pub any_false: Rate,
    /// Baseline claimed to differ from itself.
    pub floor_false: Rate,
    /// Coverage of the interval of one claim, a different one in each experiment.
    pub covers: Rate,
    /// Difference found by that claim.
    pub found: Rate,
    /// Any comparison without enough blocks.
    pub too_few: Rate,
    pub mean_blocks: f64,
}

pub fn tally(mut campaign: Campaign, experiments: u32) -> Tally {
    let (mut any, mut floor, mut covered, mut found, mut too_few, mut blocks) = (0, 0, 0, 0, 0, 0);
    for experiment in 0..experiments {
        let ended = campaign.experiment();
        let of = |kind| ended.verdicts.iter().filter(move |verdict| verdict.kind == kind);
        let claims: Vec<&Verdict> = of(VerdictKind::Comparison).collect();
        let conclusion = |verdict: &Verdict| verdict.answer.as_ref().expect("an answer").conclusion.clone();
        any += u32::from(
            claims.iter().any(|claim| is_false(&conclusion(claim), ended.effects[&claim.treatment.cell])),
        );
        floor += u32::from(of(VerdictKind::NoiseFloor).any(|floor| conclusion(floor).differs()));
        let is_too_few = |verdict: &&Verdict| matches!(conclusion(verdict), Conclusion::TooFew { .. });
        too_few += u32::from(claims.iter().any(is_too_few));
        let one = claims[experiment as usize % claims.len()];
        let answer = one.answer.as_ref().expect("an answer");
        let truth = 100.0 * ended.effects[&one.treatment.cell];
        let (low, high) = answer.low_pct.zip(answer.high_pct).expect("an interval");
        covered += u32::from((low..=high).contains(&truth));
        found += u32::from(answer.conclusion.differs());
        blocks += ended.blocks;
    }
    let rate = |times| Rate { times, of: experiments };
    Tally {
        any_false: rate(any),
        floor_false: rate(floor),
        covers: rate(covered),
        found: rate(found),
        too_few: rate(too_few),
        mean_blocks: f64::from(blocks) / f64::from(experiments),
    }
}

/// Rates over many experiments with a cost planted in one of several copies.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// The copy with this index is claimed to be slower.
    pub found: Rate,
    /// Any other copy is claimed to differ.
    pub other: Rate,
}

/// Counts how often a planted cost is found, and how often another copy is.
pub fn planted(mut campaign: Campaign, planted: usize, experiments: u32) -> Planted {
    let (mut found, mut other) = (0, 0);
    for _ in 0..experiments {
        let ended = campaign.experiment();
        let slowed = format!("copy-{}/", planted + 1);
        let claims = ended.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison);
        let differing: Vec<&Verdict> =
            claims.filter(|claim| claim.answer.as_ref().expect("an answer").conclusion.differs()).collect();
        let is_planted = |claim: &&&Verdict| claim.treatment.cell.starts_with(&slowed);
        let is_higher = |claim: &Verdict| {
            matches!(claim.answer.as_ref().expect("an answer").conclusion, Conclusion::Higher { .. })
        };
        found += u32::from(differing.iter().filter(is_planted).any(|claim| is_higher(claim)));
        other += u32::from(differing.iter().any(|claim| !is_planted(&claim)));
    }
    let rate = |times| Rate { times, of: experiments };
    Planted { found: rate(found), other: rate(other) }
}

fn is_false(conclusion: &Conclusion, effect: f64) -> bool {
    match conclusion {
        Conclusion::Higher { within_margin, .. } => effect <= 0.0 || (*within_margin && effect >= EFFECT),
        Conclusion::Lower { within_margin, .. } => effect >= 0.0 || (*within_margin && -effect >= EFFECT),
        Conclusion::Equivalent { .. } => effect.abs() >= EFFECT,
        Conclusion::Inconclusive { .. } | Conclusion::TooFew { .. } => false,
    }
}
