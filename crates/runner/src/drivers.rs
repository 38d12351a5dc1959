//! Finding drivers: by name on the search path, or by file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use experiment::is_driver_path;

use crate::RunnerError;

const PREFIX: &str = "libddsmark_";
const SUFFIX: &str = ".so";

/// A driver that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverFile {
    /// As it was named.
    pub name: String,
    /// The shared library, as an absolute path.
    pub path: PathBuf,
}

/// The directories in which drivers are looked for by name.
#[derive(Clone, Debug)]
pub struct DriverPath {
    directories: Vec<PathBuf>,
}

impl DriverPath {
    /// Of these directories, in this order.
    #[must_use]
    pub const fn new(directories: Vec<PathBuf>) -> Self {
        Self { directories }
    }

    /// `$DDSMARK_DRIVER_PATH` (separated by colons), then `drivers` beside this program, beside its directory, and in
    /// `lib/ddsmark` beside its directory.
    #[must_use]
    pub fn from_environment() -> Self {
        let mut directories: Vec<PathBuf> = std::env::var_os("DDSMARK_DRIVER_PATH")
            .iter()
            .flat_map(std::env::split_paths)
            .filter(|directory| !directory.as_os_str().is_empty())
            .collect();
        if let Ok(program) = std::env::current_exe()
            && let Some(here) = program.parent()
        {
            directories.push(here.join("drivers"));
            if let Some(above) = here.parent() {
                directories.push(above.join("drivers"));
                directories.push(above.join("lib/ddsmark/drivers"));
            }
        }
        Self { directories }
    }

    /// The directories.
    #[must_use]
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Every driver on the path, by name. Of two with one name the first is meant.
    #[must_use]
    pub fn known(&self) -> Vec<DriverFile> {
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
        known.into_iter().map(|(name, path)| DriverFile { name, path }).collect()
    }

    /// The driver meant: a file where it has a `/` or ends in `.so`, else a name on the path.
    ///
    /// # Errors
    /// There is no such file, or no driver of that name.
    pub fn find(&self, driver: &str) -> Result<DriverFile, RunnerError> {
        let name = driver.to_owned();
        if is_driver_path(driver) {
            let missing = |error| RunnerError::NoDriverFile { file: PathBuf::from(driver), error };
            let path = fs::canonicalize(driver).map_err(missing)?;
            fs::File::open(&path).map_err(missing)?;
            if !path.is_file() {
                return Err(missing(std::io::Error::other("it is not a file")));
            }
            return Ok(DriverFile { name, path });
        }
        let known = self.known();
        match known.iter().find(|known| known.name == driver) {
            Some(found) => Ok(found.clone()),
            None => Err(RunnerError::UnknownDriver {
                driver: name,
                known: known.into_iter().map(|known| known.name).collect(),
                searched: self.directories.iter().filter(|directory| exists(directory)).cloned().collect(),
            }),
        }
    }
}

fn exists(directory: &Path) -> bool {
    directory.is_dir()
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
        let path = DriverPath::new(vec![first.path().into(), "/nowhere".into(), second.path().into()]);
        let names: Vec<_> = path.known().into_iter().map(|driver| driver.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(path.find("a").unwrap().path.starts_with(fs::canonicalize(first.path()).unwrap()));
        match path.find("c") {
            Err(RunnerError::UnknownDriver { known, searched, .. }) => {
                assert_eq!(known, ["a", "b"]);
                assert_eq!(searched.len(), 2);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_keeps_its_name_and_a_missing_one_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mine.so");
        fs::write(&file, "").unwrap();
        let path = DriverPath::new(Vec::new());
        let found = path.find(file.to_str().unwrap()).unwrap();
        assert_eq!((found.name.as_str(), found.path.is_absolute()), (file.to_str().unwrap(), true));
        for missing in ["./nowhere.so", "nowhere.so", directory.path().to_str().unwrap()] {
            assert!(matches!(path.find(missing), Err(RunnerError::NoDriverFile { .. })), "{missing}");
        }
    }
}
