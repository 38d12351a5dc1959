//! Deterministic paced runs.

use std::collections::BTreeMap;

use experiment::{Cell, Factors, Flow, Load, Rate, ScheduledRun, Workload};
use results::{
    Assembler, DeliveryCounts, FlowRecord, IntervalLog, Measurement, Paced, ResultDocument, ResultHeader,
    Run, State, Tail, Throughput, Timeliness, kind_of_flow,
};

use super::{Noise, latency_of, record_in};

/// Number of measured values of a run.
pub const MEASURED: u64 = 1200;
/// Maximum rate, in samples/s, without a schedule.
const MOST_SPS: f64 = 150_000.0;
const SECONDS: f64 = 0.2;

pub fn constant(sps: u64) -> Load {
    Load::Constant { rate: Rate::per_second(sps) }
}

pub fn flow(name: &str, size_bytes: u64, load: Load) -> Flow {
    Flow::new(name, size_bytes, load)
}

/// Returns the header of the sample with paced cells: one for each driver and load, with samples of 1024 bytes, and
/// one for each driver with these flows, if there are any.
pub fn header(loads: &[Load], flows: &[Flow]) -> ResultHeader {
    let mut header = super::header();
    let is_first =
        |cell: &&Cell| cell.factors.workload == Workload::Latency && cell.factors.size_bytes == 1024;
    let templates: Vec<Cell> = header.experiment.cells.iter().filter(is_first).cloned().collect();
    let with = |template: &Cell, id: String, load: Option<Load>, flows: &[Flow]| Cell {
        id: format!("{}/paced/{id}", template.factors.driver),
        factors: Factors {
            workload: Workload::Paced,
            load,
            flows: flows.to_vec(),
            ..template.factors.clone()
        },
    };
    let of = |template: &Cell| {
        let single = loads.iter().map(|load| with(template, load.to_string(), Some(load.clone()), &[]));
        let several = (!flows.is_empty()).then(|| with(template, "flows".to_owned(), None, flows));
        single.chain(several).collect::<Vec<_>>()
    };
    header.experiment.cells = templates.iter().flat_map(of).collect();
    header
}

/// Returns the values of each kind of a flow: a response time is the sum of send lag and service time.
pub fn values(run: u32, flow: &Flow) -> BTreeMap<&'static str, Vec<u64>> {
    let sps = flow.load.rate().map_or(MOST_SPS, Rate::sps);
    let mut noise = Noise(u64::from(run) ^ flow.size_bytes);
    let typical = 15_000 + flow.size_bytes + (sps * sps / 4e5) as u64;
    let service: Vec<u64> = (0..MEASURED).map(|_| noise.latency(typical)).collect();
    let lag: Vec<u64> = (0..MEASURED).map(|_| noise.latency(40 + (sps / 100.0) as u64)).collect();
    let response = service.iter().zip(&lag).map(|(service, lag)| service + lag).collect();
    let write_call = (0..MEASURED).map(|_| noise.latency(4_000)).collect();
    let mut values = BTreeMap::from([("service", service), ("write_call", write_call)]);
    if flow.load != Load::Max {
        values.extend([("send_lag", lag), ("response", response)]);
    }
    values
}

/// Returns a valid run and its histograms.
pub fn run(scheduled: ScheduledRun, cell: &Cell) -> (Run, IntervalLog) {
    let (run, _) = super::run_in_one_window(scheduled, cell);
    let mut log = IntervalLog::new();
    let flows = cell.factors.streams();
    let mut pooled: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let mut records = Vec::new();
    for flow in &flows {
        let mut latency = BTreeMap::new();
        for (kind, values) in values(scheduled.number, flow) {
            let distribution = record_in(1, &values);
            latency.insert(kind.to_owned(), latency_of(&distribution));
            if flows.len() > 1 {
                log.add(&kind_of_flow(kind, &flow.name), &distribution).unwrap();
            }
            pooled.entry(kind).or_default().extend(values);
        }
        let planned = (flow.load.rate().map_or(MOST_SPS, Rate::sps) * SECONDS) as u64;
        let offered = planned.min((MOST_SPS * SECONDS) as u64);
        let lost = if cell.factors.qos.reliability.is_none() { offered / 500 } else { 0 };
        let counted =
            DeliveryCounts { sent: offered, delivered: offered - lost, lost, ..DeliveryCounts::default() };
        records.push(FlowRecord {
            sizes: None,
            group: flow.group.clone(),
            late: flow.load.has_times().then_some(offered / 50),
            timeliness: flow.deadline.map(|deadline| Timeliness {
                deadline_ns: deadline.deadline_ns,
                limit_pct: deadline.limit_pct(),
                planned,
                missed: planned - offered + lost,
                is_met: deadline.is_met(planned - offered + lost, planned),
                mean_age_ns: 1e6,
                gaps: None,
            }),
            name: flow.name.clone(),
            writer: "writer".to_owned(),
            reader: "reader".to_owned(),
            size_bytes: flow.size_bytes,
            load: Some(flow.load.to_string()),
            planned,
            offered,
            delivered_in_time: counted.delivered,
            counted,
            latency,
            unplaced: 0,
            lag_in_writes_pct: None,
        });
    }
    let mut latency = BTreeMap::new();
    for (kind, values) in &pooled {
        let distribution = record_in(1, values);
        log.add(kind, &distribution).unwrap();
        latency.insert((*kind).to_owned(), latency_of(&distribution));
    }
    let planned: u64 = records.iter().map(|record| record.planned).sum();
    let has_times = flows.iter().all(|flow| flow.load != Load::Max);
    let sps = planned as f64 / SECONDS;
    let throughput = throughput(&records, scheduled.number);
    let paced = Paced {
        planned,
        planned_sps: has_times.then_some(sps),
        unsent: planned - throughput.sent,
        sender_limited: has_times && sps > 50_000.0,
        back_pressure: false,
        throttle: None,
        spin_ns: 60_000,
    };
    let measured = Some(Measurement::Paced { throughput, paced });
    (Run { latency, flows: records, measured, ..run }, log)
}

fn throughput(flows: &[FlowRecord], run: u32) -> Throughput {
    let sum = |of: fn(&FlowRecord) -> u64| flows.iter().map(of).sum::<u64>();
    let (sent, delivered, lost) =
        (sum(|flow| flow.counted.sent), sum(|flow| flow.counted.delivered), sum(|flow| flow.counted.lost));
    let bytes: u64 = flows.iter().map(|flow| flow.size_bytes * flow.counted.delivered).sum();
    let seconds = SECONDS * (1.0 + f64::from(run % 3) / 1000.0);
    Throughput {
        offered_sps: sum(|flow| flow.offered) as f64 / seconds,
        accepted_sps: sent as f64 / seconds,
        delivered_sps: delivered as f64 / seconds,
        goodput_mbps: bytes as f64 * 8.0 / 1e6 / seconds,
        sent,
        delivered,
        delivered_in_time: delivered,
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

/// Returns a complete result; `change` is applied to each run before it is added.
pub fn document_with(header: &ResultHeader, change: impl Fn(&mut Run)) -> ResultDocument {
    let mut assembler = Assembler::new(header.clone());
    for scheduled in header.experiment.schedule() {
        let (mut run, log) = run(scheduled, &header.experiment.cells[scheduled.cell]);
        change(&mut run);
        assembler.add(run, &log.merged());
    }
    assembler.document(State::Complete)
}
