//! Groups, phases, deadlines and threads of flows.

use experiment::{
    Deadline, FlowSizes, RecordedSizes, RunTopology, SizeDistribution, Sizes, WritingThreads, trace_samples,
};

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
    let processes = |value: &str| threads(&[&format!("design.threads={value}")]);
    assert_eq!(processes("{ writer = \"one\" }"), [0; 5]);
    assert_eq!(processes("{ writer = [[\"camera\", \"map\"]] }"), [0, 1, 2, 3, 0]);
    assert_eq!(plan(ROBOT, &[]).design.threads, WritingThreads::PerTopic);
    // At a low rate the threads spin before each send; at a high one they would take the cores from each other.
    assert!(plan(ROBOT, &[]).design.spin);
    assert!(!plan(&ROBOT.replace("50/s", "1k/s"), &[]).design.spin);
    assert!(plan(&ROBOT.replace("50/s", "1k/s"), &["design.spin=true"]).design.spin);
    assert!(plan(&ROBOT.replace("50/s", "1k/s"), &["design.threads=one"]).design.spin);
}

/// Returns the robot with this size of the camera.
fn with_size(size: &str) -> String {
    ROBOT.replace("size = \"32KiB\"", &format!("size = {size}"))
}

#[test]
fn sizes_of_a_flow_are_drawn_with_its_name_and_the_seed_of_the_file() {
    let mix = with_size("{ values = [64, \"1KiB\"], weights = [9, 1] }");
    let flow = |text: &str, overrides: &[&str]| plan(text, overrides).cells[0].factors.flows[0].clone();
    let camera = flow(&mix, &[]);
    let distribution = SizeDistribution::Values { values: vec![64, 1_024], weights: vec![9, 1] };
    let Some(Sizes { distribution: found, seed }) = camera.sizes.clone() else { panic!("{camera:?}") };
    assert_eq!(
        (camera.size_bytes, found, camera.size_text()),
        (1_024, distribution, "64 or 1024".to_owned())
    );
    assert!((camera.flow_sizes().mean_bytes() - 160.0).abs() < 1e-9);
    assert_eq!(flow(&mix, &[]), camera);
    assert_ne!(flow(&mix, &["design.seed=5"]).sizes.expect("sizes").seed, seed);
    let small = mix.replace("size = 64\n", "size = { values = [64, 100] }\n");
    let flows = &plan(&small, &[]).cells[0].factors.flows;
    let seeds: std::collections::BTreeSet<u32> =
        flows.iter().filter_map(|flow| flow.sizes.as_ref()).map(|sizes| sizes.seed).collect();
    assert_eq!(seeds.len(), 4, "each flow of a group draws its own sizes");
    // Equal in all cells, and at both ends.
    let experiment = plan(&mix, &["factors.scale=[1, 2]"]);
    assert_eq!(experiment.cells.len(), 2);
    for cell in &experiment.cells {
        assert_eq!(cell.factors.flows[0].sizes, camera.sizes);
        let topology = RunTopology::of(&cell.factors, &experiment.design);
        let [written, read] =
            [&topology.endpoints[0].writers[0].stream, &topology.endpoints[1].readers[0].streams[0]];
        assert_eq!((written, &written.sizes), (read, &camera.sizes));
        assert_eq!(
            (written.size_bytes, topology.endpoints[0].writers[1].stream.sizes.as_ref()),
            (1_024, None)
        );
    }
    let log_normal = with_size("{ median = \"10kB\", p99 = \"20kB\" }");
    let camera = flow(&log_normal, &[]);
    assert_eq!(camera.size_text(), "10000 (p99 20000)");
    assert!((26_000..28_000).contains(&camera.size_bytes), "{}", camera.size_bytes);
    // Each writer of a flow has its own.
    let two = mix.replace("missed = \"1%\"", "from = [\"left\", \"right\"]");
    let experiment = plan(&two, &[]);
    let topology = RunTopology::of(&experiment.cells[0].factors, &experiment.design);
    let seed =
        |endpoint: usize| topology.endpoints[endpoint].writers[0].stream.sizes.clone().map(|of| of.seed);
    assert_ne!(seed(0), seed(1));
}

/// Returns the system with a camera that follows a trace.
fn with_trace(file: &str, size: &str) -> String {
    let rate = "size = \"32KiB\"\nrate = \"30/s\"";
    ROBOT.replace(rate, &format!("{size}trace = \"{file}\""))
}

#[test]
fn sizes_of_a_trace_are_those_of_the_flow() {
    let experiment = plan(&with_trace("sized.txt", ""), &[]);
    let factors = &experiment.cells[0].factors;
    let camera = &factors.flows[0];
    assert_eq!(
        (camera.size_bytes, camera.size_text(), &camera.sizes),
        (20_000, "64 to 20000".to_owned(), &None)
    );
    let recorded = RecordedSizes { total_bytes: 21_152, smallest_bytes: 64, largest_bytes: 20_000 };
    let trace = camera.load.trace().expect("a trace");
    assert_eq!((trace.samples, trace.sizes), (4, Some(recorded)));
    assert!((camera.flow_sizes().mean_bytes() - 5_288.0).abs() < 1e-9);
    // 3 samples in 0.75 s after the first one, beside the other flows.
    let bits = 8.0 * (4.0 * 5_288.0 + 3.0 * 50.0 * 64.0 + 16_384.0 / 5.0);
    let load = factors.offered_load().expect("a load");
    assert!((load.written_bit_per_s / bits - 1.0).abs() < 1e-9, "{load:?} {bits}");
    // The writer and its reader look up the same sizes.
    let topology = RunTopology::of(factors, &experiment.design);
    let samples = trace_samples("0 64\n0.25 20000\n0.5 64\n0.75 1024\n").expect("samples");
    for stream in [&topology.endpoints[0].writers[0].stream, &topology.endpoints[1].readers[0].streams[0]] {
        let table = stream.flow_sizes().table(&samples).expect("sizes");
        let sizes: Vec<u64> = (0..4).map(|sequence| table.at(sequence)).collect();
        assert_eq!(sizes, [64, 20_000, 64, 1_024]);
    }
    let one = plan(&with_trace("all.txt", "size = 64\n"), &[]).cells[0].factors.flows[0].clone();
    assert_eq!((one.flow_sizes(), one.size_text().as_str()), (FlowSizes::One(64), "64"));
}

#[test]
fn sizes_come_from_the_flow_or_from_its_trace() {
    for (text, words, at) in [
        (with_trace("all.txt", ""), "flow `camera` has no `size`", "\"camera\""),
        (with_trace("sized.txt", "size = 64\n"), "its trace has the size of each sample", "64"),
        (with_trace("long.txt", ""), "70000", "\"long.txt\""),
        (ROBOT.replace("size = 64\n", ""), "flow `small` has no `size`", "\"small\""),
        (
            with_trace("sized.txt", "").replace("\"dds\"", "\"dds\"\nfactors.loans = true"),
            "samples of different sizes are not supported with `loans`",
            "\"sized.txt\"",
        ),
    ] {
        let (error, marked, hint) = rejected(&text, &[]);
        assert!(error.contains(words) && !hint.is_empty(), "{error} {hint}");
        assert_eq!(marked, at, "{error}");
    }
    let factor =
        "question = \"?\"\nworkload = \"paced\"\nfactors = { driver = \"dds\", trace = \"sized.txt\" }\n";
    let (error, marked, hint) = rejected(factor, &[]);
    assert!(error.contains("trace `sized.txt` has sizes") && hint.contains("[[flows]]"), "{error} {hint}");
    assert_eq!(marked, "\"sized.txt\"");
}

#[test]
fn load_of_a_flow_is_that_of_its_mean_size() {
    let mix = with_size("{ values = [64, 1024], weights = [9, 1] }");
    let cell = &plan(&mix, &[]).cells[0].factors;
    let (load, other) = (cell.offered_load(), plan(&with_size("160"), &[]).cells[0].factors.offered_load());
    assert_eq!(load, other);
    let rate = |text: &str| {
        plan(&text.replace("\"30/s\"", "\"128kbit/s\""), &[]).cells[0].factors.flows[0].load.clone()
    };
    assert_eq!(rate(&mix), rate(&with_size("160")));
}

#[test]
fn wrong_distributions_of_sizes_are_rejected() {
    for (size, words, hint) in [
        ("{ values = [64, 8] }", "size 8 is too small", "16 or more"),
        ("{ values = [64] }", "a distribution of 1 sizes is not supported", "2 to 64 `values`"),
        ("{ values = [64, 100], weights = [1] }", "2 `values` have 1 `weights`", "one weight"),
        ("{ values = [64, 100], weights = [1, -1] }", "the weight -1 is out of range", "1 to 1000000"),
        ("{ values = [64, 100], weights = [1, 0] }", "the weight 0 is out of range", "1 to 1000000"),
        ("{ median = 1000, p99 = 999 }", "99 % quantile of 999 bytes is not more than the median", "`p99`"),
        ("{ median = 100, p99 = 100001 }", "more than 1000 times the median", "`values`"),
        ("{ median = 8, p99 = 100 }", "size 8 is too small", "16 or more"),
        ("{ median = 100 }", "either `values`, or `median` and `p99`", "p99 ="),
        ("{ weights = [1, 2], median = 100, p99 = 200 }", "either `values`", "weights ="),
        ("{ values = [64, 100], p99 = 200 }", "either `values`", "median ="),
        ("{}", "either `values`", "median ="),
        // The transport of the test carries less.
        ("{ median = \"1GB\", p99 = \"2GB\" }", "", ""),
    ] {
        let (error, marked, found) = rejected(&with_size(size), &[]);
        assert!(error.contains(words) && found.contains(hint), "{size}: {error} {found}");
        assert_eq!(marked, size, "{error}");
    }
    for (size, words) in [
        ("{ mean = 5 }", "unknown key `mean`"),
        (
            "{ values = [64, 100], weights = [0.5, 0.5] }",
            "`0.5` is not valid for `weights`; write a whole number",
        ),
        ("[64, 100]", "a table with a distribution of sizes"),
        ("\"many\"", "a size such as `1024`"),
    ] {
        let (error, _, hint) = rejected(&with_size(size), &[]);
        assert!(format!("{error}; {hint}").contains(words), "{size}: {error}; {hint}");
    }
    let mix = with_size("{ values = [64, 100] }");
    for (change, words) in [
        ("factors.loans=true", "not supported with `loans`"),
        ("factors.batch_samples=4", "flows of different sizes"),
    ] {
        let (error, ..) = rejected(&mix, &[change]);
        assert!(error.contains(words), "{change}: {error}");
    }
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
        ("threads = { arm = \"one\" }", "`threads` names the process `arm`, which writes no flow"),
        (
            "threads = { writer = [[\"lidar\"]] }",
            "`threads` names `lidar`, which is not a flow of process `writer`",
        ),
        ("threads = { writer = { arm = \"one\" } }", "process `writer` has no processes of its own"),
    ] {
        let (error, ..) = rejected(&format!("{ROBOT}{threads}\n"), &[]);
        assert!(error.contains(words), "{error}");
    }
    let single =
        "question = \"?\"\nworkload = \"paced\"\nfactors = { driver = \"dds\", rate = 100 }\n[design]\n";
    let (error, ..) = rejected(&format!("{single}threads = \"one\"\n"), &[]);
    assert!(error.contains("`threads` has no effect without `[[flows]]`"), "{error}");
}
