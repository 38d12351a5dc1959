//! Paths in the tree and its build directory.

use std::path::{Path, PathBuf};

/// Returns the root of the tree.
pub fn root() -> PathBuf {
    let mut path = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
    path.pop();
    path.pop();
    path
}

/// Returns the directory of the optimized programs.
pub fn release_programs() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release")
}
