//! Tests of matching, and of peers that close or are killed. The peers that are killed are processes of their own.
mod harness;

use std::{
    env,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use driver_kit::{Qos, QosDuration, Reliability, abi};
use driver_testing::{EndpointSpec, Reader, Writer, suite};
use harness::*;

/// Returns the configuration of endpoints whose writer waits for room without a limit.
fn patient(max_payload_bytes: u64) -> EndpointSpec {
    let qos = Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::INFINITE),
        ..Qos::default()
    };
    EndpointSpec { qos, ..sized(max_payload_bytes) }
}

#[test]
fn locators_are_texts_and_invalid_ones_are_explained() {
    let participant = open();
    let wrong = [
        ("", "is not a locator"),
        ("udp4:127.0.0.1:1", "is not a locator"),
        ("shm:1", "is not a locator"),
        ("shm:0:1:2", "is not a locator"),
    ];
    suite::invalid_locators_are_rejected_with_a_reason(&participant, &wrong);
    let (writer, reader) = pair(&participant, &sized(100));
    let (of_writer, of_reader) = (writer.locator().expect("one"), reader.locator().expect("one"));
    assert!(of_reader.starts_with(&format!("shm:{}:", std::process::id())), "{of_reader}");
    assert!(of_writer.starts_with(&format!("shm:{}#", std::process::id())), "{of_writer}");
    assert_eq!(failed(writer.connect(&of_writer)).0, abi::BAD_ARGUMENT, "of the other end");
    assert_eq!(failed(reader.connect(&of_reader)).0, abi::BAD_ARGUMENT, "of the other end");
    let (status, text) = failed(reader.connect("shm:1073741823#1"));
    assert_eq!(status, abi::ERROR);
    assert!(text.starts_with("cannot find the process of writer `shm:1073741823#1`: "), "{text}");
}

#[test]
fn ends_can_be_connected_in_any_order() {
    let participant = open();
    for readers_first in [false, true] {
        let mut writer = participant.writer(&sized(100)).expect("a writer");
        let mut readers: Vec<_> =
            (0..3).map(|_| participant.reader(&sized(100)).expect("a reader")).collect();
        for of_reader in [readers_first, !readers_first] {
            for reader in &mut readers {
                if of_reader {
                    reader.connect(&writer.locator().expect("a locator")).expect("connected");
                    if readers_first {
                        assert_eq!(writer.matched(), Ok(0), "it does not know them yet");
                    }
                } else {
                    writer.connect(&reader.locator().expect("a locator")).expect("connected");
                }
            }
        }
        assert_eq!(writer.matched(), Ok(3));
        writer.write(b"to all").expect("written");
        for reader in &mut readers {
            assert_eq!(receive(reader, 1), [b"to all"]);
            assert_eq!(reader.matched(), Ok(1));
        }
    }
}

#[test]
fn reader_receives_from_all_writers_and_detects_those_that_close() {
    let participant = open();
    let mut reader = participant.reader(&sized(100)).expect("a reader");
    let mut writers: Vec<Writer> =
        (0..4).map(|_| participant.writer(&sized(100)).expect("a writer")).collect();
    for (index, writer) in writers.iter_mut().enumerate() {
        connect(writer, &reader);
        for number in 0..50 {
            writer.write(&[index as u8, number]).expect("written");
        }
    }
    assert_eq!(reader.matched(), Ok(4));
    let samples = receive(&mut reader, 200);
    for index in 0..4 {
        let of_one = samples.iter().filter(|sample| sample[0] == index).map(|sample| sample[1]);
        assert!(of_one.eq(0..50), "all of writer {index}, in their order");
    }
    for left in (0..4).rev() {
        let mut writer = writers.pop().expect("a writer");
        writer.write(b"last").expect("written");
        writer.close().expect("closed");
        assert_eq!(receive(&mut reader, 1), [b"last"], "accepted samples arrive");
        assert_unmatched(&mut reader, left, 5_000_000);
    }
    assert_eq!(reader.counters().get("malformed"), Some(0));
}

/// Receives until the reader is matched with `left` writers.
#[track_caller]
fn assert_unmatched(reader: &mut Reader, left: u32, timeout_ns: u64) {
    let begun = Instant::now();
    while reader.matched() != Ok(left) && begun.elapsed() < WAIT {
        assert_eq!(reader.receive(timeout_ns, 1, |_| {}), Ok(0));
    }
    assert_eq!(reader.matched(), Ok(left));
}

#[test]
fn one_of_several_writers_does_not_hold_up_the_others() {
    let participant = open();
    let mut reader = participant.reader(&sized(100)).expect("a reader");
    let mut writers: Vec<Writer> =
        (0..3).map(|_| participant.writer(&sized(100)).expect("a writer")).collect();
    for (index, writer) in writers.iter_mut().enumerate() {
        connect(writer, &reader);
        for _ in 0..100 {
            writer.write(&[index as u8]).expect("written");
        }
    }
    let mut first = Vec::new();
    for _ in 0..3 {
        assert_eq!(reader.receive(0, 1, |sample| first.push(sample[0])), Ok(1));
    }
    first.sort_unstable();
    assert_eq!(first, [0, 1, 2], "each has its turn");
}

#[test]
fn rings_are_used_again_after_their_writers() {
    let participant = open();
    let mut reader = participant.reader(&sized(100)).expect("a reader");
    for number in 0..600u16 {
        let mut writer = participant.writer(&sized(100)).expect("a writer");
        connect(&writer, &reader);
        writer.write(&number.to_le_bytes()).expect("written");
        drop(writer);
        assert_eq!(receive(&mut reader, 1), [number.to_le_bytes()]);
    }
    assert_unmatched(&mut reader, 0, 1_000_000);
}

#[test]
fn writer_that_ended_before_the_reader_was_connected_is_an_error() {
    let participant = open();
    let mut reader = participant.reader(&sized(100)).expect("a reader");
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    let locator = writer.locator().expect("a locator");
    writer.connect(&reader.locator().expect("a locator")).expect("connected");
    writer.write(b"x").expect("written");
    drop(writer);
    assert_eq!(receive(&mut reader, 1), [b"x"]);
    assert_eq!(reader.receive(1_000_000, 1, |_| {}), Ok(0));
    let (status, text) = failed(reader.connect(&locator));
    assert_eq!(status, abi::ERROR);
    assert!(text.contains("has ended; hint: "), "{text}");
    assert_eq!(reader.matched(), Ok(0));
}

#[test]
fn closed_reader_is_unmatched_and_another_one_may_join() {
    let participant = open();
    let (mut writer, reader) = pair(&participant, &patient(100));
    writer.write(b"x").expect("written");
    reader.close().expect("closed");
    assert_eq!(writer.matched(), Ok(0));
    for _ in 0..100_000 {
        assert_eq!(writer.write_status(&[0; 100]), abi::OK);
    }
    assert_eq!(writer.counters().get("write_blocked"), Some(0));
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true), "no reader has to acknowledge");
    let mut late = participant.reader(&sized(100)).expect("a reader");
    connect(&writer, &late);
    writer.write(b"for the late one").expect("written");
    assert_eq!(receive(&mut late, 1), [b"for the late one"]);
    assert_eq!(writer.matched(), Ok(1));
}

#[test]
fn close_of_the_reader_ends_the_wait_of_a_write() {
    let participant = open();
    let (mut writer, reader) = pair(&participant, &patient(1_000_000));
    let sample = pattern(1_000_000, 1);
    let write = thread::spawn(move || {
        for _ in 0..20 {
            writer.write(&sample).expect("accepted");
        }
        assert_eq!(writer.matched(), Ok(0));
        assert!(writer.counters().get("write_blocked") > Some(0));
    });
    thread::sleep(Duration::from_millis(100));
    reader.close().expect("closed");
    write.join().expect("it ended");
}

#[test]
fn listener_closes_while_samples_arrive() {
    let participant = open();
    for _ in 0..20 {
        let mut writer = participant.writer(&patient(100)).expect("a writer");
        let reader = participant.listener(&sized(100), |_| {}).expect("a listener");
        connect(&writer, &reader.monitor());
        let write = thread::spawn(move || (0..20_000).all(|_| writer.write_status(&[0; 100]) == abi::OK));
        thread::sleep(Duration::from_millis(1));
        let begun = Instant::now();
        drop(reader.close().expect("closed"));
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        assert!(write.join().expect("it ended"));
    }
}

/// Environment variable with the locator of the first process's endpoint, in the second process.
const PEER: &str = "DDSMARK_SHM_TEST_PEER";

/// Second process with an endpoint, which is killed when the value is dropped.
struct Peer {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Peer {
    /// Starts one of the roles below.
    fn start(role: &str, locator: &str) -> Self {
        // builds the library before the other process needs it
        driver();
        let mut process = Command::new(env::current_exe().expect("a path"))
            .args(["--exact", role, "--ignored", "--nocapture"])
            .env(PEER, locator)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        Self { process, input, output }
    }

    /// Returns the rest of the next line with this beginning.
    fn said(&mut self, what: &str) -> String {
        self.output
            .by_ref()
            .map(|line| line.expect("text"))
            .find_map(|line| line.split_once(what).map(|(_, rest)| rest.trim().to_owned()))
            .expect("the process answers")
    }

    fn tell(&mut self, what: &str) {
        writeln!(self.input, "{what}").expect("it lives");
    }
}

fn line() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    line.trim().to_owned()
}

#[test]
#[ignore = "the second process of other tests"]
fn role_reader() {
    let mut reader = open().reader(&patient(100_000)).expect("a reader");
    reader.connect(&env::var(PEER).expect("a locator")).expect("connected");
    println!("locator {}", reader.locator().expect("a locator"));
    line();
    assert_eq!(receive(&mut reader, 1), [b"first"]);
    println!("received");
    // until it is killed
    line();
}

#[test]
#[ignore = "the second process of other tests"]
fn role_writer() {
    let mut writer = open().writer(&sized(100)).expect("a writer");
    println!("locator {}", writer.locator().expect("a locator"));
    writer.connect(&env::var(PEER).expect("a locator")).expect("connected");
    line();
    for number in 0..100 {
        writer.write(&[number]).expect("written");
    }
    println!("written");
    line();
}

#[test]
fn killed_reader_is_unmatched_and_ends_the_wait_of_a_write() {
    let participant = open();
    let mut writer = participant.writer(&patient(100_000)).expect("a writer");
    let mut peer = Peer::start("role_reader", &writer.locator().expect("a locator"));
    writer.connect(&peer.said("locator ")).expect("connected");
    assert_eq!(writer.matched(), Ok(1));
    writer.write(b"first").expect("written");
    peer.tell("go on");
    peer.said("received");
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    let sample = pattern(100_000, 1);
    let write = thread::spawn(move || {
        for _ in 0..20 {
            assert_eq!(writer.write_status(&sample), abi::OK);
        }
        writer
    });
    thread::sleep(Duration::from_millis(100));
    assert!(!write.is_finished(), "the ring holds ten of them");
    drop(peer);
    let mut writer = write.join().expect("it ended");
    assert_eq!(writer.matched(), Ok(0));
    assert!(writer.match_state().expect("a state").changed_ns.is_some());
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
}

#[test]
fn killed_reader_is_detected_without_a_write() {
    let participant = open();
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    let mut peer = Peer::start("role_reader", &writer.locator().expect("a locator"));
    writer.connect(&peer.said("locator ")).expect("connected");
    assert_eq!(writer.matched(), Ok(1));
    drop(peer);
    assert_eq!(writer.matched(), Ok(0));
    assert_eq!(writer.write_status(b"into the void"), abi::OK);
    assert_eq!(writer.counters().get("packets_sent"), Some(0));
}

#[test]
fn samples_of_a_killed_writer_arrive_and_its_ring_is_free_again() {
    for timeout_ns in [10_000_000, 1_000_000_000, 0] {
        let participant = open();
        let mut reader = participant.reader(&sized(100)).expect("a reader");
        let mut peer = Peer::start("role_writer", &reader.locator().expect("a locator"));
        reader.connect(&peer.said("locator ")).expect("connected");
        peer.tell("go on");
        peer.said("written");
        drop(peer);
        let expected: Vec<_> = (0..100).map(|number| vec![number]).collect();
        assert_eq!(receive(&mut reader, 100), expected);
        assert_unmatched(&mut reader, 0, timeout_ns);
        assert_eq!(reader.counters().get("malformed"), Some(0));
        let mut writer = participant.writer(&sized(100)).expect("a writer");
        connect(&writer, &reader);
        writer.write(b"of another one").expect("written");
        assert_eq!(receive(&mut reader, 1), [b"of another one"]);
    }
}

#[test]
fn peer_in_another_network_namespace_is_rejected() {
    let mut isolated = Command::new("unshare");
    isolated.args(["--net", "sleep", "100"]);
    let mut child = match isolated.spawn() {
        Ok(child) => child,
        Err(error) => return eprintln!("not tested: cannot start `unshare`: {error}"),
    };
    let name = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let begun = Instant::now();
    let mut is_isolated = false;
    while !is_isolated && matches!(child.try_wait(), Ok(None)) && begun.elapsed() < WAIT {
        is_isolated = name(&child.id().to_string()) != name("self");
        thread::sleep(Duration::from_millis(1));
    }
    let participant = open();
    let reader = participant.reader(&sized(100)).expect("a reader");
    let writer = participant.writer(&sized(100)).expect("a writer");
    let outcomes = [
        reader.connect(&format!("shm:{}#1", child.id())),
        writer.connect(&format!("shm:{}:3:4", child.id())),
    ];
    let _ = child.kill();
    let _ = child.wait();
    if !is_isolated {
        return eprintln!("not tested: no permission for a network namespace");
    }
    for outcome in outcomes {
        let (status, text) = failed(outcome);
        assert_eq!(status, abi::ERROR);
        assert!(
            text.contains("is in another network namespace, as on another host; hint: use a driver"),
            "{text}"
        );
    }
}
