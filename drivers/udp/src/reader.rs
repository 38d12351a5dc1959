//! Readers: reception of samples.
use std::sync::Arc;

use driver_kit::{
    Deliver, Endpoint, Error, LocatedReader, ReaderConfig, ReaderMonitor, Result, Sample, SampleReceiver,
    Settings, abi, batch::split, net::Family,
};
use nix::{errno::Errno, sys::socket::MsgFlags};

use crate::{
    in_force,
    locator::Locator,
    packing::{Packing, max_datagram},
    socket::Socket,
};

/// Reader with one socket for all writers.
pub(crate) type UdpReader = LocatedReader<Socket, Datagrams>;

pub(crate) fn open(
    socket: Socket,
    family: Family,
    packing: Packing,
    config: ReaderConfig<'_>,
) -> Result<UdpReader> {
    let content = match packing {
        _ if !config.batched => Content::Sample,
        Packing::Datagram => Content::Batch,
        Packing::Segments { .. } => Content::Segments,
    };
    if content == Content::Segments {
        socket.coalesce()?;
    }
    let socket = Arc::new(socket);
    let monitor = Arc::new(ReaderMonitor::new(in_force(Some(0))));
    let max_payload = config.max_payload_bytes as usize;
    let inlet = Datagrams {
        socket: socket.clone(),
        monitor: monitor.clone(),
        // Only the sender knows the size of a batch.
        buffer: vec![0; if config.batched { max_datagram(family) } else { max_payload }],
        content,
        max_payload,
        limit_ns: abi::DURATION_INFINITE,
    };
    LocatedReader::open("udp-listener", socket, monitor, inlet, config.receive, config.batched)
}

impl Endpoint for Socket {
    type Writer = Locator;

    fn locator(&self) -> String {
        self.locator.to_string()
    }

    fn writer(&self, locator: &str) -> Result<Locator> {
        Locator::of_peer(locator, self.locator.family())
    }

    fn wake(&self) {
        self.end_receive();
    }

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        self.show_way_in(settings)?;
        self.show_coalescing(settings);
        self.show_receive_buffer(settings)
    }
}

/// Content of the buffer after a receive call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A datagram, which is a sample.
    Sample,
    /// A datagram with framed samples.
    Batch,
    /// One or more datagrams, each of which is a sample.
    Segments,
}

/// Receiver: a socket and a buffer for what one call receives.
pub(crate) struct Datagrams {
    socket: Arc<Socket>,
    monitor: Arc<ReaderMonitor>,
    buffer: Vec<u8>,
    content: Content,
    max_payload: usize,
    /// Current receive timeout of the socket.
    limit_ns: u64,
}

impl SampleReceiver for Datagrams {
    #[inline]
    fn receive(&mut self, timeout_ns: u64, _max_samples: u32, to: &mut impl Deliver) -> Result<()> {
        // One receive call per call, like a loop around a bare socket.
        if let Some((length, segment)) = self.wait(timeout_ns)? {
            self.deliver(length, segment, to);
        }
        Ok(())
    }
}

impl Datagrams {
    /// Receives the next datagram, or several, and returns their original length and the size of each datagram but
    /// the last; `None` after a timeout.
    #[inline]
    fn wait(&mut self, timeout_ns: u64) -> Result<Option<(usize, usize)>> {
        let mut flags = MsgFlags::empty();
        if timeout_ns == 0 {
            flags = MsgFlags::MSG_DONTWAIT;
        } else if timeout_ns != self.limit_ns {
            self.socket.set_receive_limit(timeout_ns)?;
            self.limit_ns = timeout_ns;
        }
        let received = match self.content {
            Content::Segments => self.socket.receive_segments(&mut self.buffer, flags),
            _ => self.socket.receive(&mut self.buffer, flags).map(|length| (length, length)),
        };
        match received {
            Ok(received) => Ok(Some(received)),
            // A signal ends the wait early: the host calls again.
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(Error::os("cannot receive a datagram: recv() failed", errno)),
        }
    }

    /// Delivers the samples in the buffer.
    #[inline]
    fn deliver(&mut self, length: usize, segment: usize, to: &mut impl Deliver) {
        // What is longer than the buffer was truncated and is discarded.
        let Some(received) = self.buffer.get(..length) else {
            self.monitor.count_received(length);
            return self.monitor.threw_away(length);
        };
        match self.content {
            Content::Segments if segment > 0 => {
                received.chunks(segment).for_each(|datagram| self.deliver_one(datagram, to));
            }
            Content::Sample | Content::Segments => self.deliver_one(received, to),
            Content::Batch => {
                self.monitor.count_received(length);
                match split(received, self.max_payload) {
                    Ok(samples) => samples.for_each(|sample| to.deliver(Sample::new(sample))),
                    Err(_) => self.monitor.threw_away(length),
                }
            }
        }
    }

    /// Delivers a datagram that is a sample.
    #[inline]
    fn deliver_one(&self, datagram: &[u8], to: &mut impl Deliver) {
        self.monitor.count_received(datagram.len());
        if datagram.len() <= self.max_payload {
            to.deliver(Sample::new(datagram));
        } else {
            self.monitor.threw_away(datagram.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use driver_kit::net::Buffers;

    use super::*;

    #[test]
    fn the_kernel_is_told_of_a_time_limit_only_when_it_changes() {
        let none = Buffers { send: None, receive: None };
        let mut inlet = Datagrams {
            socket: Arc::new(Socket::bound([127, 0, 0, 1].into(), none).expect("a socket")),
            monitor: Arc::new(ReaderMonitor::new(in_force(Some(0)))),
            buffer: vec![0; 10],
            content: Content::Sample,
            max_payload: 10,
            limit_ns: abi::DURATION_INFINITE,
        };
        let mut waited = |timeout_ms: u64, behind_its_back: Option<u64>| {
            if let Some(limit) = behind_its_back {
                inlet.socket.set_receive_limit(limit * 1_000_000).expect("set");
            }
            let begun = Instant::now();
            assert_eq!(inlet.wait(timeout_ms * 1_000_000), Ok(None));
            begun.elapsed()
        };
        assert!(waited(1, None) >= Duration::from_millis(1));
        assert!(waited(1, Some(40)) >= Duration::from_millis(40), "1 ms is already set");
        assert!(waited(50, None) >= Duration::from_millis(50));
    }
}
