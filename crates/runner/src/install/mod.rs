//! Building a driver from its sources, against a version of its middleware that is fetched, or against one that is installed.
//!
//! ```text
//! Build::plan     which version, from where, under which licence
//! Build::make     SOURCES/NAME/fetch.sh VERSION -> a prefix; scripts/driver.sh -> a library; an agent asks it what it is;
//!                 only then it is put, by its name, where drivers are found
//! ```

mod error;
mod sources;
mod step;

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use experiment::{DriverDescription, Limits};

pub use self::{
    error::InstallError,
    sources::{DriverSource, KnownVersion, Sources},
};
use self::{sources::choose, step::Ended};
use crate::{
    DriverFile, Launcher, RunnerError, Stop,
    describe::inspect,
    drivers::file_name,
    error::CanBeBuilt,
    version::{AT, Version, split},
};

/// Builds one driver; `make drivers` builds with it, too.
const BUILD: &str = include_str!("../../../../scripts/driver.sh");
const BUILD_NAME: &str = "scripts/driver.sh";
/// Set to 1 for a `fetch.sh` whose version comes under a licence that the user has accepted.
const LICENCE_ACCEPTED: &str = "DDSMARK_ACCEPT_LICENCE";
/// In the directory of the drivers: what is being built.
const WORKSHOP: &str = ".building";

/// Whether there are sources of a driver of that name, and its middleware can be had in the version that is named.
pub(crate) fn can_be_built(driver: &str) -> CanBeBuilt {
    let (name, wanted) = split(driver);
    let Ok(source) = Sources::find(None).and_then(|sources| sources.of(name)) else { return CanBeBuilt::No };
    match source.versions(&Stop::new()) {
        Ok(known) if !known.is_empty() && choose(&known, wanted).is_none() => {
            CanBeBuilt::Versions(known.into_iter().map(|known| known.version).collect())
        }
        _ => CanBeBuilt::Yes,
    }
}

/// A driver that is to be built.
#[derive(Clone, Debug)]
pub struct Build {
    /// As it was asked for: `NAME` or `NAME@VERSION`.
    driver: String,
    source: DriverSource,
    /// What is fetched first; none where nothing is, or where there is a prefix.
    pub version: Option<KnownVersion>,
    prefix: Option<PathBuf>,
    limit: Duration,
}

/// A driver that was installed.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its name, with the version, and its file.
    pub file: DriverFile,
    /// What it says of itself.
    pub description: DriverDescription,
    /// Whether it has loaded nothing from the prefix that was named. It may do so only when it is used.
    pub is_foreign: bool,
}

impl Build {
    /// What is to be done for a driver: `NAME` or `NAME@VERSION`. With a prefix it is built against what is installed there.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn plan(
        sources: &Sources,
        driver: &str,
        prefix: Option<&Path>,
        accept_licence: bool,
        limit: Duration,
        stop: &Stop,
    ) -> Result<Self, InstallError> {
        let (name, wanted) = split(driver);
        let source = sources.of(name)?;
        if wanted.is_some_and(|wanted| wanted.parse::<Version>().is_err()) {
            return Err(InstallError::NoNumbers { driver: driver.to_owned() });
        }
        let build = |version, prefix| Self {
            driver: driver.to_owned(),
            source: source.clone(),
            version,
            prefix,
            limit,
        };
        if let Some(prefix) = prefix {
            if source.is_cargo() {
                return Err(InstallError::NoPrefix { driver: name.to_owned() });
            }
            let missing = |_| InstallError::MissingPrefix { prefix: prefix.to_owned() };
            let prefix = fs::canonicalize(prefix).map_err(missing)?;
            return Ok(build(None, Some(prefix)));
        }
        let known = source.versions(stop)?;
        if known.is_empty() {
            return match wanted {
                None => Ok(build(None, None)),
                Some(_) => Err(InstallError::Unversioned { driver: name.to_owned() }),
            };
        }
        let Some(version) = choose(&known, wanted) else {
            let known = known.into_iter().map(|known| known.version).collect();
            return Err(InstallError::NoVersion { driver: driver.to_owned(), known });
        };
        if version.must_be_accepted && !accept_licence {
            let driver = format!("{name}{AT}{}", version.version);
            return Err(InstallError::Licence { driver, licence: version.licence.clone() });
        }
        Ok(build(Some(version.clone()), None))
    }

    /// The name that it will have, as far as it is known.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.version {
            Some(known) => format!("{}{AT}{}", self.source.name, known.version),
            None => self.driver.clone(),
        }
    }

    /// Does it, and puts the driver into this directory. What the scripts say goes to standard error.
    ///
    /// # Errors
    /// It cannot be done. Nothing was installed then, and a driver that was there is as it was.
    pub fn make(&self, home: &Path, launcher: &dyn Launcher, stop: &Stop) -> Result<Installed, InstallError> {
        let place = |place: &Path| {
            let place = place.to_owned();
            move |error: io::Error| InstallError::Place { place, error }
        };
        let name = self.name();
        let workshop = home.join(WORKSHOP);
        fs::create_dir_all(&workshop).map_err(place(&workshop))?;
        let lock = workshop.join(format!("{name}.lock"));
        let file = File::create(&lock).map_err(place(&lock))?;
        file.try_lock().map_err(|_| InstallError::Busy { driver: name.clone() })?;
        let work = workshop.join(&name);
        clear(&work).map_err(place(&work))?;

        let prefix = self.fetch(stop)?;
        let built = self.build(&work, prefix.as_deref(), stop)?;
        let trial = DriverFile { name, path: built };
        let (description, libraries) =
            inspect(launcher, &trial, &Limits::default(), stop).map_err(|error| {
                match (error, &self.prefix) {
                    (RunnerError::Stopped, _) => InstallError::Stopped,
                    (RunnerError::OtherVersion { found, .. }, Some(prefix)) => {
                        InstallError::PrefixVersion { prefix: prefix.clone(), found }
                    }
                    (error, _) => InstallError::Unusable(error),
                }
            })?;
        let name = self.final_name(&description)?;
        let target = home.join(file_name(&name));
        // a new file in the place of an old one: processes that run the old one keep it
        fs::rename(&trial.path, &target).map_err(place(&target))?;
        // what is left of it does no harm
        let _ = clear(&work);
        let is_foreign = self.prefix.as_deref().is_some_and(|prefix| {
            let real = libraries.iter().filter_map(|library| fs::canonicalize(library).ok());
            !real.into_iter().any(|library| library.starts_with(prefix))
        });
        let path = fs::canonicalize(&target).map_err(place(&target))?;
        Ok(Installed { file: DriverFile { name, path }, description, is_foreign })
    }

    /// The prefix of the middleware, which is fetched where it is not there.
    fn fetch(&self, stop: &Stop) -> Result<Option<PathBuf>, InstallError> {
        let (Some(known), Some(script)) = (&self.version, self.source.fetch()) else {
            return Ok(self.prefix.clone());
        };
        let mut command = Command::new(&script);
        command.arg(&known.version);
        // a build of such a version is planned only for who has accepted
        if known.must_be_accepted {
            command.env(LICENCE_ACCEPTED, "1");
        }
        let text = execute(&self.name(), &script, &mut command, self.limit, stop)?;
        let prefix = PathBuf::from(text.trim_end());
        if prefix.is_dir() {
            return Ok(Some(prefix));
        }
        let how = format!("printed no prefix but {text:?}");
        Err(InstallError::Step { driver: self.name(), step: script.display().to_string(), how })
    }

    /// The library.
    fn build(&self, work: &Path, prefix: Option<&Path>, stop: &Stop) -> Result<PathBuf, InstallError> {
        let mut command = Command::new("bash");
        command.args(["-c", BUILD, BUILD_NAME]);
        command.arg("--source").arg(&self.source.folder);
        command.arg("--out").arg(work.join("out")).arg("--build").arg(work.join("build"));
        if let Some(known) = &self.version {
            command.args(["--version", &known.version]);
        }
        if let Some(prefix) = prefix {
            command.arg("--prefix").arg(prefix);
        }
        let text = execute(&self.name(), Path::new(BUILD_NAME), &mut command, self.limit, stop)?;
        let library = PathBuf::from(text.trim_end());
        if library.is_file() {
            return Ok(library);
        }
        let how = format!("printed no library but {text:?}");
        Err(InstallError::Step { driver: self.name(), step: BUILD_NAME.to_owned(), how })
    }

    /// The name under which it is found. What was built against a prefix has the version that the library says.
    fn final_name(&self, description: &DriverDescription) -> Result<String, InstallError> {
        let Some(prefix) = &self.prefix else { return Ok(self.name()) };
        match Version::leading(&description.middleware_version) {
            Some(version) => Ok(format!("{}{AT}{version}", self.source.name)),
            // what was asked for is all that is known
            None if split(&self.driver).1.is_some() => Ok(self.driver.clone()),
            None => Err(InstallError::PrefixVersion {
                prefix: prefix.clone(),
                found: description.middleware_version.clone(),
            }),
        }
    }
}

/// Removes what a build has left behind.
fn clear(work: &Path) -> io::Result<()> {
    match fs::remove_dir_all(work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Runs a script of an installation; what it printed.
fn execute(
    driver: &str,
    script: &Path,
    command: &mut Command,
    limit: Duration,
    stop: &Stop,
) -> Result<String, InstallError> {
    let (ended, text) = step::run(command, limit, stop)
        .map_err(|error| InstallError::Start { script: script.to_owned(), error })?;
    let (driver, step) =
        (driver.to_owned(), script.file_name().unwrap_or(OsStr::new("")).display().to_string());
    match ended {
        Ended::Itself(status) if status.success() => Ok(text),
        Ended::Itself(status) => Err(InstallError::Step { driver, step, how: format!("failed ({status})") }),
        Ended::OutOfTime => Err(InstallError::OutOfTime { driver, step, limit }),
        Ended::Stopped => Err(InstallError::Stopped),
    }
}
