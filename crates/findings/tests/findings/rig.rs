//! Results with a known truth: values of each cell of two drivers, as functions of cell and block.

use std::sync::LazyLock;

use crate::sample::Characterize;
use experiment::{Cell, Factors, ScheduledRun, Workload};
use results::{Assembler, Finding, FindingKind, Histograms, ResultDocument, Run, State};

use crate::sample;

pub const SIZES: [u64; 4] = [64, 1024, 8192, 32768];

/// Truth of a cell, without the noise of its runs.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Median RTT, in ns.
    pub rtt_ns: f64,
    pub goodput_mbps: f64,
    pub lost_pct: f64,
    /// CPU time of the writer, in percent of a core.
    pub writer_pct: f64,
    pub reader_pct: f64,
    /// Number of dropped datagrams per 100 samples.
    pub dropped_pct: f64,
    /// Traffic of the interface, in 10^6 bit/s.
    pub wire_mbps: f64,
    /// Half-range over the runs, relative.
    pub noise: f64,
}

impl Default for Truth {
    fn default() -> Self {
        Self {
            rtt_ns: 20_000.0,
            goodput_mbps: 1000.0,
            lost_pct: 0.0,
            writer_pct: 50.0,
            reader_pct: 50.0,
            dropped_pct: 0.0,
            wire_mbps: 0.0,
            noise: 0.01,
        }
    }
}

pub fn characterize() -> Characterize {
    Characterize { sizes: SIZES.to_vec(), ..sample::characterize() }
}

/// Returns the settings of one driver and one workload.
pub fn alone(driver: &str, workload: Workload) -> Characterize {
    Characterize { drivers: vec![driver.to_owned()], workloads: vec![workload], ..characterize() }
}

/// Returns the result of these settings with a given truth.
pub fn result(characterize: &Characterize, truth: impl Fn(&Factors) -> Truth) -> ResultDocument {
    result_with(characterize, truth, |_| {})
}

/// Like [`result`], with each run changed before it is added.
pub fn result_with(
    characterize: &Characterize,
    truth: impl Fn(&Factors) -> Truth,
    change: impl Fn(&mut Run),
) -> ResultDocument {
    let mut header = sample::header_of(characterize);
    if let Some(plain) = header.drivers.get_mut("plain") {
        plain.features.push("locators".to_owned());
    }
    let mut assembler = Assembler::new(header.clone());
    for scheduled in header.experiment.schedule() {
        let cell = &header.experiment.cells[scheduled.cell];
        let mut run = blank(scheduled, cell);
        set(&mut run, &cell.factors, truth(&cell.factors));
        change(&mut run);
        assembler.add(run, &Histograms::new());
    }
    assembler.document(State::Complete)
}

/// Returns a valid run of the workload. Its values and histograms are placeholders.
pub fn blank(scheduled: ScheduledRun, cell: &Cell) -> Run {
    static RUNS: LazyLock<[Run; 2]> = LazyLock::new(|| {
        let experiment = sample::header_of(&characterize()).experiment;
        [Workload::Latency, Workload::Throughput].map(|workload| {
            let cells = &experiment.cells;
            let cell =
                cells.iter().position(|cell| cell.factors.workload == workload).expect("a cell of each");
            sample::run_in_one_window(ScheduledRun { cell, ..experiment.schedule()[0] }, &cells[cell]).0
        })
    });
    let [latency, throughput] = &*RUNS;
    let run = if cell.factors.workload == Workload::Latency { latency } else { throughput };
    Run {
        number: scheduled.number,
        block: scheduled.block,
        twin: scheduled.twin,
        duet: None,
        cell: cell.id.clone(),
        ..run.clone()
    }
}

fn set(run: &mut Run, factors: &Factors, truth: Truth) {
    // blocks 1, 2, 3: below, at, and above the truth
    let block = run.block;
    let noisy = |value: f64| value * (1.0 + truth.noise * (f64::from(block) - 2.0));
    if let Some(rtt) = run.latency.get_mut("rtt") {
        rtt.p50_ns = Some(noisy(truth.rtt_ns) as u64);
    }
    let mut sent = 0.0;
    if let Some(throughput) = run.throughput_mut() {
        throughput.goodput_mbps = noisy(truth.goodput_mbps);
        throughput.delivered_sps = throughput.goodput_mbps * 1e6 / 8.0 / factors.size_bytes as f64;
        throughput.lost_pct = noisy(truth.lost_pct);
        sent = throughput.sent as f64;
    }
    run.udp_buffer_drops = Some((noisy(truth.dropped_pct) / 100.0 * sent) as u64);
    for agent in &mut run.processes {
        let share = if agent.endpoints == ["writer"] { truth.writer_pct } else { truth.reader_pct } / 100.0;
        agent.usage.user_ns = (agent.usage.elapsed_ns as f64 * share) as u64;
        agent.usage.system_ns = 0;
    }
    let elapsed_ns = run.processes[0].usage.elapsed_ns as f64;
    let interface = results::Interface {
        name: factors.interface.clone(),
        rx_bytes: (noisy(truth.wire_mbps) * elapsed_ns / 8e3) as u64,
        rx_packets: 1,
        tx_bytes: 0,
        tx_packets: 0,
    };
    for reader in run.endpoints.iter_mut().filter(|endpoint| endpoint.role == "reader") {
        reader.interface = Some(interface.clone());
    }
}

pub fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

/// Returns the only finding, which must be of this kind.
#[track_caller]
pub fn only(document: &ResultDocument, kind: FindingKind) -> Finding {
    let findings = findings::find(document);
    let [finding] = &findings[..] else { panic!("not one finding: {findings:#?}") };
    assert_eq!(finding.kind, kind, "{finding:#?}");
    finding.clone()
}

#[track_caller]
pub fn none(document: &ResultDocument) {
    assert_eq!(findings::find(document), []);
}

/// Returns the findings of a kind.
pub fn of_kind(document: &ResultDocument, kind: FindingKind) -> Vec<Finding> {
    findings::find(document).into_iter().filter(|finding| finding.kind == kind).collect()
}

#[track_caller]
pub fn number(finding: &Finding, name: &str, expected: f64) {
    let found = finding.numbers.get(name).unwrap_or_else(|| panic!("no {name}: {finding:#?}"));
    assert!((found - expected).abs() <= 1e-3 * expected.abs(), "{name}: {found}, not {expected}");
}
