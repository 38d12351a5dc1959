//! Whole runs of the simulated middleware in virtual time: nothing sleeps, and a thousand runs take about a second.
//!
//! A [`Lab`] measures a cell as runner and agents do, with the clock in its own hands: a warm-up, then pings one after the
//! other, or writes as fast as back-pressure allows. What comes out is a [`results::Run`] with its histograms, as
//! [`results::Assembler`] takes it. What must come out is known from [`sim_model::Truth`]; so the statistics of a result,
//! and whatever reads results, can be tested on thousands of experiments.
#![forbid(unsafe_code)]

mod latency;
mod record;
mod throughput;

use std::{collections::BTreeMap, sync::Arc};

use experiment::{
    Cell, Design, Durability, Experiment, Factors, Policy, Qos, Reliability, ScheduledRun, Workload,
};
use results::{Assembler, Document, Header, Histograms, Host, Run, RunState, State, Tool};
use sim_model::{Config, ConfigError, Flow};

pub use record::Series;
use throughput::Arrival;

/// What the simulated host spends on a write or between two pings, in ns. It bounds how many samples a run has.
pub const HOST_NS: u64 = 1_000;

/// What was measured in one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run,
    /// Its histograms by kind.
    pub histograms: Histograms,
}

/// Measures. Memory is used again from run to run.
#[derive(Debug, Default)]
pub struct Lab {
    series: BTreeMap<&'static str, Series>,
    arrivals: Vec<Arrival>,
}

impl Lab {
    /// A lab that has measured nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
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
        let factors = &cell.factors;
        let options = factors.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let config = Arc::new(Config::parse(options)?);
        let seed = design.seed.rotate_left(24) ^ u64::from(scheduled.number);
        let reliable = factors.qos.reliability == Some(Reliability::Reliable);
        let flow =
            |stream| Flow::new(config.clone(), reliable, config.qos_ns(policies(&factors.qos)), seed, stream);
        for series in self.series.values_mut() {
            series.clear();
        }
        let figures = match factors.workload {
            Workload::Latency => latency::measure(&mut self.series, [flow(0), flow(1)], factors, design),
            Workload::Throughput => {
                throughput::measure(&mut self.series, &mut self.arrivals, flow(0), factors, design)
            }
        };
        let filled = self.series.iter().filter(|(_, series)| !series.is_empty());
        let (mut latency, mut histograms) = (BTreeMap::new(), Histograms::new());
        for (kind, series) in filled {
            let (figures, histogram) = series.latency();
            latency.insert((*kind).to_owned(), figures);
            histograms.insert((*kind).to_owned(), histogram);
        }
        let run = Run {
            number: scheduled.number,
            block: scheduled.block,
            twin: scheduled.twin,
            cell: cell.id.clone(),
            state: RunState::Valid,
            failure: None,
            started_unix_ns: 0,
            phases_ns: BTreeMap::from([
                ("warm_up".to_owned(), design.warm_up_ns),
                ("measure".to_owned(), design.measure_ns),
            ]),
            latency,
            // a simulated run is recorded as a whole, not in windows
            steady_state: BTreeMap::new(),
            throughput: figures.throughput,
            counted: vec![figures.counted],
            cpu_ns_per_sample: None,
            effective_qos: ["writer", "reader"].map(|end| (end.to_owned(), factors.qos.clone())).into(),
            wire: None,
            udp_buffer_drops: None,
            agents: Vec::new(),
            warnings: Vec::new(),
        };
        Ok(Outcome { run, histograms })
    }

    /// Measures a whole experiment, as `ddsmark characterize` would: every run of its schedule, and the result.
    ///
    /// # Errors
    /// Options that the simulated middleware has not.
    pub fn experiment(&mut self, experiment: &Experiment) -> Result<Document, ConfigError> {
        let mut assembler = Assembler::new(header(experiment.clone()));
        for scheduled in experiment.schedule() {
            let Outcome { run, histograms } =
                self.run(&experiment.cells[scheduled.cell], &experiment.design, scheduled)?;
            assembler.add(run, &histograms);
        }
        Ok(assembler.document(State::Complete))
    }

    /// What the last run recorded of a kind (`rtt`, `one_way_out`, `one_way_back`), value by value.
    #[must_use]
    pub fn series(&self, kind: &str) -> Option<&Series> {
        self.series.get(kind).filter(|series| !series.is_empty())
    }
}

/// A header that says that nothing of it was measured on a host.
fn header(experiment: Experiment) -> Header {
    let tool = Tool {
        name: "simulate".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: Vec::new(),
    };
    let host = Host {
        name: "virtual time".to_owned(),
        kernel: "none".to_owned(),
        os: None,
        cpu: None,
        cpus: 0,
        memory_bytes: None,
        virtualization: None,
        clock_source: None,
        governor: None,
        clock_read_ns: None,
        link_mbps: BTreeMap::new(),
        sysctls: BTreeMap::new(),
        started_unix_ns: 0,
    };
    Header::new(tool, host, experiment, BTreeMap::new(), Vec::new())
}

/// What a workload counted.
struct Figures {
    counted: results::Counted,
    throughput: Option<results::Throughput>,
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
