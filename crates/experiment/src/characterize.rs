//! The built-in experiment `characterize`: latency and throughput over sample sizes, throughput unbatched and batched.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Batching, Cell, Design, DriverDescription, Durability, Experiment, Factors, History, Limits,
    MIN_SIZE_BYTES, Pin, PlanError, Policy, Qos, QosDuration, ReceiveMode, Reliability, Support, Topology,
    Workload,
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// At least so many runs of each cell: with fewer a spread cannot be seen.
const MIN_RUNS: u32 = 3;
/// What a reliable reader or writer may hold back, in bytes and in samples.
const QUEUE_BYTES: u64 = 64 << 20;
const QUEUE_SAMPLES: std::ops::RangeInclusive<u64> = 64..=10_000;

/// `characterize` as written: what the flags say.
#[derive(Clone, Debug)]
pub struct Characterize {
    /// Drivers, in the order of the tables.
    pub drivers: Vec<String>,
    /// Payload sizes.
    pub sizes: Vec<u64>,
    /// What to measure.
    pub workloads: Vec<Workload>,
    /// Ceiling on payload bytes per flush of the batched throughput; 0: unbatched only.
    pub batch_bytes: u64,
    /// The guarantee asked for.
    pub reliability: ReliabilityChoice,
    /// How samples are received.
    pub receive: ReceiveMode,
    /// Network interface.
    pub interface: String,
    /// Whether data is to go by multicast.
    pub multicast: bool,
    /// A transport that all drivers have; without it each one's default.
    pub transport: Option<String>,
    /// `(driver, option, value)`.
    pub options: Vec<(String, String, String)>,
    /// How much time to spend.
    pub effort: Effort,
    /// Runs of each cell, if not the effort's.
    pub runs: Option<u32>,
    /// Measured time of a run, if not the effort's.
    pub measure_ns: Option<u64>,
    /// Warm-up of a run, if not the effort's.
    pub warm_up_ns: Option<u64>,
    /// Every byte of one in so many samples is checked.
    pub check_every: u32,
    /// Seed of the order of runs.
    pub seed: u64,
    /// Which cores the ends run on.
    pub pin: Pin,
    /// Whether to keep the cores from idling.
    pub keep_awake: bool,
    /// How long the ends may take to match, if not the default.
    pub match_ns: Option<u64>,
}

/// Which delivery guarantee to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReliabilityChoice {
    /// The strongest that each driver has.
    Strongest,
    /// The same for all.
    All(Reliability),
}

/// How much time to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For a first look.
    Quick,
    /// The default.
    Standard,
    /// For figures to quote.
    Precise,
}

impl Effort {
    /// `(runs of each cell, warm-up, measured time)`.
    #[must_use]
    pub const fn times(self) -> (u32, u64, u64) {
        match self {
            Self::Quick => (3, 50 * MS, 200 * MS),
            Self::Standard => (3, 200 * MS, 800 * MS),
            Self::Precise => (10, SECOND, 5 * SECOND),
        }
    }
}

/// Windows of 10 ms, which hold hundreds of round trips on one host; 20 to 100 of them.
fn windows(measure_ns: u64) -> u32 {
    (measure_ns / (10 * MS)).clamp(20, 100) as u32
}

impl Characterize {
    /// What was written, as meant.
    ///
    /// `descriptions` holds, by the name used in `drivers`, what each driver says of itself.
    ///
    /// # Errors
    /// What cannot be meant: see [`PlanError`].
    ///
    /// # Panics
    /// If a driver's description is missing.
    pub fn plan(&self, descriptions: &BTreeMap<String, DriverDescription>) -> Result<Experiment, PlanError> {
        let design = self.design()?;
        all_distinct("driver", &self.drivers)?;
        all_distinct("size", &self.sizes)?;
        for (what, empty) in [
            ("drivers", self.drivers.is_empty()),
            ("sizes", self.sizes.is_empty()),
            ("workloads", self.workloads.is_empty()),
        ] {
            if empty {
                return Err(PlanError::Nothing(what));
            }
        }
        if let Some((driver, ..)) = self.options.iter().find(|(driver, ..)| !self.drivers.contains(driver)) {
            return Err(PlanError::StrayOption { driver: driver.clone() });
        }
        let mut cells = Vec::new();
        let mut notes = Vec::new();
        for driver in &self.drivers {
            self.cells_of(driver, &descriptions[driver], &mut cells, &mut notes)?;
        }
        number_namesakes(&mut cells);
        let mut limits = Limits::default();
        if let Some(ns) = self.match_ns {
            limits.match_ns = ns;
        }
        Ok(Experiment {
            name: "characterize".to_owned(),
            question: "What latency and throughput does each driver give over sample sizes, and what does \
                       batching change?"
                .to_owned(),
            cells,
            design,
            limits,
            notes,
        })
    }

    fn design(&self) -> Result<Design, PlanError> {
        let (runs, warm_up_ns, measure_ns) = self.effort.times();
        let measure_ns = self.measure_ns.unwrap_or(measure_ns);
        let design = Design {
            blocks: self.runs.unwrap_or(runs),
            seed: self.seed,
            warm_up_ns: self.warm_up_ns.unwrap_or(warm_up_ns),
            measure_ns,
            windows: windows(measure_ns),
            check_every: self.check_every,
            pin: self.pin.clone(),
            keep_awake: self.keep_awake,
        };
        if design.blocks < MIN_RUNS {
            return Err(PlanError::TooFewRuns { runs: design.blocks, min: MIN_RUNS });
        }
        if !(20 * MS..=3_600 * SECOND).contains(&design.measure_ns) {
            let (what, ns) = ("the measured time", design.measure_ns);
            return Err(PlanError::Time { what, ns, range: "20 ms to 1 hour" });
        }
        if design.warm_up_ns > 600 * SECOND {
            let (what, ns) = ("the warm-up", design.warm_up_ns);
            return Err(PlanError::Time { what, ns, range: "0 to 10 minutes" });
        }
        Ok(design)
    }

    fn cells_of(
        &self,
        driver: &str,
        description: &DriverDescription,
        cells: &mut Vec<Cell>,
        notes: &mut Vec<String>,
    ) -> Result<(), PlanError> {
        let transport =
            description.transport(self.transport.as_deref()).ok_or_else(|| PlanError::NoTransport {
                driver: driver.to_owned(),
                transport: self.transport.clone().unwrap_or_default(),
                known: description.transports.iter().map(|transport| transport.name.clone()).collect(),
            })?;
        if description.has("one_process") {
            return Err(PlanError::OneProcess { driver: driver.to_owned() });
        }
        if !description.receive_modes.contains(&self.receive) {
            return Err(PlanError::NoReceiveMode {
                driver: driver.to_owned(),
                mode: self.receive.name(),
                known: description.receive_modes.iter().map(|mode| mode.name()).collect(),
            });
        }
        if self.multicast && !description.has("multicast") {
            return Err(PlanError::NoMulticast { driver: driver.to_owned() });
        }
        let reliable = description.support(Policy::Reliability) == Support::Enforced;
        let reliability = match self.reliability {
            ReliabilityChoice::Strongest if reliable => Reliability::Reliable,
            ReliabilityChoice::Strongest => {
                notes.push(format!("driver `{driver}` cannot guarantee delivery: it runs best effort"));
                Reliability::BestEffort
            }
            ReliabilityChoice::All(Reliability::Reliable) if !reliable => {
                return Err(PlanError::NotReliable { driver: driver.to_owned() });
            }
            ReliabilityChoice::All(choice) => choice,
        };
        let native = description.has("native_batching");
        let batching = if native {
            Batching::Native
        } else if description.has("application_batching") {
            Batching::Application
        } else {
            Batching::None
        };
        if self.batch_bytes > 0
            && batching == Batching::None
            && self.workloads.contains(&Workload::Throughput)
        {
            notes.push(format!("driver `{driver}` cannot batch: its throughput is measured unbatched only"));
        }
        let options = self.options_of(driver, description)?;
        for &size in &self.sizes {
            if size < MIN_SIZE_BYTES {
                return Err(PlanError::TooSmall { size });
            }
            if size > transport.max_payload_bytes {
                return Err(PlanError::TooLarge {
                    size,
                    driver: driver.to_owned(),
                    transport: transport.name.clone(),
                    max: transport.max_payload_bytes,
                });
            }
            for &workload in &self.workloads {
                let factors = Factors {
                    driver: driver.to_owned(),
                    transport: transport.name.clone(),
                    workload,
                    topology: Topology::Pair,
                    size_bytes: size,
                    batch_bytes: 0,
                    batching: Batching::None,
                    receive: self.receive,
                    interface: self.interface.clone(),
                    multicast: self.multicast,
                    qos: qos(description, reliability, size),
                    options: options.clone(),
                };
                cells.push(cell(factors.clone()));
                // over half of the ceiling a batch holds one sample, as without batching: not measured twice
                let packs = size <= self.batch_bytes / 2 && batching != Batching::None;
                if workload == Workload::Throughput && packs {
                    cells.push(cell(Factors { batch_bytes: self.batch_bytes, batching, ..factors }));
                }
            }
        }
        Ok(())
    }

    fn options_of(
        &self,
        driver: &str,
        description: &DriverDescription,
    ) -> Result<BTreeMap<String, String>, PlanError> {
        let mut options = BTreeMap::new();
        for (_, option, value) in self.options.iter().filter(|(owner, ..)| owner == driver) {
            if !description.options.iter().any(|known| known.name == *option) {
                return Err(PlanError::NoOption {
                    driver: driver.to_owned(),
                    option: option.clone(),
                    known: description.options.iter().map(|known| known.name.clone()).collect(),
                });
            }
            if options.insert(option.clone(), value.clone()).is_some() {
                return Err(PlanError::Twice { what: "option", value: format!("{driver}.{option}") });
            }
        }
        Ok(options)
    }
}

/// The QoS of every writer and reader of a cell. Only what the driver has is asked for.
fn qos(description: &DriverDescription, reliability: Reliability, size: u64) -> Qos {
    let has = |policy| description.support(policy) == Support::Enforced;
    let mut qos = Qos { reliability: Some(reliability), ..Qos::default() };
    if has(Policy::Durability) {
        qos.durability = Some(Durability::Volatile);
    }
    if has(Policy::History) {
        qos.history = Some(History::KeepAll);
    }
    if has(Policy::ResourceLimits) {
        let samples = (QUEUE_BYTES / size).clamp(*QUEUE_SAMPLES.start(), *QUEUE_SAMPLES.end());
        qos.max_samples = Some(i32::try_from(samples).expect("at most 10,000"));
    }
    if reliability == Reliability::Reliable {
        qos.max_blocking_ns = Some(QosDuration::Ns(SECOND));
    }
    qos
}

fn cell(factors: Factors) -> Cell {
    let driver = factors.driver.rsplit('/').next().unwrap_or(&factors.driver);
    let driver: String =
        driver.chars().map(|c| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '-' }).collect();
    let batched =
        if factors.batch_bytes > 0 { format!("/batch-{}", factors.batch_bytes) } else { String::new() };
    let way = if factors.multicast { "-multicast" } else { "" };
    let id =
        format!("{driver}/{}{way}/{}/{}{batched}", factors.transport, factors.workload, factors.size_bytes);
    Cell { id, factors }
}

/// Cells of driver files that share a name, in different folders, get a number each.
fn number_namesakes(cells: &mut [Cell]) {
    let mut seen = BTreeMap::<String, u32>::new();
    for cell in cells {
        let count = seen.entry(cell.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            cell.id = format!("{}-{count}", cell.id);
        }
    }
}

fn all_distinct<T: Ord + std::fmt::Display>(what: &'static str, values: &[T]) -> Result<(), PlanError> {
    let mut seen = BTreeSet::new();
    match values.iter().find(|value| !seen.insert(*value)) {
        Some(value) => Err(PlanError::Twice { what, value: value.to_string() }),
        None => Ok(()),
    }
}
