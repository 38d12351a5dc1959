//! Stop requests, including those by signals.

use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering},
        mpsc::Sender,
    },
    thread,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};

use crate::{RunnerError, crew::Event};

/// Exit status of an interrupted program.
const INTERRUPTED: i32 = 130;

/// Stop token. Clones share its state.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    requested: Arc<AtomicBool>,
    /// Event channels of waiting crews, which would not notice the flag.
    waiting: Mutex<Vec<Weak<Sender<Event>>>>,
}

impl Stop {
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
        for signal in signals {
            // The order matters: the first signal only sets the flag, the second one finds it set.
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop.shared.requested))
                .and_then(|_| flag::register(signal, Arc::clone(&stop.shared.requested)))
                .map_err(|error| RunnerError::Signals { error })?;
        }
        let mut caught = Signals::new(signals).map_err(|error| RunnerError::Signals { error })?;
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
        for waiting in self.waiting().iter().filter_map(Weak::upgrade) {
            // If the receiver is gone, the flag is checked before the next wait.
            let _ = waiting.send(Event::Stop);
        }
    }

    /// Returns whether a stop was requested.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.shared.requested.load(Ordering::SeqCst)
    }

    /// Sends [`Event::Stop`] to `events` when a stop is requested, immediately if it was already. Keeps a weak
    /// reference.
    pub(crate) fn wake(&self, events: &Arc<Sender<Event>>) {
        let mut waiting = self.waiting();
        if self.requested() {
            let _ = events.send(Event::Stop);
        }
        waiting.retain(|waiting| waiting.strong_count() > 0);
        waiting.push(Arc::downgrade(events));
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Sender<Event>>>> {
        self.shared.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
