//! Paced load in real time, compared with the model for the same samples at the same times. The host adds delays to
//! those of the driver: shares are compared, and times have lower limits only.
mod harness;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use driver_kit::{Qos, QosDuration, Reliability};
use driver_testing::{EndpointSpec, value_of};
use harness::*;
use sim_model::{Config, Flow, GroundTruth, SampleOutcome};

/// Service time of a sample, and maximum number of samples in the server.
const SERVICE: Duration = Duration::from_micros(200);
const QUEUE: u32 = 8;
const OPTIONS: [(&str, &str); 4] =
    [("latency", "50us"), ("service", "200us"), ("queue", "8"), ("full", "drop")];
const SAMPLES: u32 = 4_000;

fn asked(reliability: Reliability) -> EndpointSpec {
    let qos = Qos {
        reliability: Some(reliability),
        max_blocking_ns: Some(QosDuration::Ns(WAIT_NS)),
        ..Qos::default()
    };
    EndpointSpec { qos, ..sized(1000) }
}

/// Writes at `share` times the capacity of the server, on a fixed schedule. Returns the start times of the writes
/// since the start of the schedule, and the lag of the last one.
fn write_at(share: f64, mut write: impl FnMut(u32)) -> (Vec<u64>, Duration) {
    let begin = Instant::now() + Duration::from_millis(1);
    let mut lag = Duration::ZERO;
    let times = (0..SAMPLES).map(|number| {
        let intended = begin + SERVICE.div_f64(share) * number;
        while Instant::now() < intended {
            let left = intended.saturating_duration_since(Instant::now());
            if left > Duration::from_micros(200) {
                thread::sleep(left - Duration::from_micros(150));
            } else {
                thread::yield_now();
            }
        }
        let at = Instant::now();
        write(number);
        lag = at - intended;
        (at - begin).as_nanos() as u64
    });
    let times = times.collect();
    (times, lag)
}

/// Returns the number of samples that the model drops if they are written at these times.
fn dropped_by_the_model(times: &[u64], service: &str) -> u32 {
    let [latency, _, queue, full] = OPTIONS;
    let config = Config::parse([latency, ("service", service), queue, full]).expect("options");
    let mut flow = Flow::new(Arc::new(config), false, 0.0, 1, 0);
    times.iter().map(|&at| u32::from(flow.offer(at, 1000) == SampleOutcome::Dropped)).sum()
}

#[test]
fn best_effort_loses_the_share_that_the_model_loses_at_the_same_times() {
    let config = Config::parse(OPTIONS).expect("options");
    let capacity = GroundTruth::new(&config, false, 0.0, 1000, 1.0, 0).capacity_sps(1).expect("a server");
    assert_eq!(capacity, 5_000.0);
    for share in [0.5, 2.0] {
        let participant = open(&OPTIONS);
        let (mut writer, mut reader) = pair(&participant, &asked(Reliability::BestEffort));
        // a reader that does not receive would block the writer
        let written = Arc::new(AtomicBool::new(false));
        let stop = written.clone();
        let read = thread::spawn(move || {
            while !stop.load(Relaxed) {
                reader.receive(10_000_000, 100, |_| {}).expect("received");
            }
        });
        let (times, _) = write_at(share, |number| writer.write(&number.to_le_bytes()).expect("written"));
        written.store(true, Relaxed);
        read.join().expect("no panic");
        let lost = value_of(&writer.settings().expect("settings"), "lost_as_configured").map(str::to_owned);
        let lost: u32 = lost.expect("counted").parse().expect("a number");
        let [model, slower, quicker] =
            ["200us", "400us", "100us"].map(|service| dropped_by_the_model(&times, service));
        // the host may delay the test between its clock and that of the driver
        assert!(
            lost.abs_diff(model) <= SAMPLES / 50,
            "at {share} of the capacity: {lost} lost, {model} by the model"
        );
        println!("at {share} of the capacity: {lost} of {SAMPLES} lost, {model} by the model");
        // and not the result of another service time
        for other in [slower, quicker] {
            assert!(lost.abs_diff(model) <= lost.abs_diff(other), "{share}: {lost}, {model}, {other}");
        }
    }
}

#[test]
fn a_reliable_writer_is_held_to_the_capacity_and_falls_behind_its_plan() {
    let participant = open(&OPTIONS);
    let (mut writer, mut reader) = pair(&participant, &asked(Reliability::Reliable));
    let begun = Instant::now();
    let receive_all = thread::spawn(move || receive(&mut reader, SAMPLES as usize).len());
    let (times, lag) = write_at(2.0, |number| writer.write(&number.to_le_bytes()).expect("written"));
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    // never faster than the server: for all samples together, and for the last write
    assert!(begun.elapsed() >= SERVICE * SAMPLES);
    let turn = SERVICE * (SAMPLES - QUEUE - 1);
    assert!(Duration::from_nanos(times[SAMPLES as usize - 1]) >= turn);
    assert!(lag >= turn - SERVICE / 2 * SAMPLES, "{lag:?}");
    assert_eq!(receive_all.join().expect("no panic"), SAMPLES as usize, "nothing is lost");
    let counters = writer.counters();
    // The host may keep a blocked writer waiting until the server is empty: then as many writes as fit do not block.
    let blocked = counters.get("write_blocked").expect("counted");
    assert!(blocked > u64::from(SAMPLES / (QUEUE + 1) / 2), "{blocked}");
}
