//! Build of a driver from its sources, against a middleware version that is fetched or against an installed one.
//!
//! ```text
//! Build::plan  chooses the version, its origin and its licence
//! Build::make  SOURCES/NAME/fetch.sh VERSION -> a prefix; scripts/driver.sh -> a library; an agent loads
//!              and inspects it; then it is moved, under its final name, to where drivers are found
//! ```

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use experiment::{DriverDescription, Limits};
use host::{DriverFile, Site};
use nix::sys::statvfs::statvfs;

use super::{
    describe::inspect,
    install_error::InstallError,
    search_path::file_name,
    sources::{DriverSource, KnownVersion, Sources, choose},
    step::execute,
};
use crate::{
    error::RunnerError,
    stop_token::StopToken,
    version::{AT, Version, split},
};

/// Script that builds one driver; `make drivers` uses it too.
const BUILD: &str = include_str!("driver.sh");
const BUILD_NAME: &str = "scripts/driver.sh";
/// Variable set to 1 for a `fetch.sh` if the user has accepted the licence of the version.
const LICENCE_ACCEPTED: &str = "DDSMARK_ACCEPT_LICENCE";
/// Variable with the directory for what a `fetch.sh` fetches; without it, `.sdk` of its source tree.
const SDK: &str = "DDSMARK_SDK";
/// Free space in bytes below which a step has probably failed for lack of space.
const LITTLE_SPACE: u64 = 16 << 20;
/// Subdirectory of the drivers' directory for builds.
const WORKSHOP: &str = ".building";
const FULL: &str = "free some space, or set DDSMARK_DRIVER_PATH to a directory on another file system";

/// Planned build of a driver.
#[derive(Clone, Debug)]
pub struct DriverBuild {
    /// Requested driver: `NAME` or `NAME@VERSION`.
    driver: String,
    source: DriverSource,
    /// Version to fetch; `None` if nothing is fetched or a prefix is given.
    pub version: Option<KnownVersion>,
    prefix: Option<PathBuf>,
    /// Whether the sources were installed with this program, so that nothing may be written into them.
    has_installed_sources: bool,
    limit: Duration,
}

/// Installed driver.
#[derive(Clone, Debug)]
pub struct InstalledDriver {
    /// Name with the version, and path of the file.
    pub file: DriverFile,
    /// Description of the driver.
    pub description: DriverDescription,
    /// Whether it has loaded no library from the given prefix. It may still load one on use.
    pub is_foreign: bool,
}

impl DriverBuild {
    /// Plans the build of a driver: `NAME` or `NAME@VERSION`. With a prefix it is built against the middleware
    /// installed there.
    ///
    /// # Errors
    /// Returns an error if the driver cannot be built as requested.
    pub fn plan(
        sources: &Sources,
        driver: &str,
        prefix: Option<&Path>,
        accept_licence: bool,
        limit: Duration,
        stop: &StopToken,
    ) -> Result<Self, InstallError> {
        let (name, wanted) = split(driver);
        let source = sources.source_of(name)?;
        if wanted.is_some_and(|wanted| wanted.parse::<Version>().is_err()) {
            let hint = "write numbers separated by dots, such as 2.14";
            return Err(InstallError::rejected(format!("`{driver}` has an invalid version"), hint));
        }
        let build = |version, prefix| Self {
            driver: driver.to_owned(),
            source: source.clone(),
            version,
            prefix,
            has_installed_sources: sources.are_installed(),
            limit,
        };
        if let Some(prefix) = prefix {
            if source.is_cargo() {
                let error = format!("driver `{name}` is built by cargo and has no prefix");
                return Err(InstallError::rejected(error, "remove `--prefix`"));
            }
            let missing = |_| {
                let hint = "name the directory of the installed middleware, such as /opt/ros/jazzy";
                InstallError::rejected(format!("directory `{}` not found", prefix.display()), hint)
            };
            let prefix = fs::canonicalize(prefix).map_err(missing)?;
            return Ok(build(None, Some(prefix)));
        }
        let known = source.versions(stop)?;
        if known.is_empty() {
            return match wanted {
                None => Ok(build(None, None)),
                Some(_) => Err(InstallError::rejected(
                    format!("driver `{name}` has no versions: no middleware is fetched for it"),
                    format!("build it with `ddsmark drivers install {name}`"),
                )),
            };
        }
        let Some(version) = choose(&known, wanted) else {
            let known: Vec<String> = known.into_iter().map(|known| known.version).collect();
            let hint = format!(
                "available: {}; use an installed one with `ddsmark drivers install {name} --prefix DIR`",
                known.join(", ")
            );
            return Err(InstallError::rejected(
                format!("`{driver}` cannot be fetched: version not found"),
                hint,
            ));
        };
        if version.must_be_accepted && !accept_licence {
            let KnownVersion { version, licence, .. } = version;
            let error = format!("{name}{AT}{version} has a licence that you must accept first: {licence}");
            return Err(InstallError::rejected(error, "add `--accept-licence` to accept it"));
        }
        Ok(build(Some(version.clone()), None))
    }

    /// Returns the name of the driver to build, as far as it is known.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.version {
            Some(known) => format!("{}{AT}{}", self.source.name, known.version),
            None => self.driver.clone(),
        }
    }

    /// Builds the driver and installs it into the directory `home`. The scripts print to standard error.
    ///
    /// # Errors
    /// Returns an error if a step fails. Nothing is installed then, and an existing driver is unchanged.
    pub fn install(
        &self,
        home: &Path,
        site: &dyn Site,
        stop: &StopToken,
    ) -> Result<InstalledDriver, InstallError> {
        let name = self.name();
        let workshop = home.join(WORKSHOP);
        fs::create_dir_all(&workshop).map_err(cannot_write(&workshop))?;
        let lock = workshop.join(format!("{name}.lock"));
        let file = File::create(&lock).map_err(cannot_write(&lock))?;
        file.try_lock().map_err(|_| {
            let error = format!("driver `{name}` is being installed by another process");
            InstallError::failed(error, "wait until it has ended")
        })?;
        let work = workshop.join(&name);
        clear(&work).map_err(cannot_write(&work))?;

        let built = self
            .fetch(home, stop)
            .and_then(|prefix| self.build(&work, prefix.as_deref(), stop))
            .map_err(|error| self.or_no_space(error, home))?;
        let trial = DriverFile { name, path: built };
        let (description, libraries) =
            inspect(site, &trial, &Limits::default(), stop).map_err(|error| match (error, &self.prefix) {
                (RunnerError::Stopped, _) => InstallError::Stopped,
                (RunnerError::OtherVersion { found, .. }, Some(prefix)) => other_version(prefix, &found),
                (error, _) => InstallError::Unusable(error),
            })?;
        let name = self.final_name(&description)?;
        let target = home.join(file_name(&name));
        // The rename replaces an old file: processes that have loaded the old driver keep it.
        fs::rename(&trial.path, &target).map_err(cannot_write(&target))?;
        // Files left behind are harmless.
        let _ = clear(&work);
        let is_foreign = self.prefix.as_deref().is_some_and(|prefix| {
            let real = libraries.iter().filter_map(|library| fs::canonicalize(library).ok());
            !real.into_iter().any(|library| library.starts_with(prefix))
        });
        let path = fs::canonicalize(&target).map_err(cannot_write(&target))?;
        Ok(InstalledDriver { file: DriverFile { name, path }, description, is_foreign })
    }

    /// Returns the prefix of the middleware; fetches it if necessary. With installed sources, it is placed beside the
    /// drivers' directory.
    fn fetch(&self, home: &Path, stop: &StopToken) -> Result<Option<PathBuf>, InstallError> {
        let (Some(known), Some(script)) = (&self.version, self.source.fetch()) else {
            return Ok(self.prefix.clone());
        };
        let mut command = Command::new(&script);
        command.arg(&known.version);
        // A version with such a licence is planned only after the user has accepted it.
        if known.must_be_accepted {
            command.env(LICENCE_ACCEPTED, "1");
        }
        if self.has_installed_sources && env::var_os(SDK).is_none() {
            let home = fs::canonicalize(home).map_err(cannot_write(home))?;
            command.env(SDK, home.with_file_name("sdk"));
        }
        let text = execute(&self.name(), &script, &mut command, self.limit, stop)?;
        let prefix = PathBuf::from(text.trim_end());
        if prefix.is_dir() {
            return Ok(Some(prefix));
        }
        let how = format!("printed {text:?} instead of a prefix");
        Err(InstallError::Step { driver: self.name(), step: script.display().to_string(), how })
    }

    /// Replaces the error of a failed step if hardly any space is left: tools then report misleading errors.
    fn or_no_space(&self, error: InstallError, home: &Path) -> InstallError {
        let free = statvfs(home).ok().map(|system| system.blocks_available() * system.fragment_size());
        match (error, free) {
            (InstallError::Step { driver, .. }, Some(free)) if free < LITTLE_SPACE => InstallError::failed(
                format!(
                    "cannot install driver `{driver}`: only {} KiB are free in `{}`",
                    free / 1024,
                    home.display()
                ),
                FULL,
            ),
            (error, _) => error,
        }
    }

    /// Builds the library and returns its path.
    fn build(&self, work: &Path, prefix: Option<&Path>, stop: &StopToken) -> Result<PathBuf, InstallError> {
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
        let how = format!("printed {text:?} instead of a library");
        Err(InstallError::Step { driver: self.name(), step: BUILD_NAME.to_owned(), how })
    }

    /// Returns the final name. A driver built against a prefix gets the version that the library reports.
    fn final_name(&self, description: &DriverDescription) -> Result<String, InstallError> {
        let Some(prefix) = &self.prefix else { return Ok(self.name()) };
        match Version::leading(&description.middleware_version) {
            Some(version) => Ok(format!("{}{AT}{version}", self.source.name)),
            // The requested version is all that is known.
            None if split(&self.driver).1.is_some() => Ok(self.driver.clone()),
            None => Err(other_version(prefix, &description.middleware_version)),
        }
    }
}

/// Returns the error of a middleware with another version than the requested one.
fn other_version(prefix: &Path, found: &str) -> InstallError {
    InstallError::rejected(
        format!("the middleware in `{}` reports version {found}", prefix.display()),
        format!("name what it has behind the driver's `@`, or nothing: it says {found}"),
    )
}

/// Returns the error of a file or directory that cannot be written.
fn cannot_write(path: &Path) -> impl Fn(io::Error) -> InstallError {
    move |error| {
        let hint = match error.kind() {
            io::ErrorKind::StorageFull => FULL,
            _ => "set DDSMARK_DRIVER_PATH to a writable directory",
        };
        InstallError::failed(format!("cannot write to `{}`: {error}", path.display()), hint)
    }
}

/// Removes the files of an earlier build.
fn clear(work: &Path) -> io::Result<()> {
    match fs::remove_dir_all(work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
