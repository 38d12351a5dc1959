//! Tests, besides the conformance cases, for every driver whose entities are matched by locators. Samples have at most
//! 100 bytes. All samples must arrive, so only a few are in flight at a time.
use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use driver_abi as abi;
use driver_host::Monitor;

use super::{
    EndpointSpec, Participant,
    shipped::{WAIT, WAIT_NS, connect, failed, pair, pattern, receive, sized},
};
use crate::allocator::allocations;

/// Asserts that `receive` without data waits for the whole timeout, and without a timeout until there is data.
///
/// # Panics
/// Panics if it does not.
pub fn receive_waits_for_its_whole_timeout(participant: &Participant) {
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    let mut reader = participant.reader(&sized(100)).expect("a reader");
    for connected in [false, true] {
        if connected {
            connect(&writer, &reader);
        }
        for timeout_ms in [5, 30, 5, 30, 30] {
            let begun = Instant::now();
            assert_eq!(reader.receive(timeout_ms * 1_000_000, 1, |_| {}), Ok(0));
            assert!(begun.elapsed() >= Duration::from_millis(timeout_ms), "{:?}", begun.elapsed());
        }
    }
    let late = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        writer.write(b"late").expect("written");
        writer
    });
    let mut seen = Vec::new();
    let begun = Instant::now();
    while seen.is_empty() && begun.elapsed() < WAIT {
        reader
            .receive(abi::DURATION_INFINITE, 1, |payload| seen.extend_from_slice(payload))
            .expect("received");
    }
    assert_eq!(seen, b"late");
    late.join().expect("joined");
}

/// Asserts that a listener receives the samples of batches.
///
/// # Panics
/// Panics if it does not.
pub fn listener_receives_samples_of_batches(participant: &Participant) {
    let entity = EndpointSpec { batch_bytes: 300, ..sized(100) };
    let (send, received) = mpsc::channel();
    let mut writer = participant.writer(&entity).expect("a writer");
    let reader = participant
        .listener(&entity, move |payload| send.send(payload.to_vec()).expect("sent"))
        .expect("a listener");
    connect(&writer, &reader.monitor());
    let sent: Vec<_> = (0..3).map(|seed| pattern(100, seed)).collect();
    for sample in &sent {
        writer.write(sample).expect("written");
    }
    writer.flush().expect("flushed");
    for sample in sent {
        assert_eq!(received.recv_timeout(WAIT), Ok(sample));
    }
    drop(reader.close().expect("closed"));
}

/// Asserts that the sink of a listener can write.
///
/// # Panics
/// Panics if it cannot.
pub fn listener_can_echo(participant: &Participant) {
    let mut ping = participant.writer(&sized(100)).expect("a writer");
    let mut pong = participant.reader(&sized(100)).expect("a reader");
    let mut echo = participant.writer(&sized(100)).expect("a writer");
    connect(&echo, &pong);
    let mirror = participant
        .listener(&sized(100), move |payload| {
            echo.write(payload).expect("echoed");
            echo.flush().expect("flushed");
        })
        .expect("a listener");
    connect(&ping, &mirror.monitor());
    for seed in 0..100 {
        let sent = pattern(100, seed);
        ping.write(&sent).expect("written");
        assert_eq!(receive(&mut pong, 1), [sent]);
    }
    drop(mirror.close().expect("closed"));
}

/// Asserts that each of several readers gets every sample since it was connected, and is counted once.
///
/// # Panics
/// Panics if it does not.
pub fn several_readers_receive_every_sample(participant: &Participant) {
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    let mut readers: Vec<_> = (0..3).map(|_| participant.reader(&sized(100)).expect("a reader")).collect();
    writer.write(b"no reader").expect("accepted");
    assert_eq!(writer.counters().get("packets_sent"), Some(0));
    for (index, reader) in readers.iter_mut().enumerate() {
        connect(&writer, reader);
        connect(&writer, reader);
        assert_eq!((writer.matched(), reader.matched()), (Ok(index as u32 + 1), Ok(1)), "each counts once");
        writer.write(&[index as u8]).expect("written");
    }
    for (index, reader) in readers.iter_mut().enumerate() {
        let expected: Vec<_> = (index as u8..3).map(|value| vec![value]).collect();
        assert_eq!(receive(reader, 3 - index), expected);
    }
    assert_eq!(writer.counters().get("packets_sent"), Some(1 + 2 + 3));
}

/// Asserts that counters can be read while another thread writes, and never decrease.
///
/// # Panics
/// Panics if they cannot be read, or decrease.
pub fn counters_can_be_read_while_another_thread_writes(participant: &Participant) {
    let (mut writer, mut reader) = pair(participant, &sized(100));
    let monitor = Monitor::clone(&writer);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut last = 0;
            for _ in 0..1000 {
                let sent = monitor.counters().expect("counters")["packets_sent"];
                assert!(sent >= last);
                last = sent;
            }
        });
        for _ in 0..1000 {
            writer.write(b"busy").expect("written");
            assert_eq!(receive(&mut reader, 1), [b"busy"]);
        }
    });
}

/// Asserts that each of these texts is rejected as a locator with the given reason, and connects nothing.
///
/// # Panics
/// Panics if one is accepted, or the reason is missing.
pub fn invalid_locators_are_rejected_with_a_reason(participant: &Participant, texts: &[(&str, &str)]) {
    let (writer, reader) = pair(participant, &sized(100));
    for (text, reason) in texts {
        for (status, error) in [failed(writer.connect(text)), failed(reader.connect(text))] {
            assert_eq!(status, abi::BAD_ARGUMENT);
            assert!(error.contains(reason) && error.contains("; hint: "), "{error}");
        }
    }
    assert_eq!((writer.matched(), reader.matched()), (Ok(1), Ok(1)), "a failure connects nothing");
}

/// Asserts that no memory is allocated per sample, alone or in a batch, with one reader or two. For a test within
/// the crate, whose global allocator is [`CountingAllocator`](super::CountingAllocator): allocations of a loaded
/// library cannot be counted from outside.
///
/// # Panics
/// Panics if memory is allocated.
pub fn samples_cause_no_allocation(participant: &Participant) {
    for batch_bytes in [0, 1000] {
        for readers in [1, 2] {
            let entity = EndpointSpec { max_payload_bytes: 1000, batch_bytes, ..EndpointSpec::default() };
            let mut writer = participant.writer(&entity).expect("a writer");
            let mut all: Vec<_> = (0..readers).map(|_| participant.reader(&entity).expect("open")).collect();
            for reader in &mut all {
                connect(&writer, reader);
            }
            let mut bytes = 0;
            let mut before = 0;
            for round in 0..200 {
                if round == 1 {
                    // memory for peers is allocated by now
                    before = allocations();
                }
                for _ in 0..5 {
                    assert_eq!(writer.write_status(&[7; 200]), abi::OK);
                }
                writer.flush().expect("flushed");
                for reader in &mut all {
                    let (mut seen, mut calls) = (0, 0);
                    while seen < 5 && calls < 100 {
                        seen +=
                            reader.receive(WAIT_NS, 10, |payload| bytes += payload.len()).expect("received");
                        calls += 1;
                    }
                    assert_eq!(reader.receive(0, 10, |_| {}), Ok(0));
                }
            }
            assert_eq!(allocations() - before, 0, "batch of {batch_bytes}, {readers} readers");
            assert_eq!(bytes, 200 * 5 * 200 * readers);
        }
    }
}
