//! Traffic that ends after a number of samples, or with its time.

#[allow(dead_code, reason = "it is shared with the tests of `paced`")]
#[path = "paced/rig.rs"]
mod rig;

use std::{thread, time::Duration};

use agent::{
    base::{
        clock::now_ns,
        meters::TrafficMeter,
        role::{AgentRole, TrafficLimit},
    },
    roles::{
        echo_recorder::EchoRecorder,
        echo_return::{EchoReturn, ReturnInput},
        pinger::Pinger,
        stream_reader::{ReaderInput, StreamReader},
        throughput_writer::ThroughputWriter,
    },
    traffic::{
        grouped_reader::GroupedReader,
        identity::{Identity, PayloadSize},
        keys::Keys,
        payload::Payloads,
        per_writer::PerWriter,
        poll_policy::PollPolicy,
        receive_stats::ReceiveStats,
        sample_input::SampleInput,
    },
};
use control::{Configure, Drain, FlowReaderReport, RoleReport, WriterReport};
use experiment::{Factors, Load, Role, Workload};
use results::WindowCounts;
use rig::{MS, Run, cell, pair, participant};

fn configure(workload: Workload, role: Role) -> Configure {
    let factors = Factors { workload, load: None, ..cell("udp", Load::Max) };
    Run::new(factors, 1_000 * MS).configure(role)
}

fn identity(configure: &Configure) -> Identity {
    let stream = configure.streams().next().expect("a stream");
    Identity {
        tag: configure.run_tag,
        writer: stream.writer,
        size: PayloadSize::One(64),
        since_ns: now_ns(),
        keys: Keys::of_stream(stream),
        slack_ns: 0,
    }
}

/// Writes up to this limit while a reader receives. Returns the reports of both.
fn throughput(limit: TrafficLimit) -> (WriterReport, FlowReaderReport) {
    throughput_after(TrafficLimit { duration_ns: MS, samples: Some(0), begin_ns: None }, limit)
}

/// Warms up to a limit, and measures to another one.
fn throughput_after(warm_up: TrafficLimit, limit: TrafficLimit) -> (WriterReport, FlowReaderReport) {
    let [of_writer, of_reader] =
        [Role::Writer, Role::Reader].map(|role| configure(Workload::Throughput, role));
    let participant = participant(&of_writer.run_name);
    let (writer, reader) = pair(&participant, "count", true);
    let (spec, stream) = (&of_reader.readers[0], &of_reader.readers[0].streams[0]);
    let payloads = Payloads::of_stream(&of_reader, stream);
    let stats =
        ReceiveStats::new(identity(&of_reader), payloads, 1, WindowCounts::new(20, of_reader.measure_ns));
    let progress = vec![stats.progress()];
    let stats = Box::new(PerWriter::new(vec![(stream.writer, stats)]));
    let readers = vec![(GroupedReader::new(reader, spec), stats)];
    let input = ReaderInput::polled(readers, PollPolicy::of_reader(spec));
    let mut reader = StreamReader::new(input, progress, None, None);
    let mut writer = ThroughputWriter::new(&of_writer, &of_writer.writers[0], writer, false, None, None);

    let sent = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            writer.run(warm_up, None).expect("warmed up");
            let mut meter = TrafficMeter::new("lo", limit.duration_ns, None);
            writer.run(limit, Some(&mut meter)).expect("measured");
            writer.recorded()
        });
        while !writing.is_finished() {
            reader.serve(Duration::from_millis(1), MS).expect("served");
        }
        writing.join().expect("written")
    });
    let mut meter = TrafficMeter::new("lo", limit.duration_ns, None);
    let drain = Drain { sent, timeout_ns: 10_000 * MS, quiet_ns: 200 * MS, joined_ns: None };
    reader.drain(&drain, &mut meter).expect("drained");
    let (RoleReport::Writer(written), RoleReport::Reader(read)) =
        (writer.report().expect("a report"), reader.report().expect("a report"))
    else {
        panic!("of a writer and a reader")
    };
    let [read] = read.flows.try_into().expect("one flow");
    assert_eq!(written.flows[0].accepted, sent);
    writer.close().expect("closed");
    reader.close().expect("closed");
    (written, read)
}

#[test]
fn throughput_writer_writes_exactly_as_many_samples_and_all_arrive() {
    for samples in [1, 100] {
        let (written, read) =
            throughput(TrafficLimit { duration_ns: 60_000 * MS, samples: Some(samples), begin_ns: None });
        assert_eq!((written.flows[0].offered, written.flows[0].accepted), (samples, samples));
        assert_eq!((read.received.delivered, read.received.next), (samples, samples));
        assert_eq!(written.flows[0].write_call.n, samples);
        assert!((1..30_000 * MS).contains(&(written.end_ns - written.begin_ns)), "{written:?}");
    }
}

#[test]
fn warm_up_ends_with_its_last_sample() {
    let measured = TrafficLimit { duration_ns: 60_000 * MS, samples: Some(9), begin_ns: None };
    for samples in [0, 1, 50] {
        let warm_up = TrafficLimit { duration_ns: 60_000 * MS, samples: Some(samples), begin_ns: None };
        let (written, read) = throughput_after(warm_up, measured);
        assert_eq!((written.flows[0].warm_up, read.received.warm_up), (samples, samples));
        assert_eq!((written.flows[0].accepted, read.received.delivered), (9, 9));
    }
}

#[test]
fn time_ends_the_traffic_before_the_last_sample() {
    let (written, _) =
        throughput(TrafficLimit { duration_ns: 20 * MS, samples: Some(u64::MAX), begin_ns: None });
    let accepted = written.flows[0].accepted;
    assert!(accepted > 1 && written.end_ns - written.begin_ns >= 20 * MS, "{accepted}");
    // A time beyond the range of the clock has no effect.
    let (written, _) = throughput(TrafficLimit { duration_ns: u64::MAX, samples: Some(5), begin_ns: None });
    assert_eq!(written.flows[0].accepted, 5);
}

#[test]
fn pinger_sends_exactly_as_many_pings() {
    let configure = configure(Workload::Latency, Role::Pinger);
    let participant = participant(&configure.run_name);
    let (writer, reader) = pair(&participant, "count", true);
    let stream = &configure.writers[0].stream;
    // Its own pings are its echoes.
    let echoes = EchoRecorder::new(identity(&configure), Payloads::of_stream(&configure, stream), 1);
    let flight = echoes.flight();
    let recorder = Box::new(echoes);
    let input = ReturnInput::Direct(SampleInput::Asked { reader, recorder, polling: true });
    let mut pinger =
        Pinger::new(&configure, stream, writer, vec![EchoReturn::new(&configure, input, flight)]);
    let mut meter = TrafficMeter::new("lo", MS, None);
    let limit = TrafficLimit { duration_ns: 60_000 * MS, samples: Some(7), begin_ns: None };
    pinger.run(limit, Some(&mut meter)).expect("measured");
    assert_eq!(pinger.recorded(), 7);
    let RoleReport::Pinger(pinged) = pinger.report().expect("a report") else { panic!("of a pinger") };
    assert_eq!((pinged.sent, pinged.in_time, pinged.returns[0].rtt.n), (7, 7, 7));
    assert!(pinged.elapsed_ns < 30_000 * MS, "it is the time that they took: {}", pinged.elapsed_ns);
    pinger.close().expect("closed");
}
