//! Client of a clock exchange.

use std::{
    io,
    net::UdpSocket,
    time::{Duration, Instant},
};

use super::{
    packet::{ClockPacket, PACKET_BYTES},
    socket,
};
use crate::values::{
    clock::monotonic_ns,
    clock_exchange::{ClockClient, ClockExchange, ExchangeKey},
};

/// Maximum wait for a reply before the next packet is sent. A full queue of 50 ms in each direction is within it. A reply that
/// comes later, as over a satellite, counts too.
const TIME_LIMIT: Duration = Duration::from_millis(250);
/// Maximum number of packets, whatever the other process requests.
const MAX_COUNT: u32 = 10_000;

/// Exchanges packets with a responder, one at a time unless replies take long. Returns those with a reply, possibly none.
///
/// # Errors
/// Returns an error if the socket cannot be opened, or if no packet can be sent.
pub(crate) fn exchange(spec: &ClockClient) -> io::Result<Vec<ClockExchange>> {
    let socket = socket::open(&spec.interface)?;
    socket.connect(spec.responder)?;
    let count = spec.count.min(MAX_COUNT) as usize;
    let (awaited, exchanges) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut client = Client { socket, key: &spec.key, end: Instant::now() + spec.limit, awaited, exchanges };
    let mut failure = None;
    for _ in 0..count {
        if client.left().is_zero() {
            break;
        }
        match client.once() {
            Ok(()) => {}
            // A refused packet may have been one before the responder listened, or a firewall's answer.
            Err(error) if failure.is_none() => failure = Some(error),
            Err(error) => return if client.exchanges.is_empty() { Err(error) } else { Ok(client.exchanges) },
        }
    }
    match failure {
        Some(error) if client.exchanges.is_empty() => return Err(error),
        None if client.exchanges.is_empty() => client.wait(client.left(), None)?,
        _ => {}
    }
    Ok(client.exchanges)
}

/// Client of one exchange of packets.
struct Client<'s> {
    socket: UdpSocket,
    key: &'s ExchangeKey,
    end: Instant,
    /// Time at which each packet was sent, in ns, until its reply arrives.
    awaited: Vec<Option<u64>>,
    exchanges: Vec<ClockExchange>,
}

impl Client<'_> {
    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Sends one packet and waits for its reply.
    fn once(&mut self) -> io::Result<()> {
        let number = self.awaited.len();
        let request = ClockPacket::Request { number: number as u64 }.bytes(self.key);
        let sent_ns = monotonic_ns();
        let sent = self.socket.send(&request);
        self.awaited.push(sent.is_ok().then_some(sent_ns));
        match sent {
            Ok(_) => self.wait(self.left().min(TIME_LIMIT), Some(number)),
            // A full queue: the next packet may find room.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Takes replies until that of packet `number` has arrived, or any; at most for `limit`.
    fn wait(&mut self, limit: Duration, number: Option<usize>) -> io::Result<()> {
        let mut buffer = [0; PACKET_BYTES + 1];
        let end = Instant::now() + limit;
        loop {
            let rest = end.saturating_duration_since(Instant::now());
            let Some((length, _, returned_ns)) = socket::receive(&self.socket, &mut buffer, rest, || false)?
            else {
                return Ok(());
            };
            let Some(ClockPacket::Reply { number: of, received_ns, replied_ns }) =
                ClockPacket::parse(&buffer[..length], self.key)
            else {
                continue;
            };
            let Ok(of) = usize::try_from(of) else { continue };
            // Only the first reply of a packet that was sent counts.
            let Some(sent_ns) = self.awaited.get_mut(of).and_then(Option::take) else { continue };
            self.exchanges.push(ClockExchange { sent_ns, received_ns, replied_ns, returned_ns });
            if number.is_none_or(|number| number == of) {
                return Ok(());
            }
        }
    }
}
