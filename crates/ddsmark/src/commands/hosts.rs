//! `ddsmark hosts`.

use experiment::HostFlag;
use runner::RunnerError;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        host_args::Hosts as Command,
        output,
    },
    work::{
        drivers::{Drivers, choose},
        host_entries::ExpandedHosts,
        hosts::{ConnectedHost, Connector},
        local::Local,
    },
};

const MIB: u64 = 1 << 20;

/// Executes `ddsmark hosts`.
pub fn execute(command: &Command) -> Result<ExitStatus> {
    let Command::Check { host, driver } = command;
    let local = Local::find()?;
    let drivers = if driver.is_empty() { Drivers::default() } else { choose(driver, &local)? };
    let mut connector = Connector::new(&local, &drivers);
    let mut status = ExitStatus::Done;
    for HostFlag { at, .. } in host {
        if at.lab().is_some() {
            let error = format!("`{at}` cannot be checked: a measurement creates it, and removes it");
            let hint = "create a lab with `ddsmark lab up`, and check its hosts, such as `h1=netns:lab.h1`";
            return Err(CliError::usage(error, hint));
        }
    }
    for host in ExpandedHosts::of(host.clone())?.list {
        let name = host.name.clone();
        match connector.connect(host).and_then(|host| describe(&host)) {
            Ok(line) => output::print(&format!("{name}: {line}\n"))?,
            Err(error) if local.stop.requested() => return Err(error),
            // The other hosts are checked, too.
            Err(error) => {
                output::to_stderr(&error.to_string());
                status = error.status;
            }
        }
    }
    if local.stop.requested() { Err(RunnerError::Stopped.into()) } else { Ok(status) }
}

/// Describes a host that is ready.
fn describe(host: &ConnectedHost) -> Result<String> {
    let facts = &host.facts;
    let cores = facts.cores.len();
    let mut line = match &host.copied {
        Some(copied) => format!("ready: {}, {}, {cores} cores", copied.probe.machine(), copied.probe.libc()),
        None => format!("ready: {}, {cores} cores", std::env::consts::ARCH),
    };
    if let Some(copied) = &host.copied {
        if let Some(free) = copied.probe.free_kib() {
            line.push_str(&format!(", {} MiB free", free >> 10));
        }
        line.push_str(&match copied.bytes {
            None => ", ddsmark installed".to_owned(),
            Some(0) => ", ddsmark in its cache".to_owned(),
            Some(bytes) => format!(", ddsmark copied ({} MiB)", bytes.div_ceil(MIB)),
        });
    }
    if let Some(interface) = &host.interface {
        facts.check_interface(interface).map_err(|error| CliError::from(error).on_host(&host.name))?;
    }
    let interfaces = facts.addresses.iter().map(|own| format!("{} {}", own.interface, own.address));
    let interfaces: Vec<String> = interfaces.collect();
    if !interfaces.is_empty() {
        line.push_str(&format!(", interface {}", interfaces.join(" and ")));
    }
    for name in host.drivers.files.keys() {
        let description = &host.drivers.descriptions[name];
        line.push_str(&format!(", driver {name} {}", description.middleware_version));
    }
    Ok(line)
}
