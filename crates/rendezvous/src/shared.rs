//! State that threads share.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// State that threads share, and wait for changes of.
#[derive(Debug, Default)]
pub(crate) struct Shared<T> {
    state: Mutex<T>,
    changed: Condvar,
}

impl<T> Shared<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state changes, for a while.
    pub(crate) fn wait<'a>(&self, state: MutexGuard<'a, T>, limit: Duration) -> MutexGuard<'a, T> {
        self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Changes the state, and wakes the threads that wait.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let changed = change(&mut self.lock());
        self.changed.notify_all();
        changed
    }
}
