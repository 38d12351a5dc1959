//! Pipes between the application and the pump. A thread reads or writes each pipe, so that the pump never waits for the
//! application.

use std::{
    collections::VecDeque,
    io::{PipeReader, PipeWriter, Read as _, Write as _},
    time::Duration,
};

use crate::{mailbox::Waker, shared::Shared};

/// Maximum number of bytes that are read at once, and that wait for the pump.
const READ_BYTES: usize = 16 << 10;
const MAX_WAITING: usize = 64 << 10;
/// Longest wait of a thread before it looks again.
const LOOK: Duration = Duration::from_secs(1);

/// Bytes from the application to the peer.
#[derive(Debug, Default)]
pub(super) struct Outgoing(Shared<OutgoingState>);

#[derive(Debug, Default)]
struct OutgoingState {
    bytes: VecDeque<u8>,
    ended: bool,
    closed: bool,
}

impl Outgoing {
    /// Reads the pipe until the application closes it, or until this is closed.
    pub(super) fn read_all(&self, mut pipe: PipeReader, waker: &Waker) {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let count = match pipe.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut state = self.0.lock();
            state.bytes.extend(&buffer[..count]);
            state.ended |= count == 0;
            waker.wake();
            while state.bytes.len() >= MAX_WAITING && !state.closed {
                state = self.0.wait(state, LOOK);
            }
            if state.ended || state.closed {
                return;
            }
        }
    }

    /// Takes at most so many bytes.
    pub(super) fn take(&self, most: usize) -> Vec<u8> {
        self.0.change(|state| {
            let count = state.bytes.len().min(most);
            state.bytes.drain(..count).collect()
        })
    }

    /// Returns whether the application has closed the pipe, and all of its bytes were taken.
    pub(super) fn is_over(&self) -> bool {
        let state = self.0.lock();
        state.ended && state.bytes.is_empty()
    }

    /// Returns whether no byte waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().bytes.is_empty()
    }

    /// Drops all bytes: no peer takes them.
    pub(super) fn close(&self) {
        self.0.change(|state| {
            state.closed = true;
            state.bytes.clear();
        });
    }
}

/// Bytes from the peer to the application.
#[derive(Debug, Default)]
pub(super) struct Incoming(Shared<IncomingState>);

#[derive(Debug, Default)]
struct IncomingState {
    parts: VecDeque<Vec<u8>>,
    taken: u64,
    ended: bool,
    /// Whether the application has closed the pipe.
    gone: bool,
}

impl Incoming {
    /// Writes what arrives to the pipe, until the end.
    pub(super) fn write_all(&self, mut pipe: PipeWriter, waker: &Waker) {
        loop {
            let mut state = self.0.lock();
            let part = loop {
                if let Some(part) = state.parts.pop_front() {
                    break part;
                }
                if state.ended {
                    return;
                }
                state = self.0.wait(state, LOOK);
            };
            drop(state);
            let written = pipe.write_all(&part);
            let gone = self.0.change(|state| {
                state.taken += part.len() as u64;
                if written.is_err() {
                    state.gone = true;
                    state.taken += state.parts.drain(..).map(|part| part.len() as u64).sum::<u64>();
                }
                state.gone
            });
            waker.wake();
            if gone {
                return;
            }
        }
    }

    /// Queues bytes. If the application is gone, they count as taken.
    pub(super) fn push(&self, bytes: Vec<u8>) {
        self.0.change(|state| {
            if state.gone {
                state.taken += bytes.len() as u64;
            } else {
                state.parts.push_back(bytes);
            }
        });
    }

    /// Returns the number of bytes that the application has taken.
    pub(super) fn taken(&self) -> u64 {
        self.0.lock().taken
    }

    /// Ends the stream after the bytes that wait.
    pub(super) fn end(&self) {
        self.0.change(|state| state.ended = true);
    }
}
