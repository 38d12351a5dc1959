//! Match state: the number of matched peers, and when it changed.
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver_abi as abi;

/// Matched peers of a writer or reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchState {
    /// Number of peers that are matched now.
    pub count: u32,
    /// Time of the last change of the number, in ns of `CLOCK_MONOTONIC`. `None`: it has not changed yet, or the
    /// middleware does not report when it does.
    pub changed_ns: Option<u64>,
}

impl MatchState {
    pub(crate) fn to_abi(self) -> abi::Match {
        abi::Match {
            struct_size: size_of::<abi::Match>() as u32,
            count: self.count,
            changed_ns: self.changed_ns.unwrap_or(0),
        }
    }
}

/// Record of the match state: notes the time of each change. Not for the hot path.
#[derive(Debug, Default)]
pub struct MatchRecord(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// Joined minus left peers. Negative for a moment if a peer leaves before the thread that connects it has counted it.
    count: i64,
    changed_ns: Option<u64>,
}

impl MatchRecord {
    /// Creates a record without peers.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Changes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, change: i64) {
        let mut changes = self.lock();
        *changes = Changes { count: changes.count + change, changed_ns: Some(now_ns()) };
    }

    /// Counts a newly matched peer.
    pub fn joined(&self) {
        self.add(1);
    }

    /// Counts a peer that has left.
    pub fn left(&self) {
        self.add(-1);
    }

    /// Sets the number of matched peers. The time changes only if the number does.
    pub fn set(&self, count: usize) {
        let mut changes = self.lock();
        let count = count as i64;
        if changes.count != count {
            *changes = Changes { count, changed_ns: Some(now_ns()) };
        }
    }

    /// Returns the current state.
    pub fn state(&self) -> MatchState {
        let Changes { count, changed_ns } = *self.lock();
        MatchState { count: u32::try_from(count).unwrap_or(0), changed_ns }
    }
}

/// Returns the time in ns of the clock that the host uses for its timestamps.
fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid; this clock exists on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_only_with_the_number() {
        let record = MatchRecord::new();
        assert_eq!(record.state(), MatchState::default());
        record.set(0);
        assert_eq!(record.state().changed_ns, None, "no change");
        let before = now_ns();
        record.joined();
        let first = record.state();
        assert_eq!(first.count, 1);
        assert!((before..=now_ns()).contains(&first.changed_ns.expect("a time")));
        record.set(1);
        assert_eq!(record.state(), first);
        record.set(3);
        record.left();
        let last = record.state();
        assert_eq!(last.count, 2);
        assert!(last.changed_ns > first.changed_ns);
    }

    #[test]
    fn peer_may_leave_before_it_is_counted() {
        let record = MatchRecord::new();
        record.left();
        assert_eq!(record.state().count, 0);
        record.joined();
        assert_eq!(record.state().count, 0);
        record.joined();
        assert_eq!(record.state().count, 1);
    }
}
