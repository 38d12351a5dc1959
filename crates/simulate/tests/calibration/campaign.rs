//! Pairs of results of the simulated middleware, measured one after the other and compared by ranks, without
//! references.

use experiment::{Cell, Design, Plan, ScheduledRun, Workload};
use simulate::{HostModel, RunVariation, Simulator};
use stats::{Comparison, ComparisonData, Conclusion, ReferencedRun, Rules, Run, compare_sides};

use crate::{
    rate::Rate,
    rig::{MS, WINDOWS, cell, design},
};

/// Id of the baseline cell.
const BASELINE: &str = "baseline";
const RULES: Rules = Rules { level: 0.95, margin: 0.02, power: 0.8 };

/// Disturbance of the runs in addition to a coefficient of variation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// No disturbance.
    Quiet,
    /// Each run is 0.5 % slower than the previous one.
    Drift,
    /// Autocorrelation of 0.8 between consecutive runs.
    #[allow(dead_code, reason = "the tests do not have it")]
    Memory,
    /// Groups of runs as published for a flood in a study of the cost of QoS policies.
    Modes,
}

#[allow(dead_code, reason = "the tests name them")]
pub const WORLDS: [World; 4] = [World::Quiet, World::Drift, World::Memory, World::Modes];

impl World {
    fn between(self, sd: f64) -> RunVariation {
        match self {
            Self::Quiet | Self::Modes => RunVariation { sd, ..RunVariation::default() },
            Self::Drift => RunVariation { drift: 0.005, sd, ..RunVariation::default() },
            Self::Memory => RunVariation { sd, autocorrelation: 0.8, ..RunVariation::default() },
        }
    }

    const fn modes(self) -> &'static str {
        match self {
            Self::Modes => "0.57*1+0.15*1.08+0.28*1.45",
            _ => "1",
        }
    }
}

/// Source of pairs: a baseline, and a treatment whose RTT is longer by a true effect.
pub struct Campaign {
    simulator: Simulator,
    experiment: Plan,
    seed: u64,
}

impl Campaign {
    pub fn new(seed: u64, world: World, cv: f64, effect: f64) -> Self {
        let one = |id: &str, latency: String| {
            let options = [("latency", latency.as_str()), ("modes", world.modes())];
            Cell { id: id.to_owned(), ..cell(Workload::Latency, true, 0, &options) }
        };
        // 48 round trips per run: their median scatters by 0.13 %.
        let latency = |factor: f64| format!("lognormal:{}ns,0.01", (20_000.0 * factor).round());
        let cells = vec![one(BASELINE, latency(1.0)), one("treatment", latency(1.0 + effect))];
        let design = Design {
            blocks: 1,
            baseline: vec![BASELINE.to_owned()],
            warm_up_ns: 0,
            windows: WINDOWS,
            ..design(2 * MS)
        };
        let (name, question) = ("simulated".to_owned(), "Is it seen?".to_owned());
        Self {
            simulator: Simulator::on(HostModel { between: world.between(cv), ..HostModel::default() }),
            experiment: Plan { name, question, cells, design, ..Plan::default() },
            seed: seed << 32,
        }
    }

    fn median_rtt(&mut self, scheduled: ScheduledRun) -> Option<Run> {
        let cell = &self.experiment.cells[scheduled.cell];
        let metrics = self.simulator.metrics(cell, &self.experiment.design, scheduled).expect("options");
        metrics.rtt_p50_ns.map(|rtt| Run { value: rtt as f64, steady: true })
    }
}

impl Campaign {
    /// Compares two results of `runs` runs each: first the baseline, then the treatment. The state of the host
    /// continues from the first to the second.
    pub fn two_results(&mut self, runs: u32) -> Comparison {
        self.seed += 1;
        self.experiment.design.seed = self.seed;
        let mut of = |id: &str, from: u32| -> Vec<ReferencedRun> {
            let cell = self.experiment.cells.iter().position(|cell| cell.id == id).expect("a cell");
            let scheduled = (from + 1..=from + runs).map(|number| ScheduledRun {
                number,
                block: number,
                cell,
                twin: false,
                duet: None,
            });
            scheduled.map(|run| self.median_rtt(run).expect("pings enough for a median").into()).collect()
        };
        let sides = ComparisonData::Apart { baseline: of(BASELINE, 0), treatment: of("treatment", runs) };
        compare_sides(&[sides], &RULES).remove(0)
    }
}

/// Rates over many pairs of results.
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
