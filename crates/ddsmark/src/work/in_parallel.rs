//! Work on several items at a time.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

/// Applies `work` to all items, `jobs` at a time. Returns the results in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: u32, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((i, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((i, work(item)));
        }
        done
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
