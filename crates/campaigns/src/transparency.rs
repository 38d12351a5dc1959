//! `cargo campaigns transparency`: the overhead of ddsmark compared with simpler programs on the same middleware.
//!
//! A floor is a bare loop with the same library, or the vendor's own tool. It is called as `PROGRAM WORKLOAD SIZE
//! MS CORE CORE [TRANSPORT]` and prints one number: the median round trip in ns, or the samples per second that its
//! reader received. Exit status 3 means that it does not have the workload. The transport is passed only if one was
//! requested. A floor with a single transport rejects the additional argument and is not compared over another
//! transport. With `--link`, the two endpoints are on two virtual hosts, and the arguments end with `NAMESPACE ADDRESS
//! NAMESPACE ADDRESS`. With several readers, the workload is `WORKLOAD/READERS`, and the number is the median over the readers of
//! their medians or rates; in `latency` all of them echo.
//!
//! ddsmark and the floors run alternately in random order, each endpoint pinned to its own core, with both cores
//! kept awake. Otherwise the scheduler places the threads of a pair on one core or on two, once for a whole run,
//! and the median round trip differs by half between the two. A round gives one ratio per floor. The number of
//! rounds depends only on the scatter of the first ones. The interval is computed after all rounds.

use std::{
    ffi::OsStr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use clap::Args;
use lab::{Host, Lab};
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use site::{KeepAwake, allowed_cores};
use stats::{PILOT_BLOCKS, PowerSpec, PrecisionTarget, SignedRank, plan_blocks};

use crate::{Error, tree::release_programs};

const WORKLOADS: [&str; 3] = ["latency", "throughput", "batched"];
const SIZES: [u64; 2] = [64, 16_384];
/// Batch size of ddsmark in bytes, equal to that of the bare loops.
const BATCH_BYTES: u64 = 8192;
/// Measurement time of a run in ms, and runs of each program per round. The value of a round is their median.
const MS: u64 = 400;
const RUNS: usize = 3;
/// Maximum duration of a program in a round, in s.
const PATIENCE: &str = "120";
const LEVEL: f64 = 0.95;
/// Maximum relative increase of round trips and decrease of rates against the floor; and the target value.
const PASS: f64 = 0.05;
const AIM: f64 = 0.01;

/// Measure the overhead of ddsmark compared with simpler programs on the same middleware
#[derive(Args)]
pub struct TransparencyArgs {
    /// Driver to measure
    #[arg(long, value_name = "NAME")]
    driver: String,
    /// Program to compare with: a bare loop, or the vendor's own tool; can be repeated
    #[arg(long = "floor", value_name = "PROGRAM", required = true)]
    floors: Vec<String>,
    /// Transport of ddsmark and of the floors, instead of the driver's default
    #[arg(long, value_name = "NAME")]
    transport: Option<String>,
    /// Workload; can be repeated
    #[arg(long = "workload", value_name = "NAME", value_parser = WORKLOADS, default_values = WORKLOADS)]
    workloads: Vec<String>,
    /// Sample size in bytes; can be repeated
    #[arg(long = "size", value_name = "BYTES", default_values_t = SIZES)]
    sizes: Vec<u64>,
    /// Number of readers; in `latency` all of them echo
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    readers: u16,
    /// Measure between two virtual hosts, joined by a link with this rate
    #[arg(long, value_name = "RATE", conflicts_with_all = ["transport", "readers"])]
    link: Option<String>,
    /// Half-width of the interval of the ratio, as a share of it
    #[arg(long, value_name = "SHARE", default_value = "0.015", value_parser = positive)]
    half_width: f64,
    /// Time budget for each workload and size in minutes
    #[arg(long, value_name = "N", default_value = "4", value_parser = positive)]
    minutes: f64,
}

/// Parses a number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    if number.is_finite() && number > 0.0 { Ok(number) } else { Err("not a number above 0".to_owned()) }
}

/// Measures and prints the ratios. Returns an error if an interval is not within the limit.
pub fn run(arguments: &TransparencyArgs) -> Result<(), Error> {
    let (first, second) = match allowed_cores()[..] {
        [first, second, ..] => (first.to_string(), second.to_string()),
        _ => return Err("two cores are needed, one for each endpoint; only one is available".into()),
    };
    let _awake = KeepAwake::start()?;
    let lab = match &arguments.link {
        Some(rate) => Some(Lab::up(&format!("lab:2,rate={rate}").parse()?)?),
        None => None,
    };
    let hosts = lab.as_ref().map_or(&[][..], Lab::hosts);
    println!(
        "| workload | size | floor | rounds | floor's median | ddsmark's median | ddsmark / floor | {:.0} % interval | |",
        LEVEL * 100.0
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut short = Vec::new();
    for workload in &arguments.workloads {
        // a batch of a single sample is not a batch
        let sizes = arguments.sizes.iter().filter(|size| workload != "batched" || **size <= BATCH_BYTES / 2);
        for &size in sizes {
            let case = Case { workload, size, cores: [&first, &second], hosts, arguments };
            for line in case.measure()? {
                println!("{}", line.text);
                if !line.passed {
                    short.push(format!("{workload} {size} against {}", line.floor));
                }
            }
        }
    }
    println!();
    println!(
        "latency: median round trip in ns; throughput: samples/s delivered, batched: the same with \
         batches of {BATCH_BYTES} bytes. Each round's value is the median of {RUNS} runs of {MS} ms."
    );
    if short.is_empty() {
        Ok(())
    } else {
        Err(format!("not shown to be within {} % of the floor: {}", PASS * 100.0, short.join(", ")).into())
    }
}

struct Case<'a> {
    workload: &'a str,
    size: u64,
    cores: [&'a str; 2],
    /// Virtual hosts of the endpoints; none on this host.
    hosts: &'a [Host],
    arguments: &'a TransparencyArgs,
}

struct Line {
    floor: String,
    text: String,
    passed: bool,
}

impl Case<'_> {
    fn measure(&self) -> Result<Vec<Line>, Error> {
        let mut random = ChaCha8Rng::seed_from_u64(self.size);
        let mut floors = Vec::new();
        for floor in &self.arguments.floors {
            if self.round_value(Some(floor))?.is_some() {
                floors.push(floor);
            }
        }
        // ddsmark's values, then one list per floor; the values above were the warm-up
        let mut values = vec![Vec::new(); floors.len() + 1];
        let mut order: Vec<usize> = (0..values.len()).collect();
        let mut rounds = PILOT_BLOCKS;
        let begin = Instant::now();
        while !floors.is_empty() && values[0].len() < rounds {
            order.shuffle(&mut random);
            for &program in &order {
                let floor = program.checked_sub(1).map(|index| floors[index]);
                let value = self.round_value(floor)?.ok_or("a floor has lost its workload")?;
                values[program].push(value);
            }
            if values[0].len() == PILOT_BLOCKS {
                rounds = self.rounds(&values, begin.elapsed());
            }
        }
        Ok(floors
            .iter()
            .zip(&values[1..])
            .map(|(floor, theirs)| self.line(floor, &values[0], theirs))
            .collect())
    }

    /// Returns the number of rounds from the scatter and the duration of the first ones.
    fn rounds(&self, values: &[Vec<f64>], took: Duration) -> usize {
        let affordable = self.arguments.minutes * 60.0 / took.as_secs_f64() * PILOT_BLOCKS as f64;
        let spec = PowerSpec { level: LEVEL, power: 0.9, comparisons: 1 };
        let goal = PrecisionTarget { half_width: Some(self.arguments.half_width), effect: None, spec };
        let pilot: Vec<Vec<f64>> = values[1..].iter().map(|theirs| log_ratios(&values[0], theirs)).collect();
        let most = (affordable as usize).max(PILOT_BLOCKS);
        plan_blocks(&pilot, &goal, most).map_or(PILOT_BLOCKS, |plan| plan.blocks)
    }

    fn line(&self, floor: &str, ours: &[f64], theirs: &[f64]) -> Line {
        let ranks = SignedRank::new(&log_ratios(ours, theirs)).expect("there is a pilot");
        let interval = ranks.interval(LEVEL).expect("the pilot is large enough").map(f64::exp);
        let within = |bound: f64| match self.workload {
            "latency" => interval.high < 1.0 + bound,
            _ => interval.low > 1.0 - bound,
        };
        let verdict = match (within(AIM), within(PASS)) {
            (true, _) => "within 1 %",
            (_, true) => "within 5 %",
            _ => "not shown",
        };
        let name = Path::new(floor).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = format!(
            "| {} | {} | {name} | {} | {:.0} | {:.0} | {:.3} | {:.3}..{:.3} | {verdict} |",
            self.workload,
            self.size,
            ours.len(),
            median(theirs.to_vec()),
            median(ours.to_vec()),
            ranks.estimate().exp(),
            interval.low,
            interval.high,
        );
        Line { floor: name, text, passed: within(PASS) }
    }

    /// Returns the value of a round for a floor, or for ddsmark; `None` if the floor does not have the workload.
    fn round_value(&self, floor: Option<&String>) -> Result<Option<f64>, Error> {
        let Some(program) = floor else { return self.ddsmark().map(Some) };
        let mut values = Vec::new();
        for _ in 0..RUNS {
            let (size, ms) = (self.size.to_string(), MS.to_string());
            let mut command = limited(program);
            let workload = match self.arguments.readers {
                1 => self.workload.to_owned(),
                readers => format!("{}/{readers}", self.workload),
            };
            command.args([&workload, &size, &ms]).args(self.cores).args(&self.arguments.transport);
            for host in self.hosts {
                command.arg(&host.namespace).arg(host.address.to_string());
            }
            let output = command.output()?;
            if output.status.code() == Some(3) {
                return Ok(None);
            }
            let text = stdout_of(&command, output)?;
            let value = text.trim().parse::<f64>();
            values.push(value.map_err(|error| format!("`{program}` printed `{text}`: {error}"))?);
        }
        Ok(Some(median(values)))
    }

    fn ddsmark(&self) -> Result<f64, Error> {
        let results = tempfile::tempdir()?;
        let batch = if self.workload == "batched" { BATCH_BYTES } else { 0 };
        let workload = if self.workload == "latency" { "latency" } else { "throughput" };
        let mut command = limited(release_programs().join("ddsmark"));
        command
            .args(["characterize", "--json", "--warm-up", "200ms", "--driver", &self.arguments.driver])
            .args([
                "--workload",
                workload,
                "--batch-bytes",
                &batch.to_string(),
                "--pin",
                &self.cores.join(","),
            ])
            .args(["--size", &self.size.to_string(), "--runs", &RUNS.to_string()])
            .args(["--duration", &format!("{MS}ms"), "--out"])
            .arg(results.path().join("result"))
            .args(["--topology", &format!("1-{}", self.arguments.readers)]);
        if workload == "latency" && self.arguments.readers > 1 {
            command.arg("--all-readers-echo");
        }
        if let Some(transport) = &self.arguments.transport {
            command.args(["--transport", transport]);
        }
        for host in self.hosts {
            command.args(["--host", &format!("{}=netns:{}", host.name, host.namespace)]);
        }
        let output = command.output()?;
        let result: serde_json::Value = serde_json::from_str(&stdout_of(&command, output)?)?;
        // the unbatched cell comes first
        let runs = result["cells"].as_array().and_then(|cells| cells.last()?["runs"].as_array());
        let values: Vec<f64> =
            runs.into_iter().flatten().filter_map(|run| value_of_readers(run, workload)).collect();
        if values.len() == RUNS {
            Ok(median(values))
        } else {
            Err(format!("only {} of {RUNS} runs succeeded", values.len()).into())
        }
    }
}

/// Returns the median over the readers of their median RTTs, or of their rates. A run with one echo has its round trips
/// as a whole, not by flow.
fn value_of_readers(run: &serde_json::Value, workload: &str) -> Option<f64> {
    if workload != "latency" {
        return run.pointer("/throughput/delivered_sps")?.as_f64();
    }
    let median_of = |record: &serde_json::Value| record.pointer("/latency/rtt/p50_ns")?.as_f64();
    let values: Vec<Option<f64>> = run["flows"].as_array()?.iter().map(median_of).collect();
    if values.iter().all(Option::is_none) {
        return median_of(run);
    }
    values.into_iter().collect::<Option<Vec<f64>>>().map(median)
}

fn log_ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| (ours / theirs).ln()).collect()
}

fn limited(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", PATIENCE]).arg(program);
    command
}

fn stdout_of(command: &Command, output: std::process::Output) -> Result<String, Error> {
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn round_trips_are_those_of_the_run_or_of_each_reader() {
        let rtt = |ns: u64| json!({ "latency": { "rtt": { "p50_ns": ns } } });
        let mut pair = rtt(20);
        pair["flows"] = json!([{ "name": "data" }]);
        assert_eq!(value_of_readers(&pair, "latency"), Some(20.0));
        let several = json!({ "flows": [rtt(30), rtt(10), rtt(20)] });
        assert_eq!(value_of_readers(&several, "latency"), Some(20.0));
        let one_is_missing = json!({ "flows": [rtt(30), {}, rtt(20)] });
        assert_eq!(value_of_readers(&one_is_missing, "latency"), None);
    }
}
