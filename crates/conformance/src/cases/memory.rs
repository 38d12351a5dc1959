//! Case on memory leaks.

use std::{fs, time::Duration};

use super::CaseSpec;
use crate::{
    CaseResult, Stop, broken,
    fixture::{Fixture, TIME_LIMIT, write_all},
};

/// Cases on memory leaks.
pub const CASES: &[CaseSpec] = cases! {
    "memory" memory, "1, 5" =>
        "neither samples nor closed entities leak memory";
};

/// Warm-up rounds, after which everything that is kept for reuse is allocated.
const WARM: u32 = 10;
/// Number of measured periods, and rounds in each. A leak grows in each period; memory kept for reuse, and what
/// depends on the allocator's placement, does not.
const SPELLS: usize = 4;
const ROUNDS: u32 = 10;
/// Samples in each round.
const SAMPLES: u64 = 500;
/// Smallest growth in a period that fails the case, in KiB: 50 B a sample, or 25 KiB an entity.
const LEAST_KIB: i64 = 250;

fn memory(fixture: &Fixture<'_>) -> CaseResult {
    for _ in 0..WARM {
        round(fixture)?;
    }
    let mut grown = Vec::new();
    let mut before = held_kib()?;
    for _ in 0..SPELLS {
        for _ in 0..ROUNDS {
            round(fixture)?;
        }
        let now = held_kib()?;
        grown.push(now - before);
        before = now;
    }
    let least = grown.iter().min().copied().unwrap_or_default();
    if least >= LEAST_KIB {
        let samples = SAMPLES * u64::from(ROUNDS);
        return broken(format!(
            "memory grew by at least {least} KiB in each series of {ROUNDS} opened and closed pairs and {samples} samples: \
             {grown:?} KiB"
        ));
    }
    Ok(())
}

/// Opens a participant and a pair, transfers samples, and closes everything.
fn round(fixture: &Fixture<'_>) -> CaseResult {
    const SIZE: usize = 200;
    const WINDOW: u64 = 10;
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &fixture.pair_config(SIZE as u64))?;
    for first in (0..SAMPLES).step_by(WINDOW as usize) {
        write_all(&pair.writer, first..first + WINDOW, SIZE)?;
        let quiet = if fixture.reliable() { TIME_LIMIT } else { Duration::from_millis(20) };
        pair.inlet.receive(WINDOW as usize, quiet)?;
    }
    pair.close()?;
    Ok(participant.close()?)
}

/// Returns the memory of this process that is not backed by a file, in KiB: heap, stacks, and its share of shared
/// memory.
fn held_kib() -> Result<i64, Stop> {
    const FILE: &str = "/proc/self/smaps_rollup";
    let text = fs::read_to_string(FILE).map_err(|error| Stop::Failed(format!("{FILE}: {error}")))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<i64>().ok())
    };
    match (field("Pss_Anon:"), field("Pss_Shmem:")) {
        (Some(anonymous), Some(shared)) => Ok(anonymous + shared),
        _ => broken(format!("{FILE} lacks Pss_Anon or Pss_Shmem: Linux 5.4 or later is required")),
    }
}
