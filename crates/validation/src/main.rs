//! `cargo validation`: long checks of ddsmark itself.
#![forbid(unsafe_code)]

mod kills;
mod one_topic;
mod planted_cost;
mod preload;
mod slowdown;
mod transparency;
mod tree;

use std::process::ExitCode;

use clap::Parser;

/// Error with a message.
type Error = Box<dyn std::error::Error>;

/// Check ddsmark itself with many real runs
#[derive(Parser)]
#[command(name = "cargo validation")]
enum Check {
    Kills(kills::KillsArgs),
    OneTopic(one_topic::OneTopicArgs),
    PlantedCost(planted_cost::PlantedCostArgs),
    Slowdown(slowdown::SlowdownArgs),
    /// Print the median duration of a send call in ns
    #[command(hide = true)]
    SlowdownProbe,
    Transparency(transparency::TransparencyArgs),
}

fn main() -> ExitCode {
    let done = match Check::parse() {
        Check::Kills(arguments) => kills::run(&arguments),
        Check::OneTopic(arguments) => one_topic::run(&arguments),
        Check::PlantedCost(arguments) => planted_cost::run(&arguments),
        Check::Slowdown(arguments) => slowdown::run(&arguments),
        Check::SlowdownProbe => preload::probe(),
        Check::Transparency(arguments) => transparency::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Check::command().debug_assert();
    }
}
