//! Evaluation of the agents' reports: metrics, exclusion of inconsistent runs, and warnings.

use crate::rig::{Rig, files_below, run};
use experiment::{Factors, Pin, Workload};
use results::{Directory, FindingKind, ReferenceMetric, ResultDocument, RunState, State, WarningKind};

fn measure(workload: Workload, script: &str) -> ResultDocument {
    Rig::new(&[("d", script)]).of_workload(workload).execute()
}

fn kinds(document: &ResultDocument, cell: &str) -> Vec<WarningKind> {
    run(document, cell).warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn latency_run_has_rtt_and_both_one_way_latencies() {
    let document = measure(Workload::Latency, "");
    let run = run(&document, "d/latency");
    assert_eq!((run.state, &run.failure, document.state), (RunState::Valid, &None, State::Complete));
    for (kind, ns) in [("rtt", 100_000), ("one_way_out", 40_000), ("one_way_back", 45_000)] {
        let latency = &run.latency[kind];
        assert_eq!((latency.n, latency.min_ns, latency.max_ns), (1000, ns, ns), "{kind}");
        assert!((latency.mean_ns - ns as f64).abs() < 1e-6, "{kind}: {}", latency.mean_ns);
    }
    let counted = &run.flows[0].counted;
    assert_eq!((counted.sent, counted.delivered, counted.lost), (1000, 1000, 0));
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    let phases: Vec<_> = run.phases_ns.keys().map(String::as_str).collect();
    assert_eq!(phases, ["configure", "drain", "exit", "hello", "match", "measure", "report", "warm_up"]);
    assert!(run.phases_ns["measure"] >= 2_000_000);
    let roles: Vec<_> = run.endpoints.iter().map(|endpoint| endpoint.role.as_str()).collect();
    assert_eq!(roles, ["pinger", "echo"]);
    assert_eq!(run.effective_qos().keys().collect::<Vec<_>>(), ["reader", "writer"]);
}

#[test]
fn a_throughput_run_has_rates_over_the_measured_time() {
    let document = measure(Workload::Throughput, "");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid, "{run:?}");
    let throughput = run.throughput().unwrap();
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
fn histograms_and_records_are_saved_and_empty_logs_are_not() {
    let rig = Rig::new(&[("d", "")]);
    rig.execute();
    assert_eq!(
        files_below(&rig.results()),
        [
            "experiment.json",
            "log.json",
            "result.json",
            "runs/0001.hlog",
            "runs/0001.json",
            "runs/0002.hlog",
            "runs/0002.json"
        ]
    );
}

#[test]
fn undelivered_samples_of_a_reliable_flow_are_not_lost() {
    let document = measure(Workload::Throughput, "owe");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid);
    assert_eq!((run.flows[0].counted.lost, run.flows[0].counted.undelivered), (0, 10));
    assert_eq!(kinds(&document, "d/throughput"), [WarningKind::Incomplete]);

    // If nothing is undelivered at the end of the drain, the same samples are lost.
    let document = measure(Workload::Throughput, "owe any report");
    let counted = &crate::rig::run(&document, "d/throughput").flows[0].counted;
    assert_eq!((counted.lost, counted.undelivered), (10, 0));
}

#[test]
fn different_effective_qos_fails_the_run_and_unreadable_qos_warns() {
    let document = measure(Workload::Throughput, "qos reader");
    let failure = run(&document, "d/throughput").failure.clone().unwrap();
    assert_eq!((failure.phase.as_str(), failure.endpoint.as_deref()), ("configure", Some("reader")));
    assert!(failure.error.contains("reliability: requested Reliable, effective BestEffort"), "{failure:?}");

    let document = measure(Workload::Throughput, "blind");
    let run = run(&document, "d/throughput");
    assert_eq!(run.state, RunState::Valid);
    assert!(run.warnings[0].text.contains("reliability of the reader, reliability of the writer"), "{run:?}");
}

/// The crate `simulate` tests each check; here the runner leaves out the run that fails one.
#[test]
fn run_with_a_contradiction_is_invalid_and_left_out() {
    for (workload, words) in [
        (Workload::Throughput, "999 samples came and 0 are missing"),
        (Workload::Latency, "999 came back and 0 were lost"),
    ] {
        let document = measure(workload, "torn");
        let run = &document.cells[0].runs[0];
        assert_eq!((run.state, run.warnings[0].kind), (RunState::Invalid, WarningKind::RunsInvalid));
        assert!(run.warnings[0].text.contains(words), "{:?}", run.warnings);
        assert!(document.cells[0].latency.is_empty() && document.cells[0].throughput.is_none());
    }
}

#[test]
fn queues_and_multicast_are_compared_at_each_agent() {
    let failure = |script: &str, change: fn(&mut Factors)| {
        let mut rig = Rig::new(&[("d", script)]).of_workload(Workload::Throughput);
        change(&mut rig.experiment.cells[0].factors);
        rig.execute().cells[0].runs[0].failure.clone()
    };
    let queues = |factors: &mut Factors| {
        (factors.queues.send_samples, factors.queues.receive_samples) = (Some(7), Some(9));
    };
    assert_eq!(failure("", queues), None);
    let wrong = failure("queue writer any", queues).expect("it fails");
    assert_eq!((wrong.phase.as_str(), wrong.endpoint.as_deref()), ("configure", Some("writer")));
    assert!(wrong.error.contains("max_samples: requested 7"), "{wrong:?}");

    let multicast = |factors: &mut Factors| factors.multicast = true;
    assert_eq!(failure("", multicast), None);
    let wrong = failure("off any any", multicast).expect("it fails");
    assert!(wrong.error.starts_with("multicast of the participant: requested on"), "{wrong:?}");
}

#[test]
fn agents_are_pinned_and_cores_kept_awake_as_planned() {
    let mut rig = Rig::new(&[("d", "")]);
    rig.experiment.design.pin = Pin::Cores(vec![3], vec![5]);
    rig.experiment.design.keep_awake = true;
    let document = rig.execute();
    for cell in ["d/latency", "d/throughput"] {
        let cpus: Vec<_> =
            run(&document, cell).endpoints.iter().map(|endpoint| endpoint.cpus.clone()).collect();
        assert_eq!(cpus, [vec![3], vec![5]]);
    }
}

#[test]
fn every_block_lies_between_two_probes_and_references_unless_the_design_has_none() {
    let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Throughput).with_host_checks();
    rig.experiment.design.blocks = 2;
    let document = rig.execute();
    let [first, second] = &document.blocks[..] else { panic!("{:?}", document.blocks) };
    let [around_first, around_second] = [first, second].map(|block| &block.hosts[0]);
    assert!(around_first.reference_before.is_some() && around_second.reference_after.is_some(), "{first:?}");
    assert_eq!(around_first.reference_after, around_second.reference_before);
    assert!(around_first.before.is_some() && around_second.after.is_some(), "{first:?}");
    assert_eq!(around_first.after, around_second.before);
    for block in [first, second] {
        assert_eq!(block.reference_error(), None);
        for metric in [ReferenceMetric::RttP50, ReferenceMetric::Rate] {
            assert!(block.reference(metric).is_some_and(|value| value > 0.0), "{block:?}");
        }
    }
    let saved = Directory::load(&rig.results()).expect("saved");
    assert_eq!(saved.blocks, document.blocks);

    for (reference, noise_probe) in [(false, true), (true, false)] {
        let mut rig = Rig::new(&[("d", "")]).of_workload(Workload::Throughput);
        let design = &mut rig.experiment.design;
        (design.reference, design.noise_probe) = (reference, noise_probe);
        let document = rig.execute();
        let block = &document.blocks[0].hosts[0];
        let references = [&block.reference_before, &block.reference_after].map(Option::is_some);
        let probes = [&block.before, &block.after].map(Option::is_some);
        assert_eq!((references, probes), ([reference; 2], [noise_probe; 2]), "{block:?}");
        assert_eq!(block.reference_error, None);
        let design = &document.experiment.design;
        assert_eq!((design.reference, design.noise_probe), (reference, noise_probe));
        assert!(noise_probe || !document.blocks[0].noisy);
    }
}

#[test]
fn findings_are_saved_with_the_result() {
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
