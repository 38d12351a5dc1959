//! Evaluation of discovery: the time of each entity, traffic, memory, and their consistency.

use control::{EntityMatch, ParticipantReport, TrafficAhead};
use experiment::{Factors, Join};
use results::{
    DiscoveryRecord, EntityRecord, Interface, Measurement, ParticipantRecord, WarningKind, format_value,
};
use stats::{median, total};

use crate::{
    cpu::process_record,
    evaluation::Evaluation,
    per_host::{PerHost, largest_per_host, sum_of_interfaces},
    reports::{AgentOutcome, RunReports},
};

/// Delay of a start after the common one, in ns, above which a warning is given.
const LATE_START_NS: i64 = 20_000_000;
/// Packets of other programs, as a share of all packets while idle, above which a warning is given.
const NOTABLE_OTHERS: f64 = 0.05;

pub(crate) fn evaluate(factors: &Factors, reports: &RunReports) -> Evaluation {
    let found: Option<Vec<(&AgentOutcome, &ParticipantReport)>> =
        reports.agents.iter().map(|agent| Some((agent, agent.report.participant.as_ref()?))).collect();
    let Some(found) = found else { return Evaluation::unreported() };
    let mut evaluation = Evaluation::default();
    let is_late = factors.discovery.join == Join::Late;
    let begins = || found.iter().map(|(_, report)| report.begin_ns);
    let begin_ns = begins().max().unwrap_or(0);
    evaluation.check(begins().all(|begin| begin == begin_ns), || {
        "the participants have different starts".to_owned()
    });
    let peers = reports.agents.len() as u32;
    let mut participants = Vec::new();
    for (agent, report) in &found {
        check(&mut evaluation, agent, report, peers, begin_ns);
        participants.push(record(agent, report, begin_ns));
    }
    let joining =
        if is_late { &participants[participants.len().saturating_sub(1)..] } else { &participants[..] };
    let slowest_start = joining.iter().max_by_key(|of| of.start_lag_ns);
    if let Some(last) = slowest_start.filter(|of| of.start_lag_ns > LATE_START_NS) {
        let text = format!(
            "{} started {} ms after the common start: the host has too few cores, which is part of all times",
            last.id,
            format_value(last.start_lag_ns as f64 / 1e6)
        );
        evaluation.warn(WarningKind::Host, text);
    }
    let changed_later = found.iter().map(|(_, report)| report.changed_later).fold(0, u32::saturating_add);
    if changed_later > 0 {
        let text = format!("the matches of {changed_later} entities changed after all were matched");
        evaluation.warn(WarningKind::Incomplete, text);
    }
    let record = discovery(reports, (&found, is_late), participants, begin_ns, changed_later);
    warn_of_others(&mut evaluation, &record);
    let has_times = record.all_matched_ns.is_some();
    evaluation.measured = Some(Measurement::Discovery { discovery: record });
    if !has_times {
        let text = "the driver does not report when entities were matched: the run has no times of discovery";
        evaluation.warn(WarningKind::Incomplete, text.to_owned());
    }
    evaluation
}

/// Checks the number of entities and of their peers, and that no time is before the start.
fn check(
    evaluation: &mut Evaluation,
    agent: &AgentOutcome,
    report: &ParticipantReport,
    peers: u32,
    begin_ns: u64,
) {
    let id = &agent.endpoint.id;
    let counts = [
        (report.writers.len(), agent.endpoint.writers.len()),
        (report.readers.len(), agent.endpoint.readers.len()),
    ];
    evaluation.check(counts.iter().all(|(found, expected)| found == expected), || {
        format!(
            "{id} reported {} writers and {} readers, not {} and {}",
            counts[0].0, counts[1].0, counts[0].1, counts[1].1
        )
    });
    for (name, entity) in entities(agent, report) {
        evaluation.check(entity.matched == peers, || {
            format!("{id}: the {name} has {} peers, not {peers}", entity.matched)
        });
        evaluation.check(entity.changed_ns.is_none_or(|ns| ns >= begin_ns), || {
            format!("{id}: the {name} was matched before the start")
        });
        evaluation.check(entity.changed_ns.is_none_or(|ns| ns <= report.found_matched_ns), || {
            format!("{id}: the {name} was matched after all of its matches were complete")
        });
    }
    let steps = [report.opening_ns, report.participant_ns, report.entities_ns, report.found_matched_ns];
    evaluation
        .check(steps.is_sorted(), || format!("{id}: the times of its steps are not in order: {steps:?}"));
}

/// Returns the entities of a participant with their names, writers first.
fn entities<'r>(
    agent: &'r AgentOutcome,
    report: &'r ParticipantReport,
) -> impl Iterator<Item = (&'r str, &'r EntityMatch)> {
    let writers = agent.endpoint.writers.iter().map(|of| of.name.as_str());
    let readers = agent.endpoint.readers.iter().map(|of| of.name.as_str());
    writers.zip(&report.writers).chain(readers.zip(&report.readers))
}

fn record(agent: &AgentOutcome, report: &ParticipantReport, begin_ns: u64) -> ParticipantRecord {
    let since = |ns: u64| ns.saturating_sub(begin_ns);
    let entities: Vec<EntityRecord> = entities(agent, report)
        .map(|(name, entity)| EntityRecord {
            name: name.to_owned(),
            peers: entity.matched,
            matched_ns: entity.changed_ns.map(since),
        })
        .collect();
    let matched: Option<Vec<u64>> = entities.iter().map(|entity| entity.matched_ns).collect();
    ParticipantRecord {
        id: agent.endpoint.id.clone(),
        start_lag_ns: report.opening_ns.cast_signed().saturating_sub(begin_ns.cast_signed()),
        participant_ns: report.participant_ns.saturating_sub(report.opening_ns),
        entities_ns: report.entities_ns.saturating_sub(report.participant_ns),
        matched_ns: matched.and_then(|all| all.into_iter().max()),
        memory_before_bytes: report.memory_before_bytes,
        memory_matched_bytes: report.memory_matched_bytes,
        entities,
    }
}

fn discovery(
    reports: &RunReports,
    (found, is_late): (&[(&AgentOutcome, &ParticipantReport)], bool),
    participants: Vec<ParticipantRecord>,
    begin_ns: u64,
    changed_later: u32,
) -> DiscoveryRecord {
    let entities =
        || participants.iter().flat_map(|of| of.entities.iter().map(move |entity| (of.id.as_str(), entity)));
    let times: Option<Vec<u64>> = entities().map(|(_, entity)| entity.matched_ns).collect();
    let slowest = entities().max_by_key(|(_, entity)| entity.matched_ns).filter(|_| times.is_some());
    let all_matched_ns = slowest.and_then(|(_, entity)| entity.matched_ns);
    let middle = times.and_then(|times| median(&times.iter().map(|ns| *ns as f64).collect::<Vec<_>>()));
    let interfaces = found.iter().filter_map(|(agent, _)| {
        Some((agent.endpoint.place.host.as_str(), agent.report.interface.as_ref()?))
    });
    let idle = largest_per_host(interfaces, |interface| interface.rx_packets);
    // All participants of a process read its memory and its CPU time.
    let processes = reports.processes();
    let usages: Vec<_> = processes.iter().filter_map(|members| process_record(members)).collect();
    let added: Option<Vec<u64>> = processes.iter().map(|members| growth(members)).collect();
    DiscoveryRecord {
        all_matched_ns,
        slowest: slowest.map(|(id, entity)| format!("{id} {}", entity.name)),
        median_matched_ns: middle.map(|ns| ns as u64),
        clock_error_ns: clock_error_ns(found),
        until_matched: traffic(found, begin_ns),
        idle: sum_of_interfaces(idle.into_values()),
        others_packets_per_s: others(found, is_late),
        idle_ns: usages.iter().map(|process| process.usage.elapsed_ns).max().unwrap_or(0),
        idle_cpu_ns: total(usages.iter().map(|process| process.usage.cpu_ns())),
        memory_per_participant_bytes: added
            .filter(|added| !added.is_empty())
            .map(|added| added.iter().sum::<u64>() / participants.len().max(1) as u64),
        changed_later,
        participants,
    }
}

/// Returns the packets per second that other programs sent over the interfaces of all hosts before the first participant was opened;
/// `None` if a host does not know. A late participant waits while others are open.
fn others(found: &[(&AgentOutcome, &ParticipantReport)], is_late: bool) -> Option<f64> {
    let early = &found[..found.len().saturating_sub(usize::from(is_late))];
    let ahead = early.iter().filter_map(|(agent, report)| {
        let ahead = report.ahead.as_ref().filter(|ahead| ahead.elapsed_ns > 0)?;
        Some((agent.endpoint.place.host.as_str(), ahead))
    });
    // Each agent of a host reads the same counters: the longest time is the most exact.
    let by_host = largest_per_host(ahead, |ahead| ahead.elapsed_ns);
    let per_s = |ahead: &&TrafficAhead| ahead.tx_packets as f64 * 1e9 / ahead.elapsed_ns as f64;
    (!by_host.is_empty()).then(|| by_host.values().map(per_s).sum())
}

/// Warns of packets of other programs, which are part of the counted ones.
fn warn_of_others(evaluation: &mut Evaluation, record: &DiscoveryRecord) {
    let Some((others, idle)) = record.others_packets_per_s.zip(record.idle_packets_per_s()) else { return };
    if others > NOTABLE_OTHERS * idle {
        let interface = record.idle.as_ref().map_or("", |idle| idle.name.as_str());
        let text = format!(
            "before the first participant, other programs sent {} packets/s over `{interface}`: packets and idle traffic include \
             them; as root, `unshare --net sh -c 'ip link set lo up; exec ddsmark ...'` measures on a loopback interface of its own",
            format_value(others)
        );
        evaluation.warn(WarningKind::OtherTraffic, text);
    }
}

/// Returns what a process grew by, in bytes: from the first reading of one of its participants to the last one. `None` if
/// the kernel does not report it.
fn growth(members: &[&AgentOutcome]) -> Option<u64> {
    let reports = || members.iter().filter_map(|agent| agent.report.participant.as_ref());
    let before: Option<Vec<u64>> = reports().map(|report| report.memory_before_bytes).collect();
    let matched: Option<Vec<u64>> = reports().map(|report| report.memory_matched_bytes).collect();
    Some(matched?.into_iter().max()?.saturating_sub(before?.into_iter().min()?))
}

/// Returns the maximum error of a match time: it starts at one host and ends at another.
fn clock_error_ns(found: &[(&AgentOutcome, &ParticipantReport)]) -> u64 {
    let mut hosts: Vec<&AgentOutcome> = found.iter().map(|(agent, _)| *agent).collect();
    hosts.sort_by_key(|agent| &agent.endpoint.place.host);
    hosts.dedup_by_key(|agent| &agent.endpoint.place.host);
    let others = |agent: &AgentOutcome| hosts.iter().filter_map(|other| agent.error_between(other)).max();
    hosts.iter().filter_map(|agent| others(agent)).max().unwrap_or(0)
}

/// Returns the traffic of all hosts, each from the last reading before the start to the first reading after the last match of its own
/// entities: no agent knows when those of other hosts are matched. `None` if a host has no such readings.
fn traffic(found: &[(&AgentOutcome, &ParticipantReport)], begin_ns: u64) -> Option<Interface> {
    let mut by_host: PerHost<'_, Vec<&ParticipantReport>> = PerHost::new();
    for (agent, report) in found {
        by_host.entry(&agent.endpoint.place.host).or_default().push(report);
    }
    let of_hosts = by_host.values().map(|reports| traffic_of_host(reports, begin_ns));
    sum_of_interfaces(of_hosts.collect::<Option<Vec<_>>>()?.iter())
}

/// Returns the traffic of a host. All of its agents read the counters of one interface, and on a busy host some of them are late.
fn traffic_of_host(found: &[&ParticipantReport], begin_ns: u64) -> Option<Interface> {
    let entities = found.iter().flat_map(|report| report.writers.iter().chain(&report.readers));
    let matched_ns = entities.filter_map(|entity| entity.changed_ns).max().unwrap_or(begin_ns);
    let before = found.iter().filter_map(|report| report.before.as_ref());
    let before = before.filter(|reading| reading.at_ns <= begin_ns).max_by_key(|reading| reading.at_ns)?;
    let after = found.iter().filter_map(|report| report.after.as_ref());
    let after = after.filter(|reading| reading.at_ns >= matched_ns).min_by_key(|reading| reading.at_ns)?;
    Some(after.counters.since(&before.counters))
}

#[cfg(test)]
#[path = "discovery_tests.rs"]
mod tests;
