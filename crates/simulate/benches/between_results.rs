//! Rates of wrong claims between two results on a host that changes, and the power of the rule that prevents them.
//! Fails if a bound is exceeded.

#[path = "../tests/calibration/between_results.rs"]
mod between_results;
#[path = "../../stats/tests/calibration/rate.rs"]
mod rate;
#[path = "../tests/simulate/rig.rs"]
#[allow(dead_code, reason = "it has more than is needed here")]
mod rig;

use std::process::ExitCode;

use between_results::{BLOCKS, DRIFTS, Drift, Pairs, SEEDS, TRUE_ELASTICITIES, Tally, tally};
use rate::Rate;

const PAIRS: u32 = 1000;
/// Number of pairs per seed in a row whose true elasticity is the largest of the rule: there the test has no margin.
const LIMIT_PAIRS: u32 = 2000;
/// Number of pairs per seed in a row of the power table.
const POWER_PAIRS: u32 = 200;
/// Largest elasticity of the rule.
const LARGEST: f64 = stats::ELASTICITIES[stats::ELASTICITIES.len() - 1];
/// Maximum upper Clopper-Pearson bound of the rate of wrong claims.
const WRONG: f64 = 0.07;

/// Parts to execute, as in `cargo bench -p simulate --bench between_results -- limit`; all if none is named.
struct Parts(Vec<String>);

impl Parts {
    fn includes(&self, part: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|parts| parts == part)
    }
}

fn shown(rate: Rate) -> String {
    let (low, high) = rate.bounds();
    format!("{:.1} % ({:.1}..{:.1})", 100.0 * rate.share(), 100.0 * low, 100.0 * high)
}

/// Prints and checks the rates of wrong claims on a host that changes, with and without a true effect.
fn wrong_claims(parts: &Parts, missed: &mut Vec<String>) {
    println!("| true effect | host | elasticity | wrong claims | wrong criteria | interval covers |");
    println!("|---|---|---|---|---|---|");
    for (i, drift) in DRIFTS.into_iter().enumerate() {
        for (j, elasticity) in TRUE_ELASTICITIES.into_iter().enumerate() {
            // Without a change nothing depends on the elasticity.
            if drift == Drift::Still && j > 0 {
                continue;
            }
            for effect in [0.0, 0.05] {
                let pairs = Pairs::new(drift, elasticity, effect);
                let at_limit = elasticity == LARGEST && effect == 0.0;
                if !parts.includes(if at_limit { "limit" } else { "claims" }) {
                    continue;
                }
                let tally = if at_limit {
                    SEEDS
                        .map(|seed| tally(pairs, seed, LIMIT_PAIRS))
                        .into_iter()
                        .reduce(Tally::and)
                        .expect("seeds")
                } else {
                    tally(pairs, SEEDS[(i + j) % SEEDS.len()], PAIRS)
                };
                println!(
                    "| {:.0} % | {drift:?} | {elasticity} | {} | {} | {} |",
                    100.0 * effect,
                    shown(tally.wrong),
                    shown(tally.wrong_criterion),
                    shown(tally.covers)
                );
                let holds = tally.wrong.bounds().1 <= WRONG
                    && (effect > 0.0 || tally.wrong_criterion.bounds().1 <= WRONG)
                    && tally.covers.share() >= 0.93;
                if !holds {
                    missed.push(format!("{drift:?}, elasticity {elasticity}, effect {effect}: {tally:?}"));
                }
            }
        }
    }
}

/// Prints how often a true effect is claimed with the rule and without it.
fn power() {
    println!("\n| true effect | host | scatter of a run | of a reference | with the rule | without it |");
    println!("|---|---|---|---|---|---|");
    let all = |pairs: Pairs| {
        SEEDS
            .map(|seed| tally(pairs, seed, POWER_PAIRS).differs)
            .into_iter()
            .reduce(Rate::and)
            .expect("seeds")
    };
    for (drift, cv, reference_sd) in [
        (Drift::Still, 0.01, 0.005),
        (Drift::Still, 0.01, 0.02),
        (Drift::Still, 0.05, 0.02),
        (Drift::Step(0.02), 0.01, 0.01),
        (Drift::Step(0.05), 0.01, 0.01),
    ] {
        for effect in [0.02, 0.05, 0.1, 0.2] {
            let with = Pairs { cv, reference_sd, ..Pairs::new(drift, 1.0, effect) };
            // Without the rule, claims on a host that changed are no measure of power.
            let without = (drift == Drift::Still).then(|| all(Pairs { with_references: false, ..with }));
            println!(
                "| {:.0} % | {drift:?} | {:.1} % | {:.1} % | {} | {} |",
                100.0 * effect,
                100.0 * cv,
                100.0 * reference_sd,
                shown(all(with)),
                without.map_or_else(|| "wrong".to_owned(), shown)
            );
        }
    }
}

fn main() -> ExitCode {
    println!(
        "Two results of {BLOCKS} blocks, {PAIRS} pairs a row, {LIMIT_PAIRS} for each of {} seeds where the elasticity is \
         {LARGEST} and there is no effect. Runs and references scatter by 1 %. In brackets the 95 % interval of \
         Clopper and Pearson.\n",
        SEEDS.len()
    );
    let parts = Parts(std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect());
    let mut missed = Vec::new();
    wrong_claims(&parts, &mut missed);
    if parts.includes("power") {
        power();
    }
    for missed in &missed {
        println!("missed: {missed}");
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
