use control::{AgentReport, Configured, InterfaceReading, MonotonicClock};
use experiment::{Discovery, Factors, Pin, RunTopology, Topology, Workload};
use results::{Interface, Usage};

use super::*;

const MS: u64 = 1_000_000;
const BEGIN_NS: u64 = 1_000 * MS;

fn factors(participants: u16, join: Join) -> Factors {
    Factors {
        workload: Workload::Discovery,
        topology: Topology::FullMesh { participants },
        discovery: Discovery { endpoints: 2, participants_per_process: 1, join },
        ..Factors::default()
    }
}

fn reading(at_ns: u64, tx_packets: u64) -> InterfaceReading {
    InterfaceReading { at_ns, counters: Interface { tx_packets, ..Interface::default() } }
}

/// Returns the reports of participants: the entity with index `i` of participant `p` is matched `10 p + i` ms after the
/// start, writers before readers.
fn reports(factors: &Factors) -> RunReports {
    let run_topology = RunTopology::new(factors, &Pin::None, false).in_run("run-1");
    let peers = run_topology.endpoints.len() as u32;
    let agents = run_topology.endpoints.into_iter().enumerate().map(|(participant, endpoint)| {
        let entity = |index: usize| EntityMatch {
            matched: peers,
            changed_ns: Some(BEGIN_NS + (10 * participant + index) as u64 * MS),
        };
        let at = |ms: u64| BEGIN_NS + ms * MS;
        let part = ParticipantReport {
            begin_ns: BEGIN_NS,
            opening_ns: BEGIN_NS + 40_000,
            participant_ns: BEGIN_NS + 240_000,
            entities_ns: BEGIN_NS + 740_000,
            writers: vec![entity(0), entity(1)],
            readers: vec![entity(2), entity(3)],
            changed_later: 0,
            // The first one finds its own matches before the others have theirs.
            found_matched_ns: at(20 + 20 * participant as u64),
            memory_before_bytes: Some(1_000),
            memory_matched_bytes: Some(9_000 + 1_000 * participant as u64),
            // The last one wakes up after the start.
            before: Some(reading(
                BEGIN_NS + 4 * MS * participant as u64 - 5 * MS,
                1_000 + 10 * participant as u64,
            )),
            ahead: Some(TrafficAhead { elapsed_ns: 400 * MS, tx_packets: 0 }),
            after: Some(reading(at(20 + 20 * participant as u64), 2_000 + 100 * participant as u64)),
        };
        let report = AgentReport {
            usage: Usage { elapsed_ns: 2_000 * MS, user_ns: 3 * MS, system_ns: MS, ..Usage::default() },
            interface: Some(Interface { tx_packets: 7, ..Interface::default() }),
            participant: Some(part),
            ..AgentReport::default()
        };
        AgentOutcome {
            endpoint,
            pid: 1,
            clock: MonotonicClock::default(),
            clock_error_ns: Some(0),
            matched_ns: 0,
            configured: Configured::default(),
            sent: 0,
            drained: true,
            report,
        }
    });
    RunReports { agents: agents.collect(), lost: Vec::new(), clock_faults: Vec::new(), join: None }
}

fn evaluated(factors: &Factors, change: impl FnOnce(&mut RunReports)) -> Evaluation {
    let mut reports = reports(factors);
    change(&mut reports);
    evaluate(factors, &reports)
}

fn discovered(evaluation: &Evaluation) -> DiscoveryRecord {
    evaluation.measured.as_ref().and_then(Measurement::discovery).cloned().expect("discovery")
}

fn part(reports: &mut RunReports, participant: usize) -> &mut ParticipantReport {
    reports.agents[participant].report.participant.as_mut().expect("a part")
}

#[test]
fn counters_of_several_hosts_add_up_and_times_have_the_error_of_their_clocks() {
    let on_one = discovered(&evaluated(&factors(3, Join::Together), |_| {}));
    assert_eq!(on_one.clock_error_ns, 0);
    let evaluation = evaluated(&factors(3, Join::Together), |reports| {
        for (agent, host) in [(1, "h2"), (2, "h3")] {
            reports.agents[agent].endpoint.place.host = host.to_owned();
            reports.agents[agent].clock.boot_id = Some(host.to_owned());
            reports.agents[agent].clock_error_ns = Some(1_000 * agent as u64);
            // The counters of a host start at another value.
            let part = part(reports, agent);
            for reading in [&mut part.before, &mut part.after] {
                reading.as_mut().expect("a reading").counters.tx_packets += 1_000_000 * agent as u64;
            }
        }
        // The last one reads its counters before the start, too, and all of them after the last match.
        part(reports, 2).before.as_mut().expect("a reading").at_ns = BEGIN_NS - MS;
        (0..3).for_each(|agent| part(reports, agent).after.as_mut().expect("a reading").at_ns += 100 * MS);
    });
    assert_eq!((&evaluation.contradictions[..], &evaluation.warnings[..]), (&[][..], &[][..]));
    let found = discovered(&evaluation);
    // 1,000 to 2,000, 1,010 to 2,100 and 1,020 to 2,200, each on its own host
    assert_eq!(found.until_matched.map(|traffic| traffic.tx_packets), Some(1_000 + 1_090 + 1_180));
    assert_eq!(found.idle.map(|traffic| traffic.tx_packets), Some(3 * 7));
    assert_eq!(found.clock_error_ns, 3_000, "between the second and the third");
}

#[test]
fn traffic_before_the_first_participant_is_that_of_other_programs() {
    let ahead = |tx_packets| Some(TrafficAhead { elapsed_ns: 400 * MS, tx_packets });
    let found = |join, change: fn(&mut RunReports)| evaluated(&factors(3, join), change);
    let few = found(Join::Together, |_| {});
    assert_eq!(discovered(&few).others_packets_per_s, Some(0.0));
    // 7 packets in 2 s are 3.5 packets/s.
    let many = found(Join::Together, |reports| {
        part(reports, 1).ahead = Some(TrafficAhead { elapsed_ns: 500 * MS, tx_packets: 1 });
    });
    assert_eq!(discovered(&many).others_packets_per_s, Some(2.0));
    let [warning] = &many.warnings[..] else { panic!("{:?}", many.warnings) };
    assert!(warning.text.contains("other programs sent 2.00 packets/s over"), "{}", warning.text);
    // A late participant waits while the others are open.
    let mut late = reports(&factors(3, Join::Late));
    part(&mut late, 2).ahead = ahead(4_000);
    assert_eq!(discovered(&evaluate(&factors(3, Join::Late), &late)).others_packets_per_s, Some(0.0));
}

#[test]
fn memory_and_cpu_time_of_a_process_count_once() {
    let mut factors = factors(4, Join::Together);
    factors.discovery.participants_per_process = 2;
    let evaluation = evaluated(&factors, |reports| {
        // The second participant of the last process read its memory when the first one was open.
        part(reports, 3).memory_before_bytes = Some(4_000);
        reports.agents[3].report.usage.elapsed_ns -= MS;
    });
    assert_eq!((&evaluation.contradictions[..], &evaluation.warnings[..]), (&[][..], &[][..]));
    let found = discovered(&evaluation);
    // From 1,000 bytes to 10,000 and 12,000.
    assert_eq!(found.memory_per_participant_bytes, Some((9_000 + 11_000) / 4));
    assert_eq!((found.idle_cpu_ns, found.idle_ns), (2 * 4 * MS, 2_000 * MS));
    assert_eq!(found.participants.len(), 4, "each has its own times");
    let unknown = evaluated(&factors, |reports| part(reports, 0).memory_matched_bytes = None);
    assert_eq!(discovered(&unknown).memory_per_participant_bytes, None);
}

#[test]
fn times_traffic_and_memory_are_those_of_the_participants() {
    let evaluation = evaluated(&factors(3, Join::Together), |_| {});
    assert_eq!((&evaluation.contradictions[..], &evaluation.warnings[..]), (&[][..], &[][..]));
    let found = discovered(&evaluation);
    assert_eq!(found.all_matched_ns, Some(23 * MS));
    assert_eq!(found.slowest.as_deref(), Some("participant-3 reader-2"));
    // 0 to 3, 10 to 13 and 20 to 23 ms
    assert_eq!(found.median_matched_ns, Some(11 * MS + MS / 2));
    // From 1 ms before the start, by the second one, until 40 ms after it, when the second one looks.
    assert_eq!(found.until_matched.map(|traffic| traffic.tx_packets), Some(2_100 - 1_010));
    assert_eq!((found.idle.map(|traffic| traffic.tx_packets), found.idle_ns), (Some(7), 2_000 * MS));
    assert_eq!(found.idle_cpu_ns, 12 * MS);
    // 8,000, 9,000 and 10,000 bytes
    assert_eq!(found.memory_per_participant_bytes, Some(9_000));
    let second = &found.participants[1];
    assert_eq!((second.start_lag_ns, second.participant_ns, second.entities_ns), (40_000, 200_000, 500_000));
    assert_eq!(second.matched_ns, Some(13 * MS));
    let names: Vec<&str> = second.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, ["writer", "writer-2", "reader", "reader-2"]);
}

#[test]
fn late_participant_counts_from_its_own_start() {
    let late = |reports: &mut RunReports| {
        for participant in 0..2 {
            part(reports, participant).opening_ns -= 500 * MS;
            part(reports, participant).participant_ns -= 500 * MS;
            part(reports, participant).entities_ns -= 500 * MS;
        }
    };
    let evaluation = evaluated(&factors(3, Join::Late), late);
    assert_eq!(evaluation.contradictions, [] as [String; 0]);
    let found = discovered(&evaluation);
    assert!(found.participants[0].start_lag_ns < -499_000_000);
    assert_eq!(found.all_matched_ns, Some(23 * MS));
}

#[test]
fn contradictions_and_unknown_times_are_found() {
    let cell = factors(3, Join::Together);
    let first = |change: fn(&mut RunReports)| {
        evaluated(&cell, change).contradictions.first().cloned().unwrap_or_default()
    };
    assert_eq!(
        first(|of| part(of, 1).writers[1].matched = 2),
        "participant-2: the writer-2 has 2 peers, not 3"
    );
    assert_eq!(
        first(|of| part(of, 2).readers[0].changed_ns = Some(BEGIN_NS - 1)),
        "participant-3: the reader was matched before the start"
    );
    assert_eq!(
        first(|of| part(of, 0).readers[0].changed_ns = Some(BEGIN_NS + 21 * MS)),
        "participant-1: the reader was matched after all of its matches were complete"
    );
    assert!(
        first(|of| _ = part(of, 0).readers.pop())
            .starts_with("participant-1 reported 2 writers and 1 readers")
    );
    assert_eq!(first(|of| part(of, 0).begin_ns -= 1), "the participants have different starts");
    assert!(first(|of| part(of, 0).participant_ns = 1).contains("not in order"));
    assert!(first(|of| of.agents[0].report.participant = None).contains("did not report"));
    let late = evaluated(&cell, |of| {
        (0..3).for_each(|index| part(of, index).before = Some(reading(BEGIN_NS + 1, 1)));
    });
    let found = discovered(&late);
    assert_eq!(found.until_matched, None, "the traffic before the first reading is unknown");
    let unknown = evaluated(&cell, |of| part(of, 2).writers[0].changed_ns = None);
    let found = discovered(&unknown);
    assert_eq!((found.all_matched_ns, found.slowest, found.median_matched_ns), (None, None, None));
    assert_eq!(found.participants[1].matched_ns, Some(13 * MS), "the others have their times");
    assert!(unknown.warnings[0].text.contains("does not report when"), "{:?}", unknown.warnings);
}

#[test]
fn late_start_and_later_changes_are_warned_of() {
    let warned = |change: fn(&mut RunReports)| evaluated(&factors(3, Join::Together), change).warnings;
    let late = warned(|of| part(of, 1).opening_ns += 30 * MS);
    assert_eq!(late.first().map(|warning| warning.kind), Some(WarningKind::Host), "{late:?}");
    assert!(late[0].text.starts_with("participant-2 started 30.0 ms after the common start"), "{late:?}");
    let changed = warned(|of| part(of, 1).changed_later = 2);
    assert!(changed[0].text.starts_with("the matches of 2 entities changed"), "{changed:?}");
}
