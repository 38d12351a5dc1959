//! `ddsmark drivers install`: a driver built from sources in the test's directory, without any download.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::support::{Outcome, Scene, drivers, list, root, runs, wait_for};

/// Build of the driver, which takes only the version from its prefix.
const CMAKE: &str = "cmake_minimum_required(VERSION 3.16)
project(ddsmark_fake LANGUAGES C)
if(EXISTS ${CMAKE_PREFIX_PATH}/broken)
  message(FATAL_ERROR \"the middleware is broken\")
endif()
file(STRINGS ${CMAKE_PREFIX_PATH}/version version)
add_library(ddsmark_fake MODULE driver.c loop.c)
target_include_directories(ddsmark_fake PRIVATE INCLUDE)
target_compile_definitions(ddsmark_fake PRIVATE _GNU_SOURCE FAKE_VERSION=\"${version}\")
target_compile_options(ddsmark_fake PRIVATE -fvisibility=hidden)
find_package(Threads REQUIRED)
target_link_libraries(ddsmark_fake PRIVATE Threads::Threads)
if(DDSMARK_VERSION)
  set_target_properties(ddsmark_fake PROPERTIES OUTPUT_NAME ddsmark_fake@${DDSMARK_VERSION})
endif()
";

/// Version 4.0 reports another version, 5.0 cannot be built, and 6.0 never finishes.
const FETCH: &str = r#"#!/bin/sh
set -eu
if [ "$1" = --versions ]; then
  for version in 2.1 1.9 1.10 4.0 5.0 6.0; do printf '%s\tfake package %s\tMIT\topen\n' $version $version; done
  printf '9.0\tfake package 9.0\tthe licence of Fake Ltd\taccept\n'
  exit 0
fi
echo "fake: fetching $1" >&2
prefix=$(dirname "$0")/sdk-$1
mkdir -p "$prefix"
case $1 in
4.0) echo 4.1 >"$prefix/version" ;;
5.0) touch "$prefix/broken" ;;
6.0) touch "$prefix/begun"; sleep 600 ;;
9.0) [ "${DDSMARK_ACCEPT_LICENCE:-}" = 1 ] || { echo 'the licence is not accepted' >&2; exit 1; }; echo 9.0 >"$prefix/version" ;;
*) [ -z "${DDSMARK_ACCEPT_LICENCE:-}" ] || { echo 'there was nothing to accept' >&2; exit 1; }; echo "$1" >"$prefix/version" ;;
esac
echo "$prefix"
"#;

/// Creates a scene with the sources of the driver `fake`, and no installed driver.
fn scene() -> Scene {
    let scene = Scene::new();
    let source = scene.path("sources/fake");
    fs::create_dir_all(&source).expect("a directory");
    fs::create_dir(scene.path("drivers")).expect("a directory");
    let include = root().join("include").display().to_string();
    fs::write(source.join("CMakeLists.txt"), CMAKE.replace("INCLUDE", &include)).expect("a file");
    fs::write(source.join("fetch.sh"), FETCH).expect("a file");
    fs::set_permissions(source.join("fetch.sh"), fs::Permissions::from_mode(0o755)).expect("a file");
    let teaching = root().join("drivers/teaching");
    for file in ["driver.c", "loop.c", "loop.h"] {
        let text = fs::read_to_string(teaching.join(file)).expect("the teaching driver");
        let text = text.replace(".middleware_version = \"0.1.0\"", ".middleware_version = FAKE_VERSION");
        assert!(file != "driver.c" || text.contains("FAKE_VERSION"), "the text of the driver is another one");
        fs::write(source.join(file), text).expect("a file");
    }
    scene
}

fn variables(scene: &Scene) -> [(&'static str, String); 2] {
    [
        ("DDSMARK_DRIVER_PATH", scene.path("drivers").display().to_string()),
        ("DDSMARK_DRIVER_SOURCES", scene.path("sources").display().to_string()),
    ]
}

fn run(scene: &Scene, arguments: &[&str]) -> Outcome {
    let variables = variables(scene);
    let variables = variables.each_ref().map(|(name, value)| (*name, OsStr::new(value)));
    scene.start_with(&variables, "ddsmark", arguments).end()
}

/// Returns the file names of the installed drivers.
fn installed(scene: &Scene) -> Vec<String> {
    let files = fs::read_dir(scene.path("drivers")).expect("the drivers").flatten();
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[track_caller]
fn assert_version(scene: &Scene, driver: &str, version: &str) {
    let outcome = run(scene, &["drivers", "info", driver]);
    outcome.assert_status(0);
    assert!(outcome.stdout.contains(&format!("{version} (from the headers)")), "{}", outcome.stdout);
}

#[test]
fn versions_are_installed_side_by_side_and_a_prefix_selects_the_highest() {
    let scene = scene();
    let outcome = run(&scene, &["drivers", "install", "fake@1"]);
    outcome.assert_status(0);
    for words in
        ["fake@1.10: fake package 1.10, licence MIT", "fake: fetching 1.10", "installed as `fake@1.10` in "]
    {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    assert!(outcome.stdout.contains("1.10 (from the headers)"), "what it says of itself: {}", outcome.stdout);
    run(&scene, &["drivers", "install", "fake@1.9"]).assert_status(0);
    assert_eq!(installed(&scene), ["libddsmark_fake@1.10.so", "libddsmark_fake@1.9.so"]);
    assert_version(&scene, "fake", "1.10");
    assert_version(&scene, "fake@1", "1.10");
    assert_version(&scene, "fake@1.9", "1.9");

    // without a version, the default one
    run(&scene, &["drivers", "install", "fake"]).assert_status(0);
    assert_version(&scene, "fake", "2.1");
    let listed = run(&scene, &["drivers", "list"]);
    listed.assert_status(0);
    let (there, missing) = listed.stdout.split_once("Not installed").expect("what is missing");
    let order = ["fake@2.1", "fake@1.10", "fake@1.9"].map(|name| there.find(name).expect("it is installed"));
    assert!(order.is_sorted(), "the highest first: {there}");
    assert!(missing.contains("fake@4.0") && !missing.contains("fake@1.9"), "{missing}");
    assert!(missing.contains("`ddsmark drivers install NAME@VERSION`"), "{missing}");
    let versions = run(&scene, &["drivers", "versions", "fake"]).stdout;
    let line = |name: &str| {
        versions.lines().find(|line| line.trim_start().starts_with(name)).expect("a line").trim().to_owned()
    };
    assert!(line("fake@1.9").ends_with("yes") && line("fake@9.0").contains("(to be accepted)"), "{versions}");
}

#[test]
fn failed_installation_changes_nothing() {
    let scene = scene();
    run(&scene, &["drivers", "install", "fake@1.9"]).assert_status(0);
    for (driver, words) in [
        ("fake@3", "`fake@3` cannot be fetched: version not found\nhint: available: 2.1, 1.9, 1.10, "),
        ("fake@x", "`fake@x` has an invalid version"),
        ("fake@../x", "`fake@../x` has an invalid version"),
        ("other", "sources of driver `other` not found"),
        ("fake@9", "fake@9.0 has a licence that you must accept first: the licence of Fake Ltd\nhint: "),
    ] {
        let outcome = run(&scene, &["drivers", "install", driver]);
        outcome.assert_status(2);
        assert!(outcome.stderr.contains(words), "{driver}: {}", outcome.stderr);
    }
    for (driver, words) in [
        (
            "fake@4",
            "the new driver was not installed: driver `fake@4.0` loaded version 4.1 of its middleware",
        ),
        ("fake@5", "the middleware is broken"),
        ("fake@5", "error: cannot install driver `fake@5.0`: driver.sh failed (exit status: 1)\nhint: "),
    ] {
        let outcome = run(&scene, &["drivers", "install", driver]);
        outcome.assert_status(3);
        assert!(outcome.stderr.contains(words), "{driver}: {}", outcome.stderr);
    }
    assert_eq!(installed(&scene), ["libddsmark_fake@1.9.so"]);
    assert_version(&scene, "fake@1.9", "1.9");
    let unknown = run(&scene, &["drivers", "info", "fake@2"]);
    unknown.assert_status(2);
    for words in ["hint: available: ", "fake@1.9, ", "`ddsmark drivers install fake@2`"] {
        assert!(unknown.stderr.contains(words), "{}", unknown.stderr);
    }

    run(&scene, &["drivers", "install", "fake@9", "--accept-licence"]).assert_status(0);
    assert_version(&scene, "fake", "9.0");
}

#[test]
fn middleware_under_a_prefix_is_built_against_and_named_by_its_version() {
    let scene = scene();
    let place = |name: &str, version: &str| {
        fs::create_dir(scene.path(name)).expect("a directory");
        fs::write(scene.path(name).join("version"), version).expect("a file");
    };
    place("ros", "3.3.7-2");
    let install =
        |driver: &str, prefix: &str| run(&scene, &["drivers", "install", driver, "--prefix", prefix]);
    install("fake", "ros").assert_status(0);
    install("fake@3.3", "ros").assert_status(0);
    assert_eq!(installed(&scene), ["libddsmark_fake@3.3.7.so"]);
    let other = install("fake@3.4", "ros");
    other.assert_status(2);
    assert!(other.stderr.contains("reports version 3.3.7-2\nhint: "), "{}", other.stderr);
    install("fake", "nowhere").assert_status(2);
    place("nameless", "unknown");
    install("fake", "nameless").assert_status(2);
    install("fake@7", "nameless").assert_status(0);
    assert_eq!(installed(&scene), ["libddsmark_fake@3.3.7.so", "libddsmark_fake@7.so"]);
}

/// The driver is present, but its middleware is not: in a list, in a pair, in a file.
#[test]
fn driver_without_its_middleware_is_rejected_before_the_first_packet() {
    let scene = scene();
    fs::create_dir(scene.path("gone")).expect("a directory");
    fs::write(scene.path("gone/version"), "not installed").expect("a file");
    run(&scene, &["drivers", "install", "fake@8", "--prefix", "gone"]).assert_status(0);
    let file =
        "question = \"?\"\nworkload = \"latency\"\nfactors = { driver = [\"udp\", \"fake@8\"], size = 64 }\n";
    fs::write(scene.path("pinned.toml"), file).expect("a file");
    for arguments in [
        &["characterize", "--driver", "udp,fake@8", "--quick", "--out", "result"][..],
        &["characterize", "--driver", "udp+fake@8", "--quick", "--out", "result"],
        &["run", "./pinned.toml", "--out", "result"],
        &["run", "./pinned.toml", "--dry-run"],
        &["selftest", "--driver", "fake@8", "--quick", "--out", "result"],
        &["drivers", "check", "fake@8"],
    ] {
        let outcome = run(&scene, arguments);
        outcome.assert_status(2);
        for words in [
            "the middleware of driver `fake@8` is not installed",
            "\nhint: install it with `ddsmark drivers install fake@8`",
        ] {
            assert!(outcome.stderr.contains(words), "{arguments:?}: {}", outcome.stderr);
        }
        assert!(!scene.path("result").exists(), "{arguments:?}");
    }
    run(&scene, &["drivers", "info", "fake@8"]).assert_status(0);
}

/// A library built without its middleware, next to versions that have theirs.
#[test]
fn installed_version_is_preferred_to_a_driver_without_middleware() {
    let scene = scene();
    fs::create_dir(scene.path("gone")).expect("a directory");
    fs::write(scene.path("gone/version"), "not installed").expect("a file");
    run(&scene, &["drivers", "install", "fake@8", "--prefix", "gone"]).assert_status(0);
    let [plain, empty] =
        ["fake", "fake@8"].map(|name| scene.path("drivers").join(format!("libddsmark_{name}.so")));
    fs::copy(&empty, &plain).expect("a file");
    let missing = |names: &[&str]| {
        for name in names {
            let checked = run(&scene, &["drivers", "check", name, "--case", "describe"]);
            checked.assert_status(2);
            let hint = format!(
                "hint: install it with `ddsmark drivers install {name}`, and `--accept-licence` if required"
            );
            assert!(checked.stderr.contains(&hint), "{}", checked.stderr);
        }
    };
    missing(&["fake", "fake@8"]);
    for version in ["1.9", "1.10"] {
        run(&scene, &["drivers", "install", &format!("fake@{version}")]).assert_status(0);
    }
    assert_version(&scene, "fake", "1.10");
    assert_version(&scene, "fake@1.9", "1.9");
    run(&scene, &["drivers", "check", "fake", "--case", "describe"]).assert_status(0);
    missing(&["fake@8"]);
    // a plan that names the driver, and a plan that names no driver
    let file = "question = \"?\"\nworkload = \"latency\"\nfactors.driver = \"fake\"\n";
    fs::write(scene.path("pinned.toml"), file).expect("a file");
    let outcome = run(&scene, &["run", "./pinned.toml", "--dry-run"]);
    let words = "driver `fake` cannot be measured: it does not reach from one process to another";
    assert!(outcome.stderr.contains(words), "it is installed: {}", outcome.stderr);
    let outcome = run(&scene, &["run", "smoke", "--dry-run"]);
    assert!(
        !outcome.stderr.contains("driver `fake` excluded: its middleware is not installed"),
        "{}",
        outcome.stderr
    );
}

/// Returns every file of a result, with its content.
fn files_of(result: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(result).expect("a result").flatten() {
        if entry.path().is_dir() {
            files.extend(files_of(&entry.path()));
        } else {
            files.insert(entry.path(), fs::read(entry.path()).expect("a file"));
        }
    }
    files
}

/// An experiment cannot be resumed without a driver that was removed, or that lost its middleware.
#[test]
fn resume_is_rejected_while_a_planned_driver_is_missing() {
    let scene = scene();
    let (udp, mine) = (drivers().join("libddsmark_udp.so"), scene.path("drivers/libddsmark_mine.so"));
    fs::copy(&udp, &mine).expect("a file");
    let file = "question = \"?\"\nworkload = \"latency\"\nfactors = { driver = \"mine\", size = 64 }\n\
                design = { blocks = 8, warm_up = \"0s\", measure = \"100ms\" }\n";
    fs::write(scene.path("pinned.toml"), file).expect("a file");
    let environment = variables(&scene);
    let environment = environment.each_ref().map(|(name, value)| (*name, OsStr::new(value)));
    let begun = scene.start_with(&environment, "ddsmark", &["run", "./pinned.toml", "--out", "result"]);
    wait_for("the first run", || scene.path("result/runs/0001.json").exists().then_some(()));
    begun.signal("INT");
    begun.end().assert_status(130);
    let result = scene.path("result");
    let before = files_of(&result);
    let rejected = |words: [&str; 2]| {
        for arguments in [&["run", "--resume", "result"][..], &["run", "--resume", "result", "--force"]] {
            let outcome = run(&scene, arguments);
            outcome.assert_status(2);
            assert!(words.iter().all(|words| outcome.stderr.contains(words)), "{}", outcome.stderr);
            assert!(files_of(&result) == before, "the result is another one");
        }
    };
    fs::remove_file(&mine).expect("the driver");
    rejected(["error: unknown driver `mine`\n", "\nhint: "]);

    fs::create_dir(scene.path("gone")).expect("a directory");
    fs::write(scene.path("gone/version"), "not installed").expect("a file");
    run(&scene, &["drivers", "install", "fake@8", "--prefix", "gone"]).assert_status(0);
    fs::copy(scene.path("drivers/libddsmark_fake@8.so"), &mine).expect("a file");
    rejected([
        "error: the middleware of driver `mine` is not installed\n",
        "\nhint: install it with `ddsmark drivers install mine`",
    ]);

    fs::copy(&udp, &mine).expect("a file");
    let outcome = run(&scene, &["run", "--resume", "result", "--json"]);
    outcome.assert_status(0);
    let document = outcome.document();
    let runs = runs(&document);
    assert_eq!((document["state"].as_str(), runs.len()), (Some("complete"), 8));
    assert!(runs.iter().all(|run| run["state"] == "valid"), "{runs:#?}");
}

#[test]
fn interrupted_installation_leaves_nothing() {
    let scene = scene();
    let outcome = run(&scene, &["drivers", "install", "fake@6", "--limit", "300ms"]);
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("fetch.sh timed out after 0.3 s\nhint: "), "{}", outcome.stderr);

    fs::remove_file(scene.path("sources/fake/sdk-6.0/begun")).expect("a file");
    let variables = variables(&scene);
    let variables = variables.each_ref().map(|(name, value)| (*name, OsStr::new(value)));
    let install = scene.start_with(&variables, "ddsmark", &["drivers", "install", "fake@6"]);
    wait_for("the start of fetching", || scene.path("sources/fake/sdk-6.0/begun").exists().then_some(()));
    install.signal("INT");
    let outcome = install.end();
    outcome.assert_status(130);
    assert!(outcome.stderr.contains("interrupted: nothing was installed"), "{}", outcome.stderr);
    assert_eq!(installed(&scene), Vec::<String>::new());
    // the scene checks that no process is left
}

/// The drivers of `make drivers`, by both of their names.
#[test]
fn default_driver_is_found_by_its_version_and_listed_once() {
    let scene = Scene::new();
    let listed = scene.ddsmark(&["drivers", "list"]);
    listed.assert_status(0);
    for driver in ["cyclonedds", "fastdds"] {
        let link = drivers().join(format!("libddsmark_{driver}.so"));
        let file = fs::read_link(&link)
            .unwrap_or_else(|error| panic!("{}: {error}\nhint: `make drivers`", link.display()));
        let file = file.to_str().expect("a name");
        let version =
            file.strip_prefix("libddsmark_").and_then(|file| file.strip_suffix(".so")).expect("a driver");
        assert!(version.starts_with(&format!("{driver}@")), "{version}");
        let [by_name, by_version] = [driver, version].map(|name| {
            let info = scene.ddsmark(&["drivers", "info", name]);
            info.assert_status(0);
            info.stdout
        });
        assert_eq!(by_name, by_version);
        let lines =
            |name| listed.stdout.lines().filter(|line| line.split_whitespace().next() == Some(name)).count();
        assert_eq!((lines(driver), lines(version)), (1, 0), "{}", listed.stdout);
    }
}

#[test]
fn two_versions_are_cells_of_one_experiment() {
    let scene = scene();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").expect("the kernel's version");
    let major = kernel.split('.').next().expect("a number");
    // one driver under two names: the test is about telling them apart
    for name in ["udp".to_owned(), format!("udp@{major}")] {
        let file = scene.path("drivers").join(format!("libddsmark_{name}.so"));
        fs::copy(drivers().join("libddsmark_udp.so"), file).expect("a file");
    }
    let (one, two) = (format!("udp@{major}"), "udp");
    let selected = format!("{one},{two}");
    let outcome = run(
        &scene,
        &[
            "characterize",
            "--driver",
            &selected,
            "--size",
            "64",
            "--workload",
            "latency",
            "--quick",
            "--json",
            "--out",
            "a",
        ],
    );
    outcome.assert_status(0);
    let document = outcome.document();
    let ids: Vec<_> =
        list(&document["cells"]).iter().map(|cell| cell["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, [format!("{one}/udp4/latency/64"), "udp/udp4/latency/64".to_owned()]);
    for (cell, driver) in list(&document["cells"]).iter().zip([one.as_str(), two]) {
        assert_eq!(cell["factors"]["driver"], driver);
        assert!(list(&cell["runs"]).iter().all(|run| run["state"] == "valid"), "{cell}");
        let version = document["drivers"][driver]["middleware_version"].as_str().expect("a version");
        assert!(kernel.trim_end().starts_with(version.trim_end()), "{version}");
    }
    let (one, two) = (format!("a:{one}/*"), format!("a:{two}/*"));
    let compared = run(&scene, &["compare", &two, &one, "--factor", "driver", "--json"]);
    compared.assert_status(0);

    // a file name with another version than that of its library is rejected before anything is sent
    let wrong = scene.path("drivers/libddsmark_udp@999.so");
    fs::copy(drivers().join("libddsmark_udp.so"), &wrong).expect("a file");
    let outcome = run(&scene, &["characterize", "--driver", "udp@999", "--out", "b"]);
    outcome.assert_status(3);
    assert!(outcome.stderr.contains("error: driver `udp@999` loaded version "), "{}", outcome.stderr);
    assert!(!Path::new(&scene.path("b")).exists());
}
