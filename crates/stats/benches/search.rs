//! How often a search finds the capacity of a system that is disturbed, and what it takes.

#[path = "../tests/calibration/rate.rs"]
mod rate;
#[path = "../tests/search/systems.rs"]
mod systems;

use rate::Rate;
use stats::search::Goal;

const SEARCHES: u32 = 500;

fn shown(times: u32) -> String {
    let rate = Rate { times, of: SEARCHES };
    let (low, high) = rate.bounds();
    format!("{:5.1} % ({:4.1}..{:5.1})", 100.0 * rate.share(), 100.0 * low, 100.0 * high)
}

fn main() {
    println!(
        "{SEARCHES} searches a row for three goals at once, capacities over 5 decades; the capacity is no farther than a \
         width outside of the bounds, or between them; in brackets the 95 % interval of Clopper and Pearson"
    );
    let usual = systems::goals();
    let strict: Vec<Goal> = usual.iter().cloned().map(Goal::strict).collect();
    for (kind, goals) in [("usual", usual), ("strict", strict)] {
        for noise in systems::NOISES {
            let all = systems::campaign(&goals, noise, SEARCHES);
            println!(
                "{kind}; noise: {}; {:.1} trials, {:.0} s of them",
                noise.name, all.mean_trials, all.mean_seconds
            );
            for (index, goal) in goals.iter().enumerate() {
                let (near, inside) = (shown(all.within_width[index]), shown(all.inside[index]));
                println!("  {}: {near}, between {inside}", goal.name);
            }
        }
    }
}
