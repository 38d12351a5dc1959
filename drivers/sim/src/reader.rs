//! Reader: delivers each sample when it is due.
use std::{sync::Arc, thread, time::Duration};

use driver_kit::{
    Deliver, Endpoint, LocatedReader, ReaderConfig, ReaderMonitor, Result, Sample, SampleReceiver, batch,
};

use crate::{
    delay_queue::DelayQueue,
    in_force,
    socket::{HEADER, MAX_PAYLOAD, Peer, Socket, now_ns, split},
};

/// Time before a due sample at which a sleep ends and spinning starts, because a sleep would end late.
const SPIN_NS: u64 = 100_000;

/// Reader of the simulated middleware.
pub(crate) type SimReader = LocatedReader<Socket, Arrivals>;

pub(crate) fn open(run_name: &str, config: ReaderConfig<'_>) -> Result<SimReader> {
    let socket = Arc::new(Socket::open(run_name)?);
    let qos = in_force(&config.qos, 0, false);
    let depth = qos.keep_last().unwrap_or(usize::MAX);
    let monitor = Arc::new(ReaderMonitor::new(qos));
    let max_payload = config.max_payload_bytes as usize;
    let inlet = Arrivals {
        socket: socket.clone(),
        monitor: monitor.clone(),
        // only the sender knows the size of a batch
        room: vec![0; HEADER + if config.batched { MAX_PAYLOAD } else { max_payload }],
        batched: config.batched,
        inbox: DelayQueue::new(depth),
        max_payload,
    };
    LocatedReader::open("sim-listener", socket, monitor, inlet, config.receive, config.batched)
}

impl Endpoint for Socket {
    /// Locator of the writer.
    type Writer = String;

    fn locator(&self) -> String {
        self.name()
    }

    fn writer(&self, locator: &str) -> Result<String> {
        Ok(Peer::parse(locator)?.locator)
    }

    fn wake(&self) {
        self.send_nothing();
    }
}

/// Receiver of a reader.
pub(crate) struct Arrivals {
    socket: Arc<Socket>,
    monitor: Arc<ReaderMonitor>,
    room: Vec<u8>,
    batched: bool,
    inbox: DelayQueue,
    max_payload: usize,
}

impl SampleReceiver for Arrivals {
    const NAP_NS: u64 = 50_000_000;

    fn receive(&mut self, timeout_ns: u64, max_samples: u32, to: &mut impl Deliver) -> Result<()> {
        let deadline = now_ns().saturating_add(timeout_ns);
        loop {
            let woken = self.take_in()?;
            let given = self.give(max_samples, to);
            if given > 0 || woken || timeout_ns == 0 || now_ns() >= deadline {
                return Ok(());
            }
            self.rest(deadline)?;
        }
    }
}

impl Arrivals {
    /// Moves the received datagrams into the queue while it has room. Returns whether a wake-up datagram was among
    /// them.
    fn take_in(&mut self) -> Result<bool> {
        let mut woken = false;
        while !self.inbox.is_full(self.max_payload) {
            let Some(length) = self.socket.receive(&mut self.room)? else { break };
            match self.room.get(..length).and_then(split) {
                Some((due_ns, payload)) if !self.batched => {
                    self.monitor.count_received(payload.len());
                    self.inbox.push(due_ns, payload);
                }
                Some((due_ns, packed)) => match batch::split(packed, self.max_payload) {
                    Ok(samples) => {
                        self.monitor.count_received(packed.len());
                        samples.for_each(|sample| self.inbox.push(due_ns, sample));
                    }
                    Err(_) => self.monitor.threw_away(length),
                },
                None if length == 0 => woken = true,
                None => self.monitor.threw_away(length),
            }
        }
        Ok(woken)
    }

    /// Delivers due samples and returns their number.
    fn give(&mut self, most: u32, to: &mut impl Deliver) -> u32 {
        let now = now_ns();
        let mut given = 0;
        while given < most && self.inbox.give_due(now, |payload| to.deliver(Sample::new(payload))) {
            given += 1;
        }
        given
    }

    /// Sleeps until a datagram arrives, a sample is nearly due, or the deadline.
    fn rest(&self, deadline_ns: u64) -> Result<()> {
        let due = self.inbox.next_due_ns().map_or(u64::MAX, |due| due.saturating_sub(SPIN_NS));
        let now = now_ns();
        let until = deadline_ns.min(due);
        if until <= now {
            thread::yield_now();
            Ok(())
        } else if self.inbox.is_full(self.max_payload) {
            // a new datagram would have to wait, so only the time matters
            thread::sleep(Duration::from_nanos(until - now));
            Ok(())
        } else {
            self.socket.wait(until - now)
        }
    }
}
