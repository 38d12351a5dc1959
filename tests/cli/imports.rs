//! `ddsmark import`: output, files and errors.

use std::fs;

#[path = "../../crates/import/src/rosbag2/mcap/test_writer.rs"]
mod test_writer;

use crate::support::Sandbox;
use test_writer::{PLAIN, mcap};

const TABLE: &str = "\
topic,size,rate,count,from,to,reliability,depth,durability,deadline,missed
/camera/image,2MB,30,,,,best_effort,1,volatile,33ms,1%
small,8,12.5,3,,,,all,,,
map,1kB,1/5s,,,,reliable,,transient_local,,
";

const TOPOLOGY: &str = r#"{"nodes": [
  {"node_name": "driver", "executor_id": 1, "publishers": [
    {"topic_name": "scan", "msg_type": "stamped_vector", "msg_size": 1000, "period_ms": 10, "msg_pass_by": "unique_ptr"}]},
  {"node_name": "planner", "subscribers": [{"topic_name": "scan", "msg_type": "stamped_vector"}],
    "clients": [{"service_name": "plan", "srv_type": "stamped10b", "period_ms": 100}]}]}
"#;

/// Compares the experiment file and the summary with a snapshot.
fn files(sandbox: &Sandbox, name: &str, out: &str) {
    let read = |file: &str| fs::read_to_string(sandbox.path(&format!("{out}/{file}"))).expect("a file");
    let found = format!("--- system.toml\n{}--- import.txt\n{}", read("system.toml"), read("import.txt"));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, found));
}

#[test]
fn table_becomes_an_experiment_that_can_be_planned() {
    let sandbox = Sandbox::new();
    sandbox.write("robot.csv", TABLE);
    sandbox.snapshot("import-table", &["import", "table", "robot.csv", "--out", "robot"]);
    files(&sandbox, "import-table-files", "robot");
    // Bare sockets do not have the policies of the table.
    sandbox.write("plain.csv", "topic,size,rate\ncamera,2kB,30\nimu,300,400\n");
    for arguments in [
        &["import", "table", "plain.csv", "--out", "plain"][..],
        &["run", "plain/system.toml", "--driver", "udp", "--dry-run"],
    ] {
        let output = sandbox.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn strict_import_fails_with_what_is_not_applied() {
    let sandbox = Sandbox::new();
    sandbox.write("robot.json", TOPOLOGY);
    sandbox
        .snapshot("import-irobot-strict", &["import", "irobot", "robot.json", "--out", "robot", "--strict"]);
    files(&sandbox, "import-irobot-files", "robot");
}

#[test]
fn bag_becomes_traces() {
    let sandbox = Sandbox::new();
    let times = |ms: u64, bytes: usize| {
        (0..200 / ms)
            .map(|i| (i * ms * 1_000_000, i * ms * 1_000_000, vec![0; bytes + i as usize % 2]))
            .collect()
    };
    let bytes = mcap(
        &[
            ("/imu", "- depth: 5\n  history: 1\n  reliability: 2\n", times(10, 320)),
            ("/odom", "", times(50, 700)),
        ],
        PLAIN,
    );
    fs::create_dir(sandbox.path("drive")).expect("a directory");
    fs::write(sandbox.path("drive/drive_0.mcap"), bytes).expect("a bag");
    sandbox.snapshot("import-rosbag2", &["import", "rosbag2", "drive", "--out", "system"]);
    files(&sandbox, "import-rosbag2-files", "system");
    let trace = fs::read_to_string(sandbox.path("system/traces/odom.trace")).expect("a trace");
    assert_eq!(
        trace,
        "# Send times of odom in seconds, and sizes in bytes\n0.000000000 700\n0.050000000 701\n0.100000000 700\n0.150000000 701\n"
    );
}

/// Metadata that agrees with the bag of `bag_with_metadata`.
const METADATA: &str = "rosbag2_bagfile_information:
  version: 9
  storage_identifier: mcap
  duration: {nanoseconds: 190000000}
  starting_time: {nanoseconds_since_epoch: 0}
  message_count: 20
  topics_with_message_count:
    - topic_metadata:
        name: /imu
        type: test/msg/Data
        serialization_format: cdr
        offered_qos_profiles: [{depth: 5, history: keep_last, reliability: best_effort}]
        type_description_hash: RIHS01_5
      message_count: 20
  compression_format: ''
  compression_mode: ''
  relative_file_paths: [drive_0.mcap]
  files:
    - {path: drive_0.mcap, message_count: 20}
  custom_data: {driver: Ada}
  ros_distro: lyrical
";

fn bag_with_metadata(sandbox: &Sandbox, metadata: &str) {
    let messages = (0..20).map(|i| (i * 10_000_000, i * 10_000_000, vec![0; 320])).collect();
    fs::create_dir_all(sandbox.path("drive")).expect("a directory");
    fs::write(sandbox.path("drive/drive_0.mcap"), mcap(&[("/imu", "", messages)], PLAIN)).expect("a bag");
    sandbox.write("drive/metadata.yaml", metadata);
}

#[test]
fn each_key_of_the_metadata_is_used_quoted_or_named() {
    let sandbox = Sandbox::new();
    bag_with_metadata(&sandbox, METADATA);
    let strict = ["import", "rosbag2", "drive", "--strict", "--out"];
    let agrees = sandbox.run(&[&strict[..], &["agrees"]].concat());
    assert_eq!(agrees.status.code(), Some(0), "{}", String::from_utf8_lossy(&agrees.stdout));
    files(&sandbox, "import-metadata-files", "agrees");
    bag_with_metadata(&sandbox, &METADATA.replace("ros_distro", "ros_version"));
    let unknown = sandbox.run(&[&strict[..], &["unknown"]].concat());
    assert_eq!(unknown.status.code(), Some(1), "{}", String::from_utf8_lossy(&unknown.stdout));
    let summary = fs::read_to_string(sandbox.path("unknown/import.txt")).expect("a summary");
    let expected = "- key `ros_version` of the bag in the metadata: not known, first at 21:3";
    assert!(summary.contains(expected), "{summary}");
}

#[test]
fn file_alone_has_the_metadata_and_the_qos_of_its_bag() {
    let sandbox = Sandbox::new();
    let messages = (0..20).map(|i| (i * 10_000_000, i * 10_000_000, vec![0; 320])).collect();
    let metadata = "version: 9\nrelative_file_paths: [drive_0.mcap]\nmessage_count: 20\nros_distro: jazzy\n\
                    custom_data: {driver: Ada}\nfiles: [{path: drive_0.mcap, message_count: 20}]\n";
    let layout = test_writer::Layout { metadata, ..PLAIN };
    let qos = "- depth: 5\n  history: 1\n  reliability: 2\n";
    fs::write(sandbox.path("drive_0.mcap"), mcap(&[("/imu", qos, messages)], layout)).expect("a file");
    let output = sandbox.run(&["import", "rosbag2", "drive_0.mcap", "--out", "alone", "--strict"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    files(&sandbox, "import-file-alone-files", "alone");
}

#[test]
fn faults_name_the_file_the_position_and_the_next_step() {
    let sandbox = Sandbox::new();
    sandbox.write("robot.csv", &TABLE.replace("missed", "speed"));
    sandbox.snapshot("import-unknown-column", &["import", "table", "robot.csv", "--out", "robot"]);
    sandbox.write("robot.json", &TOPOLOGY.replace("\"period_ms\": 10,", "\"hz\": 10,"));
    sandbox.snapshot("import-unknown-key", &["import", "irobot", "robot.json", "--out", "robot"]);
    sandbox.write("cut.mcap", "not a bag");
    sandbox.snapshot("import-no-bag", &["import", "rosbag2", "cut.mcap", "--out", "robot"]);
    let secret = "../../secret.mcap";
    bag_with_metadata(&sandbox, &METADATA.replace("paths: [drive_0.mcap]", &format!("paths: [{secret}]")));
    sandbox.snapshot("import-outside-the-bag", &["import", "rosbag2", "drive", "--out", "robot"]);
    assert!(!sandbox.path("robot").exists(), "something was left behind");
}
