//! `ddsmark drivers install` and `versions`: which drivers can be built, and building one.

use std::path::Path;

use report::{FoundDriver, InstallableDriver};
use runner::{Build, DriverPath, DriverSource, InstallError, KnownVersion, Launcher, Sources, Stop};

use crate::{
    arguments::Install,
    drivers,
    output::{self, say},
    problem::Problem,
};

/// Builds a driver, puts it where drivers are found, and shows what it is.
pub fn execute(flags: &Install, launcher: &dyn Launcher, stop: &Stop) -> Result<(), Problem> {
    let sources = Sources::find(flags.sources.as_deref())?;
    let prefix = flags.prefix.as_deref();
    let build = Build::plan(&sources, &flags.driver, prefix, flags.accept_licence, flags.limit, stop)?;
    match (&build.version, prefix) {
        (Some(known), _) => say(&format!("{}: {}, licence {}", build.name(), known.origin, known.licence)),
        (None, Some(prefix)) => say(&format!("{}: against {}", build.name(), prefix.display())),
        (None, None) => say(&format!("{}: from its sources alone", build.name())),
    }
    let installed = build.make(DriverPath::from_environment().home(), launcher, stop)?;
    if installed.is_foreign {
        say("note: nothing from the prefix is loaded yet; `version` below tells what the driver found");
    }
    say(&format!("installed as `{}` in {}", installed.file.name, installed.file.path.display()));
    output::print(&report::driver_info(&installed.description))
}

/// The versions that can be fetched, of one driver or of all.
pub fn versions(
    driver: Option<&str>,
    directory: Option<&Path>,
    launcher: &dyn Launcher,
    stop: &Stop,
) -> Result<(), Problem> {
    let sources = Sources::find(directory)?;
    let asked = match driver {
        Some(driver) => vec![sources.of(driver)?],
        None => sources.all(),
    };
    let found = drivers::found(launcher, stop)?;
    output::print(&report::driver_versions(&installable(&asked, &found, stop)?))
}

/// What can be built of these sources, and whether it is installed. Sources that cannot be asked are told and left out.
pub fn installable(
    sources: &[DriverSource],
    found: &[FoundDriver],
    stop: &Stop,
) -> Result<Vec<InstallableDriver>, Problem> {
    let mut all = Vec::new();
    for source in sources {
        let versions = match source.versions(stop) {
            Ok(versions) => versions,
            Err(InstallError::Stopped) => return Err(InstallError::Stopped.into()),
            Err(error) => {
                say(&format!("note: {error}; it is left out"));
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

/// Whether it is the driver whose name has no version, and has that one.
fn is_plain_one_of(found: &FoundDriver, source: &DriverSource, known: &KnownVersion) -> bool {
    let version = found.description.as_ref().ok().map(|description| &description.middleware_version);
    found.name == source.name && version == Some(&known.version)
}
