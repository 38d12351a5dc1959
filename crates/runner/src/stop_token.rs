//! Stop requests, including those by signals.

use std::{
    fmt, io,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};

use crate::error::RunnerError;

/// Exit status of an interrupted program.
const INTERRUPTED: i32 = 130;

/// Function that wakes a thread, which would not notice the flag while it waits.
pub(crate) type Waker = dyn Fn() + Send + Sync;

/// Stop token. Clones share its state.
#[derive(Clone, Default)]
pub struct StopToken {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requested: Arc<AtomicBool>,
    waiting: Mutex<Vec<Weak<Waker>>>,
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("requested", &self.requested()).finish_non_exhaustive()
    }
}

impl StopToken {
    /// Creates a token with no stop requested.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a token that SIGINT (Ctrl-C), SIGTERM and SIGHUP set. A second signal ends the program immediately.
    ///
    /// # Errors
    /// Returns an error if the signal handlers cannot be installed.
    pub fn on_signals() -> Result<Self, RunnerError> {
        let stop = Self::new();
        let signals = [SIGINT, SIGTERM, SIGHUP];
        let failed = |error: io::Error| RunnerError::failed(format!("cannot catch signals: {error}"));
        for signal in signals {
            // The order matters: the first signal only sets the flag, the second one finds it set.
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop.shared.requested))
                .and_then(|_| flag::register(signal, Arc::clone(&stop.shared.requested)))
                .map_err(failed)?;
        }
        let mut caught = Signals::new(signals).map_err(failed)?;
        let waker = stop.clone();
        thread::spawn(move || {
            for _ in caught.forever() {
                waker.request();
            }
        });
        Ok(stop)
    }

    /// Requests the stop.
    pub fn request(&self) {
        self.shared.requested.store(true, Ordering::SeqCst);
        for wake in self.waiting().iter().filter_map(Weak::upgrade) {
            wake();
        }
    }

    /// Returns whether a stop was requested.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.shared.requested.load(Ordering::SeqCst)
    }

    /// Calls `waker` when a stop is requested, immediately if it was already. Keeps a weak reference.
    pub(crate) fn wake(&self, waker: &Arc<Waker>) {
        let mut waiting = self.waiting();
        if self.requested() {
            waker();
        }
        waiting.retain(|waiting| waiting.strong_count() > 0);
        waiting.push(Arc::downgrade(waker));
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Waker>>> {
        self.shared.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
