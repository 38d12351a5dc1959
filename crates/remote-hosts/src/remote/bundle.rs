//! Files that are copied to a host together.

use std::{
    fs,
    path::{Path, PathBuf},
};

use results::sha256;

use super::elf::Elf;
use crate::start_error::StartError;

/// Libraries of the C library, and the kernel's. Every host has its own.
const OF_C_LIBRARY: &[&str] = &[
    "ld-linux",
    "libc.so",
    "libc-",
    "libm.so",
    "libm-",
    "libmvec",
    "libpthread",
    "libdl.so",
    "libdl-",
    "librt.so",
    "librt-",
    "libutil",
    "libresolv",
    "libanl",
    "libnsl",
    "libnss_",
    "libthread_db",
    "libBrokenLocale",
    "linux-",
];

/// File of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleFile {
    /// Path on this host.
    pub path: PathBuf,
    /// Name in the bundle.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    sha256: String,
}

/// Files that are copied together, into a directory whose name is the hash of their names and contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Files, by name.
    pub files: Vec<BundleFile>,
    /// Lowest version of the C library that can load all of them.
    pub glibc: Option<(u32, u32)>,
}

impl Bundle {
    /// Creates a bundle of the command and the agent program.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn of_programs(command: &Path, agent: &Path) -> Result<Self, StartError> {
        Self::new(vec![
            (command.to_owned(), "ddsmark".to_owned()),
            (agent.to_owned(), "ddsmark-agent".to_owned()),
        ])
    }

    /// Creates a bundle of a driver and of the libraries that an agent has loaded with it, except those of the C
    /// library.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn of_driver(driver: &Path, libraries: &[PathBuf]) -> Result<Self, StartError> {
        let mut files = vec![(driver.to_owned(), file_name(driver))];
        let same = fs::canonicalize(driver).ok();
        for library in libraries {
            let name = file_name(library);
            let of_c_library = OF_C_LIBRARY.iter().any(|begin| name.starts_with(begin));
            if !of_c_library && fs::canonicalize(library).ok() != same {
                files.push((library.clone(), String::new()));
            }
        }
        Self::new(files)
    }

    /// Creates a bundle of files with names; a library without one gets the name under which it is loaded.
    fn new(files: Vec<(PathBuf, String)>) -> Result<Self, StartError> {
        let mut bundle = Self { files: Vec::new(), glibc: None };
        for (path, mut name) in files {
            let read = fs::read(&path);
            let content = read.map_err(|error| StartError::of_file(&path, error))?;
            let elf = Elf::read(&content);
            bundle.glibc = bundle.glibc.max(elf.glibc);
            if name.is_empty() {
                name = elf.soname.unwrap_or_else(|| file_name(&path));
            }
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
            if name.starts_with(['.', '-']) || !name.chars().all(is_plain) {
                let error = format!("`{}` cannot be the name of a copy", name.escape_debug());
                return Err(StartError::of_file(&path, error));
            }
            bundle.files.push(BundleFile {
                bytes: content.len() as u64,
                sha256: sha256(&content),
                path,
                name,
            });
        }
        bundle.files.sort_by(|one, two| one.name.cmp(&two.name));
        bundle.files.dedup_by(|one, two| one.name == two.name);
        Ok(bundle)
    }

    /// Returns the manifest.
    #[must_use]
    pub fn manifest(&self) -> String {
        self.files.iter().map(|file| format!("{}  {}\n", file.sha256, file.name)).collect()
    }

    /// Returns the hash of the manifest.
    #[must_use]
    pub fn hash(&self) -> String {
        sha256(self.manifest().as_bytes())
    }

    /// Returns the size of all files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundle_has_the_libraries_beyond_the_c_library_under_their_names() {
        let directory = tempfile::tempdir().expect("a directory");
        let driver = directory.path().join("libddsmark_x@1.so");
        fs::write(&driver, "a driver").expect("a file");
        let libraries: Vec<PathBuf> = control::loaded_libraries().into_iter().map(PathBuf::from).collect();
        let libc = libraries.iter().any(|path| file_name(path).starts_with("libc.so"));
        let gcc = libraries.iter().find(|path| file_name(path).starts_with("libgcc_s")).expect("a library");
        // A library under another file name is copied under the one that programs load.
        let other = directory.path().join("libother.so.1.2.3");
        fs::copy(gcc, &other).expect("a copy");
        let bundle = Bundle::of_driver(&driver, &[libraries.clone(), vec![driver.clone(), other]].concat());
        let bundle = bundle.expect("a bundle");
        let names: Vec<&str> = bundle.files.iter().map(|file| file.name.as_str()).collect();
        assert!(libc && names == ["libddsmark_x@1.so", "libgcc_s.so.1"], "{names:?}");
        let hash = bundle.hash();
        fs::write(&driver, "another driver").expect("a file");
        assert_ne!(Bundle::of_driver(&driver, &libraries).expect("a bundle").hash(), hash);
    }

    #[test]
    fn file_that_is_missing_or_has_a_strange_name_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let strange = directory.path().join("lib x.so");
        fs::write(&strange, "").expect("a file");
        for file in [strange, directory.path().join("missing.so")] {
            let error = Bundle::of_driver(&file, &[]).expect_err("no bundle");
            assert!(error.to_string().starts_with(&format!("cannot read `{}`", file.display())), "{error}");
        }
    }
}
