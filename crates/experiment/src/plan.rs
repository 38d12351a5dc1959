//! An experiment as meant: cells, design and limits, and the order of its runs.

use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Factors;

/// The smallest sample: the 16-byte header alone.
pub const MIN_SIZE_BYTES: u64 = 16;

/// An experiment as meant. It decides everything about its runs; nothing is looked up later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Its name: `characterize`, or that of a file or recipe.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// Every combination of factors that is measured.
    pub cells: Vec<Cell>,
    /// How often, how long, in which order.
    pub design: Design,
    /// How long each phase may take at most.
    pub limits: Limits,
    /// What the planner changed or left out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One combination of factors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Unique within the experiment; letters, digits, `-`, `/` and `.`.
    pub id: String,
    /// The factors.
    pub factors: Factors,
}

/// How often, how long, in which order, under which conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Runs of each cell: passes over all cells, each in random order.
    pub blocks: u32,
    /// Seed of that order and of the payload.
    pub seed: u64,
    /// Time before measuring, with the same traffic.
    pub warm_up_ns: u64,
    /// Time of measuring.
    pub measure_ns: u64,
    /// Windows that the measured time is cut into, each with histograms of its own.
    pub windows: u32,
    /// Every byte of one in so many samples is checked at the reader; of the others the header.
    pub check_every: u32,
    /// Which cores the two ends run on.
    pub pin: Pin,
    /// Whether a spinner of the lowest priority keeps each core from idling.
    pub keep_awake: bool,
}

/// Which cores the agents of a run may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// The scheduler decides.
    None,
    /// Writer (or pinger) on the first of these, reader (or ponger) on the second.
    Cores(Vec<u32>, Vec<u32>),
}

/// Time limits of the phases. A phase that takes longer fails the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// From spawn to hello.
    pub hello_ns: u64,
    /// Opening the entities.
    pub configure_ns: u64,
    /// Until both ends are matched.
    pub match_ns: u64,
    /// What a phase of traffic may take beyond its planned time.
    pub grace_ns: u64,
    /// From the last write until the reader gives up waiting.
    pub drain_ns: u64,
    /// Handing over what was recorded.
    pub report_ns: u64,
    /// From `exit` until the process is killed.
    pub exit_ns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            hello_ns: 10 * SECOND,
            configure_ns: 20 * SECOND,
            match_ns: 10 * SECOND,
            grace_ns: 10 * SECOND,
            drain_ns: 5 * SECOND,
            report_ns: 30 * SECOND,
            exit_ns: 5 * SECOND,
        }
    }
}

/// One run of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledRun {
    /// Its number, from 1, in the order of execution.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// Index into [`Experiment::cells`].
    pub cell: usize,
}

impl Experiment {
    /// The runs in order: randomised complete blocks, the same for the same seed.
    #[must_use]
    pub fn schedule(&self) -> Vec<ScheduledRun> {
        let mut random = ChaCha8Rng::seed_from_u64(self.design.seed);
        let mut runs = Vec::with_capacity(self.cells.len() * self.design.blocks as usize);
        for block in 1..=self.design.blocks {
            let mut cells: Vec<usize> = (0..self.cells.len()).collect();
            cells.shuffle(&mut random);
            for cell in cells {
                runs.push(ScheduledRun { number: runs.len() as u32 + 1, block, cell });
            }
        }
        runs
    }
}

/// Whether a driver is given as a file rather than by name.
#[must_use]
pub fn is_driver_path(driver: &str) -> bool {
    driver.contains('/') || driver.ends_with(".so")
}

/// Why what was written cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An empty list of drivers, sizes or workloads.
    #[error("no {0} given")]
    Nothing(&'static str),
    /// A size under the header.
    #[error("size {size} is too small: every sample begins with a header of {MIN_SIZE_BYTES} bytes")]
    TooSmall {
        /// The size.
        size: u64,
    },
    /// A size over what the transport carries.
    #[error("size {size} is too large: `{transport}` of driver `{driver}` carries up to {max} bytes")]
    TooLarge {
        /// The size.
        size: u64,
        /// The driver.
        driver: String,
        /// The transport.
        transport: String,
        /// Its limit.
        max: u64,
    },
    /// A transport that the driver has not.
    #[error("driver `{driver}` has no transport `{transport}`")]
    NoTransport {
        /// The driver.
        driver: String,
        /// The transport.
        transport: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A receive mode that the driver has not.
    #[error("driver `{driver}` cannot receive by {mode}")]
    NoReceiveMode {
        /// The driver.
        driver: String,
        /// The mode.
        mode: &'static str,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// Multicast asked of a driver that has none.
    #[error("driver `{driver}` does not send by multicast")]
    NoMulticast {
        /// The driver.
        driver: String,
    },
    /// Reliability asked of a driver that has none.
    #[error("driver `{driver}` cannot guarantee delivery: reliability is unsupported")]
    NotReliable {
        /// The driver.
        driver: String,
    },
    /// A driver whose samples do not leave their process.
    #[error("driver `{driver}` cannot be measured: it does not reach from one process to another")]
    OneProcess {
        /// The driver.
        driver: String,
    },
    /// An option that the driver has not.
    #[error("driver `{driver}` has no option `{option}`")]
    NoOption {
        /// The driver.
        driver: String,
        /// The option.
        option: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// An option for a driver that takes no part.
    #[error("an option was given for driver `{driver}`, which takes no part")]
    StrayOption {
        /// The driver.
        driver: String,
    },
    /// Too few runs to see a spread.
    #[error("{runs} runs of each cell are too few: at least {min} are needed to see how far runs differ")]
    TooFewRuns {
        /// What was asked.
        runs: u32,
        /// The least.
        min: u32,
    },
    /// A time that cannot be.
    #[error("{what} of {} s is out of range: {range}", *ns as f64 / 1e9)]
    Time {
        /// Which time.
        what: &'static str,
        /// The value.
        ns: u64,
        /// What is allowed.
        range: &'static str,
    },
    /// The same thing twice.
    #[error("{what} `{value}` is given twice")]
    Twice {
        /// What.
        what: &'static str,
        /// Its value.
        value: String,
    },
}

impl PlanError {
    /// The next step.
    #[must_use]
    pub fn hint(&self) -> String {
        let one_of = |known: &[String]| match known {
            [] => "it has none: leave it out".to_owned(),
            known => format!("it has {}", known.join(", ")),
        };
        match self {
            Self::Nothing(what) => format!("name at least one {}", what.trim_end_matches('s')),
            Self::TooSmall { .. } => format!("use a size of {MIN_SIZE_BYTES} or more"),
            Self::TooLarge { max, .. } => format!("use sizes up to {max}, or another transport or driver"),
            Self::NoTransport { known, .. } | Self::NoOption { known, .. } => one_of(known),
            Self::NoReceiveMode { known, .. } => format!("it has {}", known.join(", ")),
            Self::NoMulticast { .. } => {
                "leave out `--multicast`, or name drivers that have the feature `multicast`: `ddsmark drivers info \
                 D` shows it"
                    .to_owned()
            }
            Self::NotReliable { .. } => {
                "use `--reliability strongest` to give each driver the strongest guarantee it has".to_owned()
            }
            Self::OneProcess { .. } => "it can only be tried with `ddsmark drivers check`".to_owned(),
            Self::StrayOption { driver } => format!("add `--driver {driver}`, or drop the option"),
            Self::TooFewRuns { min, .. } => format!("use `--runs {min}` or more"),
            Self::Time { range, .. } => format!("choose a time within {range}"),
            Self::Twice { what, .. } => format!("name each {what} once"),
        }
    }
}
