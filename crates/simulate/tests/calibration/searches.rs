//! Searches for the highest sustained rate of simulated middleware in virtual time: complete runs at planned loads,
//! judged by the rule of the product ([`results::TrialLog`]).

use std::collections::BTreeMap;

use experiment::{Cell, GoalKind, Load, Rate, ScheduledRun, SearchGoal};
use results::{TRIAL_WINDOWS, TrialLog, Windows, stats_goal};
use sim_model::{Config, GroundTruth, Random};
use simulate::{HostModel, RunVariation, Simulator};
use stats::search::{Budget, GoalOutcome, Loads, Search, Trial};

use crate::rig::{MS, design, paced};

/// First seed, fixed before the first result.
const FIRST_SEED: u64 = 9_000;
/// Required share of searches whose bounds contain the known capacity within the goal's width, fixed likewise.
pub const FOUND: f64 = 0.95;
/// Budget that no search reaches.
const AMPLE: Budget = Budget { trials: usize::MAX, duration_ns: u64::MAX };
/// Range of capacities in samples/s, drawn log-uniformly.
const CAPACITY_SPS: (f64, f64) = (1_000.0, 4_000.0);
/// Deadline with Poisson arrivals, as a multiple of the service time: time at the server after which a sample is
/// late.
const DEADLINE_SERVICES: f64 = 10.0;

/// Middleware with a known capacity, and its disturbances.
#[derive(Clone, Copy, Debug)]
pub struct System {
    pub name: &'static str,
    options: &'static [(&'static str, &'static str)],
    reliable: bool,
    between: RunVariation,
    /// Whether samples are sent at random times and have a deadline.
    deadline: bool,
}

const STILL: RunVariation = RunVariation { drift: 0.0, sd: 0.0, autocorrelation: 0.0 };
const BEST_EFFORT: System = System {
    name: "constant service, best effort",
    options: &[("queue", "4"), ("full", "drop")],
    reliable: false,
    between: STILL,
    deadline: false,
};

pub const SYSTEMS: [System; 6] = [
    BEST_EFFORT,
    System {
        name: "constant service, reliable",
        options: &[("queue", "4"), ("loss", "1%")],
        reliable: true,
        ..BEST_EFFORT
    },
    System {
        name: "service jitters by 10 %",
        options: &[("queue", "10"), ("full", "drop"), ("jitter", "0.1")],
        ..BEST_EFFORT
    },
    System {
        name: "3 % of trials in a mode 1.3 times as slow",
        options: &[("queue", "4"), ("full", "drop"), ("modes", "0.97*1+0.03*1.3")],
        ..BEST_EFFORT
    },
    System {
        name: "drift of 0.01 % a trial, and 0.2 % between them",
        between: RunVariation { drift: 1e-4, sd: 0.002, autocorrelation: 0.5 },
        ..BEST_EFFORT
    },
    System {
        name: "Poisson arrivals with a deadline",
        options: &[("queue", "1000")],
        reliable: true,
        deadline: true,
        ..BEST_EFFORT
    },
];

impl System {
    pub fn goals(&self) -> Vec<SearchGoal> {
        let usual = experiment::Search::default().goals;
        if self.deadline {
            // Samples are late in groups: at these loads 5 s cannot verify a share of 0.1 %.
            vec![SearchGoal { aim: GoalKind::Slo, loss_ratio: 0.01, width: 0.05, ..usual[0].clone() }]
        } else {
            usual
        }
    }
}

/// Search on a system with a random capacity.
struct Searched<'s> {
    system: &'s System,
    seed: u64,
    simulator: Simulator,
    cell: Cell,
    /// Service time of a sample in ns.
    service_ns: f64,
    trials: u32,
    /// Windows of send lags and response times by the duration of the trial. Their memory is reused.
    windows: &'s mut BTreeMap<u64, [Windows; 2]>,
}

/// Records the values in windows, as an agent does.
fn record(windows: &mut Windows, values: &[(u64, u64)]) {
    windows.begin(0);
    for &(at_ns, value_ns) in values {
        windows.record(at_ns, value_ns);
    }
}

impl<'s> Searched<'s> {
    fn new(system: &'s System, seed: u64, windows: &'s mut BTreeMap<u64, [Windows; 2]>) -> Self {
        let mut random = Random::new(seed, 0);
        let (low, high) = CAPACITY_SPS;
        let capacity_sps = low * (high / low).powf(random.unit());
        let service_ns = (1e9 / capacity_sps).round();
        let service = format!("{service_ns}ns");
        let mut options = system.options.to_vec();
        options.extend([("service", service.as_str()), ("latency", "50us")]);
        let cell = paced(Load::Max, system.reliable, &options);
        let simulator = Simulator::on(HostModel { between: system.between, ..HostModel::default() });
        Self { system, seed, simulator, cell, service_ns, trials: 0, windows }
    }

    /// Returns the highest load in samples/s that meets a goal according to the model.
    fn truth_sps(&self, goal: &SearchGoal) -> f64 {
        let options = self.cell.factors.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let config = Config::parse(options).expect("options");
        let truth = GroundTruth::new(&config, self.system.reliable, 0.0, 1000, 1.0, 0);
        let capacity = truth.capacity_sps(1).expect("a server");
        if !self.system.deadline {
            return capacity / (1.0 - goal.loss_ratio);
        }
        let longest_wait = (DEADLINE_SERVICES - 1.0) * self.service_ns;
        let late = |sps: f64| {
            let waiting = truth.waiting(sps).expect("below capacity");
            1.0 - waiting.cdf(longest_wait).expect("constant service")
        };
        let (mut kept, mut missed) = (capacity * 0.01, capacity * 0.999);
        for _ in 0..60 {
            let middle = f64::midpoint(kept, missed);
            if late(middle) <= goal.loss_ratio { kept = middle } else { missed = middle }
        }
        kept
    }

    /// Executes a run.
    fn run(&mut self, load: Load, measure_ns: u64) -> simulate::SimulatedMetrics {
        self.trials += 1;
        self.cell.factors.load = Some(load);
        let scheduled = ScheduledRun { number: self.trials, block: 1, cell: 0, twin: false, duet: None };
        let mut design = design(measure_ns);
        // One seed determines all runs of a host; random schedules need a seed each.
        design.seed = if self.system.deadline { self.seed << 16 | u64::from(self.trials) } else { self.seed };
        design.warm_up_ns = 0;
        self.simulator.metrics(&self.cell, &design, scheduled).expect("measured")
    }

    /// Returns the violation ratio of a trial for each goal.
    fn ratios(&mut self, trial: Trial, goals: &[SearchGoal]) -> Vec<f64> {
        let rate = Rate::nearest(trial.load_sps);
        let load = if self.system.deadline { Load::Poisson { rate } } else { Load::Constant { rate } };
        let metrics = self.run(load, trial.duration_ns);
        let values = |kind| self.simulator.series(kind).map_or(&[][..], |series| &series.values[..]);
        let windows = self.windows.entry(trial.duration_ns);
        let [send_lag, response] = windows
            .or_insert_with_key(|duration_ns| [0, 1].map(|_| Windows::new(TRIAL_WINDOWS, *duration_ns)));
        record(send_lag, values("send_lag"));
        if self.system.deadline {
            record(response, values("response"));
        }
        let log = TrialLog {
            duration_ns: trial.duration_ns,
            reliable: self.system.reliable,
            planned: metrics.planned.expect("a paced run"),
            unsent: metrics.unsent.expect("a paced run"),
            delivered: metrics.counted.delivered,
            begin_ns: 0,
            last_ns: values("response").iter().map(|(at_ns, _)| *at_ns).max().unwrap_or(0),
            quickest_ns: values("service").iter().map(|(_, ns)| *ns).min().unwrap_or(0),
            window_ns: send_lag.length_ns(),
            send_lag: send_lag.histograms(),
            response: response.histograms(),
        };
        let deadline_ns = (DEADLINE_SERVICES * self.service_ns + 50_000.0) as u64;
        let judged = log.outcome(self.system.deadline.then_some(deadline_ns)).judge(goals);
        judged.iter().map(|judged| judged.violation_ratio).collect()
    }

    /// Returns the outcome for each goal.
    fn search(&mut self, goals: &[SearchGoal]) -> Vec<GoalOutcome> {
        // A run with back-pressure determines the start rate.
        let most = self.run(Load::Max, 50 * MS).throughput.expect("rates").delivered_sps;
        let loads = Loads { floor_sps: 10.0, ceiling_sps: 1e5, start_sps: most.clamp(10.0, 1e5) };
        let mut search =
            Search::new(goals.iter().map(stats_goal).collect(), loads, AMPLE).expect("goals and loads");
        while let Some(trial) = search.next_trial() {
            let ratios = self.ratios(trial, goals);
            search.record(trial, &ratios).expect("asked for");
        }
        (0..goals.len()).map(|goal| search.outcome(goal)).collect()
    }
}

/// Results of many searches.
pub struct SearchesFound {
    /// Number of searches per goal in which the true load is between the bounds. `within_width`: in which it is at
    /// most the goal's width outside of them.
    pub inside: Vec<u32>,
    pub within_width: Vec<u32>,
    pub mean_trials: f64,
}

/// Executes `searches` searches with different capacities. `tolerance` is the factor from the true capacity to the one
/// compared with.
pub fn searches(system: &System, searches: u32, tolerance: f64) -> SearchesFound {
    let goals = system.goals();
    let mut found =
        SearchesFound { inside: vec![0; goals.len()], within_width: vec![0; goals.len()], mean_trials: 0.0 };
    let mut windows = BTreeMap::new();
    for index in 0..searches {
        let mut searched = Searched::new(system, FIRST_SEED + u64::from(index), &mut windows);
        let outcomes = searched.search(&goals);
        for (at, (goal, outcome)) in goals.iter().zip(outcomes).enumerate() {
            let GoalOutcome::Regular { lower, upper, .. } = outcome else { continue };
            let truth_sps = searched.truth_sps(goal) * tolerance;
            let off = (lower.load_sps / truth_sps - 1.0).max(1.0 - upper.load_sps / truth_sps);
            found.inside[at] += u32::from(off <= 0.0);
            found.within_width[at] += u32::from(off <= goal.width);
        }
        found.mean_trials += f64::from(searched.trials) / f64::from(searches);
    }
    found
}
