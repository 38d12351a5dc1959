//! Bytes between processes, and the ends of their streams.

use std::{
    fs::File,
    io::{Read, Write as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rendezvous::{
    Outcome, PeerRole,
    streams::{SessionEvent, WINDOW},
};

use crate::{
    network::MemoryNetwork,
    rig::{LIMIT, Side, joins, meet, message_channel},
};

const MEGABYTE: usize = 1 << 20;

fn pattern(seed: usize) -> Vec<u8> {
    (0..MEGABYTE + seed).map(|index| (index * 31 + seed) as u8).collect()
}

/// Writes bytes to a stream and closes it, while reading all of the other direction.
fn exchange(mut output: File, mut input: File, bytes: Vec<u8>) -> Vec<u8> {
    let writing = thread::spawn(move || output.write_all(&bytes));
    let mut read = Vec::new();
    input.read_to_end(&mut read).expect("a pipe");
    writing.join().expect("no panic").expect("a pipe");
    read
}

/// Returns the end of the input of the only stream.
fn rest(side: &mut Side) -> Vec<u8> {
    let mut rest = Vec::new();
    side.streams[0].input.read_to_end(&mut rest).expect("a pipe");
    rest
}

#[test]
fn megabyte_each_way_arrives_unchanged_and_ends() {
    let network = MemoryNetwork::new();
    network.set_repeats(1);
    network.set_delay(Duration::from_millis(2));
    let (mut leader, guests) = meet(&network, 2, LIMIT);
    let of_leader: Vec<_> = leader.streams.drain(..).collect();
    let others: Vec<_> = guests
        .into_iter()
        .enumerate()
        .map(|(index, mut guest)| {
            thread::spawn(move || {
                let stream = guest.streams.remove(0);
                let read = exchange(stream.output, stream.input, pattern(index));
                (read, guest)
            })
        })
        .collect();
    let reading: Vec<_> = of_leader
        .into_iter()
        .enumerate()
        .map(|(index, stream)| {
            thread::spawn(move || exchange(stream.output, stream.input, pattern(10 + index)))
        })
        .collect();
    for (index, read) in reading.into_iter().enumerate() {
        assert!(read.join().expect("no panic") == pattern(index));
    }
    let guests = others.into_iter().enumerate().map(|(index, other)| {
        let (read, guest) = other.join().expect("no panic");
        assert!(read == pattern(10 + index));
        guest
    });
    let guests: Vec<Side> = guests.collect();
    assert_eq!(leader.session.end(Outcome::success("complete")), None);
    for guest in guests {
        let event = guest.events.recv_timeout(LIMIT).expect("a goodbye");
        let SessionEvent::Ended(end) = event else { panic!("{event:?}") };
        assert!(end.is_success(), "{end}");
        assert_eq!(end.to_string(), "publisher 0 on host `here` (process 7) has ended: complete");
        assert_eq!(guest.session.end(Outcome::success("complete")), Some(end));
    }
}

#[test]
fn bytes_that_are_not_read_hold_up_the_writer() {
    let (mut leader, mut guests) = meet(&MemoryNetwork::new(), 1, LIMIT);
    let written = Arc::new(AtomicUsize::new(0));
    let (mut output, count) = (leader.streams.remove(0).output, Arc::clone(&written));
    let writing = thread::spawn(move || {
        for _ in 0..4096 {
            output.write_all(&[7; 1024]).expect("a pipe");
            count.fetch_add(1024, Ordering::Relaxed);
        }
    });
    // Longer than it takes to fill all buffers.
    let mut last = usize::MAX;
    while written.load(Ordering::Relaxed) != last {
        last = written.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(500));
    }
    assert!((WINDOW..4 * WINDOW).contains(&last), "{last}");
    let mut read = vec![0; 4096 * 1024];
    guests[0].streams[0].input.read_exact(&mut read).expect("all of it");
    writing.join().expect("no panic");
}

#[test]
fn goodbye_ends_the_other_side_at_once_with_the_reason() {
    let (leader, mut guests) = meet(&MemoryNetwork::new(), 1, LIMIT);
    let began = Instant::now();
    let outcome = Outcome::failure("interrupted by Ctrl-C", Some("start it again".to_owned()));
    assert_eq!(leader.session.end(outcome), None);
    assert_eq!(rest(&mut guests[0]), b"");
    assert!(began.elapsed() < LIMIT / 2);
    let end = guests[0].session.end_of_peer().expect("an end");
    assert!(!end.is_success());
    assert_eq!(end.to_string(), "publisher 0 on host `here` (process 7) has ended: interrupted by Ctrl-C");
    assert_eq!(end.hint().as_deref(), Some("start it again"));
}

#[test]
fn last_bytes_arrive_before_the_goodbye() {
    let (mut leader, mut guests) = meet(&MemoryNetwork::new(), 1, LIMIT);
    leader.streams[0].output.write_all(b"the last bytes").expect("a pipe");
    leader.streams.clear();
    assert_eq!(leader.session.end(Outcome::success("complete")), None);
    assert_eq!(rest(&mut guests[0]), b"the last bytes");
}

#[test]
fn dropped_session_is_a_failure_of_the_other_side() {
    let (mut leader, guests) = meet(&MemoryNetwork::new(), 1, LIMIT);
    drop(guests);
    assert_eq!(rest(&mut leader), b"");
    let end = leader.session.end_of_peer().expect("an end");
    assert_eq!(end.to_string(), "subscriber 0 on host `here` (process 7) has ended: it ended early");
}

#[test]
fn silent_peer_ends_its_stream_and_no_other() {
    let network = MemoryNetwork::new();
    let silence = Duration::from_secs(3);
    let (mut leader, mut guests) = meet(&network, 2, silence);
    network.cut(1);
    assert_eq!(rest(&mut leader), b"");
    let end = leader.session.end_of_peer().expect("an end");
    assert_eq!(end.to_string(), "subscriber 0 on host `here` (process 7) is lost: no sign of life for 3 s");
    assert!(end.hint().is_some_and(|hint| hint.contains("link")));
    // The other one goes on.
    leader.streams[1].output.write_all(b"here").expect("a pipe");
    let mut read = [0; 4];
    guests[1].streams[0].input.read_exact(&mut read).expect("bytes");
    assert_eq!(&read, b"here");
    // That which was cut off finds the same.
    assert_eq!(rest(&mut guests[0]), b"");
    let end = guests[0].session.end_of_peer().expect("an end");
    assert_eq!(end.to_string(), "publisher 0 on host `here` (process 7) is lost: no sign of life for 3 s");
}

#[test]
fn restarted_peer_is_named_and_its_successor_rejected() {
    let network = MemoryNetwork::new();
    let (mut leader, guests) = meet(&network, 1, LIMIT);
    network.cut(1);
    let mut successor = message_channel(network.mailbox(), PeerRole::Subscriber, 0);
    let error = joins(&mut successor, LIMIT).unwrap_err();
    assert!(error.to_string().contains("the test of publisher 0 has already begun"), "{error}");
    assert_eq!(rest(&mut leader), b"");
    let end = leader.session.end_of_peer().expect("an end");
    assert!(end.to_string().contains("is lost: it was started again, as process 7"), "{end}");
    drop(guests);
}

#[test]
fn intruder_is_named_and_the_test_goes_on() {
    let network = MemoryNetwork::new();
    let (mut leader, mut guests) = meet(&network, 1, LIMIT);
    let mut intruder = message_channel(network.mailbox(), PeerRole::Subscriber, 3);
    assert!(joins(&mut intruder, LIMIT).is_err());
    match leader.events.recv_timeout(LIMIT).expect("an event") {
        SessionEvent::Intruder(peer) => assert_eq!(peer.address, intruder.own()),
        other => panic!("{other:?}"),
    }
    leader.streams[0].output.write_all(b"on").expect("a pipe");
    let mut read = [0; 2];
    guests[0].streams[0].input.read_exact(&mut read).expect("bytes");
    assert_eq!((&read, leader.session.end_of_peer()), (b"on", None));
}

#[test]
fn samples_of_other_programs_are_counted_at_the_end() {
    let network = MemoryNetwork::new();
    let (mut leader, mut guests) = meet(&network, 1, LIMIT);
    network.inject(b"noise of a stranger");
    // What follows it arrives after it.
    guests[0].streams[0].output.write_all(b"on").expect("a pipe");
    let mut read = [0; 2];
    leader.streams[0].input.read_exact(&mut read).expect("bytes");
    leader.streams.clear();
    assert_eq!(leader.session.end(Outcome::success("complete")), None);
    assert_eq!(leader.events.recv_timeout(LIMIT), Ok(SessionEvent::Ignored(1)));
}

#[test]
fn application_that_does_not_read_any_longer_does_not_hold_up_the_peer() {
    let (mut leader, mut guests) = meet(&MemoryNetwork::new(), 1, LIMIT);
    let stream = leader.streams.remove(0);
    drop(stream.input);
    guests[0].streams[0].output.write_all(&pattern(0)).expect("all of it is taken");
    drop(stream.output);
    assert_eq!(rest(&mut guests[0]), b"");
}
