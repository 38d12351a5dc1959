//! `ddsmark drivers install` on hosts that lack something: a tool, a permission, space, a driver.

use std::{env, fs, os::unix::fs::symlink, path::Path};

use crate::support::Sandbox;

/// Programs that every system has.
const BASE: &[&str] = &["bash", "sh", "mkdir", "cat", "dirname", "grep"];

/// Returns a place in which only these programs are in the search path, besides those that every system has.
fn with_programs(programs: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let directory = sandbox.path("bin");
    fs::create_dir(&directory).expect("a directory can be made");
    let path = env::var_os("PATH").expect("a search path");
    for program in BASE.iter().chain(programs) {
        let file =
            env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file());
        symlink(file.expect("the program is installed"), directory.join(program))
            .expect("a link can be made");
    }
    let own = sandbox.path("own").display().to_string();
    sandbox.with("PATH", &directory.display().to_string()).with("DDSMARK_DRIVER_PATH", &own)
}

#[test]
fn missing_build_tools_are_named_with_their_packages() {
    for (programs, driver, missing, hint) in [
        (&[][..], "udp", "cargo", "install a Rust toolchain: https://rustup.rs"),
        (&["cargo"], "udp", "cc", "apt-get install -y gcc libc6-dev"),
        (&[], "teaching", "cmake", "apt-get install -y cmake"),
        (&["cmake"], "teaching", "cc", "apt-get install -y gcc libc6-dev"),
        (&["cmake", "cc"], "teaching", "make", "apt-get install -y make"),
    ] {
        let output = with_programs(programs).run(&["drivers", "install", driver]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        let words =
            format!("error: cannot build driver {driver}: `{missing}` is not in PATH\nhint: {hint}\n");
        assert!(stderr.contains(&words), "{stderr}");
    }
}

/// Runs ddsmark with its drivers in a file system of its own, mounted with these options.
fn mounted(options: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let own = sandbox.path("small");
    fs::create_dir(&own).expect("a directory can be made");
    let script = format!("mount -t tmpfs -o {options} none small && exec \"$@\"");
    sandbox.with("DDSMARK_DRIVER_PATH", &own.display().to_string()).inside(&[
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        &script,
        "sh",
    ])
}

#[test]
fn a_directory_of_drivers_that_cannot_be_written_to() {
    mounted("ro,size=1m").snapshot("install-read-only", &["drivers", "install", "teaching"]);
}

#[test]
fn a_directory_of_drivers_that_is_full() {
    let output = mounted("size=64k").run(&["drivers", "install", "teaching"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    let last: Vec<&str> = stderr.lines().rev().take(2).collect();
    assert!(last[1].starts_with("error: cannot install driver `teaching`: only "), "{stderr}");
    assert!(last[0].starts_with("hint: free some space, or set DDSMARK_DRIVER_PATH"), "{stderr}");
}

#[test]
fn a_driver_or_sources_that_do_not_exist() {
    let output = Sandbox::new().run(&["drivers", "install", "nonesuch"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: sources of driver `nonesuch` not found in "), "{stderr}");
    assert!(stderr.contains("\nhint: available: ") && stderr.contains("udp"), "{stderr}");
    Sandbox::new().snapshot("install-no-sources", &["drivers", "install", "udp", "--sources", "nowhere"]);
}

/// A copy of the programs alone finds neither drivers nor sources beside it; the sources are those it was built from.
#[test]
fn without_any_driver_the_hint_installs_one() {
    let sandbox = Sandbox::new();
    let programs = Path::new(env!("CARGO_BIN_EXE_ddsmark")).parent().expect("a program lies in a directory");
    fs::create_dir_all(sandbox.path("alone/bin")).expect("a directory can be made");
    for program in ["ddsmark", "ddsmark-agent"] {
        fs::copy(programs.join(program), sandbox.path("alone/bin").join(program))
            .expect("a file can be copied");
    }
    let program = sandbox.path("alone/bin/ddsmark").display().to_string();
    let (home, run) =
        (sandbox.path("home").display().to_string(), |sandbox: &Sandbox, arguments: &[&str]| {
            sandbox.command(arguments).output().expect("ddsmark runs")
        });
    let sandbox = sandbox.with("DDSMARK_DRIVER_PATH", "").with("XDG_DATA_HOME", &home).inside(&[
        "sh",
        "-c",
        "program=$1; shift 2; exec \"$program\" \"$@\"",
        "sh",
        &program,
    ]);
    let output = run(&sandbox, &["latency", "--driver", "teaching"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let hint = "hint: no driver is installed; build it with `ddsmark drivers install teaching`";
    assert!(stderr.contains(hint), "{stderr}");
    let output = run(&sandbox, &["drivers", "install", "teaching"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(sandbox.path("home/ddsmark/drivers/libddsmark_teaching.so").is_file(), "for this user: {stderr}");
    let output = run(&sandbox, &["drivers", "info", "teaching"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
