//! Simulator of runs and experiments in virtual time.

use std::{collections::BTreeMap, mem, sync::Arc};

use blocks::NextBlock;
use experiment::{
    Cell, Design, DriverDescription, Experiment, Factors, Load, Reliability, ScheduledRun, Workload,
};
use results::{
    Assembler, Block, Counted, Document, Duet, Header, Histograms, Latency, Packing, Received, Reference,
    Run, RunState, State, SteadyState, Throughput, WritingTime, kind_of_flow, steady_latency, steady_rate,
    with_rate,
};
use sim_model::{Config, ConfigError, Flow};

use crate::{
    Figures, Machine, Outcome, Series,
    capabilities::{policies, refuse},
    describe, latency,
    paced::{self, Open, Recorded, Stream},
    throughput,
    usage::Used,
    way::{Arrival, Way},
};

/// Simulator of runs and experiments. Reuses its memory between runs.
#[derive(Debug, Default)]
pub struct Lab {
    /// Simulated host.
    pub machine: Machine,
    /// Driver descriptions by name. A driver without an entry gets the middleware of [`describe()`].
    pub drivers: BTreeMap<String, DriverDescription>,
    /// Times of the trace file of each flow that follows one, by flow name: in ns from the start, ascending.
    pub traces: BTreeMap<String, Arc<[u64]>>,
    series: BTreeMap<&'static str, Series>,
    /// Values of the flows of an open loop.
    recorded: Vec<Recorded>,
    arrivals: Vec<Vec<Arrival>>,
}

/// Measurements of a workload.
pub(crate) struct Measured {
    /// Delivery counts of each flow.
    pub counted: Vec<Counted>,
    pub throughput: Option<Throughput>,
    /// Reader's record of a single flow, with its writing time.
    pub received: Option<(Received, WritingTime)>,
    /// Schedules of an open loop.
    pub open: Option<Open>,
    pub used: Used,
}

impl Lab {
    /// Creates a simulator of the default host.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a simulator of the given host.
    #[must_use]
    pub fn on(machine: Machine) -> Self {
        Self { machine, ..Self::default() }
    }

    /// Executes a run. Its values are in `series`.
    fn measure(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<Measured, ConfigError> {
        let factors = &cell.factors;
        let options = factors.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // The two runs of a duet share the state of the host.
        let at = scheduled.duet.map_or(scheduled.number, |duet| duet.partner.min(scheduled.number));
        let half =
            if scheduled.duet.is_some_and(|duet| duet.half == 1) { self.machine.other_half } else { 1.0 };
        let slower =
            self.machine.between.factor(design.seed, at) * self.machine.host.factor(scheduled.block) * half;
        refuse(factors, &self.machine)?;
        let config = Config::parse(options)?.slowed(slower);
        let machine = self.machine.slowed(slower);
        let seed = design.seed_of_run(scheduled.number);
        let reliable = factors.qos.reliability == Some(Reliability::Reliable);
        let config_of = |packet_bytes| {
            let mut config = config.clone();
            machine.limit(&mut config, packet_bytes);
            Arc::new(config)
        };
        let flow = |config: &Arc<Config>, stream| {
            Flow::new(config.clone(), reliable, config.qos_ns(policies(&factors.qos)), seed, stream)
        };
        let mut memory = mem::take(&mut self.arrivals);
        let mut way = |stream: usize, size| {
            let config = config_of(samples_per_packet(factors.batch_bytes, size) * size);
            let arrivals = memory.pop().unwrap_or_default();
            Way::new(flow(&config, stream as u64), config, &machine, reliable, size, arrivals)
        };
        for series in self.series.values_mut() {
            series.clear();
        }
        Ok(match factors.workload {
            Workload::Latency => {
                let samples = samples_per_packet(factors.batch_bytes, factors.size_bytes);
                let config = config_of(factors.size_bytes * samples);
                let flows = [flow(&config, 0), flow(&config, 1)];
                latency::measure(&mut self.series, flows, &config, &machine, factors, design)
            }
            Workload::Paced => {
                let flows = factors.streams();
                self.recorded.resize_with(flows.len(), Recorded::default);
                let mut streams = Vec::with_capacity(flows.len());
                for ((number, flow), recorded) in flows.iter().enumerate().zip(&mut self.recorded) {
                    let samples = samples_per_packet(factors.batch_bytes, flow.size_bytes);
                    let way = way(number, flow.size_bytes);
                    let times = trace_of(&self.traces, flow)?;
                    let packing = Packing::new(factors, flow.size_bytes);
                    streams.push(Stream::new((number, flow), times, way, packing, samples, recorded));
                }
                let measured = paced::measure(&mut streams, design, seed);
                self.arrivals = streams.into_iter().map(|stream| stream.into_way().into_arrivals()).collect();
                self.pool();
                measured
            }
            Workload::Search => unreachable!("a search has no run of its own: its trials are paced ones"),
            Workload::Throughput => {
                let mut way = way(0, factors.size_bytes);
                let call = self.series.entry("write_call").or_default();
                let measured = throughput::measure(call, &mut way, factors, design);
                self.arrivals = vec![way.into_arrivals()];
                measured
            }
        })
    }

    /// Returns the steady state of a run by its latency and its delivered rate, if its schedule has a constant level.
    fn steady_state(
        &self,
        received: Option<&(Received, WritingTime)>,
        factors: &Factors,
        design: &Design,
    ) -> BTreeMap<String, SteadyState> {
        let is_level =
            |flow: &experiment::Flow| !matches!(flow.load, Load::Burst { .. } | Load::Trace { .. });
        if !factors.streams().iter().all(is_level) {
            return BTreeMap::new();
        }
        let delivered = received
            .and_then(|(received, writing)| steady_rate(received, *writing))
            .map(|state| ("delivered".to_owned(), state));
        let latency = ["rtt", "response"].into_iter().filter_map(|kind| Some((kind, self.series(kind)?)));
        let by_latency = latency.flat_map(|(kind, series)| {
            let windows = series.windows(design.windows, design.measure_ns);
            steady_latency(kind, windows.histograms(), windows.length_ns())
        });
        delivered.into_iter().chain(by_latency).collect()
    }

    /// Adds the values of all flows to the series of the run, by kind.
    fn pool(&mut self) {
        for recorded in &self.recorded {
            for (kind, series) in recorded.kinds() {
                self.series.entry(kind).or_default().extend(series);
            }
        }
    }

    /// Executes one run of a cell, whose options are those of the simulated middleware. The seed of the design, the
    /// number of the run and the option `seed` determine all random numbers.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
    pub fn run(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<Outcome, ConfigError> {
        let measured = self.measure(cell, design, scheduled)?;
        let factors = &cell.factors;
        let (mut latency, mut histograms) =
            latencies(self.series.iter().map(|(kind, series)| (*kind, series)));
        if factors.workload == Workload::Latency {
            let lost = Counted::sum(&measured.counted).lost;
            for (kind, latency) in &mut latency {
                *latency = latency.with_lost(lost, &histograms[kind]);
            }
        }
        let paced = measured.open.map(|open| {
            let flows = factors.streams();
            // A single flow is the whole run.
            let of_flows = match &flows[..] {
                [_] => vec![latency.clone()],
                several => several
                    .iter()
                    .zip(&self.recorded)
                    .map(|(flow, recorded)| {
                        let (latency, of_flow) = latencies(recorded.kinds().into_iter());
                        let named = of_flow
                            .into_iter()
                            .map(|(kind, values)| (kind_of_flow(&kind, &flow.name), values));
                        histograms.extend(named);
                        latency
                    })
                    .collect(),
            };
            open.record(flows, of_flows, &measured.counted, &measured.used, design)
        });
        let steady_state = self.steady_state(measured.received.as_ref(), factors, design);
        let mut run = Run {
            search: None,
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
            paced,
            ping_retries: None,
            counted: measured.counted.clone(),
            cpu_ns_per_sample: None,
            effective_qos: ["writer", "reader"].map(|end| (end.to_owned(), factors.qos.clone())).into(),
            wire: None,
            udp_buffer_drops: None,
            environment_padding_bytes: None,
            agents: Vec::new(),
            warnings: Vec::new(),
        };
        measured.used.record(&mut run, factors, &Counted::sum(&measured.counted));
        Ok(Outcome { run, histograms })
    }

    /// Executes the same run as [`Self::run`] and returns only its metrics: much faster, without histograms, windows
    /// and record.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
    pub fn figures(
        &mut self,
        cell: &Cell,
        design: &Design,
        scheduled: ScheduledRun,
    ) -> Result<Figures, ConfigError> {
        let Measured { counted, throughput, open, .. } = self.measure(cell, design, scheduled)?;
        let mut quantile =
            |kind, quantile| self.series.get_mut(kind).and_then(|series| series.quantile(quantile));
        Ok(Figures {
            rtt_p50_ns: quantile("rtt", 0.5),
            rtt_p99_ns: quantile("rtt", 0.99),
            response_p50_ns: quantile("response", 0.5),
            response_p99_ns: quantile("response", 0.99),
            planned: open.as_ref().map(Open::planned),
            unsent: open.map(|open| open.unsent()),
            throughput,
            counted: Counted::sum(&counted),
        })
    }

    /// Executes an experiment as `ddsmark run` does, with as many blocks as the design or the pilot of a precision
    /// requires. The result has no verdicts.
    ///
    /// # Errors
    /// Returns an error for options or factors that the simulation does not support.
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
        let maxima = self.maxima(experiment)?;
        let cells: Vec<Cell> = experiment.cells.iter().map(|cell| with_rate(cell, &maxima)).collect();
        let mut course = blocks::begin(experiment);
        course.maxima = maxima;
        let schedule = experiment.schedule();
        let stopped_by = loop {
            if blocks::is_due(experiment, &course) {
                blocks::decide(experiment, &mut course, |cell| assembler.runs_of(cell));
            }
            match blocks::next(experiment, &schedule, &course) {
                NextBlock::Done(stopped_by) => break stopped_by,
                NextBlock::Block { number, repeats, runs } => {
                    for &scheduled in &runs {
                        let Outcome { run, histograms } =
                            self.run(&cells[scheduled.cell], &experiment.design, scheduled)?;
                        assembler.add(run, &histograms);
                    }
                    let took_ns = experiment.expected_block_ns();
                    blocks::add_quiet(&mut course, number, repeats, &runs, took_ns);
                }
            }
        };
        course.allocation.stopped_by = Some(stopped_by);
        assembler.set_course(course);
        let mut document = assembler.document(State::Complete);
        document.blocks = self.blocks(experiment);
        document.findings = findings::of(&document);
        Ok(document)
    }

    /// Returns the blocks with their references; empty if the design has no references.
    fn blocks(&self, experiment: &Experiment) -> Vec<Block> {
        let design = &experiment.design;
        let length_ns = design.reference_ns(experiment.runs_per_block());
        if length_ns == 0 {
            return Vec::new();
        }
        let references = self.machine.host.references(design.seed, design.blocks, length_ns);
        let block = |(number, around): (u32, &[Reference])| Block {
            number,
            repeats: None,
            noisy: false,
            reasons: Vec::new(),
            first_run: (number - 1) * experiment.runs_per_block() as u32 + 1,
            complete: true,
            took_ns: None,
            before: None,
            after: None,
            host: None,
            reference_before: around.first().cloned(),
            reference_after: around.last().cloned(),
            reference_error: None,
        };
        (1..).zip(references.windows(2)).map(block).collect()
    }

    /// Returns the values of a kind (such as `rtt`, `one_way_out`, `one_way_back`) in the last run.
    #[must_use]
    pub fn series(&self, kind: &str) -> Option<&Series> {
        self.series.get(kind).filter(|series| !series.is_empty())
    }
}

/// Returns latencies and histograms of the kinds with at least one value.
fn latencies<'s>(
    kinds: impl Iterator<Item = (&'static str, &'s Series)>,
) -> (BTreeMap<String, Latency>, Histograms) {
    let filled = kinds.filter(|(_, series)| !series.is_empty());
    let both = filled.map(|(kind, series)| {
        let (figures, histogram) = series.latency();
        ((kind.to_owned(), figures), (kind.to_owned(), histogram))
    });
    both.unzip()
}

/// Returns the number of samples of this size in one packet.
pub(crate) fn samples_per_packet(batch_bytes: u64, size_bytes: u64) -> u64 {
    (batch_bytes / size_bytes.max(1)).max(1)
}

/// Returns the times of a flow's trace file; empty if it follows none.
fn trace_of(
    traces: &BTreeMap<String, Arc<[u64]>>,
    flow: &experiment::Flow,
) -> Result<Arc<[u64]>, ConfigError> {
    if !matches!(flow.load, Load::Trace { .. }) {
        return Ok(Arc::default());
    }
    traces.get(&flow.name).cloned().ok_or_else(|| ConfigError {
        message: format!("flow `{}` follows a file whose times are not there", flow.name),
        hint: "put them into `traces`, by the name of the flow".to_owned(),
    })
}
