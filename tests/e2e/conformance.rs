//! `ddsmark drivers check`: the drivers of this tree keep the contract, and one that takes its process down, or hangs,
//! costs one case.

use std::{path::Path, process::Command};

use crate::support::{Outcome, Scene, count, list, root};

/// The teaching driver with one lie, see `crates/conformance/tests/liar.c`, or with code of its own put before it.
fn liar(scene: &Scene, lie: &str, code: &str) -> String {
    let source = scene.path(&format!("{lie}.c"));
    let liar = root().join("crates/conformance/tests/liar.c");
    std::fs::write(&source, format!("#include \"{}\"\n{code}", liar.display())).expect("a file");
    compile(scene, lie, &source, &root().join("include"), &format!("-DLIE={lie}"))
}

/// A driver from this source, against the header that lies in `include`.
fn compile(scene: &Scene, name: &str, source: &Path, include: &Path, define: &str) -> String {
    let library = scene.path(&format!("{name}.so"));
    let output = Command::new("cc")
        .args(["-std=gnu11", "-D_GNU_SOURCE", "-pthread", "-shared", "-fPIC", define, "-I"])
        .arg(include)
        .arg(source)
        .arg("-o")
        .arg(&library)
        .output()
        .expect("the C compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library.display().to_string()
}

/// The line of the table for this case.
#[track_caller]
fn line<'a>(outcome: &'a Outcome, case: &str) -> &'a str {
    let mut lines = outcome.stdout.lines();
    lines.find(|line| line.trim_start().starts_with(case)).unwrap_or_else(|| panic!("{outcome:?}"))
}

#[test]
fn the_drivers_of_this_tree_keep_the_contract() {
    let scene = Scene::new();
    for driver in ["udp", "cyclonedds"] {
        let outcome = scene.ddsmark(&["drivers", "check", driver]);
        outcome.assert_status(0);
        assert!(line(&outcome, "delivery").contains("pass"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains(" 0 failed"), "{}", outcome.stdout);
    }
}

#[test]
fn a_driver_that_was_built_for_version_1_of_the_contract_is_measured() {
    let scene = Scene::new();
    let frozen = root().join("crates/conformance/tests/abi-v1");
    let driver = compile(&scene, "libddsmark_frozen", &frozen.join("driver.c"), &frozen, "-DNDEBUG");
    let outcome = scene.ddsmark(&["characterize", "--driver", &driver, "--quick", "--size", "64", "--json"]);
    outcome.assert_status(0);
    let document = outcome.document();
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 2, "latency and throughput");
    for run in cells.iter().flat_map(|cell| list(&cell["runs"])) {
        assert_eq!(run["state"], "valid", "{run:#}");
        assert!(count(&list(&run["counted"])[0]["delivered"]) > 0, "{run:#}");
    }
}

#[test]
fn a_broken_promise_is_told_with_what_was_found() {
    let scene = Scene::new();
    let driver = liar(&scene, "shortens_keys", "");
    let outcome = scene.ddsmark(&["drivers", "check", &driver, "--case", "keys,settings"]);
    outcome.assert_status(1);
    assert!(outcome.stdout.contains("1 passed, 1 failed, 0 not applicable"), "{}", outcome.stdout);
    assert!(line(&outcome, "settings").contains("pass"), "{}", outcome.stdout);
    assert!(line(&outcome, "keys").contains("FAIL"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("  promised: the key of a keyed sample arrives as written"));
    assert!(outcome.stdout.contains("  found: key 16909060 arrived as 4"), "{}", outcome.stdout);
}

#[test]
fn a_driver_that_hangs_crashes_or_exits_costs_the_case() {
    let scene = Scene::new();
    let overriding = |name: &str, body: &str| {
        let code = "static ddsmark_status BODY(ddsmark_reader *r, uint64_t t, uint32_t m, ddsmark_sink s, void *c, \
                    uint32_t *n) { (void)r, (void)t, (void)m, (void)s, (void)c, (void)n; BODY_IS; return DDSMARK_OK; }\n"
            .replace("BODY_IS", body)
            .replace("BODY", &format!("{name}_now"));
        liar(
            &scene,
            name,
            &format!("{code}static void {name}(void) {{ lying.reader_receive = {name}_now; }}\n"),
        )
    };
    for (driver, expected) in [
        (liar(&scene, "waits_when_polled", ""), "found: no answer within 3 s"),
        (overriding("crashes", "abort()"), "found: the agent's process was killed by signal 6 (SIGABRT)"),
        (overriding("exits", "exit(0)"), "found: the agent's process exited with status 0"),
    ] {
        let outcome = scene.ddsmark(&[
            "drivers",
            "check",
            &driver,
            "--limit",
            "3s",
            "--case",
            "describe,receive-polling,settings",
        ]);
        outcome.assert_status(1);
        assert!(outcome.stdout.contains("2 passed, 1 failed"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains(expected), "{expected}:\n{}", outcome.stdout);
    }
}

#[test]
fn what_cannot_be_loaded_or_named_is_refused() {
    let scene = Scene::new();
    std::fs::write(scene.path("text.so"), "not a library").expect("a file");
    let outcome = scene.ddsmark(&["drivers", "check", "./text.so"]);
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("cannot be loaded as a shared library"), "{}", outcome.stderr);
    let outcome = scene.ddsmark(&["drivers", "check", "udp", "--case", "nonesuch"]);
    outcome.assert_status(2);
    assert!(outcome.stderr.contains("hint: cases are describe, "), "{}", outcome.stderr);
}
