//! Benchmarks of the harness: time and allocations per sample to stamp, fill, check and record. No step allocates.
//!
//! Run them with `make bench`; `tests/allocations.rs` asserts that there are no allocations.

use agent::{
    base::{clock::now_ns, sleep_spin_timer::SleepSpinTimer},
    traffic::{
        header::Header,
        identity::{Identity, PayloadSize},
        keys::Keys,
        payload::Payloads,
        per_writer::{BatchClock, PerWriter},
        receive_stats::ReceiveStats,
    },
};
use control::{TimestampLog, TimestampPair};
use divan::{AllocProfiler, Bencher, black_box};
use driver_host::Sample;
use experiment::{Load, Rate, Schedule, SendTimes};
use results::{SequenceSet, WindowCounts, Windows};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const SIZES: [usize; 3] = [64, 16_384, 63_000];

fn main() {
    divan::main();
}

fn header(sequence: u64, sent_ns: u64) -> Header {
    Header { sequence: sequence as u32, writer: 1, tag: 1, warm_up: false, sent_ns }
}

/// One read of the clock.
#[divan::bench]
fn clock() -> u64 {
    now_ns()
}

/// Writer: select the payload of a sample and stamp its header, without the clock read.
#[divan::bench(args = SIZES)]
fn stamp(bencher: Bencher<'_, '_>, size: usize) {
    let mut payloads = Payloads::new(1, size);
    let mut sequence = 0;
    bencher.bench_local(|| {
        sequence += 1;
        black_box(payloads.stamped(sequence, &header(sequence, sequence)));
    });
}

/// Before the traffic: fill all payloads of a run with their pattern.
#[divan::bench(args = SIZES)]
fn fill(bencher: Bencher<'_, '_>, size: usize) {
    bencher.bench_local(|| Payloads::new(black_box(1), size));
}

/// Reader: check origin, order and duplicates of a sample, and every byte of one sample in 64 (default of
/// `characterize`).
#[divan::bench(args = SIZES, sample_size = 6400)]
fn check(bencher: Bencher<'_, '_>, size: usize) {
    let identity = Identity {
        tag: 1,
        writer: 1,
        size: PayloadSize::One(size),
        since_ns: 0,
        keys: Keys::NONE,
        slack_ns: 0,
    };
    let tally =
        ReceiveStats::new(identity, Payloads::new(1, size), 64, WindowCounts::new(100, 1_000_000_000));
    let mut payloads = Payloads::new(1, size);
    let mut tally = PerWriter::new(vec![(1, tally)]);
    let (mut sequence, now, mut clock) = (0, now_ns(), BatchClock::default());
    bencher.bench_local(|| {
        let payload = payloads.stamped(sequence, &header(sequence, now));
        let _ = tally.of(payload).count(&Sample::new(payload, 0), clock.arrival_ns());
        sequence += 1;
    });
    assert_eq!(tally.recorders[0].received().corrupt + tally.recorders[0].foreign(), 0);
}

/// Reader: check every byte of a sample.
#[divan::bench(args = SIZES)]
fn check_every_byte(bencher: Bencher<'_, '_>, size: usize) {
    let mut writer = Payloads::new(1, size);
    let reader = Payloads::new(1, size);
    let payload = writer.stamped(3, &header(3, 0)).to_vec();
    bencher.bench_local(|| assert!(reader.is_intact(3, black_box(&payload))));
}

/// Writer or reader: record one time into the histogram of its window.
#[divan::bench]
fn record(bencher: Bencher<'_, '_>) {
    let mut windows = Windows::new(20, u64::MAX);
    windows.begin(0);
    let mut value = 1_u64;
    bencher.bench_local(|| {
        value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        windows.record(1, black_box(1_000 + (value >> 44)));
    });
}

/// Reader: insert one sequence number into the set.
#[divan::bench]
fn record_sequence(bencher: Bencher<'_, '_>) {
    let mut set = SequenceSet::new();
    let mut sequence = 0;
    bencher.bench_local(|| {
        sequence += 1;
        black_box(set.insert(sequence));
    });
}

/// Latency: record the two timestamps of one ping.
#[divan::bench]
fn record_stamps(bencher: Bencher<'_, '_>) {
    const CAPACITY: u64 = 1_000_000;
    let mut stamps = TimestampLog::with_capacity(CAPACITY as usize);
    let mut sequence = 0;
    bencher.bench_local(|| {
        sequence = (sequence + 1) % CAPACITY;
        stamps.record(sequence, TimestampPair { first_ns: sequence, second_ns: sequence });
    });
}

const PLANS: [&str; 3] = ["constant", "burst", "poisson"];

fn schedule(plan: &str) -> Schedule {
    let rate = Rate::per_second(1_000_003);
    let load = match plan {
        "constant" => Load::Constant { rate },
        "burst" => Load::Burst { rate },
        _ => Load::Poisson { rate },
    };
    Schedule::new(&load, 1, 0, [].into()).expect("with intended times")
}

/// Paced writer: compute the intended time of the next sample.
#[divan::bench(args = PLANS)]
fn plan_next(bencher: Bencher<'_, '_>, plan: &str) {
    let mut schedule = schedule(plan);
    bencher.bench_local(|| black_box(schedule.next()));
}

/// Paced reader: look up the intended time of a sample received in order.
#[divan::bench(args = PLANS)]
fn plan_at(bencher: Bencher<'_, '_>, plan: &str) {
    let mut times = SendTimes::new(schedule(plan), u64::MAX);
    let mut sequence = 0;
    bencher.bench_local(|| {
        sequence += 1;
        black_box(times.at(sequence))
    });
}

/// Paced writer: wait for a time that has passed.
#[divan::bench]
fn wait_late(bencher: Bencher<'_, '_>) {
    let (pace, now) = (SleepSpinTimer::calibrated(true), now_ns());
    bencher.bench_local(|| pace.until(black_box(now - 1), black_box(now)));
}

/// Paced writer: wait 1 us by spinning. The excess over 1 us is the overshoot.
#[divan::bench]
fn wait_spinning_1_us(bencher: Bencher<'_, '_>) {
    let pace = SleepSpinTimer::calibrated(true);
    bencher.bench_local(|| {
        let now = now_ns();
        pace.until(now + 1_000, now)
    });
}
