//! `ddsmark hosts`.

use std::collections::BTreeMap;

use experiment::Limits;
use hosts::{
    StewardSite,
    ssh::{self, SshProgram, bundle::Bundle, target::Target},
};
use runner::{RunnerError, StopToken, describe};
use site::{LocalSite, Site as _};

use crate::{
    cli::{
        arguments::Hosts as Command,
        cli_error::{CliError, ExitStatus},
        output,
    },
    work::drivers::choose,
};

const MIB: u64 = 1 << 20;

/// Executes `ddsmark hosts`.
pub fn execute(command: &Command) -> Result<ExitStatus, CliError> {
    let Command::Check { host, driver } = command;
    let stop = StopToken::on_signals()?;
    let site = LocalSite::find()?;
    let bundles = Bundles::of(&site, driver, &stop)?;
    let ssh = SshProgram::from_environment();
    let mut status = ExitStatus::Done;
    for (name, target) in host {
        match check(name, target, &ssh, &bundles, &stop) {
            Ok(line) => output::print(&format!("{name}: {line}\n"))?,
            Err(error) if stop.requested() => return Err(error),
            // The other hosts are checked, too.
            Err(error) => {
                output::to_stderr(&error.to_string());
                status = error.status;
            }
        }
    }
    Ok(status)
}

/// Files that hosts need.
struct Bundles {
    programs: Bundle,
    drivers: BTreeMap<String, Bundle>,
}

impl Bundles {
    fn of(site: &LocalSite, names: &[String], stop: &StopToken) -> Result<Self, CliError> {
        let command = std::env::current_exe().map_err(|error| {
            let error = format!("cannot determine the path of this program: {error}");
            CliError::new(ExitStatus::Failed, error, "start it by its full path")
        })?;
        let programs = Bundle::of_programs(&command, site.agent())?;
        let mut drivers = BTreeMap::new();
        if !names.is_empty() {
            let chosen = choose(names, site, stop)?;
            for (name, file) in &chosen.files {
                drivers.insert(name.clone(), Bundle::of_driver(file, &chosen.libraries[name])?);
            }
        }
        Ok(Self { programs, drivers })
    }
}

/// Uses a host as a measurement does, and describes it.
fn check(
    name: &str,
    target: &Target,
    ssh: &SshProgram,
    bundles: &Bundles,
    stop: &StopToken,
) -> Result<String, CliError> {
    let deployment = ssh::deploy(name, target, ssh, &bundles.programs, &bundles.drivers)?;
    if let Some(line) = deployment.noise.last() {
        output::note(&format!("note: host `{name}`: its shell prints text, which is skipped: `{line}`"));
    }
    let ready = match deployment.copied_bytes {
        None => "ddsmark installed".to_owned(),
        Some(0) => "ddsmark in its cache".to_owned(),
        Some(bytes) => format!("ddsmark copied ({} MiB)", bytes.div_ceil(MIB)),
    };
    let probe = deployment.probe;
    let site = StewardSite::start(deployment.steward)?;
    let facts = site.facts()?;
    let mut line = format!("ready: {}, {}, {} cores", probe.machine(), probe.libc(), facts.cores.len());
    if let Some(free) = probe.free_kib() {
        line.push_str(&format!(", {} MiB free", free >> 10));
    }
    line.push_str(&format!(", {ready}"));
    for file in deployment.drivers.values() {
        let described = describe(&site, file, &Limits::default(), stop);
        let description = described.map_err(|error| about(name, error))?;
        line.push_str(&format!(", driver {} {}", file.name, description.middleware_version));
    }
    Ok(line)
}

/// Adds the host to an error.
fn about(host: &str, error: RunnerError) -> CliError {
    match error {
        RunnerError::Site(error) => error.into(),
        error => CliError::from(error).on_host(host),
    }
}
