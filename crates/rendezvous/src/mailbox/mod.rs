//! Mailbox: carries samples to all other processes of a domain, in no particular order, and possibly more than once.

pub mod agent;
mod exchange_queue;
pub mod tcp;
mod tcp_connection;
mod tcp_greeting;

use std::{fmt, sync::Arc, time::Duration};

use crate::error::RendezvousError;

/// Maximum size of a posted sample in bytes.
pub const MAX_SAMPLE_BYTES: usize = 8 << 10;

/// Carrier of samples between the processes of a domain. Each posted sample reaches every other process that is there,
/// at least once. Samples of other origin arrive, too: nothing in them is trusted.
pub trait Mailbox: Send {
    /// Posts a sample of at most [`MAX_SAMPLE_BYTES`] to all other processes. Does not wait for them.
    ///
    /// # Errors
    /// Returns an error if the sample is too long, if too many samples wait, or if the mailbox is broken.
    fn post(&mut self, sample: &[u8]) -> Result<(), RendezvousError>;

    /// Waits for the next sample, for at most `limit`. Returns `None` after the limit, and when it is woken.
    ///
    /// # Errors
    /// Returns an error if the mailbox is broken.
    fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>, RendezvousError>;

    /// Returns a handle that ends a wait from another thread.
    fn waker(&self) -> Waker;

    /// Returns the number of samples so far that the carrier has ignored: no process of ddsmark has posted them.
    fn ignored(&self) -> u64;

    /// Returns lines that say whom the mailbox reaches, for an error about a process that is missing.
    fn diagnosis(&self) -> Vec<String>;

    /// Sends what was posted, and closes the mailbox; at most within about `limit`.
    ///
    /// # Errors
    /// Returns an error if the mailbox is broken.
    fn close(&mut self, limit: Duration) -> Result<(), RendezvousError>;
}

/// Handle that ends the wait of a mailbox.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    /// Creates a handle from a function, which does not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// Ends the wait, or the next one.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

/// Checks the length of a sample.
///
/// # Errors
/// Returns an error if it is longer than [`MAX_SAMPLE_BYTES`].
pub fn check_length(sample: &[u8]) -> Result<(), RendezvousError> {
    if sample.len() <= MAX_SAMPLE_BYTES {
        return Ok(());
    }
    let text = format!("a control sample of {} bytes is too long: at most {MAX_SAMPLE_BYTES}", sample.len());
    Err(RendezvousError::with(text, None))
}

/// Returns the error of a mailbox that is closed.
#[must_use]
pub fn closed() -> RendezvousError {
    RendezvousError::with("the mailbox is closed", None)
}

/// Returns the error of a thread that cannot be started.
pub(crate) fn no_thread(error: &std::io::Error) -> RendezvousError {
    RendezvousError::with(format!("cannot start a thread for control messages: {error}"), None)
}
