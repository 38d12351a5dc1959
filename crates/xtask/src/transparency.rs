//! `cargo xtask transparency`: what ddsmark adds to the middleware, against a bare loop on the same library.
//!
//! The bare program is called as `PROGRAM latency|throughput SIZE SECONDS` and prints one number: the median round trip
//! in ns, or the samples per second that its reader got. It and ddsmark take turns; each round gives one ratio, and
//! the order changes from round to round.

use std::{ffi::OsStr, process::Command};

use crate::{Error, target};

const USAGE: &str = "usage: cargo xtask transparency --driver NAME --bare PROGRAM [--rounds N]";
const SIZES: [u64; 2] = [64, 16_384];
/// Measured time of a run, of which ddsmark and the bare program make three a round each, and take the median.
const SECONDS: u64 = 1;
const RUNS: usize = 3;

/// What to compare.
struct Arguments<'a> {
    driver: &'a str,
    bare: &'a str,
    rounds: usize,
}

fn arguments<'a>(words: &[&'a str]) -> Result<Arguments<'a>, Error> {
    let value = |flag: &str| words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1]);
    let (Some(driver), Some(bare)) = (value("--driver"), value("--bare")) else { return Err(USAGE.into()) };
    let rounds = value("--rounds").map_or(Ok(7), str::parse).map_err(|_| USAGE)?;
    if rounds == 0 { Err(USAGE.into()) } else { Ok(Arguments { driver, bare, rounds }) }
}

/// Measures and prints the ratios.
pub fn run(words: &[&str]) -> Result<(), Error> {
    let arguments = arguments(words)?;
    println!(
        "ddsmark / bare loop, driver {}, {} rounds of {RUNS} runs of {SECONDS} s each:",
        arguments.driver, arguments.rounds
    );
    println!(
        "{:>10}  {:>8}  {:>12}  {:>12}  {:>7}  {:>17}",
        "workload", "size", "bare", "ddsmark", "ratio", "min..max of ratio"
    );
    for workload in ["latency", "throughput"] {
        for size in SIZES {
            let mut pairs = Vec::new();
            for round in 0..arguments.rounds {
                let pair = if round % 2 == 0 {
                    let bare = bare(arguments.bare, workload, size)?;
                    (bare, ddsmark(arguments.driver, workload, size)?)
                } else {
                    let ours = ddsmark(arguments.driver, workload, size)?;
                    (bare(arguments.bare, workload, size)?, ours)
                };
                pairs.push(pair);
            }
            let mut ratios: Vec<f64> = pairs.iter().map(|(bare, ours)| ours / bare).collect();
            ratios.sort_by(f64::total_cmp);
            println!(
                "{workload:>10}  {size:>8}  {:>12.0}  {:>12.0}  {:>7.3}  {:>8.3}..{:.3}",
                median(pairs.iter().map(|(bare, _)| *bare).collect()),
                median(pairs.iter().map(|(_, ours)| *ours).collect()),
                median(ratios.clone()),
                ratios[0],
                ratios[ratios.len() - 1],
            );
        }
    }
    println!(
        "latency: median round trip in ns; throughput: samples/s delivered, over the reader's own window"
    );
    Ok(())
}

fn bare(program: &str, workload: &str, size: u64) -> Result<f64, Error> {
    let figures = (0..RUNS)
        .map(|_| {
            let text =
                output(Command::new(program).args([workload, &size.to_string(), &SECONDS.to_string()]))?;
            text.trim()
                .parse::<f64>()
                .map_err(|error| format!("`{program}` printed `{text}`: {error}").into())
        })
        .collect::<Result<Vec<_>, Error>>()?;
    Ok(median(figures))
}

fn ddsmark(driver: &str, workload: &str, size: u64) -> Result<f64, Error> {
    let results = std::env::temp_dir().join(format!("ddsmark-transparency-{}", std::process::id()));
    let (size, runs, seconds) = (size.to_string(), RUNS.to_string(), format!("{SECONDS}s"));
    let words: [&OsStr; 19] = [
        "characterize",
        "--driver",
        driver,
        "--workload",
        workload,
        "--size",
        &size,
        "--batch-bytes",
        "0",
        "--runs",
        &runs,
        "--duration",
        &seconds,
        // as the bare program: wherever the scheduler puts it
        "--pin",
        "none",
        "--warm-up",
        "200ms",
        "--json",
        "--out",
    ]
    .map(OsStr::new);
    let text = output(Command::new(target().join("release/ddsmark")).args(words).arg(&results));
    // a result of ours, made above; what is left of it does not matter
    let _ = std::fs::remove_dir_all(&results);
    let result: serde_json::Value = serde_json::from_str(&text?)?;
    let pointer = if workload == "latency" { "/latency/rtt/p50_ns" } else { "/throughput/delivered_sps" };
    let runs =
        result.pointer("/cells/0/runs").and_then(|runs| runs.as_array()).ok_or("the result has no runs")?;
    let figures: Vec<f64> = runs.iter().filter_map(|run| run.pointer(pointer)?.as_f64()).collect();
    if figures.len() == RUNS {
        Ok(median(figures))
    } else {
        Err(format!("only {} of {RUNS} runs succeeded", figures.len()).into())
    }
}

fn output(command: &mut Command) -> Result<String, Error> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
