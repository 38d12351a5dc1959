//! Sending side of a stream, for several threads.

use std::{
    io::{self, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::Serialize;

use super::Frame;

/// Sender of whole frames.
#[derive(Debug)]
pub(crate) struct Output<W> {
    /// `None` once it is closed.
    stream: Mutex<Option<W>>,
    broken: AtomicBool,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(stream: W) -> Self {
        Self { stream: Mutex::new(Some(stream)), broken: AtomicBool::new(false) }
    }

    /// Sends raw bytes: a greeting.
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        self.with(|stream| stream.write_all(bytes).and_then(|()| stream.flush()))
    }

    /// Sends a frame. The other process may be gone: the reading side finds the cause.
    pub(crate) fn frame(&self, frame: &Frame) -> io::Result<()> {
        self.with(|stream| frame.write(stream))
    }

    /// Sends a message.
    pub(crate) fn message(&self, message: &impl Serialize) -> io::Result<()> {
        self.frame(&Frame::Message(serde_json::to_vec(message)?))
    }

    /// Returns whether a frame could not be sent because the stream is broken.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Closes the stream, unless a frame is being sent: no thread may wait for a stream that is stuck.
    pub(crate) fn close(&self) {
        self.broken.store(true, Ordering::Relaxed);
        if let Ok(mut stream) = self.stream.try_lock() {
            stream.take();
        }
    }

    fn with(&self, send: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = match stream.as_mut() {
            Some(stream) => send(stream),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        // A frame that is too long is rejected before its first byte: the stream goes on.
        if sent.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::InvalidInput) {
            self.broken.store(true, Ordering::Relaxed);
        }
        sent
    }
}
