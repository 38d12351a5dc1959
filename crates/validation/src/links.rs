//! `cargo validation links`: round trips and rates of bare UDP sockets over the links of a lab, beside what physics allows.

use std::time::Duration;

use clap::Args;
use experiment::{goodput_ceiling, store_and_forward_ns};
use lab::{Lab, LinkSpec};
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use stats::median;
use testbed::wire::{round_trips, stream};

use crate::Error;

const MTU: u32 = 1_500;
/// Maximum time of the round trips of a cell in one round, and their minimum number.
const PING_LIMIT: Duration = Duration::from_secs(3);
const MIN_PINGS: u64 = 15;

/// Compare round trips and rates over the links of a lab with the time and the goodput of a wire
#[derive(Args)]
pub struct LinksArgs {
    /// Rates of the links in Mbit/s; 0: without a limit, which shows what the hosts take
    #[arg(long, value_name = "MBIT", value_delimiter = ',', default_value = "0,10,100,1000")]
    rates: Vec<u64>,
    /// Sizes of the datagrams in bytes
    #[arg(long, value_name = "B", value_delimiter = ',', default_value = "18,64,1024,1472,8192,16384,63000")]
    sizes: Vec<u64>,
    /// Rounds, each with all rates and sizes in random order
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Maximum round trips of a rate and size in a round
    #[arg(long, value_name = "N", default_value_t = 100)]
    pings: u64,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Values of one rate and size.
#[derive(Default)]
struct Cell {
    mbit: u64,
    size: u64,
    /// Round-trip times of all rounds in µs.
    rtt_us: Vec<f64>,
    /// Rate of the payload in bit/s, by round.
    bit_per_s: Vec<f64>,
    lost: u32,
}

pub fn run(arguments: &LinksArgs) -> Result<(), Error> {
    let pairs = arguments.rates.iter().flat_map(|mbit| arguments.sizes.iter().map(|size| (*mbit, *size)));
    let mut cells: Vec<Cell> = pairs.map(|(mbit, size)| Cell { mbit, size, ..Cell::default() }).collect();
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut lab = Lab::up(&"2".parse()?).map_err(|error| format!("{error}\nhint: {}", error.hint()))?;
    for round in 1..=arguments.rounds {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.shuffle(&mut random);
        for index in order {
            measure(&mut lab, &mut cells[index], arguments.pings)?;
        }
        eprintln!("round {round} of {} is done", arguments.rounds);
    }
    print(&cells, &lab);
    let faster = cells.iter().filter(|cell| physical_us(cell).is_some_and(|least| min(&cell.rtt_us) < least));
    let faster: Vec<String> = faster.map(|cell| format!("{} B at {} Mbit/s", cell.size, cell.mbit)).collect();
    if faster.is_empty() {
        return Ok(());
    }
    Err(format!("round trips were shorter than on a wire: {}", faster.join(", ")).into())
}

fn measure(lab: &mut Lab, cell: &mut Cell, pings: u64) -> Result<(), Error> {
    let rate_bit_per_s = (cell.mbit > 0).then_some(cell.mbit * 1_000_000);
    let link = LinkSpec { rate_bit_per_s, ..LinkSpec::default() };
    lab.set_link(&link)?;
    let size = usize::try_from(cell.size)?;
    // The first has an ARP request.
    round_trips(lab, size, 1)?;
    let fit = physical_us(cell).map_or(pings, |us| (PING_LIMIT.as_secs_f64() * 1e6 / us) as u64);
    let times = round_trips(lab, size, usize::try_from(pings.min(fit.max(MIN_PINGS)))?)?;
    cell.rtt_us.extend(times.iter().map(|time| time.as_secs_f64() * 1e6));
    if let Some(ceiling) = ceiling(cell) {
        // About 1 s of a full link, but not more datagrams than a busy core sends in that time.
        let count = (ceiling / 8.0 / cell.size as f64).clamp(30.0, 100_000.0) as u32;
        let arrivals = stream(lab, size, count)?;
        cell.bit_per_s.push(arrivals.bit_per_s());
        cell.lost += count - arrivals.count;
    }
    Ok(())
}

/// Returns the minimum round-trip time in µs; `None` without a rate.
fn physical_us(cell: &Cell) -> Option<f64> {
    store_and_forward_ns(cell.mbit * 1_000_000, MTU, cell.size).map(|ns| 2.0 * ns as f64 / 1e3)
}

fn ceiling(cell: &Cell) -> Option<f64> {
    goodput_ceiling(cell.mbit as f64 * 1e6, MTU, cell.size).filter(|_| cell.mbit > 0)
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn print(cells: &[Cell], lab: &Lab) {
    println!(
        "| Mbit/s | size (B) | wire (µs) | RTT min (µs) | RTT p50 (µs) | min/wire | p50/wire | n | goodput (Mbit/s) | of the ceiling | lost |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for cell in cells {
        let (least, middle) = (min(&cell.rtt_us), median(&cell.rtt_us).unwrap_or(f64::NAN));
        let (wire, ratios) = physical_us(cell).map_or_else(
            || ("-".to_owned(), "- | -".to_owned()),
            |us| (format!("{us:.1}"), format!("{:.2} | {:.2}", least / us, middle / us)),
        );
        let rate = ceiling(cell).zip(median(&cell.bit_per_s)).map_or_else(
            || "- | - | -".to_owned(),
            |(ceiling, rate)| format!("{:.2} | {:.3} | {}", rate / 1e6, rate / ceiling, cell.lost),
        );
        println!(
            "| {} | {} | {wire} | {least:.1} | {middle:.1} | {ratios} | {} | {rate} |",
            cell.mbit,
            cell.size,
            cell.rtt_us.len()
        );
    }
    let lateness = lab.lateness();
    println!(
        "\nThe switch sent {} frames; late by {:.1} µs (p50), {:.1} µs (p99), {:.0} µs at most.",
        lateness.len(),
        lateness.value_at_quantile(0.5) as f64 / 1e3,
        lateness.value_at_quantile(0.99) as f64 / 1e3,
        lateness.max() as f64 / 1e3
    );
}
