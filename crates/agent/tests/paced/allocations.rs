//! The hot path of paced readers does not allocate.

use agent::{
    base::clock::now_ns,
    roles::{paced_reader::FlowRecorder, stream_reader::StartTime},
    traffic::{
        flow_spec::FlowSpec,
        grouped_reader::GroupedReader,
        header::Header,
        identity::{Identity, PayloadSize},
        keys::Keys,
        payload::Payloads,
        probes::ProbeReceiver,
        receive_stats::ReceiveStats,
    },
};
use allocation_counter::measure;
use driver_host::Sample;
use experiment::{Load, ReceiveGroup, Role};
use results::WindowCounts;

use crate::rig::{MS, Run, cell, configure_of_each_schedule, pair, participant};

#[test]
fn receiving_by_a_plan_allocates_nothing() {
    let configure = configure_of_each_schedule();
    for stream in configure.streams() {
        let plan = FlowSpec::new(&configure, stream).expect("a plan");
        let identity = Identity {
            tag: configure.run_tag,
            writer: stream.writer,
            size: PayloadSize::of_stream(stream, &configure.trace_of(stream)),
            since_ns: 0,
            keys: Keys::of_stream(stream),
            slack_ns: configure.clock_slack_ns,
        };
        let mut payloads = Payloads::of_stream(&configure, stream);
        let windows = WindowCounts::new(configure.windows, configure.measure_ns);
        let expected = Payloads::of_stream(&configure, stream);
        let stats = ReceiveStats::new(identity, expected, configure.check_every, windows);
        let mut arrivals = FlowRecorder::new(&configure, &plan, stats, &StartTime::default());
        let planned = plan.schedule().expect("times").planned(configure.measure_ns);
        let counted = measure(|| {
            for sequence in (0..planned).filter(|sequence| !sequence.is_multiple_of(7)) {
                let header = Header {
                    sequence: sequence as u32,
                    writer: stream.writer,
                    tag: configure.run_tag,
                    warm_up: false,
                    sent_ns: now_ns(),
                };
                arrivals.arrived(Sample::new(payloads.stamped(sequence, &header), 0));
            }
        });
        assert_eq!(counted.count_total, 0, "{plan:?}");
        assert_eq!(arrivals.progress().delivered(), planned - planned.div_ceil(7));
    }
}

#[test]
fn receiving_in_groups_allocates_nothing() {
    let (writer, reader) = pair(&participant("groups"), "groups", false);
    let mut factors = cell("udp", Load::Max);
    factors.queues.receive_group = Some(ReceiveGroup::new(8, MS));
    let configure = Run::new(factors, MS).configure(Role::Reader);
    let mut taker = GroupedReader::new(reader, &configure.readers[0]);
    for number in 0..20_u8 {
        writer.write(0, &[number; 64]).expect("written");
    }
    let (mut given, mut groups) = (0_u8, 0);
    let counted = measure(|| {
        while given < 20 {
            let sink = |sample: Sample<'_>| {
                assert_eq!(sample.payload, [given; 64]);
                given += 1;
            };
            let taken = taker.receive(1_000 * MS, sink).expect("received");
            assert!((1..=8).contains(&taken), "{taken}");
            taker.count_take(taken, taken.into());
            groups += 1;
        }
    });
    assert_eq!(counted.count_total, 0);
    let takes = taker.takes();
    assert_eq!((takes.groups, takes.samples, takes.max_samples), (groups, 20, 8));
    // no sample arrives: the wait times out
    assert_eq!(taker.receive(MS, |_| panic!("nothing was written")).expect("nothing"), 0);
}

#[test]
fn taking_echoes_allocates_nothing() {
    const EVERY: u64 = 100;
    let configure = configure_of_each_schedule();
    let stream = configure.streams().next().expect("a stream");
    let identity = Identity {
        tag: configure.run_tag,
        writer: stream.writer,
        size: PayloadSize::One(64),
        since_ns: 0,
        keys: Keys::of_stream(stream),
        slack_ns: 0,
    };
    let mut returns = ProbeReceiver::new(identity, &configure, stream, EVERY as u32);
    let known = returns.progress();
    let mut payloads = Payloads::of_stream(&configure, stream);
    known.begin(now_ns(), false);
    let counted = measure(|| {
        // the first sample of each hundred is a probe; one probe in seven, from the first on, does not return
        let probes = (0..100_000).step_by(EVERY as usize);
        for sequence in probes.filter(|sequence| !(sequence / EVERY).is_multiple_of(7)) {
            let header = Header {
                sequence: sequence as u32,
                writer: stream.writer,
                tag: configure.run_tag,
                warm_up: false,
                sent_ns: now_ns(),
            };
            let sample = Sample::new(payloads.stamped(sequence, &header), 0);
            // each echo arrives twice
            returns.arrived(sample);
            returns.arrived(sample);
        }
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(known.taken(), 100_000 - EVERY + 1);
    assert_eq!(known.returned(), 1_000 - 1_000_u64.div_ceil(7));
}
