//! `ddsmark latency`, `throughput`, `load`, `search`, `discovery` and `characterize`: experiments that come with the command.

use experiment::Override;
use runner::StopToken;
use site::LocalSite;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus},
        experiment_args::BuiltInCommand,
        measure_args::MeasureArgs,
        output,
        result_args::OutputArgs,
    },
    work::{
        measurement,
        preparation::{Prepared, prepare, seed},
    },
};

/// Runs of each cell, unless more are given or claims need more.
const RUNS: u32 = 3;

/// An experiment that comes with the command, with its flags.
pub struct BuiltIn<'a> {
    name: &'static str,
    text: &'static str,
    workload: Option<&'a str>,
    /// Numbers of participants.
    participants: &'a [String],
    pub measure: &'a MeasureArgs,
    pub output: &'a OutputArgs,
}

impl<'a> BuiltIn<'a> {
    /// Returns the experiment of a command.
    pub fn of(command: &'a BuiltInCommand) -> Self {
        let (name, text, flags) = match command {
            BuiltInCommand::Latency(flags) => {
                ("latency", include_str!("../../experiments/latency.toml"), flags)
            }
            BuiltInCommand::Throughput(flags) => {
                ("throughput", include_str!("../../experiments/throughput.toml"), flags)
            }
            BuiltInCommand::Load(flags) => ("load", include_str!("../../experiments/load.toml"), flags),
            BuiltInCommand::Search(flags) => ("search", include_str!("../../experiments/search.toml"), flags),
            BuiltInCommand::Discovery(flags) => {
                return Self {
                    name: "discovery",
                    text: include_str!("../../experiments/discovery.toml"),
                    workload: None,
                    participants: &flags.participants,
                    measure: &flags.measure,
                    output: &flags.output,
                };
            }
            BuiltInCommand::Characterize(flags) => {
                return Self {
                    name: "characterize",
                    text: include_str!("../../experiments/characterize.toml"),
                    workload: flags.workload.as_deref(),
                    participants: &[],
                    measure: &flags.measure,
                    output: &flags.output,
                };
            }
        };
        Self { name, text, workload: None, participants: &[], measure: &flags.measure, output: &flags.output }
    }

    /// Finds the drivers and prepares the plan. `runs` is the number of runs of each cell if no flag determines it.
    pub fn prepare(
        &self,
        runs: Option<u32>,
        site: &LocalSite,
        stop: &StopToken,
    ) -> Result<Prepared, CliError> {
        let mut changes = self.measure.overrides(runs);
        changes.extend(self.workload.map(|kind| Override::flag("--workload", "workload", kind)));
        if !self.participants.is_empty() {
            let topologies: Vec<String> =
                self.participants.iter().map(|number| format!("full-mesh-{number}")).collect();
            let change = Override::flag("--participants", "factors.topology", topologies.join(","));
            changes.push(change.shown_as(format!("--participants {}", self.participants.join(","))));
        }
        prepare(self.name.to_owned(), self.name.to_owned(), self.text.to_owned(), changes, site, stop)
    }

    pub fn execute(&self) -> Result<ExitStatus, CliError> {
        output::set_quiet(self.output.quiet);
        let stop = StopToken::on_signals()?;
        let site = LocalSite::find()?;
        let prepared = self.prepare(Some(RUNS), &site, &stop)?;
        measurement::plan_and_measure(&prepared, seed(), self.measure.dry_run, self.output, &stop)
    }
}
