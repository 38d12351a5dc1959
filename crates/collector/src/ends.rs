//! Reports of both endpoints of each route of a run.

use std::sync::LazyLock;

use control::{FlowReaderReport, FlowWriterReport, NegativeTimes};
use experiment::{Factors, Load, Schedule, SizeTable};
use results::{Distribution, HistogramError};

use crate::{RunContext, delivery::Delivery, routes::Route};

/// Kinds of latency of a stream, in the order of [`Ends::distributions`].
pub(crate) const KINDS: [&str; 5] = ["response", "service", "send_lag", "write_call", AGE];
/// Kind of the peaks of the age of information. It is of each flow, and not of all together.
pub(crate) const AGE: &str = "age";

/// Reports of both endpoints of one route.
pub(crate) struct Ends<'a> {
    pub(crate) route: Route<'a>,
    /// Load of the stream; as fast as possible in a run without a schedule.
    pub(crate) load: &'a Load,
    /// Prefix of each message.
    pub(crate) whose: String,
    pub(crate) writer: &'a FlowWriterReport,
    pub(crate) read: &'a FlowReaderReport,
    /// Whether it is the first route of its writer, for what counts once for each writer.
    pub(crate) is_first_of_writer: bool,
}

impl<'a> Ends<'a> {
    /// Returns the reports of a route; `None` if one is missing.
    pub(crate) fn of(route: Route<'a>, factors: &Factors, pair: bool) -> Option<Self> {
        let writer = route.writing.report.writer()?.flows.get(route.entities[0])?;
        let read = route.reading.report.reader()?.flows.get(route.position)?;
        let load = route.stream.load.as_ref().unwrap_or(&Load::Max);
        let whose = route.whose(factors, pair);
        Some(Self { route, load, whose, writer, read, is_first_of_writer: false })
    }

    /// Returns the counts of both endpoints. `sizes`: of the samples, if they differ.
    pub(crate) fn delivery<'e>(&'e self, sizes: Option<&'e SizeTable>) -> Delivery<'e> {
        let Self { route, writer, .. } = self;
        let accepted = route.expected(writer.accepted);
        Delivery {
            whose: &self.whose,
            route,
            sizes,
            offered: route.expected(writer.offered),
            accepted,
            filtered: writer.accepted - accepted,
            warm_up: route.expected(writer.warm_up),
            write_calls: writer.write_call.n,
            received: &self.read.received,
        }
    }

    /// Returns the number of samples that the reading endpoint received and that are not of this run: with its first route.
    pub(crate) fn foreign(&self) -> u64 {
        let read = self.route.reading.report.reader().filter(|_| self.route.position == 0);
        read.map_or(0, |read| read.foreign)
    }

    /// Returns the times of each kind of [`KINDS`].
    pub(crate) fn distributions(&self) -> [&'a Distribution; 5] {
        static NONE: LazyLock<Distribution> = LazyLock::new(Distribution::default);
        let (writer, read) = (self.writer, self.read);
        let age = read.timeliness.as_ref().map_or(&*NONE, |timeliness| &timeliness.age);
        [&read.response, &read.service, &writer.send_lag, &writer.write_call, age]
    }

    /// Returns the negative times of a kind; `None` for times within one host.
    pub(crate) fn negative(&self, kind: usize) -> Option<NegativeTimes> {
        [self.read.negative_response, self.read.negative_service].get(kind).copied()
    }

    /// Returns the maximum error of a time from writer to reader, in ns. Without a known error, writer and reader could
    /// not start together.
    pub(crate) fn clock_error_ns(&self) -> u64 {
        self.route.error_ns().unwrap_or(0)
    }

    /// Returns the schedule of the stream; `None` without intended times.
    pub(crate) fn schedule(&self, context: &RunContext<'_>) -> Option<Schedule> {
        let stream = &self.route.stream;
        let times_ns = context.traces.of_stream(stream).times_ns;
        let schedule = Schedule::new(self.load, context.design.seed, stream.index(), times_ns)?;
        Some(schedule.delayed(stream.delay_ns))
    }

    /// Returns the planned length of the traffic in ns. A writer that has accepted all samples before has ended early.
    pub(crate) fn length_ns(&self, context: &RunContext<'_>) -> u64 {
        let own = context.design.writer(self.route.writer());
        match self.schedule(context) {
            Some(schedule) => schedule.length_ns(own.samples, own.measure_ns),
            None if self.writer.accepted >= own.most() => 0,
            None => own.measure_ns,
        }
    }

    pub(crate) fn has_times(&self) -> bool {
        self.load.has_times()
    }

    /// Returns the number of samples that arrived later than a mean period after their intended send time; `None` without
    /// such times, and if the histogram cannot be read.
    pub(crate) fn late(&self, unreadable: impl FnOnce(HistogramError)) -> Option<u64> {
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
    pub(crate) fn lag_in_writes(&self) -> Option<f64> {
        let lag_ns = self.writer.send_lag.mean_ns;
        (self.has_times() && lag_ns > 0.0).then(|| self.writer.held_ns / lag_ns)
    }
}
