//! Tests of batches whose samples are datagrams of their own, sent by one system call.
mod harness;

use std::{collections::HashMap, net::UdpSocket};

use driver_kit::abi;
use driver_testing::{EndpointSpec, Participant, ParticipantSpec, suite, value_of};
use harness::*;

fn segmenting(transport: &str) -> Participant {
    try_segmenting(transport, false)
}

fn try_segmenting(transport: &str, multicast: bool) -> Participant {
    let options = [("packing", "segments")];
    let how = ParticipantSpec {
        transport: Some(transport),
        multicast,
        options: &options,
        ..ParticipantSpec::default()
    };
    driver_testing::open(driver(), how).unwrap_or_else(|failure| panic!("{transport}: {}", failure.text))
}

fn batched(max_payload_bytes: u64) -> EndpointSpec {
    EndpointSpec { batch_bytes: u64::MAX, ..sized(max_payload_bytes) }
}

/// Returns the counters of UDP of this network namespace.
fn udp_counters() -> HashMap<String, u64> {
    let text = std::fs::read_to_string("/proc/self/net/snmp").expect("counters");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let values = values.split(' ').map(|value| value.parse().expect("a count"));
    names.split(' ').map(str::to_owned).zip(values).collect()
}

/// A receiver that knows nothing of batches, connected as a reader of the writer.
fn stranger(writer: &mut driver_testing::Writer) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(WAIT)).expect("set");
    writer.connect(&format!("udp4:{}", socket.local_addr().expect("an address"))).expect("connected");
    socket
}

#[test]
fn each_sample_of_a_batch_is_a_datagram() {
    let mut writer = segmenting("udp4").writer(&batched(100)).expect("a writer");
    let receiver = stranger(&mut writer);
    let sent: Vec<_> = (0..50).map(|seed| pattern(if seed == 49 { 60 } else { 100 }, seed)).collect();
    for sample in &sent {
        writer.write(sample).expect("written");
    }
    receiver.set_nonblocking(true).expect("set");
    assert!(receiver.recv(&mut [0; 10]).is_err(), "the batch is held until it is flushed");
    receiver.set_nonblocking(false).expect("set");
    writer.flush().expect("flushed");
    writer.flush().expect("nothing left");
    for sample in &sent {
        let mut room = [0; 65_507];
        let length = receiver.recv(&mut room).expect("a datagram");
        assert_eq!(&room[..length], sample, "without a header");
    }
    assert_eq!(writer.counters().get("packets_sent"), Some(50));
    assert_eq!(writer.counters().get("bytes_sent"), Some(49 * 100 + 60));
}

#[test]
fn one_batch_is_one_system_call() {
    if !is_within() {
        return within_namespace("one_batch_is_one_system_call", "ip link set lo up");
    }
    // The kernel counts calls: one `OutDatagrams` per send, one `InDatagrams` per receive, whatever their segments.
    for (max_payload, size) in [(64, 64), (100, 64)] {
        let participant = segmenting("udp4");
        let entity = EndpointSpec { batch_bytes: 4096, ..sized(max_payload) };
        let (mut writer, mut reader) = pair(&participant, &entity);
        let before = udp_counters();
        for number in 0..10 {
            for _ in 0..64 {
                writer.write(&vec![number; size]).expect("written");
            }
            writer.flush().expect("flushed");
            let mut seen = Vec::new();
            let taken = reader.receive(WAIT_NS, 1, |payload| seen.push(payload.to_vec()));
            assert_eq!((taken, seen), (Ok(64), vec![vec![number; size]; 64]), "received by one call");
        }
        let after = udp_counters();
        assert_eq!(["OutDatagrams", "InDatagrams"].map(|name| after[name] - before[name]), [10, 10]);
        assert_eq!(writer.counters().get("packets_sent"), Some(640));
        assert_eq!(reader.counters().get("packets_received"), Some(640));
        assert_eq!(reader.counters().get("bytes_received"), Some(640 * size as u64));
    }
}

#[test]
fn a_batch_above_a_limit_of_the_kernel_is_several() {
    if !is_within() {
        return within_namespace("a_batch_above_a_limit_of_the_kernel_is_several", "ip link set lo up");
    }
    let participant = segmenting("udp4");
    let (mut writer, mut reader) = pair(&participant, &batched(60_000));
    let settings = writer.settings().expect("settings");
    assert_eq!(value_of(&settings, "batch_bytes"), Some("65507"));
    let most: usize = value_of(&settings, "max_segments").expect("a row").parse().expect("a number");
    assert!([64, 128].contains(&most), "{most}");
    // (size, number of samples, calls)
    for (size, count, calls) in [(16, 2 * most + 1, 3), (1000, 66, 2), (60_000, 3, 3)] {
        let before = udp_counters();
        let sent: Vec<_> = (0..count).map(|seed| pattern(size, seed as u8)).collect();
        for sample in &sent {
            writer.write(sample).expect("written");
        }
        writer.flush().expect("flushed");
        assert!(receive(&mut reader, count) == sent, "{count} samples of {size} bytes");
        assert_eq!(udp_counters()["OutDatagrams"] - before["OutDatagrams"], calls, "{size} bytes");
    }
}

#[test]
fn samples_of_any_sizes_keep_their_order() {
    for (transport, largest) in transports() {
        let (mut writer, mut reader) = pair(&segmenting(transport), &batched(largest));
        let sizes =
            [16, 16, 16, 40, 40, 8, 8, 0, 0, 16, largest as usize, 16, 1, largest as usize, 30_000, 30_000];
        let sent: Vec<_> = sizes.iter().enumerate().map(|(seed, size)| pattern(*size, seed as u8)).collect();
        for sample in &sent {
            writer.write(sample).expect("written");
        }
        writer.flush().expect("flushed");
        assert!(receive(&mut reader, sizes.len()) == sent, "{transport}");
        assert_eq!(writer.counters().get("packets_sent"), Some(sizes.len() as u64));
        assert_eq!(reader.counters().get("packets_received"), Some(sizes.len() as u64));
        assert_eq!(reader.counters().get("malformed"), Some(0));
    }
}

#[test]
fn samples_above_the_mtu_are_fragments_of_their_own() {
    if !is_within() {
        return within_namespace(
            "samples_above_the_mtu_are_fragments_of_their_own",
            "ip link set lo mtu 1500 up; ip -6 address show dev lo | grep -q ::1",
        );
    }
    for (transport, largest) in [("udp4", 1472), ("udp6", 1452)] {
        let participant = segmenting(transport);
        for size in [largest, largest + 1] {
            let (mut writer, mut reader) = pair(&participant, &batched(size));
            let kernel = if size == largest { size } else { 0 };
            let settings = writer.settings().expect("settings");
            assert_eq!(value_of(&settings, "udp_segment"), Some(kernel.to_string().as_str()));
            for count in [1, 10] {
                let sent: Vec<_> = (0..count).map(|seed| pattern(size as usize, seed)).collect();
                for sample in &sent {
                    writer.write(sample).expect("written");
                }
                writer.flush().expect("flushed");
                assert!(receive(&mut reader, count as usize) == sent, "{transport}, {size} bytes");
            }
        }
    }
}

#[test]
fn it_does_what_every_driver_does_that_is_matched_by_locators() {
    for (transport, _) in transports() {
        let participant = segmenting(transport);
        suite::listener_receives_samples_of_batches(&participant);
        suite::listener_can_echo(&participant);
        suite::several_readers_receive_every_sample(&participant);
    }
}

#[test]
fn several_readers_and_a_group_receive_every_batch() {
    for multicast in [false, true] {
        let participant = try_segmenting("udp4", multicast);
        let (mut writer, mut first) = pair(&participant, &batched(100));
        writer.write(b"for the first").expect("written");
        let mut second = participant.reader(&batched(100)).expect("a reader");
        connect(&writer, &second);
        assert_eq!(receive(&mut first, 1), [b"for the first"], "sent when another reader joins");
        // in a group the second reader has it, too
        second.receive(50_000_000, 100, |_| {}).expect("received");
        let sent: Vec<_> = (0..60).map(|seed| pattern(100, seed)).collect();
        for sample in &sent {
            writer.write(sample).expect("written");
        }
        writer.flush().expect("flushed");
        for reader in [&mut first, &mut second] {
            assert_eq!(receive(reader, 60), sent);
            assert_eq!(reader.receive(50_000_000, 10, |_| {}), Ok(0), "nothing comes twice");
        }
        let datagrams = if multicast { 61 } else { 121 };
        assert_eq!(writer.counters().get("packets_sent"), Some(datagrams));
    }
}

#[test]
fn datagrams_of_others_are_samples_or_malformed() {
    let participant = segmenting("udp4");
    let mut reader = participant.reader(&batched(100)).expect("a reader");
    let to = reader.locator().expect("a locator").replace("udp4:", "");
    let from = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    for size in [101, 3000, 65_507, 100, 1] {
        from.send_to(&vec![7; size], &to).expect("sent");
    }
    assert_eq!(receive(&mut reader, 2), [vec![7; 100], vec![7]]);
    assert_eq!(reader.counters().get("malformed"), Some(3));
    assert_eq!(reader.counters().get("packets_received"), Some(5));
}

#[test]
fn settings_tell_how_the_kernel_packs() {
    let rows = |participant: Participant, entity: &EndpointSpec| {
        let (writer, reader) = pair(&participant, entity);
        let mut rows = writer.settings().expect("settings");
        rows.extend(reader.settings().expect("settings"));
        ["batching", "packing", "udp_segment", "udp_gro"].map(|name| value_of(&rows, name).map(str::to_owned))
    };
    let some = |value: &str| Some(value.to_owned());
    assert_eq!(
        rows(segmenting("udp4"), &batched(100)),
        [some("application"), some("segments"), some("100"), some("on")]
    );
    assert_eq!(rows(segmenting("udp4"), &sized(100)), [some("none"), None, None, some("off")]);
    assert_eq!(rows(open("udp4"), &batched(100)), [some("application"), some("datagram"), None, some("off")]);
    let options = [("packing", "jumbo")];
    assert_eq!(
        failed(driver_testing::open(
            driver(),
            ParticipantSpec { options: &options, ..ParticipantSpec::default() }
        )),
        (
            abi::BAD_ARGUMENT,
            "invalid value `jumbo` of option `packing`; hint: available: datagram, segments".into()
        )
    );
}
