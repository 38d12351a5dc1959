//! Samples out.
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use driver_kit::{
    Count, Counter, Counters, Error, Monitor, NoLoan, Qos, Result, Settings, Status, Writer, WriterConfig,
    abi, batch::Batch, net::Family,
};
use nix::{
    errno::Errno,
    sys::socket::{MsgFlags, SockaddrStorage},
};

use crate::{
    in_force,
    locator::{Locator, NAMES},
    socket::Socket,
};

/// The largest payload of one datagram: 65535, less the header of UDP and, where the total length of IP counts it
/// (RFC 791, not RFC 8200), that of IP.
pub(crate) const fn max_datagram(family: Family) -> usize {
    family.pick([65_535 - 20 - 8, 65_535 - 8])
}

/// How often a datagram is handed to the kernel before it is given up: a signal or the echo of an earlier datagram to a
/// port without a reader costs an attempt.
const ATTEMPTS: u32 = 8;

/// What the host may ask at any time.
pub(crate) struct WriterMonitor {
    matched: AtomicU32,
    packets: Count,
    bytes: Count,
    refused: Count,
    timed_out: Count,
    /// ICMP told of an earlier datagram that nobody listens there.
    port_unreachable: Count,
    /// Datagrams that some readers were sent and this one was not.
    unsent: Count,
    max_blocking_ns: u64,
}

impl Monitor for WriterMonitor {
    fn matched(&self) -> Result<u32> {
        Ok(self.matched.load(Ordering::Relaxed))
    }

    fn qos(&self) -> Result<Qos> {
        Ok(in_force(Some(self.max_blocking_ns)))
    }

    fn counters(&self) -> Counters {
        Counters::new()
            .with(Counter::PacketsSent, self.packets.get())
            .with(Counter::BytesSent, self.bytes.get())
            .with(Counter::WriteRefused, self.refused.get())
            .with(Counter::WriteTimedOut, self.timed_out.get())
    }
}

/// A socket that sends to the readers that were connected.
pub(crate) struct UdpWriter {
    outlet: Outlet,
    batch: Option<Batch>,
    max_payload: usize,
    family: Family,
}

impl UdpWriter {
    pub(crate) fn open(socket: Socket, family: Family, config: &WriterConfig<'_>) -> Result<Self> {
        let max_payload = config.max_payload_bytes as usize;
        let batch = Batch::of(config, family.pick(NAMES), max_datagram(family))?;
        // What the contract calls blocking is, for a socket, waiting for room in its send buffer.
        let mut flags = MsgFlags::empty();
        let max_blocking_ns = match config.qos.max_blocking_ns {
            Some(0) => {
                flags = MsgFlags::MSG_DONTWAIT;
                0
            }
            limit => {
                socket.set_send_limit(limit.unwrap_or(abi::DURATION_INFINITE))?;
                socket.send_limit()?
            }
        };
        let monitor = Arc::new(WriterMonitor {
            matched: AtomicU32::new(0),
            packets: Count::default(),
            bytes: Count::default(),
            refused: Count::default(),
            timed_out: Count::default(),
            port_unreachable: Count::default(),
            unsent: Count::default(),
            max_blocking_ns,
        });
        let outlet = Outlet { socket, readers: Vec::new(), places: Vec::new(), flags, monitor };
        Ok(Self { outlet, batch, max_payload, family })
    }
}

impl Writer for UdpWriter {
    type Monitor = WriterMonitor;
    type Loan = NoLoan;

    fn monitor(&self) -> Arc<WriterMonitor> {
        self.outlet.monitor.clone()
    }

    #[inline]
    fn write(&mut self, _key: u32, payload: &[u8]) -> Result<()> {
        if payload.len() > self.max_payload {
            return Err(Error::too_large("a sample over the size that the writer was opened for"));
        }
        match &mut self.batch {
            None => self.outlet.send(payload),
            Some(batch) => {
                if !batch.has_room(payload.len()) {
                    // Where this is refused, so is the sample: nothing has changed, and both can be tried again.
                    self.outlet.send(batch.datagram())?;
                    batch.clear();
                }
                batch.push(payload);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.batch {
            Some(batch) if !batch.datagram().is_empty() => {
                self.outlet.send(batch.datagram())?;
                batch.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let Outlet { socket, monitor, .. } = &self.outlet;
        settings.set("address", &socket.address());
        socket.show_way_out(settings)?;
        socket.show_send_buffer(settings)?;
        Batch::show(self.batch.as_ref(), settings);
        settings.set("port_unreachable", &monitor.port_unreachable.get());
        settings.set("datagrams_unsent", &monitor.unsent.get());
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.outlet.socket.address().to_string())
    }

    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        self.outlet.connect(Locator::of_peer(reader_locator, self.family)?)
    }
}

/// The way out: a socket and the readers at its other end.
struct Outlet {
    socket: Socket,
    readers: Vec<Locator>,
    /// Where these are: those of one multicast group are in one place.
    places: Vec<SockaddrStorage>,
    flags: MsgFlags,
    monitor: Arc<WriterMonitor>,
}

impl Outlet {
    /// Adds a reader; one that is already there is not added again.
    fn connect(&mut self, reader: Locator) -> Result<()> {
        if self.readers.contains(&reader) {
            return Ok(());
        }
        let place = SockaddrStorage::from(self.socket.way_to(reader)?);
        // The first one becomes the peer of the socket. It stays so when others come: an address given with the datagram
        // goes before the peer's, and taking the peer away would take the port too.
        if self.readers.is_empty() {
            self.socket.connect(reader)?;
        }
        self.readers.push(reader);
        if !self.places.contains(&place) {
            self.places.push(place);
        }
        self.monitor.matched.store(self.readers.len() as u32, Ordering::Relaxed);
        Ok(())
    }

    /// To everyone. Accepted when one reader was sent it: what did not go to others is lost, as best effort may. Without
    /// a reader a sample is accepted and goes nowhere, as with any writer that is not matched.
    #[inline]
    fn send(&mut self, datagram: &[u8]) -> Result<()> {
        match self.places.as_slice() {
            [] => Ok(()),
            [_] => {
                self.attempt(|| self.socket.send(datagram, self.flags)).map_err(|errno| self.failure(errno))
            }
            several => {
                let (mut accepted, mut failed) = (0u64, None);
                for reader in several {
                    match self.attempt(|| self.socket.send_to(datagram, reader, self.flags)) {
                        Ok(()) => accepted += 1,
                        Err(errno) => failed = Some(errno),
                    }
                }
                match failed {
                    None => Ok(()),
                    Some(errno) if accepted == 0 => Err(self.failure(errno)),
                    Some(_) => {
                        self.monitor.unsent.add(several.len() as u64 - accepted);
                        Ok(())
                    }
                }
            }
        }
    }

    /// Once, as long as nothing comes between. A port that nobody listens at does not refuse a datagram in UDP's sense:
    /// what the kernel reports is the fate of an earlier one, and it has not sent this one, so it is handed over again.
    #[inline]
    fn attempt(&self, hand_over: impl Fn() -> Result<usize, Errno>) -> Result<(), Errno> {
        let mut failed = Errno::EAGAIN;
        for _ in 0..ATTEMPTS {
            match hand_over() {
                Ok(bytes) => {
                    self.monitor.packets.add(1);
                    self.monitor.bytes.add(bytes as u64);
                    return Ok(());
                }
                Err(Errno::ECONNREFUSED) => self.monitor.port_unreachable.add(1),
                Err(Errno::EINTR) => {}
                Err(errno) => {
                    failed = errno;
                    break;
                }
            }
        }
        Err(failed)
    }

    #[cold]
    fn failure(&self, errno: Errno) -> Error {
        let limited = !matches!(self.monitor.max_blocking_ns, 0 | abi::DURATION_INFINITE);
        let error = failure(errno, limited);
        match error.status() {
            Status::Refused => self.monitor.refused.add(1),
            Status::TimedOut => self.monitor.timed_out.add(1),
            _ => {}
        }
        error
    }
}

/// What a failed send means. The texts of those that may be tried again are not allocated.
fn failure(errno: Errno, limited: bool) -> Error {
    match errno {
        Errno::EAGAIN if limited => {
            Error::new(Status::TimedOut, "the send buffer stayed full for the time that a write may block")
        }
        Errno::EAGAIN => Error::new(Status::Refused, "the send buffer is full (EAGAIN)"),
        Errno::ENOBUFS => Error::new(Status::Refused, "the queue of the interface is full (ENOBUFS)"),
        Errno::ENOMEM => Error::new(Status::Refused, "the kernel has no memory for a datagram (ENOMEM)"),
        Errno::EMSGSIZE => Error::too_large("longer than a datagram may be on this way (EMSGSIZE)"),
        errno => Error::os("a datagram was not sent", errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_want_of_room_may_be_tried_again() {
        let status = |errno, limited| failure(errno, limited).status();
        assert_eq!(status(Errno::EAGAIN, true), Status::TimedOut);
        assert_eq!(status(Errno::EAGAIN, false), Status::Refused);
        assert_eq!(status(Errno::ENOBUFS, true), Status::Refused);
        assert_eq!(status(Errno::ENOMEM, false), Status::Refused);
        assert_eq!(status(Errno::EMSGSIZE, false), Status::TooLarge);
        assert_eq!(status(Errno::ENETUNREACH, false), Status::Error);
        assert_eq!(status(Errno::EPERM, true), Status::Error);
    }
}
