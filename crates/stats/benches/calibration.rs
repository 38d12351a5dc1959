//! Calibration tables: error and coverage rates over many simulated experiments, each with a 95 % interval.

#[path = "../tests/calibration/checks.rs"]
mod checks;
#[path = "../tests/calibration/rate.rs"]
mod rate;
#[path = "../tests/calibration/worlds.rs"]
mod worlds;

use checks::{CV, SEEDS};
use rate::Rate;
use stats::{PowerSpec, PrecisionTarget};
use worlds::{WORLDS, World};

const EXPERIMENTS: u32 = 10_000;

fn shown(rate: Rate) -> String {
    let (low, high) = rate.bounds();
    format!("{:6.2} % ({:5.2}..{:5.2})", 100.0 * rate.share(), 100.0 * low, 100.0 * high)
}

fn name(world: World) -> String {
    format!("{world:?}")
}

fn main() {
    println!(
        "{EXPERIMENTS} experiments a row unless said; in brackets the 95 % interval of Clopper and Pearson\n"
    );
    println!("\"differs\" where nothing does, 12 blocks (at most 7 %)");
    for world in WORLDS {
        for seed in SEEDS {
            println!(
                "  {:<9} seed {seed}: {}",
                name(world),
                shown(checks::false_differs(seed, world, 12, EXPERIMENTS))
            );
        }
    }
    println!("any of 40 that do nothing \"differs\", 16 blocks, 2000 experiments (at most 7 %)");
    for world in [World::Quiet, World::Modes] {
        println!(
            "  {:<9} {}",
            name(world),
            shown(checks::false_differs_in_family(SEEDS[0], world, 40, 2000))
        );
    }
    println!("\"equivalent\" where the truth lies on the margin, 12 blocks (at most 5 %)");
    for world in WORLDS {
        println!(
            "  {:<9} {}",
            name(world),
            shown(checks::false_equivalent(SEEDS[0], world, 12, EXPERIMENTS))
        );
    }
    println!("any false claim of two, one equal and one on the margin, 20 blocks (at most 5 %)");
    println!("  {}", shown(checks::false_claims_in_mixed_family(SEEDS[0], 20, EXPERIMENTS)));
    println!("the interval covers (93 to 97 %)");
    for blocks in [6, 8, 12, 20] {
        for world in WORLDS {
            println!(
                "  {blocks:2} blocks, {:<9} {}",
                name(world),
                shown(checks::coverage(SEEDS[0], world, blocks, EXPERIMENTS))
            );
        }
    }
    println!("two stages: a pilot decides how many blocks there are");
    for goal in [PrecisionTarget::default(), PrecisionTarget { effect: None, ..PrecisionTarget::default() }] {
        for cv in [0.005, CV, 0.02, 0.03] {
            for world in [World::Quiet, World::Memory, World::WideTails, World::Skewed] {
                let staged = checks::staged(SEEDS[0], world, cv, &goal, EXPERIMENTS);
                println!(
                    "  CV {:4.1} %, {:<9} effect {}: covers {}, finds 2 % {}, within +-2 % {}, {:.1} blocks",
                    100.0 * cv,
                    name(world),
                    if goal.effect.is_some() { "requested" } else { "not requested" },
                    shown(staged.covers),
                    shown(staged.finds),
                    shown(staged.precise),
                    staged.mean_blocks
                );
            }
        }
    }
    println!("power at the number of blocks that is said to be needed");
    for comparisons in [1, 40] {
        for power in [0.8, 0.9] {
            for effect in [0.01, 0.02, 0.05] {
                let spec = PowerSpec { level: 0.95, power, comparisons };
                let (blocks, found) = checks::power(SEEDS[0], CV, effect, &spec, EXPERIMENTS);
                println!(
                    "  CV 1 %, effect {:.0} %, {comparisons} comparisons, {:.0} % power requested, {blocks} blocks: {}",
                    100.0 * effect,
                    100.0 * power,
                    shown(found)
                );
            }
        }
    }
}
