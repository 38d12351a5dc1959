use experiment::StreamSpec;

use super::*;
use crate::traffic::{header::Header, identity::PayloadSize, keys::Keys};

const IDENTITY: Identity =
    Identity { tag: 5, writer: 1, size: PayloadSize::One(64), since_ns: 0, keys: Keys::NONE, slack_ns: 0 };

#[test]
fn second_echo_of_an_earlier_ping_is_a_duplicate() {
    let mut echoes = EchoRecorder::new(IDENTITY, Payloads::new(1, 64), 1);
    let flight = echoes.flight();
    let mut payloads = Payloads::new(1, 64);
    let mut echo = |awaited: u64, sequence: u64| {
        flight.arrived_ns.store(0, Relaxed);
        flight.awaited.store(awaited, Relaxed);
        let header =
            Header { sequence: sequence as u32, writer: 1, tag: 5, warm_up: false, sent_ns: now_ns() };
        echoes.arrived(Sample::new(payloads.stamped(sequence, &header), 0));
        [echoes.late, echoes.duplicate]
    };
    assert_eq!(echo(0, 0), [0, 0]);
    assert_eq!(echo(1, 1), [0, 0]);
    assert_eq!(echo(2, 1), [0, 1], "ping 1 has returned");
    assert_eq!(echo(4, 3), [1, 1], "ping 3 was lost");
    assert_eq!(echo(4, 3), [1, 2]);
    assert_eq!(echo(NOTHING, 4), [2, 2]);
}

#[test]
fn echo_with_another_key_is_corrupt() {
    let keys = Keys::of_stream(&StreamSpec {
        writer: 1,
        size_bytes: 64,
        instances: Some(3),
        ..StreamSpec::default()
    });
    let mut echoes = EchoRecorder::new(Identity { keys, ..IDENTITY }, Payloads::new(1, 64), u32::MAX);
    let flight = echoes.flight();
    let mut payloads = Payloads::new(1, 64);
    for (sequence, key) in [(1, 1), (2, 2), (3, 0), (4, 2)] {
        flight.arrived_ns.store(0, Relaxed);
        flight.awaited.store(sequence, Relaxed);
        let header =
            Header { sequence: sequence as u32, writer: 1, tag: 5, warm_up: false, sent_ns: now_ns() };
        echoes.arrived(Sample::new(payloads.stamped(sequence, &header), key));
    }
    assert_eq!((echoes.content.corrupt, echoes.returned.delivered()), (1, 4));
}
