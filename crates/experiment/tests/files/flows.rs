//! Groups, phases, deadlines and threads of flows.

use experiment::{Deadline, RunTopology, WritingThreads};

use crate::{plan, rejected};

const ROBOT: &str = r#"
question = "Which topic suffers first?"
workload = "paced"
factors.driver = "dds"
[[flows]]
name = "camera"
size = "32KiB"
rate = "30/s"
missed = "1%"
[[flows]]
name = "small"
count = 3
size = 64
rate = "50/s"
deadline = "5ms"
[[flows]]
name = "map"
size = "16KiB"
rate = "1/5s"
[design]
measure = "20s"
"#;

#[test]
fn a_group_is_as_many_flows_with_phases_and_deadlines() {
    let experiment = plan(ROBOT, &[]);
    let flows = &experiment.cells[0].factors.flows;
    let names: Vec<(&str, Option<&str>)> =
        flows.iter().map(|flow| (flow.name.as_str(), flow.group.as_deref())).collect();
    let small = Some("small");
    assert_eq!(
        names,
        [("camera", None), ("small-1", small), ("small-2", small), ("small-3", small), ("map", None)]
    );
    let deadline = |deadline_ns, missed_ppm| Some(Deadline { deadline_ns, missed_ppm });
    assert_eq!(flows[0].deadline, deadline(33_333_333, 10_000));
    assert_eq!(flows[1].deadline, deadline(5_000_000, 1_000));
    assert_eq!(flows[4].deadline, deadline(50_000_000, 1_000));
    // Phases are within the period, differ, and are those of each plan of the file, whatever the seed of the inputs.
    assert!(flows[1..4].iter().all(|flow| flow.phase_ns < 20_000_000));
    assert_ne!(flows[1].phase_ns, flows[2].phase_ns);
    assert_eq!(plan(ROBOT, &[]).cells[0].factors.flows, *flows);
    assert_ne!(plan(ROBOT, &["design.seed=5"]).cells[0].factors.flows[1].phase_ns, flows[1].phase_ns);
    // Writer and reader have the same schedule and deadline.
    let topology = RunTopology::of(&experiment.cells[0].factors, &experiment.design);
    for (index, flow) in flows.iter().enumerate() {
        let [written, read] =
            [&topology.endpoints[0].writers[index].stream, &topology.endpoints[1].readers[index].streams[0]];
        assert_eq!(written, read);
        assert_eq!(
            (written.delay_ns, written.deadline_ns),
            (flow.phase_ns, flow.deadline.map(|of| of.deadline_ns))
        );
    }
}

#[test]
fn each_flow_has_a_thread_unless_the_file_says_otherwise() {
    let threads = |overrides: &[&str]| {
        let experiment = plan(ROBOT, overrides);
        let topology = RunTopology::of(&experiment.cells[0].factors, &experiment.design);
        topology.endpoints[0].writers.iter().map(|writer| writer.thread).collect::<Vec<_>>()
    };
    assert_eq!(threads(&[]), [0, 1, 2, 3, 4]);
    assert_eq!(threads(&["design.threads=one"]), [0; 5]);
    assert_eq!(threads(&["design.threads=[[\"small\"]]"]), [0, 1, 1, 1, 2]);
    assert_eq!(plan(ROBOT, &[]).design.threads, WritingThreads::PerTopic);
    // At a low rate the threads spin before each send; at a high one they would take the cores from each other.
    assert!(plan(ROBOT, &[]).design.spin);
    assert!(!plan(&ROBOT.replace("50/s", "1k/s"), &[]).design.spin);
    assert!(plan(&ROBOT.replace("50/s", "1k/s"), &["design.spin=true"]).design.spin);
    assert!(plan(&ROBOT.replace("50/s", "1k/s"), &["design.threads=one"]).design.spin);
}

#[test]
fn a_thousand_flows_are_planned_and_not_one_more() {
    let many = |count: u32| ROBOT.replace("count = 3", &format!("count = {count}"));
    assert_eq!(plan(&many(998), &[]).cells[0].factors.flows.len(), 1_000);
    let (error, marked, _) = rejected(&many(999), &[]);
    assert!(error.contains("1001 flows"), "{error} {marked}");
    let (error, marked, _) = rejected(&many(0), &[]);
    assert!(error.contains("`count = 0` is out of range") && marked == "0", "{error} {marked}");
}

#[test]
fn phases_deadlines_and_threads_out_of_range_are_rejected() {
    let with = |line: &str| ROBOT.replace("missed = \"1%\"", line);
    for (line, words, at) in [
        ("phase = \"20s\"", "not within the measured time", "\"20s\""),
        ("deadline = \"0s\"", "the deadline of a flow", "\"0s\""),
        ("missed = \"100%\"", "missed samples of flow `camera` is out of range", "\"100%\""),
    ] {
        let (error, marked, _) = rejected(&with(line), &[]);
        assert!(error.contains(words) && marked == at, "{error} {marked}");
    }
    let (error, ..) = rejected(&with("count = 2").replace("small", "camera-2").replace("count = 3", ""), &[]);
    assert!(error.contains("camera-2"), "{error}");
    for (threads, words) in [
        ("threads = [[\"lidar\"]]", "`threads` names `lidar`, which is not a flow"),
        ("threads = [[\"map\"], [\"map\"]]", "`threads` names `map` twice"),
        ("threads = \"many\"", "use `per-topic`, `one`"),
    ] {
        let (error, ..) = rejected(&format!("{ROBOT}{threads}\n"), &[]);
        assert!(error.contains(words), "{error}");
    }
    let single =
        "question = \"?\"\nworkload = \"paced\"\nfactors = { driver = \"dds\", rate = 100 }\n[design]\n";
    let (error, ..) = rejected(&format!("{single}threads = \"one\"\n"), &[]);
    assert!(error.contains("`threads` has no effect without `[[flows]]`"), "{error}");
}
