//! Streams of a run: what the evaluations of throughput and of runs with a schedule have in common.

use std::collections::BTreeSet;

use control::{FlowWriterReport, ReaderReport, WriterReport};
use experiment::probe_every;
use results::{Batches, EndpointSpread, Received, TakeStats, Throughput, WritingTime};
use stats::total;

use crate::{
    RunContext,
    ends::Ends,
    evaluation::{Evaluation, UNREPORTED},
    probes,
    reports::RunReports,
};

/// Reports of all writing and reading endpoints.
pub(crate) struct Streams<'a> {
    reports: &'a RunReports,
    pub(crate) writers: Vec<&'a WriterReport>,
    readers: Vec<&'a ReaderReport>,
    /// By route.
    pub(crate) ends: Vec<Ends<'a>>,
}

impl<'a> Streams<'a> {
    /// Joins the reports of a run.
    ///
    /// # Errors
    /// Returns what is missing in the reports, as a contradiction.
    pub(crate) fn new(context: &RunContext<'_>, reports: &'a RunReports) -> Result<Self, String> {
        let writers = reports.all_driving().map(|agent| agent.report.writer()).collect::<Option<_>>();
        let readers = reports.all_serving().map(|agent| agent.report.reader()).collect::<Option<_>>();
        let (Some(writers), Some(readers)) = (writers, readers) else { return Err(UNREPORTED.to_owned()) };
        if let Some(text) = missing_flows(reports) {
            return Err(text);
        }
        let mut known: BTreeSet<*const FlowWriterReport> = BTreeSet::new();
        let routes = reports.routes().into_iter();
        let ends = routes.filter_map(|route| Ends::of(route, context.factors, reports.is_pair()));
        let ends = ends.map(|ends| Ends { is_first_of_writer: known.insert(ends.writer), ..ends });
        Ok(Self { reports, writers, readers, ends: ends.collect() })
    }

    /// Returns the flows of all writers, also of those whose readers all ended during the measurement.
    pub(crate) fn all_written(&self) -> Vec<&'a FlowWriterReport> {
        self.writers.iter().flat_map(|writer| &writer.flows).collect()
    }

    /// Checks the number of accepted samples of each writing agent, and the takes of each reader. One take may have samples of several
    /// writers: it is reported with the first.
    pub(crate) fn check(&self, evaluation: &mut Evaluation, context: &RunContext<'_>) {
        let names = self.reports.names();
        for (agent, writer) in self.reports.all_driving().zip(&self.writers) {
            let (sent, accepted) = (agent.sent, total(writer.flows.iter().map(|flow| flow.accepted)));
            evaluation.check(accepted == sent, || {
                let whose = names.whose(agent);
                format!("{whose}{sent} samples were sent when measured, {accepted} when reported")
            });
        }
        for (agent, read) in self.reports.all_serving().zip(&self.readers) {
            let (whose, mut flows) = (names.whose(agent), read.flows.as_slice());
            for reader in &agent.endpoint.readers {
                let (of_reader, rest) = flows.split_at(reader.streams.len().min(flows.len()));
                let delivered = total(of_reader.iter().map(|flow| flow.received.delivered));
                let takes = of_reader.first().and_then(|flow| flow.takes.as_ref());
                evaluation.check_takes(&whose, context.factors, takes, delivered);
                flows = rest;
            }
        }
    }

    /// Returns the rates and counts of the flows that were `written` and `received` in this time.
    pub(crate) fn throughput(
        &self,
        evaluation: &mut Evaluation,
        context: &RunContext<'_>,
        writing: WritingTime,
        written: &[&FlowWriterReport],
        received: &[&Received],
    ) -> Throughput {
        let offered = total(written.iter().map(|flow| flow.offered));
        let accepted = total(written.iter().map(|flow| flow.accepted));
        let rates =
            writing.throughput([offered, accepted], &evaluation.counts(), received, evaluation.readers());
        evaluation.writing = Some(writing);
        let read = self.readers.iter().flat_map(|read| &read.flows);
        // The processes of a system have different flows.
        let is_system = context.factors.is_system();
        Throughput {
            batches: Batches::sum(written.iter().filter_map(|flow| flow.batches.as_ref())),
            takes: TakeStats::sum(read.filter_map(|flow| flow.takes.as_ref())),
            readers: EndpointSpread::of_readers(&evaluation.flows, &rates).filter(|_| !is_system),
            writers: EndpointSpread::of_writers(&evaluation.flows, &rates).filter(|_| !is_system),
            ..rates
        }
    }

    /// Adds the probes, and warnings about counts, writes and late arrivals.
    pub(crate) fn warn(
        &self,
        evaluation: &mut Evaluation,
        context: &RunContext<'_>,
        writing: WritingTime,
        written: &[&FlowWriterReport],
        received: &[&Received],
    ) {
        if let (Some(writer), Some(read)) = (self.writers.first(), self.readers.first()) {
            let probes = (writer.probes.as_ref(), read.probes.as_ref());
            probes::add(evaluation, probe_every(context.factors, context.design), probes);
        }
        evaluation.warn_of_counts("samples");
        if !self.ends.iter().all(Ends::has_times) {
            evaluation.warn_of_few();
        }
        let is_reliable = self.ends.iter().any(|ends| context.factors.is_reliable(ends.route.flow));
        let timed_out = total(written.iter().map(|flow| flow.timed_out));
        let refused = total(written.iter().map(|flow| flow.refused));
        evaluation.warn_of_writes(self.reports, is_reliable, timed_out, refused);
        evaluation.warn_of_tail(writing, received);
    }
}

/// Returns the number of flows that an agent should have reported and did, if they differ.
fn missing_flows(reports: &RunReports) -> Option<String> {
    reports.agents.iter().find_map(|agent| {
        let (expected, found) = if agent.drives() {
            (agent.endpoint.writers.len(), agent.report.writer()?.flows.len())
        } else {
            let streams = agent.endpoint.readers.iter().map(|reader| reader.streams.len());
            (streams.sum(), agent.report.reader()?.flows.len())
        };
        (expected != found).then(|| format!("of {expected} flows the {} reported {found}", agent.endpoint.id))
    })
}
