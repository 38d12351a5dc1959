//! Deployment: programs and drivers of this host in the cache of another, and the command that starts a steward there.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use host::DriverFile;

use super::{
    bundle::Bundle,
    connection::Connection,
    probe::{Needs, Probe, script},
    shell::RemoteShell,
};
use crate::{
    client::steward_command::StewardCommand,
    protocol::{MANIFEST, VERSION},
    start_error::StartError,
};

/// Time limit of a script on the host, and of a copy: the slowest link that is supported has 1 Mbit/s.
const SCRIPT_LIMIT: Duration = Duration::from_secs(60);
const BYTES_PER_SECOND: u64 = 125_000;

/// Host that has everything that agents need.
#[derive(Debug)]
pub struct Deployment {
    /// Way to start its steward.
    pub steward: StewardCommand,
    /// Drivers on the host, by name.
    pub drivers: BTreeMap<String, DriverFile>,
    /// Answer of the host.
    pub probe: Probe,
    /// Number of copied bytes; `None` if an installed ddsmark is used.
    pub copied_bytes: Option<u64>,
    /// Last lines that the shell of the host printed before a command.
    pub noise: Vec<String>,
}

/// Copies programs and drivers to a host, unless it has them.
///
/// # Errors
/// Returns an error if the host cannot be reached, lacks something, or rejects a file.
pub fn deploy(
    host: &str,
    shell: &Arc<dyn RemoteShell>,
    programs: &Bundle,
    drivers: &BTreeMap<String, Bundle>,
) -> Result<Deployment, StartError> {
    let connection = Connection::open(host, shell)?;
    let bundles: Vec<&Bundle> = [programs].into_iter().chain(drivers.values()).collect();
    let hashes: Vec<String> = bundles.iter().map(|bundle| bundle.hash()).collect();
    let answer = connection.script(&script(&hashes), SCRIPT_LIMIT)?;
    let probe = Probe::parse(&answer);
    if !probe.is_complete() {
        let hint = "check that its shell executes `sh -s`, and that no start-up file of the shell ends it";
        return Err(unfit(host, "its shell did not execute a script", hint));
    }
    let missing: Vec<&Bundle> =
        bundles.iter().zip(&hashes).filter(|(_, hash)| !probe.has(hash)).map(|(bundle, _)| *bundle).collect();
    let needs = Needs {
        glibc: bundles.iter().filter_map(|bundle| bundle.glibc).max(),
        bytes: missing.iter().map(|bundle| bundle.bytes()).sum(),
    };
    let (program, copied_bytes) = match (probe.check(&needs), probe.installed()) {
        (Ok(()), _) => {
            for bundle in missing {
                copy(host, &connection, probe.cache(), bundle)?;
            }
            (format!("{}/{}/ddsmark", probe.cache(), programs.hash()), Some(needs.bytes))
        }
        // Its own programs, which were built for it. Drivers of this host cannot be used there.
        (Err(_), Some((VERSION, program))) if drivers.is_empty() => (program.to_owned(), None),
        (Err((error, hint)), installed) => {
            let other = match installed {
                Some((version, _)) if version != VERSION => {
                    format!("; it has ddsmark {version}, not {VERSION}")
                }
                _ => String::new(),
            };
            return Err(unfit(host, &format!("{error}{other}"), &hint));
        }
    };
    let of_driver = |(name, bundle): (&String, &Bundle)| {
        let file = bundle.files.iter().find(|file| file.name.starts_with("libddsmark_"));
        let file = file.or(bundle.files.first()).map_or("", |file| file.name.as_str());
        let path = PathBuf::from(format!("{}/{}/{file}", probe.cache(), bundle.hash()));
        (name.clone(), DriverFile { name: name.clone(), path })
    };
    let drivers = drivers.iter().map(of_driver).collect();
    let noise = connection.noise.clone();
    drop(connection);
    let remote = format!("exec {} steward", quoted(host, &program)?);
    let of_steward = Arc::clone(shell);
    let mut steward = StewardCommand::new(host, move || of_steward.command(&remote));
    steward.explain = shell.explain();
    Ok(Deployment { steward, drivers, probe, copied_bytes, noise })
}

/// Copies a bundle into a new directory, and renames it when it is complete and unchanged.
fn copy(host: &str, connection: &Connection<'_>, cache: &str, bundle: &Bundle) -> Result<(), StartError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let new = format!("{cache}/new.{}.{}", process::id(), now.as_nanos());
    let place = format!("{cache}/{}", bundle.hash());
    let (new_quoted, place) = (quoted(host, &new)?, quoted(host, &place)?);
    let copied = copy_files(host, connection, &new, bundle).and_then(|()| {
        let manifest = bundle.manifest();
        // A copy that has changed is replaced; one that another experiment has just made is as good.
        let script = format!(
            "set -e\ncd {new_quoted}\nprintf %s '{manifest}' >{MANIFEST}\nsha256sum -c {MANIFEST} >/dev/null\n\
             chmod 500 ./*\nchmod 400 {MANIFEST}\ncd ..\n\
             if [ -e {place} ] && ! (cd {place} && sha256sum -c {MANIFEST}) >/dev/null 2>&1; then rm -rf {place}; fi\n\
             if [ -e {place} ]; then rm -rf {new_quoted}; else mv {new_quoted} {place}; rm -rf {place}/new.*; fi\n"
        );
        connection.script(&script, SCRIPT_LIMIT)
    });
    copied.map(drop).inspect_err(|_| {
        // If this fails, too, the next probe removes it after a day.
        let _ = connection.script(&format!("rm -rf {new_quoted}\n"), SCRIPT_LIMIT);
    })
}

fn copy_files(host: &str, connection: &Connection<'_>, new: &str, bundle: &Bundle) -> Result<(), StartError> {
    connection.script(&format!("umask 077\nmkdir {}\n", quoted(host, new)?), SCRIPT_LIMIT)?;
    for file in &bundle.files {
        let limit = SCRIPT_LIMIT + Duration::from_secs(file.bytes / BYTES_PER_SECOND);
        connection.copy(&file.path, &quoted(host, &format!("{new}/{}", file.name))?, limit)?;
    }
    Ok(())
}

/// Returns a path as a word of a shell.
fn quoted(host: &str, path: &str) -> Result<String, StartError> {
    match shlex::try_quote(path) {
        Ok(word) => Ok(word.into_owned()),
        Err(_) => Err(unfit(host, "its cache directory has no valid name", "set XDG_CACHE_HOME on the host")),
    }
}

fn unfit(host: &str, error: &str, hint: &str) -> StartError {
    StartError::of_host(host, error, Some(hint.to_owned()))
}
