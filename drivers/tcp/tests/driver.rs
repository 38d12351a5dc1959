//! Tests of the driver through the C table, over loopback with ephemeral ports.
mod harness;

use std::thread;

use driver_kit::{Durability, History, Qos, QosDuration, ReceiveMode, Reliability, TypeKind, abi};
use driver_testing::{EndpointSpec, ParticipantSpec, suite, value_of};
use harness::*;

fn asks(qos: Qos) -> EndpointSpec {
    EndpointSpec { qos, ..sized(1000) }
}

#[test]
fn it_says_what_it_is() {
    let description = driver().description();
    assert_eq!(description.name, "tcp");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    assert_eq!(description.middleware_version, kernel.trim());
    assert_eq!(description.type_kinds, ["octets"]);
    assert_eq!(description.receive_modes, ReceiveMode::ALL);
    assert_eq!(description.features, ["locators", "application_batching", "wait_acked", "echo_in_listener"]);
    let rows: Vec<_> =
        description.transports.iter().map(|row| (row.name.as_str(), row.max_payload_bytes)).collect();
    assert_eq!(rows, [("tcp4", 1 << 30), ("tcp6", 1 << 30)]);
    assert_exports_the_entry_only(driver().path());
}

#[test]
fn it_does_what_every_driver_does_that_is_matched_by_locators() {
    for transport in transports() {
        let participant = open(transport);
        suite::receive_waits_for_its_whole_timeout(&participant);
        suite::listener_receives_samples_of_batches(&participant);
        suite::listener_can_echo(&participant);
        suite::several_readers_receive_every_sample(&participant);
        suite::counters_can_be_read_while_another_thread_writes(&participant);
    }
}

#[test]
fn content_arrives_whole_at_every_size() {
    for transport in transports() {
        let participant = open(transport);
        let reliable = Qos { max_blocking_ns: Some(QosDuration::Ns(WAIT_NS)), ..reliable() };
        let entity = EndpointSpec { max_payload_bytes: 11_000_000, qos: reliable, ..EndpointSpec::default() };
        let (mut writer, mut reader) = pair(&participant, &entity);
        let sizes = [0, 1, 16, 1472, 65_536, 200_000, 11_000_000, 100, 11_000_000];
        let sent: Vec<_> =
            sizes.into_iter().enumerate().map(|(seed, size)| pattern(size, seed as u8)).collect();
        let expected = sent.clone();
        let write = thread::spawn(move || {
            for sample in &sent {
                writer.write(sample).expect("written");
            }
            assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
            writer
        });
        assert!(receive(&mut reader, expected.len()) == expected, "{transport}");
        let (out, back) = (write.join().expect("no panic").counters(), reader.counters());
        let bytes = sizes.iter().map(|size| size + 4).sum::<usize>() as u64;
        assert_eq!(out.get("bytes_sent"), Some(bytes), "each with its length");
        // the greeting is counted, too
        assert_eq!(back.get("bytes_received"), Some(bytes + 8));
        assert!(out.get("write_blocked") > Some(0), "11 MB are more than a connection holds");
        assert_eq!(back.get("malformed"), Some(0));
        for unknown in ["retransmitted", "samples_lost"] {
            assert_eq!((out.get(unknown), back.get(unknown)), (None, None));
        }
    }
}

fn reliable() -> Qos {
    Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::Ns(5_000_000)),
        ..Qos::default()
    }
}

#[test]
fn a_full_connection_times_out_or_refuses_and_what_was_accepted_comes() {
    for (limit_ns, size, expected) in
        [(5_000_000, 1000, abi::TIMED_OUT), (0, 1000, abi::REFUSED), (0, 11_000_000, abi::REFUSED)]
    {
        let participant = open("tcp4");
        let qos = Qos { max_blocking_ns: Some(QosDuration::Ns(limit_ns)), ..reliable() };
        let entity = EndpointSpec { max_payload_bytes: size, ..asks(qos) };
        let (mut writer, mut reader) = pair(&participant, &entity);
        let mut accepted = 0;
        // retries while the reader does not receive: each is rejected, and nothing of it is sent
        let mut refused = 0;
        while refused < 3 {
            match writer.write_status(&pattern(size as usize, accepted as u8)) {
                abi::OK => accepted += 1,
                status => {
                    assert_eq!(status, expected);
                    refused += 1;
                }
            }
            assert!(accepted < 1_000_000, "nothing stops it");
        }
        assert!(accepted > 0);
        let counter = if limit_ns > 0 { "write_timed_out" } else { "write_refused" };
        assert_eq!(writer.counters().get(counter), Some(refused));
        assert_eq!(writer.wait_acked(1_000_000), Ok(false), "no reader takes samples");
        let read = thread::spawn(move || (receive(&mut reader, accepted), reader));
        // data for which the kernel had no room is sent now
        assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
        let (samples, mut reader) = read.join().expect("no panic");
        assert_eq!(samples.len(), accepted);
        for (number, sample) in samples.iter().enumerate() {
            assert!(*sample == pattern(size as usize, number as u8), "sample {number} of {size} bytes");
        }
        assert_eq!(reader.receive(20_000_000, 10, |_| {}), Ok(0), "nothing that was refused comes");
        writer.write(b"again").expect("there is room again");
        assert_eq!(receive(&mut reader, 1), [b"again"]);
    }
}

#[test]
fn with_several_readers_a_sample_is_accepted_for_all_or_for_none() {
    let participant = open("tcp4");
    let entity = EndpointSpec { max_payload_bytes: 300_000, ..asks(reliable()) };
    let (mut writer, mut quick) = pair(&participant, &entity);
    let mut slow = participant.reader(&entity).expect("a reader");
    connect(&writer, &slow);
    let mut accepted = 0;
    let mut samples = Vec::new();
    for number in 0..200u8 {
        accepted += usize::from(writer.write_status(&pattern(300_000, number)) == abi::OK);
        // the fast reader receives everything available
        while quick.receive(0, 10, |sample| samples.push(sample.to_vec())).expect("received") > 0 {}
    }
    assert!(accepted < 200, "the slow one stops the writer");
    let read = thread::spawn(move || receive(&mut slow, accepted));
    let left = accepted - samples.len();
    let more = thread::spawn(move || receive(&mut quick, left));
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    samples.extend(more.join().expect("no panic"));
    let slow_samples = read.join().expect("no panic");
    assert_eq!((samples.len(), slow_samples.len()), (accepted, accepted));
    assert!(samples == slow_samples, "the same samples came to both");
}

#[test]
fn best_effort_drops_what_finds_no_room_and_says_so() {
    // all different
    const SAMPLES: usize = 256;
    for size in [100_000, 11_000_000] {
        let samples = if size > 1_000_000 { 10 } else { SAMPLES };
        let participant = open("tcp4");
        let (mut writer, mut reader) = pair(&participant, &sized(size));
        for number in 0..samples {
            writer.write(&pattern(size as usize, number as u8)).expect("accepted");
        }
        let dropped = |writer: &mut driver_testing::Writer| -> usize {
            let settings = writer.settings().expect("settings");
            value_of(&settings, "samples_dropped").expect("a row").parse().expect("a number")
        };
        let lost = dropped(&mut writer);
        assert!(lost > 0 && lost < samples, "{lost} of {samples}");
        let read = thread::spawn(move || receive(&mut reader, samples - lost));
        assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
        let came = read.join().expect("no panic");
        assert_eq!(came.len(), samples - lost);
        let mut last = None;
        for sample in &came {
            let number = (0..samples).find(|number| *sample == pattern(size as usize, *number as u8));
            assert!(number.is_some() && number > last, "each whole, and in its order");
            last = number;
        }
        assert_eq!(writer.counters().get("write_refused"), Some(0));
    }
}

#[test]
fn a_batch_is_held_until_it_is_flushed_and_keeps_its_order() {
    let participant = open("tcp4");
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
    assert_eq!(writer.counters().get("bytes_sent"), Some(10 * 104));
    // The eleventh sample sends the first ten.
    for sample in sent.iter().chain([&vec![7; 100]]) {
        writer.write(sample).expect("written");
    }
    assert_eq!(receive(&mut reader, 10), sent);
    // waiting for acknowledgements sends the rest
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    assert_eq!(receive(&mut reader, 1), [vec![7; 100]]);
    // an excessive batch size is limited
    let absurd = participant.writer(&EndpointSpec { batch_bytes: u64::MAX, ..sized(100) }).expect("a writer");
    let settings = absurd.settings().expect("settings");
    assert_eq!(value_of(&settings, "batch_bytes"), Some(((1 << 24) - 4).to_string().as_str()));
}

#[test]
fn a_reader_that_keeps_the_last_lets_the_older_ones_go_and_one_that_keeps_all_does_not() {
    let participant = open("tcp4");
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
        assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
        let expected: Vec<_> = expected.map(|number| vec![number]).collect();
        assert_eq!(receive(&mut reader, expected.len()), expected, "{history:?}");
        assert_eq!(reader.receive(10_000_000, 10, |_| {}), Ok(0));
    }
}

#[test]
fn qos_is_what_is_there_and_all_else_is_refused() {
    let participant = open("tcp4");
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
fn what_is_too_large_is_refused() {
    let participant = open("tcp4");
    assert_eq!(failed(participant.writer(&sized((1 << 30) + 1))).0, abi::TOO_LARGE);
    assert_eq!(failed(participant.reader(&sized((1 << 30) + 1))).0, abi::TOO_LARGE);
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    writer.write(&[0; 100]).expect("it fits");
    assert_eq!(failed(writer.write(&[0; 101])).0, abi::TOO_LARGE);
}

#[test]
fn wrong_interfaces_options_and_transports_are_explained() {
    let open = |how| failed(driver_testing::open(driver(), how));
    assert_eq!(
        open(ParticipantSpec { interface: Some("eth7-none"), ..ParticipantSpec::default() }),
        (
            abi::BAD_ARGUMENT,
            "interface `eth7-none` does not exist; hint: list the interfaces with `ip -br link`".into()
        )
    );
    assert_eq!(
        open(ParticipantSpec { options: &[("nagle", "maybe")], ..ParticipantSpec::default() }),
        (abi::BAD_ARGUMENT, "invalid value `maybe` of option `nagle`; hint: available: on, off".into())
    );
    assert_eq!(
        open(ParticipantSpec { transport: Some("udp4"), ..ParticipantSpec::default() }).0,
        abi::BAD_ARGUMENT
    );
    assert_eq!(
        open(ParticipantSpec { receive_buffer_bytes: 1 << 40, ..ParticipantSpec::default() }).0,
        abi::BAD_ARGUMENT
    );
    assert_eq!(open(ParticipantSpec { multicast: true, ..ParticipantSpec::default() }).0, abi::UNSUPPORTED);
}

#[test]
fn settings_tell_what_is_in_force_before_and_after_the_first_connection() {
    let limit = |name: &str| -> u64 {
        let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).expect("a limit");
        text.trim().parse().expect("a number")
    };
    let nagle_of = |how| {
        let participant = driver_testing::open(driver(), how).expect("open");
        let found = [false, true].map(|connected| {
            let mut writer = participant.writer(&sized(100)).expect("a writer");
            let reader = participant.reader(&sized(100)).expect("a reader");
            if connected {
                connect(&writer, &reader);
                writer.write(b"so that it is let in").expect("written");
            }
            value_of(&writer.settings().expect("settings"), "nagle").expect("a row").to_owned()
        });
        assert_eq!(found[0], found[1]);
        found[0].clone()
    };
    assert_eq!(nagle_of(ParticipantSpec::default()), "off");
    assert_eq!(nagle_of(ParticipantSpec { options: &[("nagle", "on")], ..ParticipantSpec::default() }), "on");
    assert_eq!(nagle_of(ParticipantSpec { vendor_defaults: true, ..ParticipantSpec::default() }), "on");
    let both =
        ParticipantSpec { vendor_defaults: true, options: &[("nagle", "off")], ..ParticipantSpec::default() };
    assert_eq!(nagle_of(both), "off", "what is asked for goes before the kernel's default");

    let how = ParticipantSpec {
        send_buffer_bytes: 50_000,
        receive_buffer_bytes: 60_000,
        ..ParticipantSpec::default()
    };
    let participant = driver_testing::open(driver(), how).expect("open");
    let writer = participant.writer(&sized(100)).expect("a writer");
    let reader = participant.reader(&sized(100)).expect("a reader");
    // Linux grants at most the limit, and reports double, including its own overhead.
    let granted = |asked: u64, most| (2 * asked.min(limit(most))).to_string();
    for _ in 0..2 {
        let rows = writer.settings().expect("settings");
        assert_eq!(value_of(&rows, "send_buffer_bytes"), Some(granted(50_000, "wmem_max").as_str()));
        assert_eq!(value_of(&rows, "send_buffer_bytes_asked"), Some("50000"));
        let rows = reader.settings().expect("settings");
        assert_eq!(value_of(&rows, "receive_buffer_bytes"), Some(granted(60_000, "rmem_max").as_str()));
        connect(&writer, &reader);
        assert_eq!(writer.matched(), Ok(1));
    }
    let rows = open("tcp4").settings().expect("settings");
    assert_eq!(value_of(&rows, "transport"), Some("tcp4"));
    assert_eq!(value_of(&rows, "address"), Some("127.0.0.1"));
}
