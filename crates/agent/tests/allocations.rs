//! The hot path does not allocate: every step for a sample, repeated ten thousand times.

use agent::{
    base::clock::now_ns,
    traffic::{
        by_writer::{BatchClock, ByWriter},
        header::Header,
        identity::Identity,
        payload::Payloads,
        receive_stats::ReceiveStats,
    },
};
use allocation_counter::measure;
use control::{TimestampLog, TimestampPair};
use driver_host::Sample;
use results::{WindowCounts, Windows};

const SAMPLES: u64 = 10_000;

#[test]
fn writing_receiving_and_recording_allocate_nothing() {
    let identity = Identity { tag: 1, writer: 1, size: 256, since_ns: 0 };
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
                let _ = tally.of(payload).count(&Sample::new(payload, 0), clock.arrival_ns());
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
    // the counter detects an allocation
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1_u8; 9]))).count_total, 1);
}
