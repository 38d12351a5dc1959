//! Writers: sending of samples.
use std::sync::Arc;

use driver_kit::{
    Count, Counters, Error, MatchRecord, MatchState, Monitor, NoLoan, Qos, QosDuration, Result, Settings,
    Status, Writer, WriterConfig, WriterCounts, abi, net::Family,
};
use nix::{
    errno::Errno,
    sys::socket::{MsgFlags, SockaddrStorage},
};

use crate::{
    in_force,
    locator::Locator,
    packing::{Load, Packed, Packing},
    socket::Socket,
};

/// Maximum number of attempts to send a datagram. A signal, or an ICMP error of an earlier datagram to a port
/// without a reader, costs one attempt.
const ATTEMPTS: u32 = 8;

/// State of a writer that the host can query at any time.
pub(crate) struct WriterMonitor {
    matched: MatchRecord,
    counts: WriterCounts,
    /// Number of ICMP errors "port unreachable" of earlier datagrams.
    port_unreachable: Count,
    /// Number of datagrams not sent to a reader, but sent to others.
    unsent: Count,
    max_blocking_ns: u64,
}

impl Monitor for WriterMonitor {
    fn matched(&self) -> Result<MatchState> {
        Ok(self.matched.state())
    }

    fn qos(&self) -> Result<Qos> {
        Ok(in_force(Some(self.max_blocking_ns)))
    }

    fn counters(&self) -> Counters {
        self.counts.counters()
    }
}

/// Writer: a socket, and the connected readers.
pub(crate) struct UdpWriter {
    outlet: Outlet,
    batch: Option<Packed>,
    max_payload: usize,
    family: Family,
}

impl UdpWriter {
    pub(crate) fn open(
        mut socket: Socket,
        family: Family,
        packing: Packing,
        config: &WriterConfig<'_>,
    ) -> Result<Self> {
        let max_payload = config.max_payload_bytes as usize;
        let batch = Packed::from_config(config, family, packing)?;
        if let Some(Packed::Segments(_)) = batch {
            // The usual size of the samples. It fits: a datagram is shorter than `u16::MAX`.
            socket.set_segment(max_payload as u16)?;
        }
        // Blocking in the sense of the contract is, for a socket, waiting for room in its send buffer.
        let mut flags = MsgFlags::empty();
        let max_blocking_ns = match config.qos.max_blocking_ns.map(QosDuration::raw) {
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
            matched: MatchRecord::new(),
            counts: WriterCounts::default(),
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
        match &mut self.batch {
            None => self.outlet.send(Load::datagram(payload)),
            Some(batch) => {
                if !batch.has_room(payload.len()) {
                    // If this is rejected, so is the sample: nothing has changed, and both can be retried.
                    self.outlet.send_batch(batch)?;
                }
                batch.push(payload);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.batch.as_mut().map_or(Ok(()), |batch| self.outlet.send_batch(batch))
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        let Outlet { socket, monitor, .. } = &self.outlet;
        settings.set("address", &socket.locator);
        socket.show_way_out(settings)?;
        socket.show_send_buffer(settings)?;
        Packed::show(self.batch.as_ref(), settings);
        if let Some(Packed::Segments(_)) = self.batch {
            socket.show_segment(settings)?;
        }
        settings.set("port_unreachable", &monitor.port_unreachable.get());
        settings.set("datagrams_unsent", &monitor.unsent.get());
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.outlet.socket.locator.to_string())
    }

    fn connect(&mut self, reader_locator: &str) -> Result<()> {
        let reader = Locator::of_peer(reader_locator, self.family)?;
        if let Some(Packed::Segments(_)) = self.batch {
            // What was written so far is not for this reader, whose path may carry less.
            self.flush()?;
        }
        if let Some(Packed::Segments(batch)) = &mut self.batch {
            let carried = batch.limit_path(self.outlet.path_limit(reader)?);
            if self.max_payload > carried {
                self.outlet.socket.set_segment(0)?;
            }
        }
        self.outlet.connect(reader)
    }
}

/// Sending part of a writer: a socket and its readers.
struct Outlet {
    socket: Socket,
    readers: Vec<Locator>,
    /// Addresses of the readers; those of one multicast group have the same address.
    places: Vec<SockaddrStorage>,
    flags: MsgFlags,
    monitor: Arc<WriterMonitor>,
}

impl Outlet {
    /// Adds a reader, unless it is already connected.
    fn connect(&mut self, reader: Locator) -> Result<()> {
        if self.readers.contains(&reader) {
            return Ok(());
        }
        let place = SockaddrStorage::from(self.socket.way_to(reader)?);
        // The first reader becomes the peer of the socket, and remains so when others are added. An address given
        // with a datagram overrides the peer; removing the peer would release the port, too.
        if self.readers.is_empty() {
            self.socket.connect(reader)?;
        }
        self.readers.push(reader);
        if !self.places.contains(&place) {
            self.places.push(place);
        }
        self.monitor.matched.joined();
        Ok(())
    }

    /// Returns the maximum payload that reaches a reader without IP fragments. The kernel knows it for the peer of the
    /// socket, which the reader is for that time.
    fn path_limit(&self, reader: Locator) -> Result<usize> {
        self.socket.connect(reader)?;
        let limit = self.socket.path_limit();
        if let Some(first) = self.readers.first() {
            self.socket.connect(*first)?;
        }
        limit
    }

    /// Sends the samples of a batch, and empties it unless this fails.
    #[inline]
    fn send_batch(&mut self, batch: &mut Packed) -> Result<()> {
        if let Some(load) = batch.load() {
            self.send(load)?;
            batch.clear();
        }
        Ok(())
    }

    /// Sends to every reader. Accepted if at least one reader was sent the load; for the others it is lost, as
    /// best effort allows. Without a reader a sample is accepted and discarded, as by any unmatched writer.
    #[inline]
    fn send(&mut self, load: Load<'_>) -> Result<()> {
        match self.places.as_slice() {
            [] => Ok(()),
            [_] => {
                self.attempt(load, || self.socket.send(load, self.flags)).map_err(|errno| self.failure(errno))
            }
            several => {
                let (mut accepted, mut failed) = (0u64, None);
                for reader in several {
                    match self.attempt(load, || self.socket.send_to(load, reader, self.flags)) {
                        Ok(()) => accepted += 1,
                        Err(errno) => failed = Some(errno),
                    }
                }
                match failed {
                    None => Ok(()),
                    Some(errno) if accepted == 0 => Err(self.failure(errno)),
                    Some(_) => {
                        self.monitor.unsent.add((several.len() as u64 - accepted) * load.datagrams);
                        Ok(())
                    }
                }
            }
        }
    }

    /// Sends a load, with retries after an interruption. A port without a reader does not reject a datagram:
    /// the kernel reports the error of an earlier one and has not sent this one, so it is sent again.
    #[inline]
    fn attempt(&self, load: Load<'_>, hand_over: impl Fn() -> Result<usize, Errno>) -> Result<(), Errno> {
        let mut failed = Errno::EAGAIN;
        for _ in 0..ATTEMPTS {
            match hand_over() {
                Ok(bytes) => {
                    self.monitor.counts.count_sent(load.datagrams, bytes as u64);
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
            Status::Refused => self.monitor.counts.refused.add(1),
            Status::TimedOut => self.monitor.counts.timed_out.add(1),
            _ => {}
        }
        error
    }
}

/// Converts the error of a send. The texts of temporary errors are not allocated.
fn failure(errno: Errno, limited: bool) -> Error {
    match errno {
        Errno::EAGAIN if limited => {
            Error::new(Status::TimedOut, "the send buffer was full for `max_blocking`: send() failed: EAGAIN")
                .hint("increase `max_blocking` or `send_buffer`")
        }
        Errno::EAGAIN => Error::new(Status::Refused, "the send buffer is full: send() failed: EAGAIN")
            .hint("increase `send_buffer` or `max_blocking`"),
        Errno::ENOBUFS => {
            Error::new(Status::Refused, "the queue of the interface is full: send() failed: ENOBUFS")
                .hint("increase it with `ip link set INTERFACE txqueuelen N`")
        }
        Errno::ENOMEM => Error::new(Status::Refused, "the kernel is out of memory: send() failed: ENOMEM")
            .hint("check the free memory with `free -m`"),
        Errno::EMSGSIZE => {
            Error::too_large("the datagram is larger than the path allows: send() failed: EMSGSIZE")
                .hint("reduce `size`")
        }
        Errno::EIO => Error::os("the path carries no segments: send() failed", errno).hint(
            "use `packing` = `datagram`, or check that the interface computes checksums with `ethtool -k`",
        ),
        errno => Error::os("cannot send a datagram: send() failed", errno),
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
