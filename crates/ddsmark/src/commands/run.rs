//! `ddsmark run`: measures an experiment from a file or a recipe.

use std::path::Path;

use experiment::Override;

use super::resume;
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        experiment_args::RunArgs,
    },
    work::{
        files,
        local::Local,
        measurement,
        preparation::{Prepared, prepare as prepare_text, seed},
        recipes,
    },
};

pub fn execute(flags: &RunArgs) -> Result<ExitStatus> {
    flags.measure.output.apply();
    let local = Local::find()?;
    let Some(experiment) = &flags.experiment else {
        return resume::execute(flags, &local);
    };
    // All validation happens before anything is measured.
    let prepared = prepare(flags, experiment, &local)?;
    let how = (flags.measure.dry_run, flags.force);
    measurement::plan_and_measure(&prepared, seed(), how, &flags.measure.output, &local.stop)
}

/// Reads a file or a recipe, and finds the drivers that it names.
pub fn prepare(flags: &RunArgs, experiment: &str, local: &Local) -> Result<Prepared> {
    let mut changes = flags.measure.overrides(None);
    changes.extend(flags.workload.as_ref().map(|kind| Override::flag("--workload", "workload", kind)));
    prepare_named(experiment, changes, local)
}

/// Reads a file or a recipe with changes of the command line, and finds the drivers that it names.
pub fn prepare_named(experiment: &str, changes: Vec<Override>, local: &Local) -> Result<Prepared> {
    let path = Path::new(experiment);
    if !experiment.contains('/') && path.extension().is_none() {
        let text = recipes::find(experiment)?.to_owned();
        return prepare_text(experiment.to_owned(), format!("recipe {experiment}"), text, changes, local);
    }
    let text = files::read_text(path).map_err(|error| {
        let error = format!("cannot read `{experiment}`: {error}");
        CliError::usage(error, "name a file, or a recipe of `ddsmark recipes list`")
    })?;
    let name =
        path.file_stem().map_or_else(|| experiment.to_owned(), |stem| stem.to_string_lossy().into_owned());
    prepare_text(name, experiment.to_owned(), text, changes, local)
}
