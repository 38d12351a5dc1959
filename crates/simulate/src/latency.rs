//! Simulation of a latency run: pings one after the other.

use std::collections::BTreeMap;

use experiment::{Design, Factors};
use results::Counted;
use sim_model::{Config, Fate, Flow};

use crate::{HOST_NS, Machine, Series, lab::Measured, usage::Used};

/// Timeout of a ping, as in the agent: at least this time, and this multiple of the median RTT of the warm-up.
const MIN_PING_TIMEOUT_NS: u64 = 200_000_000;
const MEDIANS_UNTIL_LOST: u64 = 100;

/// Sends a ping in one direction. Returns its arrival time and the number of copies; `None` if it is lost.
fn cross(flow: &mut Flow, at_ns: u64, bytes: u64) -> Option<(u64, u64)> {
    let mut at = at_ns;
    loop {
        match flow.offer(at, bytes) {
            // With one ping in flight, only an earlier ping that timed out can occupy the queue.
            Fate::Full { until_ns } => at = until_ns,
            Fate::Lost | Fate::Dropped => return None,
            Fate::Comes { due_ns, twice, .. } => return Some((due_ns, 1 + u64::from(twice))),
        }
    }
}

pub(super) fn measure(
    series: &mut BTreeMap<&'static str, Series>,
    [mut out, mut back]: [Flow; 2],
    config: &Config,
    machine: &Machine,
    factors: &Factors,
    design: &Design,
) -> Measured {
    let bytes = factors.size_bytes;
    let mut counted = Counted { writer: 1, ..Counted::default() };
    let mut kinds =
        ["rtt", "one_way_out", "one_way_back"].map(|kind| series.remove(kind).unwrap_or_default());
    let mut timeout = MIN_PING_TIMEOUT_NS;
    let mut warm_up = Vec::new();
    let mut now = 0_u64;
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
                counted.sent += 1;
                match came {
                    Some((there, here, copies)) => {
                        counted.delivered += 1;
                        counted.duplicate += copies - 1;
                        for (kind, value) in kinds.iter_mut().zip([here - now, there - now, here - there]) {
                            kind.record(here - begin, value);
                        }
                    }
                    None => counted.lost += 1,
                }
            } else {
                warm_up.extend(came.map(|(_, here, _)| here - now));
            }
            now = came.map_or(deadline, |(_, here, _)| here) + HOST_NS;
        }
        elapsed = now - begin;
        if !warm_up.is_empty() {
            let middle = warm_up.len() / 2;
            let (_, median, _) = warm_up.select_nth_unstable(middle);
            timeout = timeout.max(median.saturating_mul(MEDIANS_UNTIL_LOST));
        }
    }
    for (kind, recorded) in ["rtt", "one_way_out", "one_way_back"].into_iter().zip(kinds) {
        series.insert(kind, recorded);
    }
    let (wire_bytes, wire_packets) = machine.on_wire(config, bytes);
    let sent = counted.sent;
    // One ping and one echo; each agent spends on it the time that passes between two pings.
    let used = Used {
        writer_ns: sent * HOST_NS,
        writer_elapsed_ns: elapsed,
        reader_ns: counted.delivered * HOST_NS,
        reader_elapsed_ns: elapsed,
        wire_bytes: (sent + counted.delivered) * wire_bytes,
        wire_packets: (sent + counted.delivered) * wire_packets,
        dropped: 0,
        mode: out.mode(),
    };
    Measured { counted: vec![counted], throughput: None, received: None, open: None, used }
}
