//! Tests of a ring beside a model of it, and between two threads.
use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    thread,
};

use proptest::{collection::vec, prelude::*};

use crate::{
    layout::{MIN_CAPACITY, RINGS, record},
    locator::WriterId,
    ring::{Consumer, Producer},
    segment::Segment,
};

const MAX_PAYLOAD: usize = 20_000;

/// Returns the memory of a reader, and the same memory as its writer opens it.
fn memories() -> [Arc<Segment>; 2] {
    let own = Segment::create("ring-tests", MIN_CAPACITY, MAX_PAYLOAD).expect("a memory");
    let attached = Segment::attach(&own.locator()).expect("the same memory");
    [own, attached].map(Arc::new)
}

fn ends() -> (Producer, Consumer) {
    let [own, attached] = memories();
    let producer = Producer::claim(&attached, WriterId::next()).expect("a ring");
    (producer, Consumer::open(&own, 0).expect("the same ring"))
}

fn payload(size: usize, number: usize) -> Vec<u8> {
    (0..size).map(|index| (index + number) as u8).collect()
}

/// Operation on a ring.
#[derive(Clone, Debug)]
enum Step {
    /// Copies a sample of this size, if there is room.
    Push(usize),
    Publish,
    /// Takes this many samples.
    Drain(u32),
    Count,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..100usize).prop_map(Step::Push),
        2 => (0..=MAX_PAYLOAD).prop_map(Step::Push),
        2 => Just(Step::Publish),
        2 => (1..20u32).prop_map(Step::Drain),
        1 => Just(Step::Count),
    ]
}

proptest! {
    #[test]
    fn ring_does_what_a_queue_of_limited_size_does(steps in vec(step(), 0..300)) {
        let (mut producer, mut consumer) = ends();
        let (mut queue, mut visible, mut used) = (VecDeque::new(), 0, 0);
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Push(size) => {
                    let has_room = used + record(size) <= MIN_CAPACITY as usize;
                    prop_assert_eq!(producer.has_room(record(size)), has_room);
                    if has_room {
                        producer.push(&payload(size, number));
                        queue.push_back(payload(size, number));
                        used += record(size);
                    }
                }
                Step::Publish => {
                    let bytes: usize = queue.iter().skip(visible).map(Vec::len).sum();
                    let expected = (visible < queue.len()).then_some(bytes as u64);
                    prop_assert_eq!(producer.publish(), expected);
                    visible = queue.len();
                }
                Step::Drain(most) => {
                    let mut given = Vec::new();
                    let count = consumer.drain(most, |payload| given.push(payload.to_vec())) as usize;
                    prop_assert_eq!(count, visible.min(most as usize));
                    let expected: Vec<_> = queue.drain(..count).collect();
                    used -= expected.iter().map(|sample| record(sample.len())).sum::<usize>();
                    visible -= count;
                    prop_assert!(given == expected);
                }
                Step::Count => prop_assert_eq!(consumer.count(), visible),
            }
            prop_assert!(!consumer.broken);
            prop_assert_eq!(producer.is_taken(), visible == 0);
        }
    }

    #[test]
    fn any_bytes_give_samples_within_the_ring_or_break_it(
        words in vec(prop_oneof![0..40u64, any::<u64>()], 1..100),
        head in prop_oneof![0..900u64, any::<u64>()],
    ) {
        let [own, attached] = memories();
        let producer = Producer::claim(&attached, WriterId::next()).expect("a ring");
        let mut consumer = Consumer::open(&own, 0).expect("the ring");
        let mut ring = attached.map_ring(0, true).expect("the ring once more");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        ring.write(0, &bytes);
        own.control().rings[0].head.store(head, Ordering::Release);
        let mut bytes = 0;
        while consumer.drain(3, |payload| {
            assert!(payload.len() <= MAX_PAYLOAD);
            bytes += record(payload.len()) as u64;
        }) > 0 {}
        if consumer.broken {
            prop_assert!(bytes <= MIN_CAPACITY);
            prop_assert_eq!((consumer.drain(1, |_| {}), consumer.count(), consumer.has_news()), (0, 0, false));
        } else {
            prop_assert_eq!(bytes, head, "every byte belongs to a record");
        }
        drop(producer);
    }
}

#[test]
fn samples_pass_between_threads_that_sleep() {
    const SAMPLES: usize = 20_000;
    let [own, attached] = memories();
    let writer = thread::spawn(move || {
        let mut producer = Producer::claim(&attached, WriterId::next()).expect("a ring");
        for number in 0..SAMPLES {
            let sample = payload(number % 700, number);
            while !producer.has_room(record(sample.len())) {
                producer.wait(1_000_000_000, |ring| ring.has_room(record(sample.len())));
            }
            producer.push(&sample);
            producer.publish();
        }
        while !producer.is_taken() {
            producer.wait(1_000_000_000, Producer::is_taken);
        }
    });
    let bell = &own.control().bell;
    let mut consumer = Consumer::open(&own, 0).expect("the ring");
    let mut next = 0;
    while next < SAMPLES {
        let taken = consumer.drain(u32::MAX, |sample| {
            assert!(sample == payload(next % 700, next), "sample {next}");
            next += 1;
        });
        if taken == 0 {
            bell.sleep(1_000_000_000, || consumer.has_news());
        }
    }
    writer.join().expect("no panic");
}

#[test]
fn every_ring_has_one_writer_and_is_free_after_it() {
    let [own, attached] = memories();
    let mut producers: Vec<_> =
        (0..RINGS).map(|_| Producer::claim(&attached, WriterId::next()).expect("a ring")).collect();
    let error = Producer::claim(&attached, WriterId::next()).expect_err("no ring is left").to_string();
    assert_eq!(error, "all 256 rings of the reader have a writer; hint: use fewer writers for each reader");
    producers[7].push(b"last");
    let mut consumer = Consumer::open(&own, 7).expect("the ring");
    drop(producers.swap_remove(7));
    assert!(consumer.is_closed() && consumer.has_news(), "a close publishes");
    assert!(Producer::claim(&attached, WriterId::next()).is_err(), "the reader gives rings back");
    assert_eq!(consumer.drain(9, |payload| assert_eq!(payload, b"last")), 1);
    consumer.free();
    let mut again = Producer::claim(&attached, WriterId::next()).expect("the ring is free");
    again.push(b"first");
    again.publish();
    let mut consumer = Consumer::open(&own, 7).expect("the ring");
    assert!(!consumer.is_closed());
    assert_eq!(consumer.drain(9, |payload| assert_eq!(payload, b"first")), 1);
}

#[test]
fn position_of_a_faulty_reader_is_ignored() {
    let [own, attached] = memories();
    let mut producer = Producer::claim(&attached, WriterId::next()).expect("a ring");
    producer.push(&[1; 100]);
    producer.publish();
    producer.push(&[2; 100]);
    let tail = &own.control().rings[0].tail.position;
    for position in [200, u64::MAX, 1 << 40] {
        tail.store(position, Ordering::Release);
        assert!(!producer.is_taken(), "{position} was not published");
    }
    tail.store(112, Ordering::Release);
    assert!(producer.is_taken());
}
