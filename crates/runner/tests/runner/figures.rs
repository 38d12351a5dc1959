//! Evaluation of the agents' reports: metrics, exclusion of inconsistent runs, and warnings.

use crate::rig::{Rig, files_below, run};
use experiment::{Batching, Pin, Queues, ReceiveGroup, Workload};
use results::{
    Directory, Document, FindingKind, PingRetries, ReferenceFigure, RunState, State, Tail, WarningKind,
};

fn measure(workload: Workload, script: &str) -> Document {
    Rig::new(&[("d", script)]).of_workload(workload).execute()
}

fn kinds(document: &Document, cell: &str) -> Vec<WarningKind> {
    run(document, cell).warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_latency_run_has_round_trips_and_both_ways() {
    let document = measure(Workload::Latency, "");
    let run = run(&document, "d/latency");
    assert_eq!((run.state, &run.failure, document.state), (RunState::Valid, &None, State::Complete));
    for (kind, ns) in [("rtt", 100_000), ("one_way_out", 40_000), ("one_way_back", 45_000)] {
        let latency = &run.latency[kind];
        assert_eq!((latency.n, latency.min_ns, latency.max_ns), (1000, ns, ns), "{kind}");
        assert!((latency.mean_ns - ns as f64).abs() < 1e-6, "{kind}: {}", latency.mean_ns);
    }
    let counted = &run.counted[0];
    assert_eq!((counted.sent, counted.delivered, counted.lost), (1000, 1000, 0));
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    let phases: Vec<_> = run.phases_ns.keys().map(String::as_str).collect();
    assert_eq!(phases, ["configure", "drain", "exit", "hello", "match", "measure", "report", "warm_up"]);
    assert!(run.phases_ns["measure"] >= 2_000_000);
    let roles: Vec<_> = run.agents.iter().map(|agent| agent.role.as_str()).collect();
    assert_eq!(roles, ["pinger", "ponger"]);
    assert_eq!(run.effective_qos.keys().collect::<Vec<_>>(), ["reader", "writer"]);
}

#[test]
fn writes_of_pings_and_echoes_that_were_not_accepted_are_counted_and_told() {
    let document = measure(Workload::Latency, "retry");
    let run = run(&document, "d/latency");
    let retries = run.ping_retries.expect("a latency run");
    let expected =
        PingRetries { unsent: 1, timed_out: 2, refused: 3, echoes_timed_out: 4, echoes_refused: 5 };
    assert_eq!(retries, expected);
    // A ping that was never accepted is lost.
    assert_eq!((run.counted[0].sent, run.counted[0].delivered, run.counted[0].lost), (1001, 1000, 1));
    let told: Vec<_> =
        run.warnings.iter().filter(|warning| warning.kind == WarningKind::WritesRefused).collect();
    let words = ["2 writes of pings timed out and 3 were refused", "the last ping", "4 writes of echoes"];
    assert_eq!(told.len(), words.len(), "{told:?}");
    assert!(told.iter().zip(words).all(|(told, words)| told.text.contains(words)), "{told:?}");
    let clean = measure(Workload::Latency, "");
    assert_eq!(crate::rig::run(&clean, "d/latency").ping_retries, Some(PingRetries::default()));
}

#[test]
fn a_throughput_run_has_rates_over_the_measured_time() {
    let document = measure(Workload::Throughput, "");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let throughput = run.throughput.as_ref().unwrap();
    for rate in [throughput.offered_sps, throughput.accepted_sps, throughput.delivered_sps] {
        assert!((rate - 1000.0).abs() < 1e-6, "{throughput:?}");
    }
    assert!((throughput.goodput_mbps - 0.512).abs() < 1e-9, "{throughput:?}");
    let cpu = run.cpu_ns_per_sample.as_ref().unwrap();
    assert!((cpu.writer - 5000.0).abs() < 1e-9 && (cpu.reader - 5000.0).abs() < 1e-9);
    assert_eq!(run.wire.as_ref().unwrap().rx_packets, 1000);
    assert_eq!(run.udp_buffer_drops, Some(0));
    assert_eq!(run.latency["write_call"].n, 1000);
}

#[test]
fn idle_cost_is_subtracted_where_it_is_more_than_a_twentieth() {
    let told = |script: &str| {
        let document = measure(Workload::Throughput, script);
        let run = run(&document, "d/throughput").clone();
        let idle = run.warnings.iter().filter(|warning| warning.kind == WarningKind::IdleCpu);
        let texts: Vec<String> = idle.map(|warning| warning.text.clone()).collect();
        (run.cpu_ns_per_sample, texts)
    };
    assert!(told("").1.is_empty());
    let (cpu, texts) = told("restless");
    let cpu = cpu.expect("some of it is left");
    for (left, pct) in [(cpu.writer, cpu.writer_idle_pct), (cpu.reader, cpu.reader_idle_pct)] {
        assert!((left - 1_000.0).abs() < 1e-6 && (pct.expect("told") - 80.0).abs() < 1e-6, "{left} {pct:?}");
    }
    assert!(texts.len() == 2 && texts[0].contains("80 % of its CPU time was subtracted"), "{texts:?}");
    // No more CPU time than without traffic.
    let (cpu, texts) = told("lazy reader");
    assert!(cpu.is_none() && texts.len() == 1 && texts[0].contains("n/a"), "{texts:?}");
    // A whole core, independent of the traffic.
    let (cpu, texts) = told("polls reader");
    let cpu = cpu.expect("the core's time");
    assert_eq!((cpu.reader, cpu.reader_idle_pct), (5_000.0, None));
    assert!(texts.len() == 1 && texts[0].contains("waits by using its core"), "{texts:?}");
}

#[test]
fn samples_that_were_metered_were_counted() {
    let document = measure(Workload::Throughput, "overmetered reader");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Invalid, "{run:?}");
    assert!(run.warnings[0].text.contains("the reader metered 1001 samples, and counted 1000"), "{run:?}");
}

#[test]
fn writer_cannot_have_accepted_more_than_was_offered_or_written() {
    for (script, contradiction) in [
        ("overaccepts writer", "1000 samples were accepted of 999 offered"),
        ("uncalled writer", "1000 samples were accepted in 999 write calls"),
    ] {
        let document = measure(Workload::Throughput, script);
        let run = run(&document, "d/throughput");
        assert_eq!(run.state, RunState::Invalid, "{script}: {run:?}");
        assert!(run.warnings.iter().any(|told| told.text.contains(contradiction)), "{script}: {run:?}");
    }
}

#[test]
fn counts_that_overflow_are_a_contradiction_and_no_crash() {
    for (workload, cell) in [(Workload::Latency, "d/latency"), (Workload::Throughput, "d/throughput")] {
        let document = measure(workload, "overflow");
        assert_eq!(run(&document, cell).state, RunState::Invalid, "{document:?}");
    }
}

#[test]
fn histograms_and_records_are_saved_and_empty_logs_are_not() {
    let rig = Rig::new(&[("d", "")]);
    rig.execute();
    assert_eq!(
        files_below(&rig.results()),
        [
            "course.json",
            "experiment.json",
            "result.json",
            "runs/0001.hlog",
            "runs/0001.json",
            "runs/0002.hlog",
            "runs/0002.json"
        ]
    );
}

#[test]
fn lost_samples_are_counted_and_told_with_the_drops_beside_them() {
    let document = measure(Workload::Throughput, "lose");
    let counted = &run(&document, "d/throughput").counted[0];
    assert_eq!((counted.delivered, counted.lost, counted.undelivered), (980, 20, 0));
    assert_eq!(kinds(&document, "d/throughput"), [WarningKind::Loss, WarningKind::BufferDrops]);

    let document = measure(Workload::Latency, "lose");
    let counted = &run(&document, "d/latency").counted[0];
    assert_eq!((counted.sent, counted.delivered, counted.lost), (1000, 990, 10));
    assert_eq!(run(&document, "d/latency").latency["one_way_out"].n, 990);
    // 1 % is lost: all values above p99.
    let rtt = &run(&document, "d/latency").latency["rtt"];
    assert_eq!((rtt.n, rtt.lost, rtt.p90_ns.is_some(), rtt.p99_ns), (990, 10, true, None));
    assert_eq!(document.cells[0].latency["rtt"].p99_ns, None);
    let expected = [WarningKind::Loss, WarningKind::Loss, WarningKind::BufferDrops];
    assert_eq!(kinds(&document, "d/latency"), expected);
}

/// Delivers ten samples of a thousand, the last after 9 ms. The rate must not be 1000/s.
#[test]
fn a_rate_of_few_samples_is_of_the_whole_time_and_told() {
    let document = measure(Workload::Throughput, "few");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let throughput = run.throughput.as_ref().unwrap();
    assert_eq!((throughput.delivered, throughput.delivered_sps), (10, 10.0));
    assert_eq!(kinds(&document, "d/throughput"), [WarningKind::Loss, WarningKind::FewSamples]);
    let words = "10 of 1000 samples were delivered: one more or less would change the rate by 10.0 %; raise `measure`";
    assert_eq!(run.warnings[1].text, words);
    let told = &document.cells[0].warnings;
    assert!(told.iter().any(|warning| warning.kind == WarningKind::FewSamples), "{told:?}");
}

/// Delivers the last of a thousand samples 3 s late. It counts in the tail, not in the rate of a run of 1 s.
#[test]
fn rate_with_a_late_repair_is_that_of_the_writers_time_and_the_tail_is_told() {
    let document = measure(Workload::Throughput, "repair");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let throughput = run.throughput.as_ref().expect("rates");
    assert_eq!((throughput.delivered, throughput.delivered_in_time, throughput.lost), (1000, 999, 0));
    assert!((throughput.delivered_sps - 999.0).abs() < 1e-6, "{throughput:?}");
    assert_eq!(throughput.tail, Tail { samples: 1, ns: 3_000_000_000 - (1_000_000 - 40_000) });
    assert_eq!(kinds(&document, "d/throughput"), [WarningKind::Tail]);
    let words = "1 of 1000 samples (0.100 %) came after the writing had ended, up to 2999 ms later";
    assert!(run.warnings[0].text.starts_with(words), "{:?}", run.warnings);
    let told = &document.cells[0].warnings;
    assert!(told.iter().any(|warning| warning.kind == WarningKind::Tail), "{told:?}");
}

#[test]
fn what_a_reliable_flow_still_owes_is_not_lost() {
    let document = measure(Workload::Throughput, "owe");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid);
    assert_eq!((run.counted[0].lost, run.counted[0].undelivered), (0, 10));
    assert_eq!(kinds(&document, "d/throughput"), [WarningKind::Incomplete]);

    // If nothing is undelivered at the end of the drain, the same samples are lost.
    let document = measure(Workload::Throughput, "owe any report");
    let counted = &crate::rig::run(&document, "d/throughput").counted[0];
    assert_eq!((counted.lost, counted.undelivered), (10, 0));
}

#[test]
fn figures_that_contradict_each_other_are_left_out() {
    let scripts = [
        (Workload::Throughput, "overrun", "only 1000 were sent"),
        (Workload::Throughput, "torn", "999 samples came and 0 are missing"),
        (Workload::Throughput, "miscount", "1000 samples came, but 1001 in all windows"),
        (Workload::Throughput, "conjure", "was given 1051 samples, and 1050 were told apart"),
        (Workload::Throughput, "overtake", "gave 1051 samples, and the sink was given 1050"),
        (Workload::Latency, "overwritten", "2 pings came damaged"),
        (Workload::Throughput, "corrupt", "damaged"),
        (Workload::Latency, "torn", "999 came back and 0 were lost"),
        (Workload::Latency, "corrupt", "damaged"),
        (Workload::Latency, "backwards", "received before they were sent"),
    ];
    for (workload, script, word) in scripts {
        let document = measure(workload, script);
        let run = &document.cells[0].runs[0];
        assert_eq!(run.state, RunState::Invalid, "{script}");
        assert_eq!(run.warnings[0].kind, WarningKind::RunsInvalid, "{script}");
        assert!(run.warnings[0].text.contains(word), "{script}: {:?}", run.warnings);
        assert!(document.cells[0].latency.is_empty() && document.cells[0].throughput.is_none(), "{script}");
    }
}

#[test]
fn foreign_samples_are_told_and_change_nothing() {
    let document = measure(Workload::Throughput, "foreign");
    assert_eq!(run(&document, "d/throughput").state, RunState::Valid);
    assert_eq!(kinds(&document, "d/throughput"), [WarningKind::Foreign]);
}

#[test]
fn pings_without_stamps_at_both_ends_are_told() {
    let document = measure(Workload::Latency, "forget");
    let run = run(&document, "d/latency");
    assert_eq!((run.latency["rtt"].n, run.latency["one_way_back"].n), (1000, 990));
    assert_eq!(kinds(&document, "d/latency"), [WarningKind::Incomplete]);
}

#[test]
fn qos_that_is_not_in_force_fails_the_run_and_unreadable_qos_is_told() {
    let document = measure(Workload::Throughput, "qos reader");
    let failure = run(&document, "d/throughput").failure.clone().unwrap();
    assert_eq!((failure.phase.as_str(), failure.role.as_deref()), ("configure", Some("reader")));
    assert!(failure.error.contains("reliability: asked Reliable, in force BestEffort"), "{failure:?}");

    let document = measure(Workload::Throughput, "blind");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid);
    assert!(run.warnings[0].text.contains("reliability of the reader, reliability of the writer"), "{run:?}");
}

#[test]
fn queues_are_held_against_each_end_and_buffers_that_nobody_shows_are_told() {
    let with_queues = |script: &str| {
        let mut rig = Rig::new(&[("d", script)]).of_workload(Workload::Throughput);
        rig.experiment.cells[0].factors.queues = Queues {
            send_samples: Some(7),
            receive_samples: Some(9),
            send_buffer_bytes: Some(65_536),
            receive_buffer_bytes: None,
            receive_group: None,
            polling_delay_ns: None,
        };
        rig.execute().cells[0].runs[0].clone()
    };
    let run = with_queues("");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let texts: Vec<&str> = run.warnings.iter().map(|warning| warning.text.as_str()).collect();
    assert_eq!(texts, ["the driver cannot read back send_buffer_bytes of the writer"]);

    let run = with_queues("meager writer any");
    assert_eq!((run.state, run.warnings.len()), (RunState::Valid, 1), "{run:?}");
    let warning = &run.warnings[0];
    assert_eq!(warning.kind, WarningKind::Buffers);
    let words = "send_buffer_bytes of the writer: asked 65536, in force 4608";
    assert!(warning.text.starts_with(words), "{warning:?}");

    let failure = with_queues("queue writer any").failure.expect("it fails");
    assert_eq!((failure.phase.as_str(), failure.role.as_deref()), ("configure", Some("writer")));
    assert!(failure.error.contains("max_samples: asked 7, in force 9"), "{failure:?}");
}

#[test]
fn who_packs_is_held_against_who_was_to() {
    let packed = |script: &str, batching: Batching| {
        let mut rig = Rig::new(&[("d", script)]).of_workload(Workload::Throughput);
        rig.experiment.cells[0].factors.batching = batching;
        let run = rig.execute().cells[0].runs[0].clone();
        assert_eq!(run.state, RunState::Valid, "{run:?}");
        let warnings = run.warnings.into_iter().filter(|warning| warning.kind == WarningKind::Batching);
        warnings.map(|warning| warning.text).collect::<Vec<_>>()
    };
    for (script, batching, words) in [
        ("packs writer any", Batching::None, "batching of the writer: asked none, in force native; hint: "),
        ("alone writer any", Batching::Native, "asked native, in force none"),
        ("packs writer any", Batching::TurboApplication, "asked application, in force native"),
    ] {
        let texts = packed(script, batching);
        assert!(texts.len() == 1 && texts[0].contains(words), "{texts:?}");
    }
    // As requested; with echoes that are not batched; and without any report.
    for (script, batching) in [
        ("packs writer any", Batching::Native),
        ("packs writer any\nalone reader any", Batching::TurboNative),
        ("alone any any", Batching::None),
        ("", Batching::Application),
    ] {
        assert_eq!(packed(script, batching), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn groups_are_what_was_asked_for_and_hold_all_that_came() {
    let grouped = |script: &str| {
        let mut rig = Rig::new(&[("d", script)]).of_workload(Workload::Throughput);
        rig.experiment.cells[0].factors.queues.receive_group = Some(ReceiveGroup::of(8, 5_000_000));
        rig.execute().cells[0].runs[0].clone()
    };
    let run = grouped("");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let takes = run.throughput.and_then(|throughput| throughput.takes).expect("groups");
    assert_eq!((takes.groups, takes.samples, takes.max_samples, takes.calls), (125, 1000, 8, 250));
    for (script, words) in [
        ("hoard", "groups of up to 8 samples were asked for, and of 9 were taken"),
        ("single", "groups of up to 8 samples were asked for, and of 0 were taken"),
        ("mislay", "1000 samples came, but 999 were taken"),
    ] {
        let run = grouped(script);
        assert_eq!(run.state, RunState::Invalid, "{script}: {run:?}");
        assert!(run.warnings[0].text.contains(words), "{run:?}");
    }
}

/// Returns the only run of an experiment with multicast.
fn by_multicast(workload: Workload, script: &str) -> results::Run {
    let mut rig = Rig::new(&[("d", script)]).of_workload(workload);
    rig.experiment.cells[0].factors.multicast = true;
    let document = rig.execute();
    document.cells[0].runs[0].clone()
}

#[test]
fn multicast_that_is_not_in_force_fails_the_run_and_samples_that_went_another_way_make_it_invalid() {
    for workload in [Workload::Latency, Workload::Throughput] {
        let run = by_multicast(workload, "");
        assert_eq!((run.state, run.warnings.len()), (RunState::Valid, 0), "{run:?}");
        let sent = run.agents[0].sockets.as_ref().and_then(|sockets| sockets.multicast.as_ref()).unwrap();
        assert_eq!(sent.bytes, 64_000);

        let run = by_multicast(workload, "unicast any any");
        assert_eq!(run.state, RunState::Invalid);
        let text = "of samples with 64000 B the kernel sent 32000 B by multicast";
        assert!(run.warnings[0].text.contains(text), "{run:?}");

        let run = by_multicast(workload, "uncounted any any");
        assert_eq!(run.state, RunState::Valid);
        assert!(run.warnings[0].text.contains("whether the samples did is unknown"), "{run:?}");

        let run = by_multicast(workload, "off any any");
        let failure = run.failure.unwrap();
        assert_eq!(failure.error, "multicast of the participant: asked on, in force off");
    }
    // Multicast is not checked unless requested.
    let document = measure(Workload::Throughput, "unicast any any");
    assert_eq!(run(&document, "d/throughput").state, RunState::Valid);
}

#[test]
fn agents_are_pinned_and_cores_kept_awake_as_planned() {
    let mut rig = Rig::new(&[("d", "")]);
    rig.experiment.design.pin = Pin::Cores(vec![3], vec![5]);
    rig.experiment.design.keep_awake = true;
    let document = rig.execute();
    for cell in ["d/latency", "d/throughput"] {
        let cpus: Vec<_> = run(&document, cell).agents.iter().map(|agent| agent.cpus.clone()).collect();
        assert_eq!(cpus, [vec![3], vec![5]]);
    }
}

#[test]
fn every_block_lies_between_two_references_unless_the_design_has_none() {
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Throughput);
    rig.experiment.design.blocks = 2;
    let document = rig.execute();
    let [first, second] = &document.blocks[..] else { panic!("{:?}", document.blocks) };
    assert!(first.reference_before.is_some() && second.reference_after.is_some(), "{first:?}");
    assert_eq!(first.reference_after, second.reference_before);
    for block in [first, second] {
        assert_eq!(block.reference_error, None);
        for figure in [ReferenceFigure::RttP50, ReferenceFigure::Rate] {
            assert!(block.reference(figure).is_some_and(|figure| figure > 0.0), "{block:?}");
        }
    }
    let saved = Directory::load(&rig.results()).expect("saved");
    assert_eq!(saved.blocks, document.blocks);

    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Throughput);
    rig.experiment.design.reference = false;
    let document = rig.execute();
    let block = &document.blocks[0];
    assert_eq!(
        (&block.reference_before, &block.reference_after, &block.reference_error),
        (&None, &None, &None)
    );
    assert!(!document.experiment.design.reference);
}

#[test]
fn what_the_figures_say_is_stored_with_them() {
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Throughput);
    rig.experiment.design.blocks = 3;
    let mut larger = rig.experiment.cells[0].clone();
    larger.id.push_str("/larger");
    larger.factors.size_bytes = 1024;
    rig.experiment.cells.push(larger);
    let document = rig.execute();
    // The rate in samples/s does not depend on the size.
    let kinds: Vec<FindingKind> = document.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::StillGrows]);
    assert_eq!(Directory::load(&rig.results()).unwrap().findings, document.findings);
}
