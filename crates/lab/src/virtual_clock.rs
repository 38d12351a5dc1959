//! Model of a switch that stores and forwards frames: when each frame leaves. Pure.
//!
//! A link is busy with one frame at a time. A frame has crossed it at `end = max(arrival, end of the frame before) + wire bytes x
//! 8 / rate`: a wire delivers a frame when its last bit has arrived. A token bucket would decide when a frame may start, and
//! short samples would take no time. Each host has one link to the switch and one from it, and the delay is added to the
//! second.

use std::{cmp::Reverse, collections::VecDeque};

use experiment::LinkSpec;

/// Bytes on the wire around a frame: preamble 8, checksum 4, gap 12.
pub(crate) const OVERHEAD: u64 = 24;
/// Minimum bytes on the wire of a frame.
pub(crate) const MIN_WIRE_BYTES: u64 = 84;
/// Share of its time on both links by which a frame of a stream may be late: 1 of this number.
const MAX_LATENESS: u64 = 20;
/// Minimum buffer of a port of the switch in bytes.
const MIN_PORT_BUFFER: u64 = 131_072;

/// Rate, delay and buffers of all links. Times are in ps, so that no rate is rounded by more than 1 of 10^6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timing {
    /// Rate in bit/s; 0: unlimited.
    rate: u64,
    delay_ps: u64,
    /// Time to send a full buffer of a port: 50 ms, or 128 KiB at the rate.
    buffer_ps: u64,
}

impl Timing {
    pub(crate) fn new(rate_bit_per_s: Option<u64>, delay_ns: u64) -> Self {
        let rate = rate_bit_per_s.unwrap_or(0);
        let buffer = MIN_PORT_BUFFER.max(rate / 8 / 20);
        Self { rate, delay_ps: delay_ns.saturating_mul(1_000), buffer_ps: transmission_ps(buffer, rate) }
    }

    pub(crate) fn of_link(link: &LinkSpec) -> Self {
        Self::new(link.rate_bit_per_s, link.delay_ns)
    }

    pub(crate) fn rate_bit_per_s(&self) -> Option<u64> {
        (self.rate > 0).then_some(self.rate)
    }

    pub(crate) const fn delay_ns(&self) -> u64 {
        self.delay_ps / 1_000
    }

    /// Returns the time on the wire of a frame of some length with its header, without its checksum.
    fn wire_ps(&self, frame_bytes: usize) -> u64 {
        transmission_ps((frame_bytes as u64 + OVERHEAD).max(MIN_WIRE_BYTES), self.rate)
    }
}

fn transmission_ps(bytes: u64, rate: u64) -> u64 {
    let ps = (u128::from(bytes) * 8_000_000_000_000).checked_div(u128::from(rate)).unwrap_or(0);
    u64::try_from(ps).unwrap_or(u64::MAX)
}

/// Hosts that a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// The host at an index.
    Host(usize),
    /// Hosts of the current runs.
    Members,
    /// All hosts.
    All,
}

/// Frame with what the model needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Frame<T> {
    pub(crate) from: usize,
    pub(crate) to: Destination,
    /// Length with the header of Ethernet, without its checksum.
    pub(crate) length: usize,
    pub(crate) content: T,
}

/// Frame that leaves a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Departure<T> {
    /// Index of the receiving host.
    pub(crate) to: usize,
    /// Time at which its last bit arrives at the host.
    pub(crate) at_ps: u64,
    pub(crate) content: T,
}

/// Frame on a link.
#[derive(Debug)]
struct Crossing<T> {
    /// Time at which the host began to send it.
    sent_ps: u64,
    /// Time at which it has crossed the link.
    end_ps: u64,
    /// Its own time on the wire.
    wire_ps: u64,
    content: T,
}

/// Links of one host, and the frames on them.
#[derive(Debug)]
struct HostLinks<T> {
    /// End of the last frame on the link to the switch.
    up_ps: u64,
    /// Frames on the link to the switch.
    up: VecDeque<Crossing<Frame<T>>>,
    /// End of the last frame on the link from the switch, without the delay.
    down_ps: u64,
    /// Frames on the link from the switch; their ends include the delay.
    down: VecDeque<Crossing<T>>,
    /// Frames for the host that did not fit into the buffer of its port.
    dropped: u64,
    /// Whether multicast is sent to the host.
    is_member: bool,
}

/// Switch with the links of all hosts.
#[derive(Debug)]
pub(crate) struct VirtualClock<T> {
    timing: Timing,
    hosts: Vec<HostLinks<T>>,
    /// State of the random numbers.
    random: u64,
}

impl<T: Clone> VirtualClock<T> {
    pub(crate) fn new(timing: Timing, hosts: usize) -> Self {
        let host = || HostLinks {
            up_ps: 0,
            up: VecDeque::new(),
            down_ps: 0,
            down: VecDeque::new(),
            dropped: 0,
            is_member: true,
        };
        Self { timing, hosts: (0..hosts).map(|_| host()).collect(), random: 1 }
    }

    /// Changes rate and delay for frames that arrive or are forwarded from now on.
    pub(crate) fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// Changes the hosts that multicast is sent to.
    pub(crate) fn set_members(&mut self, members: &[bool]) {
        for (host, is_member) in self.hosts.iter_mut().zip(members) {
            host.is_member = *is_member;
        }
    }

    /// Returns the frames for a host that did not fit into the buffer of its port.
    pub(crate) fn dropped(&self, host: usize) -> u64 {
        self.hosts[host].dropped
    }

    /// Takes a frame that a host began to send at a time. Frames of one host arrive in their order.
    pub(crate) fn arrive(&mut self, at_ps: u64, frame: Frame<T>) {
        let wire_ps = self.timing.wire_ps(frame.length);
        let host = &mut self.hosts[frame.from];
        host.up_ps = host.up_ps.max(at_ps).saturating_add(wire_ps);
        host.up.push_back(Crossing { sent_ps: at_ps, end_ps: host.up_ps, wire_ps, content: frame });
    }

    /// Forwards the frames that have crossed the link of their host at a time, in the order in which they did. All frames that
    /// arrived before it must have been taken.
    pub(crate) fn forward(&mut self, now_ps: u64) {
        loop {
            let ends = self.hosts.iter().enumerate();
            let ends = ends.filter_map(|(index, host)| Some((host.up.front()?.end_ps, index)));
            let Some((_, index)) = ends.min().filter(|(end_ps, _)| *end_ps <= now_ps) else { return };
            let crossing = self.hosts[index].up.pop_front().expect("the link has a frame");
            match crossing.content.to {
                Destination::Host(to) => self.send(to, crossing),
                to => {
                    for other in (0..self.hosts.len()).filter(|other| *other != index) {
                        if to == Destination::All || self.hosts[other].is_member {
                            self.send(other, Crossing { content: crossing.content.clone(), ..crossing });
                        }
                    }
                }
            }
        }
    }

    /// Queues a frame that has crossed the link of its sender at the port of a host.
    fn send(&mut self, to: usize, crossing: Crossing<Frame<T>>) {
        let Crossing { sent_ps, end_ps, wire_ps, content: Frame { content, .. } } = crossing;
        // The limit varies by up to two frames. Two hosts that send frames of one length would otherwise keep their order, and
        // the second one would find the buffer full each time.
        let variation_ps = (u128::from(2 * wire_ps) * u128::from(self.random() >> 32)) >> 32;
        let Timing { buffer_ps, delay_ps, rate } = self.timing;
        let host = &mut self.hosts[to];
        let queued_ps = host.down_ps.saturating_sub(end_ps);
        if rate > 0 && queued_ps > buffer_ps.saturating_sub(u64::try_from(variation_ps).unwrap_or(buffer_ps))
        {
            host.dropped += 1;
            return;
        }
        host.down_ps = host.down_ps.max(end_ps).saturating_add(wire_ps);
        // A shorter delay does not let a frame overtake another.
        let last_ps = host.down.back().map_or(0, |last| last.end_ps);
        let end_ps = host.down_ps.saturating_add(delay_ps).max(last_ps);
        host.down.push_back(Crossing { sent_ps, end_ps, wire_ps, content });
    }

    /// Returns a number that varies: xorshift64 (Marsaglia, 2003).
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Returns the time at which something has to be done; `None` without frames. In a stream, frames leave a port together: one that
    /// is followed by another may leave late by up to `patience_ps`, or by [`MAX_LATENESS`] of its time on both links if that is
    /// longer. The last frame that leaves then is exact, and so is a frame by itself.
    pub(crate) fn next_ps(&self, patience_ps: u64) -> Option<u64> {
        let ports = (0..self.hosts.len()).filter_map(|port| {
            let senders = self.hosts.iter().enumerate();
            let senders = senders.filter(|(from, host)| *from != port && !host.up.is_empty());
            let together = senders.map(|(from, _)| self.last_of_stream_ps(port, Some(from), patience_ps));
            self.last_of_stream_ps(port, None, patience_ps).max(together.max().flatten())
        });
        ports.min()
    }

    /// Returns the time at which the frames of a port leave together: those that wait, and those that a host is sending to it.
    fn last_of_stream_ps(&self, port: usize, from: Option<usize>, patience_ps: u64) -> Option<u64> {
        let latest = |sent_ps: u64, end_ps: u64| {
            let share_ps = end_ps.saturating_sub(sent_ps) / MAX_LATENESS;
            end_ps.saturating_add(if patience_ps > 0 { patience_ps.max(share_ps) } else { 0 })
        };
        let waiting =
            self.hosts[port].down.iter().map(|frame| (frame.end_ps, latest(frame.sent_ps, frame.end_ps)));
        let coming = from.map(|from| &self.hosts[from].up).into_iter().flatten();
        let coming = coming.filter(|frame| match frame.content.to {
            Destination::Host(to) => to == port,
            Destination::Members | Destination::All => true,
        });
        let mut free_ps = self.hosts[port].down_ps;
        let coming = coming.map(|frame| {
            free_ps = free_ps.max(frame.end_ps).saturating_add(frame.wire_ps);
            let end_ps = free_ps.saturating_add(self.timing.delay_ps);
            (end_ps, latest(frame.sent_ps, end_ps))
        });
        last_in_time(waiting.chain(coming))
    }

    /// Returns the time before which no frame leaves that a host begins to send at a time.
    pub(crate) fn earliest_ps(&self, from: usize, at_ps: u64) -> u64 {
        let Timing { rate, delay_ps, .. } = self.timing;
        let links_ps = 2 * transmission_ps(MIN_WIRE_BYTES, rate);
        self.hosts[from].up_ps.max(at_ps).saturating_add(links_ps).saturating_add(delay_ps)
    }

    /// Returns the next frame that has left its port at a time, the earliest first.
    pub(crate) fn depart(&mut self, now_ps: u64) -> Option<Departure<T>> {
        let heads = self.hosts.iter().enumerate();
        let heads = heads.filter_map(|(to, host)| Some(Reverse((host.down.front()?.end_ps, to))));
        let Reverse((at_ps, to)) = heads.max().filter(|Reverse((at_ps, _))| *at_ps <= now_ps)?;
        let Crossing { content, .. } = self.hosts[to].down.pop_front()?;
        Some(Departure { to, at_ps, content })
    }
}

/// Returns the last of some times, in their order, at which none is later than its own limit.
fn last_in_time(times: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let mut latest_ps = u64::MAX;
    let mut last_ps = None;
    for (end_ps, limit_ps) in times {
        if end_ps > latest_ps {
            break;
        }
        last_ps = Some(end_ps);
        latest_ps = latest_ps.min(limit_ps);
    }
    last_ps
}

#[cfg(test)]
#[path = "virtual_clock_tests.rs"]
mod tests;
