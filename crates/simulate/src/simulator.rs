//! Simulator of runs in virtual time.

use std::{collections::BTreeMap, sync::Arc};

use collector::{RunContext, RunReports, TraceFiles, collect};
use experiment::{Cell, Design, DriverDescription, Limits, Reliability, RunTopology, ScheduledRun, Workload};
use results::{DeliveryCounts, HostRecord, LinkRecord, Run};
use sim_model::{Config, ConfigError, Flow};

use crate::{
    SimulatedMetrics, SimulatedRun,
    arrival::Arrival,
    capabilities::{policies, refuse},
    discovery,
    host_model::HostModel,
    latency,
    link::Network,
    pipelined,
    round_trips::RoundTrips,
    series::{Recorder, Series},
    setup::RunSetup,
    streaming::{self, Recorded},
};

/// Simulator of runs and experiments. Reuses its memory between runs.
#[derive(Debug, Default)]
pub struct Simulator {
    /// Simulated host.
    pub host: HostModel,
    /// Driver descriptions by name. A driver without an entry gets the middleware of [`crate::describe()`].
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Samples of the trace files that flows follow.
    pub traces: TraceFiles,
    /// Hosts of the endpoints, with the links of a lab if the cell has them. The middleware does not become slower by them.
    pub hosts: Vec<HostRecord>,
    /// Time limits of a run, of which only that of the drain can be reached. An experiment has its own.
    pub limits: Limits,
    series: BTreeMap<&'static str, Series>,
    recorder: Recorder,
    /// Values of a throughput run or a paced run.
    recorded: Recorded,
    trips: RoundTrips,
    arrivals: Vec<Vec<Arrival>>,
}

impl Simulator {
    /// Creates a simulator of the default host.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a simulator of the given host.
    #[must_use]
    pub fn on(host: HostModel) -> Self {
        Self { host, ..Self::default() }
    }

    /// Executes a run of a cell, whose options are those of the simulated middleware, and returns the reports that its
    /// agents would send. The seed of the design, the number of the run and the option `seed` determine all random
    /// numbers.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
    pub fn reports(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<RunReports, ConfigError> {
        let factors = &cell.factors;
        let options = factors.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // The two runs of a duet share the state of the host.
        let at = scheduled.duet.map_or(scheduled.number, |duet| duet.partner.min(scheduled.number));
        let half = if scheduled.duet.is_some_and(|duet| duet.half == 1) { self.host.other_half } else { 1.0 };
        let slower =
            self.host.between.factor(design.seed, at) * self.host.change.factor(scheduled.block) * half;
        refuse(factors, design, &self.host)?;
        let config = Config::parse(options)?.slowed(slower);
        let host = self.host.slowed(slower);
        let design = of_run(design, scheduled);
        let reliable = factors.qos.reliability == Some(Reliability::Reliable);
        let topology = RunTopology::of(factors, &design);
        if let Some(flow) = factors.streams().iter().find(|flow| !self.traces.has(&flow.load)) {
            return Err(without_times(&flow.name));
        }
        let middleware = |factor: f64, packet_bytes| {
            let mut config = config.clone().slowed(factor);
            host.limit(&mut config, packet_bytes);
            Arc::new(config)
        };
        let ping_ns = self.limits.least_ping_ns(factors);
        let run = RunSetup {
            topology: &topology,
            factors,
            design: &design,
            drain_ns: self.limits.drain_ns,
            ping_ns,
        };
        for series in self.series.values_mut() {
            series.clear();
        }
        let recorder = &mut self.recorder;
        let flow = |config: &Arc<Config>, stream| {
            Flow::new(config.clone(), reliable, config.qos_ns(policies(&factors.qos)), design.seed, stream)
        };
        if factors.workload == Workload::Discovery {
            let config = middleware(1.0, 0);
            let mode = flow(&config, 0).mode;
            return Ok(discovery::measure(&config, &host, mode, &run).into_reports(factors, topology));
        }
        let memory = &mut self.arrivals;
        let mut network =
            Network::new(&topology, &self.traces, &host, factors.multicast, middleware, flow, memory);
        let traffic = match factors.workload {
            Workload::Latency => match factors.in_flight {
                None => latency::measure(&mut self.trips, recorder, &mut network, &run),
                Some(most) => pipelined::measure(&mut self.trips, recorder, &mut network, &run, most),
            },
            Workload::Throughput | Workload::Paced => {
                streaming::measure(&mut self.recorded, recorder, &mut network, &self.traces, &run)
            }
            Workload::Search | Workload::Discovery => {
                unreachable!("a search has no run of its own: its trials are paced ones")
            }
        };
        self.pool(factors.workload);
        self.arrivals = network.into_arrivals();
        Ok(traffic.into_reports(factors, topology))
    }

    /// Adds the values of all endpoints to the series of the run, by kind.
    fn pool(&mut self, workload: Workload) {
        let mut add = |kind, series| self.series.entry(kind).or_default().extend(series);
        match workload {
            Workload::Latency => self.trips.all().for_each(|series| add("rtt", series)),
            Workload::Paced => self.recorded.kinds().for_each(|(kind, series)| add(kind, series)),
            Workload::Throughput | Workload::Search | Workload::Discovery => {}
        }
    }

    /// Returns the record of a run with these reports, as a runner makes it.
    #[must_use]
    pub fn record(
        &self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
        reports: &RunReports,
    ) -> SimulatedRun {
        let design = of_run(design, scheduled);
        let context =
            RunContext { factors: &cell.factors, design: &design, traces: &self.traces, hosts: &self.hosts };
        let mut run = Run::blank(scheduled, cell, 0);
        run.link = cell.factors.link.map(|link| LinkRecord::new(&link));
        let log = collect(&mut run, &context, reports);
        let phases = [("warm_up", design.warm_up_ns), ("measure", design.measure_ns)];
        run.phases_ns = phases.map(|(phase, ns)| (phase.to_owned(), ns)).into();
        if let Some(duet) = &mut run.duet {
            duet.side_by_side_pct = 100.0;
        }
        let histograms = log.merged_of(&run.pooled_kinds());
        SimulatedRun { run, histograms }
    }

    /// Executes one run of a cell and returns its record.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
    pub fn run(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<SimulatedRun, ConfigError> {
        let mut reports = self.reports(cell, design, scheduled)?;
        if self.recorder.counts_only && cell.factors.workload == Workload::Latency {
            // One-way times are distributions, too. They need a common clock.
            reports.agents.iter_mut().for_each(|agent| agent.clock_error_ns = None);
        }
        Ok(self.record(cell, design, scheduled, &reports))
    }

    /// Executes the same run as [`Self::run`] and returns only its metrics: much faster, without histograms and
    /// windows. The checks that need these are not made.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
    pub fn metrics(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<SimulatedMetrics, ConfigError> {
        self.recorder.counts_only = true;
        let run = self.run(cell, design, scheduled);
        self.recorder.counts_only = false;
        let run = run?.run;
        let mut quantile =
            |kind, quantile| self.series.get_mut(kind).and_then(|series| series.quantile(quantile));
        Ok(SimulatedMetrics {
            rtt_p50_ns: quantile("rtt", 0.5),
            rtt_p99_ns: quantile("rtt", 0.99),
            response_p50_ns: quantile("response", 0.5),
            response_p99_ns: quantile("response", 0.99),
            planned: run.paced().map(|paced| paced.planned),
            unsent: run.paced().map(|paced| paced.unsent),
            counted: DeliveryCounts::sum(run.counts()),
            throughput: run.throughput().cloned(),
        })
    }

    /// Returns the values of a kind (`rtt`; of a paced run `service`, `response`, `send_lag`, `write_call`) in the last
    /// run, of all endpoints one after the other.
    #[must_use]
    pub fn series(&self, kind: &str) -> Option<&Series> {
        self.series.get(kind).filter(|series| !series.is_empty())
    }
}

/// Returns the design with the seed of a run.
fn of_run(design: &Design, scheduled: ScheduledRun) -> Design {
    Design { seed: design.seed_of_run(scheduled.number), ..design.clone() }
}

fn without_times(flow: &str) -> ConfigError {
    ConfigError {
        message: format!("flow `{flow}` follows a file whose times are not there"),
        hint: "put them into `traces`".to_owned(),
    }
}
