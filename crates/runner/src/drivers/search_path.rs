//! Lookup of drivers: by name and version on the search path, or by file.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use experiment::{is_driver_path, similar};
use host::DriverFile;
use nix::unistd::{AccessFlags, access};

use super::sources::versions_to_build;
use crate::{
    error::RunnerError,
    version::{order, select, split},
};

const PREFIX: &str = "libddsmark_";
const SUFFIX: &str = ".so";

/// Returns the file name of a driver.
pub(crate) fn file_name(driver: &str) -> String {
    format!("{PREFIX}{driver}{SUFFIX}")
}

/// Search path of drivers.
#[derive(Clone, Debug)]
pub struct DriverSearchPath {
    directories: Vec<PathBuf>,
    home: PathBuf,
}

impl DriverSearchPath {
    /// Creates a search path from directories, in this order. Drivers are installed into the first one.
    #[must_use]
    pub fn new(directories: Vec<PathBuf>) -> Self {
        let home = directories.first().cloned().unwrap_or_default();
        Self { directories, home }
    }

    /// Creates the default search path: `$DDSMARK_DRIVER_PATH` (separated by colons), then `drivers` in the directory
    /// of this program and in its parent directory, then the user's own `ddsmark/drivers` in `$XDG_DATA_HOME` or
    /// `~/.local/share`, then `lib/ddsmark/drivers` in that parent directory.
    #[must_use]
    pub fn from_environment() -> Self {
        let named = env::var_os("DDSMARK_DRIVER_PATH")
            .iter()
            .flat_map(env::split_paths)
            .filter(|directory| !directory.as_os_str().is_empty())
            .collect();
        Self::of(named, env::current_exe().ok().as_deref(), data_directory().as_deref())
    }

    /// Creates the default search path from the directories of the variable, the program, and the user's data
    /// directory.
    fn of(named: Vec<PathBuf>, program: Option<&Path>, data: Option<&Path>) -> Self {
        let here = program.and_then(Path::parent);
        let above = here.and_then(Path::parent);
        let beside = here.into_iter().chain(above).map(|directory| directory.join("drivers"));
        let own = data.map(|data| data.join("ddsmark/drivers"));
        let installed = above.map(|above| above.join("lib/ddsmark/drivers"));
        let of_program: Vec<PathBuf> = beside.chain(installed.clone()).collect();
        let writable = of_program.iter().find(|directory| is_writable(directory)).cloned();
        let home =
            named.first().cloned().or(writable).or(own.clone()).or(installed.clone()).unwrap_or_default();
        let mut directories = named;
        directories.extend(of_program);
        let last = directories.len() - usize::from(installed.is_some());
        directories.splice(last..last, own);
        Self { directories, home }
    }

    /// Returns the directory for installed drivers: the first one of `$DDSMARK_DRIVER_PATH`; otherwise the first one
    /// near the program that this user can write to; otherwise the user's own.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns every driver on the path, by name and version, each once: a versioned driver that an unversioned name
    /// links to is listed under that name only. Of two drivers with the same name and version the first one counts.
    #[must_use]
    pub fn find_all(&self) -> Vec<DriverFile> {
        let named = self.named();
        let is_listed = |driver: &DriverFile| {
            let (name, version) = split(&driver.name);
            version.is_none() || !named.iter().any(|other| other.name == name && other.path == driver.path)
        };
        named.iter().filter(|driver| is_listed(driver)).cloned().collect()
    }

    /// Returns the drivers on the path under all their names.
    fn named(&self) -> Vec<DriverFile> {
        let mut known = BTreeMap::new();
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory) else { continue };
            for entry in entries.flatten() {
                let file = entry.file_name();
                let name = file.to_str().and_then(|file| file.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
                if let Some(name) = name.filter(|name| !name.is_empty())
                    && let Ok(path) = fs::canonicalize(entry.path())
                    && path.is_file()
                {
                    known.entry(name.to_owned()).or_insert(path);
                }
            }
        }
        let mut known: Vec<DriverFile> =
            known.into_iter().map(|(name, path)| DriverFile { name, path }).collect();
        known.sort_by_cached_key(|driver| order(&driver.name));
        known
    }

    /// Returns one driver of each name: the one that the name without a version selects.
    #[must_use]
    pub fn one_of_each(&self) -> Vec<DriverFile> {
        let known = self.find_all();
        let mut names: Vec<&str> = known.iter().map(|driver| split(&driver.name).0).collect();
        names.dedup();
        let found = names.into_iter().filter_map(|name| versions_of(&known, name).into_iter().next());
        found.collect()
    }

    /// Finds a driver: a file if `driver` contains a `/` or ends in `.so`, otherwise a name on the path.
    /// `NAME@VERSION` selects the highest version with this prefix; `NAME` selects the driver without a version,
    /// otherwise the highest version.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, or no driver has that name and version.
    pub fn find(&self, driver: &str) -> Result<DriverFile, RunnerError> {
        self.candidates(driver).map(|mut candidates| candidates.swap_remove(0))
    }

    /// Returns the matching drivers, at least one, under the requested name. The first one is selected unless its
    /// middleware is not installed.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Self::find`].
    pub(crate) fn candidates(&self, driver: &str) -> Result<Vec<DriverFile>, RunnerError> {
        let name = driver.to_owned();
        if is_driver_path(driver) {
            let missing = |error| RunnerError::WrongUse {
                error: format!("cannot read driver `{driver}`: {error}"),
                hint: "list the drivers with `ddsmark drivers list`".to_owned(),
            };
            let path = fs::canonicalize(driver).map_err(missing)?;
            fs::File::open(&path).map_err(missing)?;
            if !path.is_file() {
                return Err(missing(std::io::Error::other("it is not a file")));
            }
            return Ok(vec![DriverFile { name, path }]);
        }
        let found = versions_of(&self.named(), driver);
        if !found.is_empty() {
            return Ok(found);
        }
        let known: Vec<String> = self.find_all().iter().map(with_version).collect();
        Err(RunnerError::WrongUse {
            error: format!("unknown driver `{driver}`"),
            hint: alternatives(driver, &known),
        })
    }
}

/// Returns the hint for an unknown driver: the drivers that are installed, and whether it can be built.
fn alternatives(driver: &str, known: &[String]) -> String {
    let name = split(driver).0;
    let names = known.iter().map(|known| known.split([' ', '@']).next().unwrap_or_default());
    let meant = similar(name, names).filter(|meant| *meant != name);
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
    let installed = match known {
        [] => "no driver is installed".to_owned(),
        known => format!("{meant}available: {}", known.join(", ")),
    };
    match versions_to_build(driver) {
        None if known.is_empty() => {
            "set DDSMARK_DRIVER_PATH to the directory of the drivers, or name a file".to_owned()
        }
        None => format!("{installed}; name a file by its path"),
        Some(versions) if versions.is_empty() => format!(
            "{installed}; build it with `ddsmark drivers install {driver}`; `ddsmark drivers versions {name}` lists the \
             versions"
        ),
        Some(versions) => format!(
            "{installed}; versions of `{name}` to fetch: {}; use an installed one with `ddsmark drivers install {name} \
             --prefix DIR`",
            versions.join(", ")
        ),
    }
}

/// Returns the name of a driver, with the version if only its file name contains it.
fn with_version(driver: &DriverFile) -> String {
    let file = driver.path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let of_file = file.strip_prefix(PREFIX).and_then(|file| file.strip_suffix(SUFFIX)).unwrap_or_default();
    match split(of_file) {
        (name, Some(version)) if name == driver.name => format!("{name} ({version})"),
        _ => driver.name.clone(),
    }
}

/// Returns the known drivers that match, each once, under the requested name.
fn versions_of(known: &[DriverFile], driver: &str) -> Vec<DriverFile> {
    let mut found: Vec<DriverFile> = Vec::new();
    for name in select(driver, known.iter().map(|known| known.name.as_str())) {
        let file = known.iter().find(|known| known.name == name);
        let path = file.map(|file| &file.path).filter(|path| found.iter().all(|other| other.path != **path));
        found.extend(path.map(|path| DriverFile { name: driver.to_owned(), path: path.clone() }));
    }
    found
}

/// Returns whether this is a directory in which the user can create files.
fn is_writable(directory: &Path) -> bool {
    directory.is_dir() && access(directory, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

/// Returns the directory of the user's data. A relative path is not valid there.
fn data_directory() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_on_the_path_and_the_first_wins() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(first.path().join("libddsmark_a.so"), "").unwrap();
        fs::write(second.path().join("libddsmark_a.so"), "").unwrap();
        fs::write(second.path().join("libddsmark_b.so"), "").unwrap();
        fs::write(second.path().join("libother.so"), "").unwrap();
        fs::create_dir(second.path().join("libddsmark_dir.so")).unwrap();
        let path = DriverSearchPath::new(vec![first.path().into(), "/nowhere".into(), second.path().into()]);
        let names: Vec<_> = path.find_all().into_iter().map(|driver| driver.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(path.find("a").unwrap().path.starts_with(fs::canonicalize(first.path()).unwrap()));
        match path.find("c") {
            Err(RunnerError::WrongUse { hint, .. }) => {
                assert!(hint.starts_with("available: a, b;"), "{hint}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn drivers_are_installed_near_the_program_or_for_the_user() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        let (program, data) = (at("bin/ddsmark"), at("data"));
        let path = || DriverSearchPath::of(Vec::new(), Some(&program), Some(&data));
        let order = ["bin/drivers", "drivers", "data/ddsmark/drivers", "lib/ddsmark/drivers"].map(at);
        assert_eq!(path().directories, order);
        assert_eq!(path().home(), at("data/ddsmark/drivers"), "none near the program");
        fs::create_dir_all(at("lib/ddsmark/drivers")).unwrap();
        assert_eq!(path().home(), at("lib/ddsmark/drivers"));
        fs::create_dir(at("drivers")).unwrap();
        assert_eq!(path().home(), at("drivers"));
        let named = DriverSearchPath::of(vec![at("named")], Some(&program), Some(&data));
        assert_eq!((named.home(), &named.directories[0]), (at("named").as_path(), &at("named")));
        let homeless = DriverSearchPath::of(Vec::new(), Some(&at("other/bin/ddsmark")), None);
        assert_eq!(homeless.home(), at("other/lib/ddsmark/drivers"));
    }

    #[test]
    fn versions_of_a_driver_lie_side_by_side() {
        let directory = tempfile::tempdir().unwrap();
        let place = |driver: &str| {
            let file = directory.path().join(file_name(driver));
            fs::write(&file, "").unwrap();
            fs::canonicalize(file).unwrap()
        };
        let (old, new) = (place("a@2.9.1"), place("a@2.14"));
        let plain = place("b");
        place("b@1");
        let path = DriverSearchPath::new(vec![directory.path().into()]);
        let names: Vec<_> = path.find_all().into_iter().map(|driver| driver.name).collect();
        assert_eq!(names, ["a@2.14", "a@2.9.1", "b", "b@1"]);
        for (requested, found) in [("a@2.9", &old), ("a@2", &new), ("a", &new), ("b", &plain)] {
            let driver = path.find(requested).unwrap();
            assert_eq!((driver.name.as_str(), &driver.path), (requested, found), "named as it was asked for");
        }
        assert_eq!(path.find("a@3").unwrap_err().to_string(), "unknown driver `a@3`");
        let each: Vec<_> = path.one_of_each().into_iter().map(|driver| (driver.name, driver.path)).collect();
        assert_eq!(each, [("a".to_owned(), new), ("b".to_owned(), plain)]);
    }

    #[test]
    fn link_to_a_version_is_listed_once() {
        let (directory, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = |driver: &str| fs::write(directory.path().join(file_name(driver)), "").unwrap();
        ["a@2.9.1", "a@3.2.2", "a@4", "b@1"].iter().for_each(|driver| place(driver));
        for (link, to) in [("a", "a@3.2.2"), ("c", "b@1")] {
            std::os::unix::fs::symlink(file_name(to), directory.path().join(file_name(link))).unwrap();
        }
        fs::write(other.path().join(file_name("a@3.2.2")), "").unwrap();
        let path = DriverSearchPath::new(vec![directory.path().into(), other.path().into()]);
        let names =
            |drivers: Vec<DriverFile>| drivers.into_iter().map(|driver| driver.name).collect::<Vec<_>>();
        assert_eq!(
            names(path.find_all()),
            ["a", "a@4", "a@2.9.1", "b@1", "c"],
            "another's name hides nothing"
        );
        assert_eq!(names(path.one_of_each()), ["a", "b", "c"]);
        for (requested, file) in
            [("a", "a@3.2.2"), ("a@3", "a@3.2.2"), ("a@3.2.2", "a@3.2.2"), ("a@2", "a@2.9.1")]
        {
            let found = path.find(requested).unwrap();
            assert_eq!(found.name, requested);
            assert_eq!(
                found.path,
                fs::canonicalize(directory.path().join(file_name(file))).unwrap(),
                "{requested}"
            );
        }
        match path.find("a@5") {
            Err(RunnerError::WrongUse { hint, .. }) => {
                assert!(hint.starts_with("available: a (3.2.2), a@4, a@2.9.1, b@1, c;"), "{hint}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_keeps_its_name_and_a_missing_one_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mine.so");
        fs::write(&file, "").unwrap();
        let path = DriverSearchPath::new(Vec::new());
        let found = path.find(file.to_str().unwrap()).unwrap();
        assert_eq!((found.name.as_str(), found.path.is_absolute()), (file.to_str().unwrap(), true));
        for missing in ["./nowhere.so", "nowhere.so", directory.path().to_str().unwrap()] {
            let error = path.find(missing).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot read driver `{missing}`: ")), "{error}");
        }
    }
}
