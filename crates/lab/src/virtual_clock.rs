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
mod tests {
    use experiment::store_and_forward_ns;

    use super::*;

    /// Frame on the wire of a full packet of 1500 bytes at 100 Mbit/s.
    const FULL_PS: u64 = 1_538 * 80_000;

    fn clock(rate: &str, hosts: usize) -> VirtualClock<u32> {
        VirtualClock::new(Timing::of_link(&rate.parse().unwrap()), hosts)
    }

    fn frame(from: usize, to: Destination, length: usize, content: u32) -> Frame<u32> {
        Frame { from, to, length, content }
    }

    /// Returns the times at which frames reach the host at an index, and their contents.
    fn departures(clock: &mut VirtualClock<u32>, host: usize) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        while let Some(next_ps) = clock.next_ps(0) {
            clock.forward(next_ps);
            while let Some(departure) = clock.depart(next_ps) {
                assert!(departure.at_ps <= next_ps);
                if departure.to == host {
                    all.push((departure.at_ps, departure.content));
                }
            }
        }
        all
    }

    #[test]
    fn frame_takes_its_time_on_each_link() {
        for (link, length, expected) in [
            ("rate=100mbit", 1_514, 2 * FULL_PS),
            // Padded.
            ("rate=100mbit", 42, 2 * 84 * 80_000),
            ("rate=100mbit", 61, 2 * 85 * 80_000),
            ("rate=100mbit,delay=1ms", 1_514, 2 * FULL_PS + 1_000_000_000),
            ("delay=1ms", 1_514, 1_000_000_000),
            ("rate=1gbit", 1_514, 2 * 1_538 * 8_000),
        ] {
            let mut clock = clock(link, 2);
            clock.arrive(7, frame(0, Destination::Host(1), length, 1));
            assert_eq!(departures(&mut clock, 1), [(7 + expected, 1)], "{link} {length}");
        }
    }

    #[test]
    fn fragments_of_a_datagram_take_the_time_of_the_physical_model() {
        // 63,000 B: 42 frames of 1514 bytes and one of 882.
        let mut clock = clock("rate=100mbit", 2);
        for number in 0..43 {
            // They leave the host faster than the link.
            let length = if number < 42 { 1_514 } else { 882 };
            clock.arrive(u64::from(number) * 1_000, frame(0, Destination::Host(1), length, number));
        }
        let last = departures(&mut clock, 1)[42];
        assert_eq!(last, (store_and_forward_ns(100_000_000, 1_500, 63_000).unwrap() * 1_000, 42));
    }

    #[test]
    fn frames_of_one_host_follow_each_other() {
        // A short frame after a long one waits for it on both links; one after a pause does not.
        let mut clock = clock("rate=100mbit", 2);
        clock.arrive(0, frame(0, Destination::Host(1), 1_514, 1));
        clock.arrive(10, frame(0, Destination::Host(1), 42, 2));
        clock.arrive(10 * FULL_PS, frame(0, Destination::Host(1), 1_514, 3));
        let short = 84 * 80_000;
        let expected = [(2 * FULL_PS, 1), (2 * FULL_PS + short, 2), (12 * FULL_PS, 3)];
        assert_eq!(departures(&mut clock, 1), expected);
    }

    #[test]
    fn senders_to_one_host_share_its_link_and_the_rest_is_dropped() {
        let mut clock = clock("rate=100mbit", 3);
        // Twice what the link carries, in equal frames and at equal times: one second of both.
        let each = 1_000_000_000_000 / FULL_PS;
        for number in 0..each {
            for from in [0, 1] {
                let content = u32::try_from(from).unwrap();
                clock.arrive(number * FULL_PS, frame(from, Destination::Host(2), 1_514, content));
            }
        }
        let arrived = departures(&mut clock, 2);
        assert_eq!(arrived.len() as u64 + clock.dropped(2), 2 * each);
        // The buffer holds 50 ms more than the link carries in the second.
        assert!((0.48..0.53).contains(&(clock.dropped(2) as f64 / (2 * each) as f64 + 0.025)));
        let of_first = arrived.iter().filter(|(_, from)| *from == 0).count() as f64 / arrived.len() as f64;
        assert!((0.25..0.75).contains(&of_first), "{of_first}");
        // The link is never faster than its rate.
        assert!(arrived.windows(2).all(|pair| pair[1].0 - pair[0].0 >= FULL_PS));
    }

    #[test]
    fn one_sender_fills_no_buffer() {
        let mut clock = clock("rate=10mbit", 2);
        // All at once: what waits is on the link of the sender, where a host keeps it.
        for number in 0..2_000 {
            clock.arrive(0, frame(0, Destination::Host(1), 1_514, number));
        }
        assert_eq!((departures(&mut clock, 1).len(), clock.dropped(1)), (2_000, 0));
    }

    #[test]
    fn multicast_is_for_members_and_takes_no_time_of_others() {
        let mut clock = clock("rate=100mbit", 4);
        clock.set_members(&[true, true, false, true]);
        clock.arrive(0, frame(0, Destination::Members, 1_514, 1));
        clock.arrive(0, frame(1, Destination::All, 1_514, 2));
        clock.arrive(0, frame(3, Destination::Host(2), 42, 3));
        clock.forward(FULL_PS);
        let mut all: Vec<_> = std::iter::from_fn(|| clock.depart(3 * FULL_PS)).collect();
        all.sort_by_key(|departure| (departure.to, departure.at_ps));
        let found: Vec<_> = all.iter().map(|departure| (departure.to, departure.content)).collect();
        assert_eq!(found, [(0, 2), (1, 1), (2, 3), (2, 2), (3, 1), (3, 2)]);
    }

    #[test]
    fn short_frames_of_a_stream_leave_together_and_the_last_one_in_time() {
        let short = 84 * 80_000;
        let mut clock = clock("rate=100mbit", 3);
        for number in 0..3 {
            clock.arrive(0, frame(0, Destination::Host(1), 42, number));
        }
        clock.forward(3 * short);
        // The first leaves at 2, the last at 4.
        assert_eq!(clock.next_ps(0), Some(2 * short));
        assert_eq!(clock.next_ps(short), Some(3 * short));
        assert_eq!(clock.next_ps(9 * short), Some(4 * short));
        // A frame for a port that is free is not delayed by those of another one.
        clock.arrive(3 * short, frame(2, Destination::Host(0), 42, 9));
        clock.forward(4 * short);
        assert_eq!(clock.next_ps(9 * short), Some(4 * short));
        while clock.depart(4 * short).is_some() {}
        assert_eq!(clock.next_ps(9 * short), Some(5 * short));
    }

    #[test]
    fn frames_that_waited_long_may_be_late_by_a_share_of_their_time() {
        let short = 84 * 80_000;
        let mut clock = clock("rate=100mbit", 3);
        // The host keeps the link busy: the last one waits for the others.
        for number in 0..101 {
            clock.arrive(0, frame(0, Destination::Host(1), 42, number));
        }
        // Exact without patience.
        assert_eq!(clock.next_ps(0), Some(2 * short));
        assert_eq!(clock.next_ps(1), Some(2 * short));
        clock.forward(98 * short);
        while clock.depart(98 * short).is_some() {}
        // The next one is at the port and has taken 99 of these times, so it may be late by 4. The others are on their way.
        assert_eq!(clock.next_ps(0), Some(99 * short));
        assert_eq!(clock.next_ps(1), Some(102 * short));
        clock.forward(101 * short);
        assert_eq!(clock.next_ps(1), Some(102 * short));
        // One of another host to the same port follows them. One to another port leaves by itself.
        clock.arrive(100 * short, frame(2, Destination::Host(1), 42, 1));
        assert_eq!(clock.next_ps(1), Some(103 * short));
        clock.arrive(99 * short, frame(1, Destination::Host(0), 42, 1));
        assert_eq!(clock.next_ps(1), Some(101 * short));
        // A frame that did not wait leaves in time, and its followers do not make it late.
        let mut clock = self::clock("rate=100mbit", 3);
        clock.arrive(0, frame(0, Destination::Host(1), 1_514, 1));
        clock.arrive(FULL_PS, frame(0, Destination::Host(2), 1_514, 2));
        assert_eq!(clock.next_ps(1), Some(2 * FULL_PS));
    }

    #[test]
    fn last_time_is_before_the_limits_of_all() {
        assert_eq!(last_in_time([].into_iter()), None);
        assert_eq!(last_in_time([(5, 5), (6, 9)].into_iter()), Some(5));
        assert_eq!(last_in_time([(5, 9), (6, 7), (8, 20)].into_iter()), Some(6));
        assert_eq!(last_in_time([(5, 9), (6, 9), (9, 9), (10, 30)].into_iter()), Some(9));
    }

    #[test]
    fn earliest_departure_is_after_two_short_frames_and_the_delay() {
        let short = 84 * 80_000;
        let mut clock = clock("rate=100mbit,delay=1ms", 2);
        assert_eq!(clock.earliest_ps(0, 7), 7 + 2 * short + 1_000_000_000);
        clock.arrive(0, frame(0, Destination::Host(1), 1_514, 1));
        assert_eq!(clock.earliest_ps(0, 7), FULL_PS + 2 * short + 1_000_000_000);
        assert_eq!(clock.earliest_ps(1, 7), 7 + 2 * short + 1_000_000_000);
        assert_eq!(self::clock("delay=0", 2).earliest_ps(0, 7), 7);
    }

    #[test]
    fn shorter_delay_keeps_the_order() {
        let mut clock = clock("delay=10ms", 2);
        clock.arrive(0, frame(0, Destination::Host(1), 100, 1));
        clock.forward(0);
        clock.set_timing(Timing::new(None, 0));
        clock.arrive(5, frame(0, Destination::Host(1), 100, 2));
        assert_eq!(departures(&mut clock, 1), [(10_000_000_000, 1), (10_000_000_000, 2)]);
    }
}
