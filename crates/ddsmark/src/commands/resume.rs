//! `ddsmark run --resume`: resumes an interrupted experiment.

use std::path::Path;

use experiment::{HostFlag, check_installed, distinct};
use results::{Directory, HostRecord, SavedExperiment};
use runner::ExperimentRunner;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        experiment_args::RunArgs,
        output,
        progress::ProgressDisplay,
    },
    work::{drivers, hosts::Hosts, local::Local, measurement},
};

/// Hint for a changed environment: runs of two environments in one result would be compared as if they were of one.
const MIXED: &str = "restore the environment, start a new experiment, or resume with `--force`; the result records the changes";

pub fn execute(flags: &RunArgs, local: &Local) -> Result<ExitStatus> {
    let path = flags.resume.as_deref().unwrap_or(Path::new("."));
    let workload = flags.workload.is_some().then(|| "--workload".to_owned());
    if let Some(flag) = flags.measure.first_change().or(workload) {
        let error =
            format!("`{flag}` cannot be used with `--resume`: the experiment is continued as planned");
        return Err(CliError::usage(error, format!("remove `{flag}`, or start a new experiment")));
    }
    let SavedExperiment { directory, assembler, log } = Directory::reopen(path)?;
    let header = assembler.header().clone();
    let names = distinct(header.experiment.cells.iter().map(|cell| cell.factors.driver.clone()));
    let drivers = drivers::choose(&names, local)?;
    names.iter().try_for_each(|name| check_installed(name, &drivers.descriptions))?;
    let entries = header.experiment.design.hosts.iter().map(|host| HostFlag {
        name: Some(host.name.clone()),
        at: host.at.clone(),
        interface: host.interface.clone(),
    });
    let hosts = Hosts::connect(entries.collect(), local, &drivers)?;
    let sites = hosts.sites();
    let now = measurement::host_records(&header.experiment, &hosts)?;
    let differences = differences(&header.hosts, &now);
    if !differences.is_empty() && !flags.force {
        let error = format!("`{}` was started in another environment", path.display());
        return Err(CliError::usage(error, MIXED).with_details(differences));
    }
    for difference in &differences {
        output::note(&format!("note: {difference}"));
    }
    let made = assembler.runs().count();
    output::note(&format!(
        "resuming after {made} runs, in the order of seed {}",
        header.experiment.design.seed
    ));
    let mut progress = ProgressDisplay::new(&header.experiment);
    let cells = header.experiment.cells.iter();
    progress.resume(
        cells.flat_map(|cell| assembler.runs_of(&cell.id).iter().map(move |run| (run, cell))),
        &log.blocks,
    );
    runner::check_domain(&sites, &header.experiment)?;
    let session = ExperimentRunner {
        header,
        sites: &sites,
        directory: &directory,
        stop: &local.stop,
        on_progress: None,
    };
    let outcome = session.resume(assembler, log, differences, &mut progress);
    measurement::print_directory(&outcome, &directory);
    measurement::conclude(outcome, directory.path(), &flags.measure.output)
}

/// Returns the differences between the environments of the same hosts, as texts; with several, each names its host.
fn differences(then: &[HostRecord], now: &[HostRecord]) -> Vec<String> {
    let of_host = |(then, now): (&HostRecord, &HostRecord)| {
        let differences = then.environment.differences(&now.environment);
        let name = then.name.clone();
        differences.into_iter().map(move |difference| (name.clone(), difference.to_string()))
    };
    let all = then.iter().zip(now).flat_map(of_host);
    let named =
        |(name, text): (String, String)| if then.len() > 1 { format!("host `{name}`: {text}") } else { text };
    all.map(named).collect()
}
