//! The wish to stop, by a signal.

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

/// The exit status of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// The wish to stop. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    requested: Arc<AtomicBool>,
    /// Who is waiting for events, and would not notice the flag.
    waiting: Mutex<Vec<Weak<Sender<Event>>>>,
}

impl Stop {
    /// Nobody wishes to stop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// SIGINT (Ctrl-C), SIGTERM and SIGHUP wish to stop. A second one ends the program at once.
    ///
    /// # Errors
    /// The signals cannot be caught.
    pub fn on_signals() -> Result<Self, RunnerError> {
        let stop = Self::new();
        let signals = [SIGINT, SIGTERM, SIGHUP];
        for signal in signals {
            // in this order: the first signal only sets the flag, the second finds it set
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

    /// Wishes to stop.
    pub fn request(&self) {
        self.shared.requested.store(true, Ordering::SeqCst);
        for waiting in self.waiting().iter().filter_map(Weak::upgrade) {
            // if nobody waits any more, the flag is seen before the next wait
            let _ = waiting.send(Event::Stop);
        }
    }

    /// Whether somebody wishes to stop.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.shared.requested.load(Ordering::SeqCst)
    }

    /// Sends [`Event::Stop`] there, from now on and as long as it is kept; at once if it is wished already.
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
