//! The hot path does not allocate: every step for a sample, repeated ten thousand times.

use agent::{
    base::clock::now_ns,
    roles::{
        pipelined_recorder::PipelinedRecorder,
        pipelined_window::{InFlight, PipelinedWindow},
    },
    traffic::{
        header::Header,
        identity::{Identity, PayloadSize},
        keys::Keys,
        payload::Payloads,
        per_writer::{BatchClock, PerWriter},
        receive_stats::ReceiveStats,
    },
};
use allocation_counter::measure;
use control::{TimestampLog, TimestampPair};
use driver_host::Sample;
use experiment::StreamSpec;
use results::{WindowCounts, Windows};

const SAMPLES: u64 = 10_000;

#[test]
fn writing_receiving_and_recording_allocate_nothing() {
    for instances in [None, Some(1), Some(100)] {
        let stream = StreamSpec { writer: 1, size_bytes: 256, instances, ..StreamSpec::default() };
        record(Keys::of_stream(&stream));
    }
    // the counter detects an allocation
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1_u8; 9]))).count_total, 1);
}

/// Writes, receives and records samples with these keys.
fn record(keys: Keys) {
    let identity =
        Identity { tag: 1, writer: 1, size: PayloadSize::One(256), since_ns: 0, keys, slack_ns: 0 };
    let mut payloads = Payloads::new(1, 256);
    let stats = ReceiveStats::new(identity, Payloads::new(1, 256), 3, WindowCounts::new(100, 1_000_000));
    let mut tally = PerWriter::new(vec![(1, stats)]);
    let mut call = Windows::new(20, 1_000_000);
    let mut stamps = TimestampLog::with_capacity(SAMPLES as usize);
    call.begin(now_ns());
    let counted = measure(|| {
        let mut now = now_ns();
        for sequence in 0..SAMPLES {
            let header =
                Header { sequence: sequence as u32, writer: 1, tag: 1, warm_up: false, sent_ns: now };
            let mut clock = BatchClock::default();
            // every seventh sample is lost, every eleventh arrives twice
            for _ in 0..u64::from(!sequence.is_multiple_of(7)) + u64::from(sequence.is_multiple_of(11)) {
                let payload = payloads.stamped(sequence, &header);
                let sample = Sample::new(payload, keys.of(header.sequence));
                let _ = tally.of(payload).count(&sample, clock.arrival_ns());
            }
            let end = now_ns();
            call.record(end, end - now);
            stamps.record(sequence, TimestampPair { first_ns: now, second_ns: end });
            now = end;
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    let received = tally.recorders[0].received();
    assert!(received.delivered > 0 && received.missing > 0 && received.duplicate > 0);
    assert_eq!(received.delivered + received.missing, received.next);
    assert_eq!(received.window_delivered.iter().sum::<u64>(), received.delivered);
    assert!(received.window_delivered.len() > 1, "windows went by: {:?}", received.window_delivered);
    assert_eq!((received.corrupt, received.out_of_order), (0, 0));
}

#[test]
fn pipelined_ring_allocates_nothing() {
    const IN_FLIGHT: u64 = 16;
    let identity = Identity {
        tag: 1,
        writer: 1,
        size: PayloadSize::One(256),
        since_ns: 0,
        keys: Keys::NONE,
        slack_ns: 0,
    };
    let mut payloads = Payloads::new(1, 256);
    let (mut recorder, arrivals) =
        PipelinedRecorder::new(identity, Payloads::new(1, 256), 3, IN_FLIGHT as usize);
    let mut window = PipelinedWindow::new(IN_FLIGHT as usize);
    let mut lost = 0;
    let counted = measure(|| {
        for sequence in 0..SAMPLES {
            let sent_ns = now_ns();
            let header = Header { sequence: sequence as u32, writer: 1, tag: 1, warm_up: false, sent_ns };
            while !window.has_room() {
                lost += u64::from(window.lost(u64::MAX).is_some());
            }
            window.add(InFlight { sequence, sent_ns, deadline_ns: sent_ns });
            // every seventh sample is lost, every eleventh arrives twice
            for _ in 0..u64::from(!sequence.is_multiple_of(7)) + u64::from(sequence.is_multiple_of(11)) {
                recorder.arrived(Sample::new(payloads.stamped(sequence, &header), 0));
            }
            while let Ok(arrival) = arrivals.try_recv() {
                assert!(window.remove(arrival.sequence, now_ns()).is_some());
            }
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(lost > SAMPLES / 8, "{lost}");
}
