//! `ddsmark drivers install` and `ddsmark drivers versions`.

use std::path::Path;

use report::{FoundDriver, InstallableDriver};
use runner::{DriverBuild, DriverSearchPath, DriverSource, InstallError, KnownVersion, Sources};

use crate::{
    cli::{
        cli_error::Result,
        driver_args::InstallArgs,
        output::{self, to_stderr},
    },
    work::{drivers, local::Local},
};

/// Builds and installs a driver, and prints its description.
pub fn execute(flags: &InstallArgs, local: &Local) -> Result<()> {
    let sources = Sources::find(flags.sources.as_deref())?;
    let prefix = flags.prefix.as_deref();
    let build =
        DriverBuild::plan(&sources, &flags.driver, prefix, flags.accept_licence, flags.limit, &local.stop)?;
    match (&build.version, prefix) {
        (Some(known), _) => {
            to_stderr(&format!("{}: {}, licence {}", build.name(), known.origin, known.licence));
        }
        (None, Some(prefix)) => to_stderr(&format!("{}: against {}", build.name(), prefix.display())),
        (None, None) => to_stderr(&format!("{}: from its sources, without a middleware", build.name())),
    }
    let installed = build.install(DriverSearchPath::from_environment().home(), &local.site, &local.stop)?;
    if installed.is_foreign {
        to_stderr("note: no library of the prefix is loaded yet; see `version` below");
    }
    to_stderr(&format!("installed as `{}` in {}", installed.file.name, installed.file.path.display()));
    output::print(&report::driver_info(&installed.description))
}

/// Prints the versions that can be fetched, of one driver or of all.
pub fn versions(driver: Option<&str>, directory: Option<&Path>, local: &Local) -> Result<()> {
    let sources = Sources::find(directory)?;
    let selected = match driver {
        Some(driver) => vec![sources.source_of(driver)?],
        None => sources.all(),
    };
    let found = drivers::find_all(local)?;
    output::print(&report::driver_versions(&installable(&selected, &found, local)?))
}

/// Returns the drivers that can be built from these sources, and whether they are installed. Sources that fail are
/// left out with a note.
pub fn installable(
    sources: &[DriverSource],
    found: &[FoundDriver],
    local: &Local,
) -> Result<Vec<InstallableDriver>> {
    let mut all = Vec::new();
    for source in sources {
        let versions = match source.versions(&local.stop) {
            Ok(versions) => versions,
            Err(InstallError::Stopped) => return Err(InstallError::Stopped.into()),
            Err(error) => {
                to_stderr(&format!("note: excluded: {error}"));
                continue;
            }
        };
        if versions.is_empty() && !source.needs_prefix() {
            let is_installed = found.iter().any(|found| found.name == source.name);
            all.push(InstallableDriver { name: source.name.clone(), is_installed, ..Default::default() });
        }
        for known in versions {
            let name = format!("{}@{}", source.name, known.version);
            let is_installed =
                found.iter().any(|found| found.name == name || is_plain_one_of(found, source, &known));
            let KnownVersion { origin, licence, must_be_accepted, .. } = known;
            all.push(InstallableDriver { name, origin, licence, must_be_accepted, is_installed });
        }
    }
    Ok(all)
}

/// Returns whether a driver without a version in its name has this version.
fn is_plain_one_of(found: &FoundDriver, source: &DriverSource, known: &KnownVersion) -> bool {
    let version = found.description.as_ref().ok().map(|description| &description.middleware_version);
    found.name == source.name && version == Some(&known.version)
}
