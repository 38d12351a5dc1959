//! Barrier for runs that execute at the same time.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Barrier of all members. A member that leaves is not waited for.
#[derive(Debug)]
pub struct RunBarrier {
    present: Mutex<Present>,
    changed: Condvar,
}

#[derive(Debug)]
struct Present {
    members: usize,
    waiting: usize,
    /// Number of times that all members have met.
    met: u64,
}

/// Member of the barrier until it is dropped.
#[derive(Debug)]
pub struct BarrierGuard<'m>(&'m RunBarrier);

impl RunBarrier {
    /// Creates a barrier without members.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a barrier is created where its members join")]
    pub const fn new() -> Self {
        Self { present: Mutex::new(Present { members: 0, waiting: 0, met: 0 }), changed: Condvar::new() }
    }

    /// Adds a member.
    pub fn join(&self) -> BarrierGuard<'_> {
        self.present().members += 1;
        BarrierGuard(self)
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the waiting members if all members wait.
    fn proceed(&self, present: &mut Present) {
        if present.waiting >= present.members {
            present.waiting = 0;
            present.met += 1;
            self.changed.notify_all();
        }
    }
}

impl BarrierGuard<'_> {
    /// Waits until all members wait here, at most for `limit`. Returns whether all have met.
    pub fn meet(&self, limit: Duration) -> bool {
        let mut present = self.0.present();
        present.waiting += 1;
        let met = present.met;
        self.0.proceed(&mut present);
        let waited = self.0.changed.wait_timeout_while(present, limit, |present| present.met == met);
        let (mut present, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let all_met = present.met != met;
        if !all_met {
            present.waiting -= 1;
        }
        all_met
    }
}

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        let mut present = self.0.present();
        present.members -= 1;
        self.0.proceed(&mut present);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
    };

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn barrier_blocks_until_all_arrive() {
        let (barrier, arrived) = (RunBarrier::new(), AtomicU32::new(0));
        let members = [barrier.join(), barrier.join()];
        thread::scope(|scope| {
            for member in members {
                let arrived = &arrived;
                scope.spawn(move || {
                    for round in 1..=1000 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        assert!(member.meet(LONG));
                        // The other member can be at most one round ahead.
                        assert!((2 * round..=2 * round + 1).contains(&arrived.load(Ordering::SeqCst)));
                    }
                });
            }
        });
    }

    #[test]
    fn member_that_leaves_is_not_waited_for() {
        let barrier = RunBarrier::new();
        let (stays, leaves) = (barrier.join(), barrier.join());
        thread::scope(|scope| {
            let waits = scope.spawn(move || {
                assert!(stays.meet(LONG));
                stays
            });
            while barrier.present().waiting == 0 {
                thread::yield_now();
            }
            drop(leaves);
            assert!(waits.join().expect("no panic").meet(LONG));
        });
    }

    #[test]
    fn wait_ends_at_its_limit() {
        let barrier = RunBarrier::new();
        let (comes, _stays_away) = (barrier.join(), barrier.join());
        assert!(!comes.meet(Duration::from_millis(1)));
        assert_eq!(barrier.present().waiting, 0);
    }
}
