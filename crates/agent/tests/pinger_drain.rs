//! Drain of a pinger with lost pings.

#[allow(dead_code, reason = "it is shared with the tests of `paced`")]
#[path = "paced/rig.rs"]
mod rig;

use std::time::{Duration, Instant};

use agent::{
    base::{
        clock::now_ns,
        meters::TrafficMeter,
        role::{AgentRole as _, TrafficLimit},
    },
    roles::{
        echo_recorder::EchoRecorder,
        echo_return::{EchoReturn, ReturnInput},
        pinger::Pinger,
    },
    traffic::{
        identity::{Identity, PayloadSize},
        keys::Keys,
        payload::Payloads,
        sample_input::SampleInput,
    },
};
use control::Drain;
use experiment::{Factors, Load, Role, Workload};
use rig::{MS, Run, cell, participant, reader_config, writer_config};

#[test]
fn drain_with_a_listener_ends_at_its_time_limit() {
    const QUIET: Duration = Duration::from_secs(60);
    let factors = Factors { workload: Workload::Latency, load: None, ..cell("udp", Load::Max) };
    let configure = Run::new(factors, MS).configure(Role::Pinger);
    let stream = &configure.writers[0].stream;
    let participant = participant(&configure.run_name);
    let identity = Identity {
        tag: configure.run_tag,
        writer: stream.writer,
        size: PayloadSize::One(64),
        since_ns: now_ns(),
        keys: Keys::of_stream(stream),
        slack_ns: 0,
    };
    let echoes = EchoRecorder::new(identity, Payloads::of_stream(&configure, stream), 1);
    let flight = echoes.flight();
    let writer = participant.writer(&writer_config("ping")).expect("a writer");
    let reader = participant
        .listening_reader(&reader_config("echo", false), echoes, EchoRecorder::on_sample)
        .expect("a reader");
    let input = ReturnInput::Direct(SampleInput::Listening(reader));
    let echoes = EchoReturn::new(&configure, input, flight);
    let mut pinger = Pinger::new(&configure, stream, writer, vec![echoes]);

    let mut meter = TrafficMeter::new("lo", MS, None);
    pinger.run(TrafficLimit::of_time(MS), Some(&mut meter)).expect("measured");
    assert_eq!(pinger.recorded(), 1, "the ping is lost, because no reader is connected");
    let begin = Instant::now();
    let drain = Drain { sent: 1, timeout_ns: MS, quiet_ns: QUIET.as_nanos() as u64, joined_ns: None };
    assert!(pinger.drain(&drain, &mut meter).expect("drained"));
    assert!(
        begin.elapsed() < QUIET,
        "the drain waited for the quiet time, which is longer than its time limit"
    );
    pinger.close().expect("closed");
}
