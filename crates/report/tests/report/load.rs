//! Progress lines of runs, loads, searches, and loads in percent.

use experiment::{Arrival, HostSpec, Load, PercentOfMax, PlannedHost, Rate};
use insta::assert_snapshot;
use report::run_line;
use results::{Failure, ResultDocument, Run, RunState, Warning, WarningKind};

use crate::{print, sample};

#[test]
fn a_line_for_each_run() {
    let header = sample::header();
    let mut lines = Vec::new();
    let mut add = |run: &Run| {
        let cell = header.experiment.cells.iter().find(|cell| cell.id == run.cell).unwrap();
        lines.push(run_line(run, &cell.factors, &header.experiment.design, run.number as usize, 48));
    };
    let find = |part: &str| {
        sample::runs().into_iter().map(|(run, _)| run).find(|run| run.cell.ends_with(part)).unwrap()
    };
    for part in ["dds/udp4/latency/32", "plain/udp4/throughput/1024", "dds/udp4/throughput/32/batch-8192"] {
        add(&find(part));
    }
    let mut lossy = find("plain/udp4/latency/32");
    lossy.flows[0].counted.lost = 3;
    lossy.latency.get_mut("rtt").unwrap().p99_ns = None;
    add(&lossy);
    add(&sample::failed(&find("dds/udp4/latency/1024")));
    let failure = Failure {
        phase: "hello".to_owned(),
        endpoint: None,
        error: "the agent ended with signal 11".to_owned(),
        hint: None,
        last_log_lines: Vec::new(),
    };
    add(&Run { failure: Some(failure), ..sample::failed(&find("dds/udp4/latency/1024")) });
    let text = "delivered more than was sent".to_owned();
    let warnings = vec![Warning::new(WarningKind::RunsInvalid, text)];
    add(&Run { state: RunState::Invalid, warnings, ..find("dds/udp4/throughput/8192") });
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn places_are_named_if_there_are_several_hosts() {
    let mut document = sample::document_with(|run| {
        if run.cell == "plain/udp4/throughput/1024" {
            *run = sample::failed(run);
        }
    });
    let line_of = |document: &ResultDocument, id: &str| {
        let cell = document.cells.iter().find(|cell| cell.id == id).expect("a cell");
        run_line(&cell.runs[0], &cell.factors, &document.experiment.design, 1, 48)
    };
    let failed = "plain/udp4/throughput/1024";
    let here = line_of(&document, "plain/udp4/latency/1024");
    assert!(here.contains("latency 1024 bytes: RTT p50"), "{here}");
    assert!(line_of(&document, failed).contains("FAILED in `match` (writer): "));
    let host = |name: &str| PlannedHost::new(name, HostSpec::Local, None);
    document.experiment.design.hosts = ["pi1", "pi2"].map(host).to_vec();
    let line = line_of(&document, "plain/udp4/latency/1024");
    assert!(line.contains("latency 1024 bytes, pinger@pi1 -> echo@pi2: RTT p50"), "{line}");
    let line = line_of(&document, failed);
    assert!(line.contains("writer@pi1 -> reader@pi2: FAILED in `match` (writer@pi1): "), "{line}");
    assert!(print(&document).contains("failed in phase `match` of the writer@pi1: "), "{}", print(&document));
    let screen = report::first_screen(&document, report::ScreenOptions::default());
    assert!(screen.contains("of the writer@pi1"), "{screen}");
}

#[test]
fn a_paced_run_has_a_row_for_each_load_and_flow() {
    use sample::paced::{constant, document_with, flow, header};
    let rate = Rate { samples: 10, period_ns: 100_000_000 };
    let loads = [
        Load::Max,
        constant(200_000),
        constant(100),
        Load::Burst { rate },
        Load::Poisson { rate: Rate::per_second(10_000) },
    ];
    let flows = [flow("control", 64, constant(100)), flow("bulk", 4096, constant(2_500))];
    let mut header = header(&loads, &flows);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    let document = document_with(&header, |run| {
        if run.cell.ends_with("10000/s") && run.block == 2 {
            run.paced_mut().unwrap().sender_limited = true;
        }
        if run.cell.ends_with("/100/s") {
            *run = sample::failed(run);
        }
    });
    assert_snapshot!(print(&document));
    let lines: Vec<String> = header
        .experiment
        .cells
        .iter()
        .map(|cell| {
            let run = &document.cells.iter().find(|measured| measured.id == cell.id).unwrap().runs[1];
            run_line(run, &cell.factors, &header.experiment.design, 1, 18)
        })
        .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn no_table_of_a_paced_run_is_wider_than_140_columns() {
    use results::{Batches, ProbeStats, TakeStats};
    use sample::paced::{constant, document_with, header};
    let rate = Rate { samples: 1000, period_ns: 100_000_000 };
    let loads = [Load::Max, constant(200_000), Load::Burst { rate }, Load::Poisson { rate }];
    let mut header = header(&loads, &[]);
    for cell in &mut header.experiment.cells {
        cell.factors.queues.receive_group = Some(experiment::ReceiveGroup::new(4_096, 5_000_000));
        cell.factors.batch_bytes = 8192;
        cell.factors.batching = experiment::Batching::TurboApplication;
    }
    let document = document_with(&header, |run| {
        // so wide that half-ranges have two digits
        let factor = u64::from(run.block);
        for latency in run.latency.values_mut() {
            latency.p50_ns = latency.p50_ns.map(|ns| ns * factor);
            latency.p99_ns = latency.p99_ns.map(|ns| ns * factor);
        }
        run.paced_mut().unwrap().sender_limited = run.block == 1;
        let throughput = run.throughput_mut().unwrap();
        throughput.out_of_order = 12_345;
        throughput.batches = Some(Batches::new(100, 6_200, 64));
        throughput.takes = Some(TakeStats::new(100, 25_600, 4_096, 400));
        throughput.probes = Some(ProbeStats {
            writer: "writer-1".to_owned(),
            reader: "reader-1".to_owned(),
            every: 200,
            sent: 60,
            came: 60,
            echoed: 60,
            returned: 60,
            lost: 0,
            echo_mbps: 1.0,
        });
        let rtt = run.latency["service"].clone();
        run.latency.insert("rtt".to_owned(), rtt);
    });
    let text = print(&document);
    assert!(text.contains("Batches are packed by the driver, not by the middleware"), "{text}");
    assert!(text.contains("sender-limited 1/3") && text.contains("burst 1000/100ms"), "{text}");
    // underlined headings may be as long as the names in them
    let lines: Vec<&str> = text.lines().collect();
    let is_underlined = |at: usize| lines.get(at + 1).is_some_and(|next| next.starts_with("=="));
    let of_tables = (0..lines.len()).filter(|&at| !is_underlined(at) && !lines[at].starts_with("=="));
    let widest = of_tables.map(|at| lines[at]).max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 140, "{} columns: {widest}", widest.chars().count());
}

#[test]
fn row_marks_back_pressure() {
    use sample::paced::{constant, document_with, header};
    let of = |held: u32| {
        document_with(&header(&[constant(1000)], &[]), |run| {
            run.paced_mut().unwrap().back_pressure = run.block <= held;
        })
    };
    let words = "back-pressure: the p99 send lag exceeds a tenth";
    let [none, some, all] = [0, 1, 99].map(|held| print(&of(held)));
    assert!(!none.contains("back-pressure"), "{none}");
    assert!(some.contains("back-pressure 1/3") && some.contains(words), "{some}");
    assert!(all.contains("back-pressure\n") && all.contains(words), "{all}");
}

#[test]
fn a_search_has_a_row_for_each_goal_and_a_line_for_each_trial() {
    let document = sample::search::document_with(|run| {
        if run.number == 5 {
            *run = sample::failed(run);
        }
    });
    assert_snapshot!(print(&document));
    let cell = &document.cells[0];
    let design = &document.experiment.design;
    let lines: Vec<String> = cell.runs.iter().map(|run| run_line(run, &cell.factors, design, 1, 6)).collect();
    assert_snapshot!(lines.join("\n"));
    let run = cell.runs.iter().find(|run| run.number != 5).expect("a search");
    let line = report::trial_line(run, std::time::Duration::from_millis(61_900));
    let prefix = "  trial 3: ";
    assert!(
        line.starts_with(prefix) && line.contains("ndr good (0 %)") && line.contains("at most 61 s more"),
        "{line}"
    );
}

#[test]
fn what_percents_are_of_stands_below_the_table() {
    use results::{MaxRate, MaxRateRun, UnpacedRate};
    let percent = PercentOfMax::of_percent(50.0).expect("a share");
    let load = |rate| Load::Share { percent, arrival: Arrival::Constant, rate };
    let known = load(Some(Rate::per_second(5_000)));
    let header = sample::paced::header(&[known, sample::paced::constant(1_000)], &[]);
    let mut document = sample::paced::document_with(&header, |_| {});
    assert!(!print(&document).contains("100 %"), "{}", print(&document));
    let run = |number, delivered_sps: Option<f64>| MaxRateRun {
        number,
        started_unix_ns: 0,
        took_ns: 1,
        unpaced: delivered_sps.map(|delivered_sps| UnpacedRate {
            duration_ns: 1,
            offered_sps: 30_000.0,
            delivered_sps,
        }),
        failure: delivered_sps.is_none().then(|| Failure {
            phase: "measure".to_owned(),
            endpoint: Some("writer".to_owned()),
            error: "it broke".to_owned(),
            hint: None,
            last_log_lines: Vec::new(),
        }),
    };
    let mut lines = Vec::new();
    let mut render = |rates: [Option<f64>; 3]| {
        let cells = document.cells.iter().filter(|cell| cell.factors.driver == "dds");
        let mut maximum = MaxRate {
            id: "dds/paced/max".to_owned(),
            cells: cells.map(|cell| cell.id.clone()).collect(),
            sps: None,
            runs: Vec::new(),
        };
        for (number, rate) in (1_000_001..).zip(rates) {
            maximum.add(run(number, rate));
            lines.push(report::maximum_line(&maximum, &maximum.runs[maximum.runs.len() - 1], 3, 12));
        }
        document.max_rates = vec![maximum];
        print(&document)
    };
    let text = render([Some(9_800.0), Some(10_300.0), Some(10_000.0)]);
    let line =
        "100 % at 1024 bytes, batch none: 10000/s, the median of 3 runs as fast as it goes (9800 to 10300/s)";
    assert!(
        text.contains(line) && text.contains("A load in percent refers to the maximum rate of the same cell"),
        "{text}"
    );
    let first =
        text.lines().skip_while(|line| !line.starts_with("Latency under load")).nth(4).unwrap_or_default();
    assert!(first.contains(" 50% (5000/s)  "), "{first}");
    let text = render([None, Some(10_300.0), None]);
    assert!(
        text.contains("the median of 1 run as fast as it goes (10300 to 10300/s, 2 more failed)"),
        "{text}"
    );
    assert!(render([None; 3]).contains("not known, all runs that were to measure it failed"));
    assert_eq!(
        lines[2],
        "[maximum  3/12] dds/paced/max: 30000/s offered, 10000/s delivered; 100 % is 10000/s"
    );
    assert_eq!(lines[3], "[maximum  3/12] dds/paced/max: FAILED in `measure` (writer): it broke");
}
