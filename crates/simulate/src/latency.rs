//! Simulation of a latency run: pings one after the other.

use std::collections::BTreeMap;

use control::{
    AgentReport, EchoReport, PingerReport, QUIET_NS, ReturnReport, TimestampLog, TimestampPair,
    ping_timeout_ns,
};
use experiment::{Design, Factors};
use sim_model::{Config, Flow, SampleOutcome};

use crate::{
    HOST_NS, HostModel, Series,
    drain::Drained,
    reports::{Traffic, TrafficUsage},
    series::Recorder,
};

/// Start of the simulated clock: a timestamp of 0 would be none.
pub(super) const CLOCK_START_NS: u64 = 1_000_000_000;

/// Sends a ping in one direction. Returns its arrival time and the number of copies; `None` if it is lost.
fn cross(flow: &mut Flow, at_ns: u64, bytes: u64) -> Option<(u64, u64)> {
    let mut at = at_ns;
    loop {
        match flow.offer(at, bytes) {
            // With one ping in flight, only an earlier ping that timed out can occupy the queue.
            SampleOutcome::Full { until_ns } => at = until_ns,
            SampleOutcome::Lost | SampleOutcome::Dropped => return None,
            SampleOutcome::Comes { due_ns, twice, .. } => return Some((due_ns, 1 + u64::from(twice))),
        }
    }
}

/// Kinds of the one-way times of a pair, and of the hops of a ring.
const WAYS: [&str; 2] = ["one_way_out", "one_way_back"];
pub(super) const HOPS: [&str; 16] = [
    "hop_1", "hop_2", "hop_3", "hop_4", "hop_5", "hop_6", "hop_7", "hop_8", "hop_9", "hop_10", "hop_11",
    "hop_12", "hop_13", "hop_14", "hop_15", "hop_16",
];

/// Counts of one phase.
#[derive(Default)]
pub(super) struct Counts {
    pub sent: u64,
    pub returned: u64,
    /// Pings that returned until the end of the measurement.
    pub in_time: u64,
    pub duplicate: u64,
    pub checked_in_full: u64,
    pub held_writes: u64,
    /// Arrival times of echoes after the timeout of their ping.
    pub late_ns: Vec<u64>,
    /// Timestamps of the pinger.
    pub stamps: Vec<TimestampPair>,
    /// Counts of the echoing agents: of a pair one, of a ring all nodes but the first.
    pub echoes: Vec<EchoCounts>,
}

/// Counts of one echoing agent.
#[derive(Clone, Default)]
pub(super) struct EchoCounts {
    pub echoed: u64,
    pub duplicate: u64,
    pub held_writes: u64,
    pub stamps: Vec<TimestampPair>,
}

/// Simulates pings that cross these flows one after the other: there and back in a pair, all hops of a ring.
pub(super) fn measure(
    series: &mut BTreeMap<&'static str, Series>,
    recorder: &mut Recorder,
    mut flows: Vec<Flow>,
    config: &Config,
    host: &HostModel,
    factors: &Factors,
    design: &Design,
) -> Traffic {
    let bytes = factors.size_bytes;
    let check_every = u64::from(design.check_every.max(1));
    let ways = if factors.topology.is_pair() { &WAYS[..] } else { &HOPS[..flows.len()] };
    let mut kinds: Vec<(&str, Series)> = ["rtt"]
        .into_iter()
        .chain(ways.iter().copied())
        .map(|kind| (kind, series.remove(kind).unwrap_or_default()))
        .collect();
    let mut counts = Counts { echoes: vec![EchoCounts::default(); flows.len() - 1], ..Counts::default() };
    let mut timeout = ping_timeout_ns(0);
    let mut warm_up = Vec::new();
    let mut now = CLOCK_START_NS;
    let mut elapsed = 0;
    // Arrival time and number of copies after each hop, up to the one that lost the ping.
    let mut arrivals: Vec<(u64, u64)> = Vec::with_capacity(flows.len());
    for (measured, duration_ns) in [(false, design.warm_up_ns), (true, design.measure_ns)] {
        let begin = now;
        while now - begin < duration_ns {
            let deadline = now + timeout;
            arrivals.clear();
            let (mut at, mut copies) = (now, 1);
            for flow in &mut flows {
                let Some((due_ns, again)) = cross(flow, at, bytes) else { break };
                (at, copies) = (due_ns, copies * again);
                arrivals.push((at, copies));
            }
            let echo = arrivals.last().copied().filter(|_| arrivals.len() == flows.len());
            let came = echo.filter(|(here, _)| *here <= deadline);
            if measured {
                let back_ns = came.map_or(0, |(here, _)| here);
                counts.stamps.push(TimestampPair { first_ns: now, second_ns: back_ns });
                for (index, echo) in counts.echoes.iter_mut().enumerate() {
                    let (there_ns, copies) = arrivals.get(index).copied().unwrap_or_default();
                    echo.stamps.push(TimestampPair { first_ns: there_ns, second_ns: there_ns });
                    echo.echoed += copies;
                    echo.duplicate += copies.saturating_sub(1);
                }
                match came {
                    Some((here, copies)) => {
                        counts.returned += 1;
                        counts.in_time += 1;
                        counts.duplicate += copies - 1;
                        counts.checked_in_full += u64::from(counts.sent.is_multiple_of(check_every));
                        let starts = std::iter::once(now).chain(arrivals.iter().map(|(at, _)| *at));
                        let hops = arrivals.iter().zip(starts).map(|((at, _), start)| at - start);
                        for ((_, kind), value) in
                            kinds.iter_mut().zip(std::iter::once(here - now).chain(hops))
                        {
                            kind.record(here - begin, value);
                        }
                    }
                    None => counts.late_ns.extend(echo.map(|(here, _)| here)),
                }
                counts.sent += 1;
            } else {
                warm_up.extend(came.map(|(here, _)| here - now));
            }
            now = came.map_or(deadline, |(here, _)| here) + HOST_NS;
        }
        elapsed = now - begin;
        if !warm_up.is_empty() {
            let middle = warm_up.len() / 2;
            let (_, median, _) = warm_up.select_nth_unstable(middle);
            timeout = ping_timeout_ns(*median);
        }
    }
    let end = PhaseEnd { ping_timeout_ns: timeout, elapsed_ns: elapsed, closed_ns: now };
    let traffic = counts.traffic(&end, &kinds[0].1, recorder, flows[0].mode(), config, host, factors, design);
    series.extend(kinds);
    traffic
}

/// End of the measurement.
pub(super) struct PhaseEnd {
    pub ping_timeout_ns: u64,
    pub elapsed_ns: u64,
    /// Time at which the pinger has no ping in flight.
    pub closed_ns: u64,
}

impl Counts {
    /// Returns what the agents report.
    #[allow(clippy::too_many_arguments, reason = "the inputs of a run")]
    pub(super) fn traffic(
        self,
        end: &PhaseEnd,
        rtt: &Series,
        recorder: &mut Recorder,
        mode: f64,
        config: &Config,
        host: &HostModel,
        factors: &Factors,
        design: &Design,
    ) -> Traffic {
        let (wire_bytes, wire_packets) = host.on_wire(config, factors.size_bytes);
        let Self { sent, returned, in_time, held_writes, .. } = self;
        let echoed: u64 = self.echoes.iter().map(|echo| echo.echoed).sum();
        // One ping and its echoes; each agent spends on it the time that passes between two pings.
        let usage = TrafficUsage {
            writer_ns: sent * HOST_NS,
            writer_elapsed_ns: end.elapsed_ns,
            reader_ns: self.echoes[0].echoed * HOST_NS,
            reader_elapsed_ns: end.elapsed_ns,
            received: echoed,
            wire_bytes: (sent + echoed) * wire_bytes,
            wire_packets: (sent + echoed) * wire_packets,
            dropped: 0,
            mode,
        };
        let rtt = recorder.distribution(rtt, design.windows, design.measure_ns);
        let returned = ReturnReport {
            returned,
            lost: sent - returned,
            // The pinger waits for late echoes only in its drain.
            late: self.late_ns.iter().filter(|here| **here <= end.closed_ns + QUIET_NS).count() as u64,
            duplicate: self.duplicate,
            corrupt: 0,
            foreign: 0,
            checked_in_full: self.checked_in_full,
            rtt,
            stamps: stamps(&self.stamps),
        };
        let pinged = PingerReport {
            sent,
            unsent: 0,
            timed_out: 0,
            refused: held_writes,
            elapsed_ns: end.elapsed_ns,
            in_time,
            ping_timeout_ns: end.ping_timeout_ns,
            returns: vec![returned],
            last_rtt: None,
        };
        let echo = |counts: &EchoCounts| EchoReport {
            received: counts.echoed,
            duplicate: counts.duplicate,
            echoed: counts.echoed,
            timed_out: 0,
            refused: counts.held_writes,
            overwritten: 0,
            wrong_size: 0,
            foreign: 0,
            echo: "reader".to_owned(),
            stamps: stamps(&counts.stamps),
        };
        let report = |counts| AgentReport { echo: Some(echo(counts)), ..AgentReport::default() };
        Traffic {
            sent,
            // Neither of them waits for the others.
            drained: Drained { acknowledged: true, arrived: true, closed_ns: end.closed_ns },
            driving: AgentReport { pinger: Some(pinged), ..AgentReport::default() },
            serving: self.echoes.iter().map(report).collect(),
            usage,
        }
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
