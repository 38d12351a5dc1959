//! The hot path does not allocate: every step for a sample, repeated ten thousand times.

use agent::{
    base::clock::now_ns,
    traffic::{
        by_writer::{BatchClock, ByWriter},
        header::Header,
        identity::Identity,
        keys::Keys,
        payload::Payloads,
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
        let stream =
            StreamSpec { writer: 1, size_bytes: 256, instances, in_flight: None, load: None, delay_ns: 0 };
        record(Keys::of_stream(&stream));
    }
    // the counter detects an allocation
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1_u8; 9]))).count_total, 1);
}

/// Writes, receives and records samples with these keys.
fn record(keys: Keys) {
    let identity = Identity { tag: 1, writer: 1, size: 256, since_ns: 0, keys };
    let mut payloads = Payloads::new(1, identity.size);
    let stats =
        ReceiveStats::new(identity, Payloads::new(1, identity.size), 3, WindowCounts::new(100, 1_000_000));
    let mut tally = ByWriter::new(vec![(identity.writer, stats)]);
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
    let received = tally.all()[0].received();
    assert!(received.delivered > 0 && received.missing > 0 && received.duplicate > 0);
    assert_eq!(received.delivered + received.missing, received.next);
    assert_eq!(received.window_delivered.iter().sum::<u64>(), received.delivered);
    assert!(received.window_delivered.len() > 1, "windows went by: {:?}", received.window_delivered);
    assert_eq!((received.corrupt, received.out_of_order), (0, 0));
}
