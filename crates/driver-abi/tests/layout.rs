//! Compares the mirror with the header: a C program, compiled here, prints every size, offset and constant.
use std::{collections::BTreeMap, path::Path, process::Command};

/// Returns the C expressions, with the values that they have in Rust.
fn rust_side() -> BTreeMap<String, i64> {
    let mut rows = BTreeMap::new();
    for (name, size, fields) in driver_abi::STRUCTS {
        rows.insert(format!("sizeof(ddsmark_{name})"), *size as i64);
        let offset =
            |(field, offset): &(&str, usize)| (format!("offsetof(ddsmark_{name}, {field})"), *offset as i64);
        rows.extend(fields.iter().map(offset));
    }
    rows.extend(driver_abi::CONSTANTS.iter().map(|(name, value)| (format!("DDSMARK_{name}"), *value)));
    rows
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the C compiler runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn header_and_mirror_have_the_same_layout() {
    let expected = rust_side();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (source, program) = (directory.path().join("layout.c"), directory.path().join("layout"));
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let mut text = String::from(
        "#include <ddsmark/driver.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    for name in expected.keys() {
        text += &format!("  printf(\"%s=%lld\\n\", \"{name}\", (long long)({name}));\n");
    }
    text += "  return 0;\n}\n";
    std::fs::write(&source, text).expect("written");
    run(Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(&include)
        .arg(&source)
        .arg("-o")
        .arg(&program));
    let printed: BTreeMap<String, i64> = run(&mut Command::new(&program))
        .lines()
        .filter_map(|line| line.rsplit_once('='))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect();
    assert_eq!(printed, expected);
}

#[test]
fn no_constant_of_the_header_is_missing_here() {
    let header =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ddsmark/driver.h"))
            .expect("header");
    let known = rust_side();
    // `enum { DDSMARK_A = 0, DDSMARK_B = 1 };`, on one line or several
    let constants = header
        .split(['{', ',', '\n'])
        .filter_map(|piece| piece.trim().strip_prefix("DDSMARK_")?.split_once(" = "));
    let mut seen = 0;
    for (name, _) in constants {
        seen += 1;
        assert!(known.contains_key(&format!("DDSMARK_{name}")), "DDSMARK_{name} is in the header only");
    }
    assert!(seen > 80, "only {seen} constants were found in the header: is this test reading it right?");
}

#[test]
fn header_compiles_as_cpp() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("header.cpp");
    std::fs::write(&source, "#include <ddsmark/driver.h>\n").expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    run(Command::new("c++")
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(include)
        .arg(source));
}
