//! Links: rate and loss.

use std::{
    net::UdpSocket,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use experiment::{goodput_ceiling, store_and_forward_ns};
use lab::Lab;
use nix::sys::{
    prctl::set_timerslack,
    socket::{setsockopt, sockopt},
};
use testbed::wire::stream;

use crate::support::{LIMIT, round_trips, socket, up, wait_until};

#[test]
fn rate_is_that_of_the_wire() {
    let mut lab = up("2,rate=100mbit");
    // A fifth of a second each. Short frames are padded; at 100 Mbit/s, they are more than a busy host can send.
    for (mbit, size, count) in [(100, 1472, 1_700), (100, 63_000, 40), (10, 18, 3_000)] {
        // Without a delay, then with one.
        for delay in ["0", "500us"] {
            lab.set_link(&format!("rate={mbit}mbit,delay={delay}").parse().unwrap()).unwrap();
            let ceiling = goodput_ceiling(f64::from(mbit) * 1e6, 1500, size as u64).unwrap();
            // A pause of a busy host longer than the burst lowers one value, and the host may drop frames, so the best of a few
            // counts. None can exceed the rate by more than the burst.
            let mut attempts = Vec::new();
            let share = loop {
                let arrivals = stream(&lab, size, count).unwrap();
                let missing = u64::from(count - arrivals.count);
                attempts.push((arrivals.bit_per_s() / ceiling, missing, arrivals.dropped));
                let state = format!("{mbit} {size} {delay}: {attempts:?}");
                let is_counted = match arrivals.dropped {
                    // Several frames of a datagram may be dropped.
                    dropped if size > 1_472 => missing <= dropped,
                    dropped => (missing..=missing + OTHER_FRAMES).contains(&dropped),
                };
                assert!(is_counted, "{state}");
                match attempts[attempts.len() - 1] {
                    (share, 0, 0) if share >= 0.98 => break share,
                    _ => assert!(attempts.len() < 10, "{state}"),
                }
            };
            assert!(share < 1.005, "{mbit} {size} {delay}: {attempts:?}");
        }
    }
    let counters = lab.counters().unwrap();
    assert!(counters.hosts.iter().all(|host| host.rate_out == 0 && host.rate_in == 0), "{counters:?}");
}

/// Returns how long after its time a sleeping thread goes on, as a median.
fn wake_up() -> Duration {
    set_timerslack(1).unwrap();
    let asleep = Duration::from_micros(100);
    let mut late = [(); 31].map(|()| {
        let begin = Instant::now();
        thread::sleep(asleep);
        begin.elapsed() - asleep
    });
    late.sort_unstable();
    late[late.len() / 2]
}

/// A wire delivers a datagram when its last bit has arrived, at each of the two links. No round trip is shorter, at any size;
/// and the fastest of a few is not much longer.
#[test]
fn round_trip_takes_its_time_on_the_wire() {
    let mut lab = up("2");
    round_trips(&lab, 18, 5);
    let unlimited = round_trips(&lab, 1_472, 30)[0];
    for (mbit, sizes) in [
        (10, &[18, 64, 1_024, 1_472, 8_192][..]),
        (100, &[18, 64, 1_024, 1_472, 8_192, 16_384, 63_000]),
        (1_000, &[18, 64, 1_024, 1_472, 8_192, 16_384, 63_000]),
    ] {
        lab.set_link(&format!("rate={mbit}mbit").parse().unwrap()).unwrap();
        for size in sizes {
            let one_way = store_and_forward_ns(mbit * 1_000_000, 1_500, *size as u64).unwrap();
            let physical = Duration::from_nanos(2 * one_way);
            for attempt in 1.. {
                // What the hosts and the switch add. Unlike without a limit, their cores sleep in the meantime, and wake up late
                // in some virtual machines. On a busy host, it takes several tries to see it.
                let most = physical.mul_f64(1.1) + 8 * (unlimited + wake_up());
                let fastest = round_trips(&lab, *size, 30)[0];
                assert!(fastest >= physical, "{mbit} Mbit/s, {size} B: {fastest:?} < {physical:?}");
                if fastest <= most {
                    break;
                }
                assert!(attempt < 20, "{mbit} Mbit/s, {size} B: {fastest:?} > {most:?}");
            }
        }
    }
    let lateness = lab.lateness();
    assert!(lateness.len() > 1_000 && lateness.max() > 0, "{}", lateness.len());
}

#[test]
fn ports_drop_what_exceeds_their_rate_and_count_it() {
    let lab = up("3,rate=10mbit");
    let reader = socket(&lab, 2);
    setsockopt(&reader, sockopt::RcvBufForce, &(64 << 20)).unwrap();
    let to = reader.local_addr().unwrap();
    // Two hosts send to one: twice the rate of its link. Each knows its address, or its first datagrams would wait for ARP, of which
    // the kernel keeps some only.
    let writers = [socket(&lab, 0), socket(&lab, 1)];
    for writer in &writers {
        writer.send_to(&[7; 16], to).unwrap();
        reader.recv(&mut [0; 16]).unwrap();
    }
    thread::scope(|scope| {
        for writer in &writers {
            scope.spawn(move || {
                for _ in 0..500 {
                    writer.send_to(&[7; 1472], to).unwrap();
                }
            });
        }
    });
    let received = drain(&reader, || 1_000_u64.saturating_sub(lab.counters().unwrap().dropped()));
    let counters = lab.counters().unwrap();
    assert!(counters.hosts[2].rate_in > 100, "{counters:?}");
    let accounted = received + counters.dropped();
    assert!((1_000..=1_000 + OTHER_FRAMES).contains(&accounted), "{received} {counters:?}");
}

/// Maximum frames of the kernel itself that are counted with those of a test: a host sends a few of ARP and IPv6 now and then.
const OTHER_FRAMES: u64 = 12;

/// Receives until no datagram arrives any more and at least as many as expected have arrived.
fn drain(reader: &UdpSocket, expected: impl Fn() -> u64) -> u64 {
    reader.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let (mut received, deadline) = (0, Instant::now() + LIMIT);
    loop {
        match reader.recv(&mut [0; 2048]) {
            Ok(_) => received += 1,
            Err(_) if received >= expected() => return received,
            Err(error) => {
                let expected = expected();
                assert!(Instant::now() < deadline, "{received} received, {expected} expected: {error}");
            }
        }
    }
}

#[test]
fn every_lost_datagram_is_counted_with_its_sender() {
    let mut lab = up("3,loss=2%");
    let reader = socket(&lab, 2);
    setsockopt(&reader, sockopt::RcvBufForce, &(64 << 20)).unwrap();
    let to = reader.local_addr().unwrap();
    let writers = [socket(&lab, 0), socket(&lab, 1)];
    let send = |counts: [u32; 2]| {
        for (writer, count) in writers.iter().zip(counts) {
            // Below what the kernel keeps for a busy core.
            for number in 0..count {
                writer.send_to(&[7; 16], to).unwrap();
                if number % 100 == 99 {
                    thread::sleep(Duration::from_micros(200));
                }
            }
        }
    };
    send([6_000, 3_000]);
    let lost = |lab: &Lab| lab.counters().unwrap().hosts[2].lost_from.clone();
    // The kernel of a busy host may drop some, too.
    let received = drain(&reader, || 9_000_u64.saturating_sub(lab.counters().unwrap().dropped()));
    let (first, second) = (lost(&lab)["h1"], lost(&lab)["h2"]);
    let counters = lab.counters().unwrap();
    let all = received + counters.dropped();
    assert!((9_000..=9_000 + OTHER_FRAMES).contains(&all), "{received} {counters:?}");
    // 120 and 60 expected; beyond eight standard deviations is not chance.
    assert!((30..210).contains(&first) && (1..130).contains(&second), "{first} {second}");

    // Without a loss nothing is lost, and the counters stay.
    lab.set_link(&"".parse().unwrap()).unwrap();
    let before = lab.counters().unwrap().dropped();
    send([1_000, 0]);
    let dropped = || lab.counters().unwrap().dropped() - before;
    let received = drain(&reader, || 1_000_u64.saturating_sub(dropped()));
    assert!((1_000..=1_000 + OTHER_FRAMES).contains(&(received + dropped())), "{received} {}", dropped());
    assert_eq!((lost(&lab)["h1"], lost(&lab)["h2"]), (first, second));
    // The other direction has its own rule.
    lab.set_link(&"loss=100%".parse().unwrap()).unwrap();
    reader.send_to(&[7; 16], writers[0].local_addr().unwrap()).unwrap();
    wait_until("the loss of a datagram", || lab.counters().unwrap().hosts[0].lost_from["h3"] >= 1);
}

#[test]
fn links_are_read_back_as_they_were_set() {
    let mut lab = up("3");
    for text in [
        "",
        "rate=10mbit",
        "rate=100mbit,delay=1500us,loss=0.1%",
        "rate=12345kbit,loss=100%,mtu=9000",
        "delay=2ms,mtu=1280",
        "",
    ] {
        let link = text.parse().unwrap();
        lab.set_link(&link).unwrap();
        assert_eq!(lab.read_link().unwrap(), link, "{text}");
    }
    // A link that another program changed is not taken for the requested one.
    lab.set_link(&"rate=10mbit".parse().unwrap()).unwrap();
    let namespace = lab.hosts()[1].namespace.clone();
    let arguments = ["-n", &namespace, "qdisc", "del", "dev", "eth0", "root"];
    assert!(Command::new("tc").args(arguments).status().unwrap().success());
    let error = lab.read_link().unwrap_err().to_string();
    assert_eq!(error, "cannot read the links: a host and the switch have different rates");
}
