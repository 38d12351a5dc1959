//! Bounds from physics: the links of a lab, the cores of a process, and the time of a rate.

use control::WriterReport;
use experiment::{Cell, Design, HostSpec, PlannedHost, Topology, Workload};
use results::{Environment, Host, HostRecord, RunState, WarningKind};
use simulate::Simulator;

use super::{DRIVING, SCHEDULED, SERVING, Subject, warns};
use crate::rig::{MS, cell, constant, design, paced};

/// Hosts of a lab with this link.
fn lab(link: &str) -> Vec<HostRecord> {
    let at = HostSpec::parse(&format!("lab:3,{link}")).expect("a lab");
    let host = |number| HostRecord {
        name: format!("h{number}"),
        at: at.clone(),
        machine_of: None,
        interface: Some("eth0".to_owned()),
        properties: Host::default(),
        environment: Environment::default(),
    };
    (1..=3).map(host).collect()
}

fn design_over(hosts: &[HostRecord]) -> Design {
    let planned =
        hosts.iter().map(|host| PlannedHost::new(&host.name, host.at.clone(), host.interface.clone()));
    Design { hosts: planned.collect(), ..design(100 * MS) }
}

/// Returns state and warnings of a run of a middleware whose times are known, over the hosts of a lab with this link.
fn over(link: &str, cell: &Cell) -> results::Run {
    let hosts = lab(link);
    let design = design_over(&hosts);
    let mut cell = cell.clone();
    cell.factors.link = hosts[0].at.lab().map(|lab| lab.link);
    let mut simulator = Simulator::new();
    simulator.hosts = hosts;
    simulator.run(&cell, &design, SCHEDULED).expect("a run").run
}

/// Checks that a run is valid over a link on which its times are possible, and invalid for this reason over a slower one.
#[track_caller]
fn contradicts(cell: &Cell, [possible, too_slow]: [&str; 2], reason: &str) {
    let valid = over(possible, cell);
    assert_eq!(valid.state, RunState::Valid, "{possible}: {:?}", valid.warnings);
    let invalid = over(too_slow, cell);
    assert_eq!(invalid.state, RunState::Invalid, "{reason}: {:?}", invalid.warnings);
    assert!(warns(&invalid, WarningKind::RunsInvalid, reason), "{reason}: {:?}", invalid.warnings);
}

/// A sample of 1000 bytes in 4.15 frames on two links has 1000 + 58 + 481 bytes at least: 123.12 µs at 100 Mbit/s.
const BOUND: &str = "123120 ns over links of 100 Mbit/s";

#[test]
fn times_below_those_of_the_links_contradict_the_run() {
    let latency = [("latency", "200us"), ("service", "1us")];
    let links = ["rate=100mbit", "rate=10mbit"];
    let pings = cell(Workload::Latency, true, 0, &latency);
    contradicts(&pings, links, "1000 B take at least 2462400 ns there and back over links of 10 Mbit/s");
    contradicts(&pings, links, "`one_way_back` of pinger and echo: the shortest is ");
    contradicts(&pings, ["delay=100us", "delay=300us"], "300000 ns over links of 0.3 ms");
    let load = paced(constant(1_000), true, &latency);
    contradicts(&load, links, "`service` of writer and reader: the shortest is ");
    let stream = cell(Workload::Throughput, true, 0, &latency);
    // Samples wait in its queue: the quickest, too.
    contradicts(&stream, ["delay=100us", "delay=100ms"], "write to arrival: the shortest is ");
    let mut ring = pings.clone();
    ring.factors.topology = Topology::Ring { nodes: 3 };
    contradicts(&ring, links, "`rtt` of the ring: the shortest is ");
    contradicts(&ring, links, "`hop_2` of node-2 and node-3: the shortest is ");
    let quick = cell(Workload::Latency, true, 0, &[("latency", "50us")]);
    let run = over("rate=100mbit", &quick);
    assert!(warns(&run, WarningKind::RunsInvalid, BOUND), "{:?}", run.warnings);
}

#[test]
fn endpoints_of_one_host_have_no_links_between_them() {
    let hosts = &lab("rate=10kbit")[..1];
    let mut cell = cell(Workload::Latency, true, 0, &[("latency", "50us")]);
    cell.factors.link = hosts[0].at.lab().map(|lab| lab.link);
    let mut simulator = Simulator::new();
    simulator.hosts = hosts.to_vec();
    let run = simulator.run(&cell, &design_over(hosts), SCHEDULED).expect("a run").run;
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
}

#[test]
fn goodput_above_that_of_a_link_contradicts_the_run() {
    // 1000 bytes each 100 µs are 80 Mbit/s, for 100 ms. The queue is full from the start: what counts took 105 ms at least.
    let stream = cell(Workload::Throughput, true, 0, &[("latency", "5ms"), ("service", "100us")]);
    contradicts(
        &stream,
        ["rate=100mbit", "rate=30mbit"],
        "Mbit/s: at most 28.87 Mbit/s are possible of 30 Mbit/s, within 1 %",
    );
    // Two readers on two hosts: the writer's link carries each sample twice, or once by multicast.
    let mut fan_out = stream.clone();
    fan_out.factors.topology = Topology::Mesh { writers: 1, readers: 2 };
    assert_eq!(over("rate=100mbit", &fan_out).state, RunState::Valid);
}

#[test]
fn cpu_time_above_that_of_all_cores_contradicts_the_run() {
    let subject = Subject::new(cell(Workload::Throughput, true, 0, &[("service", "100us")]));
    for agent in [DRIVING, SERVING] {
        subject.contradicts("2 cores have at most", |reports| {
            let agent = &mut reports.agents[agent];
            agent.configured.cpus = vec![0, 1];
            agent.report.usage.user_ns = 2 * agent.report.usage.elapsed_ns + 21 * MS;
        });
    }
    let run = subject.with(|reports| {
        let agent = &mut reports.agents[DRIVING];
        agent.configured.cpus = vec![0, 1];
        agent.report.usage.system_ns = 0;
        agent.report.usage.user_ns = 2 * agent.report.usage.elapsed_ns + 19 * MS;
    });
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
}

#[test]
fn time_of_a_rate_contradicts_other_records_of_the_writer() {
    let subject = Subject::new(cell(Workload::Throughput, true, 0, &[("service", "100us")]));
    let change = |change: fn(&mut WriterReport)| {
        move |reports: &mut collector::RunReports| {
            change(reports.agents[DRIVING].report.writer_mut().expect("a writer"));
        }
    };
    // Half of the time is twice the rate.
    subject.contradicts(
        "but the writer wrote for",
        change(|writer| writer.end_ns -= (writer.end_ns - writer.begin_ns) / 2),
    );
    subject.contradicts(
        "but its resource usage, read before and after, is of",
        change(|writer| writer.end_ns += writer.end_ns - writer.begin_ns),
    );
}

#[test]
fn measurements_of_rates_last_for_enough_samples_of_a_slow_link() {
    let measured_ms = |link: &str, workload: Workload, size_bytes: u64| {
        let mut cell = cell(workload, true, 0, &[]);
        cell.factors.size_bytes = size_bytes;
        cell.factors.link = link.parse().ok();
        design(100 * MS).of_cell(&cell.factors).measure_ns as f64 / MS as f64
    };
    // 63,000 B have 65,502 B on the wire: 5.24016 ms at 100 Mbit/s, and 120 times that.
    assert!((measured_ms("rate=100mbit", Workload::Throughput, 63_000) - 628.8192).abs() < 1e-9);
    // A short sample has 84 B: 0.8064 ms for 120 of them.
    assert_eq!(measured_ms("rate=100mbit", Workload::Throughput, 18), 100.0);
    assert_eq!(measured_ms("rate=100kbit", Workload::Throughput, 18), 806.4);
    // At most 10 s, and only if the link is what limits.
    assert_eq!(measured_ms("rate=1mbit", Workload::Throughput, 63_000), 10_000.0);
    assert_eq!(measured_ms("delay=100ms", Workload::Throughput, 63_000), 100.0);
    assert_eq!(measured_ms("rate=1mbit", Workload::Latency, 63_000), 100.0);
}
