//! Whole experiments on the simulated middleware: schedule, runs, pilot, plan, comparison, as they are made of real ones.

use experiment::{Cell, Design, Experiment, Limits, ScheduledRun, Workload};
use simulate::{Between, Lab, Machine};
use stats::{
    Block, Comparison, Conclusion, Goal, PILOT_BLOCKS, Rules, Run, Sides, compare, compare_sides, log_ratios,
    plan_blocks,
};

use crate::{
    rate::Rate,
    rig::{MS, cell, design},
};

/// Fixed before any rate was read.
pub const SEEDS: [u64; 3] = [41, 1908, 777];
/// The most blocks that an experiment has.
pub const MOST_BLOCKS: u32 = 40;
/// True, relative, where the treatment does something.
pub const EFFECT: f64 = 0.02;
/// What the other side is called in the design.
const BASELINE: &str = "baseline";
const RULES: Rules = Rules { level: 0.95, margin: 0.02, power: 0.8, resamples: 0, seed: 0, modes: false };

/// What disturbs the runs beside a between-run CV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// Nothing.
    Quiet,
    /// Each run is 0.5 % slower than the one before.
    Drift,
    /// Runs keep 0.8 of how far the last one was off.
    Memory,
    /// Runs fall into the groups of a flood that was published with a study of what QoS policies cost.
    Modes,
}

pub const WORLDS: [World; 4] = [World::Quiet, World::Drift, World::Memory, World::Modes];

impl World {
    fn between(self, sd: f64) -> Between {
        match self {
            Self::Quiet | Self::Modes => Between { sd, ..Between::default() },
            Self::Drift => Between { drift: 0.005, sd, ..Between::default() },
            Self::Memory => Between { sd, autocorrelation: 0.8, ..Between::default() },
        }
    }

    const fn modes(self) -> &'static str {
        match self {
            Self::Modes => "0.57*1+0.15*1.08+0.28*1.45",
            _ => "1",
        }
    }
}

/// One experiment after the other: a baseline, and a treatment whose round trips take longer by a true effect.
pub struct Campaign {
    lab: Lab,
    experiment: Experiment,
    seed: u64,
    /// The wrong design: baseline, treatment, baseline again in every block.
    in_one_order: bool,
}

/// What came of an experiment.
pub struct Ended {
    /// Treatment against baseline.
    pub comparison: Comparison,
    /// The second run of the baseline against the first.
    pub twin: Comparison,
}

impl Campaign {
    pub fn new(seed: u64, world: World, cv: f64, effect: f64) -> Self {
        let one = |id: &str, latency: String| {
            let options = [("latency", latency.as_str()), ("modes", world.modes())];
            Cell { id: id.to_owned(), ..cell(Workload::Latency, true, 0, &options) }
        };
        // 48 round trips a run: their median scatters by 0.13 %
        let latency = |factor: f64| format!("lognormal:{}ns,0.01", (20_000.0 * factor).round());
        let cells = vec![one(BASELINE, latency(1.0)), one("treatment", latency(1.0 + effect))];
        let design = Design {
            blocks: MOST_BLOCKS,
            baseline: vec![BASELINE.to_owned()],
            warm_up_ns: 0,
            ..design(2 * MS)
        };
        let (name, question) = ("simulated".to_owned(), "Is it seen?".to_owned());
        Self {
            lab: Lab::on(Machine { between: world.between(cv), ..Machine::default() }),
            experiment: Experiment {
                name,
                question,
                cells,
                design,
                limits: Limits::default(),
                search: None,
                notes: Vec::new(),
            },
            seed: seed << 32,
            in_one_order: false,
        }
    }

    #[allow(dead_code, reason = "the table does not show it")]
    pub fn in_one_order(self) -> Self {
        Self { in_one_order: true, ..self }
    }

    fn median_rtt(&mut self, scheduled: ScheduledRun) -> Option<Run> {
        let cell = &self.experiment.cells[scheduled.cell];
        let figures = self.lab.figures(cell, &self.experiment.design, scheduled).expect("options");
        figures.rtt_p50_ns.map(|rtt| Run { figure: rtt as f64, steady: true })
    }

    /// The next experiment: a pilot, as many blocks as it says, and one comparison when they are made.
    pub fn experiment(&mut self) -> Ended {
        self.seed += 1;
        self.experiment.design.seed = self.seed;
        let mut schedule = self.experiment.schedule();
        if self.in_one_order {
            schedule.sort_by_key(|run| (run.block, run.twin, run.cell));
            for (number, run) in (1..).zip(&mut schedule) {
                run.number = number;
            }
        }
        let none = Block { treatment: None, baseline: None };
        let (mut treated, mut twins) = (Vec::new(), Vec::new());
        let mut blocks = PILOT_BLOCKS;
        for of_block in schedule.chunk_by(|a, b| a.block == b.block) {
            if treated.len() == PILOT_BLOCKS {
                // what decides is the comparison that is asked about
                let pilot = [log_ratios(&treated)];
                blocks = plan_blocks(&pilot, &Goal::default(), MOST_BLOCKS as usize).expect("a pilot").blocks;
            }
            if treated.len() >= blocks {
                break;
            }
            let (mut treatment, mut twin) = (none, none);
            for &run in of_block {
                let figure = self.median_rtt(run);
                match (self.experiment.cells[run.cell].id == BASELINE, run.twin) {
                    (true, true) => twin.treatment = figure,
                    (true, false) => (treatment.baseline, twin.baseline) = (figure, figure),
                    (false, _) => treatment.treatment = figure,
                }
            }
            treated.push(treatment);
            twins.push(twin);
        }
        let judged = |blocks: Vec<Block>| {
            let comparison = compare(&[blocks], &RULES).remove(0);
            assert_eq!(comparison.incomplete, 0, "a run without a median: nothing was tested");
            comparison
        };
        Ended { comparison: judged(treated), twin: judged(twins) }
    }
}

impl Campaign {
    /// Two results of so many runs, one made after the other: the baseline, then the treatment. What the host does goes on
    /// from one to the other.
    pub fn two_results(&mut self, runs: u32) -> Comparison {
        self.seed += 1;
        self.experiment.design.seed = self.seed;
        let mut of = |id: &str, from: u32| -> Vec<Run> {
            let cell = self.experiment.cells.iter().position(|cell| cell.id == id).expect("a cell");
            let scheduled = (from + 1..=from + runs).map(|number| ScheduledRun {
                number,
                block: number,
                cell,
                twin: false,
                duet: None,
            });
            scheduled.map(|run| self.median_rtt(run).expect("pings enough for a median")).collect()
        };
        let sides = Sides::Apart { baseline: of(BASELINE, 0), treatment: of("treatment", runs) };
        compare_sides(&[sides], &RULES).remove(0)
    }
}

/// What happened in many pairs of results.
pub struct ApartTally {
    pub differs: Rate,
    pub covers: Rate,
}

pub fn tally_apart(mut campaign: Campaign, effect: f64, runs: u32, pairs: u32) -> ApartTally {
    let mut covered = 0;
    let differs = Rate::of(pairs, || {
        let comparison = campaign.two_results(runs);
        let interval = comparison.change.as_ref().and_then(|change| change.interval).expect("four or more");
        covered += u32::from(interval.covers(effect));
        matches!(comparison.conclusion, Conclusion::Differs { .. })
    });
    ApartTally { differs, covers: Rate { times: covered, of: pairs } }
}

/// What happened in many experiments.
pub struct Tally {
    pub differs: Rate,
    pub twin_differs: Rate,
    pub covers: Rate,
    pub mean_blocks: f64,
    /// It had as many blocks as there may be.
    #[allow(dead_code, reason = "the tests do not ask")]
    pub most_blocks: Rate,
}

pub fn tally(mut campaign: Campaign, effect: f64, experiments: u32) -> Tally {
    let (mut twins, mut covered, mut blocks, mut most) = (0, 0, 0, 0);
    let differs = |comparison: &Comparison| matches!(comparison.conclusion, Conclusion::Differs { .. });
    let found = Rate::of(experiments, || {
        let Ended { comparison, twin } = campaign.experiment();
        let interval = comparison.change.as_ref().and_then(|change| change.interval).expect("six or more");
        covered += u32::from(interval.covers(effect));
        twins += u32::from(differs(&twin));
        blocks += comparison.blocks;
        most += u32::from(comparison.blocks == MOST_BLOCKS as usize);
        differs(&comparison)
    });
    let rate = |times| Rate { times, of: experiments };
    Tally {
        differs: found,
        twin_differs: rate(twins),
        covers: rate(covered),
        mean_blocks: blocks as f64 / f64::from(experiments),
        most_blocks: rate(most),
    }
}
