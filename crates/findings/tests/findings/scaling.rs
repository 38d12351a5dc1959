//! Growth over the number of endpoints: a line, a power law, a bend, none of these, and too few cells.

use experiment::{Cell, Discovery, Factors, Join, Topology, Workload};
use results::{
    Assembler, DiscoveryRecord, Finding, FindingKind, Histograms, Interface, Measurement, ResultDocument,
    State,
};

use crate::{
    rig::{alone, blank, kinds, none, number, only},
    sample,
};

/// Returns a result of fan-outs to these numbers of readers, or of fan-ins from these numbers of writers, whose cells
/// have a value in ns. Each of its blocks is slower than the one before by 1 %.
fn scaled(
    workload: Workload,
    topologies: &[(u16, u16)],
    cpus: u32,
    value_ns: impl Fn(u16, u16) -> f64,
) -> ResultDocument {
    let mut header = sample::header_of(&alone("dds", workload));
    header.hosts[0].properties.cpus = cpus;
    let first = header.experiment.cells[0].clone();
    let cell = |&(writers, readers): &(u16, u16)| {
        let topology = Topology::Mesh { writers, readers };
        let factors = Factors { topology, ..first.factors.clone() };
        Cell { id: format!("{}/{topology}", first.id), factors }
    };
    header.experiment.cells = topologies.iter().map(cell).collect();
    let mut assembler = Assembler::new(header.clone());
    for scheduled in header.experiment.schedule() {
        let cell = &header.experiment.cells[scheduled.cell];
        let (writers, readers) = cell.factors.topology.mesh().expect("a mesh");
        let ns = value_ns(writers, readers) * (1.0 + 0.01 * f64::from(scheduled.block));
        let mut run = blank(scheduled, cell);
        if let Some(rtt) = run.latency.get_mut("rtt") {
            rtt.p50_ns = Some(ns as u64);
        }
        if let Some(throughput) = run.throughput_mut() {
            throughput.accepted_sps = f64::from(writers) * 1e9 / ns;
        }
        assembler.add(run, &Histograms::new());
    }
    assembler.document(State::Complete)
}

const FAN_OUT: [(u16, u16); 6] = [(1, 1), (1, 2), (1, 4), (1, 8), (1, 12), (1, 16)];
const FAN_IN: [(u16, u16); 4] = [(1, 1), (2, 1), (4, 1), (8, 1)];
/// Enough cores for 17 endpoints.
const MANY: u32 = 32;

fn readers(value_ns: impl Fn(f64) -> f64) -> ResultDocument {
    scaled(Workload::Throughput, &FAN_OUT, MANY, |_, readers| value_ns(f64::from(readers)))
}

/// Returns the only finding of a kind; other findings about the sizes do not concern it.
#[track_caller]
fn scales(document: &ResultDocument, kind: FindingKind) -> Finding {
    only(document, kind)
}

#[test]
fn one_more_reader_costs_the_writer_time() {
    let found = scales(&readers(|readers| 500.0 + 300.0 * readers), FindingKind::ScalesLinearly);
    // The mean of the blocks is 2 % above the truth.
    number(&found, "time_per_sample_slope_ns_per_reader", 306.0);
    number(&found, "from_readers", 1.0);
    number(&found, "to_readers", 16.0);
    assert!(found.numbers["time_per_sample_slope_low_ns_per_reader"] < 306.0, "{found:#?}");
    assert_eq!(
        found.text,
        "`dds` at 64 bytes, 1 writer: from 1 to 16 readers, one more reader adds 0.306 µs (95 % interval 0.299 to 0.313) to \
         the time of a writer per sample: 0.816 µs with 1, 5.41 µs with 16 (3 blocks)."
    );
    assert_eq!(found.cells.len(), 6);
}

#[test]
fn one_more_reader_or_writer_changes_the_round_trip_or_the_share() {
    let found =
        scaled(Workload::Latency, &FAN_OUT, MANY, |_, readers| 20_000.0 + 2_000.0 * f64::from(readers));
    let found = scales(&found, FindingKind::ScalesLinearly);
    number(&found, "rtt_slope_ns_per_reader", 2040.0);
    assert!(found.text.contains("to the median RTT: 22.4 µs with 1"), "{found:#?}");
    let found = scaled(Workload::Throughput, &FAN_IN, MANY, |writers, _| 1_000.0 * f64::from(writers));
    let found = scales(&found, FindingKind::ScalesLinearly);
    number(&found, "time_per_sample_slope_ns_per_writer", 1020.0);
    assert!(found.text.starts_with("`dds` at 64 bytes, 1 reader: from 1 to 8 writers"), "{found:#?}");
}

#[test]
fn refuted_line_is_a_power_law_or_a_bend_or_neither() {
    let found = scales(&readers(|readers| 300.0 * readers.powf(1.6)), FindingKind::ScalesAsPower);
    number(&found, "exponent_power", 1.6);
    assert!(
        found.text.contains("the number of readers to the power of 1.60 (95 % interval 1.60"),
        "{found:#?}"
    );
    let bend = |readers: f64| 500.0 + 10.0 * readers + 400.0 * (readers - 8.0).max(0.0);
    let found = scales(&readers(bend), FindingKind::ScalesWithBend);
    number(&found, "bends_at_readers", 8.0);
    number(&found, "time_per_sample_slope_below_ns_per_reader", 10.2);
    number(&found, "time_per_sample_slope_above_ns_per_reader", 418.2);
}

#[test]
fn too_few_cells_or_runs_have_no_law() {
    let two = &FAN_OUT[..2];
    none(&scaled(Workload::Throughput, two, MANY, |_, readers| f64::from(readers)));
    // A mesh is on no axis with the others: neither its writers nor its readers are as many as theirs.
    none(&scaled(Workload::Throughput, &[(1, 1), (1, 2), (2, 4)], MANY, |_, readers| f64::from(readers)));
    let mut document = readers(|readers| 500.0 + 300.0 * readers);
    for cell in &mut document.cells {
        cell.runs.truncate(2);
    }
    none(&document);
}

#[test]
fn cells_without_a_core_for_each_endpoint_are_named() {
    let found = scaled(Workload::Throughput, &FAN_OUT, 4, |_, readers| 500.0 + 300.0 * f64::from(readers));
    let found = scales(&found, FindingKind::ScalesLinearly);
    // 1, 2 readers have a core each, as the writer has.
    let says = "[in 4 of 6 cells, up to 1 driving and 16 serving endpoints share 4 cores].";
    assert!(found.text.ends_with(&format!("(3 blocks) {says}")), "{found:#?}");
    number(&found, "driving_endpoints", 1.0);
    number(&found, "serving_endpoints", 16.0);
    number(&found, "shared_cores", 4.0);
}

/// Returns a result of full meshes whose participants are matched after `ms`, with `packets`.
fn discovered(ms: impl Fn(f64) -> f64, packets: impl Fn(f64) -> f64) -> ResultDocument {
    discovered_in_processes(1, ms, packets)
}

/// Returns such a result with several participants in each process.
fn discovered_in_processes(
    participants_per_process: u32,
    ms: impl Fn(f64) -> f64,
    packets: impl Fn(f64) -> f64,
) -> ResultDocument {
    let mut header = sample::header_of(&alone("dds", Workload::Throughput));
    header.hosts[0].properties.cpus = 2;
    let first = header.experiment.cells[0].clone();
    let cell = |&participants: &u16| {
        let topology = Topology::FullMesh { participants };
        let factors = Factors {
            workload: Workload::Discovery,
            topology,
            discovery: Discovery { endpoints: 4, participants_per_process, join: Join::Late },
            ..first.factors.clone()
        };
        Cell { id: format!("dds/{topology}"), factors }
    };
    header.experiment.cells = [2, 4, 8, 16, 32].iter().map(cell).collect();
    let mut assembler = Assembler::new(header.clone());
    for scheduled in header.experiment.schedule() {
        let cell = &header.experiment.cells[scheduled.cell];
        let Topology::FullMesh { participants } = cell.factors.topology else { panic!("{cell:?}") };
        let (participants, slower) = (f64::from(participants), 1.0 + 0.01 * f64::from(scheduled.block));
        let traffic =
            Interface { tx_packets: (packets(participants) * slower).round() as u64, ..Interface::default() };
        let mut run = blank(scheduled, cell);
        let discovery = DiscoveryRecord {
            clock_error_ns: 0,
            all_matched_ns: Some((ms(participants) * slower * 1e6) as u64),
            slowest: None,
            median_matched_ns: None,
            until_matched: Some(traffic),
            idle: None,
            others_packets_per_s: None,
            idle_ns: 0,
            idle_cpu_ns: 0,
            memory_per_participant_bytes: None,
            changed_later: 0,
            participants: Vec::new(),
        };
        run.measured = Some(Measurement::Discovery { discovery });
        assembler.add(run, &Histograms::new());
    }
    assembler.document(State::Complete)
}

#[test]
fn findings_name_the_participants_per_process() {
    let named = |document: &ResultDocument| {
        let found: Vec<String> = findings::find(document).into_iter().map(|finding| finding.text).collect();
        let laws = found.iter().filter(|text| text.contains("participants, "));
        laws.map(|text| text.contains("join late, 2 participants per process: from 2 to 32"))
            .collect::<Vec<_>>()
    };
    let [alone, shared] = [1, 2].map(|of| discovered_in_processes(of, |n| 40.0 + 2.5 * n, |n| 30.0 * n * n));
    assert_eq!(named(&alone), [false, false]);
    assert_eq!(named(&shared), [true, true]);
}

#[test]
fn discovery_grows_with_the_participants() {
    let document = discovered(|n| 40.0 + 2.5 * n, |n| 30.0 * n * n);
    let found = findings::find(&document);
    assert_eq!(kinds(&found), [FindingKind::ScalesLinearly, FindingKind::ScalesAsPower], "{found:#?}");
    let [time, packets] = &found[..] else { panic!("{found:#?}") };
    // The mean of the blocks is 2 % above the truth.
    number(time, "all_matched_slope_ns_per_participant", 2.55e6);
    number(time, "to_participants", 32.0);
    let says = "`dds`, 4 writers and readers each, join late: from 2 to 32 participants, one more participant adds 2.55 ms";
    assert!(time.text.starts_with(says), "{time:#?}");
    assert!(time.text.contains("32 driving endpoints share 2 cores"), "{time:#?}");
    number(packets, "exponent_power", 2.0);
    assert!(
        packets
            .text
            .contains("the traffic until then grows as the number of participants to the power of 2.00"),
        "{packets:#?}"
    );
}
