//! Several writers and readers: rates, shares and losses of each against the truth of the configuration.

use experiment::{Cell, Design, Load, ScheduledRun, Topology, Workload, WriterDesign};
use results::{FlowRecord, Run, RunState, WarningKind};
use sim_model::GroundTruth;
use simulate::{HostModel, Simulator};

use crate::rig::{MS, SECOND, cell, config, constant, design, experiment_of, paced, poisson, run};

fn mesh(mut cell: Cell, writers: u16, readers: u16) -> Cell {
    cell.factors.topology = Topology::Mesh { writers, readers };
    cell
}

#[track_caller]
fn valid(run: Run) -> Run {
    assert_eq!(run.state, RunState::Valid, "{:?}", run.warnings);
    run
}

/// Returns a host on which all times of these endpoints have a factor.
fn slowed(endpoints: &[(&str, f64)]) -> HostModel {
    let endpoints = endpoints.iter().map(|(id, factor)| ((*id).to_owned(), *factor)).collect();
    HostModel { endpoints, ..HostModel::default() }
}

#[test]
fn each_reader_costs_the_writer_one_copy_by_unicast_and_none_by_multicast() {
    let options = [("service", "20us"), ("queue", "10"), ("latency", "50us")];
    for readers in [1, 2, 3, 16] {
        for multicast in [false, true] {
            let mut cell = mesh(cell(Workload::Throughput, true, 0, &options), 1, readers);
            cell.factors.multicast = multicast;
            let run = valid(run(&mut Simulator::new(), &cell, 500 * MS, 1));
            let copies = if multicast { 1 } else { u32::from(readers) };
            let config = config(&options);
            let truth = GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0).of_copies(copies);
            let capacity = truth.capacity_sps(1).expect("a limit");
            let rates = run.throughput().expect("rates");
            assert!((rates.delivered_sps / capacity - 1.0).abs() < 0.005, "{readers}: {rates:?}, {capacity}");
            assert_eq!((run.flows.len(), rates.lost), (usize::from(readers), 0), "{rates:?}");
            let sent = run.flows[0].counted.sent;
            assert!(run.flows.iter().all(|flow| flow.counted.sent == sent && flow.counted.delivered == sent));
            let packets = run.wire.as_ref().expect("an interface").tx_packets;
            assert_eq!(packets, sent * u64::from(copies), "{readers}, {multicast}");
        }
    }
}

#[test]
fn each_reader_loses_its_own_share() {
    let (loss, options) = (0.1, [("service", "20us"), ("queue", "10"), ("loss", "10%")]);
    let cell = mesh(cell(Workload::Throughput, false, 0, &options), 2, 3);
    let run = valid(run(&mut Simulator::new(), &cell, 2 * SECOND, 1));
    assert_eq!(run.flows.len(), 6);
    for flow in &run.flows {
        let counted = &flow.counted;
        assert_eq!(counted.sent, counted.delivered + counted.lost, "{flow:?}");
        let allowed = 4.0 * (counted.sent as f64 * loss * (1.0 - loss)).sqrt();
        assert!((counted.lost as f64 - counted.sent as f64 * loss).abs() <= allowed, "{flow:?}");
    }
    let of = |writer, reader| {
        let found = run.flows.iter().find(|flow| flow.writer == writer && flow.reader == reader);
        found.expect("a flow").counted.lost
    };
    assert_ne!(of("writer-1", "reader-1"), of("writer-1", "reader-2"), "drawn for each reader");
}

#[test]
fn shares_of_writers_and_their_fairness_are_those_of_their_servers() {
    let options = [("service", "50us"), ("queue", "10"), ("latency", "50us")];
    let cell = mesh(cell(Workload::Throughput, true, 0, &options), 3, 1);
    let fair = valid(run(&mut Simulator::new(), &cell, SECOND, 1));
    let writers = fair.throughput().and_then(|of| of.writers.as_ref()).expect("writers");
    assert!((writers.fairness - 1.0).abs() < 1e-6, "{writers:?}");
    let host = slowed(&[("writer-2", 2.0), ("writer-3", 4.0)]);
    let unfair = valid(run(&mut Simulator::on(host), &cell, SECOND, 1));
    let rates = unfair.throughput().expect("rates");
    let writers = rates.writers.as_ref().expect("writers");
    // 20,000, 10,000 and 5,000 samples/s
    let jain = 35_000.0_f64.powi(2) / (3.0 * (4e8 + 1e8 + 0.25e8));
    assert!((writers.fairness / jain - 1.0).abs() < 0.002, "{writers:?}, {jain}");
    assert_eq!((writers.lowest.as_str(), writers.highest.as_str()), ("writer-3", "writer-1"));
    assert!((writers.lowest_sps / 5_000.0 - 1.0).abs() < 0.005, "{writers:?}");
    assert!((rates.delivered_sps / 35_000.0 - 1.0).abs() < 0.005, "the reader's total: {rates:?}");
}

/// Writers that share a process keep their rates and shares. The process uses what they use together, and counts once.
#[test]
fn writers_of_one_process_share_its_usage_and_nothing_else() {
    let options = [("service", "50us"), ("queue", "10"), ("latency", "50us")];
    let host = || slowed(&[("writer-2", 2.0), ("writer-3", 4.0)]);
    let of = |per_process: Option<u32>| {
        let mut cell = mesh(cell(Workload::Throughput, true, 0, &options), 4, 2);
        cell.factors.writers_per_process = per_process;
        valid(run(&mut Simulator::on(host()), &cell, SECOND, 1))
    };
    let alone = of(None);
    let of_writers = |run: &Run| -> (u64, u64) {
        let processes = run.processes.iter().filter(|of| of.endpoints[0].starts_with("writer"));
        processes.map(|of| (of.usage.cpu_ns(), of.usage.samples)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    for per_process in [2, 4] {
        let shared = of(Some(per_process));
        assert_eq!(shared.processes.len(), 4 / per_process as usize + 2);
        assert_eq!(shared.flows, alone.flows, "{per_process}");
        assert_eq!(shared.throughput(), alone.throughput(), "{per_process}");
        assert_eq!(of_writers(&shared), of_writers(&alone), "{per_process}");
        let numbers: Vec<u32> = shared.endpoints.iter().map(|of| of.process).collect();
        assert!(numbers.is_sorted() && numbers[0] == numbers[per_process as usize - 1], "{numbers:?}");
    }
    // All samples of the process divide its CPU time.
    let (cpu_ns, samples) = of_writers(&alone);
    let per_sample = of(Some(4)).cpu_ns_per_sample.expect("CPU time").writer;
    assert!((per_sample - cpu_ns as f64 / samples as f64).abs() < 1e-6, "{per_sample}");
}

/// A reader that is the bottleneck serves its writers in turn.
#[test]
fn writers_share_a_slow_reader_evenly() {
    let cell = mesh(cell(Workload::Throughput, true, 0, &[("latency", "50us")]), 4, 1);
    let host = HostModel { read_ns: 20_000.0, receive_buffer: Some(20), ..HostModel::default() };
    let run = valid(run(&mut Simulator::on(host), &cell, SECOND, 1));
    let rates = run.throughput().expect("rates");
    assert!((rates.delivered_sps / 50_000.0 - 1.0).abs() < 0.005, "{rates:?}");
    let writers = rates.writers.as_ref().expect("writers");
    assert!(writers.fairness > 0.999 && (writers.lowest_sps / 12_500.0 - 1.0).abs() < 0.02, "{writers:?}");
}

#[test]
fn slow_reader_holds_up_a_reliable_writer_and_loses_alone_without_reliability() {
    let host = || HostModel { receive_buffer: Some(50), ..HostModel::default() };
    // The last reader processes 1,000 samples/s, a tenth of what is offered.
    let slow = |reliable| {
        let mut cell = mesh(paced(constant(10_000), reliable, &[("latency", "50us")]), 1, 3);
        cell.factors.queues.slow_reader_ns = Some(MS - 500);
        run(&mut Simulator::on(host()), &cell, 2 * SECOND, 1)
    };
    let held_up = valid(slow(true));
    let paced = held_up.paced().expect("a plan");
    assert!(paced.back_pressure && paced.unsent > 17_000, "{paced:?}");
    for flow in &held_up.flows {
        assert_eq!((flow.counted.delivered, flow.counted.lost), (flow.counted.sent, 0), "{flow:?}");
        assert!((flow.counted.sent as f64 / 2_050.0 - 1.0).abs() < 0.03, "{flow:?}");
    }
    let loses = valid(slow(false));
    let lost: Vec<u64> = loses.flows.iter().map(|flow| flow.counted.lost).collect();
    assert_eq!(lost[..2], [0, 0], "{lost:?}");
    assert!((lost[2] as f64 / (20_000.0 - 2_050.0) - 1.0).abs() < 0.01, "{lost:?}");
    let readers = loses.throughput().and_then(|of| of.readers.as_ref()).expect("readers");
    assert_eq!(readers.lowest, "reader-3", "the slow one is named: {readers:?}");
    assert!((readers.lowest_sps / 1_000.0 - 1.0).abs() < 0.03, "{readers:?}");
}

#[test]
fn planted_difference_between_readers_is_found() {
    let cell = mesh(paced(constant(2_000), true, &[("latency", "normal:50us,2us")]), 1, 3);
    let run = valid(run(&mut Simulator::on(slowed(&[("reader-2", 1.5)])), &cell, SECOND, 1));
    let config = config(&[("latency", "normal:50us,2us")]);
    for (flow, factor) in run.flows.iter().zip([1.0, 1.5, 1.0]) {
        let truth = GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0).of_reader(factor);
        let (mean, sd) = truth.mean_and_sd();
        let service = &flow.latency["service"];
        let allowed = 4.0 * sd / (service.n as f64).sqrt() + 1.0;
        assert!((service.mean_ns - mean).abs() <= allowed, "{}: {service:?}, {mean}", flow.reader);
    }
}

/// Each writer draws a plan of its own, and each of its readers has the same one.
#[test]
fn paced_runs_of_a_mesh_keep_their_plans() {
    let cell = mesh(paced(poisson(3_000), true, &[("latency", "50us"), ("service", "10us")]), 3, 2);
    let run = valid(run(&mut Simulator::new(), &cell, SECOND, 1));
    let planned: Vec<u64> = run.flows.iter().map(|flow| flow.planned).collect();
    assert_eq!(planned.len(), 6);
    assert!(planned.chunks(2).all(|of_writer| of_writer[0] == of_writer[1]), "{planned:?}");
    assert!(planned[0] != planned[2] || planned[2] != planned[4], "{planned:?}");
    assert_eq!(run.paced().map(|of| of.planned), Some(planned.iter().step_by(2).sum()));
    for flow in &run.flows {
        assert_eq!(flow.latency["response"].n, flow.counted.delivered, "{flow:?}");
    }
    // The copy for the second reader leaves 10 µs later.
    for of_writer in run.flows.chunks(2) {
        let [first, second] = [&of_writer[0], &of_writer[1]].map(|flow| flow.latency["service"].min_ns);
        assert_eq!((first, second), (60_000, 70_000), "{of_writer:?}");
    }
}

/// Each writer keeps a plan of its own, and each sample that one sent is delivered or lost.
#[test]
fn writers_of_a_mesh_have_loads_of_their_own() {
    let loads = vec![constant(1_000), constant(3_000), Load::Max];
    let options = [("latency", "50us"), ("service", "10us"), ("loss", "2%")];
    let cell = mesh(paced(Load::PerWriter { loads }, false, &options), 3, 2);
    let run = valid(run(&mut Simulator::new(), &cell, SECOND, 1));
    let of = |name: &str| -> Vec<_> { run.flows.iter().filter(|flow| flow.writer == name).collect() };
    for (writer, load, planned) in [("writer-1", "1000/s", 1_000), ("writer-2", "3000/s", 3_000)] {
        let flows = of(writer);
        assert_eq!(flows.len(), 2, "{:?}", run.flows);
        for flow in flows {
            assert_eq!(
                (flow.load.as_deref(), flow.planned, flow.counted.sent),
                (Some(load), planned, planned)
            );
            assert_eq!(flow.counted.delivered + flow.counted.lost, planned, "{flow:?}");
            assert_eq!(flow.latency["response"].n, flow.counted.delivered, "{flow:?}");
        }
    }
    for flow in of("writer-3") {
        assert_eq!(flow.load.as_deref(), Some("max"));
        assert!(flow.planned > 10_000 && !flow.latency.contains_key("response"), "{flow:?}");
        assert_eq!(flow.counted.delivered + flow.counted.lost, flow.counted.sent, "{flow:?}");
    }
    assert!(run.flows.iter().any(|flow| flow.counted.lost > 0), "{:?}", run.flows);
    let paced = run.paced().expect("a paced run");
    assert_eq!((paced.planned_sps, paced.unsent), (None, 0), "a load of them has no times");
}

/// Each writer has a size, a time and a number of samples of its own, with a plan and without one.
#[test]
fn writers_of_a_mesh_have_sizes_and_ends_of_their_own() {
    let writer =
        |size_bytes, measure_ns, samples| WriterDesign { size_bytes, batch_bytes: None, measure_ns, samples };
    let writers = vec![
        writer(None, SECOND, None),
        writer(Some(9_000), SECOND / 2, None),
        writer(None, SECOND, Some(70)),
    ];
    let design = Design { writers, ..design(SECOND) };
    let options = [("latency", "50us"), ("service", "10us")];
    let made = |cell: Cell| {
        let scheduled = ScheduledRun { number: 1, block: 1, cell: 0, twin: false, duet: None };
        let run = Simulator::new().run(&mesh(cell, 3, 1), &design, scheduled);
        valid(run.unwrap_or_else(|error| panic!("{error}")).run)
    };
    let run = made(paced(constant(1_000), true, &options));
    let own = |flow: &FlowRecord| (flow.size_bytes, flow.planned, flow.counted.delivered);
    assert_eq!(
        run.flows.iter().map(own).collect::<Vec<_>>(),
        [(1000, 1000, 1000), (9_000, 500, 500), (1000, 70, 70)]
    );
    let bytes = 1070.0 * 1000.0 + 500.0 * 9_000.0;
    let rates = run.throughput().expect("rates");
    let goodput = bytes * 8.0 / 1e6 * rates.delivered_sps / 1570.0;
    assert!((rates.goodput_mbps / goodput - 1.0).abs() < 1e-3, "{rates:?}, {goodput}");
    let run = made(cell(Workload::Throughput, true, 0, &options));
    assert_eq!(run.flows.iter().map(|flow| flow.size_bytes).collect::<Vec<_>>(), [1000, 9_000, 1000]);
    let sent: Vec<u64> = run.flows.iter().map(|flow| flow.counted.sent).collect();
    assert_eq!(sent[2], 70);
    assert!(sent[0] > sent[1] && sent[1] > 1_000, "{sent:?}");
}

#[test]
fn each_flow_of_a_mesh_has_quantiles_over_all_runs() {
    let cell = mesh(paced(poisson(3_000), true, &[("latency", "normal:50us,2us")]), 2, 2);
    // Too few samples in a run for its 99.9 % quantile, and enough in three.
    let plan = experiment_of(vec![cell], design(500 * MS));
    let document = Simulator::new().experiment(&plan).expect("options");
    let flows = &document.cells[0].paced.as_ref().expect("paced runs").flows;
    assert_eq!(flows.len(), 4);
    for (index, flow) in flows.iter().enumerate() {
        let service = &flow.latency["service"];
        let of_runs = document.cells[0].runs.iter().map(|run| &run.flows[index].latency["service"]);
        assert!(of_runs.clone().all(|latency| latency.p99_9_ns.is_none()), "{service:?}");
        assert_eq!(service.n, of_runs.map(|latency| latency.n).sum::<u64>());
        assert!(service.p99_9_ns.is_some() && service.pooled.contains(&0.999), "{service:?}");
    }
}

#[test]
fn topics_and_instances_together_have_the_load_of_one() {
    let mut cell = mesh(paced(constant(1_000), true, &[("latency", "50us")]), 2, 2);
    cell.factors.topics = Some(10);
    cell.factors.instances = Some(100);
    let run = valid(run(&mut Simulator::new(), &cell, SECOND, 1));
    assert_eq!(run.flows.len(), 40, "two writers to two readers on ten topics");
    assert!(run.flows.iter().all(|flow| flow.counted.delivered == 100), "{:?}", run.flows);
    assert!(run.flows.iter().any(|flow| flow.name == "topic-10"));
    assert_eq!(run.paced().map(|of| of.planned), Some(2_000));
}

#[test]
fn readers_beside_the_echo_receive_every_ping() {
    let cell = mesh(cell(Workload::Latency, true, 0, &[("latency", "50us"), ("service", "10us")]), 1, 3);
    let run = valid(run(&mut Simulator::new(), &cell, 50 * MS, 1));
    let ids: Vec<&str> = run.endpoints.iter().map(|of| of.id.as_str()).collect();
    assert_eq!(ids, ["pinger", "echo", "reader-1", "reader-2"]);
    let sent = run.latency["rtt"].n;
    assert!(sent > 300 && run.flows.iter().all(|flow| flow.counted.delivered == sent), "{:?}", run.flows);
    // The server is idle when the echo is back: the others cost nothing.
    assert_eq!(run.latency["rtt"].max_ns, 120_000);
    assert!(!run.warnings.iter().any(|warning| warning.kind == WarningKind::Loss), "{:?}", run.warnings);
}
