//! Tests of the driver through the C table, over loopback with ephemeral ports.
mod harness;

use std::net::UdpSocket;

use driver_kit::{Durability, Qos, QosDuration, ReceiveMode, Reliability, TypeKind, abi};
use driver_testing::{EndpointSpec, ParticipantSpec, suite, value_of};
use harness::*;

#[test]
fn it_says_what_it_is() {
    let description = driver().description();
    assert_eq!(description.name, "udp");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    assert_eq!(description.middleware_version, kernel.trim());
    assert_eq!(description.version_source, "kernel");
    assert!(description.build.is_none() && description.options.len() == 1);
    assert_eq!(description.type_kinds, ["octets"]);
    assert_eq!(description.receive_modes, ReceiveMode::ALL);
    assert_eq!(description.features, ["locators", "application_batching", "echo_in_listener", "multicast"]);
    let rows: Vec<_> =
        description.transports.iter().map(|row| (row.name.as_str(), row.max_payload_bytes)).collect();
    assert_eq!(rows, [("udp4", 65_507), ("udp6", 65_527)]);
    assert!(description.is_bare_socket());
}

#[test]
fn content_arrives_whole_at_every_size() {
    for (transport, largest) in transports() {
        let participant = open(transport);
        let (mut writer, mut reader) = pair(&participant, &sized(largest));
        assert_eq!((writer.matched(), reader.matched()), (Ok(1), Ok(1)));
        let sizes = [0, 16, 1472, 63_000, largest as usize];
        for (seed, size) in sizes.into_iter().enumerate() {
            let sent = pattern(size, seed as u8);
            writer.write(&sent).expect("written");
            writer.flush().expect("nothing to flush");
            assert!(receive(&mut reader, 1) == [sent], "{transport}, {size} bytes");
        }
        let (out, back) = (writer.counters(), reader.counters());
        let bytes = sizes.iter().sum::<usize>() as u64;
        assert_eq!(out.get("packets_sent"), Some(5));
        assert_eq!(out.get("bytes_sent"), Some(bytes), "no framing");
        assert_eq!(out.get("write_refused"), Some(0));
        assert_eq!(back.get("packets_received"), Some(5));
        assert_eq!(back.get("bytes_received"), Some(bytes));
        assert_eq!(back.get("malformed"), Some(0));
        for unknown in ["retransmitted", "write_blocked", "samples_lost"] {
            assert_eq!((out.get(unknown), back.get(unknown)), (None, None));
        }
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let participant = open("udp4");
    assert_eq!(failed(participant.writer(&sized(65_508))).0, abi::TOO_LARGE);
    assert_eq!(failed(participant.reader(&sized(65_508))).0, abi::TOO_LARGE);
    let batched = |size| EndpointSpec { batch_bytes: 1000, ..sized(size) };
    let (status, text) = failed(participant.writer(&batched(65_504)));
    assert_eq!(status, abi::TOO_LARGE);
    assert!(text.contains("with batching; hint: use samples of at most 65503 bytes"), "{text}");
    participant.writer(&batched(65_503)).expect("it fits");
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    writer.write(&[0; 100]).expect("it fits");
    assert_eq!(failed(writer.write(&[0; 101])).0, abi::TOO_LARGE);
}

#[test]
fn a_datagram_longer_than_any_sample_is_malformed() {
    let participant = open("udp4");
    let (mut writer, mut reader) = (
        participant.writer(&sized(101)).expect("a writer"),
        participant.reader(&sized(100)).expect("a reader"),
    );
    connect(&writer, &reader);
    writer.write(&[1; 101]).expect("written");
    writer.write(&[2; 100]).expect("written");
    assert_eq!(receive(&mut reader, 1), [vec![2; 100]]);
    assert_eq!(reader.counters().get("malformed"), Some(1));
    assert_eq!(reader.counters().get("bytes_discarded"), Some(101));
    assert_eq!(reader.counters().get("bytes_received"), Some(201));
}

#[test]
fn a_batch_is_held_until_it_is_flushed_and_keeps_its_order() {
    let participant = open("udp4");
    let (mut writer, mut reader) = pair(&participant, &EndpointSpec { batch_bytes: 1000, ..sized(100) });
    let sent: Vec<_> = (0..10).map(|seed| pattern(100, seed)).collect();
    for sample in &sent {
        writer.write(sample).expect("written");
    }
    assert_eq!(reader.receive(100_000_000, 100, |_| {}), Ok(0), "1000 bytes of payload are held");
    writer.flush().expect("flushed");
    writer.flush().expect("nothing left");
    let mut seen = Vec::new();
    let taken = reader.receive(WAIT_NS, 1, |payload| seen.push(payload.to_vec()));
    assert_eq!((taken, &seen), (Ok(10), &sent), "a datagram that is begun is given whole");
    assert_eq!(writer.counters().get("packets_sent"), Some(1));
    assert_eq!(writer.counters().get("bytes_sent"), Some(10 * 104));

    // The eleventh sample sends the first ten.
    for sample in sent.iter().chain([&vec![7; 100]]) {
        writer.write(sample).expect("written");
    }
    assert_eq!(receive(&mut reader, 10), sent);
    assert_eq!(writer.counters().get("packets_sent"), Some(2));
    writer.flush().expect("flushed");
    assert_eq!(receive(&mut reader, 1), [vec![7; 100]]);
    assert_eq!(reader.counters().get("packets_received"), Some(3));
}

#[test]
fn a_batch_is_no_longer_than_a_datagram() {
    let participant = open("udp4");
    let (mut writer, mut reader) =
        pair(&participant, &EndpointSpec { batch_bytes: u64::MAX, ..sized(65_503) });
    let settings = writer.settings().expect("settings");
    assert_eq!(value_of(&settings, "batch_bytes"), Some("65503"));
    let (big, small) = (pattern(65_503, 1), pattern(16, 2));
    for _ in 0..2 {
        writer.write(&big).expect("written");
        writer.write(&small).expect("written");
    }
    writer.flush().expect("flushed");
    assert!(receive(&mut reader, 4) == [big.clone(), small.clone(), big, small]);
    assert_eq!(writer.counters().get("packets_sent"), Some(4));
}

#[test]
fn malformed_datagrams_are_counted_and_give_nothing() {
    let participant = open("udp4");
    let entity = EndpointSpec { batch_bytes: 1000, ..sized(100) };
    let (mut writer, mut reader) = pair(&participant, &entity);
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let to = reader.locator().expect("a locator").replace("udp4:", "");
    let datagrams: [&[u8]; 6] = [
        b"",
        b"\x01\0\0",
        b"\xff\xff\xff\xff garbage",
        b"\x02\0\0\0ok\x05\0\0\0cut",
        b"\x02\0\0\0ok\x00",
        &[101, 0, 0, 0, 1].into_iter().chain([1; 100]).collect::<Vec<_>>(),
    ];
    for datagram in datagrams {
        stranger.send_to(datagram, &to).expect("sent");
    }
    writer.write(b"good").expect("written");
    writer.flush().expect("flushed");
    assert_eq!(receive(&mut reader, 1), [b"good"]);
    assert_eq!(reader.counters().get("malformed"), Some(6));
    let bytes = datagrams.iter().map(|datagram| datagram.len() as u64).sum();
    assert_eq!(reader.counters().get("bytes_discarded"), Some(bytes));
}

#[test]
fn it_does_what_every_driver_does_that_is_matched_by_locators() {
    for (transport, _) in transports() {
        let participant = open(transport);
        suite::receive_waits_for_its_whole_timeout(&participant);
        suite::listener_receives_samples_of_batches(&participant);
        suite::listener_can_echo(&participant);
        suite::several_readers_receive_every_sample(&participant);
        suite::counters_can_be_read_while_another_thread_writes(&participant);
    }
    assert_exports_the_entry_only(driver().path());
}

#[test]
fn a_reader_that_is_gone_refuses_nothing() {
    let participant = open("udp4");
    let (mut writer, reader) = pair(&participant, &sized(100));
    reader.close().expect("closed");
    for _ in 0..10 {
        writer.write(b"into the void").expect("accepted");
    }
    assert_eq!(writer.counters().get("packets_sent"), Some(10));
    assert_eq!(writer.counters().get("write_refused"), Some(0));
    let settings = writer.settings().expect("settings");
    let errors: u64 = value_of(&settings, "port_unreachable").expect("a row").parse().expect("a number");
    assert!(errors > 0, "loopback reports the error before the next datagram");

    // Another reader is not affected.
    let mut other = participant.reader(&sized(100)).expect("a reader");
    connect(&writer, &other);
    for index in 0..10 {
        writer.write(&[index]).expect("accepted");
        assert_eq!(receive(&mut other, 1), [vec![index]]);
    }
    assert_eq!(value_of(&writer.settings().expect("settings"), "datagrams_unsent"), Some("0"));
}

#[test]
fn locators_are_texts_and_wrong_ones_are_explained() {
    for (transport, beginning) in [("udp4", "udp4:127.0.0.1:"), ("udp6", "udp6:[::1]:")] {
        let reader = open(transport).reader(&sized(100)).expect("a reader");
        let locator = reader.locator().expect("a locator");
        assert!(locator.starts_with(beginning), "{locator}");
        assert_eq!(value_of(&reader.settings().expect("settings"), "address"), Some(locator.as_str()));
    }
    let wrong = [
        ("", "is not a locator"),
        ("tcp4:127.0.0.1:1", "is not a locator"),
        ("udp4:127.0.0.1:0", "is not the address of one socket"),
        ("udp6:[::1]:5", "cannot be reached over transport `udp4`"),
    ];
    suite::invalid_locators_are_rejected_with_a_reason(&open("udp4"), &wrong);
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
        open(ParticipantSpec { options: &[("ttl", "3")], ..ParticipantSpec::default() }),
        (abi::BAD_ARGUMENT, "driver `udp` has no option `ttl`; hint: available: packing".into())
    );
    assert_eq!(
        open(ParticipantSpec { transport: Some("shm"), ..ParticipantSpec::default() }).0,
        abi::BAD_ARGUMENT
    );
    assert_eq!(
        open(ParticipantSpec { receive_buffer_bytes: 1 << 40, ..ParticipantSpec::default() }).0,
        abi::BAD_ARGUMENT
    );
}

#[test]
fn only_best_effort_and_volatile_are_granted_and_both_are_read_back() {
    let participant = open("udp4");
    let asks = |qos| EndpointSpec { qos, ..sized(100) };
    let reliable = Qos { reliability: Some(Reliability::Reliable), ..Qos::default() };
    for outcome in
        [failed(participant.writer(&asks(reliable.clone()))), failed(participant.reader(&asks(reliable)))]
    {
        assert_eq!(outcome.0, abi::UNSUPPORTED);
        assert!(outcome.1.contains("UDP is best effort"), "{}", outcome.1);
    }
    for qos in [
        Qos { durability: Some(Durability::TransientLocal), ..Qos::default() },
        Qos { deadline_ns: Some(QosDuration::Ns(1_000_000)), ..Qos::default() },
        Qos { history: Some(driver_kit::History::KeepAll), ..Qos::default() },
        Qos { partitions: Some(vec!["p".to_owned()]), ..Qos::default() },
    ] {
        assert_eq!(failed(participant.writer(&asks(qos))).0, abi::UNSUPPORTED);
    }
    let granted = Qos {
        reliability: Some(Reliability::BestEffort),
        durability: Some(Durability::Volatile),
        ..Qos::default()
    };
    for limit in [0, 100_000_000, abi::DURATION_INFINITE] {
        let limit = Some(QosDuration::from_raw(limit));
        let (mut writer, mut reader) =
            pair(&participant, &asks(Qos { max_blocking_ns: limit, ..granted.clone() }));
        assert_eq!(writer.qos(), Ok(granted.clone()));
        writer.write(b"x").expect("written");
        assert_eq!(receive(&mut reader, 1), [b"x"]);
    }
    let (writer, reader) = pair(&participant, &sized(100));
    assert_eq!((writer.qos(), reader.qos()), (Ok(granted.clone()), Ok(granted)));
}

#[test]
fn types_and_features_that_udp_has_not_are_refused() {
    let participant = open("udp4");
    let refused = |entity: &EndpointSpec| {
        assert_eq!(failed(participant.writer(entity)).0, abi::UNSUPPORTED);
    };
    refused(&EndpointSpec { type_kind: TypeKind::Keyed, ..sized(10) });
    refused(&EndpointSpec { type_kind: TypeKind::Plain, ..sized(10) });
    refused(&EndpointSpec { loans: true, ..sized(10) });
    refused(&EndpointSpec { async_write: true, ..sized(10) });
    let filter = EndpointSpec { content_filter: Some("key = 1"), ..sized(10) };
    assert_eq!(failed(participant.reader(&filter)).0, abi::UNSUPPORTED);
}

#[test]
fn settings_tell_what_the_kernel_granted() {
    let limit = |name: &str| -> u64 {
        let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).expect("a limit");
        text.trim().parse().expect("a number")
    };
    if !std::path::Path::new("/proc/sys/net/core/rmem_max").exists() {
        eprintln!("not tested: this network namespace does not show its limits");
        return;
    }
    // Linux grants at most the limit, and reports double, including its own overhead.
    let granted = |asked: u64, most| (2 * asked.min(limit(most))).to_string();
    let rows = |how| {
        let participant = driver_testing::open(driver(), how).expect("open");
        let (writer, reader) = pair(&participant, &sized(100));
        // of those with the same name, the participant's
        let mut rows = reader.settings().expect("settings");
        rows.extend(writer.settings().expect("settings"));
        rows.extend(participant.settings().expect("settings"));
        rows
    };

    let ours = rows(ParticipantSpec::default());
    assert_eq!(value_of(&ours, "transport"), Some("udp4"));
    assert_eq!(value_of(&ours, "interface"), Some("lo"));
    assert_eq!(value_of(&ours, "address"), Some("127.0.0.1"));
    assert_eq!(value_of(&ours, "multicast"), Some("off"));
    assert_eq!(value_of(&ours, "batching"), Some("none"));
    assert_eq!(value_of(&ours, "send_buffer_bytes"), Some(limit("wmem_default").to_string().as_str()));
    assert_eq!(value_of(&ours, "send_buffer_bytes_asked"), Some("kernel default"));
    assert_eq!(value_of(&ours, "receive_buffer_bytes"), Some(granted(8 << 20, "rmem_max").as_str()));
    assert_eq!(value_of(&ours, "receive_buffer_bytes_asked"), Some("8388608"));

    let asked = rows(ParticipantSpec {
        send_buffer_bytes: 50_000,
        receive_buffer_bytes: 60_000,
        ..ParticipantSpec::default()
    });
    assert_eq!(value_of(&asked, "send_buffer_bytes"), Some(granted(50_000, "wmem_max").as_str()));
    assert_eq!(value_of(&asked, "send_buffer_bytes_asked"), Some("50000"));
    assert_eq!(value_of(&asked, "receive_buffer_bytes"), Some(granted(60_000, "rmem_max").as_str()));

    let vendor = rows(ParticipantSpec { vendor_defaults: true, ..ParticipantSpec::default() });
    assert_eq!(value_of(&vendor, "receive_buffer_bytes"), Some(limit("rmem_default").to_string().as_str()));
    assert_eq!(value_of(&vendor, "receive_buffer_bytes_asked"), Some("kernel default"));
}
