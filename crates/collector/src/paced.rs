//! Evaluation of a run with a schedule: planned, offered, accepted and delivered samples, their latencies, and their
//! consistency.

use std::collections::BTreeSet;

use control::{FlowReaderReport, FlowWriterReport, NegativeTimes, PacedReaderReport, PacedWriterReport};
use experiment::{Factors, Load, Schedule, probe_every};
use results::{
    Batches, DeliveryCounts, Distribution, EndpointSpread, FlowRecord, HistogramError, Lateness, Measurement,
    Paced, Received, SampleSizes, Sender, TakeStats, Throughput, WarningKind, WritingTime, format_micros,
    format_value, steady_rate,
};
use stats::total;

use crate::{
    RunContext, RunReports, cpu,
    delivery::Delivery,
    evaluation::{Evaluation, FlowTimes, percent},
    latency::sum_of,
    probes,
    routes::Route,
    timeliness,
};

/// Kinds of latency of a stream, in the order of [`Ends::distributions`].
const KINDS: [&str; 5] = ["response", "service", "send_lag", "write_call", AGE];
/// Kind of the peaks of the age of information. It is of each flow, and not of all together.
const AGE: &str = "age";
/// Relative tolerance for the sum of two means: means are exact sums divided by a count.
const ROUNDING: f64 = 1e-9;

/// Ratio of median service times from which on a reader gets its samples much later than another one.
const MUCH_LATER: u64 = 3;

/// Reports of both endpoints of one route.
struct Ends<'a> {
    route: Route<'a>,
    load: &'a Load,
    /// Prefix of each message.
    whose: String,
    writer: &'a FlowWriterReport,
    read: &'a FlowReaderReport,
    /// Whether it is the first route of its writer, for what counts once for each writer.
    is_first_of_writer: bool,
}

impl<'a> Ends<'a> {
    /// Returns the reports of a route; `None` if one is missing.
    fn of(route: Route<'a>, factors: &Factors, pair: bool) -> Option<Self> {
        let writer = route.writing.report.paced_writer()?.flows.get(route.entities[0])?;
        let read = route.reading.report.paced_reader()?.flows.get(route.position)?;
        let load = route.stream.load.as_ref()?;
        let whose = route.whose(factors, pair);
        Some(Self { route, load, whose, writer, read, is_first_of_writer: false })
    }

    fn distributions(&self) -> [&'a Distribution; 5] {
        static NONE: Distribution = Distribution::EMPTY;
        let (writer, read) = (self.writer, self.read);
        let age = read.timeliness.as_ref().map_or(&NONE, |timeliness| &timeliness.age);
        [&read.response, &read.service, &writer.send_lag, &writer.write_call, age]
    }

    /// Returns the negative times of a kind; `None` for times within one host.
    fn negative(&self, kind: usize) -> Option<NegativeTimes> {
        [self.read.negative_response, self.read.negative_service].get(kind).copied()
    }

    /// Returns the maximum error of a time from writer to reader, in ns. Without a known error, writer and reader could
    /// not start together.
    fn clock_error_ns(&self) -> u64 {
        self.route.error_ns().unwrap_or(0)
    }

    /// Returns the schedule of the stream; `None` without intended times.
    fn schedule(&self, context: &RunContext<'_>) -> Option<Schedule> {
        let (stream, times) = (&self.route.stream, context.traces.times(self.load));
        let schedule = Schedule::new(self.load, context.design.seed, stream.index(), times)?;
        Some(schedule.delayed(stream.delay_ns))
    }

    /// Returns the planned length of the traffic in ns. A writer that has accepted all samples before has ended early.
    fn length_ns(&self, context: &RunContext<'_>) -> u64 {
        let own = context.design.writer(self.route.writer());
        match self.schedule(context) {
            Some(schedule) => schedule.length_ns(own.samples, own.measure_ns),
            None if self.writer.accepted >= own.most() => 0,
            None => own.measure_ns,
        }
    }

    fn has_times(&self) -> bool {
        self.load.has_times()
    }

    /// Returns the number of samples that arrived later than a mean period after their intended send time; `None` without
    /// such times, and if the histogram cannot be read.
    fn late(&self, unreadable: impl FnOnce(HistogramError)) -> Option<u64> {
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
    fn lag_in_writes(&self) -> Option<f64> {
        let lag_ns = self.writer.send_lag.mean_ns;
        (self.has_times() && lag_ns > 0.0).then(|| self.writer.held_ns / lag_ns)
    }
}

/// Returns the reports of all routes that have them.
fn ends_of<'a>(factors: &Factors, reports: &'a RunReports) -> Vec<Ends<'a>> {
    let mut writers: BTreeSet<*const FlowWriterReport> = BTreeSet::new();
    let routes = reports.routes().into_iter();
    let ends = routes.filter_map(|route| Ends::of(route, factors, reports.is_pair()));
    ends.map(|ends| Ends { is_first_of_writer: writers.insert(ends.writer), ..ends }).collect()
}

/// Returns the number of streams that the agents should have reported and did, if they differ.
fn missing(reports: &RunReports) -> Option<String> {
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

pub(crate) fn evaluate(context: &RunContext<'_>, reports: &RunReports) -> Evaluation {
    let RunContext { factors, design, .. } = *context;
    let mut evaluation = Evaluation::default();
    let writers: Option<Vec<&PacedWriterReport>> =
        reports.all_driving().map(|agent| agent.report.paced_writer()).collect();
    let readers: Option<Vec<&PacedReaderReport>> =
        reports.all_serving().map(|agent| agent.report.paced_reader()).collect();
    let (Some(writers), Some(readers)) = (writers, readers) else {
        evaluation.contradictions.push("an agent did not report what its role records".to_owned());
        return evaluation;
    };
    if let Some(text) = missing(reports) {
        evaluation.contradictions.push(text);
        return evaluation;
    }
    let ends = ends_of(factors, reports);
    let reliable = |flow| factors.is_reliable(flow);
    let begin_ns = writers.iter().map(|writer| writer.begin_ns).min().unwrap_or(0);
    let end_ns = writers.iter().map(|writer| writer.end_ns).max().unwrap_or(0);
    let length_ns = ends.iter().map(|ends| ends.length_ns(context)).max().unwrap_or(design.measure_ns);
    let writing = WritingTime::new(begin_ns, end_ns).at_least(length_ns);
    for ends in &ends {
        let own = design.writer(ends.route.writer());
        let planned = ends.schedule(context);
        let planned = planned.map(|schedule| schedule.planned(own.measure_ns).min(own.most()));
        check(&mut evaluation, ends, planned);
        let delivery = Delivery {
            whose: &ends.whose,
            route: &ends.route,
            offered: ends.route.expected(ends.writer.offered),
            accepted: ends.route.expected(ends.writer.accepted),
            filtered: ends.writer.accepted - ends.route.expected(ends.writer.accepted),
            warm_up: ends.route.expected(ends.writer.warm_up),
            write_calls: ends.writer.write_call.n,
            received: &ends.read.received,
        };
        delivery.check(&mut evaluation);
        delivery.check_witnesses(&mut evaluation, factors, false);
        let late = ends.late(|error| evaluation.unreadable("response", &error));
        let counted = delivery.counted(reliable(ends.route.flow) && !ends.route.reading.drained);
        let foreign = if ends.route.position == 0 { foreign(&ends.route) } else { 0 };
        evaluation.flows.push(FlowRecord {
            load: ends.route.load(factors),
            sizes: ends.route.stream.size_table().map(|sizes| SampleSizes {
                smallest_bytes: sizes.smallest_bytes(),
                sent_bytes: sizes.sum(0..ends.writer.accepted),
            }),
            planned: ends.writer.planned,
            offered: ends.writer.offered,
            counted: DeliveryCounts { foreign, ..counted },
            delivered_in_time: writing.delivered(&ends.read.received),
            unplaced: ends.read.unplaced,
            late,
            timeliness: timeliness::of(&ends.route, ends.writer.planned, ends.read, factors),
            lag_in_writes_pct: ends.lag_in_writes().map(|share| 100.0 * share),
            ..ends.route.record(factors)
        });
    }
    takes(&mut evaluation, factors, reports);
    latencies(&mut evaluation, &ends);
    let written: Vec<&Ends<'_>> = ends.iter().filter(|one| one.is_first_of_writer).collect();
    let sum = |of: fn(&FlowWriterReport) -> u64| total(written.iter().map(|ends| of(ends.writer)));
    let [offered, accepted] = [sum(|flow| flow.offered), sum(|flow| flow.accepted)];
    // Also of writers whose readers all ended during the measurement.
    let reported = total(writers.iter().flat_map(|writer| &writer.flows).map(|flow| flow.accepted));
    evaluation.check(reported == reports.sent(), || {
        format!("{} samples were sent when measured, {reported} when reported", reports.sent())
    });
    let received: Vec<&Received> = ends.iter().map(|ends| &ends.read.received).collect();
    let rates =
        writing.throughput([offered, accepted], &evaluation.counts(), &received, evaluation.readers());
    evaluation.writing = Some(writing);
    let throughput = Throughput {
        batches: Batches::sum(written.iter().filter_map(|ends| ends.writer.batches.as_ref())),
        takes: TakeStats::sum(
            readers.iter().flat_map(|read| &read.flows).filter_map(|flow| flow.takes.as_ref()),
        ),
        // The processes of a system have different flows.
        readers: EndpointSpread::of_readers(&evaluation.flows, &rates).filter(|_| !factors.is_system()),
        writers: EndpointSpread::of_writers(&evaluation.flows, &rates).filter(|_| !factors.is_system()),
        ..rates
    };
    let paced = paced(length_ns, &writers, &written);
    evaluation.measured = Some(Measurement::Paced { throughput, paced: paced.clone() });
    steady(&mut evaluation, &ends, writing);

    if let (Some(writer), Some(read)) = (writers.first(), readers.first()) {
        let probes = (writer.probes.as_ref(), read.probes.as_ref());
        probes::add(&mut evaluation, probe_every(factors, design), probes);
    }
    evaluation.warn_of_counts("samples");
    if !ends.iter().all(Ends::has_times) {
        evaluation.warn_of_few();
    }
    let some_reliable = (0..factors.streams().len()).any(reliable);
    evaluation.warn_of_writes(reports, some_reliable, sum(|flow| flow.timed_out), sum(|flow| flow.refused));
    evaluation.warn_of_tail(writing, &received);
    warn(&mut evaluation, writing.ns(), &paced, &ends);
    let has = |kind| evaluation.warnings.iter().any(|warning| warning.kind == kind);
    let (sender_limited, back_pressure) = (has(WarningKind::SenderLimited), has(WarningKind::BackPressure));
    if let Some(record) = evaluation.measured.as_mut().and_then(Measurement::paced_mut) {
        *record = Paced { sender_limited, back_pressure, ..paced };
    }
    cpu::add(&mut evaluation, reports);
    evaluation
}

/// Returns the number of samples that a reading endpoint received and that are not of this run.
fn foreign(route: &Route<'_>) -> u64 {
    route.reading.report.paced_reader().map_or(0, |read| read.foreign)
}

/// Checks the takes of each reader. One take may have samples of several writers: it is reported with the first.
fn takes(evaluation: &mut Evaluation, factors: &Factors, reports: &RunReports) {
    let names = reports.names();
    for agent in reports.all_serving() {
        let Some(read) = agent.report.paced_reader() else { continue };
        let (whose, mut flows) = (names.whose(agent), read.flows.as_slice());
        for reader in &agent.endpoint.readers {
            let (of_reader, rest) = flows.split_at(reader.streams.len().min(flows.len()));
            let delivered = total(of_reader.iter().map(|flow| flow.received.delivered));
            let takes = of_reader.first().and_then(|flow| flow.takes.as_ref());
            evaluation.check_takes(&whose, factors, takes, delivered);
            flows = rest;
        }
    }
}

/// Checks the counts and sums beyond those of any delivery. `planned`: by the runner's own computation of the
/// schedule.
fn check(evaluation: &mut Evaluation, ends: &Ends<'_>, planned: Option<u64>) {
    let Ends { whose, writer, read, .. } = ends;
    let delivered = read.received.delivered;
    let [response, service, lag, ..] = ends.distributions();
    let batches = writer.batches.as_ref();
    evaluation.check(batches.is_none_or(|batches| batches.samples == writer.accepted), || {
        format!(
            "{whose}{} samples were accepted, but {} were flushed in batches",
            writer.accepted,
            batches.map_or(0, |batches| batches.samples)
        )
    });
    let (negative, clock_error_ns) = (read.negative_service, ends.clock_error_ns());
    for negative in [negative, read.negative_response] {
        evaluation.check_negative(whose, clock_error_ns, negative);
    }
    evaluation.check(total([service.n, negative.count]) == delivered, || {
        format!(
            "{whose}{delivered} samples came, but {} service times were recorded",
            total([service.n, negative.count])
        )
    });
    let Some(planned) = planned else {
        evaluation.check(response.n == 0 && lag.n == 0, || {
            format!(
                "{whose}without intended times, {} responses and {} send lags were recorded",
                response.n, lag.n
            )
        });
        return;
    };
    evaluation.check(writer.planned == planned, || {
        format!(
            "{whose}the plan has {planned} samples for the measured time, the writer had {}",
            writer.planned
        )
    });
    evaluation.check(writer.offered <= planned, || {
        format!("{whose}{} samples were offered of {planned} planned", writer.offered)
    });
    evaluation.check(lag.n == writer.offered, || {
        format!("{whose}{} samples were offered, but {} send lags were recorded", writer.offered, lag.n)
    });
    evaluation.check(writer.held_ns <= lag.mean_ns + ROUNDING * lag.mean_ns + ROUNDING, || {
        format!(
            "{whose}of a mean send lag of {} ns, {} ns were time of write calls",
            lag.mean_ns, writer.held_ns
        )
    });
    let responses = total([response.n, read.negative_response.count]);
    evaluation.check(total([responses, read.unplaced]) == delivered, || {
        format!(
            "{whose}{delivered} samples came, but {responses} responses were recorded and {} came too late for one",
            read.unplaced
        )
    });
    timeliness::check(evaluation, &ends.route, whose, read);
    if response.n != service.n || service.n == 0 || !negative.is_none() {
        return;
    }
    // Per sample, response = send lag + service time + time of attempts before the successful one.
    let close = ROUNDING * response.mean_ns + ROUNDING;
    evaluation.check(
        response.mean_ns + close >= service.mean_ns
            && response.min_ns >= service.min_ns
            && response.max_ns >= service.max_ns,
        || format!("{whose}responses are less than service times: samples were written before their intended times"),
    );
    let rest = response.mean_ns - service.mean_ns - lag.mean_ns;
    let tried_again = writer.timed_out > 0 || writer.refused > 0;
    if lag.n == service.n {
        evaluation.check(rest.abs() <= close || (tried_again && rest > 0.0), || {
            format!(
                "{whose}the mean response, {} ns, is not the mean send lag, {} ns, and the mean service time, {} ns: \
                 writer and reader do not follow the same plan",
                response.mean_ns, lag.mean_ns, service.mean_ns
            )
        });
    }
}

/// Adds the latencies of the run and, if there are several routes, of each route. Those of a writer count once.
fn latencies(evaluation: &mut Evaluation, ends: &[Ends<'_>]) {
    let mut records = std::mem::take(&mut evaluation.flows);
    let names = FlowRecord::log_names(&records);
    for (index, kind) in KINDS.into_iter().enumerate() {
        let of_writers = ["send_lag", "write_call"].contains(&kind);
        let worst_ns = ends.iter().map(Ends::clock_error_ns).max().unwrap_or(0);
        let negatives = sum_of(&ends.iter().filter_map(|one| one.negative(index)).collect::<Vec<_>>());
        let times = ends.iter().zip(&names).map(|(ends, name)| FlowTimes {
            name: name.clone(),
            distribution: ends.distributions()[index],
            is_pooled: kind != AGE && (!of_writers || ends.is_first_of_writer),
            lost: 0,
        });
        let of_flows = match &times.collect::<Vec<_>>()[..] {
            [only] => {
                evaluation.add(kind, only.distribution);
                Vec::new()
            }
            several => evaluation.add_flows(kind, several),
        };
        if !of_writers && kind != AGE {
            evaluation.between_hosts(kind, worst_ns, negatives);
        }
        if let [record] = &mut records[..] {
            let latency = evaluation.latency.get(kind).cloned();
            record.latency.extend(latency.map(|latency| (kind.to_owned(), latency)));
            continue;
        }
        for ((latency, record), one) in of_flows.into_iter().zip(&mut records).zip(ends) {
            let latency = latency.map(|latency| match one.negative(index) {
                Some(negative) => latency.between_hosts(one.clock_error_ns(), negative.count),
                None => latency,
            });
            record.latency.extend(latency.map(|latency| (kind.to_owned(), latency)));
        }
    }
    evaluation.flows = records;
}

/// Adds the steady state, if the schedule has a constant level. The delivered rate is evaluated only for a single
/// stream: each stream has windows of its own.
fn steady(evaluation: &mut Evaluation, ends: &[Ends<'_>], writing: WritingTime) {
    let is_level = |ends: &Ends<'_>| !matches!(ends.load, Load::Burst { .. } | Load::Trace { .. });
    if !ends.iter().all(is_level) {
        evaluation.steady_state.clear();
        return;
    }
    if let [ends] = ends {
        let state = steady_rate(&ends.read.received, writing);
        evaluation.steady_state.extend(state.map(|state| ("delivered".to_owned(), state)));
    }
}

/// Returns the record of the schedule, which took `length_ns`, and of how the senders kept it. `written`: one route of each
/// stream.
fn paced(length_ns: u64, writers: &[&PacedWriterReport], written: &[&Ends<'_>]) -> Paced {
    let planned = total(written.iter().map(|ends| ends.writer.planned));
    let unsent = |ends: &&Ends<'_>| ends.writer.planned.saturating_sub(ends.writer.offered);
    let all_have_times = written.iter().all(|ends| ends.has_times());
    Paced {
        planned,
        planned_sps: all_have_times.then(|| planned as f64 * 1e9 / length_ns.max(1) as f64),
        unsent: total(written.iter().map(unsent)),
        sender_limited: false,
        back_pressure: false,
        throttle: writers.first().and_then(|writer| writer.throttle.clone()),
        spin_ns: writers.iter().map(|writer| writer.spin_ns).max().unwrap_or(0),
    }
}

/// Returns the number of readers of a stream.
fn readers_of(one: &Ends<'_>, ends: &[Ends<'_>]) -> usize {
    ends.iter().filter(|ends| std::ptr::eq(ends.writer, one.writer)).count()
}

/// Names the reader of a stream that gets its samples much later than all others: its queue is full, and it holds the writer
/// up. Empty if there is none.
fn slow_reader(one: &Ends<'_>, ends: &[Ends<'_>], records: &[FlowRecord]) -> String {
    let of_stream = ends.iter().zip(records).filter(|(ends, _)| std::ptr::eq(ends.writer, one.writer));
    let median = |record: &FlowRecord| record.latency.get("service")?.p50_ns;
    let mut medians: Vec<(u64, &str)> =
        of_stream.filter_map(|(_, record)| Some((median(record)?, record.reader.as_str()))).collect();
    medians.sort_unstable();
    let [.., (next_ns, _), (slow_ns, slow)] = medians[..] else { return String::new() };
    if slow_ns < MUCH_LATER * next_ns {
        return String::new();
    }
    format!(
        "; {slow} holds it up: its median service time is {} µs, that of each other reader at most {} µs",
        format_micros(slow_ns as f64),
        format_micros(next_ns as f64)
    )
}

/// Warns of senders that did not keep their schedule, or were held up by back-pressure. `writing_ns` is the writing
/// time.
fn warn(evaluation: &mut Evaluation, writing_ns: u64, paced: &Paced, ends: &[Ends<'_>]) {
    let records = evaluation.flows.clone();
    for (one, record) in ends.iter().zip(&records).filter(|(one, _)| one.is_first_of_writer) {
        let usage = &one.route.writing.report.usage;
        let mut sender = Sender::new(record.lag_in_writes_pct.unwrap_or(0.0) / 100.0, usage);
        if let Some(thread_ns) = one.writer.thread_ns {
            sender.busy = thread_ns as f64 / usage.elapsed_ns.max(1) as f64;
        }
        if let Some(late) = Lateness::classify(one.load, &record.latency, writing_ns, sender) {
            let kind =
                if late.is_back_pressure() { WarningKind::BackPressure } else { WarningKind::SenderLimited };
            let (whose, held_by) = if late.is_back_pressure() && readers_of(one, ends) > 1 {
                (format!("{}: ", one.route.writing.endpoint.id), slow_reader(one, ends, &records))
            } else {
                (one.whose.clone(), String::new())
            };
            evaluation.warn(kind, format!("{whose}{late}{held_by}"));
        }
    }
    if paced.unsent > 0 {
        let text = format!(
            "{} of {} planned samples ({} %) were not tried before the measured time ended",
            paced.unsent,
            paced.planned,
            format_value(percent(paced.unsent, paced.planned))
        );
        evaluation.warn(WarningKind::Unsent, text);
    }
}
