//! Searches for the highest sustainable load of simulated middleware, in virtual time, as they are made of a real one: whole runs
//! at planned loads, judged by the rule of the product ([`results::TrialLog`]).

use std::collections::BTreeMap;

use experiment::{Aim, Cell, Load, Rate, ScheduledRun, SearchGoal};
use results::{TRIAL_WINDOWS, TrialLog, Windows, stats_goal};
use sim_model::{Config, Random, Truth};
use simulate::{Between, Lab, Machine};
use stats::search::{Budget, Loads, Outcome, Search, Trial};

use crate::rig::{MS, design, paced};

/// Fixed before any rate was read.
const FIRST_SEED: u64 = 9_000;
/// How often the known capacity is to lie within the goal's width of what a search found; the same.
pub const FOUND: f64 = 0.95;
/// No limit that a search reaches.
const AMPLE: Budget = Budget { trials: usize::MAX, duration_ns: u64::MAX };
/// Capacities are drawn between these, their logarithms evenly.
const CAPACITY_SPS: (f64, f64) = (1_000.0, 4_000.0);
/// Of an open loop with Poisson arrivals: a sample at the server for longer than so many service times is late.
const DEADLINE_SERVICES: f64 = 10.0;

/// A middleware whose capacity is known, and what disturbs it.
#[derive(Clone, Copy, Debug)]
pub struct System {
    pub name: &'static str,
    options: &'static [(&'static str, &'static str)],
    reliable: bool,
    between: Between,
    /// Samples leave at random times, and have a deadline.
    deadline: bool,
}

const STILL: Between = Between { drift: 0.0, sd: 0.0, autocorrelation: 0.0 };
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
        between: Between { drift: 1e-4, sd: 0.002, autocorrelation: 0.5 },
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
            // samples are late in groups: of these loads 5 s do not tell a share of one in a thousand
            vec![SearchGoal { aim: Aim::Slo, loss_ratio: 0.01, width: 0.05, ..usual[0].clone() }]
        } else {
            usual
        }
    }
}

/// One search on a system of some capacity.
struct Searched<'s> {
    system: &'s System,
    seed: u64,
    lab: Lab,
    cell: Cell,
    /// Time of the server.
    service_ns: f64,
    trials: u32,
    /// Send lags and responses, by the duration of the trial. Their memory is used again.
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
        let lab = Lab::on(Machine { between: system.between, ..Machine::default() });
        Self { system, seed, lab, cell, service_ns, trials: 0, windows }
    }

    /// The highest load that keeps a goal, as the model has it.
    fn truth_sps(&self, goal: &SearchGoal) -> f64 {
        let options = self.cell.factors.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let config = Config::parse(options).expect("options");
        let truth = Truth::new(&config, self.system.reliable, 0.0, 1000, 1.0, 0);
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

    /// A run of its own.
    fn run(&mut self, load: Load, measure_ns: u64) -> simulate::Figures {
        self.trials += 1;
        self.cell.factors.load = Some(load);
        let scheduled = ScheduledRun { number: self.trials, block: 1, cell: 0, twin: false, duet: None };
        let mut design = design(measure_ns);
        // one seed makes all runs of a host; where plans are drawn, each has its own
        design.seed = if self.system.deadline { self.seed << 16 | u64::from(self.trials) } else { self.seed };
        design.warm_up_ns = 0;
        self.lab.figures(&self.cell, &design, scheduled).expect("measured")
    }

    /// The violation ratio of a trial, for each goal.
    fn ratios(&mut self, trial: Trial, goals: &[SearchGoal]) -> Vec<f64> {
        let rate = Rate::nearest(trial.load_sps);
        let load = if self.system.deadline { Load::Poisson { rate } } else { Load::Constant { rate } };
        let figures = self.run(load, trial.duration_ns);
        let values = |kind| self.lab.series(kind).map_or(&[][..], |series| series.values());
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
            planned: figures.planned.expect("an open loop"),
            unsent: figures.unsent.expect("an open loop"),
            delivered: figures.counted.delivered,
            begin_ns: 0,
            last_ns: values("response").iter().map(|(at_ns, _)| *at_ns).max().unwrap_or(0),
            quickest_ns: values("service").iter().map(|(_, ns)| *ns).min().unwrap_or(0),
            window_ns: send_lag.length_ns(),
            send_lag: send_lag.histograms(),
            response: response.histograms(),
        };
        let deadline_ns = (DEADLINE_SERVICES * self.service_ns + 50_000.0) as u64;
        let judged = log.shown(self.system.deadline.then_some(deadline_ns)).judge(goals);
        judged.iter().map(|judged| judged.violation_ratio).collect()
    }

    /// What was found for each goal.
    fn search(&mut self, goals: &[SearchGoal]) -> Vec<Outcome> {
        // a run with back-pressure tells where to begin
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

/// What many searches found.
pub struct Found {
    /// For each goal: searches in which the true load lies between the bounds, and in which it lies no farther outside of them
    /// than the goal's width.
    pub inside: Vec<u32>,
    pub within_width: Vec<u32>,
    pub mean_trials: f64,
}

/// So many searches, each on a capacity of its own. `told`: what the truth is said to be, of what it is.
pub fn searches(system: &System, searches: u32, told: f64) -> Found {
    let goals = system.goals();
    let mut found =
        Found { inside: vec![0; goals.len()], within_width: vec![0; goals.len()], mean_trials: 0.0 };
    let mut windows = BTreeMap::new();
    for index in 0..searches {
        let mut searched = Searched::new(system, FIRST_SEED + u64::from(index), &mut windows);
        let outcomes = searched.search(&goals);
        for (at, (goal, outcome)) in goals.iter().zip(outcomes).enumerate() {
            let Outcome::Regular { lower, upper, .. } = outcome else { continue };
            let truth_sps = searched.truth_sps(goal) * told;
            let off = (lower.load_sps / truth_sps - 1.0).max(1.0 - upper.load_sps / truth_sps);
            found.inside[at] += u32::from(off <= 0.0);
            found.within_width[at] += u32::from(off <= goal.width);
        }
        found.mean_trials += f64::from(searched.trials) / f64::from(searches);
    }
    found
}
