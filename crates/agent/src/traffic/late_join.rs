//! Late join of a reader: the times of the join, shared by the threads of an agent, and what they record around it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use control::{Configure, JoinReception, JoinTimes, PastReception, WrittenBeforeJoin};
use driver_host::{DriverError, Writer};

/// Number of samples, written or received while the reader joins, whose times are recorded.
const RECORDED: usize = 1 << 20;
/// Time that is not known yet.
const UNKNOWN: u64 = u64::MAX;

/// Late join of a run, shared by the threads of an agent.
#[derive(Debug)]
pub struct LateJoin {
    begin_ns: AtomicU64,
    period_ns: AtomicU64,
    joined_ns: AtomicU64,
    /// Whether this agent is the late one.
    is_late: bool,
    /// Whether there are locators to connect to.
    waiting: AtomicBool,
    /// Locators of the late reader, for each writer.
    locators: Mutex<Vec<Vec<String>>>,
}

impl LateJoin {
    /// Creates the late join of a run; `None` if all its endpoints join together.
    #[must_use]
    pub fn of(configure: &Configure) -> Option<Arc<Self>> {
        let late_join = configure.late_join?;
        let join = Self {
            begin_ns: AtomicU64::new(UNKNOWN),
            period_ns: AtomicU64::new(0),
            joined_ns: AtomicU64::new(UNKNOWN),
            is_late: matches!(late_join, control::LateJoin::Late { .. }),
            waiting: AtomicBool::new(false),
            locators: Mutex::default(),
        };
        if let control::LateJoin::Late { times, .. } = late_join {
            join.set_times(times);
        }
        Some(Arc::new(join))
    }

    /// Sets the times of the join.
    pub fn set_times(&self, times: JoinTimes) {
        self.period_ns.store(times.period_ns, Relaxed);
        self.begin_ns.store(times.begin_ns, Release);
    }

    #[inline]
    fn times(&self) -> JoinTimes {
        JoinTimes { begin_ns: self.begin_ns.load(Acquire), period_ns: self.period_ns.load(Relaxed) }
    }

    /// Sets the time at which all were matched.
    pub fn set_joined(&self, joined_ns: u64) {
        self.joined_ns.store(joined_ns, Release);
    }

    fn joined_ns(&self) -> u64 {
        self.joined_ns.load(Acquire)
    }

    /// Hands the locators of the late reader over to the thread that writes, which connects to them between two samples:
    /// only one thread at a time calls functions of a writer.
    pub fn hand_over(&self, locators: Vec<Vec<String>>) {
        *self.locators.lock().unwrap_or_else(PoisonError::into_inner) = locators;
        self.waiting.store(true, Release);
    }

    /// Returns whether locators wait for the thread that writes.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.waiting.load(Acquire)
    }

    /// Connects each writer to its locators that were handed over.
    ///
    /// # Errors
    /// Returns the driver's error if it cannot connect.
    #[cold]
    pub fn connect<'w>(&self, writers: impl Iterator<Item = &'w Writer>) -> Result<(), DriverError> {
        let locators = std::mem::take(&mut *self.locators.lock().unwrap_or_else(PoisonError::into_inner));
        for (writer, locators) in writers.zip(&locators) {
            let monitor = writer.monitor();
            locators.iter().try_for_each(|locator| monitor.connect(locator))?;
        }
        self.waiting.store(false, Release);
        Ok(())
    }
}

/// Times at which a writer writes while the reader joins. Allocates only on creation.
#[derive(Debug)]
pub struct SendLog {
    join: Arc<LateJoin>,
    /// Number of samples written before the first recorded one.
    skipped: u64,
    sent_ns: Vec<u64>,
}

impl SendLog {
    /// Creates an empty log.
    #[must_use]
    pub fn new(join: &Arc<LateJoin>) -> Self {
        Self { join: Arc::clone(join), skipped: 0, sent_ns: Vec::with_capacity(RECORDED) }
    }

    /// Starts a phase of traffic.
    pub fn begin(&mut self) {
        self.skipped = 0;
        self.sent_ns.clear();
    }

    /// Records the start of the write call of an accepted sample.
    #[inline]
    pub fn record(&mut self, sent_ns: u64) {
        if sent_ns < self.join.begin_ns.load(Relaxed) {
            self.skipped += 1;
        } else if self.sent_ns.len() < RECORDED {
            self.sent_ns.push(sent_ns);
        }
    }

    /// Returns the number of samples written before the reader had joined, of `accepted`. Exact, unless the log is full
    /// and ends before.
    #[must_use]
    pub fn before_join(&self, accepted: u64) -> WrittenBeforeJoin {
        let joined_ns = self.join.joined_ns();
        let recorded = self.sent_ns.partition_point(|sent_ns| *sent_ns < joined_ns);
        let samples = self.skipped + recorded as u64;
        WrittenBeforeJoin { samples, exact: recorded < RECORDED || samples == accepted }
    }
}

/// Reception of a stream around the join. Allocates only on creation.
#[derive(Debug)]
pub struct ReceptionLog {
    join: Arc<LateJoin>,
    longest_gap_ns: [u64; 3],
    last_ns: u64,
    /// Record of a late reader.
    past: Option<PastLog>,
}

/// Samples that a late reader received and that were written before it had joined.
#[derive(Debug)]
struct PastLog {
    first_ns: u64,
    /// Number of samples of the measurement that were written before the join began, and the last arrival of one, or of one
    /// of the warm-up.
    earlier: u64,
    earlier_last_ns: u64,
    /// Start of the write call and arrival of each sample that was written since.
    joining: Vec<(u64, u64)>,
}

impl ReceptionLog {
    /// Creates an empty log.
    #[must_use]
    pub fn new(join: &Arc<LateJoin>) -> Self {
        let past = join.is_late.then(|| PastLog {
            first_ns: 0,
            earlier: 0,
            earlier_last_ns: 0,
            joining: Vec::with_capacity(RECORDED),
        });
        Self { join: Arc::clone(join), longest_gap_ns: [0; 3], last_ns: 0, past }
    }

    /// Records a sample of the warm-up.
    pub fn warm_up(&mut self, now_ns: u64) {
        if let Some(past) = &mut self.past {
            past.arrived(now_ns);
            past.earlier_last_ns = now_ns;
        }
    }

    /// Records a distinct sample of the measurement.
    #[inline]
    pub fn record(&mut self, sent_ns: u64, now_ns: u64) {
        let times = self.join.times();
        if self.last_ns > 0 {
            let longest = &mut self.longest_gap_ns[times.period(now_ns)];
            *longest = (*longest).max(now_ns.saturating_sub(self.last_ns));
        }
        self.last_ns = now_ns;
        let Some(past) = &mut self.past else { return };
        past.arrived(now_ns);
        if sent_ns < times.begin_ns {
            past.earlier += 1;
            past.earlier_last_ns = now_ns;
        } else if past.joining.len() < RECORDED {
            past.joining.push((sent_ns, now_ns));
        }
    }

    /// Returns the record for the report.
    #[must_use]
    pub fn reception(&self) -> JoinReception {
        let joined_ns = self.join.joined_ns();
        let past = self.past.as_ref().map(|past| past.reception(joined_ns));
        JoinReception { longest_gap_ns: self.longest_gap_ns, past }
    }
}

impl PastLog {
    fn arrived(&mut self, now_ns: u64) {
        if self.first_ns == 0 {
            self.first_ns = now_ns;
        }
    }

    fn reception(&self, joined_ns: u64) -> PastReception {
        let joining = || self.joining.iter().filter(|(sent_ns, _)| *sent_ns < joined_ns);
        let last_ns = joining().map(|(_, arrival_ns)| *arrival_ns).max().unwrap_or(0);
        // Samples of a writer arrive about in the order in which they were written: the last recorded one was written after
        // the reader had joined.
        let is_complete = self.joining.last().is_none_or(|(sent_ns, _)| *sent_ns >= joined_ns);
        PastReception {
            delivered: self.earlier + joining().count() as u64,
            first_ns: self.first_ns,
            last_ns: last_ns.max(self.earlier_last_ns),
            exact: self.joining.len() < RECORDED || is_complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(late: bool) -> Arc<LateJoin> {
        let times = JoinTimes { begin_ns: 100, period_ns: 100 };
        let part = if late {
            control::LateJoin::Late { times, schedule_ns: None }
        } else {
            control::LateJoin::Early
        };
        let join = Arc::new(LateJoin {
            begin_ns: AtomicU64::new(UNKNOWN),
            period_ns: AtomicU64::new(0),
            joined_ns: AtomicU64::new(UNKNOWN),
            is_late: matches!(part, control::LateJoin::Late { .. }),
            waiting: AtomicBool::new(false),
            locators: Mutex::default(),
        });
        join.set_times(times);
        join
    }

    #[test]
    fn samples_written_before_the_join_are_counted_exactly() {
        let join = join(false);
        let mut log = SendLog::new(&join);
        log.begin();
        (0..30).for_each(|sample| log.record(10 * sample));
        assert_eq!(
            log.before_join(30),
            WrittenBeforeJoin { samples: 30, exact: true },
            "the reader has not joined"
        );
        for (joined_ns, samples) in [(100, 10), (101, 11), (151, 16), (160, 16), (290, 29), (291, 30)] {
            join.set_joined(joined_ns);
            assert_eq!(log.before_join(30), WrittenBeforeJoin { samples, exact: true }, "{joined_ns}");
        }
    }

    #[test]
    fn full_log_is_exact_only_up_to_its_end() {
        let join = join(false);
        let mut log = SendLog::new(&join);
        let written = RECORDED as u64 + 1_000;
        (0..written).for_each(|sample| log.record(100 + sample));
        join.set_joined(100 + RECORDED as u64 - 1);
        assert_eq!(log.before_join(written), WrittenBeforeJoin { samples: RECORDED as u64 - 1, exact: true });
        join.set_joined(100 + RECORDED as u64 + 5);
        assert!(!log.before_join(written).exact);
    }

    #[test]
    fn late_reader_tells_the_past_from_what_was_written_since_it_joined() {
        let join = join(true);
        let mut log = ReceptionLog::new(&join);
        log.warm_up(210);
        // written before the join began, while it joined, and afterwards
        for (sent_ns, now_ns) in [(50, 220), (60, 221), (120, 222), (149, 223), (150, 224), (230, 231)] {
            log.record(sent_ns, now_ns);
        }
        join.set_joined(150);
        let past = log.reception().past.expect("of a late reader");
        assert_eq!(past, PastReception { delivered: 4, first_ns: 210, last_ns: 223, exact: true });
    }

    #[test]
    fn longest_gap_is_that_of_each_period() {
        let mut log = ReceptionLog::new(&join(false));
        for now_ns in [0, 10, 40, 90, 101, 180, 199, 200, 205, 217] {
            log.record(0, now_ns.max(1));
        }
        let reception = log.reception();
        assert_eq!((reception.longest_gap_ns, reception.past), ([50, 79, 12], None));
    }
}
