//! Drivers from C sources, built by the tests that try them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The tests of this crate.
pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A driver from this source, against the header that lies in `include`.
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
