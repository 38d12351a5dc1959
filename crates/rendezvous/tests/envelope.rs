//! The envelope delivers exactly what was sent, whatever else arrives.

use proptest::prelude::*;
use rendezvous::{
    PeerAddress, PeerRole, ProcessId,
    envelope::{Arrival, MAX_CHUNK_BYTES, MAX_CHUNKS, MAX_MESSAGE_BYTES, Reassembly, Sample, Splitter},
};

fn address(process: u64) -> PeerAddress {
    let process = ProcessId::from_raw(process).expect("a number");
    PeerAddress { process, role: PeerRole::Subscriber, id: 0 }
}

const SENDER: u64 = 1;
const RECEIVER: u64 = 2;

fn receiver() -> Reassembly {
    Reassembly::new(address(RECEIVER).process)
}

fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let length = prop_oneof![
        8 => 0..200usize,
        4 => 0..4 * MAX_CHUNK_BYTES,
        1 => Just(MAX_CHUNK_BYTES),
        1 => Just(2 * MAX_CHUNK_BYTES),
        1 => 0..=MAX_MESSAGE_BYTES,
    ];
    let message = (length, any::<u8>()).prop_map(|(length, seed)| {
        (0..length).map(|index| (index as u8).wrapping_mul(31).wrapping_add(seed)).collect()
    });
    prop::collection::vec(message, 1..12)
}

fn delivered(arrivals: Vec<Arrival>) -> Vec<Vec<u8>> {
    arrivals
        .into_iter()
        .map(|arrival| match arrival {
            Arrival::Message { from, bytes, .. } => {
                assert_eq!(from, address(SENDER));
                bytes
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

/// Samples of hostile processes, with a valid checksum.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let numbers = prop_oneof![0..5u64, Just(u64::MAX), any::<u64>()];
    let chunks = prop_oneof![0..4u16, Just(MAX_CHUNKS), any::<u16>()];
    let length = prop_oneof![0..50usize, Just(MAX_CHUNK_BYTES)];
    let to = prop_oneof![Just(0), Just(RECEIVER), any::<u64>()];
    (1..6u64, to, numbers, chunks.clone(), chunks, length, any::<u8>()).prop_map(
        |(from, to, message, chunk, chunks, length, fill)| {
            let bytes = vec![fill; length];
            let (from, to) = (address(from + 10), ProcessId::from_raw(to));
            Sample { from, to, message, chunk, chunks, bytes: &bytes }.encode()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn messages_to_one_arrive_in_order_whatever_the_order_of_samples(
        messages in messages(), keys in prop::collection::vec(any::<u64>(), 64), repeat in 1..3usize,
    ) {
        let mut splitter = Splitter::new(address(SENDER));
        let to = Some(address(RECEIVER).process);
        let mut total = 0;
        let mut samples = Vec::new();
        for message in &messages {
            // Memory of a sender is limited.
            total += message.len();
            prop_assume!(total < 3 * MAX_MESSAGE_BYTES);
            samples.extend(splitter.split(to, message).expect("short enough"));
        }
        let mut samples: Vec<_> = samples.iter().cycle().take(samples.len() * repeat).enumerate().collect();
        samples.sort_by_key(|(index, _)| keys[index % keys.len()].wrapping_mul(*index as u64 + 1));
        let mut reassembly = receiver();
        let mut received = Vec::new();
        for (_, sample) in samples {
            received.extend(delivered(reassembly.accept(sample)));
        }
        prop_assert_eq!(received.len(), messages.len());
        prop_assert!(received == messages);
        prop_assert_eq!(reassembly.bytes, 0);
    }

    #[test]
    fn of_messages_to_all_the_last_one_arrives_and_none_is_older_than_the_one_before(
        messages in messages(), keys in prop::collection::vec(any::<u64>(), 64),
    ) {
        let mut splitter = Splitter::new(address(SENDER));
        let mut samples = Vec::new();
        let mut total = 0;
        for (number, message) in messages.iter().enumerate() {
            let numbered = [&[number as u8], &message[..message.len().min(MAX_MESSAGE_BYTES - 1)]].concat();
            total += numbered.len();
            prop_assume!(total < 3 * MAX_MESSAGE_BYTES);
            samples.extend(splitter.split(None, &numbered).expect("short enough"));
        }
        let mut samples: Vec<_> = samples.iter().enumerate().collect();
        samples.sort_by_key(|(index, _)| keys[index % keys.len()].wrapping_mul(*index as u64 + 1));
        let mut reassembly = receiver();
        let mut numbers = Vec::new();
        for (_, sample) in samples {
            for message in delivered(reassembly.accept(sample)) {
                numbers.push(message[0]);
                prop_assert!(message[1..] == messages[usize::from(message[0])][..message.len() - 1]);
            }
        }
        prop_assert!(numbers.is_sorted(), "{:?}", numbers);
        prop_assert_eq!(numbers.last().map(|number| usize::from(*number)), Some(messages.len() - 1));
        prop_assert_eq!(reassembly.bytes, 0);
    }

    #[test]
    fn hostile_samples_change_nothing_of_what_others_send(
        messages in messages(), hostile in prop::collection::vec(hostile(), 0..400), noise in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut splitter = Splitter::new(address(SENDER));
        let to = Some(address(RECEIVER).process);
        let mut reassembly = receiver();
        let mut received = Vec::new();
        let mut hostile = hostile.iter();
        for message in &messages {
            for sample in splitter.split(to, message).expect("short enough") {
                for other in hostile.by_ref().take(3) {
                    for arrival in reassembly.accept(other) {
                        let (Arrival::Message { from, .. } | Arrival::Broken { from, .. }) = arrival else {
                            panic!("{arrival:?}")
                        };
                        prop_assert!(from != address(SENDER));
                    }
                }
                prop_assert_eq!(reassembly.accept(&noise), []);
                received.extend(delivered(reassembly.accept(&sample)));
            }
        }
        prop_assert!(received == messages);
        prop_assert!(reassembly.bytes < 64 << 20);
    }
}

#[test]
fn memory_is_bounded_whatever_arrives() {
    let mut reassembly = receiver();
    let bytes = vec![7; MAX_CHUNK_BYTES];
    let mut broken = 0;
    for process in 0..60 {
        for message in 0..70 {
            for chunk in 0..8 {
                let (from, to) = (address(process + 10), Some(address(RECEIVER).process));
                // The first chunk never arrives.
                let sample =
                    Sample { from, to, message, chunk: chunk + 1, chunks: MAX_CHUNKS, bytes: &bytes };
                broken += reassembly.accept(&sample.encode()).len();
            }
        }
        assert!(reassembly.bytes < 64 << 20, "{}", reassembly.bytes);
    }
    // Each of them is named, once.
    assert_eq!(broken, 60);
}

#[test]
fn many_senders_need_bounded_memory() {
    let mut reassembly = receiver();
    for process in 10..20_000 {
        let sample =
            Sample { from: address(process), to: None, message: 0, chunk: 1, chunks: 2, bytes: b"x" };
        assert_eq!(reassembly.accept(&sample.encode()), []);
    }
    assert!(reassembly.bytes < 1 << 20, "{}", reassembly.bytes);
}

#[test]
fn message_after_a_missing_one_is_not_delivered() {
    let mut splitter = Splitter::new(address(SENDER));
    let to = Some(address(RECEIVER).process);
    let mut samples = (0..200u8).map(|number| splitter.split(to, &[number]).expect("short").remove(0));
    let mut reassembly = receiver();
    let _missing = samples.next();
    let arrivals: Vec<Arrival> = samples.flat_map(|sample| reassembly.accept(&sample)).collect();
    assert_eq!(arrivals, [Arrival::Broken { from: address(SENDER), cause: "a message of it is missing" }]);
}

#[test]
fn messages_to_other_processes_and_own_ones_are_ignored() {
    let mut reassembly = receiver();
    // An earlier process with the same role and id had another number.
    let mut splitter = Splitter::new(address(SENDER));
    for sample in splitter.split(Some(address(3).process), b"old").expect("short") {
        assert_eq!(reassembly.accept(&sample), []);
    }
    let mut splitter = Splitter::new(address(RECEIVER));
    for sample in splitter.split(None, b"own").expect("short") {
        assert_eq!(reassembly.accept(&sample), []);
    }
    assert_eq!((reassembly.bytes, reassembly.strangers, reassembly.invalid), (0, 0, 0));
}

#[test]
fn process_does_not_change_its_role() {
    let mut reassembly = receiver();
    let mut splitter = Splitter::new(address(SENDER));
    let first = splitter.split(None, b"first").expect("short").remove(0);
    assert_eq!(reassembly.accept(&first).len(), 1);
    let mut splitter = Splitter::new(PeerAddress { id: 5, ..address(SENDER) });
    splitter.split(None, b"skipped").expect("short");
    let second = splitter.split(None, b"second").expect("short").remove(0);
    assert_eq!(reassembly.accept(&second), []);
    assert_eq!(reassembly.invalid, 1);
}

#[test]
fn message_over_the_limit_is_rejected() {
    let mut splitter = Splitter::new(address(SENDER));
    assert_eq!(
        splitter.split(None, &vec![0; MAX_MESSAGE_BYTES]).expect("long").len(),
        usize::from(MAX_CHUNKS)
    );
    let error = splitter.split(None, &vec![0; MAX_MESSAGE_BYTES + 1]).unwrap_err();
    assert_eq!(error.to_string(), "a control message of 1048577 bytes is too long: at most 1048576");
}
