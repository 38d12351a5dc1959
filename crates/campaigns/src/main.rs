//! `cargo campaigns`: long checks of ddsmark itself.
#![forbid(unsafe_code)]

mod agents;
mod clocks;
mod kills;
mod links;
mod slowdown;
mod soak;
mod transparency;
mod tree;

use std::process::ExitCode;

use clap::Parser;

/// Error with a message.
type Error = Box<dyn std::error::Error>;

/// Check ddsmark itself with long campaigns of real runs
#[derive(Parser)]
#[command(name = "cargo campaigns")]
enum Campaign {
    Agents(agents::AgentsArgs),
    /// Execute one run of virtual agents, and print its values
    #[command(hide = true)]
    AgentsTrial(agents::TrialArgs),
    Clocks(clocks::ClocksArgs),
    /// Be a process of a clock trial
    #[command(hide = true)]
    ClocksPeer(clocks::PeerArgs),
    Kills(kills::KillsArgs),
    Links(links::LinksArgs),
    Slowdown(slowdown::SlowdownArgs),
    /// Print the median duration of a send call in ns
    #[command(hide = true)]
    SlowdownProbe,
    Soak(soak::SoakArgs),
    Transparency(transparency::TransparencyArgs),
}

fn main() -> ExitCode {
    let done = match Campaign::parse() {
        Campaign::Agents(arguments) => agents::run(&arguments),
        Campaign::AgentsTrial(arguments) => agents::run_trial(&arguments),
        Campaign::Clocks(arguments) => clocks::run(&arguments),
        Campaign::ClocksPeer(arguments) => clocks::run_peer(&arguments),
        Campaign::Kills(arguments) => kills::run(&arguments),
        Campaign::Links(arguments) => links::run(&arguments),
        Campaign::Slowdown(arguments) => slowdown::run(&arguments),
        Campaign::SlowdownProbe => slowdown::probe(),
        Campaign::Soak(arguments) => soak::run(&arguments),
        Campaign::Transparency(arguments) => transparency::run(&arguments),
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
        Campaign::command().debug_assert();
    }
}
