//! Reports of both endpoints of each route of a run with a schedule.

use std::collections::BTreeSet;

use control::{FlowReaderReport, FlowWriterReport, NegativeTimes};
use experiment::{Factors, Load, Schedule};
use results::{Distribution, HistogramError};

use crate::{RunContext, reports::RunReports, routes::Route};

/// Kinds of latency of a stream, in the order of [`Ends::distributions`].
pub(super) const KINDS: [&str; 5] = ["response", "service", "send_lag", "write_call", AGE];
/// Kind of the peaks of the age of information. It is of each flow, and not of all together.
pub(super) const AGE: &str = "age";

/// Reports of both endpoints of one route.
pub(super) struct Ends<'a> {
    pub(super) route: Route<'a>,
    pub(super) load: &'a Load,
    /// Prefix of each message.
    pub(super) whose: String,
    pub(super) writer: &'a FlowWriterReport,
    pub(super) read: &'a FlowReaderReport,
    /// Whether it is the first route of its writer, for what counts once for each writer.
    pub(super) is_first_of_writer: bool,
}

impl<'a> Ends<'a> {
    /// Returns the reports of a route; `None` if one is missing.
    pub(super) fn of(route: Route<'a>, factors: &Factors, pair: bool) -> Option<Self> {
        let writer = route.writing.report.paced_writer()?.flows.get(route.entities[0])?;
        let read = route.reading.report.paced_reader()?.flows.get(route.position)?;
        let load = route.stream.load.as_ref()?;
        let whose = route.whose(factors, pair);
        Some(Self { route, load, whose, writer, read, is_first_of_writer: false })
    }

    pub(super) fn distributions(&self) -> [&'a Distribution; 5] {
        static NONE: Distribution = Distribution::EMPTY;
        let (writer, read) = (self.writer, self.read);
        let age = read.timeliness.as_ref().map_or(&NONE, |timeliness| &timeliness.age);
        [&read.response, &read.service, &writer.send_lag, &writer.write_call, age]
    }

    /// Returns the negative times of a kind; `None` for times within one host.
    pub(super) fn negative(&self, kind: usize) -> Option<NegativeTimes> {
        [self.read.negative_response, self.read.negative_service].get(kind).copied()
    }

    /// Returns the maximum error of a time from writer to reader, in ns. Without a known error, writer and reader could
    /// not start together.
    pub(super) fn clock_error_ns(&self) -> u64 {
        self.route.error_ns().unwrap_or(0)
    }

    /// Returns the schedule of the stream; `None` without intended times.
    pub(super) fn schedule(&self, context: &RunContext<'_>) -> Option<Schedule> {
        let stream = &self.route.stream;
        let times_ns = context.traces.of_stream(stream).times_ns;
        let schedule = Schedule::new(self.load, context.design.seed, stream.index(), times_ns)?;
        Some(schedule.delayed(stream.delay_ns))
    }

    /// Returns the planned length of the traffic in ns. A writer that has accepted all samples before has ended early.
    pub(super) fn length_ns(&self, context: &RunContext<'_>) -> u64 {
        let own = context.design.writer(self.route.writer());
        match self.schedule(context) {
            Some(schedule) => schedule.length_ns(own.samples, own.measure_ns),
            None if self.writer.accepted >= own.most() => 0,
            None => own.measure_ns,
        }
    }

    pub(super) fn has_times(&self) -> bool {
        self.load.has_times()
    }

    /// Returns the number of samples that arrived later than a mean period after their intended send time; `None` without
    /// such times, and if the histogram cannot be read.
    pub(super) fn late(&self, unreadable: impl FnOnce(HistogramError)) -> Option<u64> {
        let period_ns = self.load.mean_period_ns()? as u64;
        // those too late for a response time are late, too
        let mut late = self.read.unplaced;
        let read = self.read.response.read_each(|_, window| {
            late = late.saturating_add(window.len() - window.count_between(0, period_ns));
            Ok(())
        });
        read.map_err(unreadable).ok().map(|()| late)
    }

    /// Returns the share of the total send lag that write calls caused.
    pub(super) fn lag_in_writes(&self) -> Option<f64> {
        let lag_ns = self.writer.send_lag.mean_ns;
        (self.has_times() && lag_ns > 0.0).then(|| self.writer.held_ns / lag_ns)
    }
}

/// Returns the reports of all routes that have them.
pub(super) fn ends_of<'a>(factors: &Factors, reports: &'a RunReports) -> Vec<Ends<'a>> {
    let mut writers: BTreeSet<*const FlowWriterReport> = BTreeSet::new();
    let routes = reports.routes().into_iter();
    let ends = routes.filter_map(|route| Ends::of(route, factors, reports.is_pair()));
    ends.map(|ends| Ends { is_first_of_writer: writers.insert(ends.writer), ..ends }).collect()
}

/// Returns the number of streams that the agents should have reported and did, if they differ.
pub(super) fn missing(reports: &RunReports) -> Option<String> {
    reports.agents.iter().find_map(|agent| {
        let (expected, found) = if agent.drives() {
            (agent.endpoint.writers.len(), agent.report.paced_writer()?.flows.len())
        } else {
            let streams = agent.endpoint.readers.iter().map(|reader| reader.streams.len());
            (streams.sum(), agent.report.paced_reader()?.flows.len())
        };
        (expected != found).then(|| format!("of {expected} flows the {} reported {found}", agent.endpoint.id))
    })
}
