//! First screen: its lines and columns, and its text for the kinds of results.

use experiment::{Cell, Discovery, Factors, Join, Load, Rate, Topology, Workload};
use insta::assert_snapshot;
use report::{Charset, ScreenOptions, first_screen, terminal};
use results::{
    Assembler, CoreNoise, DiscoveryRecord, HostNoise, Interface, Measurement, NoiseProbe, ResultDocument,
    State, Warning, WarningKind,
};

use crate::sample;

fn screen(document: &ResultDocument) -> String {
    first_screen(document, ScreenOptions { directory: Some("results/first"), ..ScreenOptions::default() })
}

fn with_findings(mut document: ResultDocument) -> ResultDocument {
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    document
}

/// Returns a result of two drivers with noise probes.
fn characterized() -> ResultDocument {
    let mut document = with_findings(sample::document());
    document.blocks = sample::blocks(&document.experiment);
    for block in &mut document.blocks {
        let cores =
            vec![CoreNoise { core: 0, gaps: 3, max_gap_ns: 141_000, stolen_pct: 0.214, longer: vec![3, 1] }];
        block.hosts[0].before = Some(NoiseProbe { length_ns: 50_000_000, cores });
        block.hosts[0].counters = Some(HostNoise { steal_pct: Some(0.31), ..HostNoise::default() });
    }
    document.blocks[1].noisy = true;
    document
}

fn one_latency_cell() -> ResultDocument {
    let mut header = sample::header();
    header.experiment.cells.retain(|cell| cell.id == "dds/udp4/latency/1024");
    let runs = sample::runs_of(&header.experiment);
    let mut assembler = Assembler::new(header);
    for (run, log) in &runs {
        assembler.add(run.clone(), &log.merged());
    }
    with_findings(assembler.document(State::Complete))
}

/// Returns a result of discovery with one participant in each process, and with four.
fn discovered() -> ResultDocument {
    let mut header = sample::header();
    header.experiment.cells.retain(|cell| cell.id == "dds/udp4/latency/1024");
    let first = header.experiment.cells[0].clone();
    let cell = |participants_per_process: u32| {
        let factors = Factors {
            workload: Workload::Discovery,
            topology: Topology::FullMesh { participants: 16 },
            discovery: Discovery { endpoints: 2, participants_per_process, join: Join::Together },
            ..first.factors.clone()
        };
        Cell {
            id: format!("dds/udp4/discovery/full-mesh-16/per-process-{participants_per_process}"),
            factors,
        }
    };
    header.experiment.cells = vec![cell(1), cell(4)];
    let mut assembler = Assembler::new(header.clone());
    for scheduled in header.experiment.schedule() {
        let cell = &header.experiment.cells[scheduled.cell];
        let (mut run, log) = sample::run(scheduled, cell);
        let per_process = u64::from(cell.factors.discovery.participants_per_process);
        let matched_ns = 40_000_000 + 100_000 * u64::from(scheduled.number);
        run.latency.clear();
        run.flows.clear();
        let discovery = DiscoveryRecord {
            clock_error_ns: 0,
            all_matched_ns: Some(matched_ns),
            slowest: Some("participant-7 reader".to_owned()),
            median_matched_ns: Some(matched_ns / 2),
            until_matched: Some(Interface { tx_packets: 9_000 / per_process, ..Interface::default() }),
            idle: None,
            others_packets_per_s: Some(3.5),
            idle_ns: 2_000_000_000,
            idle_cpu_ns: 40_000_000,
            memory_per_participant_bytes: Some((300 << 10) + (600 << 10) / per_process),
            changed_later: 0,
            participants: Vec::new(),
        };
        run.measured = Some(Measurement::Discovery { discovery });
        assembler.add(run, &log.merged());
    }
    with_findings(assembler.document(State::Complete))
}

fn loaded() -> ResultDocument {
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
    with_findings(document_with(&header(&loads, &flows), |run| {
        if run.cell.ends_with("10000/s") && run.block == 2 {
            run.paced_mut().unwrap().sender_limited = true;
        }
    }))
}

fn searched() -> ResultDocument {
    sample::search::document_with(|run| {
        if run.number == 5 {
            *run = sample::failed(run);
        }
    })
}

/// Returns an interrupted result with failures and with every kind of warning.
fn interrupted() -> ResultDocument {
    let mut assembler = Assembler::new(sample::header());
    for (mut run, log) in sample::runs().into_iter().take(40) {
        if run.cell.starts_with("dds/udp4/throughput/32") {
            run = sample::failed(&run);
        } else if run.cell.contains("latency/1024") {
            run.flows[0].counted.lost = 40;
            run.udp_buffer_drops = Some(7);
        }
        assembler.add(run, &log.merged());
    }
    let mut document = with_findings(assembler.document(State::Interrupted));
    for kind in [
        WarningKind::Buffers,
        WarningKind::Batching,
        WarningKind::MulticastCopies,
        WarningKind::HandedOver,
        WarningKind::Foreign,
        WarningKind::Corrupt,
        WarningKind::Spread,
        WarningKind::Groups,
        WarningKind::FewSamples,
        WarningKind::Tail,
        WarningKind::LatePings,
        WarningKind::OtherTraffic,
        WarningKind::NotSteady,
        WarningKind::Search,
        WarningKind::WritesRefused,
        WarningKind::IdleCpu,
        WarningKind::Incomplete,
        WarningKind::UncleanExit,
    ] {
        document.cells[0].warnings.push(Warning::new(kind, "a text of this warning"));
    }
    for kind in [WarningKind::Host, WarningKind::Duet, WarningKind::Noisy, WarningKind::Mixed] {
        document.warnings.push(Warning::new(kind, "a text of this warning"));
    }
    document
}

/// Returns a result whose second driver is slower than its first one, the baseline.
fn judged() -> ResultDocument {
    let mut header = sample::header();
    let experiment = &mut header.experiment;
    experiment.cells.retain(|cell| cell.factors.workload == Workload::Latency);
    experiment.design.blocks = 12;
    let is_plain = |cell: &&Cell| cell.id.starts_with("plain");
    experiment.design.baseline =
        experiment.cells.iter().filter(is_plain).map(|cell| cell.id.clone()).collect();
    let runs = sample::runs_of(experiment);
    let mut assembler = Assembler::new(header);
    for (mut run, log) in runs {
        if run.cell.starts_with("dds") {
            let rtt = run.latency.get_mut("rtt").unwrap();
            rtt.p50_ns = rtt.p50_ns.map(|ns| ns * 5 / 4);
        }
        assembler.add(run, &log.merged());
    }
    with_findings(assembler.document(State::Complete))
}

fn empty() -> ResultDocument {
    let mut header = sample::header();
    header.experiment.cells.clear();
    Assembler::new(header).document(State::Complete)
}

/// Returns a result with the most of everything: many drivers and sizes, long names, long texts.
fn crowded() -> ResultDocument {
    let mut document = interrupted();
    for (number, cell) in document.cells.iter_mut().enumerate() {
        cell.factors.driver = format!("a-driver-with-a-long-name-{number}@3.14.15");
    }
    let cells = document.cells.clone();
    for (number, cell) in (0..20).zip(cells.iter().cycle()) {
        let mut cell = cell.clone();
        cell.id = format!("{}-{number}", cell.id);
        cell.factors.interface = format!("interface{number}");
        document.cells.push(cell);
    }
    document.findings = with_findings(sample::document()).findings;
    document.verdicts = judged().verdicts;
    document.hosts[0].properties.cpu = Some("A processor with quite a long name ".repeat(5));
    document.experiment.name = "an-experiment-with-a-long-name".to_owned();
    document
}

fn all() -> Vec<(&'static str, ResultDocument)> {
    vec![
        ("characterized", characterized()),
        ("latency", one_latency_cell()),
        ("discovery", discovered()),
        ("load", loaded()),
        ("search", searched()),
        ("interrupted", interrupted()),
        ("judged", judged()),
        ("empty", empty()),
        ("crowded", crowded()),
    ]
}

/// Cells with different numbers of participants per process have tables of their own, and each names its number.
#[test]
fn participants_per_process_are_in_titles_and_rows() {
    assert_snapshot!("discovery_in_full", terminal(&discovered(), None));
}

#[test]
fn first_screens() {
    for (name, document) in all() {
        assert_snapshot!(name, screen(&document));
    }
}

#[test]
fn cell_of_which_most_samples_are_missing_is_in_the_first_line_and_has_no_verdict() {
    let missing = "plain/udp4/throughput/1024";
    let document = |pct: u64| {
        with_findings(sample::document_with(|run| {
            for counted in run.flows.iter_mut().map(|flow| &mut flow.counted).filter(|_| run.cell == missing)
            {
                counted.undelivered = counted.sent * pct / 100;
                (counted.lost, counted.delivered) = (0, counted.sent - counted.undelivered);
            }
        }))
    };
    let first = |pct| screen(&document(pct)).lines().next().expect("a line").to_owned();
    let words = "most samples of 1 cell did not arrive";
    for pct in [51, 95, 100] {
        assert!(first(pct).contains(words), "{}", first(pct));
    }
    for pct in [0, 40] {
        assert!(!first(pct).contains(words), "{}", first(pct));
    }
}

#[test]
fn missing_noise_probes_are_reported() {
    let mut document = characterized();
    let words = "no noise probe";
    assert!(!screen(&document).contains(words), "{}", screen(&document));
    for block in &mut document.blocks {
        block.hosts[0].before = None;
    }
    assert!(screen(&document).contains(words), "{}", screen(&document));
}

#[test]
fn a_screen_has_at_most_40_lines_and_is_not_wider_than_the_terminal() {
    for (name, document) in all() {
        for width in [40, 60, 80, 100, 240] {
            let picture = Some(Charset::Unicode);
            let options =
                ScreenOptions { width: Some(width), directory: Some("r"), picture, ..Default::default() };
            let text = first_screen(&document, options);
            assert!(text.lines().count() <= 40, "{name}, {width}: {} lines\n{text}", text.lines().count());
            for line in text.lines() {
                let columns = line.chars().count();
                let is_word = line.split_ascii_whitespace().count() == 1;
                // the table keeps its main columns at any width
                assert!(
                    columns <= usize::from(width.min(100)) || is_word || width < 60,
                    "{name}, {width}: {columns} columns: {line}\n{text}"
                );
            }
        }
    }
}

/// Returns the lines that a picture adds to a screen of this width; none without a picture.
fn picture(document: &ResultDocument, charset: Charset, width: u16) -> Vec<String> {
    let screen = |picture| {
        let options = ScreenOptions { width: Some(width), picture, ..Default::default() };
        first_screen(document, options)
    };
    let plain = screen(None);
    let with = screen(Some(charset));
    with.lines().filter(|line| !plain.lines().any(|other| other == *line)).map(ToOwned::to_owned).collect()
}

/// Returns a result of two configurations, unbatched and batched, at these sizes. Rates fall with the size.
fn rates_over(sizes: &[u64]) -> ResultDocument {
    let mut header = sample::header();
    let first = header.experiment.cells.iter().find(|cell| cell.id.starts_with("dds/udp4/throughput/32"));
    let first = first.expect("one of the sample").clone();
    let cell = |driver: &str, size: u64| {
        let factors = Factors { driver: driver.to_owned(), size_bytes: size, ..first.factors.clone() };
        Cell { id: format!("{driver}/udp4/throughput/{size}"), factors }
    };
    header.experiment.cells =
        ["dds", "plain"].iter().flat_map(|driver| sizes.iter().map(|size| cell(driver, *size))).collect();
    let runs = sample::runs_of(&header.experiment);
    let mut assembler = Assembler::new(header.clone());
    for (mut run, log) in runs {
        let cell = header.experiment.cells.iter().find(|cell| cell.id == run.cell).expect("a cell");
        let rate = 4e9 / (cell.factors.size_bytes as f64 + 2_000.0);
        let slower = if run.cell.starts_with("dds") { 1.0 } else { 0.4 };
        run.throughput_mut().expect("measured").delivered_sps = rate * slower;
        assembler.add(run, &log.merged());
    }
    assembler.document(State::Complete)
}

#[test]
fn picture_shows_latencies_of_configurations_on_one_scale() {
    assert_snapshot!("picture_latency", picture(&judged(), Charset::Unicode, 100).join("\n"));
    assert_snapshot!("picture_latency_ascii", picture(&judged(), Charset::Ascii, 100).join("\n"));
    // With 3 runs, there is no 95 % interval.
    assert_snapshot!(
        "picture_latency_of_few_runs",
        picture(&characterized(), Charset::Unicode, 100).join("\n")
    );
}

#[test]
fn picture_shows_rates_over_the_size() {
    let sizes = [16, 64, 256, 1024, 4096, 16_384, 63_000];
    assert_snapshot!("picture_rates", picture(&rates_over(&sizes), Charset::Unicode, 100).join("\n"));
    assert_snapshot!("picture_rates_ascii", picture(&rates_over(&sizes), Charset::Ascii, 80).join("\n"));
    assert_eq!(picture(&rates_over(&sizes[..3]), Charset::Unicode, 100), [""; 0]);
}

#[test]
fn picture_needs_several_configurations_room_and_a_terminal_of_80_columns() {
    assert_eq!(picture(&one_latency_cell(), Charset::Unicode, 100), [""; 0]);
    assert_eq!(picture(&judged(), Charset::Unicode, 79), [""; 0]);
    for (name, document) in all() {
        for charset in [Charset::Unicode, Charset::Ascii] {
            let lines = picture(&document, charset, 80);
            assert!(lines.len() <= 6, "{name}: {lines:#?}");
            assert!(charset == Charset::Unicode || lines.iter().all(|line| line.replace('µ', "").is_ascii()));
        }
    }
}

#[test]
fn colour_changes_no_text() {
    for (name, document) in all() {
        let coloured = first_screen(&document, ScreenOptions { colour: true, ..Default::default() });
        let plain = first_screen(&document, ScreenOptions::default());
        assert!(coloured.contains('\u{1b}') && !plain.contains('\u{1b}'), "{name}");
        assert_eq!(without_colour(&coloured), plain, "{name}");
    }
}

/// Removes the escape sequences of colours.
fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn next_steps_are_commands_that_a_shell_takes() {
    let mut document = interrupted();
    document.tool.command_line =
        ["ddsmark", "run", "my file.toml", "--out", "here", "--quick", "-n", "3", "--set", "a=1"]
            .map(str::to_owned)
            .to_vec();
    vary(&mut document, WarningKind::Spread);
    let options =
        ScreenOptions { directory: Some("results of today/it's"), width: Some(60), ..Default::default() };
    let text = first_screen(&document, options).replace(" \\\n   ", "");
    for command in [
        r"  ddsmark run --resume 'results of today/it'\''s'",
        r"  ddsmark run 'my file.toml' --quick --set a=1 --runs 12",
        r"  ddsmark report 'results of today/it'\''s' --full",
    ] {
        assert!(text.lines().any(|line| line.starts_with(command)), "{command}\n{text}");
    }
    // a resumed experiment cannot be repeated by its command
    document.tool.command_line = ["ddsmark", "run", "--resume", "here"].map(str::to_owned).to_vec();
    assert!(!screen(&document).contains(", since "));
}

/// Gives the first cell a warning of this kind instead of all others.
fn vary(document: &mut ResultDocument, kind: WarningKind) {
    document.cells.iter_mut().for_each(|cell| cell.warnings.clear());
    document.cells[0].warnings = vec![Warning::new(kind, "text".to_owned())];
}

#[test]
fn words_of_the_next_measurement_are_those_of_its_command() {
    let next = |line: &[&str], kind: WarningKind| {
        let mut document = judged();
        document.blocks.iter_mut().for_each(|block| block.noisy = false);
        (document.experiment.design.measure_ns, document.experiment.design.blocks) = (800_000_000, 10);
        document.tool.command_line = line.iter().map(|word| (*word).to_owned()).collect();
        vary(&mut document, kind);
        let text = screen(&document);
        let found = text.lines().find(|line| line.contains(", since ")).map(|line| line.trim().to_owned());
        found.map(|line| line.split("  # ").map(|part| part.trim().to_owned()).collect::<Vec<_>>())
    };
    let measured =
        ["ddsmark", "latency", "-d", "a", "--duration", "800ms", "--runs=10", "--budget", "1min", "-o", "x"];
    let spread = next(&measured, WarningKind::Spread);
    let expected = ["ddsmark latency -d a --duration 800ms --runs 20", "more runs, since these vary"];
    assert_eq!(spread.expect("a command"), expected);
    let longer = next(&measured, WarningKind::NotSteady);
    let expected = ["ddsmark latency -d a --duration 1600ms", "longer runs, since these are not steady"];
    assert_eq!(longer.expect("a command"), expected);
    let attached = ["ddsmark", "latency", "-da", "-n10", "-ox", "--json"];
    let attached = next(&attached, WarningKind::Spread).expect("a command");
    assert_eq!(attached[0], "ddsmark latency -da --runs 20");
    let quick = next(&["ddsmark", "run", "seed-000", "--quick"], WarningKind::FewSamples);
    let expected = ["ddsmark run seed-000 --duration 1600ms", "longer runs, since these have few samples"];
    assert_eq!(quick.expect("a command"), expected);
    // no measurement of ours has its flags
    assert_eq!(next(&["ddsmark", "perftest", "-pub"], WarningKind::Spread), None);
    assert_eq!(next(&measured, WarningKind::Host), None, "more runs do not help");
}
