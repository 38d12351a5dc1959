//! `cargo validation slowdown`: whether an injected delay is detected, and how large it is estimated to be.
//!
//! A preloaded library (`tests/preload/slow_send.c`) spins before each call that sends, for the time that an environment variable
//! of the cell gives. One ordinary experiment has all delays, in randomised blocks, with no delay as baseline, twice. A ping and
//! its echo are sent with one call each, so a round trip has the delay twice.
//!
//! The actual duration of a spin is measured per call, in pairs with and without the library.

use std::{iter, path::PathBuf};

use clap::Args;
use results::{CellResult, Metric, ResultDocument};
use stats::{Block, Comparison, Conclusion, Interval, Rules, Run, compare, median};

use crate::{
    Error,
    preload::{self, SENDS_PER_ROUND_TRIP as SENDS, median_rtts},
    tree::release_programs,
};

/// Inject delays into send calls, and check that ddsmark detects and estimates them
#[derive(Args)]
pub struct SlowdownArgs {
    /// Driver whose send calls are delayed
    #[arg(long, value_name = "NAME")]
    driver: String,
    /// Delays in percent of the median round trip
    #[arg(
        long,
        value_name = "P",
        value_delimiter = ',',
        default_value = "2,5,10",
        conflicts_with = "delay_us"
    )]
    percent: Vec<f64>,
    /// One delay in µs, instead of delays in percent
    #[arg(long, value_name = "US")]
    delay_us: Option<f64>,
    /// Number of blocks
    #[arg(long, value_name = "N", default_value_t = 18)]
    blocks: u32,
    /// Sample size in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    size: u64,
    /// Measurement time of a run
    #[arg(long, value_name = "TIME", default_value = "300ms")]
    measure: String,
    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value_os_t = release_programs(), hide_default_value = true)]
    programs: PathBuf,
}

/// Measures and prints the table. Returns an error if an interval does not cover its delay, unless the delay is too
/// small to be detected.
pub fn run(arguments: &SlowdownArgs) -> Result<(), Error> {
    let directory = tempfile::tempdir()?;
    let library = preload::build(directory.path())?;
    // Without a delay first and twice in each block, and with each delay.
    let experiment = |name: &str, delays: &[u64], blocks: u32| -> Result<ResultDocument, Error> {
        let delays: Vec<u64> = iter::once(0).chain(delays.iter().copied()).collect();
        let SlowdownArgs { driver, size, measure, programs, .. } = arguments;
        let text = preload::factors("Is an injected delay found?", driver, *size, &library, &delays)
            + &format!(
                "[design]\nblocks = {blocks}\nwarm_up = \"100ms\"\nmeasure = \"{measure}\"\n\
                 baseline = {{ env.SLOW_SEND_NS = 0 }}\n"
            );
        let document = preload::experiment(programs, directory.path(), name, &text)?;
        let delay = |cell: &CellResult| cell.factors.env.get("SLOW_SEND_NS")?.as_ref()?.parse().ok();
        if document.cells.iter().map(delay).ne(delays.iter().map(|delay| Some(*delay))) {
            return Err("the cells of the result are not in the order of its delays".into());
        }
        Ok(document)
    };

    let alone = experiment("alone", &[], 3)?;
    let rtt_ns = median(&median_rtts(&alone.cells[0], |_| true)).ok_or("no run has a median round trip")?;
    let delays: Vec<u64> = match arguments.delay_us {
        Some(us) => vec![(us * 1e3) as u64],
        None => arguments
            .percent
            .iter()
            .map(|percent| (rtt_ns * percent / 100.0 / SENDS).round() as u64)
            .collect(),
    };
    println!(
        "{}, {} bytes: median round trip {:.1} µs ({} runs)",
        arguments.driver,
        arguments.size,
        rtt_ns / 1e3,
        runs_of(&alone)
    );

    let document = experiment("with", &delays, arguments.blocks)?;
    let baseline_ns = median(&median_rtts(&document.cells[0], |run| !run.twin))
        .ok_or("the baseline has no median round trip")?;
    let mut family: Vec<Vec<Block>> = (0..delays.len())
        .map(|index| blocks(&document, document.cells[index + 1].runs.iter(), |_| true))
        .collect();
    let slowed = compare(&family, &Rules::DEFAULT);
    family = vec![blocks(&document, document.cells[0].runs.iter(), |run| run.twin)];
    let twin = &compare(&family, &Rules::DEFAULT)[0];

    println!(
        "\n| a send takes longer by | so does a round trip | found | 95 % interval | of all together | blocks | verdict \
         |\n|---|---|---|---|---|---|---|"
    );
    println!("| nothing (twin) | 0.0 % | {} |", describe(twin));
    let mut missed = Vec::new();
    for (delay, comparison) in delays.iter().zip(&slowed) {
        let took_ns = preload::cost_ns(&library, *delay)?;
        let injected = SENDS * took_ns / baseline_ns;
        println!("| {:.2} µs | {:.1} % | {} |", took_ns / 1e3, 100.0 * injected, describe(comparison));
        if !covered(comparison, injected) {
            missed.push(format!("{:.1} %", 100.0 * injected));
        }
    }
    println!(
        "\nBaseline {:.1} µs. Both ends send slower. What a send takes longer by was measured; {} runs of {}.",
        baseline_ns / 1e3,
        runs_of(&document),
        arguments.measure
    );
    if missed.is_empty() {
        Ok(())
    } else {
        Err(format!("not covered, although large enough to be detected: {}", missed.join(", ")).into())
    }
}

/// Returns the number of runs, including repeated runs of noisy blocks.
fn runs_of(document: &ResultDocument) -> usize {
    document.cells.iter().map(|cell| cell.runs.len()).sum()
}

/// Returns whether the simultaneous interval contains the injected change. Also true if the comparison could not
/// have detected the change.
fn covered(comparison: &Comparison, injected: f64) -> bool {
    let unseen = matches!(
        comparison.conclusion,
        Conclusion::Inconclusive { could_have_seen: Some(seen) } if seen > injected
    );
    let interval = comparison.change.as_ref().and_then(|change| change.simultaneous);
    unseen || interval.is_some_and(|interval| interval.covers(injected))
}

/// Returns estimate, intervals, number of blocks and verdict as table columns.
fn describe(comparison: &Comparison) -> String {
    let percent = |share: f64| format!("{:+.1}", 100.0 * share);
    let interval = |interval: Option<Interval>| {
        interval.map_or_else(String::new, |of| format!("{}..{}", percent(of.low), percent(of.high)))
    };
    let columns = comparison.change.as_ref().map_or_else(String::new, |change| {
        let (alone, together) = (interval(change.interval), interval(change.simultaneous));
        format!("{} % | {alone} | {together}", percent(change.estimate))
    });
    let verdict = match comparison.conclusion {
        Conclusion::Differs { direction, within_margin } => {
            let margin = if within_margin { ", equivalent within 2 %" } else { "" };
            format!("{direction:?}{margin}").to_lowercase()
        }
        Conclusion::Equivalent => "equivalent within 2 %".to_owned(),
        Conclusion::Inconclusive { could_have_seen } => {
            let seen = could_have_seen.map_or("nothing".to_owned(), |seen| format!("{:.1} %", 100.0 * seen));
            format!("inconclusive: could have seen {seen}")
        }
        Conclusion::TooFewBlocks { needs } => format!("too few blocks: needs {needs}"),
    };
    format!("{columns} | {} | {verdict}", comparison.blocks)
}

/// Returns blocks that compare these runs with the first run of the baseline in the same block.
fn blocks<'a>(
    document: &ResultDocument,
    runs: impl Iterator<Item = &'a results::Run>,
    which: impl Fn(&results::Run) -> bool,
) -> Vec<Block> {
    let of = |run: &results::Run| {
        let steady = !run.is_unsteady(Metric::RttP50);
        run.value(Metric::RttP50).map(|value| Run { value, steady })
    };
    let baseline = |block| document.cells[0].runs.iter().find(|run| run.block == block && !run.twin);
    runs.filter(|run| which(run))
        .map(|run| Block { treatment: of(run), baseline: baseline(run.block).and_then(of) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_ratios(ratios: &[f64]) -> Comparison {
        let run = |value| Some(Run { value, steady: true });
        let block = |ratio: &f64| Block { treatment: run(100.0 * ratio), baseline: run(100.0) };
        compare(&[ratios.iter().map(block).collect()], &Rules::DEFAULT).remove(0)
    }

    #[test]
    fn interval_that_misses_the_injected_change_is_reported() {
        let found = from_ratios(&[1.048, 1.049, 1.05, 1.051, 1.052, 1.053, 1.047]);
        assert!(covered(&found, 0.05) && !covered(&found, 0.02) && !covered(&found, 0.1), "{found:?}");
        let noisy = from_ratios(&[0.8, 1.3, 0.9, 1.1, 1.2, 0.85, 1.05]);
        assert!(covered(&noisy, 0.02), "it could not have been seen: {noisy:?}");
        let unseen = from_ratios(&[0.97, 1.01, 0.99, 1.02, 0.98, 1.03, 1.0]);
        assert!(!covered(&unseen, 0.1), "it should have been seen: {unseen:?}");
        assert!(!covered(&from_ratios(&[]), 0.1), "nothing was measured");
    }
}
