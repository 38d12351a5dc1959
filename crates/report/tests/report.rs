//! Whole texts, as people see them, and figures in them against the document.
#[path = "../../results/tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;

use experiment::{
    Arrival, Characterize, Effort, Load, Pin, Rate, Reliability, ReliabilityChoice, Share, Workload,
};
use insta::assert_snapshot;
use report::{
    FoundDriver, InstallableDriver, Options, driver_info, driver_list, driver_versions, json, run_line,
    terminal,
};
use results::{
    Assembler, Cell, Document, Failure, Run, RunState, State, SteadySegment, SteadyState, SteadyVerdict,
    Throughput, Warning, WarningKind,
};

fn print(document: &Document) -> String {
    terminal(document, Options::default())
}

#[test]
fn a_complete_result() {
    assert_snapshot!(print(&sample::document()));
}

#[test]
fn counts_that_overflow_are_shown_as_far_as_they_go() {
    let document = sample::document_with(|run| {
        run.udp_buffer_drops = Some(u64::MAX);
        for counted in &mut run.counted {
            counted.sent = u64::MAX;
            counted.lost = u64::MAX;
            counted.duplicate = u64::MAX;
            counted.out_of_order = u64::MAX;
        }
        if let Some(throughput) = &mut run.throughput {
            throughput.sent = u64::MAX;
            throughput.lost = u64::MAX;
        }
        if let Some(wire) = &mut run.wire {
            wire.tx_bytes = u64::MAX;
        }
        for latency in run.latency.values_mut() {
            latency.n = u64::MAX;
        }
        for agent in &mut run.agents {
            agent.usage.elapsed_ns = 0;
        }
    });
    assert!(!findings::of(&document).is_empty());
    assert!(print(&document).contains(&u64::MAX.to_string()));
}

#[test]
fn an_interrupted_result_with_a_part_of_its_runs() {
    let mut assembler = Assembler::new(sample::header());
    for (run, log) in sample::runs().into_iter().take(7) {
        assembler.add(run, &log.merged());
    }
    assert_snapshot!(print(&assembler.document(State::Interrupted)));
}

#[test]
fn failed_and_invalid_runs_are_named_with_their_reasons() {
    let document = sample::document_with(|run| {
        if run.cell.starts_with("dds/udp4/throughput/32") {
            *run = sample::failed(run);
        } else if run.cell == "dds/udp4/latency/1024" && run.block == 2 {
            run.state = RunState::Invalid;
            let text = "the reader counted more samples than the writer sent: 412 and 400".to_owned();
            run.warnings.push(Warning { kind: WarningKind::RunsInvalid, text });
        }
    });
    assert_snapshot!(print(&document));
}

#[test]
fn losses_and_drops_mark_what_they_spoil() {
    let document = sample::document_with(|run| {
        run.udp_buffer_drops = if run.cell.contains("/1024") { None } else { Some(3) };
        if run.cell.contains("latency/32") {
            run.counted[0].lost = 40;
        }
    });
    assert_snapshot!(print(&document));
}

#[test]
fn it_is_said_how_many_runs_kept_their_level_and_which_did_not() {
    let segment =
        |level_ns| SteadySegment { from_ns: 0, to_ns: 1, level_ns: Some(level_ns), level_sps: None };
    let with = |verdict, levels: &[f64]| SteadyState {
        verdict,
        steady_from_ns: None,
        segments: levels.iter().copied().map(segment).collect(),
    };
    let document = sample::document_with(|run| {
        let slow = run.cell == "dds/udp4/latency/1024" && run.block == 2;
        let state = match slow {
            true => with(SteadyVerdict::NoSteadyState, &[30_000.0, 41_000.0]),
            false => with(SteadyVerdict::Flat, &[30_000.0]),
        };
        run.steady_state.insert("rtt_p50".to_owned(), state);
    });
    let text = print(&document);
    assert!(text.contains("Steady state: 47 of 48 valid runs kept one level while measured"), "{text}");
    assert!(text.contains("the warnings tell of the others."), "{text}");
    let warning =
        "dds/udp4/latency/1024: 1 of 3 runs reached no steady state while measured (median RTT from 30.0";
    assert!(text.contains(warning), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");

    // all of those that could be judged; and none could
    let document = sample::document_with(|run| {
        if run.block == 1 {
            run.steady_state.insert("rtt_p50".to_owned(), with(SteadyVerdict::Flat, &[30_000.0]));
        }
    });
    let text = print(&document);
    assert!(text.contains("Steady state: 16 of 48 valid runs"), "{text}");
    assert!(text.contains("the others have too few samples to tell"), "{text}");
    assert!(!print(&sample::document()).contains("Steady state"));
}

#[test]
fn what_is_absolute_is_labelled_in_a_duet() {
    let mut header = sample::header();
    let experiment = &mut header.experiment;
    experiment.cells.retain(|cell| cell.factors.workload == Workload::Latency);
    let is_plain = |cell: &&experiment::Cell| cell.id.starts_with("plain");
    experiment.design.baseline =
        experiment.cells.iter().filter(is_plain).map(|cell| cell.id.clone()).collect();
    experiment.design.duet = true;
    experiment.design.pin = Pin::Cores(vec![0, 1], vec![2, 3]);
    let (experiment, mut assembler) = (experiment.clone(), Assembler::new(header));
    let runs = sample::runs_of(&experiment);
    for (run, log) in &runs {
        assembler.add(run.clone(), &log.merged());
    }
    let mut document = assembler.document(State::Complete);
    document.findings = findings::of(&document);
    document.verdicts = verdicts::of(&document);
    let text = print(&document);
    let absolute = ["Latency: RTT/2", "Latency by direction", "Medians over runs"];
    for heading in absolute {
        let lines: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with(heading)).collect();
        assert!(!lines.is_empty(), "{heading}: {text}");
        assert!(lines.iter().all(|line| line.contains("under duet interference")), "{lines:?}");
    }
    for words in [
        "and of its baseline at the same time (duets), in shuffled order",
        "ends pinned to cores 0 and 2, or 1 and 3, swapped in each block",
        "Noise floor: the baseline against itself, beside itself in each block",
        "absolute figures are under duet interference: each run shared the host",
    ] {
        assert!(text.replace("\n    ", " ").contains(words), "{words}: {text}");
    }
    assert!(!text.contains("Findings"), "{text}");
    let (run, _) = &runs[0];
    let cell = experiment.cells.iter().find(|cell| cell.id == run.cell).expect("its cell");
    let line = run_line(run, &cell.factors, 1, runs.len());
    assert!(line.ends_with(", under duet interference"), "{line}");
    let json = json(&document);
    for label in ["\"under_duet_interference\": true", "\"partner\": ", "\"side_by_side_pct\": 99.5"] {
        assert!(json.contains(label), "{label}");
    }
    // and nothing of it where runs are made alone
    let alone = sample::document();
    assert!(!print(&alone).contains("duet") && !report::json(&alone).contains("duet"));
}

#[test]
fn no_run_at_all() {
    let document = Assembler::new(sample::header()).document(State::Interrupted);
    let text = print(&document);
    assert!(text.contains("INTERRUPTED: 0 of 48 runs made, 0 valid"), "{text}");
    // a row of each table: throughput unbatched and batched, write calls, latency and its directions
    assert_eq!(text.matches("not run").count(), 2 * (3 + 3 + 5 + 3 + 3), "{text}");
}

#[test]
fn no_cell_at_all() {
    let mut header = sample::header();
    header.experiment.cells.clear();
    assert_snapshot!(print(&Assembler::new(header).document(State::Complete)), @"
    ddsmark 0.1.0: characterize, complete: 0 of 0 runs made, 0 valid
      on bench (kvm), 2 processors, Example CPU, kernel Linux 6.12.0, 2026-09-21T14:13:20Z
      3 runs of each cell in shuffled order (seed 42), each 200 ms after 50 ms of warm-up; ends pinned to cores 0 and 1;
        cores not kept awake
      note: driver `plain` cannot guarantee delivery: it runs best effort
    No cell was planned.
    ");
}

#[test]
fn findings_stand_below_the_tables_and_have_no_heading_where_there_are_none() {
    let mut document = sample::document();
    assert!(!print(&document).contains("Findings"));
    document.findings = findings::of(&document);
    let text = print(&document);
    let (tables, rest) = text.split_once("\nFindings").expect("a heading");
    assert!(tables.contains("Latency by direction"));
    let findings: Vec<&str> = rest.lines().take_while(|line| !line.is_empty()).collect();
    assert_snapshot!(findings.join("\n"));
}

/// The words of the row that begins so, in the n-th table with such a row.
fn row<'t>(text: &'t str, table: &str, size: u64) -> Vec<&'t str> {
    text.lines()
        .skip_while(|line| !line.starts_with(table))
        .find(|line| line.split_whitespace().next() == Some(&size.to_string()))
        .unwrap_or_else(|| panic!("no row {size} below {table}:\n{text}"))
        .split_whitespace()
        .collect()
}

fn cell<'d>(document: &'d Document, id: &str) -> &'d Cell {
    document.cells.iter().find(|cell| cell.id == id).unwrap_or_else(|| panic!("no cell {id}"))
}

#[test]
fn latency_is_half_of_the_round_trip_and_one_way_times_are_whole() {
    let document = sample::document();
    let text = print(&document);
    for size in [32, 1024, 8192] {
        let cell = cell(&document, &format!("plain/udp4/latency/{size}"));
        let rtt = &cell.latency["rtt"];
        let table = row(&text, "Latency: RTT/2 in µs", size);
        assert_eq!(table[1], rtt.n.to_string());
        assert_eq!(table[2], format!("{:.1}", rtt.mean_ns / 2e3));
        assert_eq!(table[6], format!("{:.1}", rtt.min_ns as f64 / 2e3));
        assert_eq!(table[10], format!("{:.1}", rtt.p50_ns.unwrap() as f64 / 2e3));
        let of_runs: Vec<f64> =
            cell.runs.iter().map(|run| run.latency["rtt"].p50_ns.unwrap() as f64).collect();
        let spread = stats::Spread::of(&of_runs).unwrap().half_range_relative().unwrap();
        assert_eq!(table[11], format!("{:.1}", spread * 100.0));
        let table = row(&text, "Latency by direction", size);
        assert_eq!(table[1], format!("{:.1}", rtt.p50_ns.unwrap() as f64 / 2e3));
        assert_eq!(table[3], format!("{:.1}", cell.latency["one_way_out"].p50_ns.unwrap() as f64 / 1e3));
        assert_eq!(table[5], format!("{:.1}", cell.latency["one_way_back"].p50_ns.unwrap() as f64 / 1e3));
    }
}

#[test]
fn throughput_rows_are_those_of_the_cells() {
    let document = sample::document();
    let text = print(&document);
    let figures = |id: &str| cell(&document, id).throughput.clone().unwrap();
    let check = |row: &[&str], figures: &Throughput| {
        assert_eq!(row[0], figures.delivered.to_string());
        assert_eq!(row[1], format!("{:.0}", figures.delivered_sps));
        assert_eq!(row[5], figures.lost.to_string());
        assert_eq!(row[6], format!("{:.2}", figures.lost_pct));
    };
    check(&row(&text, "Throughput, unbatched", 32)[1..], &figures("plain/udp4/throughput/32"));
    check(&row(&text, "Throughput, batched", 32)[1..], &figures("plain/udp4/throughput/32/batch-8192"));
    // one sample a batch: taken over, and marked
    let same = row(&text, "Throughput, batched", 8192);
    assert_eq!(same[1], "=");
    check(&same[2..], &figures("plain/udp4/throughput/8192"));
    let cpu = cell(&document, "plain/udp4/throughput/32").cpu_ns_per_sample.as_ref().unwrap();
    assert_eq!(row(&text, "Throughput, unbatched", 32)[10], format!("{:.2}", cpu.writer / 1e3));
}

#[test]
fn twelve_sizes_with_large_figures_fit_a_terminal_of_120_columns() {
    let header = sample::header_of(&Characterize {
        drivers: vec!["dds".to_owned()],
        sizes: vec![32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 63000],
        reliability: ReliabilityChoice::All(Reliability::Reliable),
        options: vec![("dds".to_owned(), "receive_buffer".to_owned(), "4194304".to_owned())],
        effort: Effort::Standard,
        seed: u64::MAX,
        keep_awake: true,
        ..sample::characterize()
    });
    let mut assembler = Assembler::new(header.clone());
    for (mut run, log) in sample::runs_of(&header.experiment) {
        let histograms = log.merged();
        for latency in run.latency.values_mut() {
            latency.n = 300_000;
            latency.max_ns = 123_456_789;
            latency.p99_9_ns = Some(412_345 + 100_000 * u64::from(run.block));
        }
        if let Some(figures) = &mut run.throughput {
            (figures.delivered, figures.lost, figures.lost_pct) = (12_345_678, 1_234_567, 10.0);
        }
        run.udp_buffer_drops = Some(123_456);
        assembler.add(run, &histograms);
    }
    let mut document = assembler.document(State::Complete);
    for latency in document.cells.iter_mut().flat_map(|cell| cell.latency.values_mut()) {
        (latency.p99_9_ns, latency.p99_99_ns, latency.p99_9999_ns) =
            (Some(1_412_345), Some(23_456_789), None);
    }
    let text = print(&document);
    let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 120, "{} columns: {widest}", widest.chars().count());
    assert!(text.contains("options asked for: receive_buffer=4194304"));
}

#[test]
fn a_narrow_terminal_wraps_words_and_leaves_figures_whole() {
    let (wide, narrow) =
        (print(&sample::document()), terminal(&sample::document(), Options { width: Some(60) }));
    let rows = |text: &str| {
        text.lines()
            .filter(|line| line.trim_start().starts_with("8192 "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&wide), rows(&narrow));
    let words = narrow.lines().skip_while(|line| *line != "How to read this");
    assert!(words.clone().count() > 10);
    for line in words {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

#[test]
fn nothing_is_said_by_colour() {
    for text in
        [print(&sample::document()), driver_info(&sample::description("dds", true, "native_batching"))]
    {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(text.lines().all(|line| line.trim_end() == line), "no line ends in blanks");
    }
}

#[test]
fn json_is_the_document() {
    let document = sample::document();
    let text = json(&document);
    assert!(text.ends_with("}\n"));
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
}

#[test]
fn a_line_for_each_run() {
    let header = sample::header();
    let mut lines = Vec::new();
    let mut add = |run: &Run| {
        let cell = header.experiment.cells.iter().find(|cell| cell.id == run.cell).unwrap();
        lines.push(run_line(run, &cell.factors, run.number as usize, 48));
    };
    let find = |part: &str| {
        sample::runs().into_iter().map(|(run, _)| run).find(|run| run.cell.ends_with(part)).unwrap()
    };
    for part in ["dds/udp4/latency/32", "plain/udp4/throughput/1024", "dds/udp4/throughput/32/batch-8192"] {
        add(&find(part));
    }
    let mut lossy = find("plain/udp4/latency/32");
    lossy.counted[0].lost = 3;
    lossy.latency.get_mut("rtt").unwrap().p99_ns = None;
    add(&lossy);
    add(&sample::failed(&find("dds/udp4/latency/1024")));
    let failure = Failure {
        phase: "hello".to_owned(),
        role: None,
        error: "the agent ended with signal 11".to_owned(),
        hint: None,
        last_words: Vec::new(),
    };
    add(&Run { failure: Some(failure), ..sample::failed(&find("dds/udp4/latency/1024")) });
    let text = "delivered more than was sent".to_owned();
    let warnings = vec![Warning { kind: WarningKind::RunsInvalid, text }];
    add(&Run { state: RunState::Invalid, warnings, ..find("dds/udp4/throughput/8192") });
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_driver_whose_middleware_is_not_installed_says_how_to_get_it() {
    let mut description = sample::description("absent", true, "native_batching");
    description.middleware_version = "not installed".to_owned();
    description.build = Some("it is not there; hint: get it".to_owned());
    let path = PathBuf::from("drivers/libddsmark_absent.so");
    let list =
        driver_list(&[FoundDriver { name: "absent".to_owned(), path, description: Ok(description) }], &[]);
    assert!(list.contains("not installed"), "{list}");
    assert!(list.contains("absent: it is not there; hint: get it"), "{list}");
}

#[test]
fn drivers_in_a_list() {
    let found = |name: &str, description| FoundDriver {
        name: name.to_owned(),
        path: PathBuf::from(format!("drivers/libddsmark_{name}.so")),
        description,
    };
    let list = [
        found("dds", Ok(sample::description("dds", true, "native_batching"))),
        found("plain", Ok(sample::description("plain", false, "application_batching"))),
        found("old", Err("it has version 0 of the driver contract; this ddsmark has version 1".to_owned())),
    ];
    assert_snapshot!(driver_list(&list, &[]), @"
    Driver  Middleware      Version  Transports  Receives by       File
    dds     Example DDS     2.5.1    udp4, shm   waitset, polling  drivers/libddsmark_dds.so
    plain   bare socket     2.5.1    udp4, shm   waitset, polling  drivers/libddsmark_plain.so
    old     cannot be used                                         drivers/libddsmark_old.so

    old: it has version 0 of the driver contract; this ddsmark has version 1
    ");
    assert_snapshot!(driver_list(&[], &[]), @"no driver was found");
}

#[test]
fn drivers_that_can_be_built() {
    let version = |name: &str, is_installed, must_be_accepted| InstallableDriver {
        name: name.to_owned(),
        origin: "a package 1.0".to_owned(),
        licence: "Apache-2.0".to_owned(),
        must_be_accepted,
        is_installed,
    };
    let own = InstallableDriver { name: "own".to_owned(), ..Default::default() };
    let all = [
        version("dds@3.2", true, false),
        version("dds@2.14", false, false),
        version("x@1", false, true),
        own,
    ];
    assert_snapshot!(driver_versions(&all), @"
    Driver    Middleware        Licence                      Installed
    dds@3.2   a package 1.0     Apache-2.0                   yes
    dds@2.14  a package 1.0     Apache-2.0                   no
    x@1       a package 1.0     Apache-2.0 (to be accepted)  no
    own       nothing to fetch                               no
    ");
    assert_snapshot!(driver_list(&[], &all), @"
    no driver was found

      Not installed  Middleware        Licence
      dds@2.14       a package 1.0     Apache-2.0
      x@1            a package 1.0     Apache-2.0 (to be accepted)
      own            nothing to fetch

    `ddsmark drivers install NAME@VERSION` fetches and builds one
    ");
    assert_snapshot!(driver_versions(&[]), @"no driver can be built");
}

#[test]
fn all_that_a_driver_says_of_itself() {
    let mut dds = sample::description("dds", true, "native_batching");
    dds.kept_threads = vec!["dds.keeper".to_owned(), "dds.other".to_owned()];
    assert_snapshot!(driver_info(&dds));
    let mut bare = sample::description("plain", false, "application_batching");
    (bare.options, bare.build) = (Vec::new(), None);
    let text = driver_info(&bare);
    assert!(text.contains("\nOptions\n  none\n"), "{text}");
    assert!(text.contains("  build        not known\n"), "{text}");
    assert!(!text.contains("keeps"), "{text}");
}

#[test]
fn an_open_loop_has_a_row_for_each_load_and_flow() {
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
            run.paced.as_mut().unwrap().sender_limited = true;
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
            run_line(run, &cell.factors, 1, 18)
        })
        .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_row_says_where_the_middleware_held_its_writer_up() {
    use sample::paced::{constant, document_with, header};
    let of = |held: u32| {
        document_with(&header(&[constant(1000)], &[]), |run| {
            run.paced.as_mut().unwrap().back_pressure = run.block <= held;
        })
    };
    let words = "back-pressure: 99 % of the send lag is over a tenth";
    let [none, some, all] = [0, 1, 99].map(|held| print(&of(held)));
    assert!(!none.contains("back-pressure"), "{none}");
    assert!(some.contains("back-pressure in 1 of 3 runs") && some.contains(words), "{some}");
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
    let lines: Vec<String> = cell.runs.iter().map(|run| run_line(run, &cell.factors, 1, 6)).collect();
    assert_snapshot!(lines.join("\n"));
    let run = cell.runs.iter().find(|run| run.number != 5).expect("a search");
    let line = report::trial_line(run, std::time::Duration::from_millis(61_900));
    let said = "  trial 3: ";
    assert!(
        line.starts_with(said) && line.contains("ndr good (0 %)") && line.contains("at most 61 s more"),
        "{line}"
    );
}

#[test]
fn what_percents_are_of_stands_below_the_table() {
    use results::{Maximum, MaximumRun, Unpaced};
    let percent = Share::of_percent(50.0).expect("a share");
    let load = |rate| Load::Share { percent, arrival: Arrival::Constant, rate };
    let known = load(Some(Rate::per_second(5_000)));
    let header = sample::paced::header(&[known, sample::paced::constant(1_000)], &[]);
    let mut document = sample::paced::document_with(&header, |_| {});
    assert!(!print(&document).contains("100 %"), "{}", print(&document));
    let run = |number, delivered_sps: Option<f64>| MaximumRun {
        number,
        started_unix_ns: 0,
        took_ns: 1,
        unpaced: delivered_sps.map(|delivered_sps| Unpaced {
            duration_ns: 1,
            offered_sps: 30_000.0,
            delivered_sps,
        }),
        failure: delivered_sps.is_none().then(|| Failure {
            phase: "measure".to_owned(),
            role: Some("writer".to_owned()),
            error: "it broke".to_owned(),
            hint: None,
            last_words: Vec::new(),
        }),
    };
    let mut lines = Vec::new();
    let mut told = |rates: [Option<f64>; 3]| {
        let cells = document.cells.iter().filter(|cell| cell.factors.driver == "dds");
        let mut maximum = Maximum {
            id: "dds/paced/max".to_owned(),
            cells: cells.map(|cell| cell.id.clone()).collect(),
            sps: None,
            runs: Vec::new(),
        };
        for (number, rate) in (1_000_001..).zip(rates) {
            maximum.add(run(number, rate));
            lines.push(report::maximum_line(&maximum, &maximum.runs[maximum.runs.len() - 1], 3, 12));
        }
        document.maxima = vec![maximum];
        print(&document)
    };
    let text = told([Some(9_800.0), Some(10_300.0), Some(10_000.0)]);
    let line =
        "100 % at 1024 bytes, batch none: 10000/s, the median of 3 runs as fast as it goes (9800 to 10300/s)";
    assert!(text.contains(line) && text.contains("Percent: of what the same cell had"), "{text}");
    let first =
        text.lines().skip_while(|line| !line.starts_with("Latency under load")).nth(3).unwrap_or_default();
    assert!(first.contains(" 50% (5000/s)  "), "{first}");
    let text = told([None, Some(10_300.0), None]);
    assert!(
        text.contains("the median of 1 run as fast as it goes (10300 to 10300/s, 2 more failed)"),
        "{text}"
    );
    assert!(told([None; 3]).contains("not known, all runs that were to measure it failed"));
    assert_eq!(
        lines[2],
        "[maximum  3/12] dds/paced/max: 30000/s offered, 10000/s delivered; 100 % is 10000/s"
    );
    assert_eq!(lines[3], "[maximum  3/12] dds/paced/max: FAILED in `measure` (writer): it broke");
}
