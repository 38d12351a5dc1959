//! Complete results: with all runs or not, and with their problems.

use experiment::{Design, Pin, Policy, PolicySupport, QosDuration, RunOrder, Support, Workload};
use insta::assert_snapshot;
use report::{json, run_line};
use results::{
    Assembler, ResultDocument, RunState, State, SteadyClass, SteadySegment, SteadyState, Warning, WarningKind,
};

use crate::{print, sample};

#[test]
fn order_and_numbers_of_samples_of_the_design_are_stated() {
    let header = sample::header();
    let mut document = sample::document_with(|_| {});
    assert!(print(&document).contains("in shuffled order (seed 42), each 200 ms after 50 ms of warm-up"));
    document.experiment.design = Design {
        order: RunOrder::Listed,
        samples: Some(5_000),
        warm_up_samples: Some(20),
        ..header.experiment.design
    };
    let text = print(&document).replace("\n    ", " ").replace("\n  ", " ");
    let conditions = "in the order of the cells (seed 42), each 5000 samples of each writer (at most 200 ms) after 20 samples of \
                      warm-up";
    assert!(text.contains(conditions), "{text}");
    let screen = report::first_screen(&document, report::ScreenOptions::default()).replace("\n    ", " ");
    assert!(
        screen.contains("each 5000 samples of each writer (at most 200 ms) after 20 samples"),
        "{screen}"
    );
}

#[test]
fn a_complete_result() {
    assert_snapshot!(print(&sample::document()));
}

#[test]
fn requested_policies_that_are_not_enforced_are_named() {
    let with = |support: Support| {
        let mut document = sample::document();
        for cell in &mut document.cells {
            cell.factors.qos.latency_budget_ns = Some(QosDuration::Ns(1_000_000));
        }
        for driver in document.drivers.values_mut() {
            driver.policies.insert(Policy::LatencyBudget, PolicySupport::of_both(support, None));
        }
        print(&document)
    };
    let line = "requested policies that the driver does not enforce: latency_budget is ";
    assert!(with(Support::Ignored).contains(&format!("{line}ignored\n")));
    assert!(with(Support::MatchedOnly).contains(&format!("{line}matched only\n")));
    assert!(!with(Support::Enforced).contains(line));
}

#[test]
fn counts_that_overflow_are_shown_as_far_as_they_go() {
    let document = sample::document_with(|run| {
        run.udp_buffer_drops = Some(u64::MAX);
        for counted in run.flows.iter_mut().map(|flow| &mut flow.counted) {
            counted.sent = u64::MAX;
            counted.lost = u64::MAX;
            counted.duplicate = u64::MAX;
            counted.out_of_order = u64::MAX;
        }
        if let Some(throughput) = run.throughput_mut() {
            throughput.sent = u64::MAX;
            throughput.lost = u64::MAX;
        }
        if let Some(wire) = &mut run.wire {
            wire.tx_bytes = u64::MAX;
        }
        for latency in run.latency.values_mut() {
            latency.n = u64::MAX;
        }
        for agent in &mut run.processes {
            agent.usage.elapsed_ns = 0;
        }
    });
    assert!(!findings::find(&document).is_empty());
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
            run.warnings.push(Warning::new(WarningKind::RunsInvalid, text));
        }
    });
    assert_snapshot!(print(&document));
}

#[test]
fn losses_and_drops_mark_what_they_spoil() {
    let document = sample::document_with(|run| {
        run.udp_buffer_drops = if run.cell.contains("/1024") { None } else { Some(3) };
        if run.cell.contains("latency/32") {
            run.flows[0].counted.lost = 40;
        }
    });
    assert_snapshot!(print(&document));
}

#[test]
fn runs_with_and_without_steady_state_are_counted() {
    let segment =
        |level_ns| SteadySegment { from_ns: 0, to_ns: 1, level_ns: Some(level_ns), level_sps: None };
    let with = |verdict, levels: &[f64]| SteadyState {
        verdict,
        steady_from_ns: None,
        segments: levels.iter().copied().map(segment).collect(),
        windows: None,
    };
    let document = sample::document_with(|run| {
        let slow = run.cell == "dds/udp4/latency/1024" && run.block == 2;
        let state = match slow {
            true => with(SteadyClass::NoSteadyState, &[30_000.0, 41_000.0]),
            false => with(SteadyClass::Flat, &[30_000.0]),
        };
        run.steady_state.insert("rtt_p50".to_owned(), state);
    });
    let text = print(&document);
    assert!(
        text.contains("Steady state: 47 of 48 valid runs kept one level during the measurement"),
        "{text}"
    );
    assert!(text.contains("the warnings name the others."), "{text}");
    let warning =
        "dds/udp4/latency/1024: 1 of 3 runs reached no steady state while measured (median RTT from 30.0";
    assert!(text.contains(warning), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");

    // all runs that could be classified; then none
    let document = sample::document_with(|run| {
        if run.block == 1 {
            run.steady_state.insert("rtt_p50".to_owned(), with(SteadyClass::Flat, &[30_000.0]));
        }
    });
    let text = print(&document);
    assert!(text.contains("Steady state: 16 of 48 valid runs"), "{text}");
    assert!(text.contains("the others have too few samples"), "{text}");
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
    document.findings = findings::find(&document);
    document.verdicts = verdicts::judge(&document);
    let text = print(&document);
    let absolute = ["Latency: RTT", "Latency by direction", "Medians over runs"];
    for heading in absolute {
        let lines: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with(heading)).collect();
        assert!(!lines.is_empty(), "{heading}: {text}");
        assert!(lines.iter().all(|line| line.contains("under duet interference")), "{lines:?}");
    }
    for words in [
        "and of its baseline at the same time (duets), in shuffled order",
        "ends pinned to cores 0 and 2, or 1 and 3, swapped in each block",
        "Noise floor: the baseline against itself, beside itself in each block",
        "absolute values are under duet interference: each run shared the host",
    ] {
        assert!(text.replace("\n    ", " ").contains(words), "{words}: {text}");
    }
    assert!(!text.contains("Findings"), "{text}");
    let (run, _) = &runs[0];
    let cell = experiment.cells.iter().find(|cell| cell.id == run.cell).expect("its cell");
    let line = run_line(run, &cell.factors, &experiment.design, 1, runs.len());
    assert!(line.ends_with(", under duet interference"), "{line}");
    let json = json(&document);
    for label in ["\"under_duet_interference\": true", "\"partner\": ", "\"side_by_side_pct\": 99.5"] {
        assert!(json.contains(label), "{label}");
    }
    // no mention of duets without them
    let alone = sample::document();
    let json = report::json(&alone);
    assert!(
        !print(&alone).contains("duet")
            && !json.contains("partner")
            && !json.contains("interference\": true")
    );
}

#[test]
fn no_run_at_all() {
    let document = Assembler::new(sample::header()).document(State::Interrupted);
    let text = print(&document);
    assert!(text.contains("INTERRUPTED: 0 of 48 runs made, 0 valid"), "{text}");
    // one row in each table: throughput unbatched and batched, write calls, latency and its directions
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
    document.findings = findings::find(&document);
    let text = print(&document);
    let (tables, rest) = text.split_once("\nFindings").expect("a heading");
    assert!(tables.contains("Latency by direction"));
    let findings: Vec<&str> = rest.lines().take_while(|line| !line.is_empty()).collect();
    assert_snapshot!(findings.join("\n"));
}

#[test]
fn json_is_the_document() {
    let document = sample::document();
    let text = json(&document);
    assert!(text.ends_with("}\n"));
    assert_eq!(serde_json::from_str::<ResultDocument>(&text).unwrap(), document);
}

#[test]
fn share_of_which_nothing_arrived_is_0_among_the_medians() {
    let mut document = sample::document_with(|run| {
        if run.cell == "dds/udp4/latency/1024" {
            let counted = &mut run.flows[0].counted;
            (counted.lost, counted.delivered) = (counted.sent, 0);
        }
    });
    document.experiment.design.baseline = vec!["plain/udp4/latency/1024".to_owned()];
    document.verdicts = verdicts::judge(&document);
    let text = print(&document);
    let is_row = |line: &&str| {
        line.trim_start().starts_with("dds/udp4/latency/1024 ")
            && line.contains("share of complete round trips")
    };
    let row = text.lines().find(is_row).unwrap_or_else(|| panic!("{text}"));
    let values: Vec<&str> = row.split("round trips").last().unwrap_or_default().split_whitespace().collect();
    assert_eq!((values[0], values[2]), ("100", "0"), "{row}");
}

#[test]
fn design_says_how_many_runs_were_made_and_planned() {
    let mut document = sample::document();
    document.blocks = sample::blocks(&document.experiment);
    let planned = document.experiment.design.blocks;
    let has = |document: &ResultDocument, words: &str| {
        let text = print(document).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words} in {text}");
    };
    has(&document, &format!(" {planned} runs of each cell"));
    let again = results::Block { number: planned + 1, repeats: Some(1), ..document.blocks[0].clone() };
    document.blocks.push(again);
    has(&document, &format!(" {} runs ({planned} planned, 1 block repeated) of each cell", planned + 1));
    document.blocks.truncate(2);
    has(&document, &format!(" 2 runs ({planned} planned) of each cell"));
}
