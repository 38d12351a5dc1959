//! Builds drivers from C sources.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the directory of this crate's tests.
pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Builds a driver from this source against the header in `include`, and returns the library.
pub fn compile(directory: &Path, name: &str, source: &Path, include: &Path, arguments: &[&str]) -> PathBuf {
    let library = directory.join(format!("libddsmark_{name}.so"));
    let status = Command::new("cc")
        .args(["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", "-shared", "-fPIC"])
        .args(["-fvisibility=hidden", "-I"])
        .arg(include)
        .args(arguments)
        .arg(source)
        .arg("-o")
        .arg(&library)
        .status()
        .expect("the C compiler runs");
    assert!(status.success(), "{name} does not compile");
    library
}
