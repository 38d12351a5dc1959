//! The commands of the page on whole systems, with a bag that the test makes.

use std::fs;

#[path = "../../crates/import/src/rosbag2/mcap/test_writer.rs"]
mod test_writer;

use crate::{
    support::{Scene, root},
    tutorial::follow,
};
use test_writer::{PLAIN, mcap};

#[test]
fn commands_of_the_page_on_systems_succeed_in_order() {
    let text = fs::read_to_string(root().join("docs/how-to/measure-my-system.md")).expect("the page");
    let scene = Scene::new();
    let best_effort = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n";
    let begin = 1_700_000_000_000_000_000;
    let every = |ms: u64, bytes: usize| {
        let times = (0..400 / ms).map(|index| begin + index * ms * 1_000_000);
        times.map(|ns| (ns, ns, vec![0; bytes])).collect()
    };
    let topics = [("/camera/image", best_effort, every(40, 60_000)), ("/imu", best_effort, every(5, 320))];
    fs::write(scene.path("drive.mcap"), mcap(&topics, PLAIN)).expect("a bag");
    let table = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a table");
    fs::write(scene.path("robot.csv"), table).expect("a table");
    follow(&scene, &text);
    let summary = fs::read_to_string(scene.path("drive/import.txt")).expect("a summary");
    assert!(summary.contains("2 topics: 225.0 samples/s"), "{summary}");
    let trace = fs::read_to_string(scene.path("drive/traces/imu.trace")).expect("a trace");
    assert!(trace.starts_with("# Send times of imu in seconds\n0.000000000\n0.005000000\n"), "{trace}");
}
