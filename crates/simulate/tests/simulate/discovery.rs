//! Discovery: match times, traffic and memory against the truth of the configuration.

use experiment::{Cell, Discovery, Join, Topology, Workload};
use results::{DiscoveryRecord, RunState};
use sim_model::DiscoveryTruth;
use simulate::{HostModel, Simulator};

use crate::rig::{SECOND, cell, config, run};

const OPTIONS: [(&str, &str); 2] = [("latency", "1ms"), ("service", "10us")];

pub fn full_mesh(participants: u16, endpoints: u32, join: Join, options: &[(&str, &str)]) -> Cell {
    let mut cell = cell(Workload::Discovery, true, 0, options);
    cell.factors.topology = Topology::FullMesh { participants };
    cell.factors.discovery = Discovery { endpoints, participants_per_process: 1, join };
    cell
}

fn discovered(cell: &Cell) -> DiscoveryRecord {
    let run = run(&mut Simulator::new(), cell, 2 * SECOND, 1);
    assert_eq!((run.state, &run.warnings[..]), (RunState::Valid, &[][..]));
    run.discovery().expect("discovery").clone()
}

#[test]
fn time_of_the_last_match_packets_and_memory_are_the_true_ones() {
    for (participants, endpoints) in [(2, 1), (3, 4), (20, 1), (40, 2)] {
        for join in [Join::Together, Join::Late] {
            let found = discovered(&full_mesh(participants, endpoints, join, &OPTIONS));
            let (number, each) = (usize::from(participants), endpoints as usize);
            let truth = DiscoveryTruth::new(&config(&OPTIONS), 1.0, number, each).expect("constant");
            let expected = if join == Join::Late { truth.late_ns() } else { truth.together_ns() };
            let case = (participants, endpoints, join);
            assert_eq!(found.all_matched_ns.map(|ns| ns as f64), Some(expected), "{case:?}");
            let packets = found.until_matched.as_ref().map(|traffic| traffic.tx_packets as f64);
            let before = match join {
                Join::Together => 0.0,
                Join::Late => {
                    DiscoveryTruth::new(&config(&OPTIONS), 1.0, number - 1, each).expect("constant").packets()
                }
            };
            assert_eq!(packets, Some(truth.packets() - before), "{case:?}");
            let host = HostModel::default();
            let of_one = host.participant_bytes + host.peer_bytes * (2 * number * each) as u64;
            let memory = of_one + host.process_bytes;
            assert_eq!(found.memory_per_participant_bytes, Some(memory), "{case:?}");
            assert_eq!(found.idle_packets_per_s(), Some((number * (number - 1)) as f64), "{case:?}");
            // Each entity has its own time.
            let times = || found.participants.iter().flat_map(|of| &of.entities).map(|of| of.matched_ns);
            assert!(times().all(|ns| ns.is_some()) && times().max().flatten() == found.all_matched_ns);
            assert!(number < 3 || times().min() != times().max(), "{case:?}");
        }
    }
}

#[test]
fn lost_announcements_are_repeated_and_delay_the_last_match() {
    let lossy = [OPTIONS[0], OPTIONS[1], ("loss", "5%"), ("retransmit", "100ms")];
    let [plain, lossy] =
        [&OPTIONS[..], &lossy].map(|options| discovered(&full_mesh(10, 2, Join::Together, options)));
    let time = |of: &DiscoveryRecord| of.all_matched_ns.expect("a time");
    assert!(time(&lossy) >= time(&plain) + 99_000_000, "{} {}", time(&plain), time(&lossy));
    let packets = |of: &DiscoveryRecord| of.until_matched.as_ref().expect("traffic").tx_packets;
    assert!(packets(&lossy) > packets(&plain));
}

#[test]
fn participants_of_one_process_share_its_memory_and_nothing_else() {
    let mut cell = full_mesh(16, 2, Join::Together, &OPTIONS);
    let alone = discovered(&cell);
    let host = HostModel::default();
    let of_one = host.participant_bytes + host.peer_bytes * (2 * 16 * 2);
    for per_process in [1, 2, 4, 16] {
        for join in [Join::Together, Join::Late] {
            cell.factors.discovery = Discovery { endpoints: 2, participants_per_process: per_process, join };
            let run = run(&mut Simulator::new(), &cell, 2 * SECOND, 1);
            assert_eq!((run.state, &run.warnings[..]), (RunState::Valid, &[][..]));
            assert_eq!(run.processes.len(), 16 / per_process as usize);
            assert!(run.processes.iter().all(|process| process.endpoints.len() == per_process as usize));
            let found = run.discovery().expect("discovery");
            let memory = of_one + host.process_bytes / u64::from(per_process);
            assert_eq!(found.memory_per_participant_bytes, Some(memory), "{per_process} {join}");
            assert_eq!(found.idle_cpu_ns, alone.idle_cpu_ns, "CPU time of a process counts once");
            if join == Join::Together {
                assert_eq!(found.all_matched_ns, alone.all_matched_ns);
                assert_eq!(found.until_matched, alone.until_matched);
            }
        }
    }
}
