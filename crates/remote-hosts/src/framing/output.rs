//! Sending side of a stream, for several threads.

use std::{
    io::{self, Write as _},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde::Serialize;

use super::{Frame, HEARTBEAT, timed_writer::TimedWriter};

/// Sender of whole frames.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None` once it is closed.
    stream: Mutex<Option<TimedWriter>>,
    broken: AtomicBool,
    /// Whether it was closed here, or the other process did not take a frame in time.
    abandoned: AtomicBool,
}

impl Output {
    pub(crate) fn new(stream: TimedWriter) -> Self {
        let (broken, abandoned) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { stream: Mutex::new(Some(stream)), broken, abandoned }
    }

    /// Sends raw bytes: a greeting.
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        self.with(|stream| stream.write_all(bytes).and_then(|()| stream.flush()))
    }

    /// Sends a frame. The other process may be gone: the reading side finds the cause.
    pub(crate) fn frame(&self, frame: &Frame) -> io::Result<()> {
        self.with(|stream| frame.write(stream))
    }

    /// Sends heartbeats until the stream is closed or broken.
    pub(crate) fn beat(&self) {
        while self.frame(&Frame::Heartbeat).is_ok() {
            thread::sleep(HEARTBEAT);
        }
    }

    /// Sends a message.
    pub(crate) fn message(&self, message: &impl Serialize) -> io::Result<()> {
        self.frame(&Frame::Message(serde_json::to_vec(message)?))
    }

    /// Returns whether a frame could not be sent because the stream is broken.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Returns whether the stream was closed here, or the other process did not take a frame in time.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Closes the stream, unless a frame is being sent: no thread may wait for a stream that is stuck.
    pub(crate) fn close(&self) {
        self.broken.store(true, Ordering::Relaxed);
        self.abandoned.store(true, Ordering::Relaxed);
        if let Ok(mut stream) = self.stream.try_lock() {
            stream.take();
        }
    }

    fn with(&self, send: impl FnOnce(&mut TimedWriter) -> io::Result<()>) -> io::Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = match stream.as_mut() {
            Some(stream) => send(stream),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        // A frame that is too long is rejected before its first byte: the stream goes on.
        if let Err(error) = &sent
            && error.kind() != io::ErrorKind::InvalidInput
        {
            self.broken.store(true, Ordering::Relaxed);
            self.abandoned.fetch_or(error.kind() == io::ErrorKind::TimedOut, Ordering::Relaxed);
        }
        sent
    }
}
