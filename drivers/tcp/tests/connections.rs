//! Tests of connections: which ones are accepted, and the handling of peers that disconnect or are not writers or
//! readers. The peers are sockets of the standard library.
mod harness;

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Instant,
};

use driver_kit::{Qos, QosDuration, Reliability, abi};
use driver_testing::{EndpointSpec, Reader, Writer, suite};
use harness::*;

fn address(locator: &str) -> SocketAddr {
    locator.split_once(':').and_then(|(_, address)| address.parse().ok()).expect("an address")
}

/// Waits until the peer has closed the connection.
fn assert_closed(mut stream: &TcpStream) {
    stream.set_read_timeout(Some(WAIT)).expect("a limit");
    let mut rest = Vec::new();
    // a reset is also an end
    let end = stream.read_to_end(&mut rest);
    assert!(
        end.as_ref().map_or_else(|error| error.kind() != std::io::ErrorKind::WouldBlock, |_| true),
        "{end:?}"
    );
    assert!(rest.is_empty(), "who is cut off is sent nothing: {rest:?}");
}

#[test]
fn locators_are_texts_and_wrong_ones_are_explained() {
    let participant = open("tcp4");
    let wrong = [
        ("", "is not a locator"),
        ("udp4:127.0.0.1:1", "is not a locator"),
        ("tcp4:127.0.0.1:0", "is not the address of one socket"),
        ("tcp6:[::1]:5", "cannot be reached over transport `tcp4`"),
    ];
    suite::invalid_locators_are_rejected_with_a_reason(&participant, &wrong);
    // a writer that no longer exists
    let reader = participant.reader(&sized(10)).expect("a reader");
    let gone = participant.writer(&sized(10)).expect("a writer").locator().expect("a locator");
    let (status, text) = failed(reader.connect(&gone));
    assert_eq!(status, abi::ERROR);
    assert!(
        text.contains(&format!("with `{gone}`: connect() failed: "))
            && text.contains("; hint: open the writer first"),
        "{text}"
    );
    assert_eq!(reader.matched(), Ok(0));
}

#[test]
fn both_ends_may_be_told_of_the_other_in_any_order() {
    let participant = open("tcp4");
    for readers_first in [false, true] {
        let mut writer = participant.writer(&sized(100)).expect("a writer");
        let mut readers: Vec<_> =
            (0..3).map(|_| participant.reader(&sized(100)).expect("a reader")).collect();
        for told in [readers_first, !readers_first] {
            for reader in &mut readers {
                if told {
                    reader.connect(&writer.locator().expect("a locator")).expect("connected");
                    if readers_first {
                        assert_eq!(writer.matched(), Ok(0), "it was not told of them");
                    }
                } else {
                    writer.connect(&reader.locator().expect("a locator")).expect("connected");
                    writer.write(b"early").expect("accepted");
                }
            }
        }
        assert_eq!(writer.matched(), Ok(3));
        writer.write(b"to all").expect("written");
        for reader in &mut readers {
            let mut last = Vec::new();
            let begun = Instant::now();
            while last != b"to all" && begun.elapsed() < WAIT {
                last = receive(reader, 1).pop().expect("a sample");
            }
            assert_eq!(last, b"to all");
        }
    }
}

#[test]
fn a_reader_hears_all_its_writers_and_notices_those_that_go() {
    let participant = open("tcp4");
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
        let of_one: Vec<u8> =
            samples.iter().filter(|sample| sample[0] == index).map(|sample| sample[1]).collect();
        assert!(of_one.iter().copied().eq(0..50), "all of writer {index}, in their order");
    }
    for left in (0..4).rev() {
        let mut writer = writers.pop().expect("a writer");
        writer.write(b"last").expect("written");
        writer.close().expect("closed");
        assert_eq!(receive(&mut reader, 1), [b"last"], "what was accepted comes");
        let begun = Instant::now();
        while reader.matched() != Ok(left) && begun.elapsed() < WAIT {
            assert_eq!(reader.receive(5_000_000, 1, |_| {}), Ok(0));
        }
        assert_eq!(reader.matched(), Ok(left));
    }
    assert_eq!(reader.counters().get("malformed"), Some(0), "who goes in good order leaves nothing");
}

#[test]
fn a_reader_that_goes_is_matched_no_more_and_another_may_come_late() {
    let participant = open("tcp4");
    let (mut writer, reader) = pair(&participant, &sized(100));
    writer.write(b"x").expect("written");
    reader.close().expect("closed");
    assert_eq!(writer.matched(), Ok(0));
    for _ in 0..10 {
        writer.write(b"into the void").expect("accepted");
    }
    assert_eq!(writer.counters().get("write_refused"), Some(0));
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true), "no reader has to acknowledge");
    let mut late = participant.reader(&sized(100)).expect("a reader");
    connect(&writer, &late);
    writer.write(b"for the late one").expect("written");
    assert_eq!(receive(&mut late, 1), [b"for the late one"]);
    assert_eq!(writer.matched(), Ok(1));
}

#[test]
fn a_reader_that_goes_while_a_write_waits_for_it_ends_the_wait() {
    let participant = open("tcp4");
    let qos = Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::INFINITE),
        ..Qos::default()
    };
    let entity = EndpointSpec { qos, ..sized(11_000_000) };
    let (mut writer, reader) = pair(&participant, &entity);
    let write = thread::spawn(move || {
        for _ in 0..5 {
            writer.write(&pattern(11_000_000, 1)).expect("accepted");
        }
        assert_eq!(writer.matched(), Ok(0));
    });
    thread::sleep(std::time::Duration::from_millis(100));
    reader.close().expect("closed");
    write.join().expect("it ended");
}

#[test]
fn strangers_are_no_readers_and_are_cut_off_when_they_say_anything() {
    let participant = open("tcp4");
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    let door = address(&writer.locator().expect("a locator"));
    let mut strangers: Vec<_> = (0..3).map(|_| TcpStream::connect(door).expect("connected")).collect();
    let mut reader = participant.reader(&sized(100)).expect("a reader");
    connect(&writer, &reader);
    assert_eq!(writer.matched(), Ok(1), "the reader, and no stranger");
    writer.write(b"for the reader").expect("written");
    for stranger in &mut strangers {
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("said");
    }
    assert_eq!(receive(&mut reader, 1), [b"for the reader"]);
    let begun = Instant::now();
    let mut closed = 0;
    while closed < strangers.len() && begun.elapsed() < WAIT {
        assert_eq!(writer.matched(), Ok(1));
        closed = strangers
            .iter()
            .filter(|stranger| {
                stranger.set_nonblocking(true).expect("set");
                !matches!((&**stranger).read(&mut [0; 1]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
            })
            .count();
    }
    assert_eq!(closed, strangers.len());
}

/// Returns a reader, and a socket that it takes for a writer.
fn deceived(entity: &EndpointSpec) -> (Reader, TcpStream, driver_testing::Participant) {
    let participant = open("tcp4");
    let reader = participant.reader(entity).expect("a reader");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let locator = format!("tcp4:{}", listener.local_addr().expect("an address"));
    reader.connect(&locator).expect("connected");
    assert_eq!(reader.matched(), Ok(1));
    let (stream, from) = listener.accept().expect("it calls");
    assert_eq!(from, address(&reader.locator().expect("a locator")), "from where its locator says");
    (reader, stream, participant)
}

#[test]
fn garbage_gives_nothing_and_ends_the_connection() {
    let long = [b"ddsmark1".as_slice(), &[101, 0, 0, 0], &[7; 101]].concat();
    let gigabytes = [b"ddsmark1\x02\0\0\0ok".as_slice(), b"\xff\xff\xff\xff garbage"].concat();
    let cut_short = [b"ddsmark1\x02\0\0\0ok".as_slice(), b"\x05\0\0\0cut"].concat();
    for (bytes, whole) in [
        (b"SSH-2.0-OpenSSH_9.2\r\n".as_slice(), 0),
        (b"\x04\0\0\0data".as_slice(), 0),
        (long.as_slice(), 0),
        (gigabytes.as_slice(), 1),
        (cut_short.as_slice(), 1),
    ] {
        let (mut reader, mut stream, _participant) = deceived(&sized(100));
        stream.write_all(bytes).expect("sent");
        if bytes == cut_short {
            stream.shutdown(std::net::Shutdown::Write).expect("closed");
        }
        let begun = Instant::now();
        let mut given = 0;
        while reader.matched() != Ok(0) && begun.elapsed() < WAIT {
            given += reader.receive(5_000_000, 10, |sample| assert_eq!(sample, b"ok")).expect("received");
        }
        assert_eq!((given, reader.matched()), (whole, Ok(0)));
        assert_eq!(reader.counters().get("malformed"), Some(1));
        assert!(reader.counters().get("bytes_discarded") > Some(0));
        assert_closed(&stream);
    }
}

#[test]
fn a_stream_is_cut_into_samples_wherever_its_segments_end() {
    let (mut reader, mut stream, _participant) = deceived(&sized(100));
    stream.set_nodelay(true).expect("set");
    let mut bytes = b"ddsmark1".to_vec();
    let expected: Vec<_> = (0..5).map(|seed| pattern(10 * usize::from(seed), seed)).collect();
    for sample in &expected {
        bytes.extend_from_slice(&(sample.len() as u32).to_le_bytes());
        bytes.extend_from_slice(sample);
    }
    let mut samples = Vec::new();
    for byte in bytes {
        stream.write_all(&[byte]).expect("sent");
        reader.receive(0, 10, |sample| samples.push(sample.to_vec())).expect("received");
    }
    let left = expected.len() - samples.len();
    samples.extend(receive(&mut reader, left));
    assert_eq!(samples, expected);
}
