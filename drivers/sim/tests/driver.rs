//! Tests of the driver through the C table: samples behave as configured. Times have lower limits only.
mod harness;

use std::{
    os::{linux::net::SocketAddrExt, unix::net},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use driver_kit::{Durability, History, Qos, QosDuration, ReceiveMode, Reliability, abi};
use driver_testing::{EndpointSpec, ParticipantSpec, suite, value_of};
use harness::*;

fn with(reliability: Reliability, max_blocking_ns: u64) -> EndpointSpec {
    let qos = Qos {
        reliability: Some(reliability),
        max_blocking_ns: Some(QosDuration::Ns(max_blocking_ns)),
        ..Qos::default()
    };
    EndpointSpec { qos, ..sized(1000) }
}

#[test]
fn it_says_that_it_is_a_simulation() {
    let description = driver().description();
    assert!(description.is_simulated());
    assert_eq!(description.name, "sim");
    assert_eq!(description.options.len(), 18);
    assert_eq!(description.receive_modes, ReceiveMode::ALL);
}

#[test]
fn it_does_what_every_driver_does_that_is_matched_by_locators() {
    let participant = open(&[("latency", "0")]);
    suite::receive_waits_for_its_whole_timeout(&participant);
    suite::listener_receives_samples_of_batches(&participant);
    suite::listener_can_echo(&participant);
    suite::several_readers_receive_every_sample(&participant);
    suite::counters_can_be_read_while_another_thread_writes(&participant);
    let wrong = ["", "udp4:127.0.0.1:1", "sim:"].map(|text| (text, "is not a locator of this driver"));
    suite::invalid_locators_are_rejected_with_a_reason(&participant, &wrong);
    assert_exports_the_entry_only(driver().path());
}

#[test]
fn no_sample_comes_before_it_is_due() {
    const LATENCY: Duration = Duration::from_millis(3);
    let participant = open(&[("latency", "3ms")]);
    for entity in [sized(16), sized(131_072)] {
        let (mut writer, mut reader) = pair(&participant, &entity);
        assert_eq!((writer.matched(), reader.matched()), (Ok(1), Ok(1)));
        let sent = pattern(entity.max_payload_bytes as usize, 1);
        let begun = Instant::now();
        writer.write(&sent).expect("written");
        assert!(receive(&mut reader, 1) == [sent.clone()], "it comes whole");
        assert!(begun.elapsed() >= LATENCY, "waited for: {:?}", begun.elapsed());
        // by polling
        let begun = Instant::now();
        writer.write(&sent).expect("written");
        assert!(receive_by(&mut reader, 1, 0) == [sent.clone()]);
        assert!(begun.elapsed() >= LATENCY, "polled: {:?}", begun.elapsed());
        // by a listener
        let (heard, hears) = mpsc::channel();
        let listen = move |payload: &[u8]| heard.send((Instant::now(), payload.len())).expect("heard");
        let listener = participant.listener(&entity, listen).expect("a listener");
        let mut other = participant.writer(&entity).expect("a writer");
        connect(&other, &listener.monitor());
        let begun = Instant::now();
        other.write(&sent).expect("written");
        let (at, length) = hears.recv_timeout(WAIT).expect("it comes");
        assert!(at.duration_since(begun) >= LATENCY && length == sent.len());
    }
    assert_eq!(failed(participant.writer(&sized(131_073))).0, abi::TOO_LARGE);
}

#[test]
fn a_wait_without_samples_ends_no_earlier_than_asked() {
    let participant = open(&[("latency", "10s")]);
    let (mut writer, mut reader) = pair(&participant, &sized(100));
    writer.write(b"far away").expect("written");
    let begun = Instant::now();
    let mut waited = Duration::ZERO;
    while waited < Duration::from_millis(20) {
        assert_eq!(reader.receive(20_000_000, 10, |_| {}), Ok(0));
        waited = begun.elapsed();
    }
    assert_eq!(reader.receive(0, 10, |_| {}), Ok(0));
}

#[test]
fn a_reliable_writer_loses_nothing_and_keeps_the_order() {
    const SAMPLES: u32 = 3_000;
    let participant = open(&[
        ("latency", "normal:300us,200us"),
        ("loss", "20%"),
        ("retransmit", "100us"),
        ("duplicate", "1"),
        ("reorder", "10%"),
        ("full", "drop"),
        ("service", "1us"),
        ("queue", "4"),
    ]);
    let (mut writer, mut reader) = pair(&participant, &with(Reliability::Reliable, WAIT_NS));
    let write = thread::spawn(move || {
        for number in 0..SAMPLES {
            writer.write(&number.to_le_bytes()).expect("written");
        }
        writer
    });
    let came = receive(&mut reader, SAMPLES as usize);
    let numbers: Vec<_> =
        came.iter().map(|sample| u32::from_le_bytes(sample[..].try_into().expect("4 bytes"))).collect();
    assert!(numbers.iter().copied().eq(0..SAMPLES), "{} came", numbers.len());
    let counters = write.join().expect("no panic").counters();
    assert_eq!(counters.get("packets_sent"), Some(u64::from(SAMPLES)));
    // 750 expected
    assert!(counters.get("retransmitted").expect("counted") > 500);
    assert_eq!(reader.receive(10_000_000, 10, |_| {}), Ok(0), "nothing comes twice");
}

#[test]
fn best_effort_loses_and_doubles_what_it_is_told_to() {
    const SAMPLES: u32 = 2_000;
    let participant = open(&[("latency", "10us"), ("loss", "50%"), ("duplicate", "50%")]);
    let (mut writer, mut reader) = pair(&participant, &sized(100));
    let mut came = Vec::new();
    for number in 0..SAMPLES {
        writer.write(&number.to_le_bytes()).expect("written");
        reader.receive(0, 100, |payload| came.push(payload.to_vec())).expect("received");
    }
    let sent = writer.counters().get("packets_sent").expect("counted") as usize;
    while came.len() < sent {
        let before = came.len();
        reader.receive(WAIT_NS, 100, |payload| came.push(payload.to_vec())).expect("received");
        assert!(came.len() > before, "{before} of {sent} came");
    }
    let all = came.len();
    came.sort();
    came.dedup();
    let settings = writer.settings().expect("settings");
    let lost: usize = value_of(&settings, "lost_as_configured").expect("counted").parse().expect("a number");
    assert_eq!(came.len() + lost, SAMPLES as usize);
    // 1000 and 500 expected; five standard deviations are 112 and 80
    assert!(lost.abs_diff(1_000) < 112, "{lost}");
    assert!((all - came.len()).abs_diff(came.len() / 2) < 100, "{all} of {}", came.len());
}

#[test]
fn a_full_queue_blocks_times_out_or_refuses() {
    let with_service = |service| open(&[("service", service), ("queue", "1"), ("latency", "0")]);
    let participant = with_service("10s");
    let (mut writer, _reader) = pair(&participant, &with(Reliability::Reliable, 20_000_000));
    writer.write(b"in the server").expect("written");
    let begun = Instant::now();
    assert_eq!(writer.write_status(b"no room"), abi::TIMED_OUT);
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert_eq!(writer.counters().get("write_timed_out"), Some(1));

    let (mut writer, _reader) = pair(&participant, &with(Reliability::Reliable, 0));
    writer.write(b"in the server").expect("written");
    assert_eq!(writer.write_status(b"no room"), abi::REFUSED);
    assert_eq!(writer.counters().get("write_refused"), Some(1));

    let participant = with_service("200ms");
    let (mut writer, _reader) = pair(&participant, &with(Reliability::Reliable, WAIT_NS));
    let begun = Instant::now();
    writer.write(b"in the server").expect("written");
    writer.write(b"waits for it").expect("written");
    assert!(begun.elapsed() >= Duration::from_millis(200));
    assert_eq!(writer.counters().get("write_blocked"), Some(1));
}

#[test]
fn a_reader_that_takes_nothing_stops_the_writer_and_one_that_is_gone_does_not() {
    let participant = open(&[("latency", "0")]);
    let (mut writer, mut reader) = pair(&participant, &with(Reliability::Reliable, 5_000_000));
    let mut accepted = 0;
    let stopped = loop {
        match writer.write_status(&[1; 1000]) {
            abi::OK => accepted += 1,
            status => break status,
        }
        assert!(accepted < 1_000_000, "nothing stops it");
    };
    assert_eq!(stopped, abi::TIMED_OUT);
    assert_eq!(receive(&mut reader, accepted).len(), accepted, "what was accepted comes");
    reader.close().expect("closed");
    writer.write(b"without a reader").expect("accepted");
    assert_eq!(writer.matched(), Ok(0));
}

#[test]
fn samples_are_acknowledged_when_they_are_due_and_not_before() {
    const LATENCY: Duration = Duration::from_millis(300);
    let participant = open(&[("latency", "300ms")]);
    let (mut writer, _reader) = pair(&participant, &with(Reliability::Reliable, WAIT_NS));
    assert_eq!(writer.wait_acked(0), Ok(true), "nothing was written");
    let begun = Instant::now();
    writer.write(b"under way").expect("written");
    let acknowledged = writer.wait_acked(1_000_000).expect("no error");
    assert!(begun.elapsed() >= Duration::from_millis(1));
    // after a delay of the host by more than the latency it may be acknowledged
    assert!(!acknowledged || begun.elapsed() >= LATENCY);
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    assert!(begun.elapsed() >= LATENCY, "{:?}", begun.elapsed());

    // best effort needs no acknowledgement, and a writer without readers does not wait
    let (mut writer, reader) = pair(&participant, &with(Reliability::BestEffort, WAIT_NS));
    writer.write(b"under way").expect("written");
    assert_eq!(writer.wait_acked(0), Ok(true));
    let (mut writer, other) = pair(&participant, &with(Reliability::Reliable, WAIT_NS));
    other.close().expect("closed");
    writer.write(b"without a reader").expect("accepted");
    assert_eq!(writer.wait_acked(0), Ok(true));
    drop(reader);
}

#[test]
fn a_batch_is_one_packet_with_one_fate() {
    const SAMPLES: u64 = 3_000;
    let participant = open(&[("latency", "1us"), ("service", "1us"), ("loss", "50%")]);
    let batched = EndpointSpec { batch_bytes: 100, ..sized(100) };
    let (mut writer, mut reader) = pair(&participant, &batched);
    for settings in [writer.settings(), reader.settings()] {
        assert_eq!(value_of(&settings.expect("settings"), "batching"), Some("application"));
    }
    let mut came: Vec<Vec<u8>> = Vec::new();
    for number in 0..SAMPLES {
        // ten samples of 10 bytes make a batch
        writer.write(&[[0, 0].as_slice(), &number.to_le_bytes()].concat()).expect("written");
        if number % 10 == 9 {
            if number == 9 {
                assert_eq!(reader.receive(10_000_000, 1, |_| {}), Ok(0), "it is held back until the flush");
            }
            writer.flush().expect("flushed");
            reader.receive(10_000_000, 100, |payload| came.push(payload.to_vec())).expect("received");
        }
    }
    writer.flush().expect("nothing is held back");
    let numbers: Vec<u64> =
        came.iter().map(|sample| u64::from_le_bytes(sample[2..].try_into().expect("8 bytes"))).collect();
    let whole = numbers
        .chunks(10)
        .all(|batch| batch[0] % 10 == 0 && (batch[0]..batch[0] + 10).eq(batch.iter().copied()));
    assert!(whole, "all of a batch come, or none: {numbers:?}");
    // expected: 150 of 300 batches; five standard deviations are 43
    assert!((numbers.len() as u64 / 10).abs_diff(150) < 43, "{}", numbers.len());
    let lost = value_of(&writer.settings().expect("settings"), "lost_as_configured").map(str::to_owned);
    assert_eq!(lost, Some((SAMPLES - numbers.len() as u64).to_string()));
    let sent = writer.counters().get("packets_sent");
    assert_eq!(sent, Some(numbers.len() as u64 / 10));

    // a full batch is sent first; and waiting for acknowledgements includes all samples
    let reliable = EndpointSpec { batch_bytes: 100, ..with(Reliability::Reliable, WAIT_NS) };
    let (mut writer, mut reader) = pair(&participant, &reliable);
    for number in 0..15_u8 {
        writer.write(&[number; 10]).expect("written");
    }
    assert_eq!(writer.wait_acked(WAIT_NS), Ok(true));
    assert_eq!(receive(&mut reader, 15), (0..15).map(|number| vec![number; 10]).collect::<Vec<_>>());
    // the framing must fit, too
    let largest = EndpointSpec { batch_bytes: 100, ..sized(131_072) };
    let (status, text) = failed(participant.writer(&largest));
    assert_eq!(status, abi::TOO_LARGE);
    assert!(text.contains("with batching; hint: use samples of at most 131068 bytes"), "{text}");
    assert!(participant.writer(&EndpointSpec { max_payload_bytes: 131_068, ..largest }).is_ok());
}

#[test]
fn a_reader_that_keeps_the_last_lets_the_older_ones_go_and_one_that_keeps_all_does_not() {
    let participant = open(&[("latency", "1us")]);
    for (history, history_depth, expected) in [
        (Some(History::KeepLast), Some(3), 7..10),
        (Some(History::KeepAll), None, 0..10),
        // default
        (None, None, 0..10),
    ] {
        let qos = Qos { history, history_depth, reliability: Some(Reliability::Reliable), ..Qos::default() };
        let (mut writer, mut reader) = pair(&participant, &EndpointSpec { qos, ..sized(1) });
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
fn qos_is_what_is_there() {
    let participant = open(&[]);
    let (writer, reader) = pair(&participant, &with(Reliability::Reliable, 5));
    let qos = writer.qos().expect("QoS");
    assert_eq!(
        (qos.reliability, qos.max_blocking_ns),
        (Some(Reliability::Reliable), Some(QosDuration::Ns(5)))
    );
    assert_eq!(qos.durability, Some(Durability::Volatile));
    assert_eq!(reader.qos().expect("QoS").reliability, Some(Reliability::Reliable));
    let (writer, _) = pair(&participant, &sized(10));
    assert_eq!(writer.qos().expect("QoS").reliability, Some(Reliability::BestEffort));
    for qos in [
        Qos { durability: Some(Durability::TransientLocal), ..Qos::default() },
        Qos { deadline_ns: Some(QosDuration::Ns(1)), ..Qos::default() },
    ] {
        assert_eq!(failed(participant.writer(&EndpointSpec { qos, ..sized(1) })).0, abi::UNSUPPORTED);
    }
}

#[test]
fn options_are_in_force_or_refused() {
    let participant = open(&[("latency", "normal:1ms,2us")]);
    let settings = participant.settings().expect("settings");
    assert_eq!(value_of(&settings, "latency"), Some("normal:1ms,2us"));
    assert_eq!(value_of(&settings, "queue"), Some("1000"));
    for (options, expected) in [
        ([("latency", "soon")], "option `latency` cannot be `soon`: `soon` is not a time"),
        ([("colour", "red")], "colour"),
    ] {
        let (status, text) = failed(driver_testing::open(
            driver(),
            ParticipantSpec { options: &options, ..ParticipantSpec::default() },
        ));
        assert_eq!(status, abi::BAD_ARGUMENT);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn garbage_is_counted_and_never_given() {
    let participant = open(&[("latency", "0")]);
    let (mut writer, mut reader) = pair(&participant, &sized(100));
    let locator = reader.locator().expect("a locator");
    let name = locator.strip_prefix("sim:").expect("a locator");
    let address = net::SocketAddr::from_abstract_name(name).expect("an address");
    let stranger = net::UnixDatagram::unbound().expect("a socket");
    for garbage in [&[7_u8; 200][..], &[0; 3], b"ddsm-sim"] {
        stranger.send_to_addr(garbage, &address).expect("sent");
    }
    writer.write(b"ours").expect("written");
    assert_eq!(receive(&mut reader, 1), [b"ours"]);
    assert_eq!(reader.counters().get("malformed"), Some(3));
}
