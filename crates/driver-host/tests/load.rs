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
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let status = Command::new("cc")
            .args(["-std=gnu11", "-D_GNU_SOURCE", "-pthread", "-shared", "-fPIC", "-I"])
            .arg(root.join("include"))
            .arg("-I")
            .arg(root.join("drivers/teaching"))
            .arg(&source)
            .arg("-o")
            .arg(&library)
            .status()
            .expect("the C compiler runs");
        assert!(status.success());
        library
    }
}

fn load_error(path: &Path) -> String {
    let error = Driver::load(path).expect_err("refused");
    assert!(!error.hint().is_empty());
    error.to_string()
}

#[test]
fn missing_file_is_rejected() {
    let error = Driver::load(Path::new("/nowhere/libddsmark_x.so")).expect_err("refused");
    assert!(matches!(error, LoadError::Missing(_)), "{error}");
}

#[test]
fn file_that_is_not_a_library_is_rejected() {
    let files = Files::new();
    let path = files.0.path().join("text.so");
    std::fs::write(&path, "not a library").expect("written");
    let message = load_error(&path);
    assert!(message.contains("as a shared library"), "{message}");
}

#[test]
fn library_without_entry_is_rejected() {
    let files = Files::new();
    let message = load_error(&files.library("other", "int other(void) { return 1; }"));
    assert!(message.contains("is not a driver: it does not export `ddsmark_driver_entry`"), "{message}");
}

#[test]
fn driver_of_another_abi_version_is_rejected() {
    let files = Files::new();
    for version in [0, driver_abi::ABI_VERSION - 1, driver_abi::ABI_VERSION + 1, 99] {
        let code = format!(
            "static const ddsmark_driver table = {{.abi_version = {version}, .struct_size = 8}};
             const ddsmark_driver *ddsmark_driver_entry(void) {{ return &table; }}"
        );
        let error = Driver::load(&files.library(&format!("v{version}"), &code)).expect_err("rejected");
        assert!(matches!(error, LoadError::Version { found, .. } if found == version), "{error}");
        let text =
            format!("has ABI version {version}; this ddsmark supports version {}", driver_abi::ABI_VERSION);
        assert!(error.to_string().contains(&text), "{error}");
        assert!(error.hint().contains("rebuild the driver"), "{}", error.hint());
    }
}

/// Code of the teaching driver, with a table and a description of other sizes.
const RESIZED: &str = "
    #define ddsmark_driver_entry teaching_entry
    #include \"driver.c\"
    #undef ddsmark_driver_entry
    #include \"loop.c\"
    static struct { ddsmark_driver driver; void *later[8]; } table;
    static struct { ddsmark_description present; void *later[8]; } described;
    static const ddsmark_description *describe_resized(void) { return &described.present; }
    DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void) {
      for (unsigned i = 0; i < 8; i++)
        table.later[i] = described.later[i] = &table;
      table.driver = *teaching_entry();
      described.present = *teaching_entry()->describe();
      table.driver.describe = describe_resized;
      CHANGE;
      return &table.driver;
    }
";

#[test]
fn longer_tables_are_accepted_and_shorter_ones_rejected() {
    let files = Files::new();
    let resized =
        |name: &str, change: &str| Driver::load(&files.library(name, &RESIZED.replace("CHANGE", change)));
    for (name, change) in [
        ("present", ""),
        ("longer", "table.driver.struct_size = sizeof table"),
        ("longer_description", "described.present.struct_size = sizeof described"),
    ] {
        let driver = resized(name, change).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(driver.description().name, "teaching");
    }
    for (name, change, expected) in [
        ("shorter", "table.driver.struct_size = sizeof table.driver - 1", "its table is cut short"),
        (
            "shorter_description",
            "described.present.struct_size = sizeof described.present - 1",
            "describe(): is cut short",
        ),
    ] {
        let error = resized(name, change).expect_err("rejected").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn incomplete_tables_are_rejected() {
    let files = Files::new();
    let cases = [
        (
            "null",
            "const ddsmark_driver *ddsmark_driver_entry(void) { return NULL; }",
            "its entry returned NULL",
        ),
        (
            "short",
            "static const ddsmark_driver table = {.abi_version = DDSMARK_ABI_VERSION, .struct_size = 100};
             const ddsmark_driver *ddsmark_driver_entry(void) { return &table; }",
            "its table is cut short",
        ),
        (
            "holes",
            "static const ddsmark_driver table = {.abi_version = DDSMARK_ABI_VERSION, .struct_size = sizeof(ddsmark_driver)};
             const ddsmark_driver *ddsmark_driver_entry(void) { return &table; }",
            "`describe` is NULL",
        ),
    ];
    for (name, code, expected) in cases {
        let message = load_error(&files.library(name, code));
        assert!(message.contains("violates the contract") && message.contains(expected), "{message}");
    }
}
