//! `cargo campaigns agents`: what a run costs the runner itself, with up to 1,000 virtual agents.
//!
//! The runner, collector and results are the real ones. Only the agents are virtual: they are no processes, and send what the
//! agents of a simulated run would send, as the same JSON lines. So a value has all that the runner does, without starting
//! processes, their sockets, and the middleware. Each virtual host is a machine with a clock of its own, which answers a
//! clock exchange in no time.
//!
//! Each run is in a process of its own. Cases run interleaved, in random order in each round. A law with a constant and a
//! part for each agent, host and flow is fitted to each round; a case that the law misses shows what grows otherwise.

mod law;
mod plan;
mod processes;
mod script;
#[cfg(test)]
mod tests;
mod trial;
mod virtual_hosts;

use clap::Args;
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use stats::SignedRank;

pub use self::trial::{TrialArgs, run as run_trial};
use self::{
    law::{Coefficient, LEVEL, Law, TERMS},
    plan::{Case, Traffic, simulated_reports},
    processes::{execute_processes, execute_trial},
    script::{PHASES, Script},
    trial::Values,
};
use crate::Error;

/// Columns of the table: a value, its heading, and its number of decimals.
const COSTS: [(&str, &str, usize); 12] = [
    ("beyond", "beyond the traffic (ms)", 1),
    ("run_cpu", "CPU (ms)", 1),
    ("evaluate_and_save", "evaluation, saving (ms)", 1),
    ("memory_mib", "memory (MiB)", 1),
    ("descriptors", "descriptors", 0),
    ("threads", "threads", 0),
    ("requests_kib", "requests (KiB)", 1),
    ("replies_kib", "replies (KiB)", 1),
    ("run_kib", "record (KiB)", 1),
    ("hlog_kib", "histograms (KiB)", 1),
    ("end_cpu", "result, CPU (ms)", 1),
    ("report_cpu", "report, CPU (ms)", 1),
];
/// Values with a law, with their units.
const LAWS: [(&str, &str, &str); 6] = [
    ("run_cpu", "CPU", "ms"),
    ("beyond", "time beyond the traffic", "ms"),
    ("memory_mib", "memory", "MiB"),
    ("run_kib", "record", "KiB"),
    ("hlog_kib", "histograms", "KiB"),
    ("end_cpu", "CPU of the result", "ms"),
];

/// Measure what runs of many virtual agents cost the runner
#[derive(Args)]
pub struct AgentsArgs {
    /// Numbers of agents of a fan-out, one of them the writer: on one host, and each on a host of its own
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "2,4,8,16,32,64,128,256,512,1000",
        value_parser = clap::value_parser!(u16).range(2..)
    )]
    fan_out: Vec<u16>,
    /// Numbers of agents of a mesh, half of them writers, each on a host of its own
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "4,8,16,32,64,128",
        value_parser = clap::value_parser!(u16).range(2..)
    )]
    mesh: Vec<u16>,
    /// Traffic
    #[arg(long, value_enum, default_value_t = Traffic::Throughput)]
    traffic: Traffic,
    /// Number of rounds: from 6 on, coefficients have an interval
    #[arg(long, value_name = "N", default_value_t = 6)]
    rounds: usize,
    /// Seed of the order of the cases
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Start a process of this driver for each agent instead, and print only what the runner opens: fan-outs on this host
    #[arg(long, value_name = "DRIVER")]
    processes: Option<String>,
    /// Maximum memory of a run: a run that takes more is ended
    #[arg(long, value_name = "GIB", default_value_t = 6)]
    memory: u64,
}

/// A case with its values by round.
struct MeasuredCase {
    case: Case,
    rounds: Vec<Values>,
    /// Reason for its missing values.
    error: Option<String>,
}

/// Executes the campaign and prints its tables. Returns an error if a run failed.
pub fn run(arguments: &AgentsArgs) -> Result<(), Error> {
    let directory = tempfile::tempdir()?;
    let mut measured: Vec<MeasuredCase> = cases(arguments)
        .into_iter()
        .map(|case| MeasuredCase { case, rounds: Vec::new(), error: None })
        .collect();
    let script = |index: usize| directory.path().join(index.to_string());
    if arguments.processes.is_none() {
        for (index, MeasuredCase { case, .. }) in measured.iter().enumerate() {
            Script::write(&script(index), &simulated_reports(&case.plan())?)?;
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut order: Vec<usize> = (0..measured.len()).collect();
    for _ in 0..arguments.rounds {
        order.shuffle(&mut random);
        for &index in &order {
            let of_case = &mut measured[index];
            if of_case.error.is_some() {
                continue;
            }
            let (case, limit_kib) = (of_case.case, arguments.memory << 20);
            let values = match &arguments.processes {
                Some(driver) => execute_processes(case, driver, limit_kib),
                None => execute_trial(case, &script(index), limit_kib),
            };
            match values {
                Ok(values) => of_case.rounds.push(values),
                Err(error) => of_case.error = Some(error.to_string()),
            }
        }
    }
    let failed: Vec<String> = measured
        .iter()
        .filter_map(|of| Some(format!("{} on {} hosts: {}", of.case, of.case.hosts(), of.error.as_ref()?)))
        .collect();
    measured.retain(|of| of.error.is_none());
    if arguments.processes.is_some() {
        let is_opened = |(name, ..): &(&str, &str, usize)| ["descriptors", "threads"].contains(name);
        print_table(&measured, &COSTS.into_iter().filter(is_opened).collect::<Vec<_>>());
    } else {
        print_table(&measured, &COSTS);
        print_table(&measured, &PHASES.map(|phase| (phase, phase, 2)));
        print_laws(&measured);
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}

fn cases(arguments: &AgentsArgs) -> Vec<Case> {
    let traffic = arguments.traffic;
    let fan_out = |host_each| {
        arguments.fan_out.iter().map(move |agents| Case {
            writers: 1,
            readers: agents - 1,
            host_each,
            traffic,
        })
    };
    let meshes = arguments.mesh.iter().map(|agents| {
        let writers = agents / 2;
        Case { writers, readers: agents - writers, host_each: true, traffic }
    });
    if arguments.processes.is_some() {
        return fan_out(false).collect();
    }
    fan_out(false).chain(fan_out(true)).chain(meshes).collect()
}

impl MeasuredCase {
    fn of(&self, name: &str) -> Vec<f64> {
        self.rounds.iter().filter_map(|values| values.get(name).copied()).collect()
    }

    /// Returns median and interval of a value as text.
    fn text(&self, name: &str, decimals: usize) -> String {
        let Some(ranks) = SignedRank::new(&self.of(name)) else { return String::new() };
        let median = ranks.estimate();
        match ranks.interval(LEVEL).filter(|interval| interval.half_width() > 0.0) {
            Some(of) => format!("{median:.decimals$} ({:.decimals$}..{:.decimals$})", of.low, of.high),
            None => format!("{median:.decimals$}"),
        }
    }

    fn terms(&self) -> [f64; TERMS] {
        [1.0, self.case.agents() as f64, self.case.hosts() as f64, self.case.flows() as f64]
    }
}

/// Prints a table with a row for each case.
fn print_table(measured: &[MeasuredCase], columns: &[(&str, &str, usize)]) {
    let headings: Vec<&str> = columns.iter().map(|(_, heading, _)| *heading).collect();
    println!("| topology | agents | hosts | flows | {} |", headings.join(" | "));
    println!("|---{}|", "|---".repeat(columns.len() + 3));
    for of in measured {
        let values: Vec<String> =
            columns.iter().map(|(name, _, decimals)| of.text(name, *decimals)).collect();
        let (agents, hosts, flows) = (of.case.agents(), of.case.hosts(), of.case.flows());
        println!("| {} | {agents} | {hosts} | {flows} | {} |", of.case, values.join(" | "));
    }
    println!();
}

fn print_laws(measured: &[MeasuredCase]) {
    println!("| value | constant | each agent | each host | each flow | largest miss |");
    println!("|---|---|---|---|---|---|");
    let terms: Vec<[f64; TERMS]> = measured.iter().map(MeasuredCase::terms).collect();
    let rounds = measured.iter().map(|of| of.rounds.len()).min().unwrap_or(0);
    for (name, heading, unit) in LAWS {
        let of_round = |round: usize| -> Option<Vec<f64>> {
            measured
                .iter()
                .map(|of| of.rounds[round].get(name).copied().filter(|value| *value > 0.0))
                .collect()
        };
        let values: Option<Vec<Vec<f64>>> = (0..rounds).map(of_round).collect();
        let Some(Law { coefficients, miss: (miss, case) }) =
            values.and_then(|values| Law::fit(&terms, &values))
        else {
            println!("| {heading} ({unit}) | no law |");
            continue;
        };
        let texts = coefficients.map(text_of);
        let of = &measured[case].case;
        println!(
            "| {heading} ({unit}) | {} | {:.0} % at {of} on {} hosts |",
            texts.join(" | "),
            100.0 * miss,
            of.hosts()
        );
    }
}

fn text_of(coefficient: Coefficient) -> String {
    let Coefficient { value, interval } = coefficient;
    match interval {
        Some(interval) => format!("{value:.4} [{:.4}..{:.4}]", interval.low, interval.high),
        None => format!("{value:.4}"),
    }
}
