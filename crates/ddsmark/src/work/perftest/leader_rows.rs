//! Rows of the leader: those of publisher 0, during a run and after it.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use control::AgentReport;
use experiment::Cell;
use findings::KEPT;
use perftest::{Banner, Mode, Role, banner};
use rendezvous::Outcome;
use results::{FlowRecord, Run, RunState, WarningKind};
use runner::{EndpointProgress, Observer, Progress};

use super::{Process, experiment::MAX_SECONDS, leader_name, printer::Printer, rows};
use crate::cli::output::note;

/// Minimum number of samples from which their rate is judged: one more or less is less than the tolerance.
const LEAST_OF_RATE: u64 = 200;

/// Rows of the leader.
pub struct LeaderRows<'a> {
    process: &'a Process,
    printer: &'a Mutex<Printer>,
    /// Serialized size of the samples of the run.
    size: AtomicU64,
    /// Progress of this publisher at the row before.
    before: Mutex<control::Progress>,
    is_latency: bool,
}

impl<'a> LeaderRows<'a> {
    /// Creates the rows of a test.
    pub fn new(process: &'a Process, printer: &'a Mutex<Printer>) -> Self {
        Self {
            process,
            printer,
            size: AtomicU64::new(0),
            before: Mutex::default(),
            is_latency: process.settings.shared.mode == Mode::Latency,
        }
    }

    fn printer(&self) -> MutexGuard<'_, Printer> {
        self.printer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the banner with the requested settings.
    pub fn print_banner(&self) {
        let middleware = self.process.middleware();
        let effective = &self.printer().effective;
        let text = banner(
            &self.process.settings,
            &Banner { version: env!("CARGO_PKG_VERSION"), middleware: &middleware, effective },
        );
        note(text.trim_end());
    }

    /// Prints a row during a run.
    pub fn progressed(&self, all: &[EndpointProgress<'_>]) {
        let size = self.size.load(Ordering::Relaxed);
        // Only publisher 0 measures latency.
        let Some(of) = all.iter().find(|of| of.progress.round_trips.is_some()) else { return };
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows::latency_interval(size, &before, &of.progress, self.process.facts.host.cpus);
        *before = of.progress;
        if let Some(row) = row {
            self.printer().latency_interval(&row);
        }
    }

    /// Appends the round trips of the pinger to the file for them.
    fn keep_latencies(&self, reports: &[&AgentReport]) {
        let size = self.size.load(Ordering::Relaxed);
        let returns = reports.iter().filter_map(|report| report.pinger()).flat_map(|pinger| &pinger.returns);
        for echoes in returns {
            let stamps = echoes.stamps.as_slice().iter().filter(|stamp| stamp.second_ns > 0);
            let rtts_ns: Vec<u64> =
                stamps.map(|stamp| stamp.second_ns.saturating_sub(stamp.first_ns)).collect();
            let kept = rtts_ns.len() as u64;
            self.printer().latencies(size, rtts_ns.into_iter());
            if kept < echoes.returned {
                let text = format!(
                    "{size} bytes: the file of `-latencyFile` has the first {kept} of {} latencies: an agent keeps that many",
                    echoes.returned
                );
                note(&format!("warning: {text}"));
            }
        }
    }

    /// Keeps the reasons why the reception of a subscriber is not valid, as the subscriber itself says.
    fn keep_faults(&self, reports: &[&AgentReport]) {
        let size = self.size.load(Ordering::Relaxed);
        let readers =
            reports.iter().filter(|report| report.received().next().is_some() || report.echo().is_some());
        for fault in readers.flat_map(|report| rows::faults(report)) {
            let text = format!("{size} bytes: {fault}");
            note(&format!("warning: not valid: {text}"));
            self.printer().invalid.push(text);
        }
    }

    fn finished(&self, run: &Run) {
        let size = self.size.load(Ordering::Relaxed);
        if let Some(failure) = &run.failure {
            let host =
                failure.endpoint.as_deref().map(|endpoint| format!("{endpoint}: ")).unwrap_or_default();
            let hint = failure.hint.as_deref().and_then(|hint| self.process.settings.hint_in_options(hint));
            let error = self.process.settings.in_options(&failure.error);
            let text = format!("{size} bytes: {host}{error}");
            let of_hint = hint.as_deref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            note(&format!("error: {text}{of_hint}"));
            let mut printer = self.printer();
            printer.invalid.push(format!("{size} bytes: {error}"));
            printer.failure.get_or_insert_with(|| Outcome::failure(text, hint));
            return;
        }
        let own = run.endpoints.iter().find(|endpoint| endpoint.host == leader_name());
        let usage = own
            .and_then(|own| run.processes.iter().find(|process| process.number == own.process))
            .map(|process| &process.usage);
        let latency = run.latency.get("rtt");
        let row = rows::latency(size, latency, usage, self.process.facts.host.cpus);
        let mut printer = self.printer();
        if let Some(own) = own.filter(|_| printer.effective.is_empty()) {
            printer.effective = rows::effective(&own.effective_qos, &own.settings, &self.process.settings);
            let lines: Vec<String> =
                printer.effective.iter().map(|value| format!("\t{}: {}", value.name, value.value)).collect();
            note(&format!("Effective Settings:\n{}", lines.join("\n")));
        }
        printer.latency_summary(&row);
        let is_shown =
            |kind| matches!(kind, WarningKind::Foreign | WarningKind::Order | WarningKind::BufferDrops);
        let settings = &self.process.settings;
        for warning in run.warnings.iter().filter(|warning| is_shown(warning.kind)) {
            note(&format!("warning: {size} bytes: {}", settings.in_options(&warning.text)));
        }
        let requested_sps = settings.shared.samples_per_s(size);
        let missed = settings.requested_rate().and_then(|option| missed_rate(&option, requested_sps, run));
        if let Some(text) = missed {
            note(&format!("warning: {size} bytes: {text}"));
        }
        if run.state == RunState::Invalid {
            let texts: Vec<String> =
                run.warnings.iter().map(|warning| settings.in_options(&warning.text)).collect();
            let text = format!("{size} bytes: {}", texts.join("; "));
            note(&format!("warning: not valid: {text}"));
            printer.invalid.push(text);
        }
        let shared = &settings.shared;
        if let Some(text) = unreached(shared.samples, shared.execution_time_s, &run.flows) {
            let text = format!("{size} bytes: {text}");
            note(&format!("warning: not valid: {text}"));
            printer.invalid.push(text);
        }
    }
}

impl Observer for &LeaderRows<'_> {
    fn run_started(&mut self, _progress: &Progress, cell: &Cell) {
        let shared = &self.process.settings.shared;
        let raw = self.process.settings.local.raw_transport;
        let payload = cell.factors.size_bytes;
        let size = shared.sizes.iter().find(|size| shared.payload_bytes(**size, raw) == payload);
        self.size.store(size.copied().unwrap_or(payload), Ordering::Relaxed);
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = control::Progress::default();
        if self.is_latency || self.process.settings.role == Role::Publisher {
            let size = self.size.load(Ordering::Relaxed);
            self.printer().begin_latency(size);
        }
    }

    fn reported(&mut self, reports: &[&AgentReport], run: &Run) {
        if run.failure.is_some() {
            return;
        }
        if self.process.settings.local.output.latency_file.is_some() {
            self.keep_latencies(reports);
        }
        if run.state == RunState::Valid {
            self.keep_faults(reports);
        }
    }

    fn run_finished(&mut self, _progress: &Progress, run: &Run, _cell: &Cell) {
        self.finished(run);
    }
}

/// Returns a warning if the rate that an option asks for was missed, with what the run says of the cause. `requested_sps`: rate of a
/// publisher, if it is known.
fn missed_rate(option: &str, requested_sps: Option<f64>, run: &Run) -> Option<String> {
    let (paced, throughput) = (run.paced()?, run.throughput()?);
    let writers: BTreeSet<&str> = run.flows.iter().map(|flow| flow.writer.as_str()).collect();
    let reached_sps = throughput.accepted_sps / writers.len().max(1) as f64;
    let share = missed_share((paced.planned, paced.unsent), reached_sps, requested_sps)?;
    let is_cause = |warning: &&results::Warning| {
        matches!(warning.kind, WarningKind::SenderLimited | WarningKind::BackPressure)
    };
    let cause = run.warnings.iter().find(is_cause).map(|warning| format!("; {}", warning.text));
    Some(format!(
        "the rate of `{option}` was missed: {reached_sps:.0} samples/s were sent, {:.1} %{}",
        100.0 * share,
        cause.unwrap_or_default()
    ))
}

/// Returns the share of a rate that was reached if it was missed. Samples that a time cut off were not tried; a number of samples ends
/// later than planned.
fn missed_share((planned, unsent): (u64, u64), reached_sps: f64, requested_sps: Option<f64>) -> Option<f64> {
    let tried = if planned == 0 { 1.0 } else { planned.saturating_sub(unsent) as f64 / planned as f64 };
    let in_time = requested_sps.filter(|_| planned >= LEAST_OF_RATE).map_or(1.0, |rate| reached_sps / rate);
    Some(tried.min(in_time)).filter(|share| *share < KEPT)
}

/// Returns why a run is not complete that only the number of samples was to end.
fn unreached(samples: Option<u64>, seconds: Option<u64>, flows: &[FlowRecord]) -> Option<String> {
    let samples = samples.filter(|_| seconds.is_none())?;
    let sent = flows.iter().map(|flow| flow.counted.sent + flow.counted.filtered).min()?;
    (sent < samples).then(|| {
        format!(
            "`-numIter {samples}` was not reached: a size ends after {MAX_SECONDS} s, with {sent} samples"
        )
    })
}

#[cfg(test)]
mod tests {
    use results::DeliveryCounts;

    use super::*;

    #[test]
    fn missed_rates_are_those_below_the_tolerance() {
        assert_eq!(missed_share((1000, 0), 995.0, Some(1000.0)), None);
        assert_eq!(
            missed_share((1000, 0), 400.0, Some(1000.0)),
            Some(0.4),
            "a number of samples ended it later"
        );
        assert_eq!(missed_share((1000, 600), 400.0, None), Some(0.4), "a time cut it off");
        assert_eq!(missed_share((10, 0), 900.0, Some(1000.0)), None, "too few to tell");
        assert_eq!(missed_share((0, 0), 0.0, None), None);
    }

    #[test]
    fn end_before_the_number_of_samples_is_named() {
        let flow = |sent| FlowRecord {
            counted: DeliveryCounts { sent, ..DeliveryCounts::default() },
            ..FlowRecord::default()
        };
        assert_eq!(unreached(Some(5), None, &[flow(5), flow(5)]), None);
        let mut filtered = flow(3);
        filtered.counted.filtered = 2;
        assert_eq!(unreached(Some(5), None, &[filtered]), None, "the filter of the reader excludes two");
        assert_eq!(unreached(Some(5), Some(1), &[flow(4)]), None, "the time may end it");
        assert_eq!(unreached(None, None, &[flow(4)]), None);
        assert_eq!(
            unreached(Some(5), None, &[flow(5), flow(4)]).as_deref(),
            Some("`-numIter 5` was not reached: a size ends after 86400 s, with 4 samples")
        );
    }
}
