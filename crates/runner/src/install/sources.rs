//! Drivers that can be built: where their sources lie, and which versions of their middleware can be fetched.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{InstallError, execute};
use crate::{Stop, version::Version};

/// Names the directory of the sources.
const VARIABLE: &str = "DDSMARK_DRIVER_SOURCES";
/// Fetches a driver's middleware.
const FETCH: &str = "fetch.sh";
/// Listing versions fetches nothing.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// A directory with the sources of drivers, one folder each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    directory: PathBuf,
}

/// The sources of one driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSource {
    /// The driver's name.
    pub name: String,
    /// The folder.
    pub(super) folder: PathBuf,
}

/// A version of a driver's middleware that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVersion {
    /// The version.
    pub version: String,
    /// The package of a registry that it comes from.
    pub origin: String,
    /// The licence.
    pub licence: String,
    /// Whether the user must accept the licence first.
    pub must_be_accepted: bool,
}

impl Sources {
    /// Those in this directory; else in `$DDSMARK_DRIVER_SOURCES`; else in `drivers` of the tree in which this program lies, or
    /// that it was built from.
    ///
    /// # Errors
    /// There are none.
    pub fn find(directory: Option<&Path>) -> Result<Self, InstallError> {
        let variable = || env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(directory) = directory.map(Path::to_owned).or_else(variable) {
            return if directory.is_dir() {
                Ok(Self { directory })
            } else {
                Err(InstallError::NoSources { directory: Some(directory) })
            };
        }
        let program = env::current_exe().ok();
        let above = program.iter().flat_map(|program| program.ancestors());
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let tree = above.chain(built_from).find(|tree| tree.join("include/ddsmark/driver.h").is_file());
        match tree {
            Some(tree) => Ok(Self { directory: tree.join("drivers") }),
            None => Err(InstallError::NoSources { directory: None }),
        }
    }

    /// All of them, by name.
    #[must_use]
    pub fn all(&self) -> Vec<DriverSource> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut all: Vec<DriverSource> =
            names.filter(|name| self.has(name)).map(|name| self.source(name)).collect();
        all.sort_by(|one, two| one.name.cmp(&two.name));
        all
    }

    /// Whether there are sources of this driver.
    #[must_use]
    pub fn has(&self, driver: &str) -> bool {
        let is_name = !driver.is_empty() && !driver.contains(['/', '@']) && !driver.starts_with('.');
        is_name && {
            let source = self.source(driver.to_owned());
            source.is_cargo() || source.folder.join("CMakeLists.txt").is_file()
        }
    }

    /// Those of this driver.
    ///
    /// # Errors
    /// There are none.
    pub fn of(&self, driver: &str) -> Result<DriverSource, InstallError> {
        if self.has(driver) {
            return Ok(self.source(driver.to_owned()));
        }
        Err(InstallError::NoSource {
            driver: driver.to_owned(),
            directory: self.directory.clone(),
            known: self.all().into_iter().map(|source| source.name).collect(),
        })
    }

    fn source(&self, name: String) -> DriverSource {
        let folder = self.directory.join(&name);
        DriverSource { name, folder }
    }
}

impl DriverSource {
    /// Whether cargo builds it; else cmake does.
    pub(super) fn is_cargo(&self) -> bool {
        self.folder.join("Cargo.toml").is_file()
    }

    /// Whether it needs a middleware of the user's own: nothing fetches any, and it is not all in its sources.
    #[must_use]
    pub fn needs_prefix(&self) -> bool {
        self.fetch().is_none() && !self.is_cargo()
    }

    /// What fetches its middleware, if anything does.
    pub(super) fn fetch(&self) -> Option<PathBuf> {
        let script = self.folder.join(FETCH);
        script.is_file().then_some(script)
    }

    /// The versions of its middleware that can be fetched, the default first; none where nothing is fetched for it.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn versions(&self, stop: &Stop) -> Result<Vec<KnownVersion>, InstallError> {
        let Some(script) = self.fetch() else { return Ok(Vec::new()) };
        let text = execute(&self.name, &script, Command::new(&script).arg("--versions"), LIST_LIMIT, stop)?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines
            .map(|line| {
                known_version(line)
                    .ok_or_else(|| InstallError::Versions { script: script.clone(), line: line.to_owned() })
            })
            .collect()
    }
}

/// `VERSION`, `ORIGIN`, `LICENCE`, and `open` or `accept`, with tabs between.
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

/// Of these versions the one that is meant: the first where none is named; else that very one, or the highest that begins so.
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
    fn the_default_is_the_first_and_a_beginning_means_the_highest() {
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
        assert!(sources.of("a").is_ok());
        for wrong in ["c", "d", "", ".", "..", "a/", "a@1", "../a"] {
            assert!(matches!(sources.of(wrong), Err(InstallError::NoSource { .. })), "{wrong}");
        }
        assert!(matches!(Sources::find(Some(Path::new("/nowhere"))), Err(InstallError::NoSources { .. })));
        assert!(Sources::find(None).is_ok(), "the tree that this is built from");
    }
}
