//! Open loops at and beyond capacity: late and lost samples.

use experiment::{Load, Workload};
use results::{Latency, Run};
use sim_model::GroundTruth;
use simulate::{HostModel, Simulator};

use crate::rig::{MS, SECOND, cell, config, constant, paced, run};

/// Returns a run at an offered load; the server processes 10,000 samples/s.
fn overloaded(reliable: bool, full: &str, offered: u64) -> Run {
    let options = [("service", "100us"), ("queue", "50"), ("latency", "50us"), ("full", full)];
    run(&mut Simulator::new(), &paced(constant(offered), reliable, &options), 2 * SECOND, 1)
}

#[test]
fn beyond_capacity_a_reliable_writer_falls_behind_its_plan_and_delivers_the_capacity() {
    for offered in [10_100, 12_000, 30_000] {
        for (reliable, full) in [(true, "drop"), (false, "block")] {
            let run = overloaded(reliable, full, offered);
            let throughput = run.throughput().expect("rates");
            assert!((throughput.delivered_sps / 10_000.0 - 1.0).abs() < 0.001, "{throughput:?}");
            assert_eq!(throughput.lost, 0);
            let paced = run.paced().expect("a paced run");
            assert_eq!(paced.planned, 2 * offered);
            let accepted = 20_000.0 + 50.0;
            assert!((throughput.sent as f64 - accepted).abs() < 3.0, "{throughput:?}");
            assert!((paced.unsent as f64 - (paced.planned as f64 - accepted)).abs() < 3.0, "{paced:?}");
            assert_eq!((paced.back_pressure, paced.sender_limited), (true, false));
            assert_eq!(run.flows[0].lag_in_writes_pct, Some(100.0));
            // The last sample is late by the backlog of the server, minus what the queue holds.
            let behind = 2e9 * (1.0 - 10_000.0 / offered as f64) - 50.0 * 100_000.0;
            let [lag, response] = ["send_lag", "response"].map(|kind| run.latency[kind].max_ns as f64);
            assert!((lag - behind).abs() < 0.01 * behind + 200_000.0, "{offered}: {lag}, {behind}");
            assert!(response > lag, "{response}");
            // Service alone, 150 µs, is longer than a period.
            assert_eq!(run.flows[0].late, Some(throughput.delivered));
            // The service time alone hides the overload.
            assert!(run.latency["service"].max_ns < 6 * MS, "{:?}", run.latency["service"]);
        }
    }
    // Just below the capacity no sample is late.
    let run = overloaded(true, "block", 9_900);
    let paced = run.paced().expect("a paced run");
    assert_eq!((paced.unsent, paced.sender_limited, run.latency["response"].max_ns), (0, false, 150_000));
    assert_eq!((paced.back_pressure, run.flows[0].lag_in_writes_pct), (false, None));
    // 150 µs are more than the period of 101 µs: each is late by that
    let late = |run: &Run| (run.flows[0].late, run.throughput().map(|all| all.delivered));
    let (late_of_all, delivered) = late(&run);
    assert_eq!(late_of_all, delivered);
    // and none with a period of 200 µs
    assert_eq!(late(&overloaded(true, "block", 5_000)).0, Some(0));
}

/// The limit is the CPU time of writing, not the middleware.
#[test]
fn busy_writer_is_sender_limited_and_waiting_writer_is_not() {
    let options = [("service", "10us"), ("latency", "50us"), ("queue", "50")];
    let limits = |write_ns: f64, offered| {
        let host = HostModel { write_ns, ..HostModel::default() };
        let run = run(&mut Simulator::on(host), &paced(constant(offered), true, &options), SECOND, 1);
        let paced = run.paced().expect("a paced run");
        (paced.sender_limited, paced.back_pressure)
    };
    // 20 µs per write: 50,000 samples/s, while the middleware can process 100,000/s.
    assert_eq!(limits(20_000.0, 60_000), (true, false));
    // The middleware processes 100,000 samples/s.
    assert_eq!(limits(1_000.0, 120_000), (false, true));
    assert_eq!(limits(1_000.0, 60_000), (false, false));
}

#[test]
fn beyond_capacity_best_effort_loses_what_is_over_it() {
    let config = config(&[("service", "100us")]);
    let truth = GroundTruth::new(&config, false, 0.0, 1000, 1.0, 0);
    for offered in [10_100, 12_000, 30_000] {
        let run = overloaded(false, "drop", offered);
        let throughput = run.throughput().expect("rates");
        assert_eq!(throughput.sent, 2 * offered, "the plan is held");
        let paced = run.paced().expect("a paced run");
        assert!(!paced.sender_limited && !paced.back_pressure);
        let lost = throughput.lost as f64 / throughput.sent as f64;
        let known = 1.0 - truth.delivered_sps(offered as f64) / offered as f64;
        assert!((known - (1.0 - 10_000.0 / offered as f64)).abs() < 1e-12);
        // Samples in the queue are not lost: 50 of 20,000.
        assert!((known - 0.0026..=known).contains(&lost), "{offered}: {lost}, {known}");
        assert!((throughput.delivered_sps / 10_000.0 - 1.0).abs() < 0.001, "{throughput:?}");
    }
    assert_eq!(overloaded(false, "drop", 9_900).throughput().expect("rates").lost, 0);
}

/// Coordinated omission: a closed loop sends nothing while nothing moves.
#[test]
fn a_stall_is_in_the_response_of_a_paced_run_and_hidden_from_a_closed_one() {
    let options = [("latency", "50us"), ("service", "50us"), ("queue", "1"), ("stall", "1s,100ms")];
    let closed = run(&mut Simulator::new(), &cell(Workload::Latency, true, 0, &options), 10 * SECOND, 1);
    let rtt = &closed.latency["rtt"];
    assert!(rtt.max_ns >= 100 * MS && rtt.p99_ns.expect("enough") < MS, "{rtt:?}");
    let open = run(&mut Simulator::new(), &paced(constant(1_000), true, &options), 10 * SECOND, 1);
    let of = |kind: &str| -> &Latency { &open.latency[kind] };
    // One in ten samples is due during a stall: the last hundredth waits for 90 ms or more.
    let late = of("response").p99_ns.expect("enough") as f64 / 1e6;
    assert!((late - 90.0).abs() < 10.0, "{:?}", of("response"));
    // One write per stall waits for its end; the others leave after it and have short service times.
    assert!(
        of("service").max_ns >= 90 * MS && of("service").p99_ns.expect("enough") < MS,
        "{:?}",
        of("service")
    );
    let held = open.paced().expect("a paced run");
    assert!(held.back_pressure && !held.sender_limited);
    // If the writer is not blocked, it is not late, and the service time includes the stall too.
    let free = [options[0], options[1], ("queue", "1000"), options[3]];
    let free = run(&mut Simulator::new(), &paced(constant(1_000), true, &free), 10 * SECOND, 1);
    assert_eq!(free.latency["service"].p99_ns, free.latency["response"].p99_ns);
    assert!(free.latency["service"].p99_ns.expect("enough") > 80 * MS);
}

#[test]
fn a_maximum_has_no_plan() {
    let options = [("service", "100us"), ("latency", "50us"), ("queue", "10")];
    let run = run(&mut Simulator::new(), &paced(Load::Max, true, &options), SECOND, 1);
    let paced = run.paced().expect("a paced run");
    let throughput = run.throughput().expect("rates");
    assert_eq!(run.latency.keys().collect::<Vec<_>>(), ["service", "write_call"]);
    assert_eq!((paced.planned_sps, paced.unsent, paced.sender_limited), (None, 0, false));
    assert_eq!(paced.planned, run.flows[0].offered);
    assert!((throughput.delivered_sps / 10_000.0 - 1.0).abs() < 0.001, "{throughput:?}");
}
