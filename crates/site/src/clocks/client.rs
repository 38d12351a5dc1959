//! Client of a clock exchange.

use std::{
    io,
    time::{Duration, Instant},
};

use super::{
    packet::{ClockPacket, PACKET_BYTES},
    socket,
};
use crate::values::{
    clock::monotonic_ns,
    clock_exchange::{ClockClient, ClockExchange},
};

/// Maximum wait for a reply. A full queue of 50 ms in each direction is within it.
const PATIENCE: Duration = Duration::from_millis(250);
/// Maximum number of packets, whatever the other process requests.
const MAX_COUNT: u32 = 10_000;

/// Exchanges packets with a responder, one at a time. Returns those with a reply, possibly none.
///
/// # Errors
/// Returns an error if the socket cannot be opened, or if no packet can be sent.
pub(crate) fn exchange(spec: &ClockClient) -> io::Result<Vec<ClockExchange>> {
    let socket = socket::open(&spec.interface)?;
    socket.connect(spec.responder)?;
    let end = Instant::now() + spec.limit;
    let mut exchanges = Vec::with_capacity(spec.count.min(MAX_COUNT) as usize);
    let mut failure = None;
    for number in 0..u64::from(spec.count.min(MAX_COUNT)) {
        let wait = end.saturating_duration_since(Instant::now()).min(PATIENCE);
        if wait.is_zero() {
            break;
        }
        match once(&socket, spec, number, wait) {
            Ok(exchange) => exchanges.extend(exchange),
            // A refused packet may have been one before the responder listened, or a firewall's answer.
            Err(error) if failure.is_none() => failure = Some(error),
            Err(error) => return if exchanges.is_empty() { Err(error) } else { Ok(exchanges) },
        }
    }
    match failure {
        Some(error) if exchanges.is_empty() => Err(error),
        _ => Ok(exchanges),
    }
}

/// Sends one packet and waits for its reply.
fn once(
    socket: &std::net::UdpSocket,
    spec: &ClockClient,
    number: u64,
    wait: Duration,
) -> io::Result<Option<ClockExchange>> {
    let request = ClockPacket::Request { number }.bytes(&spec.key);
    let mut buffer = [0; PACKET_BYTES + 1];
    let sent_ns = monotonic_ns();
    match socket.send(&request) {
        Ok(_) => {}
        // A full queue: the next packet may find room.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            std::thread::sleep(Duration::from_millis(1));
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let end = Instant::now() + wait;
    loop {
        let rest = end.saturating_duration_since(Instant::now());
        let Some((length, _, returned_ns)) = socket::receive(socket, &mut buffer, rest, || false)? else {
            return Ok(None);
        };
        match ClockPacket::parse(&buffer[..length], &spec.key) {
            Some(ClockPacket::Reply { number: of, received_ns, replied_ns }) if of == number => {
                return Ok(Some(ClockExchange { sent_ns, received_ns, replied_ns, returned_ns }));
            }
            // Another packet, or a reply that came too late.
            _ => {}
        }
    }
}
