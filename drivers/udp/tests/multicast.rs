//! Tests of multicast with kernel sockets on both ends. IPv6 has no multicast route over `lo` by default, so that
//! part runs in a network namespace of its own.
mod harness;

use driver_kit::abi;
use driver_testing::{Participant, ParticipantSpec, value_of};
use harness::*;

fn multicasting(transport: &str) -> Participant {
    let how = ParticipantSpec { transport: Some(transport), multicast: true, ..ParticipantSpec::default() };
    driver_testing::open(driver(), how).unwrap_or_else(|failure| panic!("{transport}: {}", failure.text))
}

/// Returns the number of multicast packets that this network namespace has sent, according to the kernel.
fn sent_by_multicast() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/netstat").expect("counters");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("IpExt:"));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let place = names.split_whitespace().position(|name| name == "OutMcastPkts").expect("the counter");
    values.split_whitespace().nth(place).and_then(|value| value.parse().ok()).expect("a count")
}

/// Checks with one writer and two readers that each datagram is sent once and received by both, and by no other
/// reader.
fn one_datagram_reaches_all(transport: &str, scope: &str) {
    let participant = multicasting(transport);
    let elsewhere = participant.reader(&sized(100)).expect("a reader without a writer");
    let (mut writer, mut first) = pair(&participant, &sized(100));
    let mut second = participant.reader(&sized(100)).expect("a reader");
    connect(&writer, &second);
    assert_eq!(writer.matched(), Ok(2));
    for number in 0..50u8 {
        writer.write(&[number; 100]).expect("written");
    }
    for reader in [&mut first, &mut second] {
        let expected: Vec<_> = (0..50u8).map(|number| vec![number; 100]).collect();
        assert_eq!(receive(reader, 50), expected);
        assert_eq!(reader.receive(50_000_000, 10, |_| {}), Ok(0), "nothing comes twice");
    }
    assert_eq!(writer.counters().get("packets_sent"), Some(50), "once for both readers");
    drop(elsewhere);

    let locator = first.locator().expect("a locator");
    assert!(locator.contains(scope), "{locator}");
    assert_ne!(Ok(locator), second.locator(), "the readers of a group are told apart");
    let rows =
        [participant.settings(), writer.settings(), first.settings()].map(|rows| rows.expect("settings"));
    for rows in &rows {
        assert_eq!(value_of(rows, "multicast"), Some("on"));
    }
    assert_eq!(value_of(&rows[1], "multicast_hops"), Some("0"), "it stays on this host");
    assert_eq!(value_of(&rows[1], "multicast_loop"), Some("true"));
}

#[test]
fn one_ipv4_datagram_reaches_all_readers() {
    let before = sent_by_multicast();
    one_datagram_reaches_all("udp4", "udp4:239.255.");
    assert!(sent_by_multicast() - before >= 50, "the kernel counts it");
}

#[test]
fn one_ipv6_datagram_reaches_all_readers() {
    if is_within() {
        one_datagram_reaches_all("udp6", "udp6:[ff11::");
    } else {
        within_namespace(
            "one_ipv6_datagram_reaches_all_readers",
            "ip link set lo up; ip -6 route add local ff00::/8 dev lo table local",
        );
    }
}

#[test]
fn an_interface_without_a_way_is_refused_at_once() {
    if is_within() {
        let how = ParticipantSpec { transport: Some("udp6"), multicast: true, ..ParticipantSpec::default() };
        let (status, text) = failed(driver_testing::open(driver(), how));
        assert_eq!(status, abi::UNSUPPORTED);
        assert!(text.contains("multicast over `udp6` is not possible on interface `lo`: "), "{text}");
        assert!(
            text.ends_with("hint: add a route with `ip -6 route add local ff00::/8 dev lo table local`"),
            "{text}"
        );
        println!("{text}");
    } else {
        within_namespace("an_interface_without_a_way_is_refused_at_once", "ip link set lo up");
    }
}

#[test]
fn a_way_that_loses_everything_is_refused_at_once() {
    if is_within() {
        let how = ParticipantSpec { transport: Some("udp6"), multicast: true, ..ParticipantSpec::default() };
        let (status, text) = failed(driver_testing::open(driver(), how));
        assert_eq!(status, abi::UNSUPPORTED);
        assert!(text.contains("a datagram to the multicast group was not received"), "{text}");
    } else {
        within_namespace(
            "a_way_that_loses_everything_is_refused_at_once",
            "ip link set lo up; ip -6 route add ff00::/8 dev lo",
        );
    }
}

#[test]
fn both_ends_must_agree() {
    let (with, without) = (multicasting("udp4"), open("udp4"));
    let [mut one, mut other] = [&with, &without].map(|way| way.writer(&sized(10)).expect("a writer"));
    let [many, single] = [&with, &without].map(|way| way.reader(&sized(10)).expect("a reader"));
    for (writer, reader) in [(&mut one, single), (&mut other, many)] {
        let (status, text) = failed(writer.connect(&reader.locator().expect("a locator")));
        assert_eq!(status, abi::BAD_ARGUMENT);
        assert!(text.ends_with("hint: open writer and reader with the same value of `multicast`"), "{text}");
    }
}

#[test]
fn batches_and_the_largest_datagram_arrive() {
    let participant = multicasting("udp4");
    let (mut writer, mut reader) = pair(&participant, &sized(65_507));
    writer.write(&pattern(65_507, 3)).expect("written");
    assert!(receive(&mut reader, 1) == [pattern(65_507, 3)]);
    let batched = driver_testing::EndpointSpec { batch_bytes: 1_000, ..sized(100) };
    let (mut writer, mut reader) = pair(&participant, &batched);
    for number in 0..10 {
        writer.write(&[number; 100]).expect("written");
    }
    writer.flush().expect("flushed");
    assert_eq!(receive(&mut reader, 10).len(), 10);
    assert_eq!(writer.counters().get("packets_sent"), Some(1));
}
