//! Recording touches no page for the first time: all memory it needs was written before the measurement.

use control::{TimestampLog, TimestampPair};
use experiment::{Load, Rate, Schedule, SendTimes};
use nix::sys::resource::{UsageWho, getrusage};
use results::{SequenceSet, WindowCounts, Windows};

const PAGE: usize = 4096;
/// Number of windows of a run, and their length in ns.
const WINDOWS: u32 = 100;
const LENGTH_NS: u64 = 10_000_000;

/// Returns the number of minor page faults of this thread during the call.
fn faults(during: impl FnOnce()) -> usize {
    let count = || {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the kernel tells");
        usize::try_from(usage.minor_page_faults()).expect("a count")
    };
    let before = count();
    during();
    count() - before
}

/// Returns the number of faults tolerated for this number of pages: the kernel causes a few by itself.
const fn some(pages: usize) -> usize {
    1 + pages / 16
}

/// Disables huge pages for this process: one fault then maps one page.
fn no_huge_pages() {
    let [yes, no] = [1_u8, 0].map(libc::c_ulong::from);
    // SAFETY: changes only how the kernel maps pages of this process, which no code of the process depends on.
    let done = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, no, no, no) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

/// Returns values that touch each page of a histogram: 1024 counts of 8 bytes cover one power of two.
fn in_each_page() -> impl Iterator<Item = u64> {
    (0..37).map(|exponent| 1 << exponent).flat_map(|value: u64| [value, value + value / 2])
}

#[test]
fn all_memory_of_the_recorders_is_touched_before_they_record() {
    no_huge_pages();
    // first touches count as faults
    let mut untouched = vec![0_u8; 4096 * PAGE];
    let seen = faults(|| untouched.chunks_mut(PAGE).for_each(|page| page[0] = 1));
    assert!(seen > 4096 - some(4096), "{seen} of 4096");

    let mut windows = Windows::new(WINDOWS, u64::from(WINDOWS) * LENGTH_NS);
    windows.begin(0);
    windows.begin_at(1);
    let every = |windows: &mut Windows| {
        for window in 0..u64::from(WINDOWS) {
            in_each_page().for_each(|value| windows.record(1 + window * LENGTH_NS, value));
        }
    };
    let (seen, pages) = (faults(|| every(&mut windows)), WINDOWS as usize * 28 * 2);
    assert_eq!(windows.histograms().len(), WINDOWS as usize, "all windows were recorded into");
    assert!(seen <= some(pages), "histograms of windows: {seen} of {pages}");

    // the ring of the set has a bit for each of 2^20 numbers
    let mut set = SequenceSet::new();
    let mut counts = WindowCounts::new(WINDOWS, u64::from(WINDOWS) * LENGTH_NS);
    let seen = faults(|| {
        for sequence in 0..1 << 20 {
            set.insert(sequence);
            counts.count(1 + sequence * 1_000);
        }
    });
    assert_eq!((set.delivered(), counts.counts().len()), (1 << 20, WINDOWS as usize + 1));
    assert!(seen <= some(32), "sequence numbers and counts: {seen} of 32");

    let n = 100_000;
    let mut stamps = TimestampLog::with_capacity(n);
    let stamp = |sequence| TimestampPair { first_ns: sequence, second_ns: sequence };
    let seen = faults(|| (0..n as u64).for_each(|sequence| stamps.record(sequence, stamp(sequence))));
    let pages = n * size_of::<TimestampPair>() / PAGE;
    assert!(seen <= some(pages), "stamps: {seen} of {pages}");

    // the last 2^20 intended times are kept, of 8 bytes each
    let load = Load::Poisson { rate: Rate::per_second(1_000_000) };
    let schedule = Schedule::new(&load, 1, 0, [].into()).expect("a plan");
    let mut times = SendTimes::new(schedule, 10_000_000_000);
    let seen = faults(|| (0..1 << 20).for_each(|sequence| assert!(times.at(sequence).is_some())));
    assert!(seen <= some(2048), "intended times: {seen} of 2048");
}
