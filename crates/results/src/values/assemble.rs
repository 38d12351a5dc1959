//! Assembles runs into a result: pooled samples, medians over runs, and sums. Live experiments and loaded
//! directories use the same code.

use std::collections::{BTreeMap, BTreeSet};

use recording::{Histograms, new_histogram, operations};
use stats::{median, total};

use crate::{
    schema::{
        Batches, CellResult, CpuPerSample, EndedProcess, EndpointSpread, ExperimentLog, FlowRecord,
        LinkCeiling, MaxRate, PacedCell, ProbeStats, PublishedValue, ResultDocument, ResultHeader, Run,
        RunState, SCHEMA_VERSION, SearchCell, State, Tail, TakeStats, Throughput, UNDER_DUET_INTERFERENCE,
        Warning, WarningKind, kind_of_flow, latency::cell_latency,
    },
    values::{cell_warnings::warnings, max_rate::with_rate, rules::percent},
};

/// Assembles a result run by run. Its memory does not grow with the number of samples.
#[derive(Debug)]
pub struct Assembler {
    header: ResultHeader,
    log: Option<ExperimentLog>,
    max_rates: Vec<MaxRate>,
    cells: BTreeMap<String, Collected>,
    /// Numbers of the runs that were added.
    numbers: BTreeSet<u32>,
}

/// Runs and pooled histograms of one cell.
#[derive(Debug, Default)]
struct Collected {
    runs: Vec<Run>,
    /// Pooled histograms of the valid runs.
    pooled: Histograms,
}

impl Assembler {
    /// Creates an assembler without runs.
    #[must_use]
    pub const fn new(header: ResultHeader) -> Self {
        Self { header, log: None, max_rates: Vec::new(), cells: BTreeMap::new(), numbers: BTreeSet::new() }
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &ResultHeader {
        &self.header
    }

    /// Adds a run and its histograms of the [`Run::pooled_kinds`] (see [`crate::IntervalLog::merged_of`]).
    pub fn add(&mut self, run: Run, histograms: &Histograms) {
        let collected = self.cells.entry(run.cell.clone()).or_default();
        if run.state == RunState::Valid {
            for (kind, histogram) in histograms {
                let pooled = collected.pooled.entry(kind.clone()).or_insert_with(new_histogram);
                // a histogram of another shape, or one that would overflow, shows as a difference in n
                if pooled.len().checked_add(histogram.len()).is_some() {
                    let _ = operations::add(pooled, histogram);
                }
            }
        }
        self.numbers.insert(run.number);
        collected.runs.push(run);
    }

    /// Sets the progress besides the runs.
    pub fn set_log(&mut self, mut log: ExperimentLog) {
        self.max_rates = std::mem::take(&mut log.max_rates);
        self.log = Some(log);
    }

    /// Returns the runs of a cell added so far.
    #[must_use]
    pub fn runs_of(&self, cell: &str) -> &[Run] {
        self.cells.get(cell).map_or(&[], |collected| &collected.runs)
    }

    /// Returns all runs added so far, cell by cell.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.cells.values().flat_map(|collected| &collected.runs)
    }

    /// Returns all runs added so far, ordered by number.
    #[must_use]
    pub fn runs_in_order(&self) -> Vec<&Run> {
        let mut runs: Vec<&Run> = self.runs().collect();
        runs.sort_by_key(|run| run.number);
        runs
    }

    /// Returns whether a run with this number was added.
    #[must_use]
    pub fn holds(&self, run: u32) -> bool {
        self.numbers.contains(&run)
    }

    /// Returns the result of the runs added so far.
    #[must_use]
    pub fn document(&self, state: State) -> ResultDocument {
        let nothing = Collected::default();
        let cells: Vec<CellResult> = self
            .header
            .experiment
            .cells
            .iter()
            .map(|planned| {
                let collected = self.cells.get(&planned.id).unwrap_or(&nothing);
                let cell = with_rate(planned, &self.max_rates);
                let (design, hosts) = (&self.header.experiment.design, &self.header.hosts);
                let link_ceiling = LinkCeiling::of_cell(&cell.factors, design, hosts);
                let cell = assemble_cell(cell, collected);
                let published = PublishedValue::beside(&cell, &self.header.experiment);
                CellResult { link_ceiling, published, ..cell }
            })
            .collect();
        let mut warnings = self.header.warnings.clone();
        if state == State::Interrupted {
            let planned = self.planned_runs();
            let made: usize = cells.iter().map(|cell| cell.runs.len()).sum();
            let text = format!("stopped early: {made} of {planned} runs were made");
            warnings.push(Warning::new(WarningKind::Incomplete, text));
        }
        if self.header.experiment.design.duet {
            let text = format!(
                "absolute values are {UNDER_DUET_INTERFERENCE}: each run shared the host with the one beside it. They hold \
                 for this result only; what counts is the ratio of the two"
            );
            warnings.push(Warning::new(WarningKind::Duet, text));
        }
        warnings.extend(self.max_rates.iter().filter_map(MaxRate::warning));
        let log = self.log.clone();
        warnings.extend(log.iter().flat_map(ExperimentLog::warnings));
        let (noise_rule, allocation, blocks, resumed) = match log {
            Some(log) => (Some(log.noise_rule), Some(log.allocation), log.blocks, log.resumed),
            None => (None, None, Vec::new(), Vec::new()),
        };
        ResultDocument {
            schema_version: SCHEMA_VERSION,
            tool: self.header.tool.clone(),
            hosts: self.header.hosts.clone(),
            experiment: self.header.experiment.clone(),
            drivers: self.header.drivers.clone(),
            state,
            noise_rule,
            allocation,
            max_rates: self.max_rates.clone(),
            blocks,
            resumed,
            cells,
            findings: Vec::new(),
            verdicts: Vec::new(),
            over_bases: Vec::new(),
            warnings,
        }
    }

    /// Returns the number of planned runs, including those of repeated blocks.
    fn planned_runs(&self) -> usize {
        let experiment = &self.header.experiment;
        self.log.as_ref().map_or(experiment.runs(), |log| log.allocation.runs(experiment, &log.blocks))
    }

    /// Returns whether all planned runs were added.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.log {
            Some(log) => log.is_complete(),
            None => {
                self.cells.values().map(|collected| collected.runs.len()).sum::<usize>()
                    >= self.planned_runs()
            }
        }
    }
}

impl Run {
    /// Returns the kinds whose histograms are pooled over the runs of a cell: those of the run, and of its flows if there are
    /// several. A run that is not valid adds nothing.
    #[must_use]
    pub fn pooled_kinds(&self) -> BTreeSet<String> {
        if self.state != RunState::Valid {
            return BTreeSet::new();
        }
        let mut kinds: BTreeSet<String> = self.latency.keys().cloned().collect();
        if self.paced().is_some() && self.flows.len() > 1 {
            for (flow, name) in self.flows.iter().zip(FlowRecord::log_names(&self.flows)) {
                kinds.extend(flow.latency.keys().map(|kind| kind_of_flow(kind, &name)));
            }
        }
        kinds
    }
}

fn assemble_cell(planned: experiment::Cell, collected: &Collected) -> CellResult {
    let mut runs = collected.runs.clone();
    runs.sort_by_key(|run| run.number);
    let valid: Vec<&Run> = runs.iter().filter(|run| run.state == RunState::Valid).collect();
    let latency =
        cell_latency(valid.iter().map(|run| (&run.latency, !run.twin)), |kind| collected.pooled.get(kind));
    let claimed: Vec<&Run> = valid.iter().copied().filter(|run| !run.twin).collect();
    let throughput = pooled_throughput(&valid, &claimed);
    let warnings = warnings(&planned.factors, &runs, &latency, &collected.pooled);
    let ended = EndedProcess::of_runs(&runs, &planned.factors);
    CellResult {
        id: planned.id,
        factors: planned.factors,
        under_duet_interference: runs.iter().any(|run| run.duet.is_some()),
        latency,
        throughput,
        link_ceiling: None,
        published: Vec::new(),
        paced: PacedCell::from_runs(&valid, ended, &collected.pooled),
        search: SearchCell::from_runs(&valid),
        cpu_ns_per_sample: median_cpu(&claimed),
        effective_qos: common(valid.iter().map(|run| run.effective_qos())),
        settings: common_settings(&valid),
        warnings,
        runs,
    }
}

fn pooled_throughput(valid: &[&Run], claimed: &[&Run]) -> Option<Throughput> {
    let runs: Vec<&Throughput> = valid.iter().filter_map(|run| run.throughput()).collect();
    let rates = || claimed.iter().filter_map(|run| run.throughput());
    let rate = |of: fn(&Throughput) -> f64| median(&rates().map(of).collect::<Vec<_>>());
    let sum = |of: fn(&Throughput) -> u64| total(runs.iter().map(|run| of(run)));
    let (sent, lost) = (sum(|t| t.sent), sum(|t| t.lost));
    Some(Throughput {
        offered_sps: rate(|t| t.offered_sps)?,
        accepted_sps: rate(|t| t.accepted_sps)?,
        delivered_sps: rate(|t| t.delivered_sps)?,
        goodput_mbps: rate(|t| t.goodput_mbps)?,
        sent,
        delivered: sum(|t| t.delivered),
        delivered_in_time: sum(|t| t.delivered_in_time),
        tail: Tail {
            samples: sum(|t| t.tail.samples),
            ns: runs.iter().map(|run| run.tail.ns).max().unwrap_or(0),
        },
        lost,
        undelivered: sum(|t| t.undelivered),
        lost_pct: percent(lost, sent),
        duplicate: sum(|t| t.duplicate),
        out_of_order: sum(|t| t.out_of_order),
        batches: Batches::sum(runs.iter().filter_map(|run| run.batches.as_ref())),
        takes: TakeStats::sum(runs.iter().filter_map(|run| run.takes.as_ref())),
        probes: ProbeStats::sum(runs.iter().filter_map(|run| run.probes.as_ref())),
        readers: EndpointSpread::over_runs(rates().filter_map(|run| run.readers.as_ref())),
        writers: EndpointSpread::over_runs(rates().filter_map(|run| run.writers.as_ref())),
    })
}

fn median_cpu(valid: &[&Run]) -> Option<CpuPerSample> {
    let runs: Vec<&CpuPerSample> = valid.iter().filter_map(|run| run.cpu_ns_per_sample.as_ref()).collect();
    let of = |value: fn(&CpuPerSample) -> Option<f64>| {
        median(&runs.iter().copied().filter_map(value).collect::<Vec<_>>())
    };
    Some(CpuPerSample {
        writer: of(|cpu| Some(cpu.writer))?,
        reader: of(|cpu| Some(cpu.reader))?,
        // over the runs in which idle cost was subtracted
        writer_idle_pct: of(|cpu| cpu.writer_idle_pct),
        reader_idle_pct: of(|cpu| cpu.reader_idle_pct),
    })
}

fn common_settings(valid: &[&Run]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut nested: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for ((entity, name), value) in common(valid.iter().map(|run| run.settings())) {
        nested.entry(entity).or_default().insert(name, value);
    }
    nested
}

/// Returns the entries that all maps have with the same value.
fn common<K: Ord, V: PartialEq>(mut maps: impl Iterator<Item = BTreeMap<K, V>>) -> BTreeMap<K, V> {
    let mut common = maps.next().unwrap_or_default();
    for map in maps {
        common.retain(|key, value| map.get(key) == Some(value));
    }
    common
}
