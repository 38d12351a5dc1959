//! Errors of files that are not drivers, each with a file compiled for the test.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use driver_host::{Driver, LoadError};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    /// Compiles a shared library.
    fn library(&self, name: &str, code: &str) -> PathBuf {
        let (source, library) =
            (self.0.path().join(format!("{name}.c")), self.0.path().join(format!("{name}.so")));
        std::fs::write(&source, format!("#include <ddsmark/driver.h>\n#include <stddef.h>\n{code}"))
            .expect("written");
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
        let status = Command::new("cc")
            .args(["-std=c11", "-shared", "-fPIC", "-I"])
            .arg(include)
            .arg(&source)
            .arg("-o")
            .arg(&library)
            .status()
            .expect("the C compiler runs");
        assert!(status.success());
        library
    }
}

fn refusal(path: &Path) -> String {
    let error = Driver::load(path).expect_err("refused");
    assert!(!error.hint().is_empty());
    error.to_string()
}

#[test]
fn a_file_that_is_missing() {
    let error = Driver::load(Path::new("/nowhere/libddsmark_x.so")).expect_err("refused");
    assert!(matches!(error, LoadError::Missing(_)), "{error}");
}

#[test]
fn a_file_that_is_no_library() {
    let files = Files::new();
    let path = files.0.path().join("text.so");
    std::fs::write(&path, "not a library").expect("written");
    let words = refusal(&path);
    assert!(words.contains("cannot be loaded as a shared library"), "{words}");
}

#[test]
fn a_library_that_is_no_driver() {
    let files = Files::new();
    let words = refusal(&files.library("other", "int other(void) { return 1; }"));
    assert!(words.contains("is not a driver: it does not export `ddsmark_driver_entry`"), "{words}");
}

#[test]
fn a_driver_of_another_version() {
    let files = Files::new();
    let code = "static const ddsmark_driver table = {.abi_version = 99, .struct_size = 8};
                const ddsmark_driver *ddsmark_driver_entry(void) { return &table; }";
    let words = refusal(&files.library("future", code));
    assert!(words.contains("has ABI version 99; this ddsmark knows version 1"), "{words}");
}

#[test]
fn a_table_that_is_absent_short_or_has_holes() {
    let files = Files::new();
    let cases = [
        ("null", "const ddsmark_driver *ddsmark_driver_entry(void) { return NULL; }", "returns no table"),
        (
            "short",
            "static const ddsmark_driver table = {.abi_version = 1, .struct_size = 100};
             const ddsmark_driver *ddsmark_driver_entry(void) { return &table; }",
            "its table is cut short",
        ),
        (
            "holes",
            "static const ddsmark_driver table = {.abi_version = 1, .struct_size = sizeof(ddsmark_driver)};
             const ddsmark_driver *ddsmark_driver_entry(void) { return &table; }",
            "`describe` is NULL",
        ),
    ];
    for (name, code, expected) in cases {
        let words = refusal(&files.library(name, code));
        assert!(words.contains("breaks the contract") && words.contains(expected), "{words}");
    }
}
