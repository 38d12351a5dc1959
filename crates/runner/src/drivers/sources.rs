//! Driver sources, and the middleware versions that can be fetched for them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{install_error::InstallError, step::execute};
use crate::{
    stop_token::StopToken,
    version::{Version, split},
};

/// Environment variable with the directory of the sources.
const VARIABLE: &str = "DDSMARK_DRIVER_SOURCES";
/// Place of the sources below the prefix of an installation.
const INSTALLED: &str = "share/ddsmark/source";
/// Script that fetches a driver's middleware.
const FETCH: &str = "fetch.sh";
/// Time limit for listing versions, which fetches nothing.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// Directory with the sources of drivers, one folder each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    directory: PathBuf,
}

/// Sources of one driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSource {
    /// Name of the driver.
    pub name: String,
    /// Folder of the sources.
    pub(super) folder: PathBuf,
}

/// Middleware version that can be fetched for a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVersion {
    /// Version number.
    pub version: String,
    /// Package registry entry from which it is fetched.
    pub origin: String,
    /// Licence.
    pub licence: String,
    /// Whether the user must accept the licence first.
    pub must_be_accepted: bool,
}

impl Sources {
    /// Finds the sources: in the given directory, else in `$DDSMARK_DRIVER_SOURCES`, else those installed with this
    /// program, else in `drivers` of the source tree that contains this program or that it was built from.
    ///
    /// # Errors
    /// Returns an error if there is no such directory.
    pub fn find(directory: Option<&Path>) -> Result<Self, InstallError> {
        let variable = || env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(directory) = directory.map(Path::to_owned).or_else(variable) {
            let found = directory.is_dir().then(|| Self { directory: directory.clone() });
            return found.ok_or_else(|| not_found(&format!(" in `{}`", directory.display())));
        }
        let program = env::current_exe().ok();
        let above = program.iter().flat_map(|program| program.ancestors());
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        match above.chain(built_from).find_map(drivers_in) {
            Some(directory) => Ok(Self { directory }),
            None => Err(not_found("")),
        }
    }

    /// Returns whether these sources were installed with a program. Nothing is written into them.
    #[must_use]
    pub(super) fn are_installed(&self) -> bool {
        self.directory.parent().is_some_and(|tree| tree.ends_with(INSTALLED))
    }

    /// Returns the sources of all drivers, by name.
    #[must_use]
    pub fn all(&self) -> Vec<DriverSource> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut all: Vec<DriverSource> =
            names.filter(|name| self.has(name)).map(|name| self.source(name)).collect();
        all.sort_by(|one, two| one.name.cmp(&two.name));
        all
    }

    /// Returns whether there are sources of this driver.
    #[must_use]
    pub fn has(&self, driver: &str) -> bool {
        let is_name = !driver.is_empty() && !driver.contains(['/', '@']) && !driver.starts_with('.');
        is_name && {
            let source = self.source(driver.to_owned());
            source.is_cargo() || source.folder.join("CMakeLists.txt").is_file()
        }
    }

    /// Returns the sources of this driver.
    ///
    /// # Errors
    /// Returns an error if there are none.
    pub fn source_of(&self, driver: &str) -> Result<DriverSource, InstallError> {
        if self.has(driver) {
            return Ok(self.source(driver.to_owned()));
        }
        let error = format!("sources of driver `{driver}` not found in `{}`", self.directory.display());
        let known: Vec<String> = self.all().into_iter().map(|source| source.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(InstallError::rejected(error, format!("available: {known}")))
    }

    fn source(&self, name: String) -> DriverSource {
        let folder = self.directory.join(&name);
        DriverSource { name, folder }
    }
}

/// Returns the error of a missing directory of sources.
fn not_found(place: &str) -> InstallError {
    let hint =
        "name `drivers` of a ddsmark source tree with `--sources`, or set DDSMARK_DRIVER_SOURCES to it";
    InstallError::rejected(format!("sources of drivers not found{place}"), hint)
}

/// Returns the sources of drivers in an installation prefix or a source tree.
fn drivers_in(prefix: &Path) -> Option<PathBuf> {
    let trees = [prefix.join(INSTALLED), prefix.to_owned()];
    let tree = trees.iter().find(|tree| tree.join("include/ddsmark/driver.h").is_file())?;
    Some(tree.join("drivers")).filter(|drivers| drivers.is_dir())
}

impl DriverSource {
    /// Returns whether cargo builds the driver; otherwise cmake does.
    pub(super) fn is_cargo(&self) -> bool {
        self.folder.join("Cargo.toml").is_file()
    }

    /// Returns whether the driver needs an installed middleware: it is not fetched and not part of the sources.
    #[must_use]
    pub fn needs_prefix(&self) -> bool {
        self.fetch().is_none() && !self.is_cargo()
    }

    /// Returns the script that fetches the middleware, if there is one.
    pub(super) fn fetch(&self) -> Option<PathBuf> {
        let script = self.folder.join(FETCH);
        script.is_file().then_some(script)
    }

    /// Returns the middleware versions that can be fetched, the default first; empty if nothing is fetched for this
    /// driver.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed.
    pub fn versions(&self, stop: &StopToken) -> Result<Vec<KnownVersion>, InstallError> {
        let Some(script) = self.fetch() else { return Ok(Vec::new()) };
        let text = execute(&self.name, &script, Command::new(&script).arg("--versions"), LIST_LIMIT, stop)?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines
            .map(|line| {
                known_version(line).ok_or_else(|| {
                    let error = format!("`{}` printed an invalid version line: {line:?}", script.display());
                    let hint = "one line a version: VERSION, ORIGIN, LICENCE, and `open` or `accept`, with tabs between";
                    InstallError::failed(error, hint)
                })
            })
            .collect()
    }
}

/// Parses `VERSION`, `ORIGIN`, `LICENCE`, and `open` or `accept`, separated by tabs.
fn known_version(line: &str) -> Option<KnownVersion> {
    let [version, origin, licence, terms] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    version.parse::<Version>().ok()?;
    let must_be_accepted = match terms {
        "open" => false,
        "accept" => true,
        _ => return None,
    };
    let text = str::to_owned;
    Some(KnownVersion {
        version: text(version),
        origin: text(origin),
        licence: text(licence),
        must_be_accepted,
    })
}

/// Returns the selected version: the first one if none is requested; else the one with exactly this text, or the
/// highest one with this prefix.
pub(super) fn choose<'v>(known: &'v [KnownVersion], wanted: Option<&str>) -> Option<&'v KnownVersion> {
    let Some(wanted) = wanted else { return known.first() };
    if let Some(same) = known.iter().find(|known| known.version == wanted) {
        return Some(same);
    }
    let wanted: Version = wanted.parse().ok()?;
    let versions = known.iter().filter_map(|known| Some((known.version.parse::<Version>().ok()?, known)));
    let begin = versions.filter(|(version, _)| version.is_of(&wanted));
    begin.max_by(|(one, _), (two, _)| one.cmp(two)).map(|(_, known)| known)
}

/// Returns the versions that can be fetched instead of the requested one: none if the driver can be built; `None`
/// without sources of that name.
pub(super) fn versions_to_build(driver: &str) -> Option<Vec<String>> {
    let (name, wanted) = split(driver);
    let source = Sources::find(None).and_then(|sources| sources.source_of(name)).ok()?;
    let known = source.versions(&StopToken::new()).unwrap_or_default();
    let is_built = known.is_empty() || choose(&known, wanted).is_some();
    Some(if is_built { Vec::new() } else { known.into_iter().map(|known| known.version).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_version_or_none() {
        let read = known_version("0.10.2\tdebian:libx 0.10.2-2\tEPL-2.0\topen").unwrap();
        assert_eq!((read.version.as_str(), read.origin.as_str()), ("0.10.2", "debian:libx 0.10.2-2"));
        assert!(!read.must_be_accepted);
        assert!(known_version("7.3\tx\tproprietary\taccept").unwrap().must_be_accepted);
        for wrong in ["", "1.2", "1.2\tx\ty", "1.2\tx\ty\tmaybe", "v1\tx\ty\topen", "1\tx\ty\topen\tz"] {
            assert_eq!(known_version(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn default_is_the_first_version_and_prefix_selects_the_highest() {
        let lines = ["11.0.1\ta\tl\topen", "0.10.5\tb\tl\topen", "0.10.2\tc\tl\topen", "0.9\td\tl\topen"];
        let known: Vec<_> = lines.iter().map(|line| known_version(line).unwrap()).collect();
        let of = |wanted| choose(&known, wanted).map(|known| known.version.as_str());
        assert_eq!(of(None), Some("11.0.1"));
        assert_eq!(of(Some("0.10")), Some("0.10.5"));
        assert_eq!(of(Some("0.10.2")), Some("0.10.2"));
        assert_eq!(of(Some("0")), Some("0.10.5"));
        for nothing in ["0.1", "12", "", "x"] {
            assert_eq!(of(Some(nothing)), None, "{nothing}");
        }
    }

    #[test]
    fn folders_with_something_to_build_are_sources() {
        let directory = tempfile::tempdir().unwrap();
        for (folder, file) in [("b", "Cargo.toml"), ("a", "CMakeLists.txt"), ("c", "README.md")] {
            fs::create_dir(directory.path().join(folder)).unwrap();
            fs::write(directory.path().join(folder).join(file), "").unwrap();
        }
        let sources = Sources::find(Some(directory.path())).unwrap();
        let names: Vec<_> = sources.all().into_iter().map(|source| source.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(sources.source_of("a").is_ok());
        for wrong in ["c", "d", "", ".", "..", "a/", "a@1", "../a"] {
            let error = sources.source_of(wrong).expect_err(wrong);
            assert!(
                error.to_string().starts_with(&format!("sources of driver `{wrong}` not found")),
                "{error}"
            );
        }
        let error = Sources::find(Some(Path::new("/nowhere"))).expect_err("no directory");
        assert_eq!(error.to_string(), "sources of drivers not found in `/nowhere`");
        assert!(Sources::find(None).is_ok(), "the tree that this is built from");
    }

    #[test]
    fn installed_sources_are_found_below_their_prefix() {
        let prefix = tempfile::tempdir().unwrap();
        let prefix = prefix.path();
        let add = |tree: &str| {
            fs::create_dir_all(prefix.join(tree).join("include/ddsmark")).unwrap();
            fs::write(prefix.join(tree).join("include/ddsmark/driver.h"), "").unwrap();
        };
        add("");
        assert_eq!(drivers_in(prefix), None, "the header alone");
        fs::create_dir(prefix.join("drivers")).unwrap();
        assert_eq!(drivers_in(prefix), Some(prefix.join("drivers")));
        assert!(!Sources::find(Some(&prefix.join("drivers"))).unwrap().are_installed());
        add(INSTALLED);
        let installed = prefix.join(INSTALLED).join("drivers");
        fs::create_dir(&installed).unwrap();
        assert_eq!(drivers_in(prefix), Some(installed.clone()));
        assert!(Sources::find(Some(&installed)).unwrap().are_installed());
    }
}
