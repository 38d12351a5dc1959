//! Tests of the driver through the C table, with writer and reader in this process.
mod harness;

use std::{thread, time::Duration};

use driver_kit::{Durability, History, Qos, QosDuration, ReceiveMode, Reliability, TypeKind, abi};
use driver_testing::{EndpointSpec, ParticipantSpec, Settings, suite, value_of};
use harness::*;

fn asks(qos: Qos) -> EndpointSpec {
    EndpointSpec { qos, ..sized(1000) }
}

fn reliable() -> Qos {
    Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::Ns(5_000_000)),
        ..Qos::default()
    }
}

#[test]
fn description_is_that_of_the_driver() {
    let description = driver().description();
    assert_eq!(description.name, "shm");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    assert_eq!(description.middleware_version, kernel.trim());
    assert_eq!(description.type_kinds, ["octets"]);
    assert_eq!(description.receive_modes, ReceiveMode::ALL);
    assert_eq!(description.features, ["locators", "application_batching", "wait_acked", "echo_in_listener"]);
    let rows: Vec<_> =
        description.transports.iter().map(|row| (row.name.as_str(), row.max_payload_bytes)).collect();
    assert_eq!(rows, [("shm", 256 << 20)]);
    assert_exports_the_entry_only(driver().path());
}

#[test]
fn driver_does_what_every_driver_does_that_is_matched_by_locators() {
    let participant = open();
    suite::receive_waits_for_its_whole_timeout(&participant);
    suite::listener_receives_samples_of_batches(&participant);
    suite::listener_can_echo(&participant);
    suite::several_readers_receive_every_sample(&participant);
    suite::counters_can_be_read_while_another_thread_writes(&participant);
}

#[test]
fn content_arrives_whole_at_every_size() {
    let participant = open();
    let qos = Qos { max_blocking_ns: Some(QosDuration::Ns(WAIT_NS)), ..reliable() };
    let entity = EndpointSpec { max_payload_bytes: 11_000_000, qos, ..EndpointSpec::default() };
    let (mut writer, mut reader) = pair(&participant, &entity);
    let mut sizes = vec![0, 1, 7, 8, 9, 16, 1472, 65_536, 200_000, 11_000_000, 100];
    // several times around the ring
    sizes.extend([11_000_000; 16]);
    let sent: Vec<_> = sizes.iter().enumerate().map(|(seed, size)| pattern(*size, seed as u8)).collect();
    let expected = sent.clone();
    let write = thread::spawn(move || {
        for sample in &sent {
            writer.write(sample).expect("written");
        }
        assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
        writer
    });
    thread::sleep(Duration::from_millis(100));
    assert!(receive(&mut reader, expected.len()) == expected);
    let (out, back) = (write.join().expect("no panic").counters(), reader.counters());
    let bytes = sizes.iter().sum::<usize>() as u64;
    assert_eq!(out.get("bytes_sent"), Some(bytes), "payloads only");
    assert_eq!(back.get("bytes_received"), Some(bytes));
    assert_eq!(out.get("packets_sent"), Some(sizes.len() as u64));
    assert_eq!(back.get("packets_received"), Some(sizes.len() as u64));
    assert!(out.get("write_blocked") > Some(0), "more than the ring holds");
    assert!(out.get("write_blocked_ns") > Some(0));
    assert_eq!(back.get("malformed"), Some(0));
    for unknown in ["retransmitted", "samples_lost"] {
        assert_eq!((out.get(unknown), back.get(unknown)), (None, None));
    }
}

#[test]
fn largest_payload_arrives_whole() {
    let participant = open();
    let (mut writer, mut reader) = pair(&participant, &sized(256 << 20));
    let sample = pattern(1 << 10, 3).repeat(256 << 10);
    writer.write(&sample).expect("written");
    let mut is_whole = false;
    assert_eq!(reader.receive(WAIT_NS, 1, |payload| is_whole = payload == sample), Ok(1));
    assert!(is_whole);
}

#[test]
fn full_ring_times_out_or_rejects_and_accepted_samples_arrive() {
    for (limit_ns, size, expected) in
        [(5_000_000, 1000, abi::TIMED_OUT), (0, 1000, abi::REFUSED), (0, 11_000_000, abi::REFUSED)]
    {
        let participant = open();
        let qos = Qos { max_blocking_ns: Some(QosDuration::Ns(limit_ns)), ..reliable() };
        let entity = EndpointSpec { max_payload_bytes: size, ..asks(qos) };
        let (mut writer, mut reader) = pair(&participant, &entity);
        let (mut accepted, mut rejected) = (0, 0);
        while rejected < 3 {
            match writer.write_status(&pattern(size as usize, accepted as u8)) {
                abi::OK => accepted += 1,
                status => {
                    assert_eq!(status, expected);
                    rejected += 1;
                }
            }
            assert!(accepted < 1_000_000, "the ring is never full");
        }
        assert_eq!(accepted, if size == 1000 { (1 << 20) / 1008 } else { (64 << 20) / 11_000_008 });
        let counter = if limit_ns > 0 { "write_timed_out" } else { "write_refused" };
        assert_eq!(writer.counters().get(counter), Some(rejected));
        assert_eq!(writer.wait_acked(1_000_000), Ok(false), "no reader takes samples");
        let read = thread::spawn(move || (receive(&mut reader, accepted), reader));
        assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
        let (samples, mut reader) = read.join().expect("no panic");
        for (number, sample) in samples.iter().enumerate() {
            assert!(*sample == pattern(size as usize, number as u8), "sample {number} of {size} bytes");
        }
        assert_eq!(samples.len(), accepted);
        assert_eq!(reader.receive(20_000_000, 10, |_| {}), Ok(0), "no rejected sample arrives");
        writer.write(b"again").expect("there is room again");
        assert_eq!(receive(&mut reader, 1), [b"again"]);
    }
}

#[test]
fn with_several_readers_a_sample_is_accepted_for_all_or_for_none() {
    let participant = open();
    let entity = EndpointSpec { max_payload_bytes: 300_000, ..asks(reliable()) };
    let (mut writer, mut quick) = pair(&participant, &entity);
    let mut slow = participant.reader(&entity).expect("a reader");
    connect(&writer, &slow);
    let mut accepted = 0;
    let mut samples = Vec::new();
    for number in 0..20u8 {
        accepted += usize::from(writer.write_status(&pattern(300_000, number)) == abi::OK);
        while quick.receive(0, 10, |sample| samples.push(sample.to_vec())).expect("received") > 0 {}
    }
    assert!(accepted > 0 && accepted < 20, "the slow reader stops the writer");
    assert_eq!(samples.len(), accepted);
    assert!(samples == receive(&mut slow, accepted), "both received the same samples");
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
}

#[test]
fn best_effort_drops_samples_without_room_and_counts_them() {
    for size in [100_000, 11_000_000] {
        let participant = open();
        let (mut writer, mut reader) = pair(&participant, &sized(size));
        let samples = 30;
        for number in 0..samples {
            writer.write(&pattern(size as usize, number as u8)).expect("accepted");
        }
        let settings = writer.settings().expect("settings");
        let lost: usize = value_of(&settings, "samples_dropped").expect("a row").parse().expect("a number");
        assert!(lost > 0 && lost < samples, "{lost} of {samples}");
        // the first ones had room
        let expected: Vec<_> =
            (0..samples - lost).map(|number| pattern(size as usize, number as u8)).collect();
        assert!(receive(&mut reader, samples - lost) == expected);
        assert_eq!(reader.receive(0, 1, |_| {}), Ok(0));
        let counters = writer.counters();
        assert_eq!(counters.get("write_refused"), Some(0));
        assert_eq!(counters.get("write_blocked"), Some(0));
        assert_eq!(counters.get("packets_sent"), Some((samples - lost) as u64));
    }
}

#[test]
fn batch_is_held_until_it_is_flushed_and_keeps_its_order() {
    let participant = open();
    let (mut writer, mut reader) = pair(&participant, &EndpointSpec { batch_bytes: 1000, ..sized(100) });
    for settings in [writer.settings(), reader.settings()] {
        assert_eq!(value_of(&settings.expect("settings"), "batching"), Some("application"));
    }
    let sent: Vec<_> = (0..10).map(|seed| pattern(100, seed)).collect();
    for sample in &sent {
        writer.write(sample).expect("written");
    }
    assert_eq!(reader.receive(100_000_000, 100, |_| {}), Ok(0), "1000 bytes of payload are held");
    writer.flush().expect("flushed");
    writer.flush().expect("nothing left");
    assert_eq!(receive(&mut reader, 10), sent);
    assert_eq!(writer.counters().get("packets_sent"), Some(1));
    assert_eq!(writer.counters().get("bytes_sent"), Some(10 * 100));
    // The eleventh sample publishes the first ten.
    for sample in sent.iter().chain([&vec![7; 100]]) {
        writer.write(sample).expect("written");
    }
    assert_eq!(receive(&mut reader, 10), sent);
    // The wait for acknowledgments publishes the rest.
    let read = thread::spawn(move || receive(&mut reader, 1));
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    assert_eq!(read.join().expect("no panic"), [vec![7; 100]]);
}

#[test]
fn batch_larger_than_the_ring_is_published_when_the_ring_is_full() {
    let participant = open();
    let entity = EndpointSpec { batch_bytes: u64::MAX, ..asks(reliable()) };
    let (mut writer, mut reader) = pair(&participant, &entity);
    let mut accepted = 0;
    while writer.write_status(&pattern(1000, accepted as u8)) == abi::OK {
        accepted += 1;
    }
    assert_eq!(accepted, (1 << 20) / 1008);
    assert_eq!(writer.counters().get("packets_sent"), Some(1));
    let samples = receive(&mut reader, accepted);
    assert!(samples.iter().enumerate().all(|(number, sample)| *sample == pattern(1000, number as u8)));
    writer.write(b"next batch").expect("there is room again");
    writer.close().expect("closed");
    assert_eq!(receive(&mut reader, 1), [b"next batch"], "a close publishes accepted samples");
}

#[test]
fn reader_with_keep_last_drops_older_samples_and_one_with_keep_all_does_not() {
    let participant = open();
    for (history, history_depth, expected) in [
        (Some(History::KeepLast), Some(3), 7..10u8),
        (Some(History::KeepAll), None, 0..10),
        // default
        (None, None, 0..10),
    ] {
        let (mut writer, mut reader) =
            pair(&participant, &asks(Qos { history, history_depth, ..reliable() }));
        let found = reader.qos().expect("QoS");
        assert_eq!(
            (found.history, found.history_depth),
            (Some(history.unwrap_or(History::KeepAll)), history_depth)
        );
        for number in 0..10 {
            writer.write(&[number]).expect("written");
        }
        let expected: Vec<_> = expected.map(|number| vec![number]).collect();
        // one at a time: those that remain are kept
        let mut samples = Vec::new();
        while reader.receive(0, 1, |sample| samples.push(sample.to_vec())) == Ok(1) {}
        assert_eq!(samples, expected, "{history:?}");
        assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
        assert_eq!(reader.counters().get("packets_received"), Some(10));
    }
}

#[test]
fn keep_last_is_of_all_writers_together() {
    let participant = open();
    let entity = asks(Qos { history: Some(History::KeepLast), history_depth: Some(4), ..reliable() });
    let mut reader = participant.reader(&entity).expect("a reader");
    let mut writers: Vec<_> = (0..2).map(|_| participant.writer(&entity).expect("a writer")).collect();
    for (index, writer) in writers.iter_mut().enumerate() {
        connect(writer, &reader);
        for number in 0..10 {
            writer.write(&[index as u8, number]).expect("written");
        }
    }
    assert_eq!(receive(&mut reader, 4), [[0, 8], [0, 9], [1, 8], [1, 9]]);
    assert_eq!(reader.receive(0, 10, |_| {}), Ok(0));
}

#[test]
fn qos_is_read_back_and_other_policies_are_rejected() {
    let participant = open();
    let (writer, reader) = pair(&participant, &asks(reliable()));
    let found = writer.qos().expect("QoS");
    assert_eq!(
        (found.reliability, found.max_blocking_ns),
        (Some(Reliability::Reliable), Some(QosDuration::Ns(5_000_000)))
    );
    assert_eq!((found.history, found.durability), (Some(History::KeepAll), Some(Durability::Volatile)));
    assert_eq!(reader.qos().expect("QoS").reliability, Some(Reliability::Reliable));
    let found = participant.writer(&sized(10)).expect("a writer").qos().expect("QoS");
    assert_eq!((found.reliability, found.max_blocking_ns), (Some(Reliability::BestEffort), None));
    for qos in [
        Qos { durability: Some(Durability::TransientLocal), ..Qos::default() },
        Qos { deadline_ns: Some(QosDuration::Ns(1_000_000)), ..Qos::default() },
        Qos { partitions: Some(vec!["p".to_owned()]), ..Qos::default() },
    ] {
        assert_eq!(failed(participant.writer(&asks(qos.clone()))).0, abi::UNSUPPORTED);
        assert_eq!(failed(participant.reader(&asks(qos))).0, abi::UNSUPPORTED);
    }
    for entity in [
        EndpointSpec { type_kind: TypeKind::Keyed, ..sized(10) },
        EndpointSpec { loans: true, ..sized(10) },
        EndpointSpec { async_write: true, ..sized(10) },
    ] {
        assert_eq!(failed(participant.writer(&entity)).0, abi::UNSUPPORTED);
    }
}

#[test]
fn too_large_samples_are_rejected() {
    let participant = open();
    assert_eq!(failed(participant.writer(&sized((256 << 20) + 1))).0, abi::TOO_LARGE);
    assert_eq!(failed(participant.reader(&sized((256 << 20) + 1))).0, abi::TOO_LARGE);
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    writer.write(&[0; 100]).expect("it fits");
    assert_eq!(failed(writer.write(&[0; 101])).0, abi::TOO_LARGE);
    let reader = participant.reader(&sized(99)).expect("a reader");
    let (status, text) = failed(writer.connect(&reader.locator().expect("a locator")));
    assert_eq!(status, abi::BAD_ARGUMENT);
    assert!(text.starts_with("samples of 100 bytes exceed the maximum of reader `shm:"), "{text}");
    assert_eq!(writer.matched(), Ok(0));
}

#[test]
fn invalid_participants_are_rejected_with_a_reason() {
    let open = |how| failed(driver_testing::open(driver(), how));
    assert_eq!(
        open(ParticipantSpec { interface: Some("eth7-none"), ..ParticipantSpec::default() }),
        (
            abi::BAD_ARGUMENT,
            "interface `eth7-none` does not exist; hint: list the interfaces with `ip -br link`".into()
        )
    );
    assert_eq!(
        open(ParticipantSpec { receive_buffer_bytes: 1 << 40, ..ParticipantSpec::default() }),
        (abi::BAD_ARGUMENT, "`receive_buffer` is out of range; hint: use at most 1073741824 bytes".into())
    );
    for how in [
        ParticipantSpec { transport: Some("udp4"), ..ParticipantSpec::default() },
        ParticipantSpec { options: &[("nagle", "on")], ..ParticipantSpec::default() },
    ] {
        assert_eq!(open(how).0, abi::BAD_ARGUMENT);
    }
    for how in [
        ParticipantSpec { send_buffer_bytes: 1 << 20, ..ParticipantSpec::default() },
        ParticipantSpec { multicast: true, ..ParticipantSpec::default() },
    ] {
        assert_eq!(open(how).0, abi::UNSUPPORTED);
    }
}

#[test]
fn settings_are_the_effective_ones() {
    let rows = open().settings().expect("settings");
    assert_eq!(rows, Settings::from([("transport".to_owned(), "shm".to_owned())]));
    // The capacity is a power of two with room for the largest sample.
    for (asked, size, granted) in [
        (0, 64, 1 << 20),
        (0, 11_000_000, 64 << 20),
        (1, 64, 64 << 10),
        (70_000, 64, 128 << 10),
        (1, 200_000, 256 << 10),
        (8 << 20, 64, 8 << 20),
    ] {
        let how = ParticipantSpec { receive_buffer_bytes: asked, ..ParticipantSpec::default() };
        let participant = driver_testing::open(driver(), how).expect("open");
        let (mut writer, mut reader) = pair(&participant, &sized(size));
        let rows = reader.settings().expect("settings");
        assert_eq!(value_of(&rows, "receive_buffer_bytes"), Some(granted.to_string().as_str()));
        let asked = if asked == 0 { "driver default".to_owned() } else { asked.to_string() };
        assert_eq!(value_of(&rows, "receive_buffer_bytes_asked"), Some(asked.as_str()));
        assert_eq!(value_of(&rows, "address"), reader.locator().ok().as_deref());
        assert_eq!(
            value_of(&writer.settings().expect("settings"), "address"),
            writer.locator().ok().as_deref()
        );
        let sample = pattern(size as usize, 1);
        writer.write(&sample).expect("written");
        assert!(receive(&mut reader, 1) == [sample], "the largest sample fits");
    }
}
