//! Plan of kills: driver, workload, run, role, phase and delay of each.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

/// Phases of a run in order.
pub const PHASES: [&str; 8] =
    ["hello", "configure", "match", "warm_up", "measure", "drain", "report", "exit"];
/// Roles of each workload.
pub const PAIRS: [(&str, [&str; 2]); 2] =
    [("latency", ["pinger", "echo"]), ("throughput", ["writer", "reader"])];
/// Maximum number of kills per experiment, and number of runs of each cell, for random kills.
const KILLS: usize = 50;
const RUNS: u32 = 20;

/// Kill in one run of a cell; runs are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    pub driver: String,
    pub workload: &'static str,
    pub run: u32,
    pub role: &'static str,
    pub phase: &'static str,
    pub delay_us: u64,
}

/// Kills of one experiment with `runs` runs of each cell. The first run is never killed.
#[derive(Clone, Debug)]
pub struct Batch {
    pub runs: u32,
    pub kills: Vec<Kill>,
}

/// Returns one kill for each phase, role and driver, at the start of the phase.
pub fn each(drivers: &[&str]) -> Vec<Batch> {
    let mut kills = Vec::new();
    for driver in drivers {
        for (workload, roles) in PAIRS {
            for (number, (phase, role)) in
                (1..).zip(PHASES.iter().flat_map(|phase| roles.map(|role| (*phase, role))))
            {
                kills.push(Kill {
                    driver: (*driver).to_owned(),
                    workload,
                    run: number,
                    role,
                    phase,
                    delay_us: 0,
                });
            }
        }
    }
    vec![Batch { runs: 1 + 2 * PHASES.len() as u32, kills }]
}

/// Returns this number of random kills.
pub fn random(drivers: &[&str], mut kills: usize, seed: u64) -> Vec<Batch> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut batches = Vec::new();
    while kills > 0 {
        let mut places: Vec<_> = drivers
            .iter()
            .flat_map(|driver| PAIRS.map(|pair| (*driver, pair)))
            .flat_map(|place| (1..RUNS).map(move |run| (place, run)))
            .collect();
        let now = kills.min(KILLS).min(places.len() / 2);
        let batch = (0..now).map(|_| {
            let ((driver, (workload, roles)), run) = places.swap_remove(random.random_range(0..places.len()));
            let (role, phase) =
                (roles[random.random_range(0..2)], PHASES[random.random_range(0..PHASES.len())]);
            let delay_us = random.random_range(0..max_delay_us(phase));
            Kill { driver: driver.to_owned(), workload, run, role, phase, delay_us }
        });
        batches.push(Batch { kills: batch.collect(), runs: RUNS });
        kills -= now;
    }
    batches
}

/// Returns the exclusive upper limit of the delay of a kill after the start of its phase. Only the agent itself
/// ends the last phase, so the kill must come before that.
fn max_delay_us(phase: &str) -> u64 {
    if phase == "exit" { 1 } else { 20_000 }
}

/// Returns the plan in the format that `src/bin/killing-agent.rs` reads.
pub fn text(kills: &[Kill]) -> String {
    let line = |kill: &Kill| {
        let Kill { driver, run, role, phase, delay_us, .. } = kill;
        format!("{driver} {role} {run} {phase} {delay_us} agent\n")
    };
    kills.iter().map(line).collect()
}
