//! Progress of a role, which another thread may read while the role runs. Only one thread records into each part.

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
            fence,
        },
    },
    thread,
    time::Duration,
};

use control::{CpuProgress, Progress, ReceptionProgress, RoundTripProgress};

use super::{clock::now_ns, meters::cpu_ns};

/// Maximum number of attempts to read round trips while none is recorded, and the pause between two of them. The recording
/// thread may wait for a core.
const ATTEMPTS: u32 = 1_000;
const PAUSE: Duration = Duration::from_micros(10);

/// Progress of a reader, shared with the thread that waits for it.
#[derive(Debug)]
pub struct ReceiveProgress {
    size_bytes: u64,
    delivered: AtomicU64,
    /// Number of samples of the measurement phase up to the last one in the order of the writer; 0 if it is not known.
    next: AtomicU64,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl ReceiveProgress {
    /// Creates the progress of a stream with samples of this size.
    #[must_use]
    pub fn of_size(size_bytes: u64) -> Self {
        let [delivered, next, first_ns, last_ns] = [(); 4].map(|()| AtomicU64::new(0));
        Self { size_bytes, delivered, next, first_ns, last_ns }
    }

    fn read(&self) -> ReceptionProgress {
        let (delivered, next) = (self.delivered(), self.next.load(Relaxed));
        ReceptionProgress {
            delivered,
            bytes: delivered.saturating_mul(self.size_bytes),
            lost: (next > 0).then(|| next.saturating_sub(delivered)),
        }
    }

    /// Returns the number of distinct samples of the measurement phase.
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Relaxed)
    }

    /// Sets the number of samples of the measurement phase.
    #[inline]
    pub fn set(&self, delivered: u64) {
        self.delivered.store(delivered, Relaxed);
    }

    /// Sets the number of distinct samples of the measurement phase, and of those that the writer has sent at least.
    #[inline]
    pub fn set_of(&self, delivered: u64, next: u64) {
        self.delivered.store(delivered, Relaxed);
        self.next.store(next, Relaxed);
    }

    /// Sets the arrival time of the first sample of the measurement phase in ns.
    pub fn begin(&self, first_ns: u64) {
        self.first_ns.store(first_ns, Relaxed);
    }

    /// Sets the arrival time of the last sample of this run in ns, warm-up included.
    #[inline]
    pub fn arrived(&self, now_ns: u64) {
        self.last_ns.store(now_ns, Relaxed);
    }

    /// Returns the arrival time of the last sample of this run in ns, warm-up included.
    pub fn last_ns(&self) -> u64 {
        self.last_ns.load(Relaxed)
    }
}

/// Round trips since the start of the measurement.
///
/// The version is odd while a round trip is recorded: a reading in between is repeated.
#[derive(Debug, Default)]
pub struct RoundTrips {
    version: AtomicU64,
    count: AtomicU64,
    /// The first round trip in ns: the deviations from it, and their squares, are summed as `f64`.
    first_ns: AtomicU64,
    sum: AtomicU64,
    squares: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl RoundTrips {
    /// Removes all round trips. Called by the recording thread.
    pub fn clear(&self) {
        self.change(|| {
            for part in [&self.count, &self.first_ns, &self.sum, &self.squares, &self.min_ns, &self.max_ns] {
                part.store(0, Relaxed);
            }
        });
    }

    /// Records a round trip. Called by the recording thread.
    #[inline]
    pub fn record(&self, ns: u64) {
        self.change(|| {
            let count = self.count.load(Relaxed);
            if count == 0 {
                self.first_ns.store(ns, Relaxed);
                self.min_ns.store(ns, Relaxed);
            }
            let deviation = ns as f64 - self.first_ns.load(Relaxed) as f64;
            add(&self.sum, deviation);
            add(&self.squares, deviation * deviation);
            self.min_ns.store(self.min_ns.load(Relaxed).min(ns), Relaxed);
            self.max_ns.store(self.max_ns.load(Relaxed).max(ns), Relaxed);
            self.last_ns.store(ns, Relaxed);
            self.count.store(count + 1, Relaxed);
        });
    }

    #[inline]
    fn change(&self, change: impl FnOnce()) {
        let version = self.version.load(Relaxed);
        self.version.store(version.wrapping_add(1), Relaxed);
        fence(Release);
        change();
        self.version.store(version.wrapping_add(2), Release);
    }

    /// Returns the round trips so far; `None` if there are none.
    #[must_use]
    pub fn read(&self) -> Option<RoundTripProgress> {
        let mut read = self.read_once();
        for _ in 0..ATTEMPTS {
            let version = self.version.load(Acquire);
            read = self.read_once();
            fence(Acquire);
            if version.is_multiple_of(2) && self.version.load(Relaxed) == version {
                break;
            }
            thread::sleep(PAUSE);
        }
        read
    }

    fn read_once(&self) -> Option<RoundTripProgress> {
        let number = |part: &AtomicU64| f64::from_bits(part.load(Relaxed));
        let count = self.count.load(Relaxed);
        if count == 0 {
            return None;
        }
        let (sum, squares) = (number(&self.sum), number(&self.squares));
        let deviations = (squares - sum * sum / count as f64).max(0.0);
        Some(RoundTripProgress {
            count,
            mean_ns: self.first_ns.load(Relaxed) as f64 + sum / count as f64,
            sd_ns: if count < 2 { 0.0 } else { (deviations / (count - 1) as f64).sqrt() },
            min_ns: self.min_ns.load(Relaxed),
            max_ns: self.max_ns.load(Relaxed),
            last_ns: self.last_ns.load(Relaxed),
        })
    }
}

#[inline]
fn add(sum: &AtomicU64, value: f64) {
    sum.store((f64::from_bits(sum.load(Relaxed)) + value).to_bits(), Relaxed);
}

/// Start of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct MeasurementStart {
    /// Start in ns.
    begin_ns: u64,
    /// Time and CPU time of the process at the request, in ns.
    read_ns: u64,
    used_ns: u64,
}

impl MeasurementStart {
    /// Creates the start of a measurement that is requested now. `begin_ns`: planned start.
    #[must_use]
    pub fn requested(begin_ns: Option<u64>) -> Self {
        let read_ns = now_ns();
        Self { begin_ns: begin_ns.unwrap_or(read_ns), read_ns, used_ns: cpu_ns() }
    }

    /// Returns the CPU time of the process since the request.
    fn cpu(&self) -> CpuProgress {
        CpuProgress {
            elapsed_ns: now_ns().saturating_sub(self.read_ns),
            used_ns: cpu_ns().saturating_sub(self.used_ns),
        }
    }
}

/// Parts of the progress of a role.
#[derive(Clone, Debug, Default)]
pub struct ProgressSource {
    /// Reception of each stream.
    pub reception: Vec<Arc<ReceiveProgress>>,
    /// Round trips of pings or probes, by endpoint that echoes.
    pub round_trips: Vec<Arc<RoundTrips>>,
}

impl ProgressSource {
    /// Returns the progress at a time since the start of the measurement; at a role that receives, its first sample counts
    /// as the start.
    #[must_use]
    pub fn read(&self, now_ns: u64, start: Option<&MeasurementStart>) -> Progress {
        let first_ns = self.reception.iter().map(|progress| progress.first_ns.load(Relaxed));
        let first_ns = first_ns.filter(|first_ns| *first_ns > 0).min();
        let start_ns = if self.reception.is_empty() { start.map(|start| start.begin_ns) } else { first_ns };
        let reception = self.reception.iter().map(|progress| progress.read());
        let round_trips = self.round_trips.iter().filter_map(|trips| trips.read());
        Progress {
            elapsed_ns: start_ns.map_or(0, |start_ns| now_ns.saturating_sub(start_ns)),
            reception: reception.reduce(ReceptionProgress::and),
            round_trips: round_trips.reduce(RoundTripProgress::and),
            cpu: start.map(MeasurementStart::cpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn round_trips_have_exact_moments() {
        let trips = RoundTrips::default();
        assert_eq!(trips.read(), None);
        for ns in [1_000_000_100, 1_000_000_300, 1_000_000_200] {
            trips.record(ns);
        }
        let read = trips.read().expect("three");
        assert_eq!((read.count, read.min_ns, read.max_ns), (3, 1_000_000_100, 1_000_000_300));
        assert_eq!((read.mean_ns, read.sd_ns, read.last_ns), (1_000_000_200.0, 100.0, 1_000_000_200));
        trips.clear();
        assert_eq!(trips.read(), None);
        trips.record(7);
        let read = trips.read().expect("one");
        assert_eq!((read.count, read.mean_ns, read.sd_ns, read.min_ns, read.max_ns), (1, 7.0, 0.0, 7, 7));
    }

    #[test]
    fn readings_of_another_thread_are_consistent() {
        let (trips, over) = (RoundTrips::default(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                for ns in 0..300_000 {
                    trips.record(ns);
                    // An agent waits between two round trips.
                    std::hint::black_box((0..50).for_each(|pause| _ = std::hint::black_box(pause)));
                }
                over.store(true, Release);
            });
            while !over.load(Acquire) {
                // The first `count` numbers.
                let Some(read) = trips.read() else { continue };
                assert_eq!((read.min_ns, read.max_ns, read.last_ns), (0, read.count - 1, read.count - 1));
                assert!((read.mean_ns - (read.count - 1) as f64 / 2.0).abs() < 0.01, "{read:?}");
            }
        });
    }

    #[test]
    fn cpu_time_is_that_since_the_request() {
        let start = MeasurementStart::requested(None);
        assert_eq!(ProgressSource::default().read(now_ns(), None).cpu, None);
        let cpu = || ProgressSource::default().read(now_ns(), Some(&start)).cpu.expect("a reading");
        let before = cpu();
        let begin_ns = cpu_ns();
        while cpu_ns() < begin_ns + 20_000_000 {}
        let after = cpu();
        assert!(after.used_ns - before.used_ns >= 20_000_000, "{before:?} {after:?}");
        assert!(after.elapsed_ns > before.elapsed_ns && before.used_ns < begin_ns, "{before:?} {after:?}");
    }

    #[test]
    fn progress_of_several_streams_is_their_sum() {
        let stream = |delivered, next, first_ns| {
            let progress = ReceiveProgress::of_size(100);
            progress.set_of(delivered, next);
            progress.begin(first_ns);
            Arc::new(progress)
        };
        let streams = vec![stream(7, 9, 1_000), stream(3, 3, 500), stream(0, 0, 0)];
        let source = ProgressSource { reception: streams, round_trips: Vec::new() };
        let start = |begin_ns| MeasurementStart { begin_ns, read_ns: 0, used_ns: 0 };
        let read = source.read(2_000, Some(&start(1)));
        assert_eq!(read.elapsed_ns, 1_500);
        let expected = ReceptionProgress { delivered: 10, bytes: 1_000, lost: Some(2) };
        assert_eq!(read.reception, Some(expected));
        let nothing = ProgressSource::default().read(2_000, Some(&start(1_200)));
        assert_eq!((nothing.elapsed_ns, nothing.reception), (800, None));
    }
}
