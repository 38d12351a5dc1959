//! The experiment of `ddsmark characterize` as values, for tests that vary it.

use std::collections::BTreeMap;

use experiment::{
    DesignSection, DriverDescription, ExperimentFile, FactorValues, LimitsSection, Located, Matrix,
    OneOrMany, OptionValue, Pin, Plan, PlanError, PlanInputs, Policies, ReceiveMode, ReliabilityChoice, Size,
    Time, Workload,
};

const MS: u64 = 1_000_000;

/// Flags of `characterize`.
#[derive(Clone, Debug)]
pub struct Characterize {
    /// Drivers, in the order of the tables.
    pub drivers: Vec<String>,
    /// Payload sizes in bytes.
    pub sizes: Vec<u64>,
    /// Workloads to measure.
    pub workloads: Vec<Workload>,
    /// Maximum payload of a batch in bytes, for an additional batched measurement of throughput; 0 disables it.
    pub batch_bytes: u64,
    /// Requested reliability.
    pub reliability: ReliabilityChoice,
    /// Receive mode.
    pub receive: ReceiveMode,
    /// Sleep of a polling reader after it found no sample, in ns; `None` disables it.
    pub polling_delay_ns: Option<u64>,
    /// Name of the network interface.
    pub interface: String,
    /// Whether data is sent by multicast.
    pub multicast: bool,
    /// Whether each middleware runs as shipped.
    pub vendor_defaults: bool,
    /// Transport of all drivers; `None` is the default of each driver.
    pub transport: Option<String>,
    /// Driver options as `(driver, option, value)`.
    pub options: Vec<(String, String, String)>,
    /// Runs of each cell; `None` is 3.
    pub runs: Option<u32>,
    /// Measured time of a run in ns; `None` is 200 ms.
    pub measure_ns: Option<u64>,
    /// Warm-up of a run in ns; `None` is 50 ms.
    pub warm_up_ns: Option<u64>,
    /// Every byte of each Nth sample is checked.
    pub check_every: u32,
    /// Seed of the run order.
    pub seed: u64,
    /// CPU cores of the endpoints.
    pub pin: Pin,
    /// Whether spinning threads keep the cores from idling.
    pub keep_awake: bool,
    /// Whether each block measures a reference.
    pub reference: bool,
    /// Time limit for the endpoints to match, in ns; `None` is the default.
    pub match_ns: Option<u64>,
}

impl Characterize {
    /// Returns the equivalent experiment file.
    ///
    /// # Panics
    /// Panics if an option is given twice.
    pub fn file(&self) -> ExperimentFile {
        let at = |ns| Some(Located::nowhere(Time(ns)));
        let mut options: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for (driver, option, value) in &self.options {
            let of_driver = options.entry(Located::nowhere(driver.clone())).or_default();
            let value = OneOrMany::unwritten([OptionValue(value.clone())]);
            let previous = of_driver.insert(Located::nowhere(option.clone()), value);
            assert_eq!(previous, None, "option `{driver}.{option}` is given twice");
        }
        let batches = [0, self.batch_bytes];
        let batches = if self.batch_bytes == 0 { &batches[..1] } else { &batches };
        let mut values = FactorValues::default();
        values.give("driver", self.drivers.iter().cloned());
        if let Some(transport) = &self.transport {
            values.give("transport", [transport.clone()]);
        }
        values.give("size", self.sizes.iter().copied().map(Size));
        values.give("batch_bytes", batches.iter().copied().map(Size));
        values.give("receive", [self.receive]);
        if let Some(ns) = self.polling_delay_ns {
            values.give("polling_delay", [Time(ns)]);
        }
        values.give("interface", [self.interface.clone()]);
        values.give("multicast", [self.multicast]);
        values.give("vendor_defaults", [self.vendor_defaults]);
        ExperimentFile {
            question: Located::nowhere(
                "What latency and throughput does each driver give over sample sizes, and what does batching \
                 change?"
                    .to_owned(),
            ),
            workload: OneOrMany::unwritten(self.workloads.iter().copied()),
            search: None,
            hosts: Vec::new(),
            published: Vec::new(),
            overlay: OneOrMany::default(),
            factors: Matrix { values, ..Matrix::default() },
            qos: Policies { reliability: Some(Located::nowhere(self.reliability)), ..Policies::default() },
            profiles: BTreeMap::new(),
            bases: BTreeMap::new(),
            options,
            flows: Vec::new(),
            design: DesignSection {
                blocks: Some(Located::nowhere(self.runs.unwrap_or(3))),
                seed: Some(self.seed),
                warm_up: at(self.warm_up_ns.unwrap_or(50 * MS)),
                measure: at(self.measure_ns.unwrap_or(200 * MS)),
                check_every: Some(Located::nowhere(self.check_every)),
                keep_awake: self.keep_awake,
                reference: Some(self.reference),
                ..DesignSection::default()
            },
            limits: LimitsSection { matching: self.match_ns.and_then(at), ..LimitsSection::default() },
            changes: experiment::Changes::default(),
        }
    }

    /// Plans the experiment.
    ///
    /// `descriptions` has the description of each driver, by the name used in `drivers`.
    ///
    /// # Errors
    /// Returns an error if the experiment cannot be planned; see [`PlanError`].
    pub fn plan(&self, descriptions: &BTreeMap<String, DriverDescription>) -> Result<Plan, PlanError> {
        let inputs = PlanInputs {
            name: "characterize",
            descriptions,
            installed: &[],
            files: &BTreeMap::new(),
            pin: self.pin.clone(),
            hosts: &[],
            seed: self.seed,
            // `characterize` has no baseline.
            least_blocks: &|_| 0,
        };
        self.file().plan(&inputs).map_err(|error| error.error)
    }
}
