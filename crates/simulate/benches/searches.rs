//! Rate at which a search finds the capacity of a simulated middleware, and its cost. Fails if the rate is too low.

#[path = "../../stats/tests/calibration/rate.rs"]
mod rate;
#[path = "../tests/simulate/rig.rs"]
#[allow(dead_code, reason = "it has more than is needed here")]
mod rig;
#[path = "../tests/calibration/searches.rs"]
mod searches;

use std::{process::ExitCode, time::Instant};

use rate::Rate;
use searches::{FOUND, SYSTEMS, searches};

const SEARCHES: u32 = 500;

fn shown(times: u32) -> String {
    let rate = Rate { times, of: SEARCHES };
    let (low, high) = rate.bounds();
    format!("{:.1} % ({:.1}..{:.1})", 100.0 * rate.share(), 100.0 * low, 100.0 * high)
}

fn main() -> ExitCode {
    println!(
        "{SEARCHES} searches a row, capacities of 1,000 to 4,000 samples/s: how often the known one lies between the bounds found, or no \
         farther\noutside of them than the goal's width. In brackets the 95 % interval of Clopper and Pearson.\n"
    );
    println!(
        "| system | goal | width | within a width | between the bounds | trials, mean | trials/s made |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut missed = Vec::new();
    for system in &SYSTEMS {
        let begin = Instant::now();
        let found = searches(system, SEARCHES, 1.0);
        let per_second = found.mean_trials * f64::from(SEARCHES) / begin.elapsed().as_secs_f64();
        for (index, goal) in system.goals().iter().enumerate() {
            let within = found.within_width[index];
            println!(
                "| {} | {} | {} % | {} | {} | {:.1} | {per_second:.0} |",
                system.name,
                goal.aim,
                100.0 * goal.width,
                shown(within),
                shown(found.inside[index]),
                found.mean_trials,
            );
            if f64::from(within) < FOUND * f64::from(SEARCHES) {
                missed.push(format!("{}, {}", system.name, goal.aim));
            }
        }
    }
    for missed in &missed {
        println!("missed: {missed}");
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
