//! Bounds from physics: values that no measurement of a run can beat, computed from other inputs than the measured values.
//!
//! Only the links of a lab bound times and goodput: ddsmark sets them. What a network interface reports may not be that of the path.

use std::collections::BTreeMap;

use experiment::{Endpoint, HostSpec, Workload, full_frames_ceiling, least_crossing_ns};
use results::{FlowRecord, Latency, LinkRecord, Measurement, Received, WritingTime, kind_of_hop};
use stats::total;

use crate::{RunContext, cpu, evaluation::Evaluation, reports::RunReports, routes::Route};

/// Tolerance of goodput, as a share of the time: the link keeps its rate at least as exactly.
const LINK_TOLERANCE: f64 = 0.01;
/// Tolerance of sums of floating-point numbers, relative.
const ROUNDING: f64 = 1e-6;

/// Checks a run against its bounds. `link`: links of the lab as they were read back; `None` without a lab.
pub(crate) fn check(
    evaluation: &mut Evaluation,
    link: Option<&LinkRecord>,
    context: &RunContext<'_>,
    reports: &RunReports,
) {
    cpu::check(evaluation, context, reports);
    writers(evaluation, context, reports);
    rates(evaluation, reports);
    let Some(link) = link else { return };
    let links = Links::new(link, context, reports);
    links.ring(evaluation, reports);
    links.flows(evaluation);
    links.quickest(evaluation, context, reports);
    links.discovery(evaluation, reports);
    links.goodput(evaluation, reports);
}

/// Links of a lab, and the endpoints that reported.
struct Links<'a> {
    link: &'a LinkRecord,
    /// Endpoints on hosts of the lab, by id.
    endpoints: BTreeMap<&'a str, &'a Endpoint>,
    /// Whether the samples have bytes that a middleware may compress: those of a file.
    compressible: bool,
}

/// Host whose link it is, and whether it is the link `of` the host or `to` it.
type Direction<'a> = (&'a str, &'static str);

/// Minimum time from one endpoint to another.
#[derive(Clone, Copy, Debug)]
struct Bound {
    ns: u64,
    size_bytes: u64,
}

impl<'a> Links<'a> {
    fn new(link: &'a LinkRecord, context: &RunContext<'_>, reports: &'a RunReports) -> Self {
        let is_of_lab = |endpoint: &Endpoint| {
            let host = context.hosts.iter().find(|host| host.name == endpoint.place.host);
            host.is_some_and(|host| matches!(host.at, HostSpec::Lab(_)))
        };
        let endpoints = reports.agents.iter().map(|agent| &agent.endpoint).filter(|of| is_of_lab(of));
        Self {
            link,
            endpoints: endpoints.map(|endpoint| (endpoint.id.as_str(), endpoint)).collect(),
            compressible: context.design.payload.is_some(),
        }
    }

    /// Returns the minimum time of a sample between two endpoints; `None` on one host, and for links without rate and delay.
    fn crossing(&self, from: &str, to: &str, size_bytes: u64) -> Option<Bound> {
        let hosts = [self.endpoints.get(from)?, self.endpoints.get(to)?].map(|endpoint| &endpoint.place.host);
        if hosts[0] == hosts[1] {
            return None;
        }
        let size_bytes = if self.compressible { 0 } else { size_bytes };
        let rate = self.link.rate_bit_per_s;
        let wire_ns = rate.and_then(|rate| least_crossing_ns(rate, self.link.mtu_bytes, size_bytes));
        let ns = self.link.delay_ns.saturating_add(wire_ns.unwrap_or(0));
        (ns > 0).then_some(Bound { ns, size_bytes })
    }

    /// Records a contradiction if a time is shorter than `crossings` times the bound, less the error of the clocks.
    fn check_time(
        &self,
        evaluation: &mut Evaluation,
        what: &str,
        (shortest_ns, clock_error_ns): (i64, u64),
        bound: Bound,
        crossings: u64,
    ) {
        let least_ns = bound.ns.saturating_mul(crossings);
        let most_ns = i128::from(shortest_ns) + i128::from(clock_error_ns);
        evaluation.check(most_ns >= i128::from(least_ns), || {
            let error = match clock_error_ns {
                0 => String::new(),
                ns => format!(" (± {ns} ns of the clocks)"),
            };
            let there = if crossings > 1 { " there and back" } else { "" };
            format!(
                "{what}: the shortest is {shortest_ns} ns{error}, but {} B take at least {least_ns} ns{there} over links{}",
                bound.size_bytes,
                self.of_links(),
            )
        });
    }

    /// Formats the links in messages.
    fn of_links(&self) -> String {
        let rate = self.link.rate_bit_per_s.map(|rate| format!("{} Mbit/s", rate as f64 / 1e6));
        let delay = (self.link.delay_ns > 0).then(|| format!("{} ms", self.link.delay_ns as f64 / 1e6));
        let parts: Vec<String> = rate.into_iter().chain(delay).collect();
        format!(" of {}", parts.join(" and "))
    }

    /// Checks the times of the flows: round trips twice the bound, one-way times once.
    fn flows(&self, evaluation: &mut Evaluation) {
        if evaluation.ring().is_some() {
            return;
        }
        let flows = std::mem::take(&mut evaluation.flows);
        let own = |kind: &str| flows.iter().any(|flow| flow.latency.contains_key(kind));
        // Times that no flow has of its own are those of the only one, or of the probes of the first one.
        let of_run: BTreeMap<_, _> = evaluation
            .latency
            .iter()
            .filter(|(kind, _)| !own(kind))
            .map(|(k, l)| (k.clone(), l.clone()))
            .collect();
        for (index, flow) in flows.iter().enumerate() {
            let Some(bound) = self.crossing(&flow.writer, &flow.reader, flow.smallest_bytes()) else {
                continue;
            };
            let of_run = (index == 0).then_some(&of_run).into_iter().flatten();
            for (kind, latency) in flow.latency.iter().chain(of_run).filter(|(_, latency)| latency.n > 0) {
                let crossings = match kind.as_str() {
                    "rtt" => 2,
                    "one_way_out" | "one_way_back" | "service" | "response" => 1,
                    _ => continue,
                };
                let what = format!("`{kind}` of {} and {}", flow.writer, flow.reader);
                self.check_time(evaluation, &what, shortest(latency), bound, crossings);
            }
        }
        evaluation.flows = flows;
    }

    /// Checks the hops of a ring, and its round trips, which take all of them.
    fn ring(&self, evaluation: &mut Evaluation, reports: &RunReports) {
        let Some(flow) = evaluation.flows.first().filter(|_| evaluation.ring().is_some()) else { return };
        let size_bytes = flow.size_bytes;
        let nodes = &reports.agents;
        let mut all_ns = 0;
        for (index, node) in nodes.iter().enumerate() {
            let next = &nodes[(index + 1) % nodes.len()];
            let Some(bound) = self.crossing(&node.endpoint.id, &next.endpoint.id, size_bytes) else {
                continue;
            };
            all_ns += bound.ns;
            let kind = kind_of_hop(index);
            if let Some(hop) = evaluation.latency.get(&kind).filter(|hop| hop.n > 0) {
                let (what, shortest) =
                    (format!("`{kind}` of {} and {}", node.endpoint.id, next.endpoint.id), shortest(hop));
                self.check_time(evaluation, &what, shortest, bound, 1);
            }
        }
        if let Some(rtt) = evaluation.latency.get("rtt").filter(|rtt| rtt.n > 0) {
            let (shortest, bound) = (shortest(rtt), Bound { ns: all_ns, size_bytes });
            self.check_time(evaluation, "`rtt` of the ring", shortest, bound, 1);
        }
    }

    /// Checks the quickest sample of each writer at each of its readers, also of a reader that joined late.
    fn quickest(&self, evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
        for route in &reports.routes() {
            let received = received(route).filter(|received| received.delivered > 0);
            let Some((received, error_ns)) = received.zip(route.error_ns()) else { continue };
            let size_bytes = route.stream.flow_sizes().smallest_bytes();
            let ids = [route.writing, route.reading].map(|agent| agent.endpoint.id.as_str());
            let Some(bound) = self.crossing(ids[0], ids[1], size_bytes) else { continue };
            let what = format!("{}write to arrival", route.whose(context.factors, reports.is_pair()));
            self.check_time(evaluation, &what, (received.quickest_ns, error_ns), bound, 1);
        }
    }

    /// Checks that not all entities were matched before a frame could pass: each was matched with peers on other hosts.
    fn discovery(&self, evaluation: &mut Evaluation, reports: &RunReports) {
        let Some(discovery) = evaluation.measured.as_ref().and_then(Measurement::discovery) else { return };
        let Some(matched_ns) = discovery.all_matched_ns else { return };
        let first = &reports.agents[0];
        let mut others = reports.agents.iter().map(|agent| agent.endpoint.id.as_str());
        let bound = others.find_map(|other| self.crossing(&first.endpoint.id, other, 0));
        let errors = reports.agents.iter().filter_map(|agent| first.error_between(agent));
        let error_ns = errors.max().unwrap_or(0);
        if let Some(bound) = bound {
            let shortest = (matched_ns.cast_signed(), error_ns);
            self.check_time(evaluation, "all matched", shortest, bound, 1);
        }
    }

    /// Checks that each link carried at most what its rate allows, in each direction.
    fn goodput(&self, evaluation: &mut Evaluation, reports: &RunReports) {
        let Some(rate) = self.link.rate_bit_per_s.filter(|_| !self.compressible) else { return };
        let ceiling_bit_per_s = full_frames_ceiling(rate as f64, self.link.mtu_bytes);
        let (time_ns, carried) = match (evaluation.ring(), evaluation.writing) {
            (Some(ring), _) => {
                (ring.elapsed_ns, self.carried_by_ring(ring.returned_in_time, evaluation, reports))
            }
            // What counts was written from the first write on, and arrived as much later as the quickest sample.
            (None, Some(writing)) => {
                let quickest = reports.routes();
                let quickest = quickest.iter().filter_map(received).map(|received| received.quickest_ns);
                let quickest_ns = quickest.max().unwrap_or(0).max(0).cast_unsigned();
                (writing.ns().saturating_add(quickest_ns), self.carried(&evaluation.flows))
            }
            (None, None) => return,
        };
        let seconds = time_ns as f64 / 1e9;
        for ((host, direction), bytes) in carried {
            let bits = bytes as f64 * 8.0;
            evaluation.check(bits <= ceiling_bit_per_s * seconds * (1.0 + LINK_TOLERANCE), || {
                format!(
                    "the link {direction} {host} carried {bytes} B of payload in {time_ns} ns, {:.2} Mbit/s: at most {:.2} Mbit/s are \
                     possible{}, within {} %",
                    bits / 1e6 / seconds,
                    ceiling_bit_per_s / 1e6,
                    self.of_links(),
                    100.0 * LINK_TOLERANCE
                )
            });
        }
    }

    /// Returns the payload on the link of each host, by direction, in bytes. Samples to several readers may leave as one by
    /// multicast, and those to several readers of a host may arrive as one: those of the reader with the most of them count.
    fn carried(&self, flows: &[FlowRecord]) -> BTreeMap<Direction<'_>, u64> {
        let mut streams: BTreeMap<(Direction<'_>, (&str, &str)), u64> = BTreeMap::new();
        for flow in flows {
            let ends = [self.endpoints.get(flow.writer.as_str()), self.endpoints.get(flow.reader.as_str())];
            let [Some(from), Some(to)] = ends.map(|end| end.map(|end| end.place.host.as_str())) else {
                continue;
            };
            let bytes = flow.least_bytes(flow.delivered_in_time);
            for link in [(from, "of"), (to, "to")].into_iter().filter(|_| from != to) {
                let most = streams.entry((link, (&flow.writer, &flow.name))).or_default();
                *most = bytes.max(*most);
            }
        }
        let mut links = BTreeMap::new();
        for ((link, _), bytes) in streams {
            *links.entry(link).or_insert(0_u64) += bytes;
        }
        links
    }

    /// Returns the payload of a ring on the link of each host, by direction, in bytes.
    fn carried_by_ring<'r>(
        &self,
        samples: u64,
        evaluation: &Evaluation,
        reports: &'r RunReports,
    ) -> BTreeMap<Direction<'r>, u64> {
        let bytes = samples.saturating_mul(evaluation.flows.first().map_or(0, |flow| flow.size_bytes));
        let mut links = BTreeMap::new();
        for (index, node) in reports.agents.iter().enumerate() {
            let next = &reports.agents[(index + 1) % reports.agents.len()];
            if self.crossing(&node.endpoint.id, &next.endpoint.id, 0).is_some() {
                for link in
                    [(node, "of"), (next, "to")].map(|(node, way)| (node.endpoint.place.host.as_str(), way))
                {
                    *links.entry(link).or_insert(0_u64) += bytes;
                }
            }
        }
        links
    }
}

/// Returns the shortest time, in ns, and the error of the clocks. Negative times are not among the values: any of them is below 0.
const fn shortest(latency: &Latency) -> (i64, u64) {
    let shortest_ns = if latency.negative > 0 { 0 } else { latency.min_ns.cast_signed() };
    (shortest_ns, latency.clock_error_ns)
}

/// Returns what a reading endpoint received of a route, if it counts by stream.
fn received<'r>(route: &Route<'r>) -> Option<&'r Received> {
    let flow = route.reading.report.reader()?.flows.get(route.position)?;
    Some(&flow.received)
}

/// Checks the time over which rates are computed with other records of the same agent: a thread writes one sample after the other,
/// and its resource usage was read before and after.
fn writers(evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
    for agent in reports.all_driving() {
        let Some(writer) = agent.report.writer() else { continue };
        let writing_ns = WritingTime::new(writer.begin_ns, writer.end_ns).ns();
        for calls in writer.flows.iter().map(|flow| &flow.write_call) {
            let in_calls_ns = calls.mean_ns * calls.n as f64;
            evaluation.check(in_calls_ns <= writing_ns as f64 * (1.0 + ROUNDING) + 1.0, || {
                format!(
                    "{}: {} write calls took {in_calls_ns:.0} ns together, but the writer wrote for {writing_ns} ns",
                    agent.endpoint.id, calls.n
                )
            });
        }
        // The usage of a writer with a schedule may be read after its start.
        let elapsed_ns = agent.report.usage.elapsed_ns;
        let is_within = context.factors.workload != Workload::Throughput || writing_ns <= elapsed_ns;
        evaluation.check(is_within, || {
            format!(
                "{}: wrote for {writing_ns} ns, but its resource usage, read before and after, is of {elapsed_ns} ns",
                agent.endpoint.id
            )
        });
    }
}

/// Checks that each rate is a count divided by a time. The delivered rate is between arrivals, and so may be one sample of each flow
/// below that. Between hosts, the error of the clocks moves the first arrival against the first write.
fn rates(evaluation: &mut Evaluation, reports: &RunReports) {
    let is_exact = reports.routes().iter().all(|route| route.error_ns() == Some(0));
    let ring = evaluation
        .ring()
        .map(|ring| ("returned", ring.returned_sps, ring.returned_in_time, ring.elapsed_ns, 0));
    let of_run = evaluation.throughput().zip(evaluation.writing).map(|(rates, writing)| {
        let sps = rates.delivered_sps * evaluation.readers() as f64;
        ("delivered", sps, rates.delivered_in_time, writing.ns(), evaluation.flows.len() as u64)
    });
    for (what, sps, count, ns, below) in ring.into_iter().chain(of_run).filter(|(.., ns, _)| *ns > 0) {
        evaluation.check(is_rate_of(sps, count, ns, below, is_exact), || {
            format!(
                "the {what} rate is {sps:.3}/s, but {count} samples in {ns} ns are {:.3}/s",
                count as f64 * 1e9 / ns as f64
            )
        });
    }
    let in_flows = total(evaluation.flows.iter().map(|flow| flow.delivered_in_time));
    if let Some(rates) = evaluation.throughput() {
        let counted = rates.delivered_in_time;
        evaluation.check(in_flows == counted, || {
            format!("the delivered rate counts {counted} samples, but the flows have {in_flows} in time")
        });
    }
}

/// Returns whether a rate is that of a count in a time. It may be `below` samples less than that, and any number of them if the time
/// is not exact.
fn is_rate_of(sps: f64, count: u64, ns: u64, below: u64, is_exact: bool) -> bool {
    let of_rate = sps * ns as f64 / 1e9;
    let least = if is_exact { count.saturating_sub(below) as f64 } else { 0.0 };
    (least * (1.0 - LINK_TOLERANCE)..=count as f64 * (1.0 + ROUNDING)).contains(&of_rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_times_time_is_the_count() {
        const NS: u64 = 500_000_000;
        let is_rate = |sps: f64, is_exact: bool| is_rate_of(sps, 1_000, NS, 1, is_exact);
        assert!(is_rate(2_000.0, true));
        // Between the arrivals of 1000 samples are 999 periods.
        assert!(is_rate(1_998.0, true));
        // More than was counted is never right, and less only if the clocks of two hosts have an error.
        assert!(!is_rate(2_000.01, true) && !is_rate(2_000.01, false));
        assert!(!is_rate(1_970.0, true) && is_rate(1_970.0, false));
        for impossible in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(!is_rate(impossible, false), "{impossible}");
        }
        assert!(is_rate_of(0.0, 0, NS, 1, true) && !is_rate_of(1.0, 0, NS, 1, true));
    }
}
