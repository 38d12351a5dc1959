//! Table of the topics of a system: flows with deadlines, and groups of equal ones.

use experiment::{Deadline, Flow, SizeDistribution, Sizes};
use insta::assert_snapshot;
use report::{Live, LiveProgress};
use results::{Failure, ResultDocument, Run, RunState};

use crate::{
    print,
    sample::{
        self,
        paced::{constant, document_with, flow},
    },
};

const MS: u64 = 1_000_000;

fn with_deadline(flow: Flow, deadline_ms: u64, missed_ppm: u32) -> Flow {
    let deadline = Deadline { deadline_ns: deadline_ms * MS, missed_ppm };
    Flow { deadline: Some(deadline), ..flow }
}

/// Returns a system of one topic and of a group of three equal ones. The topic misses its deadline in run 3, the second of the
/// group is slower than the others.
fn system() -> ResultDocument {
    system_with(|_| {})
}

/// Like [`system`], with a change of each run.
fn system_with(change: impl Fn(&mut Run)) -> ResultDocument {
    let control = with_deadline(flow("control", 64, constant(1_000)), 1, 0);
    let small = |number: u32| {
        let named = flow(&format!("small-{number}"), 256, constant(100));
        Flow { group: Some("small".to_owned()), ..with_deadline(named, 10, 10_000) }
    };
    let flows = [control, small(1), small(2), small(3)];
    let mut header = sample::paced::header(&[], &flows);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    document_with(&header, |run| {
        for flow in &mut run.flows {
            let timeliness = flow.timeliness.as_mut().expect("all have deadlines");
            if flow.name == "small-2" {
                for latency in flow.latency.values_mut() {
                    latency.max_ns += 7 * MS;
                    for ns in [&mut latency.p50_ns, &mut latency.p99_ns].into_iter().flatten() {
                        *ns += 5 * MS;
                    }
                }
            }
            let misses = flow.name == "control" && run.number == 3;
            (timeliness.missed, timeliness.is_met) = if misses { (4, false) } else { (0, true) };
        }
        change(run);
    })
}

/// Returns the entries of the line of a topic, without its name.
#[track_caller]
fn entries(text: &str, topic: &str) -> Vec<String> {
    let table = text.split("\nTopics: ").nth(1).expect("a table of topics");
    let line = table.lines().find(|line| line.trim_start().starts_with(topic));
    let line = line.unwrap_or_else(|| panic!("no row of {topic}: {table}"));
    line.trim_start()[topic.len()..].split_whitespace().map(str::to_owned).collect()
}

#[test]
fn topics_are_a_table_with_their_deadlines() {
    let text = print(&system());
    let table = text.split("\nTopics: ").nth(1).expect("a table of topics");
    assert_snapshot!(table.split("\n\n").next().expect("a part").trim_end());
}

#[test]
fn sizes_that_differ_are_shown_in_all_tables() {
    let mut document = system();
    let control = SizeDistribution::Values { values: vec![64, 1_024], weights: vec![9, 1] };
    let small = SizeDistribution::LogNormal { median_bytes: 256, p99_bytes: 900 };
    for cell in &mut document.cells {
        for (index, flow) in cell.factors.flows.iter_mut().enumerate() {
            let distribution = if index == 0 { control.clone() } else { small.clone() };
            flow.sizes = Some(Sizes { distribution, seed: 1 });
        }
    }
    let text = print(&document);
    assert_eq!(entries(&text, "control")[..3], ["64", "or", "1024"]);
    assert_eq!(entries(&text, "small x3")[..3], ["256", "(p99", "900)"]);
    let screen = report::first_screen(&document, report::ScreenOptions::default());
    let markdown = report::markdown(&document);
    for text in [screen, markdown] {
        for words in ["64 or 1024", "256 (p99 900)"] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }
}

#[test]
fn topics_have_the_values_of_the_document() {
    let document = system();
    let cell = &document.cells[0];
    let runs = cell.valid_runs().count();
    let flows = &cell.paced.as_ref().expect("a paced cell").flows;
    let of = |name: &str| flows.iter().find(|flow| flow.name == name).expect("a flow");
    let text = print(&document);
    let control = entries(&text, "control");
    assert_eq!(control[0], "64");
    let timeliness = of("control").timeliness.as_ref().expect("a deadline");
    assert_eq!((timeliness.missed, timeliness.planned), (4, 200 * runs as u64));
    let missed = results::format_value(400.0 / timeliness.planned as f64);
    assert_eq!(control[control.len() - 3..], [missed, "0".to_owned(), format!("{}/{runs}", runs - 1)]);
    // A group has the missed samples of all, and names the slowest of them, which has the longest time.
    let (group, worst) = (entries(&text, "small x3"), entries(&text, "worst: small-2"));
    assert_eq!(group[group.len() - 2..], ["1.00".to_owned(), format!("{runs}/{runs}")]);
    let max = results::format_micros(of("small-2").latency["response"].max_ns as f64);
    assert!(group.contains(&max) && worst.contains(&max), "{group:?} {worst:?} {max}");
    let p50 = |name: &str| of(name).latency["response"].p50_ns.expect("enough samples");
    assert!(p50("small-2") > p50("small-1") + 4e6);
    let typical = stats::median(&["small-1", "small-2", "small-3"].map(p50)).expect("three");
    assert!(group.contains(&results::format_micros(typical)), "{group:?}");
    assert!(worst.contains(&results::format_micros(p50("small-2"))), "{worst:?}");
}

#[test]
fn system_is_met_if_all_topics_are() {
    let document = system();
    let runs = document.cells[0].valid_runs().count();
    let words = format!("System met in {} of {runs} runs: control missed 2.00 % in run 3", runs - 1);
    let text = print(&document).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&words), "{words} in {text}");
    let screen = report::first_screen(&document, report::ScreenOptions::default());
    for topic in ["control", "small x3", "worst: small-2"] {
        assert!(screen.contains(topic), "{topic} in {screen}");
    }
}

/// A run in which a process ended has no values, but it is one in which the system was not met: one of six must show.
#[test]
fn run_in_which_a_process_ended_while_flows_ran_is_not_met() {
    let ended = |phase: &str| {
        system_with(|run| {
            if run.number == 2 {
                run.state = RunState::Failed;
                run.failure = Some(Failure {
                    phase: phase.to_owned(),
                    endpoint: Some("writer".to_owned()),
                    error: "the agent's process was killed by signal 9 (SIGKILL)".to_owned(),
                    hint: None,
                    last_log_lines: Vec::new(),
                });
            }
        })
    };
    let words = |document: &ResultDocument| print(document).split_whitespace().collect::<Vec<_>>().join(" ");
    let document = ended("measure");
    let runs = document.cells[0].runs.len();
    let text = words(&document);
    let expected = format!(
        "System met in {} of {runs} runs: the process of writer ended in run 2, with control and small, control missed 2.00 % in \
         run 3",
        runs - 2
    );
    assert!(text.contains(&expected), "{expected} in {text}");
    let control = entries(&print(&document), "control");
    assert_eq!(control.last(), Some(&format!("{}/{runs}", runs - 2)), "{control:?}");
    // Before the flows ran, there was no system to meet anything.
    let text = words(&ended("match"));
    assert!(text.contains(&format!("System met in {} of {} runs: control", runs - 2, runs - 1)), "{text}");
}

/// Returns the lines of a part of the report.
fn part<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let part = text.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}: {text}"));
    part.split("\n\n").next().expect("a part").lines().collect()
}

#[test]
fn flow_with_two_readers_has_a_row_for_each() {
    let mut header =
        sample::paced::header(&[], &[flow("control", 64, constant(1_000)), flow("map", 256, constant(100))]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    let document = document_with(&header, |run| {
        // The second reader of the first flow, whose times are those of no other.
        let mut second = run.flows[0].clone();
        second.reader = "log".to_owned();
        for latency in second.latency.values_mut() {
            latency.p50_ns = latency.p50_ns.map(|ns| ns + 40 * MS);
        }
        run.flows.insert(1, second);
    });
    let cell = &document.cells[0];
    let flows = &cell.paced.as_ref().expect("a paced cell").flows;
    assert_eq!(flows.len(), 3);
    let text = print(&document);
    let rows = part(&text, "\nLatency under load");
    for (name, of) in
        [("control: writer to reader", 0), ("control: writer to log", 1), ("map: writer to reader", 2)]
    {
        let p50 = flows[of].latency["response"].p50_ns.expect("enough samples");
        let row =
            rows.iter().find(|row| row.contains(name)).unwrap_or_else(|| panic!("no {name}: {rows:#?}"));
        assert!(row.contains(&results::format_micros(p50)), "{name} {p50}: {row}");
    }
}

#[test]
fn headroom_of_a_system_is_a_table_and_a_sentence() {
    let document = sample::search::system_document();
    let text = print(&document);
    let table = text.split("\nHeadroom of the system").nth(1).expect("a table of headrooms");
    assert_snapshot!(table.split("\n\n").next().expect("a part").trim_end());
    let screen = report::first_screen(&document, report::ScreenOptions::default());
    for cell in &document.cells {
        let headroom = cell.search.as_ref().expect("searches").goals[0].headroom.as_ref().expect("a system");
        let words = format!("headroom {} x; ", results::format_value(headroom.scale.expect("found")));
        let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(screen.contains(&words) && screen.contains("first to fail: "), "{words} in {screen}");
    }
    let run =
        document.cells[0].runs.iter().find(|run| !run.number.is_multiple_of(3)).expect("the IMU fails first");
    let line = report::trial_line(run, std::time::Duration::from_secs(40));
    assert!(line.starts_with("  trial 3: scale 1."), "{line}");
    assert!(line.contains("good, imu missed 0.050 % (limit 0.100 %); now headroom 1."), "{line}");
    assert!(line.contains("imu fails first; at most 40 s more"), "{line}");
}

#[test]
fn live_values_of_a_system_say_whether_it_was_met() {
    let document = system();
    let mut live = Live::new(&document.experiment);
    let result = &document.cells[0];
    let cell = document.experiment.cells.iter().find(|cell| cell.id == result.id).expect("planned");
    let text = |live: &Live, width| {
        let left = "3 s";
        live.text(LiveProgress { cell: &cell.id, left, lines: 24, width })
    };
    result.runs.iter().filter(|run| run.number < 3).for_each(|run| live.run_finished(run, cell));
    let so_far = text(&live, 120);
    assert!(!so_far.contains("not met"), "{so_far}");
    result.runs.iter().filter(|run| run.number >= 3).for_each(|run| live.run_finished(run, cell));
    assert_snapshot!(text(&live, 120));
    // What counts for a system is shown where there is little room, too.
    let narrow = text(&live, 80);
    assert!(narrow.contains("System met") && narrow.contains("missed"), "{narrow}");
}
