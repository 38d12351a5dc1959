//! Small deterministic sample experiment: two drivers, three sizes, with and without batching.
#![allow(dead_code, reason = "each test uses a part of it")]

#[path = "../../../experiment/tests/sample/mod.rs"]
mod experiment_sample;
pub mod paced;
pub mod search;

use std::{collections::BTreeMap, sync::LazyLock};

use experiment::{
    Cell, DriverDescription, Durability, Factors, History, LOCAL_HOST, OptionInfo, Pin, Plan, Policy,
    PolicySupport, Qos, QosDuration, ReceiveMode, Reliability, ScheduledRun, Support, TransportInfo,
    Workload,
};
pub use experiment_sample::{Characterize, characterize};
use results::{
    Assembler, Block, BlockHost, CpuPerSample, DeliveryCounts, Distribution, Duet, EncodedWindows,
    EndpointRecord, Environment, Failure, FlowRecord, Histograms, Host, HostRecord, IntervalLog, Latency,
    Measurement, PingRetries, ProcessRecord, Reference, ResultDocument, ResultHeader, Run, RunState, State,
    Tail, Throughput, Tool, Usage, Windows,
};

/// Start of the experiment, in s since 1970.
pub const STARTED: u64 = 1_790_000_000;

pub fn description(name: &str, reliable: bool, batching: &str) -> DriverDescription {
    let enforced = |policy| (policy, PolicySupport::of_both(Support::Enforced, None));
    let policies = [
        enforced(Policy::Reliability),
        enforced(Policy::History),
        enforced(Policy::Durability),
        (
            Policy::Liveliness,
            PolicySupport::of_both(Support::MatchedOnly, Some("leases are not watched".to_owned())),
        ),
    ];
    DriverDescription {
        name: name.to_owned(),
        driver_version: "0.1.0".to_owned(),
        middleware: if reliable { "Example DDS".to_owned() } else { "bare socket".to_owned() },
        middleware_version: "2.5.1".to_owned(),
        version_source: if reliable { "library".to_owned() } else { "kernel".to_owned() },
        build: Some("Release".to_owned()).filter(|_| reliable),
        licence: "Apache-2.0".to_owned(),
        transports: vec![
            TransportInfo { name: "udp4".to_owned(), max_payload_bytes: 65_000, note: None },
            TransportInfo {
                name: "shm".to_owned(),
                max_payload_bytes: 1 << 20,
                note: Some("one host only".to_owned()),
            },
        ],
        options: vec![OptionInfo {
            name: "receive_buffer".to_owned(),
            default_value: None,
            help: "bytes of the receive buffer".to_owned(),
        }],
        receive_modes: vec![ReceiveMode::Waitset, ReceiveMode::Polling],
        type_kinds: vec!["octets".to_owned()],
        features: vec![batching.to_owned()],
        policies: if reliable { policies.into() } else { BTreeMap::new() },
        kept_threads: Vec::new(),
        variables: Vec::new(),
    }
}

pub fn header() -> ResultHeader {
    header_of(&Characterize { seed: 42, pin: Pin::Cores(vec![0], vec![1]), ..characterize() })
}

pub fn header_of(characterize: &Characterize) -> ResultHeader {
    let descriptions = BTreeMap::from([
        ("plain".to_owned(), description("plain", false, "application_batching")),
        ("dds".to_owned(), description("dds", true, "native_batching")),
    ]);
    let plan = characterize.plan(&descriptions).expect("the sample can be meant");
    let tool = Tool {
        name: "ddsmark".to_owned(),
        version: "0.1.0".to_owned(),
        command_line: vec!["ddsmark".to_owned(), "characterize".to_owned()],
    };
    let host = Host {
        name: "bench".to_owned(),
        kernel: "Linux 6.12.0".to_owned(),
        os: Some("Debian GNU/Linux 13".to_owned()),
        cpu: Some("Example CPU".to_owned()),
        cpus: 2,
        memory_bytes: Some(8 << 30),
        virtualization: Some("kvm".to_owned()),
        clock_source: Some("tsc".to_owned()),
        governor: None,
        clock_read_ns: Some(26),
        clock_discipline: None,
        sysctls: BTreeMap::from([("net.core.rmem_max".to_owned(), "212992".to_owned())]),
        link_mbps: BTreeMap::new(),
        mtu_bytes: BTreeMap::from([("lo".to_owned(), 65_536)]),
        started_unix_ns: STARTED * 1_000_000_000,
    };
    ResultHeader::new(
        tool,
        vec![HostRecord::only(host, environment("212992"))],
        plan,
        descriptions,
        Vec::new(),
    )
}

/// Environment with this limit of receive buffers.
pub fn environment(rmem_max: &str) -> Environment {
    let limit = BTreeMap::from([("net.core.rmem_max".to_owned(), rmem_max.to_owned())]);
    Environment::new(BTreeMap::from([("sysctl".to_owned(), limit)]))
}

/// Deterministic pseudo-random numbers (splitmix64).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a latency around `typical`, with a tail.
    pub fn latency(&mut self, typical: u64) -> u64 {
        let noise = self.next();
        let tail = if noise.is_multiple_of(97) { typical * (noise >> 40) / (1 << 22) } else { 0 };
        typical - typical / 8 + noise % (typical / 4) + tail
    }
}

/// Number of windows of a run.
const WINDOWS: u32 = 4;

pub fn record(values: &[u64]) -> Distribution {
    record_in(WINDOWS, values)
}

fn record_in(windows: u32, values: &[u64]) -> Distribution {
    let mut windows = Windows::new(windows, 1_000_000 * values.len() as u64);
    windows.begin(0);
    for (index, value) in values.iter().enumerate() {
        windows.record(1_000_000 * index as u64, *value);
    }
    windows.distribution()
}

/// Returns the record of these times.
pub fn latency_of(distribution: &Distribution) -> Latency {
    let (_, merged) = EncodedWindows::read(distribution, |_, _| Ok(())).unwrap();
    Latency::of_merged(distribution, &merged, 0)
}

/// Returns the values of each kind of a latency run.
pub fn latencies(number: u32, size: u64) -> BTreeMap<&'static str, Vec<u64>> {
    let mut noise = Noise(u64::from(number));
    // runs differ a little
    let typical = 14_000 + size + u64::from(number % 5) * 300;
    let out: Vec<u64> = (0..400).map(|_| noise.latency(typical)).collect();
    let back: Vec<u64> = (0..400).map(|_| noise.latency(typical + 900)).collect();
    let rtt = out.iter().zip(&back).map(|(out, back)| out + back).collect();
    BTreeMap::from([("rtt", rtt), ("one_way_out", out), ("one_way_back", back)])
}

/// Returns the blocks of an experiment, all with the same reference.
pub fn blocks(experiment: &Plan) -> Vec<Block> {
    let reference = Reference {
        length_ns: 60_000_000,
        sender_cores: vec![0],
        receiver_cores: vec![1],
        round_trips: 1_500,
        rtt_p50_ns: 15_000.0,
        rtt_p99_ns: Some(40_000.0),
        samples: 12_000,
        rate_sps: 500_000.0,
    };
    let block = |number: u32| Block {
        number,
        repeats: None,
        noisy: false,
        reasons: Vec::new(),
        first_run: (number - 1) * experiment.runs_per_block() as u32 + 1,
        complete: true,
        took_ns: None,
        hosts: vec![BlockHost {
            host: LOCAL_HOST.to_owned(),
            reference_before: Some(reference.clone()),
            reference_after: Some(reference.clone()),
            ..BlockHost::default()
        }],
        others: Vec::new(),
    };
    (1..=experiment.design.blocks).map(block).collect()
}

/// Returns a valid run and its histograms.
pub fn run(scheduled: ScheduledRun, cell: &Cell) -> (Run, IntervalLog) {
    run_in(WINDOWS, scheduled, cell)
}

/// Like [`run`], with histograms of one window: most tests see only their sum, and each window takes its time.
pub fn run_in_one_window(scheduled: ScheduledRun, cell: &Cell) -> (Run, IntervalLog) {
    run_in(1, scheduled, cell)
}

fn run_in(windows: u32, scheduled: ScheduledRun, cell: &Cell) -> (Run, IntervalLog) {
    let factors = &cell.factors;
    let mut log = IntervalLog::new();
    let mut latency = BTreeMap::new();
    let values = match factors.workload {
        Workload::Latency => latencies(scheduled.number, factors.size_bytes),
        Workload::Throughput | Workload::Paced | Workload::Search | Workload::Discovery => {
            BTreeMap::from([(
                "write_call",
                latencies(scheduled.number, factors.size_bytes).remove("one_way_out").unwrap_or_default(),
            )])
        }
    };
    for (kind, values) in &values {
        let distribution = record_in(windows, values);
        log.add(kind, &distribution).unwrap();
        latency.insert((*kind).to_owned(), latency_of(&distribution));
    }
    let (measured, sent, lost) = match factors.workload {
        Workload::Latency => {
            (Measurement::Latency { ping_retries: PingRetries::default(), ring: None }, 400, 0)
        }
        Workload::Throughput | Workload::Paced | Workload::Search | Workload::Discovery => {
            let throughput = throughput(scheduled, factors);
            let (sent, lost) = (throughput.sent, throughput.lost);
            (Measurement::Throughput { throughput }, sent, lost)
        }
    };
    let counted = DeliveryCounts {
        sent,
        delivered: sent - lost,
        lost,
        checked_in_full: sent / 64,
        ..DeliveryCounts::default()
    };
    let qos = Qos {
        reliability: factors.qos.reliability,
        durability: Some(Durability::Volatile),
        history: Some(History::KeepAll),
        max_samples: factors.qos.max_samples,
        ..Qos::default()
    };
    let writer_qos = Qos { max_blocking_ns: Some(QosDuration::Ns(1_000_000_000)), ..qos.clone() };
    let roles = match factors.workload {
        Workload::Latency => ["pinger", "echo"],
        Workload::Throughput | Workload::Paced | Workload::Search | Workload::Discovery => {
            ["writer", "reader"]
        }
    };
    let ends = roles.into_iter().zip([("writer", writer_qos), ("reader", qos)]);
    let endpoints: Vec<EndpointRecord> = (1..)
        .zip(ends)
        .map(|(process, (role, entity))| EndpointRecord {
            process,
            ..endpoint(cell, role, scheduled.number, entity)
        })
        .collect();
    let process = |endpoint: &EndpointRecord| ProcessRecord {
        name: None,
        number: endpoint.process,
        pid: 1000 + scheduled.number,
        endpoints: vec![endpoint.id.clone()],
        usage: Usage {
            elapsed_ns: 200_000_000,
            user_ns: 80_000_000,
            system_ns: 90_000_000,
            ..Usage::default()
        },
    };
    let run = Run {
        number: scheduled.number,
        block: scheduled.block,
        twin: scheduled.twin,
        duet: scheduled.duet.map(|duet| Duet { partner: duet.partner, side_by_side_pct: 99.5 }),
        cell: cell.id.clone(),
        state: RunState::Valid,
        failure: None,
        exit_failure: None,
        started_unix_ns: (STARTED + u64::from(scheduled.number)) * 1_000_000_000,
        link: None,
        phases_ns: BTreeMap::from([("match".to_owned(), 12_345_678), ("measure".to_owned(), 200_000_000)]),
        latency,
        measured: Some(measured),
        steady_state: BTreeMap::new(),
        flows: vec![FlowRecord {
            name: "data".to_owned(),
            writer: roles[0].to_owned(),
            reader: roles[1].to_owned(),
            size_bytes: factors.size_bytes,
            planned: sent,
            offered: sent,
            delivered_in_time: counted.delivered,
            counted,
            ..FlowRecord::default()
        }],
        cpu_ns_per_sample: Some(CpuPerSample {
            writer: 2_000.0 + f64::from(scheduled.number) / 3.0,
            reader: 2_500.0 + f64::from(scheduled.number) / 7.0,
            ..CpuPerSample::default()
        }),
        wire: None,
        udp_buffer_drops: Some(0),
        udp_drops_of_all_programs: false,
        late_join: None,
        environment_padding_bytes: None,
        processes: endpoints.iter().map(process).collect(),
        endpoints,
        warnings: Vec::new(),
    };
    (run, log)
}

/// Returns the record of an endpoint that opened an entity with this QoS.
fn endpoint(cell: &Cell, role: &str, number: u32, (entity, qos): (&str, Qos)) -> EndpointRecord {
    let reliable = qos.reliability == Some(Reliability::Reliable);
    let participant = BTreeMap::from([
        ("receive_buffer".to_owned(), "1048576".to_owned()),
        ("address".to_owned(), format!("127.0.0.1:{}", 7400 + number)),
        ("peer".to_owned(), role.to_owned()),
    ]);
    EndpointRecord {
        id: role.to_owned(),
        role: role.to_owned(),
        host: LOCAL_HOST.to_owned(),
        driver: cell.factors.driver.clone(),
        matched_ns: 12_345_678,
        effective_qos: reliable.then(|| (entity.to_owned(), qos)).into_iter().collect(),
        process: 1,
        cpus: vec![0],
        sockets: None,
        interface: None,
        counters: BTreeMap::new(),
        settings: BTreeMap::from([("participant".to_owned(), participant)]),
        clock_error_ns: Some(0),
        reception: None,
        echoed_in_listener: None,
    }
}

fn throughput(scheduled: ScheduledRun, factors: &Factors) -> Throughput {
    let batch = factors.samples_per_flush() as f64;
    let rate = 400_000.0 * batch.sqrt() / (1.0 + factors.size_bytes as f64 / 4096.0)
        * (1.0 + f64::from(scheduled.number % 4) / 100.0);
    let sent = (rate * 0.2) as u64;
    let lost = if factors.qos.reliability == Some(Reliability::Reliable) { 0 } else { sent / 200 };
    Throughput {
        offered_sps: rate * 1.001,
        accepted_sps: rate,
        delivered_sps: rate * (sent - lost) as f64 / sent as f64,
        goodput_mbps: rate * (sent - lost) as f64 / sent as f64 * factors.size_bytes as f64 * 8.0 / 1e6,
        sent,
        delivered: sent - lost,
        delivered_in_time: sent - lost,
        tail: Tail { samples: 0, ns: 60_000 },
        lost,
        undelivered: 0,
        lost_pct: lost as f64 / sent as f64 * 100.0,
        duplicate: 0,
        out_of_order: 0,
        batches: None,
        takes: None,
        probes: None,
        readers: None,
        writers: None,
    }
}

/// Number of runs of the sample.
pub const RUNS: usize = 48;

/// Returns all runs of the sample in their order.
pub fn runs() -> Vec<(Run, IntervalLog)> {
    static ALL: LazyLock<Vec<(Run, IntervalLog)>> = LazyLock::new(|| runs_of(&header().experiment));
    assert_eq!(ALL.len(), RUNS);
    ALL.clone()
}

/// Returns all runs of an experiment in their order.
pub fn runs_of(experiment: &Plan) -> Vec<(Run, IntervalLog)> {
    experiment
        .schedule()
        .into_iter()
        .map(|scheduled| run(scheduled, &experiment.cells[scheduled.cell]))
        .collect()
}

/// Returns the run as a failed one.
pub fn failed(run: &Run) -> Run {
    Run {
        state: RunState::Failed,
        failure: Some(Failure {
            phase: "match".to_owned(),
            endpoint: Some("writer".to_owned()),
            error: "no reader was matched within 10 s".to_owned(),
            hint: Some("check that both ends use the same interface".to_owned()),
            last_log_lines: vec!["example: no multicast route".to_owned()],
        }),
        latency: BTreeMap::new(),
        measured: None,
        steady_state: BTreeMap::new(),
        flows: Vec::new(),
        cpu_ns_per_sample: None,
        ..run.clone()
    }
}

/// Returns the complete result; `change` is applied to each run before it is added.
pub fn document_with(change: impl Fn(&mut Run)) -> ResultDocument {
    static RUNS: LazyLock<Vec<(Run, Histograms)>> = LazyLock::new(|| {
        let experiment = header().experiment;
        let run = |scheduled: ScheduledRun| run_in_one_window(scheduled, &experiment.cells[scheduled.cell]);
        experiment.schedule().into_iter().map(run).map(|(run, log)| (run, log.merged())).collect()
    });
    let mut assembler = Assembler::new(header());
    for (run, histograms) in RUNS.iter() {
        let mut run = run.clone();
        change(&mut run);
        assembler.add(run, histograms);
    }
    assembler.document(State::Complete)
}

pub fn document() -> ResultDocument {
    document_with(|_| {})
}
