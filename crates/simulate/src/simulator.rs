//! Simulator of runs in virtual time.

use std::{collections::BTreeMap, mem, sync::Arc};

use collector::{RunContext, RunReports, TraceTimes, collect};
use experiment::{Cell, Design, DriverDescription, Limits, Reliability, ScheduledRun, Topology, Workload};
use results::{BatchPolicy, DeliveryCounts, Run};
use sim_model::{Config, ConfigError, Flow};

use crate::{
    HostModel, Series, SimulatedMetrics, SimulatedRun,
    capabilities::{policies, refuse},
    flood, latency,
    link::{Arrival, Link, samples_per_packet},
    paced::{self, Recorded, Stream},
    series::Recorder,
    throughput,
};

/// Simulator of runs and experiments. Reuses its memory between runs.
#[derive(Debug, Default)]
pub struct Simulator {
    /// Simulated host.
    pub host: HostModel,
    /// Driver descriptions by name. A driver without an entry gets the middleware of [`crate::describe()`].
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Times of the trace files that flows follow.
    pub traces: TraceTimes,
    /// Time limits of a run, of which only that of the drain can be reached. An experiment has its own.
    pub limits: Limits,
    series: BTreeMap<&'static str, Series>,
    recorder: Recorder,
    /// Values of the flows of an open loop.
    recorded: Vec<Recorded>,
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
        let config_of = |packet_bytes| {
            let mut config = config.clone();
            host.limit(&mut config, packet_bytes);
            Arc::new(config)
        };
        let flow = |config: &Arc<Config>, stream| {
            Flow::new(config.clone(), reliable, config.qos_ns(policies(&factors.qos)), design.seed, stream)
        };
        let mut memory = mem::take(&mut self.arrivals);
        let mut link = |stream: usize, size| {
            let config = config_of(samples_per_packet(factors.batch_bytes, size) * size);
            let arrivals = memory.pop().unwrap_or_default();
            Link::new(flow(&config, stream as u64), config, &host, reliable, size, arrivals)
        };
        for series in self.series.values_mut() {
            series.clear();
        }
        let (recorder, drain_ns) = (&mut self.recorder, self.limits.drain_ns);
        let traffic = match factors.workload {
            Workload::Latency => {
                let samples = samples_per_packet(factors.batch_bytes, factors.size_bytes);
                let config = config_of(factors.size_bytes * samples);
                let hops = match factors.topology {
                    Topology::Ring { nodes } => u64::from(nodes),
                    Topology::Mesh { .. } | Topology::FullMesh { .. } => 2,
                };
                let flows = (0..hops).map(|hop| flow(&config, hop)).collect();
                if let Some(in_flight) = factors.in_flight {
                    let series = &mut self.series;
                    let traffic =
                        flood::measure(series, recorder, flows, in_flight, &config, &host, factors, &design);
                    return Ok(traffic.into_reports(factors, &design));
                }
                latency::measure(&mut self.series, recorder, flows, &config, &host, factors, &design)
            }
            Workload::Paced => {
                let flows = factors.streams();
                self.recorded.resize_with(flows.len(), Recorded::default);
                let mut streams = Vec::with_capacity(flows.len());
                for ((number, flow), recorded) in flows.iter().enumerate().zip(&mut self.recorded) {
                    if !self.traces.has(&flow.load) {
                        return Err(without_times(&flow.name));
                    }
                    let samples = samples_per_packet(factors.batch_bytes, flow.size_bytes);
                    let (link, times) = (link(number, flow.size_bytes), self.traces.times(&flow.load));
                    let packing = BatchPolicy::new(factors.batch_bytes, factors.batching, flow.size_bytes);
                    streams.push(Stream::new((number, flow), times, link, packing, samples, recorded));
                }
                let traffic = paced::measure(&mut streams, recorder, reliable, &design, drain_ns);
                self.arrivals =
                    streams.into_iter().map(|stream| stream.into_link().into_arrivals()).collect();
                self.pool();
                traffic
            }
            Workload::Discovery => unreachable!("only a pair is simulated"),
            Workload::Search => unreachable!("a search has no run of its own: its trials are paced ones"),
            Workload::Throughput => {
                let mut link = link(0, factors.size_bytes);
                let call = self.series.entry("write_call").or_default();
                let traffic = throughput::measure(call, recorder, &mut link, factors, &design, drain_ns);
                self.arrivals = vec![link.into_arrivals()];
                traffic
            }
        };
        Ok(traffic.into_reports(factors, &design))
    }

    /// Adds the values of all flows to the series of the run, by kind.
    fn pool(&mut self) {
        for recorded in &self.recorded {
            for (kind, series) in recorded.kinds() {
                self.series.entry(kind).or_default().extend(series);
            }
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
        let context = RunContext {
            factors: &cell.factors,
            design: &design,
            traces: &self.traces,
            // One-way times are distributions too.
            one_clock: !self.recorder.counts_only,
            sysctls: &BTreeMap::new(),
        };
        let mut run = Run::blank(scheduled, cell, 0);
        let log = collect(&mut run, &context, reports);
        let phases = [("warm_up", design.warm_up_ns), ("measure", design.measure_ns)];
        run.phases_ns = phases.map(|(phase, ns)| (phase.to_owned(), ns)).into();
        if let Some(duet) = &mut run.duet {
            duet.side_by_side_pct = 100.0;
        }
        SimulatedRun { run, histograms: log.merged() }
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
        let reports = self.reports(cell, design, scheduled)?;
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
            planned: run.paced.as_ref().map(|paced| paced.planned),
            unsent: run.paced.as_ref().map(|paced| paced.unsent),
            counted: DeliveryCounts::sum(run.counts()),
            throughput: run.throughput,
        })
    }

    /// Returns the values of a kind (such as `rtt`, `one_way_out`, `one_way_back`) in the last run.
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
