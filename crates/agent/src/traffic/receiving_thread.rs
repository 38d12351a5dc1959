//! Thread that receives from a reader while another thread of the role waits, writes or sleeps.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use driver_host::DriverError;

use crate::base::priority::NamedThread;

/// Thread that receives until it is stopped, with its reader and what records the samples.
#[derive(Debug)]
pub struct ReceivingThread<T> {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<T, DriverError>>,
}

impl<T: Send + 'static> ReceivingThread<T> {
    /// Starts a thread that repeats this receive call.
    #[must_use]
    pub fn start(
        mut input: T,
        mut receive: impl FnMut(&mut T) -> Result<(), DriverError> + Send + 'static,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Relaxed) {
                receive(&mut input)?;
            }
            Ok(input)
        });
        Self { stop, thread }
    }

    /// Returns the thread with its name.
    #[must_use]
    pub fn named(&self) -> NamedThread<'_> {
        NamedThread::of("receive", &self.thread)
    }

    /// Returns whether the thread has ended by itself, because a receive call failed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Lets the thread end after its current receive call.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Ends the thread and returns its reader and what records the samples; resumes its panic.
    ///
    /// # Errors
    /// Returns the driver's error if a receive call failed.
    pub fn end(self) -> Result<T, DriverError> {
        self.stop();
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
