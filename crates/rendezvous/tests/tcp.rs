//! Mailboxes over TCP: any order of start, strangers, and connections that end.

use std::{
    collections::BTreeSet,
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rendezvous::mailbox::{
    MAX_SAMPLE_BYTES, Mailbox,
    tcp::{MAX_STRANGERS, TcpMailbox, control_port, leader_port},
};

const LIMIT: Duration = Duration::from_secs(20);
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn listen() -> (TcpMailbox, SocketAddr) {
    let mailbox = TcpMailbox::listen(HERE, 0).expect("a port");
    let address = mailbox.listening.expect("an address");
    (mailbox, address)
}

fn connect(address: SocketAddr) -> TcpMailbox {
    TcpMailbox::connect(&[address]).expect("a thread")
}

/// Posts a sample until it arrives: a mailbox keeps none for connections that are made later.
#[track_caller]
fn assert_reaches(from: &mut dyn Mailbox, to: &mut dyn Mailbox, sample: &[u8]) {
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        from.post(sample).expect("an open mailbox");
        while let Some(received) = to.receive(Duration::from_millis(50)).expect("an open mailbox") {
            if received == sample {
                return;
            }
        }
    }
    panic!("{:?} does not reach {:?}", from.diagnosis(), to.diagnosis());
}

#[test]
fn samples_reach_both_sides_and_publishers_reach_each_other() {
    let (mut subscriber, address) = listen();
    let (mut one, mut other) = (connect(address), connect(address));
    assert_reaches(&mut one, &mut subscriber, b"one");
    assert_reaches(&mut subscriber, &mut one, &[7; MAX_SAMPLE_BYTES]);
    assert_reaches(&mut other, &mut one, b"other");
    assert_reaches(&mut one, &mut other, b"");
    let long = one.post(&[0; MAX_SAMPLE_BYTES + 1]).unwrap_err();
    assert!(long.to_string().starts_with("a control sample of 8193 bytes is too long"), "{long}");
}

#[test]
fn two_publishers_0_find_each_other_without_a_subscriber() {
    let address = |last: u8| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
    let nothing = |last| SocketAddr::new(address(last), 1);
    let port = leader_port(200);
    let at = |last| SocketAddr::new(address(last), port);
    let (mut one, mut other) = (connect(nothing(2)), connect(nothing(1)));
    one.find_leaders(at(1), &[at(2)]).expect("threads");
    other.find_leaders(at(2), &[at(1)]).expect("threads");
    assert_reaches(&mut one, &mut other, b"one");
    assert_reaches(&mut other, &mut one, b"other");
    // On one host, the second one has no port of its own.
    let port = leader_port(201);
    let at = SocketAddr::new(HERE, port);
    let (mut one, mut other) = (connect(nothing(1)), connect(nothing(1)));
    one.find_leaders(at, &[at]).expect("threads");
    other.find_leaders(at, &[at]).expect("threads");
    assert_reaches(&mut other, &mut one, b"other");
    assert_reaches(&mut one, &mut other, b"one");
}

#[test]
fn publisher_with_a_subscriber_looks_for_no_other() {
    let (mut subscriber, address) = listen();
    let mut publisher = connect(address);
    assert_reaches(&mut publisher, &mut subscriber, b"one");
    let other = TcpListener::bind((HERE, 0)).expect("a port");
    let own = SocketAddr::new(HERE, leader_port(202));
    publisher.find_leaders(own, &[other.local_addr().expect("an address")]).expect("threads");
    other.set_nonblocking(true).expect("an option");
    std::thread::sleep(Duration::from_millis(2500));
    assert!(other.accept().is_err(), "it was sought during the test");
}

#[test]
fn publisher_may_start_first_and_connects_again() {
    let (subscriber, address) = listen();
    drop(subscriber);
    let mut publisher = connect(address);
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        let mut subscriber = TcpMailbox::listen(HERE, address.port()).expect("the same port");
        assert_reaches(&mut publisher, &mut subscriber, b"first");
        assert_reaches(&mut subscriber, &mut publisher, b"second");
    }
    let deadline = Instant::now() + LIMIT;
    while !publisher.diagnosis().iter().any(|line| line.contains("refused")) {
        assert!(Instant::now() < deadline, "{:?}", publisher.diagnosis());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn strangers_are_dropped_and_disturb_no_other_connection() {
    let (mut subscriber, address) = listen();
    let mut publisher = connect(address);
    assert_reaches(&mut publisher, &mut subscriber, b"before");
    let greeting = b"ddsmark peers 1\n";
    let (oversize, cut) = ((MAX_SAMPLE_BYTES as u32 + 1).to_le_bytes(), [100, 0, 0, 0, 7]);
    let texts: [&[&[u8]]; 4] =
        [&[b"GET / HTTP/1.1\r\n\r\n"], &[b"ddsmark peers 2\n"], &[greeting, &oversize], &[greeting, &cut]];
    for text in texts {
        let mut stranger = TcpStream::connect(address).expect("a listener");
        stranger.write_all(&text.concat()).expect("a connection");
        // Fails if the connection is already closed.
        let _ = stranger.shutdown(std::net::Shutdown::Write);
        stranger.set_read_timeout(Some(LIMIT)).expect("a limit");
        // It is closed, after the greeting and what others have posted.
        let _ = stranger.read_to_end(&mut Vec::new());
    }
    assert_reaches(&mut publisher, &mut subscriber, b"after");
}

/// Returns whether the other side has closed this connection of a stranger.
fn is_closed(stranger: &TcpStream) -> bool {
    stranger.set_nonblocking(true).expect("an option");
    let mut bytes = [0; 64];
    loop {
        match (&mut &*stranger).read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn silent_strangers_are_limited_and_a_peer_gets_in() {
    const COUNT: usize = 300;
    let (mut subscriber, address) = listen();
    let silent = |_| TcpStream::connect(address).expect("a listener");
    let mut strangers: Vec<TcpStream> = (0..COUNT).map(silent).collect();
    // More of them arrive all the time.
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let flood = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            let index = strangers.iter().position(is_closed).unwrap_or(0);
            strangers[index] = TcpStream::connect(address).expect("a listener");
            std::thread::sleep(Duration::from_millis(1));
        }
        strangers
    });
    let mut publisher = connect(address);
    assert_reaches(&mut publisher, &mut subscriber, b"there");
    assert_reaches(&mut subscriber, &mut publisher, b"back");
    stop.store(true, Ordering::Relaxed);
    let strangers = flood.join().expect("no panic");
    // Its greeting arrives after it was accepted, and so were all that came before.
    let newest = TcpStream::connect(address).expect("a listener");
    newest.set_read_timeout(Some(LIMIT)).expect("a limit");
    (&mut &newest).read_exact(&mut [0; 16]).expect("a greeting");
    let open = strangers.iter().filter(|stranger| !is_closed(stranger)).count();
    assert!(open <= MAX_STRANGERS, "{open} connections without a greeting are open");
    assert_reaches(&mut publisher, &mut subscriber, b"still there");
}

#[test]
fn greeting_in_single_bytes_has_the_same_time_limit() {
    let (_subscriber, address) = listen();
    let mut stranger = TcpStream::connect(address).expect("a listener");
    for byte in b"ddsmark peers 1\n" {
        // Fails if the connection is already closed.
        let _ = stranger.write_all(&[*byte]);
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(is_closed(&stranger), "it has greeted for 8 s");
}

#[test]
fn port_of_another_program_is_named() {
    let other = TcpListener::bind((HERE, 0)).expect("a port");
    let address = other.local_addr().expect("an address");
    let error = TcpMailbox::listen(HERE, address.port()).err().expect("the port is in use");
    assert!(error.to_string().starts_with(&format!("cannot listen for control messages on {address}: ")));
    assert!(error.hint().is_some_and(|hint| hint.contains("`-sidMultiSubTest`")), "{error}");
    let publisher = connect(address);
    let (mut stream, _) = other.accept().expect("a connection");
    stream.write_all(b"220 mail.example.org\r\n").expect("a connection");
    let deadline = Instant::now() + LIMIT;
    while !publisher.diagnosis().iter().any(|line| line.contains("another program answers there")) {
        assert!(Instant::now() < deadline, "{:?}", publisher.diagnosis());
        std::thread::sleep(Duration::from_millis(50));
    }
    let nowhere = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let error = TcpMailbox::listen(nowhere, 0).err().expect("not an address of this host");
    assert!(error.hint().is_some_and(|hint| hint.contains("`-nic`")), "{error}");
}

#[test]
fn subscriber_listens_on_its_address_only() {
    let (_subscriber, address) = listen();
    let elsewhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2)), address.port());
    assert!(TcpStream::connect(address).is_ok());
    assert!(TcpStream::connect(elsewhere).is_err());
}

#[test]
fn waker_ends_a_wait() {
    let (mut subscriber, _) = listen();
    let waker = subscriber.waker();
    let waking = std::thread::spawn(move || waker.wake());
    let began = Instant::now();
    assert_eq!(subscriber.receive(LIMIT), Ok(None));
    assert!(began.elapsed() < LIMIT);
    waking.join().expect("no panic");
}

#[test]
fn ports_differ_by_domain_and_id_and_are_not_ephemeral() {
    let ports: BTreeSet<u16> =
        (0..=250).flat_map(|domain| (0..50).map(move |id| control_port(domain, id))).collect();
    assert_eq!(ports.len(), 251 * 50);
    for (domain, id) in [(0, 0), (250, u16::MAX), (u32::MAX, u16::MAX)] {
        assert!((20_000..32_768).contains(&control_port(domain, id)));
    }
}
