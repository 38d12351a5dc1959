//! `cargo campaigns clocks`: the error of measured clock offsets, against known offsets.
//!
//! Two network namespaces are two hosts, with a link of 100 Mbit/s between them. In each trial, a process in each of
//! them has a time namespace with a random offset of its own, so the offset between their clocks is known to the
//! nanosecond. All namespaces share the clock of the hardware: they do not drift apart. Drift is tested in simulation
//! only (`crates/site/src/clocks/estimate_tests.rs`). Needs root.

mod lab;
mod peer;

use std::time::Duration;

use clap::Args;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use site::{ClockClient, ClockOffset, ClockResponder, ExchangeKey};
use stats::median;

use self::lab::{Lab, Load};
pub use self::peer::{PeerArgs, run as run_peer};
use crate::Error;

/// Packets of a trial. On a full link each takes 50 ms.
const PACKETS: u32 = 200;
const PACKETS_ON_FULL_LINK: u32 = 20;
const LIMIT: Duration = Duration::from_secs(10);
/// Largest offset of a clock in s.
const MAX_OFFSET_S: i64 = 1_000_000;

/// Measure known clock offsets, and check that the error bound holds
#[derive(Args)]
pub struct ClocksArgs {
    /// Trials for each of three loads of the link: idle, half, full
    #[arg(long, value_name = "N", default_value_t = 170)]
    trials: u32,
    /// Seed of the offsets
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Divide each error bound by N: shows that the check can fail
    #[arg(long, value_name = "N", default_value_t = 1, hide = true)]
    tighten: u64,
}

/// Outcome of one trial.
struct Trial {
    offset: ClockOffset,
    /// Error of the offset in ns.
    error_ns: u64,
}

/// Executes the trials and prints a table. Returns an error if a bound did not hold.
pub fn run(arguments: &ClocksArgs) -> Result<(), Error> {
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    let lab = Lab::create()?;
    println!(
        "| load of 100 Mbit/s | trials | RTT p50 (µs) | smallest RTT (µs) | error p50 (µs) | largest error (µs) | bound p50 (µs) | within the bound |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut beyond = 0;
    for load in [Load::Idle, Load::Half, Load::Full] {
        let running = lab.load(load)?;
        let packets = if load == Load::Full { PACKETS_ON_FULL_LINK } else { PACKETS };
        let trials: Vec<Trial> =
            (0..arguments.trials).map(|_| trial(&lab, packets, &mut random)).collect::<Result<_, _>>()?;
        running.check()?;
        let bound_ns = |trial: &Trial| trial.offset.error_ns / arguments.tighten.max(1);
        let within = trials.iter().filter(|trial| trial.error_ns <= bound_ns(trial)).count();
        beyond += trials.len() - within;
        let middle = |of: &dyn Fn(&Trial) -> u64| {
            let values: Vec<f64> = trials.iter().map(|trial| of(trial) as f64 / 1e3).collect();
            median(&values).unwrap_or(0.0)
        };
        println!(
            "| {} | {} | {:.1} | {:.1} | {:.2} | {:.2} | {:.1} | {within} |",
            load.name(),
            trials.len(),
            middle(&|trial| trial.offset.rtt_p50_ns),
            middle(&|trial| trial.offset.rtt_ns),
            middle(&|trial| trial.error_ns),
            trials.iter().map(|trial| trial.error_ns).max().unwrap_or(0) as f64 / 1e3,
            middle(&bound_ns),
        );
    }
    if beyond > 0 {
        return Err(format!("in {beyond} trials the error exceeded the bound").into());
    }
    Ok(())
}

/// Measures a random offset.
fn trial(lab: &Lab, packets: u32, random: &mut ChaCha8Rng) -> Result<Trial, Error> {
    // Before its start, a clock has no time.
    let mut offset = || (random.random_range(0..MAX_OFFSET_S), random.random_range(0..1_000_000_000_i64));
    let [reference, other] = [offset(), offset()];
    // Each direction of the link has its turn.
    let at = usize::from(random.random::<bool>());
    let key = ExchangeKey::random()?;
    let interface = lab.interface().to_owned();
    let responder = ClockResponder { interface: interface.clone(), key, limit: 2 * LIMIT };
    let running = lab.responder(at, reference, &responder)?;
    let client = ClockClient { interface, responder: running.address, key, count: packets, limit: LIMIT };
    let exchanges = lab.exchange(1 - at, other, &client)?;
    drop(running);
    let offset = ClockOffset::from_exchanges(&exchanges).ok_or("no packet returned")?;
    let truth_ns = (reference.0 - other.0) * 1_000_000_000 + reference.1 - other.1;
    Ok(Trial { offset, error_ns: (offset.offset_ns - truth_ns).unsigned_abs() })
}
