//! Metrics, failed checks and warnings of a run, while it is evaluated; checks that all workloads share.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use control::{FlowWriterReport, NegativeTimes};
use experiment::{Factors, LEAST_ARRIVALS};
use results::{
    CpuPerSample, DeliveryCounts, Distribution, EncodedWindows, FlowRecord, HistogramError, IntervalLog,
    LateJoinRecord, Latency, Measurement, Pool, Received, Ring, SteadyState, TakeStats, Throughput, Warning,
    WarningKind, WritingTime, format_value, kind_of_flow, losses_by_reader, steady_latency,
};
use stats::total;

use crate::reports::RunReports;

/// Number of samples below which one sample changes a rate by more than 1 %.
const FEW: u64 = LEAST_ARRIVALS;
/// Inverse of the share of samples after the last write above which a warning is given.
const TAIL: u64 = 10;

/// Contradiction of a run of which a report lacks what its role records.
pub(crate) const UNREPORTED: &str = "an agent did not report what its role records";

/// Evaluation of a run.
#[derive(Default)]
pub(crate) struct Evaluation {
    pub(crate) latency: BTreeMap<String, Latency>,
    pub(crate) measured: Option<Measurement>,
    /// Time of the writers, over which `measured` has rates.
    pub(crate) writing: Option<WritingTime>,
    pub(crate) late_join: Option<LateJoinRecord>,
    pub(crate) steady_state: BTreeMap<String, SteadyState>,
    pub(crate) flows: Vec<FlowRecord>,
    pub(crate) cpu: Option<CpuPerSample>,
    pub(crate) warnings: Vec<Warning>,
    /// Failed consistency checks, as text.
    pub(crate) contradictions: Vec<String>,
    pub(crate) log: IntervalLog,
}

/// Times of one flow, of one kind.
pub(crate) struct FlowTimes<'d> {
    /// Name of the flow in the log.
    pub(crate) name: String,
    pub(crate) distribution: &'d Distribution,
    /// Whether they are among those of the run. The times of a writer are those of all of its flows, and count once.
    pub(crate) is_pooled: bool,
    /// Number of lost round trips.
    pub(crate) lost: u64,
    /// Maximum error of the times between two hosts, in ns; `None` for times within one.
    pub(crate) clock_error_ns: Option<u64>,
    /// Number of negative times.
    pub(crate) negative: u64,
}

impl Evaluation {
    /// Creates the evaluation of a run of which a report lacks what its role records.
    pub(crate) fn unreported() -> Self {
        Self::incomplete(UNREPORTED.to_owned())
    }

    /// Creates the evaluation of a run of which a report is missing.
    pub(crate) fn incomplete(missing: String) -> Self {
        Self { contradictions: vec![missing], ..Self::default() }
    }

    /// Returns the number of readers that have flows: not one whose writers all ended during the measurement.
    pub(crate) fn readers(&self) -> usize {
        let readers: BTreeSet<&str> = self.flows.iter().map(|flow| flow.reader.as_str()).collect();
        readers.len()
    }

    /// Returns the rates and counts of delivery, of a stream.
    pub(crate) fn throughput(&self) -> Option<&Throughput> {
        self.measured.as_ref()?.throughput()
    }

    /// Returns the hops of a ring.
    pub(crate) fn ring(&self) -> Option<&Ring> {
        self.measured.as_ref()?.ring()
    }

    /// Returns the sample counts of all flows together.
    pub(crate) fn counts(&self) -> DeliveryCounts {
        DeliveryCounts::sum(self.flows.iter().map(|flow| &flow.counted))
    }

    pub(crate) fn warn(&mut self, kind: WarningKind, text: String) {
        self.warnings.push(Warning::new(kind, text));
    }

    /// Records a contradiction if `holds` is false.
    pub(crate) fn check(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.contradictions.push(otherwise());
        }
    }

    /// Adds a distribution under its kind. Its windows are decoded once, for the metrics, the steady state and the
    /// log.
    pub(crate) fn add(&mut self, kind: &str, distribution: &Distribution) {
        self.add_with_lost(kind, distribution, 0);
    }

    /// Adds a distribution of round trips, of which `lost` are missing.
    pub(crate) fn add_with_lost(&mut self, kind: &str, distribution: &Distribution, lost: u64) {
        if distribution.n == 0 {
            return;
        }
        let is_steady_kind = matches!(kind, "rtt" | "response");
        let latency = if is_steady_kind {
            self.add_with_steady_state(kind, distribution, lost)
        } else {
            let merged = self.log.add(kind, distribution);
            merged.map(|merged| Latency::of_merged(distribution, &merged, lost))
        };
        match latency {
            Ok(latency) => {
                self.latency.insert(kind.to_owned(), latency);
            }
            Err(error) => self.unreadable(kind, &error),
        }
    }

    /// Adds a distribution to the log, and its steady state, which needs all windows at the same time. Returns its latency.
    fn add_with_steady_state(
        &mut self,
        kind: &str,
        distribution: &Distribution,
        lost: u64,
    ) -> Result<Latency, HistogramError> {
        let windows = distribution.histograms()?;
        let latency = Latency::of_windows(distribution, &windows, lost)?;
        self.steady_state = steady_latency(kind, &windows, distribution.window_ns);
        self.log.add_encoded(kind, Arc::new(EncodedWindows::of_decoded(distribution, &windows)));
        Ok(latency)
    }

    /// Adds distributions of several endpoints together, under their kind.
    pub(crate) fn add_together(&mut self, kind: &str, parts: &[&Distribution]) {
        if let [part] = parts {
            self.add(kind, part);
            return;
        }
        match Distribution::together(parts) {
            Ok(all) => self.add(kind, &all),
            Err(error) => self.unreadable(kind, &error),
        }
    }

    /// Adds the distributions of all flows, in their order: together under their kind, and, if they are several, each of them to
    /// the log and the record of its flow.
    pub(crate) fn add_flows(&mut self, kind: &str, flows: &[FlowTimes<'_>]) {
        match flows {
            [only] => self.add_with_lost(kind, only.distribution, only.lost),
            several => self.add_several(kind, several),
        }
        if let Some(worst_ns) = flows.iter().filter_map(|flow| flow.clock_error_ns).max() {
            self.between_hosts(kind, worst_ns, total(flows.iter().map(|flow| flow.negative)));
        }
    }

    /// Adds the distributions of several flows. Each window is decoded once.
    fn add_several(&mut self, kind: &str, flows: &[FlowTimes<'_>]) {
        let pooled: Vec<&FlowTimes<'_>> = flows.iter().filter(|flow| flow.is_pooled).collect();
        let mut pool = Ok(Pool::default());
        let mut decoded: Vec<Decoded> = Vec::new();
        for (index, flow) in flows.iter().enumerate() {
            // Flows of one stream have the distributions of its writer in common.
            let before = index.checked_sub(1).filter(|before| {
                !flow.is_pooled && std::ptr::eq(flows[*before].distribution, flow.distribution)
            });
            decoded.push(match before {
                Some(before) => decoded[before].clone(),
                None => decode(flow, (flow.is_pooled && pooled.len() > 1).then_some(&mut pool)),
            });
        }
        match (&pooled[..], pool) {
            ([one], _) => self.add_with_lost(kind, one.distribution, one.lost),
            (_, Ok(pool)) => {
                let lost = total(pooled.iter().map(|flow| flow.lost));
                self.add_with_lost(kind, &pool.distribution(), lost);
            }
            (_, Err(error)) => self.unreadable(kind, &error),
        }
        for (index, (flow, decoded)) in flows.iter().zip(decoded).enumerate() {
            if flow.distribution.n == 0 {
                continue;
            }
            let kind_of_flow = kind_of_flow(kind, &flow.name);
            match decoded {
                Ok((windows, mut latency)) => {
                    self.log.add_encoded(&kind_of_flow, windows);
                    if let Some(error_ns) = flow.clock_error_ns {
                        latency = latency.between_hosts(error_ns, flow.negative);
                    }
                    self.flows[index].latency.insert(kind.to_owned(), latency);
                }
                Err(error) => self.unreadable(&kind_of_flow, &error),
            }
        }
    }

    /// Checks that a writer that batches flushed all accepted samples.
    pub(crate) fn check_batches(&mut self, whose: &str, writer: &FlowWriterReport) {
        let Some(batches) = &writer.batches else { return };
        let (accepted, flushed) = (writer.accepted, batches.samples);
        self.check(flushed == accepted, || {
            format!("{whose}{accepted} samples were accepted, but {flushed} were flushed in batches")
        });
    }

    /// Checks that the samples taken equal the samples delivered, and that no receive group is larger than requested.
    pub(crate) fn check_takes(
        &mut self,
        whose: &str,
        factors: &Factors,
        takes: Option<&TakeStats>,
        delivered: u64,
    ) {
        let (samples, most) = takes.map_or((delivered, 0), |takes| (takes.samples, takes.max_samples));
        self.check(samples == delivered, || {
            format!("{whose}{delivered} samples came, but {samples} were taken")
        });
        let Some(group) = factors.queues.receive_group else { return };
        self.check(takes.is_some() && most <= group.samples.into(), || {
            format!(
                "{whose}groups of up to {} samples were asked for, and of {most} were taken",
                group.samples
            )
        });
    }

    /// Records that the times of this kind are between hosts, with this error of their clocks in ns. A negative time is
    /// possible within the error; a larger one contradicts it.
    pub(crate) fn between_hosts(&mut self, kind: &str, clock_error_ns: u64, negative: u64) {
        if let Some(latency) = self.latency.remove(kind) {
            self.latency.insert(kind.to_owned(), latency.between_hosts(clock_error_ns, negative));
        }
    }

    /// Checks that no time is more negative than the clocks may cause.
    pub(crate) fn check_negative(&mut self, what: &str, clock_error_ns: u64, negative: NegativeTimes) {
        let NegativeTimes { count, largest_ns } = negative;
        self.check(largest_ns <= clock_error_ns, || {
            format!(
                "{what}{count} samples came before they were sent, by up to {largest_ns} ns: the error of the clocks is at \
                 most {clock_error_ns} ns"
            )
        });
    }

    pub(crate) fn unreadable(&mut self, kind: &str, error: &HistogramError) {
        self.contradictions.push(format!("the histograms of `{kind}` cannot be read: {error}"));
    }

    /// Warns of lost, undelivered, corrupt, foreign, duplicate and reordered samples.
    pub(crate) fn warn_of_counts(&mut self, what: &str) {
        let counted = self.counts();
        if counted.lost > 0 {
            let percent = percent(counted.lost, counted.sent);
            let text = format!(
                "{} of {} {what} were lost ({} %){}",
                counted.lost,
                counted.sent,
                format_value(percent),
                losses_by_reader(&self.flows)
            );
            self.warn(WarningKind::Loss, text);
        }
        if counted.undelivered > 0 {
            let text = format!(
                "{} {what} were still under way when the time limit of the drain was reached",
                counted.undelivered
            );
            self.warn(WarningKind::Incomplete, text);
        }
        if counted.corrupt > 0 {
            self.warn(WarningKind::Corrupt, format!("{} {what} came damaged", counted.corrupt));
            self.contradictions.push(format!("{} {what} came damaged", counted.corrupt));
        }
        if counted.foreign > 0 {
            let text = format!("{} samples came that are not of this run", counted.foreign);
            self.warn(WarningKind::Foreign, text);
        }
        if counted.duplicate > 0 || counted.out_of_order > 0 {
            let text =
                format!("{} {what} came again, {} out of order", counted.duplicate, counted.out_of_order);
            self.warn(WarningKind::Order, text);
        }
    }

    /// Warns of rates that are based on few samples.
    pub(crate) fn warn_of_few(&mut self) {
        let DeliveryCounts { sent, delivered, .. } = self.counts();
        let what = match delivered {
            FEW.. => return,
            0 => "there is no rate".to_owned(),
            few => {
                format!(
                    "one more or less would change the rate by {} %; raise `measure`",
                    format_value(percent(1, few))
                )
            }
        };
        let text = format!("{delivered} of {sent} samples were delivered: {what}");
        self.warn(WarningKind::FewSamples, text);
    }

    /// Warns of samples that arrived too late for the rate, and of a rate whose period starts much later than the
    /// writing.
    pub(crate) fn warn_of_tail(&mut self, writing: WritingTime, received: &[&Received]) {
        let quickest_ns = received.iter().map(|received| received.quickest_ns).max().unwrap_or(0);
        let quickest_ns = quickest_ns.max(0).cast_unsigned();
        let Some(&Throughput { delivered, tail, .. }) = self.throughput() else { return };
        let half_ns = writing.ns() / 2;
        if tail.samples.saturating_mul(TAIL) > delivered || (tail.samples > 0 && tail.ns > half_ns) {
            let text = format!(
                "{} of {delivered} samples ({} %) came after the writing had ended, up to {} ms later: they are not in the \
                 delivered rate",
                tail.samples,
                format_value(percent(tail.samples, delivered)),
                format_value(tail.ns as f64 / 1e6)
            );
            self.warn(WarningKind::Tail, text);
        }
        if quickest_ns > half_ns && delivered > 0 {
            let text = format!(
                "even the quickest sample took {} ms, of a measured time of {} ms: the delivered rate is of a time that \
                 much later; raise `measure`",
                format_value(quickest_ns as f64 / 1e6),
                format_value(writing.ns() as f64 / 1e6)
            );
            self.warn(WarningKind::Tail, text);
        }
    }

    /// Warns of missing acknowledgments, and of writes that timed out or were rejected.
    pub(crate) fn warn_of_writes(
        &mut self,
        reports: &RunReports,
        reliable: bool,
        timed_out: u64,
        refused: u64,
    ) {
        let accepted: u64 = reports.agents.iter().map(|agent| agent.sent).sum();
        if reliable && accepted > 0 && reports.arrived() && !reports.acknowledged() {
            let text = "all samples arrived, but were not acknowledged within the time limit of the drain";
            self.warn(WarningKind::Incomplete, text.to_owned());
        }
        if timed_out > 0 || refused > 0 {
            let text = format!(
                "{timed_out} writes timed out and {refused} were rejected because there was no room; all were retried"
            );
            self.warn(WarningKind::WritesRefused, text);
        }
    }
}

/// Windows of a flow for the log, and its latency.
type Decoded = Result<(Arc<EncodedWindows>, Latency), HistogramError>;

/// Decodes the distribution of a flow, and adds its windows to a pool. A pool that lacks one of its parts has an error.
fn decode(flow: &FlowTimes<'_>, mut pool: Option<&mut Result<Pool, HistogramError>>) -> Decoded {
    let mut pooled = Ok(());
    let decoded = EncodedWindows::read(flow.distribution, |index, histogram| {
        if let (Ok(()), Some(Ok(pool))) = (&pooled, &mut pool) {
            pooled = pool.add_window(index, histogram);
        }
        Ok(())
    });
    if let Some(pool) = pool
        && let Ok(all) = pool
    {
        match decoded.as_ref().map_err(Clone::clone).and(pooled) {
            Ok(()) => all.add_moments(flow.distribution),
            Err(error) => *pool = Err(error),
        }
    }
    let (windows, merged) = decoded?;
    Ok((Arc::new(windows), Latency::of_merged(flow.distribution, &merged, flow.lost)))
}

/// Returns a share in percent; 0 if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
