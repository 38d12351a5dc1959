//! Simulation of discovery: participants open, find each other, and stay idle.

use std::sync::Arc;

use control::{AgentReport, EntityMatch, InterfaceReading, ParticipantReport, TrafficAhead, lead_ns};
use experiment::Join;
use results::Interface;
use sim_model::{Announcements, Config, Discovered, discover};

use crate::{
    host_model::HostModel,
    reports::{AgentTraffic, Traffic, Wire},
    round_trips::CLOCK_START_NS,
    setup::RunSetup,
};

/// Interval at which an agent looks whether all of its entities are matched.
const LOOK_NS: u64 = 20_000_000;
/// Interval at which an idle participant repeats its announcement to each other one.
const REPEAT_NS: u64 = 1_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Simulates the participants of a run.
pub(crate) fn measure(config: &Arc<Config>, host: &HostModel, mode: f64, run: &RunSetup<'_>) -> Traffic {
    let participants = run.topology.endpoints.len();
    let discovery = run.factors.discovery;
    let announced = Announcements { endpoints: discovery.endpoints as usize, run: run.design.seed };
    let mut opens = vec![0; participants];
    let mut earlier = None;
    if let (Join::Late, Some((last, others))) = (discovery.join, opens.split_last_mut()) {
        let found = discover(config, announced, others);
        // The late one gets its start when all others are matched.
        *last = found.all_matched_ns() + lead_ns(0);
        earlier = Some(found);
    }
    let found = discover(config, announced, &opens);
    let begin_ns = CLOCK_START_NS + opens.last().copied().unwrap_or(0);
    let all_ns = CLOCK_START_NS + found.all_matched_ns();
    let sent = |of: Option<&Discovered>| of.map_or((0, 0), |of| (of.packets, of.bytes));
    let (before, after) = (sent(earlier.as_ref()), sent(Some(&found)));
    let reading = |at_ns, (packets, bytes): (u64, u64)| {
        let wire = Wire { bytes: bytes + packets * host.overhead_bytes, packets, dropped: 0 };
        InterfaceReading { at_ns, counters: wire.interface(&run.factors.interface) }
    };
    let idle = idle(host, participants as u64, run);
    let together = |participant: usize| {
        let of = |index: usize| run.topology.endpoints[index].process;
        (0..participants).filter(|other| of(*other) == of(participant)).count() as u64
    };
    let agents = (0..participants).map(|participant| {
        let matches = |times: &[u64]| -> Vec<EntityMatch> {
            let changed = times.iter().map(|at_ns| Some(CLOCK_START_NS + at_ns));
            changed.map(|changed_ns| EntityMatch { matched: participants as u32, changed_ns }).collect()
        };
        let (writers, readers) = (&found.writers[participant], &found.readers[participant]);
        let matched_ns = CLOCK_START_NS + writers.iter().chain(readers).copied().max().unwrap_or(0);
        let opening_ns = CLOCK_START_NS + opens[participant];
        let found_matched_ns = begin_ns + (matched_ns - begin_ns).next_multiple_of(LOOK_NS);
        // All participants of a process read its memory, and what they share is in it once.
        let each_bytes = host.participant_bytes
            + host.peer_bytes * (participants * (writers.len() + readers.len())) as u64;
        let added_bytes = host.process_bytes + together(participant) * each_bytes;
        let report = ParticipantReport {
            begin_ns,
            opening_ns,
            // A simulated participant, and its entities, are created in no time.
            participant_ns: opening_ns,
            entities_ns: opening_ns,
            writers: matches(writers),
            readers: matches(readers),
            changed_later: 0,
            found_matched_ns,
            memory_before_bytes: Some(host.process_bytes),
            memory_matched_bytes: Some(host.process_bytes + added_bytes),
            before: Some(reading(begin_ns, before)),
            // No other program sends.
            ahead: Some(TrafficAhead { elapsed_ns: lead_ns(0), tx_packets: 0 }),
            // Who looks earlier reads a part of the traffic, which no other value is compared with.
            after: (found_matched_ns >= all_ns).then(|| reading(found_matched_ns, after)),
        };
        AgentTraffic {
            report: AgentReport {
                interface: Some(idle.clone()),
                participant: Some(report),
                ..AgentReport::default()
            },
            sent: 0,
            drained: true,
            cpu_ns: host.read_cost(0, (participants as u64 - 1) * run.design.measure_ns / REPEAT_NS),
            elapsed_ns: run.design.measure_ns,
            samples: 0,
        }
    });
    Traffic { agents: agents.collect(), wire: Wire::default(), join: None, mode }
}

/// Returns the traffic of idle participants.
fn idle(host: &HostModel, participants: u64, run: &RunSetup<'_>) -> Interface {
    let per_second = participants * participants.saturating_sub(1) * (SECOND_NS / REPEAT_NS);
    let packets = per_second * run.design.measure_ns / SECOND_NS;
    let bytes = packets * host.overhead_bytes;
    Wire { bytes, packets, dropped: 0 }.interface(&run.factors.interface)
}
