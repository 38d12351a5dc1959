//! The user's own configuration: QoS files, presets, XML profiles, and configurations in the environment.

use std::{ffi::OsStr, fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::{Outcome, Scene, blocks, list, root};

/// Returns an experiment with these lines in `[factors]`, and more tables.
fn experiment(factors: &str, tables: &str) -> String {
    format!(
        "question = \"?\"\nworkload = \"latency\"\n[factors]\nsize = 64\n{factors}\n{tables}\n\
         [design]\nwarm_up = \"20ms\"\nmeasure = \"60ms\"\n"
    )
}

fn run(scene: &Scene, text: &str) -> Outcome {
    fs::write(scene.path("mine.toml"), text).expect("a file");
    scene.run_blocks("mine.toml")
}

/// Runs an experiment, and returns its document.
#[track_caller]
fn document(scene: &Scene, text: &str) -> Value {
    let outcome = run(scene, text);
    outcome.assert_status(0);
    let document = outcome.document();
    let runs = list(&document["cells"]).iter().flat_map(|cell| list(&cell["runs"]));
    runs.for_each(|run| assert_eq!(run["state"], "valid", "{run:#}"));
    document
}

#[track_caller]
fn assert_rejected(outcome: &Outcome, texts: &[&str]) {
    outcome.assert_status(2);
    for text in texts {
        assert!(outcome.stderr.contains(text), "`{text}` is missing: {}", outcome.stderr);
    }
}

#[test]
fn profiles_of_a_file_and_presets_are_effective() {
    let scene = Scene::new();
    let file = root().join("crates/experiment/tests/files/robot.xml");
    fs::copy(file, scene.path("robot.xml")).expect("a file");
    let factors =
        "driver = [\"cyclonedds\", \"fastdds\"]\nprofile = [\"robot.xml#Robots::Arm\", \"ros2:sensor_data\"]";
    let document = document(&scene, &experiment(factors, ""));
    let cells = list(&document["cells"]);
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let (writer, reader) = (&cell["effective_qos"]["writer"], &cell["effective_qos"]["reader"]);
        let id = cell["id"].as_str().expect("an id");
        if id.ends_with("/Arm") {
            // Only readers of Cyclone DDS have limits.
            let of_writer = if id.starts_with("cyclonedds") { Value::Null } else { 100.into() };
            assert_eq!((&writer["history_depth"], &writer["max_samples"]), (&9.into(), &of_writer), "{id}");
            assert_eq!(writer["max_blocking_ns"], 2_000_000_005_u64, "{id}");
            assert_eq!(
                (&reader["history"], &reader["reliability"]),
                (&"keep_all".into(), &"reliable".into())
            );
        } else {
            assert!(id.ends_with("/ros2-sensor-data"), "{id}");
            for end in [writer, reader] {
                assert_eq!((&end["history_depth"], &end["reliability"]), (&5.into(), &"best_effort".into()));
            }
        }
    }
    let notes = document["experiment"]["notes"].to_string();
    assert!(
        notes.contains("not applied") && notes.contains("datawriter_qos/protocol/push_on_write"),
        "{notes}"
    );
    let hash = results::sha256(&fs::read(scene.path("robot.xml")).expect("the file"));
    assert!(notes.contains(&hash), "{notes}");

    fs::write(scene.path("robot.xml"), "<dds>\n<qos_library></dds>").expect("a file");
    let broken = scene.ddsmark(&["run", "mine.toml", "--dry-run"]);
    assert_rejected(&broken, &["mine.toml:6:12: QoS file `robot.xml`: 2:", "hint: write well-formed XML"]);
}

/// Profiles of a writer with these policies.
fn fast_profiles(writer: &str) -> String {
    format!(
        "<dds xmlns=\"http://www.eprosima.com\"><profiles>\
         <data_writer profile_name=\"w\" is_default_profile=\"true\">{writer}</data_writer></profiles></dds>"
    )
}

const ASYNC: &str = "<qos><publishMode><kind>ASYNCHRONOUS</kind></publishMode></qos>";
const DEPTH: &str = "<topic><historyQos><kind>KEEP_LAST</kind><depth>5</depth></historyQos></topic>";

#[test]
fn fast_dds_runs_with_the_profiles_of_a_file_or_rejects_it() {
    let scene = Scene::new();
    let place = scene.path("fast.xml");
    let write = |text: &str| fs::write(&place, text).expect("a file");
    let path = place.display();
    let by_variable = format!("driver = \"fastdds\"\nenv.FASTDDS_DEFAULT_PROFILES_FILE = \"{path}\"");
    let by_option = format!("[options.fastdds]\nprofiles_file = \"{path}\"");
    let qos = "[qos.writer]\nhistory = \"keep_last\"\nhistory_depth = 5";
    write(&fast_profiles(&format!("{DEPTH}{ASYNC}")));
    for text in
        [experiment(&by_variable, qos), experiment("driver = \"fastdds\"", &format!("{by_option}\n{qos}"))]
    {
        fs::remove_dir_all(scene.path("result")).ok();
        let document = document(&scene, &text);
        let cell = &document["cells"][0];
        assert_eq!(cell["effective_qos"]["writer"]["history_depth"], 5);
        for agent in list(&cell["runs"][0]["endpoints"]) {
            let settings = &agent["settings"];
            assert_eq!(settings["participant"]["profiles_applied"], "writer", "{settings:#}");
            assert_eq!(settings["writer"]["publish_mode"], "async", "{settings:#}");
        }
        // the content of the file is recorded, not only its path
        let hash = results::sha256(&fs::read(&place).expect("the file"));
        assert!(document["hosts"][0]["environment"]["fields"].to_string().contains(&hash));
    }
    fs::remove_dir_all(scene.path("result")).ok();
    let rejected = run(&scene, &experiment(&by_variable, ""));
    assert_rejected(&rejected, &["sets history of the writer", "hint: request the same value"]);
    write(&fast_profiles("<qos><noSuchPolicy/></qos>"));
    assert_rejected(&run(&scene, &experiment(&by_variable, "")), &["cannot load profiles file", "hint: "]);
    fs::remove_file(&place).expect("the file");
    assert_rejected(&run(&scene, &experiment(&by_variable, "")), &["cannot load profiles file", "hint: "]);
}

fn cyclone_configuration(domain: &str, message: u32) -> String {
    format!(
        "<CycloneDDS><Domain Id=\"{domain}\"><General><MaxMessageSize>{message}B</MaxMessageSize></General></Domain>\
         </CycloneDDS>"
    )
}

#[test]
fn files_of_a_variable_are_compared_within_and_between_results() {
    let scene = Scene::new();
    let uri = |name: &str| format!("file://{}", scene.path(name).display());
    for (name, message) in [("a.xml", 9000), ("b.xml", 65500)] {
        fs::write(scene.path(name), cyclone_configuration("any", message)).expect("a file");
    }
    let factors = format!(
        "driver = \"cyclonedds\"\nenv.CYCLONEDDS_URI = [\"{}\", \"{}\"]\n[design.baseline]\nenv.CYCLONEDDS_URI = \"{0}\"",
        uri("a.xml"),
        uri("b.xml")
    );
    let document = document(&scene, &experiment(&factors, ""));
    let ids: Vec<&str> = list(&document["cells"]).iter().filter_map(|cell| cell["id"].as_str()).collect();
    let prefix = "cyclonedds/udp4/latency/64/CYCLONEDDS-URI";
    assert_eq!(ids, [format!("{prefix}-a"), format!("{prefix}-b")]);
    assert_eq!(document["experiment"]["design"]["baseline"], Value::from(vec![ids[0]]));
    for (cell, name) in list(&document["cells"]).iter().zip(["a.xml", "b.xml"]) {
        let settings = &cell["runs"][0]["endpoints"][0]["settings"]["participant"];
        assert_eq!(settings["configuration_user"], uri(name), "{settings:#}");
        assert_eq!(settings["configuration_user_decides"], "max_message_size");
        let hash = results::sha256(&fs::read(scene.path(name)).expect("the file"));
        let field = format!("CYCLONEDDS_URI{}", scene.path(name).display());
        assert_eq!(document["hosts"][0]["environment"]["fields"]["variable"][field], hash);
    }

    // inherited in one result, a factor of the other
    fs::write(scene.path("one.toml"), experiment("driver = \"cyclonedds\"", "")).expect("a file");
    let few = format!("design.blocks={}", blocks());
    let words = ["run", "one.toml", "--set", &few, "--out"];
    let inherited = scene.start_with(
        &[("CYCLONEDDS_URI", OsStr::new(&uri("a.xml")))],
        "ddsmark",
        &[&words[..], &["before"]].concat(),
    );
    inherited.end().assert_status(0);
    let set = format!("factors.env.CYCLONEDDS_URI={}", uri("b.xml"));
    scene.ddsmark(&[&words[..], &["after", "--set", &set]].concat()).assert_status(0);
    let rejected = scene.ddsmark(&["compare", "before", "after"]);
    assert_rejected(&rejected, &["env.variable.CYCLONEDDS_URI", "env.CYCLONEDDS_URI: none, then"]);
    scene.ddsmark(&["compare", "before", "after", "--factor", "env.CYCLONEDDS_URI"]).assert_status(0);

    // a configuration that the run would not use
    fs::write(scene.path("b.xml"), cyclone_configuration("0", 9000)).expect("a file");
    let rejected = scene.ddsmark(&[&words[..], &["again", "--set", &set]].concat());
    assert_rejected(&rejected, &["is for domain 0, but this run uses domain", "hint: use <Domain Id="]);
}

/// Returns the installed middleware with this name, in the directory that `fetch.sh` fills.
fn installed(name: &str) -> std::path::PathBuf {
    let all = fs::read_dir(root().join(".sdk")).expect("`make drivers` has fetched the middleware").flatten();
    let mut found: Vec<_> = all
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|of| of.to_string_lossy().starts_with(name)))
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| panic!("no {name} in .sdk"))
}

/// A ROS installation is one prefix with all middleware: `lib/x86_64-linux-gnu/cmake/CycloneDDS` or `lib/cmake/CycloneDDS`,
/// and `share/fastdds/cmake`.
#[test]
fn middleware_of_a_ros_installation_is_found_by_its_prefix() {
    let scene = Scene::new();
    let prefix = scene.path("ros/jazzy");
    fs::create_dir_all(&prefix).expect("a directory");
    fs::create_dir(scene.path("drivers")).expect("a directory");
    // The driver in C++ takes long to compile.
    let middleware = if blocks() == 1 { &["cyclonedds"][..] } else { &["cyclonedds", "fastdds"] };
    for &name in middleware {
        for part in ["bin", "include", "lib", "share"] {
            let part = installed(name).join(part);
            if part.is_dir() {
                link_into(&part, &prefix);
            }
        }
    }
    assert!(prefix.join("lib/cmake/CycloneDDS/CycloneDDSConfig.cmake").exists());
    let (drivers, sources) = (scene.path("drivers"), root().join("drivers"));
    let variables =
        [("DDSMARK_DRIVER_PATH", drivers.as_os_str()), ("DDSMARK_DRIVER_SOURCES", sources.as_os_str())];
    for &name in middleware {
        let words = ["drivers", "install", name, "--prefix", "ros/jazzy"];
        let outcome = scene.start_with(&variables, "ddsmark", &words).end();
        outcome.assert_status(0);
        assert!(outcome.stderr.contains(&format!("installed as `{name}@")), "{}", outcome.stderr);
    }
    let entries = fs::read_dir(&drivers).expect("the drivers").flatten();
    let files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    assert_eq!(files.len(), middleware.len(), "{files:?}");
    for file in files {
        // the run path leads into the prefix
        let bytes = fs::read(&file).expect("a driver");
        let place = prefix.display().to_string();
        assert!(bytes.windows(place.len()).any(|window| window == place.as_bytes()), "{}", file.display());
    }
}

/// Creates symbolic links to all files of a directory, in the same directories.
fn link_into(directory: &Path, prefix: &Path) {
    let copied = Command::new("cp").arg("-rs").args([directory, prefix]).output().expect("`cp` runs");
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
}
