//! `ddsmark run`: measures a file or a recipe.

use runner::{LocalLauncher, StopToken};

use super::resume;
use crate::{
    cli::{
        arguments::RunArgs,
        cli_error::{CliError, ExitStatus},
    },
    work::{
        measurement::{measure, show},
        preparation::{prepare, seed},
    },
};

pub fn execute(flags: &RunArgs) -> Result<ExitStatus, CliError> {
    let stop = StopToken::on_signals()?;
    let launcher = LocalLauncher::find()?;
    let Some(asked) = &flags.experiment else {
        return resume::execute(flags, &launcher, &stop);
    };
    // All validation happens before anything is measured.
    let prepared = prepare(flags, asked, &launcher, &stop)?;
    let experiment = prepared.plan(seed())?;
    if flags.dry_run {
        return show(&experiment, &prepared.drivers, flags.output.json, &launcher, &stop);
    }
    measure(experiment, prepared.drivers, &flags.output, &launcher, &stop)
}
