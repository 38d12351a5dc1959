//! Outgoing connection to one reader. A partially sent frame cannot be withdrawn, so its rest is kept until there
//! is room.
use std::{io::IoSlice, os::fd::AsRawFd, sync::Arc};

use driver_kit::WriterCounts;
use nix::{
    errno::Errno,
    sys::socket::{MsgFlags, sendmsg},
};
use socket2::Socket;

use crate::socket::unacknowledged;

/// Outgoing connection.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) socket: Arc<Socket>,
    /// Rest of an earlier frame, and the number of its bytes already sent.
    tail: Vec<u8>,
    tail_sent: usize,
    /// Number of bytes of the current frame already sent.
    sent: usize,
    /// Whether the reader has disconnected. Further data for it is discarded.
    pub(crate) gone: bool,
}

impl Outgoing {
    /// Creates the state of a connection. No frame may be longer than `max_frame`.
    pub(crate) fn new(socket: Arc<Socket>, max_frame: usize) -> Self {
        Self { socket, tail: Vec::with_capacity(max_frame), tail_sent: 0, sent: 0, gone: false }
    }

    /// Returns whether no rest of an earlier frame is left.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.tail.is_empty()
    }

    /// Returns whether all sent bytes are acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.gone || (self.is_free() && unacknowledged(&self.socket) == 0)
    }

    /// Sends the rest of an earlier frame as far as there is room. Returns whether it is complete.
    #[inline]
    pub(crate) fn finish(&mut self, count: &WriterCounts) -> bool {
        if self.tail.is_empty() {
            return true;
        }
        let (sent, gone) = hand_over(&self.socket, &self.tail[self.tail_sent..], &[], count);
        self.tail_sent += sent;
        self.gone |= gone;
        if self.gone || self.tail_sent == self.tail.len() {
            self.tail.clear();
            self.tail_sent = 0;
        }
        self.tail.is_empty()
    }

    /// Starts a new frame.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.sent = 0;
    }

    /// Returns whether the current frame is partially sent.
    pub(crate) fn is_begun(&self) -> bool {
        self.sent > 0
    }

    /// Returns whether the current frame of this length is complete, or the reader has disconnected.
    #[inline]
    pub(crate) fn is_done(&self, length: usize) -> bool {
        self.sent == length || self.gone
    }

    /// Sends the rest of the current frame as far as there is room. Returns whether it is complete.
    #[inline]
    pub(crate) fn push(&mut self, header: &[u8], body: &[u8], count: &WriterCounts) -> bool {
        let length = header.len() + body.len();
        if !self.is_done(length) {
            let head = header.get(self.sent..).unwrap_or_default();
            let rest = &body[self.sent.saturating_sub(header.len())..];
            let (sent, gone) = hand_over(&self.socket, head, rest, count);
            self.sent += sent;
            self.gone |= gone;
        }
        self.is_done(length)
    }

    /// Keeps the rest of the current frame. There must be no rest of an earlier one.
    #[cold]
    pub(crate) fn keep_rest(&mut self, header: &[u8], body: &[u8]) {
        debug_assert!(self.tail.is_empty());
        self.tail.extend_from_slice(header.get(self.sent..).unwrap_or_default());
        self.tail.extend_from_slice(&body[self.sent.saturating_sub(header.len())..]);
        self.tail_sent = 0;
    }
}

/// Passes bytes to the kernel without waiting. Returns the number of bytes sent, and whether the reader has
/// disconnected.
#[inline]
fn hand_over(socket: &Socket, head: &[u8], rest: &[u8], count: &WriterCounts) -> (usize, bool) {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    let parts = [IoSlice::new(head), IoSlice::new(rest)];
    match sendmsg::<()>(socket.as_raw_fd(), &parts, &[], flags, None) {
        Ok(bytes) => {
            count.count_sent(1, bytes as u64);
            (bytes, false)
        }
        // no room at the moment; the caller may wait for it
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS | Errno::ENOMEM) => (0, false),
        // reset, closed or unreachable: a failed connection carries no further samples
        Err(_) => (0, true),
    }
}
