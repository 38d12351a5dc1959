//! Rows of the leader: those of publisher 0, during a run and after it.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use control::AgentReport;
use experiment::Cell;
use perftest::{Banner, LatencyInterval, Mode, Role, banner};
use rendezvous::Outcome;
use results::{EndpointRecord, FlowRecord, Run, RunState, WarningKind};
use runner::{EndpointProgress, Observer, Progress};

use super::{Process, leader_name, missed_rates, printer::Printer, publishers::Publisher, rows};
use crate::cli::output::note;

/// Rows of the leader.
pub struct LeaderRows<'a> {
    process: &'a Process,
    printer: &'a Mutex<Printer>,
    /// Publishers, in the order of their endpoints.
    publishers: &'a [Publisher],
    /// Serialized size of the samples of the run.
    size: AtomicU64,
    /// Progress of this publisher at the row before.
    before: Mutex<control::Progress>,
    is_latency: bool,
}

impl<'a> LeaderRows<'a> {
    /// Creates the rows of a test.
    pub fn new(process: &'a Process, printer: &'a Mutex<Printer>, publishers: &'a [Publisher]) -> Self {
        Self {
            process,
            printer,
            publishers,
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
            self.printer().row(&row);
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

    /// Warns of each publisher that missed its rate.
    fn warn_of_rates(&self, reports: &[&AgentReport], run: &Run) {
        let size = self.size.load(Ordering::Relaxed);
        for text in missed_rates::warnings(self.publishers, size, reports, run) {
            note(&format!("warning: {size} bytes: {text}"));
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
        printer.row(&row);
        let is_shown =
            |kind| matches!(kind, WarningKind::Foreign | WarningKind::Order | WarningKind::BufferDrops);
        let settings = &self.process.settings;
        for warning in run.warnings.iter().filter(|warning| is_shown(warning.kind)) {
            note(&format!("warning: {size} bytes: {}", settings.in_options(&warning.text)));
        }
        if run.state == RunState::Invalid {
            let texts: Vec<String> =
                run.warnings.iter().map(|warning| settings.in_options(&warning.text)).collect();
            let text = format!("{size} bytes: {}", texts.join("; "));
            note(&format!("warning: not valid: {text}"));
            printer.invalid.push(text);
        }
        for text in unreached(self.publishers, run) {
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
            self.printer().begin::<LatencyInterval>(size);
        }
    }

    fn reported(&mut self, reports: &[&AgentReport], run: &Run) {
        if run.failure.is_some() {
            return;
        }
        if self.process.settings.local.output.latency_file.is_some() {
            self.keep_latencies(reports);
        }
        self.warn_of_rates(reports, run);
        if run.state == RunState::Valid {
            self.keep_faults(reports);
        }
    }

    fn run_finished(&mut self, _progress: &Progress, run: &Run, _cell: &Cell) {
        self.finished(run);
    }
}

/// Returns why the samples of publishers are not complete, with the name of each if there are several.
fn unreached(publishers: &[Publisher], run: &Run) -> Vec<String> {
    let writers = run.endpoints.iter().filter(|endpoint| endpoint.drives());
    let unreached = |(publisher, writer): (&Publisher, &EndpointRecord)| {
        let sent = sent(run.flows.iter().filter(|flow| flow.writer == writer.id))?;
        let text = publisher.end.unreached(sent)?;
        Some(if publishers.len() > 1 { format!("{}: {text}", publisher.name) } else { text })
    };
    publishers.iter().zip(writers).filter_map(unreached).collect()
}

/// Returns the number of samples that a writer of these flows sent to each reader at least; `None` without flows. Samples that the filter of
/// a reader excludes were sent.
fn sent<'f>(flows: impl Iterator<Item = &'f FlowRecord>) -> Option<u64> {
    flows.map(|flow| flow.counted.sent + flow.counted.filtered).min()
}

#[cfg(test)]
mod tests {
    use results::DeliveryCounts;

    use super::*;

    #[test]
    fn samples_that_a_filter_excludes_were_sent() {
        let flow = |sent, filtered| FlowRecord {
            counted: DeliveryCounts { sent, filtered, ..DeliveryCounts::default() },
            ..FlowRecord::default()
        };
        assert_eq!(sent([].iter()), None);
        assert_eq!(sent([flow(5, 0), flow(3, 2)].iter()), Some(5));
        assert_eq!(sent([flow(5, 0), flow(3, 1)].iter()), Some(4));
    }
}
