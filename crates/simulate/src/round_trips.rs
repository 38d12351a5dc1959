//! Round trips of a run: counts of its pings and echoes, and what their agents report.

use std::collections::BTreeMap;

use control::{
    AgentReport, EchoReport, FlowReaderReport, PingerReport, QUIET_NS, ReaderReport, ReturnReport,
    RoleReport, TimestampLog, TimestampPair, ping_timeout_ns,
};
use experiment::Role;

use crate::{
    HOST_NS,
    drain::{self, WriterEnd},
    link::Network,
    reports::{AgentTraffic, Traffic, Wire},
    series::{Recorder, Series},
    setup::RunSetup,
};

/// Start of the simulated clock: a timestamp of 0 would be none.
pub(crate) const CLOCK_START_NS: u64 = 1_000_000_000;

/// Recorded round trips. The memory is reused.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// By reader of the pinger.
    each: Vec<Series>,
    /// Up to the last echo.
    last: Series,
}

impl RoundTrips {
    /// Returns the round trips of all echoes in the last run.
    pub fn all(&self) -> impl Iterator<Item = &Series> {
        self.each.iter()
    }

    /// Removes all values. The next run has this number of echoes.
    pub fn clear(&mut self, echoes: usize) {
        self.each.resize_with(echoes, Series::default);
        self.each.iter_mut().chain([&mut self.last]).for_each(Series::clear);
    }

    /// Records the round trip to a reader of the pinger, given by its position among these.
    pub fn record(&mut self, reader: usize, at_ns: u64, rtt_ns: u64) {
        self.each[reader].record(at_ns, rtt_ns);
    }

    /// Records the round trip up to the last echo.
    pub fn record_last(&mut self, at_ns: u64, rtt_ns: u64) {
        self.last.record(at_ns, rtt_ns);
    }
}

/// Returns the ping timeout that follows from its minimum and the round trips of the warm-up.
pub(crate) fn timeout_after(least_ns: u64, warm_up: &mut [u64]) -> u64 {
    let middle = warm_up.len() / 2;
    let median_ns = if warm_up.is_empty() { 0 } else { *warm_up.select_nth_unstable(middle).1 };
    ping_timeout_ns(least_ns, median_ns)
}

/// Counts of one agent: of the pinger, of the echoes that one of its readers takes; of an echo, of the pings.
#[derive(Clone, Default)]
pub(crate) struct Counts {
    /// Pings that came in time, or came at all.
    pub came: u64,
    pub duplicate: u64,
    pub checked_in_full: u64,
    /// Arrival times of echoes after the timeout of their ping.
    pub late_ns: Vec<u64>,
    pub stamps: Vec<TimestampPair>,
}

/// Counts of a run at its end.
pub(crate) struct Outcome {
    pub roles: Vec<Role>,
    /// Readers of the pinger.
    pub returning: Vec<usize>,
    /// By reader.
    pub counts: Vec<Counts>,
    /// By endpoint: writes that found the queue full.
    pub held_writes: Vec<u64>,
    pub sent: u64,
    /// Pings of which all echoes came until the end of the measurement.
    pub in_time: u64,
    pub timeout_ns: u64,
    pub elapsed_ns: u64,
    /// Time at which the pinger has no ping in flight.
    pub closed_ns: u64,
}

impl Outcome {
    /// Returns what the agents report.
    pub fn traffic(
        self,
        trips: &RoundTrips,
        recorder: &mut Recorder,
        network: &mut Network,
        run: &RunSetup<'_>,
    ) -> Traffic {
        let Network { links, readers } = network;
        let config = links.first().map(|link| link.config.clone()).unwrap_or_default();
        readers.iter_mut().for_each(|reader| reader.read(&config));
        let pinger = links.iter().find(|link| self.roles[link.endpoint].drives());
        let writer = pinger.map_or(0, |link| link.spec.stream.writer);
        let accepted = BTreeMap::from([(writer, self.sent)]);
        let written = WriterEnd { endpoint: 0, accepted, end_ns: self.closed_ns, ..WriterEnd::default() };
        // Neither the pinger nor an echo waits for the others.
        let drained = drain::drain(readers, &[written], false, run.drain_ns);
        let mut wire = Wire::default();
        for link in &*links {
            let echo = readers.iter().position(|reader| reader.endpoint == link.endpoint);
            let pings = if self.roles[link.endpoint].drives() {
                self.sent
            } else {
                echo.map_or(0, |reader| self.counts[reader].came)
            };
            wire.add(link, pings * link.copies());
        }
        wire.dropped = readers.iter().map(|reader| reader.dropped).sum();
        let mut agents = Vec::with_capacity(self.roles.len());
        for (endpoint, role) in self.roles.iter().enumerate() {
            let reader = readers.iter().position(|reader| reader.endpoint == endpoint).unwrap_or(0);
            let (role, samples, arrived) = match role {
                Role::Pinger => {
                    let pinger = self.pinger(self.held_writes[endpoint], trips, recorder, run);
                    (RoleReport::Pinger(pinger), self.sent, true)
                }
                Role::Reader => {
                    let (arrived, closed_ns) = drained.of_reader(endpoint);
                    readers[reader].close(closed_ns);
                    let (received, join) = readers[reader].receive(0, run.design, |_, _| {});
                    let samples = received.delivered;
                    let flows = vec![FlowReaderReport { received, join, ..FlowReaderReport::default() }];
                    let read = ReaderReport { flows, ..ReaderReport::default() };
                    (RoleReport::Reader(read), samples, arrived)
                }
                Role::Echo | Role::Relay | Role::Writer | Role::Participant => {
                    let echo = echo_report(&self.counts[reader], self.held_writes[endpoint]);
                    let samples = echo.echoed;
                    (RoleReport::Echo(echo), samples, true)
                }
            };
            // Each agent spends on a ping the time that passes between two of them.
            agents.push(AgentTraffic {
                report: AgentReport { role, ..AgentReport::default() },
                sent: if self.roles[endpoint].drives() { self.sent } else { 0 },
                drained: arrived,
                cpu_ns: samples * HOST_NS,
                elapsed_ns: self.elapsed_ns,
                samples,
            });
        }
        Traffic { agents, wire, join: None, mode: links.first().map_or(1.0, |link| link.flow.mode) }
    }

    fn pinger(
        &self,
        refused: u64,
        trips: &RoundTrips,
        recorder: &mut Recorder,
        run: &RunSetup<'_>,
    ) -> PingerReport {
        let (sent, design) = (self.sent, run.design);
        let mut distribution = |series| recorder.distribution(series, design.windows, design.measure_ns);
        let returns = self.returning.iter().zip(&trips.each).map(|(reader, trip)| {
            let counts = &self.counts[*reader];
            ReturnReport {
                returned: counts.came,
                lost: sent - counts.came,
                // The pinger waits for late echoes only in its drain.
                late: counts.late_ns.iter().filter(|here| **here <= self.closed_ns + QUIET_NS).count() as u64,
                latest_ns: None,
                duplicate: counts.duplicate,
                corrupt: 0,
                foreign: 0,
                checked_in_full: counts.checked_in_full,
                rtt: distribution(trip),
                stamps: stamps(&counts.stamps),
            }
        });
        let returns: Vec<ReturnReport> = returns.collect();
        let last_rtt = (returns.len() > 1).then(|| distribution(&trips.last));
        PingerReport {
            sent,
            unsent: 0,
            timed_out: 0,
            refused,
            elapsed_ns: self.elapsed_ns,
            in_time: self.in_time,
            ping_timeout_ns: self.timeout_ns,
            returns,
            last_rtt,
        }
    }
}

fn echo_report(counts: &Counts, refused: u64) -> EchoReport {
    EchoReport {
        received: counts.came,
        duplicate: counts.duplicate,
        echoed: counts.came,
        refused,
        stamps: stamps(&counts.stamps),
        ..EchoReport::default()
    }
}

/// Returns the timestamps of one agent.
fn stamps(all: &[TimestampPair]) -> TimestampLog {
    let mut stamps = TimestampLog::with_capacity(all.len());
    for (sequence, stamp) in (0..).zip(all) {
        stamps.record(sequence, *stamp);
    }
    stamps
}
