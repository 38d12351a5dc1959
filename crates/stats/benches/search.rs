//! Accuracy and cost of a search on disturbed systems: how often it finds the capacity, and how many trials it
//! needs.

#[path = "../tests/calibration/rate.rs"]
mod rate;
#[path = "../tests/search/systems.rs"]
#[allow(dead_code, reason = "it has more than is needed here")]
mod systems;

use rate::Rate;
use stats::search::Goal;
use systems::Flow;

const SEARCHES: u32 = 500;

fn shown(times: u32) -> String {
    let rate = Rate { times, of: SEARCHES };
    let (low, high) = rate.bounds();
    format!("{:5.1} % ({:4.1}..{:5.1})", 100.0 * rate.share(), 100.0 * low, 100.0 * high)
}

fn main() {
    println!(
        "{SEARCHES} searches a row for three goals at once, capacities over 5 decades; the capacity is at most as far as a \
         width outside of the bounds, or between them; in brackets the 95 % interval of Clopper and Pearson"
    );
    let usual = systems::goals();
    let strict: Vec<Goal> = usual.iter().cloned().map(Goal::strict).collect();
    let flows = [Flow::BestEffort, Flow::Reliable];
    let rows = [("usual", usual), ("strict", strict)].map(|row| flows.map(|flow| (row.clone(), flow)));
    for ((kind, goals), flow) in rows.into_iter().flatten() {
        for noise in systems::NOISES {
            let all = systems::campaign(&goals, flow, noise, SEARCHES);
            println!(
                "{kind}, {flow:?}; noise: {}; {:.1} trials, {:.0} s of them",
                noise.name, all.mean_trials, all.mean_seconds
            );
            for (index, goal) in goals.iter().enumerate() {
                let (near, inside) = (shown(all.within_width[index]), shown(all.inside[index]));
                println!("  {}: {near}, between {inside}", goal.name);
            }
        }
    }
}
