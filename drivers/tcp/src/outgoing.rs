//! The way to one reader. What the kernel took of a sample cannot be taken back, so its rest is kept until there is room.
use std::{io::IoSlice, os::fd::AsRawFd, sync::Arc};

use driver_kit::Count;
use nix::{
    errno::Errno,
    sys::socket::{MsgFlags, sendmsg},
};
use socket2::Socket;

use crate::socket::unacknowledged;

/// What is handed over to the kernel: a count of the calls that it took bytes of, and of these.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) packets: Count,
    pub(crate) bytes: Count,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Outgoing {
    socket: Arc<Socket>,
    /// The rest of an earlier frame, and how much of it was sent.
    tail: Vec<u8>,
    tail_sent: usize,
    /// Of the present frame.
    sent: usize,
    gone: bool,
}

impl Outgoing {
    /// No frame is longer than `max_frame`.
    pub(crate) fn new(socket: Arc<Socket>, max_frame: usize) -> Self {
        Self { socket, tail: Vec::with_capacity(max_frame), tail_sent: 0, sent: 0, gone: false }
    }

    pub(crate) fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    /// Whether the reader has gone: what is sent to it goes nowhere.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether nothing is left of earlier frames.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.tail.is_empty()
    }

    /// Whether all that was sent is acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.gone || (self.is_free() && unacknowledged(&self.socket) == 0)
    }

    /// Sends what is left of earlier frames, as far as there is room. Whether nothing is left.
    #[inline]
    pub(crate) fn finish(&mut self, count: &Sent) -> bool {
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

    /// A new frame begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.sent = 0;
    }

    /// Whether the present frame is begun.
    pub(crate) fn is_begun(&self) -> bool {
        self.sent > 0
    }

    /// Whether the present frame, of this length, is sent, or need not be.
    #[inline]
    pub(crate) fn is_done(&self, length: usize) -> bool {
        self.sent == length || self.gone
    }

    /// Sends what is not sent yet of the present frame, as far as there is room. Whether it is done.
    #[inline]
    pub(crate) fn push(&mut self, header: &[u8], body: &[u8], count: &Sent) -> bool {
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

    /// Keeps what is not sent yet of the present frame. Nothing is left of an earlier one.
    #[cold]
    pub(crate) fn keep_rest(&mut self, header: &[u8], body: &[u8]) {
        debug_assert!(self.tail.is_empty());
        self.tail.extend_from_slice(header.get(self.sent..).unwrap_or_default());
        self.tail.extend_from_slice(&body[self.sent.saturating_sub(header.len())..]);
        self.tail_sent = 0;
    }
}

/// Hands bytes over to the kernel, without waiting: how many it took, and whether nobody is there to receive them.
#[inline]
fn hand_over(socket: &Socket, head: &[u8], rest: &[u8], count: &Sent) -> (usize, bool) {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    let parts = [IoSlice::new(head), IoSlice::new(rest)];
    match sendmsg::<()>(socket.as_raw_fd(), &parts, &[], flags, None) {
        Ok(bytes) => {
            count.packets.add(1);
            count.bytes.add(bytes as u64);
            (bytes, false)
        }
        // there is no room now; whoever wants to waits for it
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS | Errno::ENOMEM) => (0, false),
        // reset, closed, unreachable: a connection that failed has no further sample
        Err(_) => (0, true),
    }
}
