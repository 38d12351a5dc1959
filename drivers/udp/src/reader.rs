//! Samples in.
use std::sync::{Arc, atomic::Ordering};

use driver_kit::{
    Deliver, Error, Intake, Reader, ReaderConfig, ReaderMonitor, Receive, Result, Sample, Samples, Settings,
    Sink, Worker, abi, batch::split,
};
use nix::{errno::Errno, sys::socket::MsgFlags};

use crate::{
    in_force,
    locator::{Family, Locator},
    socket::Socket,
};

/// How long the listener's thread sleeps before it looks whether it should stop. It is woken for that; this is for the
/// day when a kernel no longer does.
const LISTENER_NAP_NS: u64 = 100_000_000;

/// A socket that hears whoever sends to it.
pub(crate) struct UdpReader {
    socket: Arc<Socket>,
    monitor: Arc<ReaderMonitor>,
    intake: Intake<Inlet>,
    writers: Vec<Locator>,
    family: Family,
    batched: bool,
    polling: bool,
}

impl UdpReader {
    pub(crate) fn open(socket: Socket, family: Family, config: ReaderConfig<'_>) -> Result<Self> {
        let socket = Arc::new(socket);
        let monitor = Arc::new(ReaderMonitor::new(in_force(None)));
        let max_payload = config.max_payload_bytes as usize;
        // Of a batch only the sender knows the size.
        let room = if config.batched { family.max_datagram() } else { max_payload };
        let inlet = Inlet {
            socket: socket.clone(),
            monitor: monitor.clone(),
            buffer: vec![0; room],
            batched: config.batched,
            max_payload,
            limit_ns: abi::DURATION_INFINITE,
        };
        let polling = matches!(config.receive, Receive::Polling);
        let intake = match config.receive {
            Receive::Waitset | Receive::Polling => Intake::Host(inlet),
            Receive::Listener(sink) => Intake::Listener(listen(inlet, sink)?),
        };
        Ok(Self { socket, monitor, intake, writers: Vec::new(), family, batched: config.batched, polling })
    }
}

impl Reader for UdpReader {
    type Monitor = ReaderMonitor;

    fn monitor(&self) -> Arc<ReaderMonitor> {
        self.monitor.clone()
    }

    #[inline]
    fn receive(&mut self, timeout_ns: u64, _max_samples: u32, to: &mut Samples<'_>) -> Result<()> {
        let inlet = self.intake.host()?;
        let timeout_ns = if self.polling { 0 } else { timeout_ns };
        // One datagram a call, as a loop around a bare socket would have it.
        if let Some(length) = inlet.wait(timeout_ns)? {
            inlet.deliver(length, to);
        }
        Ok(())
    }

    fn settings(&mut self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("address", &self.socket.locator());
        self.socket.show_way_in(settings)?;
        self.socket.show_receive_buffer(settings)?;
        settings.set("batching", if self.batched { "application" } else { "none" });
        Ok(())
    }

    fn locator(&mut self) -> Result<String> {
        Ok(self.socket.locator().to_string())
    }

    fn connect(&mut self, writer_locator: &str) -> Result<()> {
        let writer = Locator::of_peer(writer_locator, self.family)?;
        if !self.writers.contains(&writer) {
            self.writers.push(writer);
            self.monitor.set_matched(self.writers.len());
        }
        Ok(())
    }

    fn close(self) -> Result<()> {
        self.intake.close()
    }
}

/// The receiving end: a socket, room for one datagram, and how to read it.
struct Inlet {
    socket: Arc<Socket>,
    monitor: Arc<ReaderMonitor>,
    buffer: Vec<u8>,
    batched: bool,
    max_payload: usize,
    /// The time limit that the socket has now.
    limit_ns: u64,
}

impl Inlet {
    /// The next datagram into the buffer; its true length, or `None` where none came in time.
    #[inline]
    fn wait(&mut self, timeout_ns: u64) -> Result<Option<usize>> {
        let mut flags = MsgFlags::empty();
        if timeout_ns == 0 {
            flags = MsgFlags::MSG_DONTWAIT;
        } else if timeout_ns != self.limit_ns {
            self.socket.set_receive_limit(timeout_ns)?;
            self.limit_ns = timeout_ns;
        }
        match self.socket.receive(&mut self.buffer, flags) {
            Ok(length) => Ok(Some(length)),
            // A signal ends the wait early: the host calls again.
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(Error::os("no datagram can be received", errno)),
        }
    }

    /// Gives what is in the buffer.
    #[inline]
    fn deliver(&mut self, length: usize, to: &mut impl Deliver) {
        self.monitor.came(length);
        // A datagram that is longer than its room was cut, and is worth nothing.
        match self.buffer.get(..length) {
            Some(datagram) if !self.batched => to.deliver(Sample::new(datagram)),
            Some(datagram) => match split(datagram, self.max_payload) {
                Ok(samples) => samples.for_each(|sample| to.deliver(Sample::new(sample))),
                Err(_) => self.monitor.threw_away(length),
            },
            None => self.monitor.threw_away(length),
        }
    }
}

/// A thread that receives and calls the host's sink. It writes nothing and holds no lock, so the sink may write.
fn listen(mut inlet: Inlet, mut sink: Sink) -> Result<Worker> {
    let socket = inlet.socket.clone();
    Worker::start(
        "udp-listener",
        move || socket.wake(),
        move |stop| loop {
            let heard = inlet.wait(LISTENER_NAP_NS)?;
            if stop.load(Ordering::Acquire) {
                return Ok(());
            }
            if let Some(length) = heard {
                inlet.deliver(length, &mut sink);
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::socket::Buffers;

    #[test]
    fn the_kernel_is_told_of_a_time_limit_only_when_it_changes() {
        let none = Buffers { send: None, receive: None };
        let mut inlet = Inlet {
            socket: Arc::new(Socket::bound([127, 0, 0, 1].into(), none).expect("a socket")),
            monitor: Arc::new(ReaderMonitor::new(in_force(None))),
            buffer: vec![0; 10],
            batched: false,
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
        assert!(waited(1, Some(40)) >= Duration::from_millis(40), "1 ms is what it was told already");
        assert!(waited(50, None) >= Duration::from_millis(50));
    }
}
