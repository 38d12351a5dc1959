//! `ddsmark latency`, `throughput`, `load`, `search`, `discovery` and `characterize`: experiments that come with the command.

use experiment::Override;

use super::run;
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        experiment_args::BuiltInCommand,
        flag_hints::in_flags,
        help,
        measure_args::MeasureArgs,
    },
    work::{
        local::Local,
        measurement,
        preparation::{Prepared, prepare, seed},
    },
};

const DISCOVERY: &str = "discovery";
/// Runs of each cell, unless more are given or claims need more.
const RUNS: u32 = 3;

/// An experiment that comes with the command, with its flags.
pub struct BuiltIn<'a> {
    name: &'static str,
    text: &'static str,
    /// File or recipe that takes the place of the text.
    experiment: Option<&'a str>,
    /// Changes by flags of the command's own.
    changes: Vec<Override>,
    /// Whether a system is measured that the host or a link cannot carry.
    pub is_forced: bool,
    pub measure: &'a MeasureArgs,
}

impl<'a> BuiltIn<'a> {
    /// Returns the experiment of a command.
    pub fn of(command: &'a BuiltInCommand) -> Self {
        match command {
            BuiltInCommand::Latency(measure) => {
                Self::new("latency", include_str!("../../experiments/latency.toml"), measure)
            }
            BuiltInCommand::Throughput(measure) => {
                Self::new("throughput", include_str!("../../experiments/throughput.toml"), measure)
            }
            BuiltInCommand::Load(measure) => {
                Self::new("load", include_str!("../../experiments/load.toml"), measure)
            }
            BuiltInCommand::Search(flags) => {
                let goals = (!flags.goal.is_empty()).then(|| flags.goal.join(","));
                let goals = goals.map(|goals| Override::flag("--goal", "search.goals", goals));
                let deadline = flags.deadline.as_ref();
                let deadline = deadline.map(|time| Override::flag("--deadline", "search.deadline", time));
                let experiment = flags.experiment.as_deref();
                let workload = experiment
                    .map(|_| Override::flag("search", "workload", "search").shown_as("ddsmark search"));
                Self {
                    experiment,
                    changes: goals.into_iter().chain(deadline).chain(workload).collect(),
                    is_forced: flags.force,
                    ..Self::new("search", include_str!("../../experiments/search.toml"), &flags.measure)
                }
            }
            BuiltInCommand::Discovery(flags) => {
                let topologies: Vec<String> =
                    flags.participants.iter().map(|number| format!("full-mesh-{number}")).collect();
                let change = (!topologies.is_empty()).then(|| {
                    let change = Override::flag("--participants", "factors.topology", topologies.join(","));
                    change.shown_as(format!("--participants {}", flags.participants.join(",")))
                });
                Self {
                    changes: change.into_iter().collect(),
                    ..Self::new(DISCOVERY, include_str!("../../experiments/discovery.toml"), &flags.measure)
                }
            }
            BuiltInCommand::Characterize(flags) => {
                let change =
                    flags.workload.as_ref().map(|kind| Override::flag("--workload", "workload", kind));
                let text = include_str!("../../experiments/characterize.toml");
                Self {
                    changes: change.into_iter().collect(),
                    ..Self::new("characterize", text, &flags.measure)
                }
            }
        }
    }

    const fn new(name: &'static str, text: &'static str, measure: &'a MeasureArgs) -> Self {
        Self { name, text, experiment: None, changes: Vec::new(), is_forced: false, measure }
    }

    /// Finds the drivers and prepares the plan. `runs` is the number of runs of each cell if no flag determines it.
    pub fn prepare(&self, runs: Option<u32>, local: &Local) -> Result<Prepared> {
        let mut changes = self.measure.overrides(runs);
        changes.extend(self.changes.iter().cloned());
        if self.name == DISCOVERY {
            check_participants(&changes)?;
        }
        let prepared = match self.experiment {
            Some(experiment) => run::prepare_named(experiment, changes, local),
            None => prepare(self.name.to_owned(), self.name.to_owned(), self.text.to_owned(), changes, local),
        };
        prepared.map_err(|error| self.in_flags(error))
    }

    /// Replaces keys of an experiment file in the hint, unless the user wrote a file.
    fn in_flags(&self, error: CliError) -> CliError {
        if self.experiment.is_some() {
            return error;
        }
        let all = help::command();
        match all.find_subcommand(self.name) {
            Some(command) => error.with_hint(|hint| in_flags(hint, command)),
            None => error,
        }
    }

    pub fn execute(&self) -> Result<ExitStatus> {
        self.measure.output.apply();
        let local = Local::find()?;
        // A file says how many runs it has.
        let runs = self.experiment.is_none().then_some(RUNS);
        let prepared = self.prepare(runs, &local)?;
        let how = (self.measure.dry_run, self.is_forced);
        measurement::plan_and_measure(&prepared, seed(), how, &self.measure.output, &local.stop)
            .map_err(|error| self.in_flags(error))
    }
}

/// Rejects topologies that are no number of participants.
fn check_participants(changes: &[Override]) -> Result<()> {
    let topologies = changes.iter().filter(|change| change.flag_name() == "--topology");
    let all = topologies.flat_map(|change| change.value().split(',')).map(str::trim);
    all.filter(|value| !value.starts_with("full-mesh-")).try_for_each(|value| {
        let number = if value.parse::<u16>().is_ok() { value } else { "10" };
        let error = format!("--topology {value}: `discovery` needs a number of participants");
        let hint = format!("use `--participants {number}`");
        Err(CliError::usage(error, hint))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topology_of_discovery_is_a_number_of_participants() {
        let of = |value: &str| check_participants(&[Override::flag("--topology", "factors.topology", value)]);
        assert!(of("full-mesh-4,full-mesh-8").is_ok());
        for (value, hint) in
            [("20", "use `--participants 20`"), ("full-mesh-4,1-3", "use `--participants 10`")]
        {
            assert_eq!(of(value).expect_err("no participants").hint(), Some(hint));
        }
    }
}
