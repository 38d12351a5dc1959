//! Responder of a clock exchange: answers packets with its key, as long as it lives.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    packet::{ClockPacket, PACKET_BYTES},
    socket,
};
use crate::values::{
    clock::monotonic_ns,
    clock_exchange::{ClockResponder, ExchangeKey},
};

/// Longest lifetime, whatever the other process requests.
const MAX_LIMIT: Duration = Duration::from_secs(60);

/// Running responder. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Responder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// Starts a responder. Returns it with its address.
    ///
    /// # Errors
    /// Returns an error if the socket or the thread cannot be created.
    pub(crate) fn start(spec: &ClockResponder) -> io::Result<(SocketAddr, Self)> {
        let socket = socket::open(&spec.interface)?;
        let address = socket.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, key, limit) = (Arc::clone(&stop), spec.key, spec.limit.min(MAX_LIMIT));
        let thread = thread::Builder::new()
            .name("clock-responder".to_owned())
            .spawn(move || respond(&socket, &key, Instant::now() + limit, &stopped))?;
        Ok((address, Self { stop, thread: Some(thread) }))
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn respond(socket: &UdpSocket, key: &ExchangeKey, end: Instant, stop: &AtomicBool) {
    // One byte more than a packet: a longer datagram must not look like one.
    let mut buffer = [0; PACKET_BYTES + 1];
    let is_over = || stop.load(Relaxed);
    while !is_over() {
        let rest = end.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return;
        }
        // An error is that of an earlier reply, for example to a client that has ended.
        let Ok(Some((length, from, received_ns))) = socket::receive(socket, &mut buffer, rest, is_over)
        else {
            continue;
        };
        if let Some(ClockPacket::Request { number }) = ClockPacket::parse(&buffer[..length], key) {
            let reply = ClockPacket::Reply { number, received_ns, replied_ns: monotonic_ns() };
            // The client sends another request if this one has no reply.
            let _ = socket.send_to(&reply.bytes(key), from);
        }
    }
}
