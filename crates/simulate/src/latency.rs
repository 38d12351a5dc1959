//! Simulation of a latency run: pings one after the other.

use std::collections::BTreeMap;

use control::{
    AgentReport, EchoReport, PingerReport, QUIET_NS, TimestampLog, TimestampPair, ping_timeout_ns,
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
const CLOCK_START_NS: u64 = 1_000_000_000;

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

/// Counts of one phase.
#[derive(Default)]
struct Counts {
    sent: u64,
    returned: u64,
    duplicate: u64,
    echoed: u64,
    checked_in_full: u64,
    /// Arrival times of echoes after the timeout of their ping.
    late_ns: Vec<u64>,
    /// Timestamps of the pinger and of the echo, by sequence number.
    stamps: Vec<[TimestampPair; 2]>,
}

pub(super) fn measure(
    series: &mut BTreeMap<&'static str, Series>,
    recorder: &mut Recorder,
    [mut out, mut back]: [Flow; 2],
    config: &Config,
    host: &HostModel,
    factors: &Factors,
    design: &Design,
) -> Traffic {
    let bytes = factors.size_bytes;
    let check_every = u64::from(design.check_every.max(1));
    let mut kinds =
        ["rtt", "one_way_out", "one_way_back"].map(|kind| series.remove(kind).unwrap_or_default());
    let mut counts = Counts::default();
    let mut timeout = ping_timeout_ns(0);
    let mut warm_up = Vec::new();
    let mut now = CLOCK_START_NS;
    let mut elapsed = 0;
    for (measured, duration_ns) in [(false, design.warm_up_ns), (true, design.measure_ns)] {
        let begin = now;
        while now - begin < duration_ns {
            let deadline = now + timeout;
            let there = cross(&mut out, now, bytes);
            let echo = there.and_then(|(there, copies)| {
                cross(&mut back, there, bytes).map(|(here, again)| (there, here, copies * again))
            });
            let came = echo.filter(|(_, here, _)| *here <= deadline);
            if measured {
                let back_ns = came.map_or(0, |(_, here, _)| here);
                let there_ns = there.map_or(0, |(there, _)| there);
                let ping = TimestampPair { first_ns: now, second_ns: back_ns };
                counts.stamps.push([ping, TimestampPair { first_ns: there_ns, second_ns: there_ns }]);
                counts.echoed += there.map_or(0, |(_, copies)| copies);
                match came {
                    Some((there, here, copies)) => {
                        counts.returned += 1;
                        counts.duplicate += copies - 1;
                        counts.checked_in_full += u64::from(counts.sent.is_multiple_of(check_every));
                        for (kind, value) in kinds.iter_mut().zip([here - now, there - now, here - there]) {
                            kind.record(here - begin, value);
                        }
                    }
                    None => counts.late_ns.extend(echo.map(|(_, here, _)| here)),
                }
                counts.sent += 1;
            } else {
                warm_up.extend(came.map(|(_, here, _)| here - now));
            }
            now = came.map_or(deadline, |(_, here, _)| here) + HOST_NS;
        }
        elapsed = now - begin;
        if !warm_up.is_empty() {
            let middle = warm_up.len() / 2;
            let (_, median, _) = warm_up.select_nth_unstable(middle);
            timeout = ping_timeout_ns(*median);
        }
    }
    let (wire_bytes, wire_packets) = host.on_wire(config, bytes);
    let Counts { sent, returned, echoed, .. } = counts;
    // One ping and one echo; each agent spends on it the time that passes between two pings.
    let usage = TrafficUsage {
        writer_ns: sent * HOST_NS,
        writer_elapsed_ns: elapsed,
        reader_ns: echoed * HOST_NS,
        reader_elapsed_ns: elapsed,
        received: echoed,
        wire_bytes: (sent + echoed) * wire_bytes,
        wire_packets: (sent + echoed) * wire_packets,
        dropped: 0,
        mode: out.mode(),
    };
    let rtt = recorder.distribution(&kinds[0], design.windows, design.measure_ns);
    let pinged = PingerReport {
        sent,
        unsent: 0,
        timed_out: 0,
        refused: 0,
        returned,
        lost: sent - returned,
        // The pinger waits for late echoes only in its drain.
        late: counts.late_ns.iter().filter(|here| **here <= now + QUIET_NS).count() as u64,
        duplicate: counts.duplicate,
        corrupt: 0,
        foreign: 0,
        checked_in_full: counts.checked_in_full,
        ping_timeout_ns: timeout,
        rtt,
        stamps: stamps(&counts.stamps, 0),
    };
    let ponged = EchoReport {
        received: echoed,
        echoed,
        timed_out: 0,
        refused: 0,
        overwritten: 0,
        wrong_size: 0,
        foreign: 0,
        echo: "reader".to_owned(),
        stamps: stamps(&counts.stamps, 1),
    };
    for (kind, recorded) in ["rtt", "one_way_out", "one_way_back"].into_iter().zip(kinds) {
        series.insert(kind, recorded);
    }
    Traffic {
        sent,
        // Neither of the two waits for the other.
        drained: Drained { acknowledged: true, arrived: true, closed_ns: now },
        driving: AgentReport { pinger: Some(pinged), ..AgentReport::default() },
        serving: AgentReport { echo: Some(ponged), ..AgentReport::default() },
        usage,
    }
}

/// Returns the timestamps of one agent.
fn stamps(both: &[[TimestampPair; 2]], agent: usize) -> TimestampLog {
    let mut stamps = TimestampLog::with_capacity(both.len());
    for (sequence, pair) in (0..).zip(both) {
        stamps.record(sequence, pair[agent]);
    }
    stamps
}
