//! Links: delay, MTU, and changes while traffic flows.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use lab::{Lab, LabError};

use crate::support::{round_trips, socket, up};

#[test]
fn round_trip_has_twice_the_delay() {
    let mut lab = up("2,delay=5ms");
    // A busy host adds to the fastest of 40 much less than the next delay does.
    let mut slower: Option<Duration> = None;
    for (link, delay) in [("delay=40ms,rate=100mbit", 40), ("delay=10ms", 10), ("delay=2500us", 2), ("", 0)] {
        lab.set_link(&link.parse().unwrap()).unwrap();
        let times = round_trips(&lab, 64, 40);
        assert!(times[0] >= Duration::from_millis(2 * delay), "{link}: {times:?}");
        if let Some(slower) = slower {
            let ratio = slower.as_secs_f64() / times[0].as_secs_f64();
            assert!(ratio > 2.0, "{link}: {ratio}");
            // Not the delay of the link before.
            assert!(delay == 0 || ratio < 4.1, "{link}: {ratio}");
        }
        slower = Some(times[0]);
    }
    let counters = lab.counters().unwrap();
    assert!(counters.hosts.iter().all(|host| host.switch_in == 0 && host.switch_out == 0), "{counters:?}");
}

#[test]
fn link_changes_while_traffic_flows() {
    let mut lab = up("2");
    let (writer, reader, is_over) = (socket(&lab, 0), socket(&lab, 1), AtomicBool::new(false));
    let to = reader.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                writer.send_to(&[7; 1472], to).unwrap();
                thread::sleep(Duration::from_micros(100));
            }
        });
        for link in [
            "rate=100mbit",
            "rate=20mbit,delay=1ms",
            "delay=3ms,loss=10%",
            "rate=1gbit,loss=1%",
            "",
            "rate=50mbit",
        ] {
            lab.set_link(&link.parse().unwrap()).unwrap();
            // Some that were sent before, and more.
            for _ in 0..100 {
                reader.recv(&mut [0; 2048]).unwrap_or_else(|error| panic!("{link}: {error}"));
            }
            assert_eq!(lab.record().spec.link, link.parse().unwrap());
        }
        is_over.store(true, Relaxed);
    });
    let counters = lab.counters().unwrap();
    assert!(counters.hosts[0].sent >= 600 && counters.hosts[1].lost() > 0, "{counters:?}");
}

#[test]
fn datagrams_are_fragmented_by_the_mtu_of_their_host() {
    let mut lab = up("3,rate=10mbit,mtu=1280");
    assert_eq!(lab.hosts()[0].mtu_bytes, 1_280);
    let readers = [socket(&lab, 1), socket(&lab, 2)];
    let writer = socket(&lab, 0);
    // Through the bridge, then through the switch of our own; the last rate is one whose burst is that of two jumbo frames.
    for (link, frames) in [
        ("rate=10mbit,mtu=1280", 4),
        ("mtu=9000", 1),
        ("mtu=9000,delay=1ms", 1),
        ("rate=10mbit,mtu=9000", 1),
        ("mtu=1500", 3),
    ] {
        lab.set_link(&link.parse().unwrap()).unwrap();
        let before = lab.counters().unwrap().hosts[0].sent;
        let mut buffer = [0; 9_000];
        writer.send_to(&[7; 4_000], readers[0].local_addr().unwrap()).unwrap();
        assert_eq!(readers[0].recv(&mut buffer).unwrap(), 4_000, "{link}");
        // The first exchange has an ARP request, too.
        let sent = lab.counters().unwrap().hosts[0].sent - before;
        assert!((frames..=frames + 2).contains(&sent), "{link}: {sent}");
    }

    // Hosts with different MTUs: long frames do not arrive at the host with the shorter one, which is counted.
    lab.set_mtu("h1", 9_000).unwrap();
    lab.set_mtu("h3", 9_000).unwrap();
    lab.set_link(&"rate=100mbit".parse().unwrap()).unwrap();
    assert_eq!(lab.hosts().iter().map(|host| host.mtu_bytes).collect::<Vec<_>>(), [9_000, 1_500, 9_000]);
    let dropped = |lab: &Lab| lab.counters().unwrap().hosts[1].interface;
    let before = dropped(&lab);
    for (index, reader) in readers.iter().enumerate() {
        writer.send_to(&[8; 4_000], reader.local_addr().unwrap()).unwrap();
        writer.send_to(&[9; 1_000], reader.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 9_000];
        let first = if index == 0 { 1_000 } else { 4_000 };
        assert_eq!(reader.recv(&mut buffer).unwrap(), first, "reader {index}");
    }
    assert_eq!(dropped(&lab) - before, 1);

    for (host, mtu) in [("h4", 1_500), ("h1", 1_279), ("h1", 9_001)] {
        let error = lab.set_mtu(host, mtu).unwrap_err();
        assert!(matches!(error, LabError::NoHost { .. } | LabError::Spec(_)), "{error}");
    }
}
