//! Values over the runs of a cell, with their intervals.

use charts::{Better, Estimate, Interval, Unit};
use results::{CellResult, CpuPerSample, GrowthValue, MAX_LATENCY_LOSS_PCT, Metric, ProcessRecord, Run};
use stats::{median, median_interval};

/// Value of a run that charts show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Metric of claims.
    Metric(Metric),
    /// CPU time of writer and reader per sample, in ns.
    Cpu,
    /// Bytes received on the interface, for each byte of payload that was delivered.
    WirePerByte,
    /// Time of a writer per accepted sample, in ns.
    SampleTime,
    /// Packets that the interface sent until all participants were matched.
    PacketsUntilMatched,
    /// Memory of a participant, in bytes.
    Memory,
    /// CPU time of a process while samples flowed, in percent of a core.
    ProcessCpu,
    /// Maximum resident memory of a process, in bytes.
    ProcessMemory,
}

impl Quantity {
    /// Returns the value whose growth findings judge; `None` if no chart has it.
    pub(crate) const fn of_growth(value: GrowthValue) -> Option<Self> {
        match value {
            GrowthValue::TimePerSample => Some(Self::SampleTime),
            GrowthValue::Rtt => Some(Self::Metric(Metric::RttP50)),
            GrowthValue::SampleHop => Some(Self::Metric(Metric::SampleHop)),
            GrowthValue::AllMatched => Some(Self::Metric(Metric::AllMatched)),
            GrowthValue::Packets => Some(Self::PacketsUntilMatched),
            GrowthValue::Memory => Some(Self::Memory),
            GrowthValue::IdlePackets => None,
        }
    }

    /// Returns the value of a run in the unit of charts; `None` if the run is not valid or lacks it.
    pub(crate) fn of(self, cell: &CellResult, run: &Run) -> Option<f64> {
        match self {
            // With one sample in flight, the round trip says it.
            Self::Metric(Metric::SampleHop) if !cell.factors.is_pipelined() => None,
            Self::Metric(metric) => {
                let value = run.value(metric)?;
                // Charts have a prefix of their own.
                Some(if metric == Metric::Goodput { value * 1e6 } else { value })
            }
            Self::Cpu => run.cpu_ns_per_sample.as_ref().map(|cpu| cpu.writer + cpu.reader),
            Self::WirePerByte => {
                let delivered = run.throughput()?.delivered as f64 * cell.factors.size_bytes as f64;
                let received = run.wire.as_ref()?.rx_bytes as f64;
                // Of a driver that does not use the interface, only bytes of other programs are there.
                (delivered > 0.0 && received > 0.5 * delivered).then_some(received / delivered)
            }
            Self::SampleTime => {
                let (writers, _) = cell.factors.topology.mesh()?;
                let accepted = run.throughput()?.accepted_sps;
                (accepted > 0.0).then(|| f64::from(writers) * 1e9 / accepted)
            }
            Self::PacketsUntilMatched => Some(run.discovery()?.until_matched.as_ref()?.tx_packets as f64),
            Self::Memory => run.discovery()?.memory_per_participant_bytes.map(|bytes| bytes as f64),
            // Of a run, that of the process with the most.
            Self::ProcessCpu | Self::ProcessMemory => {
                run.processes.iter().filter_map(|process| self.of_process(process)).reduce(f64::max)
            }
        }
    }

    /// Returns the value of a process of a run; `None` of other values.
    pub(crate) fn of_process(self, process: &ProcessRecord) -> Option<f64> {
        match self {
            Self::ProcessCpu => Some(100.0 * process.usage.used()),
            Self::ProcessMemory => process.usage.peak_memory_bytes.map(|bytes| bytes as f64),
            _ => None,
        }
    }

    /// Returns the name.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Metric(Metric::RttP50) => "median round-trip time",
            Self::Metric(Metric::RttP99) => "99 % round-trip time",
            Self::Metric(Metric::ResponseP50) => "median response time",
            Self::Metric(Metric::ResponseP99) => "99 % response time",
            Self::Metric(Metric::Goodput) => "throughput, payload",
            Self::Metric(metric) => metric.words(),
            Self::Cpu => "CPU time per sample, writer and reader",
            Self::WirePerByte => "bytes on the wire per byte of payload",
            Self::SampleTime => "time of a writer per sample",
            Self::PacketsUntilMatched => "packets until all are matched",
            Self::Memory => "memory of a participant",
            Self::ProcessCpu => "CPU time of a process, in percent of a core",
            Self::ProcessMemory => "resident memory of a process",
        }
    }

    /// Returns the unit.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Metric(Metric::Goodput) => Unit::BitsPerSecond,
            Self::Metric(metric) => match metric.unit() {
                "1/s" => Unit::SamplesPerSecond,
                "%" => Unit::Percent,
                "x" => Unit::Count,
                _ => Unit::Nanoseconds,
            },
            Self::Cpu | Self::SampleTime => Unit::Nanoseconds,
            Self::WirePerByte | Self::PacketsUntilMatched => Unit::Count,
            Self::Memory | Self::ProcessMemory => Unit::Memory,
            Self::ProcessCpu => Unit::Percent,
        }
    }

    /// Returns the direction that is better.
    pub(crate) const fn better(self) -> Better {
        match self {
            Self::Metric(metric) => metric.better(),
            _ => Better::Less,
        }
    }

    /// Returns the median over the counted runs with its interval; `None` if no run has the value, or if a run has too few samples for
    /// it. A value among the lost round trips is longer than all others.
    pub(crate) fn over_runs(self, cell: &CellResult) -> Option<Estimate> {
        let lost = match self {
            Self::Metric(metric) => {
                cell.values_of(metric, None)?.into_iter().filter(|of| of.is_infinite()).count()
            }
            _ => 0,
        };
        let of_runs = cell.claimed_runs().filter_map(|run| self.of(cell, run));
        let values = of_runs.chain(std::iter::repeat_n(f64::INFINITY, lost));
        let over_runs = estimate(&values.collect::<Vec<_>>())?;
        match self {
            // The sum of the two medians that tables have.
            Self::Cpu => Some(Estimate { value: cpu_parts(cell)?.iter().sum(), ..over_runs }),
            _ => Some(over_runs),
        }
    }

    /// Returns the median over the counted runs; `None` as of [`Self::over_runs`].
    pub(crate) fn median(self, cell: &CellResult) -> Option<f64> {
        self.over_runs(cell).map(|estimate| estimate.value)
    }

    /// Returns the run of a cell whose value is the median of those of all runs: of an even number, the lower one.
    pub(crate) fn median_run(self, cell: &CellResult) -> Option<&Run> {
        let known = cell.claimed_runs().filter_map(|run| Some((self.of(cell, run)?, run)));
        let mut runs: Vec<(f64, &Run)> = known.collect();
        runs.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.number.cmp(&right.1.number)));
        runs.get(runs.len().checked_sub(1)? / 2).map(|(_, run)| *run)
    }
}

/// Returns the medians of the CPU time per sample of the writer's and the reader's process, in ns.
pub(crate) fn cpu_parts(cell: &CellResult) -> Option<[f64; 2]> {
    let of = |part: fn(&CpuPerSample) -> f64| {
        let runs = cell.claimed_runs().filter_map(|run| run.cpu_ns_per_sample.as_ref());
        median(&runs.map(part).collect::<Vec<_>>())
    };
    Some([of(|cpu| cpu.writer)?, of(|cpu| cpu.reader)?])
}

/// Minimum number of values with an interval of the median at 95 %.
pub(crate) const LEAST_FOR_INTERVAL: usize = 6;

/// Returns the median with its interval of order statistics; with fewer than 6 values with their range, with one without.
pub(crate) fn estimate(values: &[f64]) -> Option<Estimate> {
    let value = median(values)?;
    let range = ends(values.iter().copied()).filter(|_| values.len() > 1);
    let interval = median_interval(values).or(range);
    Some(Estimate { value, interval: interval.map(|(low, high)| Interval { low, high }) })
        .filter(|estimate| estimate.value.is_finite())
}

/// Returns the lowest and the highest of these values; `None` without one.
pub(crate) fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends: Option<(f64, f64)>, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// Returns the name of the intervals of these cells.
pub(crate) fn interval_name(cells: &[&CellResult]) -> &'static str {
    interval_name_of(cells.iter().map(|cell| cell.claimed_runs().count()))
}

/// Returns the name of the intervals over these numbers of runs.
pub(crate) fn interval_name_of(runs: impl Iterator<Item = usize> + Clone) -> &'static str {
    let mut runs = runs.filter(|runs| *runs > 0);
    let few = |runs: usize| runs < LEAST_FOR_INTERVAL;
    match (runs.clone().any(few), runs.all(few)) {
        (false, _) => "95 % interval of the median",
        (true, true) => "range of the runs",
        (true, false) => "95 % interval of the median, or range of fewer than 6 runs",
    }
}

/// Returns whether too many samples of a cell are missing, or its sender was late: do not compare without reading why.
pub(crate) fn is_doubtful(cell: &CellResult) -> bool {
    !doubt(cell).is_empty()
}

/// Returns why a cell is doubtful; empty if it is not.
pub(crate) fn doubt(cell: &CellResult) -> String {
    let missing = cell.shortfall().pct();
    if missing > MAX_LATENCY_LOSS_PCT {
        format!("{} % missing", results::format_value(missing))
    } else if cell.is_sender_limited() {
        "the sender was late".to_owned()
    } else {
        String::new()
    }
}

/// Returns the words for a size.
pub(crate) fn bytes(size: u64) -> String {
    format!("{}\u{a0}B", charts::number::round(size as f64))
}
