//! Clock exchange over loopback: both sides read one clock, so the true offset is 0.

use std::{
    net::{SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use host::{
    ClockClient, ClockEnd, ClockOffset, ClockPacket, ClockResponder, ExchangeKey, Guard, LocalSite,
    Site as _, measure_clock,
};

const LONG: Duration = Duration::from_secs(60);

fn site() -> LocalSite {
    LocalSite::new("no agent")
}

fn responder(key: ExchangeKey, limit: Duration) -> (SocketAddr, Guard) {
    let spec = ClockResponder { interface: "lo".to_owned(), key, limit };
    site().clock_responder(&spec).expect("a responder")
}

fn client(responder: SocketAddr, key: ExchangeKey, count: u32) -> ClockClient {
    ClockClient { interface: "lo".to_owned(), responder, key, count, limit: LONG }
}

/// Returns whether a responder answers this packet within a while.
fn answers(address: SocketAddr, packet: &[u8]) -> bool {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a limit");
    socket.connect(address).expect("an address");
    let sent = socket.send(packet);
    sent.is_ok() && socket.recv(&mut [0; 64]).is_ok()
}

#[test]
fn offset_of_a_clock_from_itself_is_0_within_the_bound() {
    let site = site();
    let end = ClockEnd { site: &site, interface: "lo" };
    let point = measure_clock(&end, &end).expect("an exchange");
    assert!(point.offset.offset_ns.unsigned_abs() <= point.offset.error_ns, "{point:?}");
    assert!(point.offset.rtt_ns > 0 && point.offset.rtt_ns <= point.offset.rtt_p50_ns, "{point:?}");
    // Both readings are of one host, whose clocks did not move apart.
    let difference = point.reference.suspended_ns - point.other.suspended_ns;
    let uncertainty = point.reference.uncertainty_ns + point.other.uncertainty_ns;
    assert!(difference.unsigned_abs() <= uncertainty, "{point:?}");
}

#[test]
fn packets_without_the_key_have_no_answer_and_do_no_harm() {
    let [key, other] = [1, 2].map(|_| ExchangeKey::random().expect("a key"));
    let (address, running) = responder(key, LONG);
    assert!(address.ip().is_loopback());
    let valid = ClockPacket::Request { number: 1 }.bytes(&key);
    assert!(answers(address, &valid));
    let mut longer = valid.to_vec();
    longer.push(0);
    for packet in [
        &ClockPacket::Request { number: 1 }.bytes(&other)[..],
        &ClockPacket::Reply { number: 1, received_ns: 2, replied_ns: 3 }.bytes(&key),
        &valid[..47],
        &longer,
        &[0xff; 1_400],
        b"",
    ] {
        assert!(!answers(address, packet), "{packet:?}");
    }
    assert_eq!(site().clock_exchange(&client(address, key, 5)).expect("a client").len(), 5);
    drop(running);
}

#[test]
fn client_ignores_answers_of_others() {
    let [key, other] = [1, 2].map(|_| ExchangeKey::random().expect("a key"));
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("an address");
    let answering = thread::spawn(move || {
        let mut buffer = [0; 64];
        let (length, from) = socket.recv_from(&mut buffer).expect("a request");
        let Some(ClockPacket::Request { number }) = ClockPacket::parse(&buffer[..length], &key) else {
            panic!("no request");
        };
        let reply = |number| ClockPacket::Reply { number, received_ns: 7, replied_ns: 8 };
        for packet in [reply(number).bytes(&other), reply(number + 1).bytes(&key), reply(number).bytes(&key)]
        {
            socket.send_to(&packet, from).expect("an answer");
        }
    });
    let exchanges = site().clock_exchange(&client(address, key, 1)).expect("a client");
    answering.join().expect("no panic");
    let [only] = exchanges.as_slice() else { panic!("{exchanges:?}") };
    assert_eq!((only.received_ns, only.replied_ns), (7, 8));
    // Times of another clock: an offset, with a bound.
    assert!(ClockOffset::from_exchanges(&exchanges).is_some());
}

/// Passes packets of a client on to a responder after a delay, and the replies back after another one. Ends without packets
/// for a while. Returns its address.
fn slow_path(responder: SocketAddr, [out, back]: [Duration; 2]) -> SocketAddr {
    let [near, far] = [1, 2].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    far.connect(responder).expect("an address");
    let address = near.local_addr().expect("an address");
    for socket in [&near, &far] {
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
    }
    thread::spawn(move || {
        thread::scope(|scope| {
            let mut buffer = [0; 64];
            while let Ok((length, client)) = near.recv_from(&mut buffer) {
                let (near, far) = (&near, far.try_clone().expect("a socket"));
                scope.spawn(move || {
                    thread::sleep(out);
                    // Fail if the other side has ended.
                    let _ = far.send(&buffer[..length]);
                    let Ok(length) = far.recv(&mut buffer) else { return };
                    thread::sleep(back);
                    let _ = near.send_to(&buffer[..length], client);
                });
            }
        });
    });
    address
}

#[test]
fn replies_over_a_satellite_count() {
    let site = site();
    let key = ExchangeKey::random().expect("a key");
    for delays_ms in [[300, 300], [0, 700], [650, 0]] {
        let (address, _running) = responder(key, LONG);
        let delays = delays_ms.map(Duration::from_millis);
        let path = slow_path(address, delays);
        let spec = ClockClient { limit: Duration::from_secs(3), ..client(path, key, 200) };
        let exchanges = site.clock_exchange(&spec).expect("a client");
        assert!(exchanges.len() > 1, "{delays_ms:?}: {}", exchanges.len());
        let offset = ClockOffset::from_exchanges(&exchanges).expect("an offset");
        assert!(offset.offset_ns.unsigned_abs() <= offset.error_ns, "{delays_ms:?}: {offset:?}");
        assert!(offset.rtt_ns >= 600_000_000, "{delays_ms:?}: {offset:?}");
        // Half of the round trip, and the drift in this time.
        assert!(offset.error_ns <= offset.rtt_ns / 2 + offset.rtt_ns / 1000, "{delays_ms:?}: {offset:?}");
        println!("{delays_ms:?} ms: {} exchanges, {offset:?}", exchanges.len());
        // One packet waits for its reply as long as the exchange may take.
        let one = site.clock_exchange(&ClockClient { count: 1, ..spec }).expect("a client");
        assert_eq!(one.len(), 1, "{delays_ms:?}");
    }
}

#[test]
fn second_reply_to_a_packet_does_not_count() {
    let key = ExchangeKey::random().expect("a key");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("an address");
    socket.set_read_timeout(Some(LONG)).expect("a limit");
    let answering = thread::spawn(move || {
        let mut buffer = [0; 64];
        for _ in 0..3 {
            let (length, from) = socket.recv_from(&mut buffer).expect("a request");
            let Some(ClockPacket::Request { number }) = ClockPacket::parse(&buffer[..length], &key) else {
                panic!("no request");
            };
            for received_ns in [7, 9] {
                let reply = ClockPacket::Reply { number, received_ns, replied_ns: received_ns };
                socket.send_to(&reply.bytes(&key), from).expect("an answer");
            }
        }
    });
    let exchanges = site().clock_exchange(&client(address, key, 3)).expect("a client");
    answering.join().expect("no panic");
    assert!(exchanges.iter().map(|exchange| exchange.received_ns).eq([7; 3]), "{exchanges:?}");
}

#[test]
fn responder_ends_when_it_is_dropped_and_at_its_limit() {
    let key = ExchangeKey::random().expect("a key");
    let packet = ClockPacket::Request { number: 1 }.bytes(&key);
    let (address, running) = responder(key, LONG);
    assert!(answers(address, &packet));
    drop(running);
    assert!(!answers(address, &packet));

    let (address, running) = responder(key, Duration::from_millis(50));
    let begin = Instant::now();
    while answers(address, &packet) {
        assert!(begin.elapsed() < LONG, "it does not end");
    }
    // Its end frees the port, although the hold still lives.
    let free = || UdpSocket::bind(address).is_ok();
    while !free() {
        assert!(begin.elapsed() < LONG, "it does not end");
        thread::sleep(Duration::from_millis(10));
    }
    drop(running);
}

#[test]
fn interface_without_address_is_an_error() {
    let key = ExchangeKey::random().expect("a key");
    let spec = ClockResponder { interface: "ddsmark0".to_owned(), key, limit: LONG };
    let error = site().clock_responder(&spec).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "cannot compare the clocks of the hosts: interface `ddsmark0` has no IP address"
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("allow UDP")));
}
