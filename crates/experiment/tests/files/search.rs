//! The workload `search`: goals and rejections.

use experiment::{GoalKind, Search, Workload};

use crate::{ids, plan, rejected};

const SEARCH: &str = r#"question = "How much?"
workload = "search"

[factors]
driver = "dds"
size = 64
"#;

fn search(more: &str) -> String {
    format!("{SEARCH}{more}")
}

#[test]
fn without_goals_it_searches_for_ndr_and_pdr() {
    let experiment = plan(SEARCH, &[]);
    assert_eq!(ids(&experiment), ["dds/udp4/search/64"]);
    assert_eq!(experiment.cells[0].factors.workload, Workload::Search);
    assert_eq!(experiment.cells[0].factors.load, None);
    let planned = experiment.search.expect("a search");
    assert_eq!(planned, Search::default());
    assert_eq!(planned.goals.iter().map(|goal| goal.aim).collect::<Vec<_>>(), [GoalKind::Ndr, GoalKind::Pdr]);
    // five quarters of the estimate: 5 duration sums of 15 s, and 27 trials with 0.6 s around each
    assert_eq!(planned.budget_ns, (75_000_000_000 + 27 * 600_000_000) * 5 / 4);
    assert_eq!(plan("question = \"?\"\nworkload = \"latency\"\nfactors.driver = \"dds\"", &[]).search, None);
}

#[test]
fn values_are_those_of_every_goal_and_lengths_follow_each_other() {
    let planned = |more: &str| plan(&search(&format!("\n[search]\n{more}")), &[]).search.expect("a search");
    let strict = planned("strict = true\ngoals = \"ndr\"");
    let [ndr] = &strict.goals[..] else { panic!("{strict:?}") };
    assert_eq!((ndr.final_trial_ns, ndr.duration_sum_ns), (60_000_000_000, 60_000_000_000));
    assert!(ndr.exceed_ratio.abs() < 1e-12);
    let quick = planned("final_trial = \"200ms\"\nwidth = \"5%\"\nloss_ratio = \"2%\"");
    for goal in &quick.goals {
        assert_eq!((goal.initial_trial_ns, goal.duration_sum_ns), (100_000_000, 600_000_000));
        assert!((goal.width - 0.05).abs() < 1e-12);
    }
    assert!((quick.goals[1].loss_ratio - 0.02).abs() < 1e-12 && quick.goals[0].loss_ratio.abs() < 1e-12);
    let slo = planned("goals = [\"slo\"]\ndeadline = \"1ms\"");
    assert_eq!(slo.goals[0].deadline_ns, Some(1_000_000));
    assert!((slo.goals[0].loss_ratio - 0.001).abs() < 1e-12);
}

#[test]
fn expected_duration_of_a_search_is_within_its_budget() {
    let runs = plan(&search("\n[design]\nblocks = 3"), &[]);
    let each = runs.expected_block_ns();
    assert!(each > 5 * 15_000_000_000 && each < 600_000_000_000, "{each}");
    assert!(runs.expected_ns() > 3 * each);
    let short = plan(&search("\n[search]\nbudget = \"20s\"\n\n[design]\nblocks = 3"), &[]);
    assert_eq!(short.expected_block_ns(), 20_000_000_000);
}

#[test]
fn invalid_search_is_rejected_with_its_position() {
    for (more, expected) in [
        ("goals = [\"slo\"]", "the goal `slo` needs a deadline"),
        ("goals = [\"ndr\", \"ndr\"]", "goal `ndr` is given twice"),
        ("goals = [\"mrr\"]", "`mrr` is not valid for `goals`"),
        ("deadline = \"1ms\"", "`deadline` has no effect without the goal `slo`"),
        ("goals = \"ndr\"\nloss_ratio = \"1%\"", "`loss_ratio` has no effect without the goal `pdr`"),
        ("late_ratio = \"1%\"", "`late_ratio` has no effect without the goal `slo`"),
        ("width = \"0.1%\"", "the width is narrower than the share of losses that `pdr` allows"),
        ("width = \"100%\"", "a share of 100% is out of range"),
        ("goals = \"ndr\"\nwidth = \"0.001%\"", "a width of less than 0.01% cannot be reached"),
        ("final_trial = \"1ms\"", "a final trial of 0.001 s is out of range"),
        ("initial_trial = \"10s\"", "initial trials of 10s are longer than final ones"),
        ("duration_sum = \"1s\"", "a duration sum of 1s is shorter than a final trial"),
        ("budget = \"10ms\"", "the budget of a search of 0.01 s is out of range"),
        ("trials = 5", "unknown key `trials`"),
    ] {
        let (error, marked, hint) = rejected(&search(&format!("\n[search]\n{more}\n")), &[]);
        assert!(error.contains(expected), "{more}: {error}");
        // The position is empty because the width is a default.
        let of_default = expected.contains("narrower") && !more.contains("width");
        assert!(of_default || !marked.is_empty(), "{more}: {error}");
        assert!(!hint.is_empty());
    }
}

#[test]
fn search_and_other_workloads_reject_each_others_keys() {
    let stray = rejected(
        "question = \"?\"\nworkload = \"latency\"\nfactors.driver = \"dds\"\n[search]\nstrict = true\n",
        &[],
    );
    assert!(stray.0.contains("`[search]` has no effect without the workload `search`"), "{stray:?}");
    let rate = rejected(&search("rate = 1000\n"), &[]);
    assert!(rate.0.contains("`rate` has no effect without the workload `paced`"), "{rate:?}");
    assert!(!plan(&search("\n[design]\nspin = false\n"), &[]).design.spin);
}

#[test]
fn arrival_with_search_adds_a_note() {
    let both = |arrival: &str| {
        let text = format!("rate = 1000\narrival = \"{arrival}\"\n");
        plan(&search(&text), &["workload=paced,search"]).notes
    };
    assert_eq!(both("constant"), [""; 0]);
    let words =
        "`arrival = \"poisson\"` is of the workload `paced`: the trials of `search` are at constant rates";
    assert_eq!(both("poisson"), [words]);
    let (error, marked, _) = rejected(&search("arrival = \"poisson\"\n"), &[]);
    assert!(
        error.contains("`arrival` has no effect without the workload `paced`") && marked == "\"poisson\""
    );
    let (error, ..) = rejected(&search("[search]\narrival = \"poisson\"\n"), &[]);
    assert!(error.contains("arrival"), "{error}");
}

const ROBOT: &str = r#"question = "How much more?"
workload = "search"
factors.driver = "dds"

[[flows]]
name = "imu"
size = 64
rate = 400

[[flows]]
name = "map"
size = 1024
rate = "1/2s"
missed = "0%"
kind = "background"
"#;

#[test]
fn search_over_flows_has_the_goal_system_and_a_range_of_scales() {
    let planned = plan(ROBOT, &[]);
    let [cell] = &planned.cells[..] else { panic!("{:?}", planned.cells) };
    assert_eq!((cell.factors.workload, cell.factors.flows.len()), (Workload::Search, 2));
    assert!(!planned.design.spin && !planned.design.threads.is_one(), "{:?}", planned.design);
    let search = planned.search.expect("a search");
    let [goal] = &search.goals[..] else { panic!("{search:?}") };
    assert_eq!((goal.aim, goal.deadline_ns), (GoalKind::System, None));
    assert!(goal.loss_ratio.abs() < 1e-12 && (goal.width - 0.05).abs() < 1e-12);
    let scales = |text: &str| {
        let scales = plan(text, &[]).search.expect("a search").scales.expect("scales");
        [scales.lowest.factor(), scales.highest.factor()]
    };
    assert_eq!(scales(ROBOT), [0.01, 100.0]);
    let written = format!("{ROBOT}[search]\nlowest_scale = 0.5\nhighest_scale = 20\n");
    assert_eq!(scales(&written), [0.5, 20.0]);
    // A trial of 20 s has a sample of the map from scale 0.1 on, if it is judged.
    assert_eq!(scales(&ROBOT.replace("kind = \"background\"\n", "")), [0.1, 100.0]);
    // The same file is a paced system, too.
    let both = plan(ROBOT, &["workload=paced,search"]);
    assert_eq!(both.cells.len(), 2);
    assert_eq!(plan(ROBOT, &["workload=paced"]).search, None);
}

#[test]
fn trials_of_a_system_have_some_periods_of_its_slowest_flow() {
    let system = ROBOT.replace("workload = \"search\"", "workload = \"paced\"");
    let judged = system.replace("kind = \"background\"\n", "");
    let found = |text: &str, sets: &[&str]| {
        let plan = plan(text, &[&["workload=search"][..], sets].concat());
        let search = plan.search.clone().expect("a search");
        (search.goals[0].final_trial_ns / 1_000_000, search.budget_ns, plan.expected_block_ns())
    };
    let trial_ms = |text: &str, sets: &[&str]| found(text, sets).0;
    assert_eq!([trial_ms(&system, &[]), trial_ms(&judged, &[])], [5_000, 20_000]);
    let with_measure = |text: &str, time: &str| format!("{text}[design]\nmeasure = \"{time}\"\n");
    assert_eq!(
        trial_ms(&with_measure(&system, "30s"), &[]),
        5_000,
        "the time of runs is more than trials need"
    );
    assert_eq!(trial_ms(&with_measure(&judged, "8s"), &[]), 8_000, "at most as long as a run");
    assert_eq!(trial_ms(&with_measure(&system, "30s"), &["design.measure=12s"]), 12_000);
    // In a file that is a search, it is the time of its trials.
    let own = plan(&with_measure(ROBOT, "12s"), &[]).search.expect("a search");
    assert_eq!(own.goals[0].final_trial_ns, 12_000_000_000);
    // 3 duration sums of 15 s, and 17 trials with 0.66 s around each, of two processes with four entities; the budget is twice of it.
    let expected_ns = 45_000_000_000 + 17 * 660_000_000;
    assert_eq!(found(&system, &[]), (5_000, 2 * expected_ns, expected_ns));
}

#[test]
fn search_over_flows_rejects_what_it_cannot_multiply() {
    for (change, to, expected) in [
        (
            "factors.driver = \"dds\"",
            "factors = { driver = \"dds\", scale = 2 }",
            "`scale` is what the workload `search` finds",
        ),
        (
            "factors.driver = \"dds\"",
            "factors = { driver = \"dds\", size = 64 }",
            "`size` is given both for all flows and in flows",
        ),
        (
            "rate = 400",
            "trace = \"all.txt\"",
            "the workload `search` multiplies the rates of all flows, and flow `imu` has a trace",
        ),
    ] {
        let (error, marked, hint) = rejected(&ROBOT.replace(change, to), &[]);
        assert!(error.contains(expected), "{error}");
        assert!(!marked.is_empty() && !hint.is_empty(), "{error}");
    }
    for (more, expected) in [
        ("goals = \"ndr\"", "the goal `ndr` is of one flow"),
        ("goals = [\"system\", \"slo\"]", "the goal `slo` is of one flow"),
        ("deadline = \"1ms\"", "`deadline` has no effect without the goal `slo`"),
        ("lowest_scale = 2\nhighest_scale = 2", "the lowest scale, 2, is not below the highest one, 2"),
        ("lowest_scale = 0", "`0` is not valid for `lowest_scale`"),
        ("highest_scale = 0.01", "the lowest scale, 0.01, is not below the highest one, 0.01"),
    ] {
        let (error, marked, hint) = rejected(&format!("{ROBOT}[search]\n{more}\n"), &[]);
        assert!(error.contains(expected), "{more}: {error}");
        assert!(!marked.is_empty() && !hint.is_empty(), "{more}: {error}");
    }
    for (more, expected) in [
        ("goals = \"system\"", "the goal `system` is of `[[flows]]`"),
        ("lowest_scale = 0.5", "`lowest_scale` has no effect without `[[flows]]`"),
    ] {
        let (error, marked, hint) = rejected(&search(&format!("\n[search]\n{more}\n")), &[]);
        assert!(error.contains(expected), "{more}: {error}");
        assert!(!marked.is_empty() && !hint.is_empty(), "{more}: {error}");
    }
    // Scales without flows.
    let (error, ..) = rejected(&search("scale = 2\n"), &[]);
    assert!(error.contains("`scale` has no effect without `[[flows]]`"), "{error}");
    // A topic that a trial may have no sample of.
    let slow = ROBOT.replace("kind = \"background\"\n", "").replace("1/2s", "1/40s");
    let (error, _, hint) = rejected(&slow, &[]);
    assert!(
        error.contains("flow `map` has a sample every 40s, and a trial takes 30s: it may have none"),
        "{error}"
    );
    assert!(hint.contains("`measure`"), "{hint}");
    let (error, ..) = rejected(ROBOT, &["workload=search,latency"]);
    assert!(error.contains("flows are supported by the workloads `paced` and `search` only"), "{error}");
}
