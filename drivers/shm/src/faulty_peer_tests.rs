//! Tests with peers that do not keep to the layout: memories that are none, and writers that write garbage.
#![allow(unsafe_code)]
use std::{
    fs::File,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    process::id,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use driver_kit::{History, Qos, QosDuration, Reliability, abi};
use driver_testing::{
    EndpointSpec, Participant, ParticipantSpec, Reader, own_driver,
    shipped::{WAIT, WAIT_NS, connect, failed, pair, receive, sized},
};
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};

use crate::{
    layout::{Control, DATA_OFFSET, MIN_CAPACITY, RECORD_HEADER},
    locator::{ReaderLocator, WriterId},
    ring::Producer,
    segment::Segment,
};

fn open() -> Participant {
    // SAFETY: the driver of this crate.
    let driver = unsafe { own_driver(crate::ddsmark_driver_entry) };
    driver_testing::open(&driver, ParticipantSpec::default()).expect("open")
}

/// Returns the text of the error when a writer is connected to this memory.
#[track_caller]
fn rejected(locator: &str) -> String {
    let writer = open().writer(&sized(100)).expect("a writer");
    let (status, text) = failed(writer.connect(locator));
    assert_eq!((status, writer.matched()), (abi::ERROR, Ok(0)), "{text}");
    assert!(text.contains("; hint: open "), "{text}");
    text
}

fn locator_of(file: &File) -> String {
    let inode = file.metadata().expect("metadata").ino();
    ReaderLocator { pid: id(), descriptor: file.as_raw_fd().cast_unsigned(), inode }.to_string()
}

/// Returns a memfd of this size, with these seals.
fn memfd(bytes: u64, seals: SealFlag) -> File {
    let descriptor = memfd_create("forged", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING);
    let file = File::from(descriptor.expect("a memfd"));
    file.set_len(bytes).expect("sized");
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals)).expect("sealed");
    file
}

#[test]
fn processes_and_descriptors_that_do_not_exist_are_explained() {
    let reader = open().reader(&sized(100)).expect("a reader");
    let locator: ReaderLocator = reader.locator().expect("a locator").parse().expect("a locator");
    let no_process = ReaderLocator { pid: (1 << 30) - 1, ..locator };
    let text = rejected(&no_process.to_string());
    assert!(text.contains(&format!("process of reader `{no_process}`: pidfd_open() failed: ")), "{text}");
    let no_descriptor = ReaderLocator { descriptor: 1 << 20, ..locator };
    let text = rejected(&no_descriptor.to_string());
    assert!(text.contains(&format!("memory of reader `{no_descriptor}`: stat() failed: ")), "{text}");
    let text = rejected(&ReaderLocator { inode: locator.inode + 1, ..locator }.to_string());
    assert!(text.contains("is not the memory of reader") && text.contains(": another inode"), "{text}");
}

#[test]
fn files_that_are_no_memory_of_a_reader_are_rejected() {
    let sealed = SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK;
    let program = File::open("/proc/self/exe").expect("a file");
    let directory = File::open("/proc").expect("a directory");
    for (file, reason) in [
        (directory, ": another inode"),
        (memfd(1 << 20, SealFlag::F_SEAL_GROW), ": its size is not sealed"),
        (memfd(1 << 20, SealFlag::F_SEAL_SHRINK), ": its size is not sealed"),
        (memfd(DATA_OFFSET as u64 - 1, sealed), ": too small"),
        (memfd(DATA_OFFSET as u64, sealed), ": no header"),
        (memfd(0, sealed), ": too small"),
    ] {
        let text = rejected(&locator_of(&file));
        assert!(text.contains(reason), "{text}");
    }
    // an ordinary file: cannot be written, or is not sealed
    rejected(&locator_of(&program));
}

#[test]
fn headers_of_another_version_or_size_are_rejected() {
    type Fault = fn(&Control);
    let faults: [(Fault, &str); 8] = [
        (|control| control.shape.magic.store(1, Ordering::Relaxed), ": no header"),
        (|control| control.shape.version.store(2, Ordering::Relaxed), ": another version"),
        (|control| control.shape.rings.store(1 << 31, Ordering::Relaxed), ": another version"),
        (|control| control.shape.capacity.store(0, Ordering::Relaxed), ": invalid size"),
        (|control| control.shape.capacity.store(MIN_CAPACITY + 1, Ordering::Relaxed), ": invalid size"),
        (|control| control.shape.capacity.store(2 * MIN_CAPACITY, Ordering::Relaxed), ": invalid size"),
        (|control| control.shape.max_payload.store(u64::MAX, Ordering::Relaxed), ": invalid maximum payload"),
        (
            |control| control.shape.max_payload.store(MIN_CAPACITY, Ordering::Relaxed),
            ": invalid maximum payload",
        ),
    ];
    for (fault, reason) in faults {
        let segment = Segment::create("faulty", MIN_CAPACITY, 1000).expect("a memory");
        fault(segment.control());
        let text = rejected(&segment.locator().to_string());
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn size_of_a_memory_cannot_be_changed() {
    let segment = Segment::create("sealed", MIN_CAPACITY, 1000).expect("a memory");
    let file = segment.file();
    let size = file.metadata().expect("metadata").len();
    for bytes in [0, size - 1, size + 1] {
        assert!(file.set_len(bytes).is_err(), "{bytes}");
    }
}

/// Receives until no writer is matched. Returns the payloads.
fn received_until_cut_off(reader: &mut Reader) -> Vec<Vec<u8>> {
    let (mut samples, begun) = (Vec::new(), Instant::now());
    while reader.matched() != Ok(0) && begun.elapsed() < WAIT {
        reader.receive(5_000_000, 10, |sample| samples.push(sample.to_vec())).expect("received");
    }
    assert_eq!(reader.matched(), Ok(0));
    samples
}

#[test]
fn garbage_gives_nothing_and_ends_the_match_with_its_writer() {
    let record = |size: u64, bytes: &[u8]| [&size.to_le_bytes()[..], bytes].concat();
    let good = record(2, b"ok\0\0\0\0\0\0");
    for (bytes, head, expected) in [
        // longer than any sample of the reader
        (record(101, &[7; 104]), 112, 0),
        (record(u64::MAX, b"garbage"), 16, 0),
        (record(u64::MAX - 7, b"garbage"), 16, 0),
        // longer than what is published
        (record(9, b"12345678"), 16, 0),
        ([good.as_slice(), b"\x20\0\0\0\0\0\0\0cut off!"].concat(), 32, 1),
        // half a header
        ([good.as_slice(), b"\x02\0\0\0"].concat(), 20, 1),
        // more than the ring holds, and less than nothing
        (good.clone(), (1 << 20) + 8, 0),
        (good.clone(), u64::MAX, 0),
    ] {
        let participant = open();
        let mut reader = participant.reader(&sized(100)).expect("a reader");
        let locator: ReaderLocator = reader.locator().expect("a locator").parse().expect("a locator");
        let segment = Arc::new(Segment::attach(&locator).expect("its memory"));
        let id = WriterId::next();
        let producer = Producer::claim(&segment, id).expect("a ring");
        reader.connect(&id.to_string()).expect("connected");
        assert_eq!(reader.matched(), Ok(1));
        segment.map_ring(0, true).expect("its bytes").write(0, &bytes);
        segment.control().rings[0].head.store(head, Ordering::Release);
        assert_eq!(received_until_cut_off(&mut reader), vec![b"ok".to_vec(); expected], "{bytes:?}");
        assert_eq!(reader.counters().get("malformed"), Some(1));
        assert!(reader.counters().get("bytes_discarded") >= Some(4));
        // Other writers are not affected, and the ring is free again after its writer has ended.
        let mut writer = participant.writer(&sized(100)).expect("a writer");
        connect(&writer, &reader);
        drop(producer);
        writer.write(b"of another writer").expect("written");
        assert_eq!(receive(&mut reader, 1), [b"of another writer"]);
        assert_eq!((reader.receive(0, 1, |_| {}), reader.matched()), (Ok(0), Ok(1)));
        let again = Producer::claim(&segment, WriterId::next()).expect("a ring");
        assert_ne!(segment.control().rings[0].claim.owner.load(Ordering::Relaxed), id.bits());
        drop(again);
    }
}

#[test]
fn garbage_of_one_writer_does_not_keep_old_samples_of_another() {
    let qos = Qos { history: Some(History::KeepLast), history_depth: Some(2), ..Qos::default() };
    let participant = open();
    let spec = EndpointSpec { qos, ..sized(100) };
    let (mut writer, mut reader) = pair(&participant, &spec);
    let locator: ReaderLocator = reader.locator().expect("a locator").parse().expect("a locator");
    let segment = Arc::new(Segment::attach(&locator).expect("its memory"));
    let producer = Producer::claim(&segment, WriterId::next()).expect("a ring");
    segment.control().rings[1].head.store(u64::MAX, Ordering::Release);
    for number in 0..10 {
        writer.write(&[number]).expect("written");
    }
    assert_eq!(receive(&mut reader, 2), [[8], [9]]);
    assert_eq!(reader.receive(0, 1, |_| {}), Ok(0));
    assert_eq!(reader.counters().get("malformed"), Some(1));
    drop(producer);
}

#[test]
fn record_that_changes_after_it_was_published_stays_within_its_ring() {
    let mut reader = open().reader(&sized(1000)).expect("a reader");
    let locator: ReaderLocator = reader.locator().expect("a locator").parse().expect("a locator");
    let segment = Arc::new(Segment::attach(&locator).expect("its memory"));
    let mut producer = Producer::claim(&segment, WriterId::next()).expect("a ring");
    let mut ring = segment.map_ring(0, true).expect("its bytes");
    for _ in 0..2 {
        producer.push(&[1; 100]);
    }
    producer.publish();
    let mut sizes = Vec::new();
    let taken = reader.receive(WAIT_NS, 10, |sample| {
        // the length of the next record grows
        ring.write((RECORD_HEADER + 104) as u64, &999u64.to_le_bytes());
        sizes.push(sample.len());
    });
    assert_eq!((taken, sizes), (Ok(1), vec![100]));
    assert_eq!(reader.counters().get("malformed"), Some(1));
}

#[test]
fn reader_whose_ring_stays_full_times_out() {
    let segment = Segment::create("asleep", MIN_CAPACITY, 1000).expect("a memory");
    let qos = Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::Ns(30_000_000)),
        ..Qos::default()
    };
    let participant = open();
    let mut writer = participant.writer(&EndpointSpec { qos, ..sized(1000) }).expect("a writer");
    writer.connect(&segment.locator().to_string()).expect("connected");
    while writer.write_status(&[1; 1000]) == abi::OK {}
    let begun = Instant::now();
    assert_eq!(writer.write_status(&[1; 1000]), abi::TIMED_OUT);
    assert!((30..5_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    // a position that no reader can have
    segment.control().rings[0].tail.position.store(u64::MAX, Ordering::Release);
    assert_eq!(writer.write_status(&[1; 1000]), abi::TIMED_OUT);
    segment.control().close();
    assert_eq!(writer.write_status(&[1; 1000]), abi::OK, "a closed reader needs no room");
    assert_eq!(writer.matched(), Ok(0));
}
