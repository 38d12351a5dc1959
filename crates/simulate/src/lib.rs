//! Whole runs of the simulated middleware in virtual time: nothing sleeps.
//!
//! A [`Lab`] measures a cell as runner and agents do, with the clock in its own hands: a warm-up, then pings one after the
//! other, or writes as fast as back-pressure allows. What comes out is a [`results::Run`] with its histograms, as
//! [`results::Assembler`] takes it. What must come out is known from [`sim_model::Truth`]; so the statistics of a result,
//! and whatever reads results, can be tested on thousands of experiments.
//!
//! What the middleware does is its options; what the host does beside it, and from run to run, is a [`Machine`].
#![forbid(unsafe_code)]

mod describe;
mod latency;
mod machine;
mod record;
mod throughput;
mod usage;

use std::{collections::BTreeMap, sync::Arc};

use experiment::{
    Cell, Design, DriverDescription, Durability, Experiment, Factors, Policy, Qos, Reliability, ScheduledRun,
    Workload,
};
use results::{
    Assembler, Counted, Document, Duet, Header, Histograms, Received, Run, RunState, State, Throughput,
    steady_rate, steady_rtt,
};
use sim_model::{Config, ConfigError, Flow};

pub use describe::describe;
pub use machine::{Between, Machine};
pub use record::Series;
use throughput::Arrival;
use usage::Used;

/// What the simulated host spends between two pings, and on a write where nothing else is said, in ns. It bounds how many
/// samples a run has.
pub const HOST_NS: u64 = 1_000;

/// What was measured in one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run,
    /// Its histograms by kind.
    pub histograms: Histograms,
}

/// What a run says, without its record: for thousands of experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Median round trip, exact; none where too few pings came back to support it.
    pub rtt_p50_ns: Option<u64>,
    /// Its 99 % quantile.
    pub rtt_p99_ns: Option<u64>,
    /// Of a throughput run.
    pub throughput: Option<Throughput>,
    /// What was sent and what came.
    pub counted: Counted,
}

/// Measures. Memory is used again from run to run.
#[derive(Debug, Default)]
pub struct Lab {
    /// The host that it measures on.
    pub machine: Machine,
    /// What the drivers of an experiment say of themselves, by name. Those that are not here are as [`describe()`] has a
    /// middleware.
    pub drivers: BTreeMap<String, DriverDescription>,
    series: BTreeMap<&'static str, Series>,
    arrivals: Vec<Arrival>,
}

/// What a workload measured.
struct Measured {
    counted: Counted,
    throughput: Option<Throughput>,
    received: Option<Received>,
    used: Used,
}

impl Lab {
    /// A lab that has measured nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same on this machine.
    #[must_use]
    pub fn on(machine: Machine) -> Self {
        Self { machine, ..Self::default() }
    }

    /// Makes a run; its values are in the series.
    fn measure(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<Measured, ConfigError> {
        let factors = &cell.factors;
        let options = factors.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // the two runs of a duet meet the host in one state
        let at = scheduled.duet.map_or(scheduled.number, |duet| duet.partner.min(scheduled.number));
        let half =
            if scheduled.duet.is_some_and(|duet| duet.half == 1) { self.machine.other_half } else { 1.0 };
        let slower = self.machine.between.factor(design.seed, at) * half;
        let mut config = Config::parse(options)?.slowed(slower);
        let machine = self.machine.slowed(slower);
        machine.limit(&mut config, factors.size_bytes * samples_per_packet(factors));
        let config = Arc::new(config);
        let seed = design.seed.rotate_left(24) ^ u64::from(scheduled.number);
        let reliable = factors.qos.reliability == Some(Reliability::Reliable);
        let flow =
            |stream| Flow::new(config.clone(), reliable, config.qos_ns(policies(&factors.qos)), seed, stream);
        for series in self.series.values_mut() {
            series.clear();
        }
        Ok(match factors.workload {
            Workload::Latency => {
                latency::measure(&mut self.series, [flow(0), flow(1)], &config, &machine, factors, design)
            }
            Workload::Throughput => throughput::measure(
                &mut self.series,
                &mut self.arrivals,
                flow(0),
                &config,
                &machine,
                factors,
                design,
            ),
        })
    }

    /// Measures a cell once. Its options are those of the simulated middleware. The seed of the design, the number of the
    /// run and the option `seed` decide all random numbers.
    ///
    /// # Errors
    /// Options that the simulated middleware has not.
    pub fn run(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<Outcome, ConfigError> {
        let measured = self.measure(cell, design, scheduled)?;
        let factors = &cell.factors;
        let filled = self.series.iter().filter(|(_, series)| !series.is_empty());
        let (mut latency, mut histograms) = (BTreeMap::new(), Histograms::new());
        for (kind, series) in filled {
            let (figures, histogram) = series.latency();
            latency.insert((*kind).to_owned(), figures);
            histograms.insert((*kind).to_owned(), histogram);
        }
        let steady_state = match (self.series("rtt"), &measured.received) {
            (Some(rtt), _) => {
                let windows = rtt.windows(design.windows, design.measure_ns);
                steady_rtt(windows.histograms(), windows.length_ns())
            }
            (None, Some(received)) => {
                steady_rate(received).map(|state| ("delivered".to_owned(), state)).into_iter().collect()
            }
            (None, None) => BTreeMap::new(),
        };
        let mut run = Run {
            number: scheduled.number,
            block: scheduled.block,
            twin: scheduled.twin,
            duet: scheduled.duet.map(|duet| Duet { partner: duet.partner, side_by_side_pct: 100.0 }),
            cell: cell.id.clone(),
            state: RunState::Valid,
            failure: None,
            started_unix_ns: 0,
            phases_ns: BTreeMap::from([
                ("warm_up".to_owned(), design.warm_up_ns),
                ("measure".to_owned(), design.measure_ns),
            ]),
            latency,
            steady_state,
            throughput: measured.throughput,
            counted: vec![measured.counted.clone()],
            cpu_ns_per_sample: None,
            effective_qos: ["writer", "reader"].map(|end| (end.to_owned(), factors.qos.clone())).into(),
            wire: None,
            udp_buffer_drops: None,
            environment_padding_bytes: None,
            agents: Vec::new(),
            warnings: Vec::new(),
        };
        measured.used.record(&mut run, factors, &measured.counted);
        Ok(Outcome { run, histograms })
    }

    /// The same run, and of it only what it is measured for: without histograms, windows and record, far quicker.
    ///
    /// # Errors
    /// Options that the simulated middleware has not.
    pub fn figures(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<Figures, ConfigError> {
        let Measured { counted, throughput, .. } = self.measure(cell, design, scheduled)?;
        let rtt = self.series.get_mut("rtt");
        let [rtt_p50_ns, rtt_p99_ns] =
            rtt.map_or([None; 2], |rtt| [0.5, 0.99].map(|quantile| rtt.quantile(quantile)));
        Ok(Figures { rtt_p50_ns, rtt_p99_ns, throughput, counted })
    }

    /// Measures a whole experiment, as `ddsmark characterize` would: every run of its schedule, and the result.
    ///
    /// # Errors
    /// Options that the simulated middleware has not.
    pub fn experiment(&mut self, experiment: &Experiment) -> Result<Document, ConfigError> {
        let names = experiment.cells.iter().map(|cell| &cell.factors.driver);
        let drivers = names.map(|name| {
            let described = self.drivers.get(name).cloned();
            (name.clone(), described.unwrap_or_else(|| describe(name, false)))
        });
        let interfaces = experiment.cells.iter().map(|cell| &cell.factors.interface);
        let host = describe::host(&self.machine, interfaces);
        let header = Header::new(describe::tool(), host, experiment.clone(), drivers.collect(), Vec::new());
        let mut assembler = Assembler::new(header);
        for scheduled in experiment.schedule() {
            let Outcome { run, histograms } =
                self.run(&experiment.cells[scheduled.cell], &experiment.design, scheduled)?;
            assembler.add(run, &histograms);
        }
        let mut document = assembler.document(State::Complete);
        document.findings = findings::of(&document);
        Ok(document)
    }

    /// What the last run recorded of a kind (`rtt`, `one_way_out`, `one_way_back`), value by value.
    #[must_use]
    pub fn series(&self, kind: &str) -> Option<&Series> {
        self.series.get(kind).filter(|series| !series.is_empty())
    }
}

/// The policies that are asked for and are more than what everybody has.
fn policies(qos: &Qos) -> impl Iterator<Item = &'static str> {
    let reliable = qos.reliability == Some(Reliability::Reliable);
    let durable = qos.durability.is_some_and(|durability| durability != Durability::Volatile);
    let asked = [
        (Policy::Reliability, reliable),
        (Policy::History, qos.history.is_some()),
        (Policy::ResourceLimits, qos.max_samples.is_some() || qos.max_instances.is_some()),
        (Policy::Durability, durable),
        (Policy::Deadline, qos.deadline_ns.is_some()),
        (Policy::LatencyBudget, qos.latency_budget_ns.is_some()),
        (Policy::Lifespan, qos.lifespan_ns.is_some()),
        (Policy::Liveliness, qos.liveliness.is_some() || qos.liveliness_lease_ns.is_some()),
        (Policy::Ownership, qos.ownership.is_some()),
        (Policy::OwnershipStrength, qos.ownership_strength.is_some()),
        (Policy::Partition, qos.partitions.is_some()),
        (Policy::Presentation, qos.presentation.is_some()),
        (Policy::DestinationOrder, qos.destination_order.is_some()),
        (Policy::TimeBasedFilter, qos.minimum_separation_ns.is_some()),
        (Policy::TransportPriority, qos.transport_priority.is_some()),
    ];
    asked.into_iter().filter(|(_, asked)| *asked).map(|(policy, _)| policy.name())
}

/// Samples that make one packet of the server's.
fn samples_per_packet(factors: &Factors) -> u64 {
    if factors.batch_bytes > 0 { factors.samples_per_flush() } else { 1 }
}
