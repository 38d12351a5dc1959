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
