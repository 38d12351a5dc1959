//! `cargo validation transparency`: the overhead of ddsmark compared with simpler programs on the same middleware.
//!
//! A floor is a bare loop with the same library, or the vendor's own tool. It is called as `PROGRAM WORKLOAD SIZE
//! MS CORE CORE [TRANSPORT]`, with the receive mode in the environment variable `RECEIVE`, and prints one number: the median round trip in ns, or the samples per second that its
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

mod programs;

use std::time::{Duration, Instant};

use clap::Args;
use host::{KeepAwake, allowed_cores};
use lab::Lab;
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use stats::{PILOT_BLOCKS, PowerSpec, PrecisionTarget, Ranks, plan_blocks};

use self::programs::{BATCH_BYTES, Case, Program, RUNS, median};
use crate::Error;

const WORKLOADS: [&str; 3] = ["latency", "throughput", "batched"];
const SIZES: [u64; 2] = [64, 16_384];
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
    /// Receive mode. A floor has it in the environment variable `RECEIVE`
    #[arg(long, value_name = "MODE", default_value = "waitset", value_parser = ["waitset", "listener"])]
    receive: String,
    /// Measure between two virtual hosts, joined by a link with this rate
    #[arg(long, value_name = "RATE", conflicts_with_all = ["transport", "readers"])]
    link: Option<String>,
    /// Measure `ddsmark perftest` too, and compare it with each floor and with `characterize`
    #[arg(long, conflicts_with_all = ["transport", "readers", "link"])]
    perftest: bool,
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
        "| workload | size | command | against | rounds | median of that | median of the command | ratio | {:.0} % interval | |",
        LEVEL * 100.0
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut short = Vec::new();
    let mut ms = 0;
    for workload in &arguments.workloads {
        // a batch of a single sample is not a batch
        let sizes = arguments.sizes.iter().filter(|size| workload != "batched" || **size <= BATCH_BYTES / 2);
        for &size in sizes {
            let case = Case { workload, size, cores: [&first, &second], hosts, arguments };
            ms = case.ms();
            for line in case.measure()? {
                println!("{}", line.text);
                if !line.passed {
                    short.push(line.name);
                }
            }
        }
    }
    println!();
    println!(
        "latency: median round trip in ns; throughput: samples/s delivered, batched: the same with \
         batches of {BATCH_BYTES} bytes. Each round's value is the median of {RUNS} runs of {ms} ms."
    );
    if short.is_empty() {
        Ok(())
    } else {
        Err(format!("not shown to be within {} %: {}", PASS * 100.0, short.join(", ")).into())
    }
}

struct Line {
    name: String,
    text: String,
    passed: bool,
}

/// Programs that are compared: the first with the second.
#[derive(Clone, Copy)]
struct Pair {
    subject: usize,
    base: usize,
}

impl Case<'_> {
    fn measure(&self) -> Result<Vec<Line>, Error> {
        let mut random = ChaCha8Rng::seed_from_u64(self.size);
        let mut programs = vec![Program::Characterize];
        programs.extend(self.arguments.perftest.then_some(Program::Perftest));
        let commands = programs.len();
        for floor in &self.arguments.floors {
            let floor = Program::Floor(floor);
            // The warm-up of the programs.
            if self.value(floor)?.is_some() {
                programs.push(floor);
            }
        }
        let floors = commands..programs.len();
        let mut pairs: Vec<Pair> = (0..commands)
            .flat_map(|subject| floors.clone().map(move |base| Pair { subject, base }))
            .collect();
        if commands == 2 {
            pairs.push(Pair { subject: 1, base: 0 });
        }
        let mut values = vec![Vec::new(); programs.len()];
        let mut order: Vec<usize> = (0..programs.len()).collect();
        let mut rounds = PILOT_BLOCKS;
        let begin = Instant::now();
        while !pairs.is_empty() && values[0].len() < rounds {
            order.shuffle(&mut random);
            for &program in &order {
                let value = self.value(programs[program])?.ok_or("a floor has lost its workload")?;
                values[program].push(value);
            }
            if values[0].len() == PILOT_BLOCKS {
                let ratios: Vec<_> = pairs.iter().map(|pair| pair.log_ratios(&values)).collect();
                rounds = self.rounds(&ratios, begin.elapsed());
            }
        }
        Ok(pairs.iter().map(|pair| self.line(*pair, &programs, &values)).collect())
    }

    /// Returns the number of rounds from the scatter and the duration of the first ones.
    fn rounds(&self, pilot: &[Vec<f64>], took: Duration) -> usize {
        let affordable = self.arguments.minutes * 60.0 / took.as_secs_f64() * PILOT_BLOCKS as f64;
        let spec = PowerSpec { level: LEVEL, power: 0.9, comparisons: 1 };
        let goal = PrecisionTarget { half_width: Some(self.arguments.half_width), effect: None, spec };
        let most = (affordable as usize).max(PILOT_BLOCKS);
        plan_blocks(pilot, &goal, most).map_or(PILOT_BLOCKS, |plan| plan.blocks)
    }

    fn line(&self, pair: Pair, programs: &[Program<'_>], values: &[Vec<f64>]) -> Line {
        let ranks = Ranks::of_blocks(&pair.log_ratios(values)).expect("there is a pilot");
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
        let (subject, base) = (programs[pair.subject], programs[pair.base]);
        let text = format!(
            "| {} | {} | {subject} | {base} | {} | {:.0} | {:.0} | {:.3} | {:.3}..{:.3} | {verdict} |",
            self.workload,
            self.size,
            values[pair.subject].len(),
            median(values[pair.base].clone()),
            median(values[pair.subject].clone()),
            ranks.estimate().exp(),
            interval.low,
            interval.high,
        );
        let name = format!("{subject}, {} {}, against {base}", self.workload, self.size);
        Line { name, text, passed: within(PASS) }
    }
}

impl Pair {
    fn log_ratios(self, values: &[Vec<f64>]) -> Vec<f64> {
        let (ours, theirs) = (&values[self.subject], &values[self.base]);
        ours.iter().zip(theirs).map(|(ours, theirs)| (ours / theirs).ln()).collect()
    }
}
