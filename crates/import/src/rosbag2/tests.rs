//! Tests of the conversion of recordings.

use super::*;
use crate::system::RecordedSends;

/// Name, QoS, and the time in ms and size of each message.
type TestTopic<'t> = (&'t str, &'t str, &'t [(i64, u64)]);

fn recording(topics: &[TestTopic<'_>]) -> Recording {
    let mut recording = Recording::default();
    let mut messages = Vec::new();
    for (name, qos, of_topic) in topics {
        let topic = RecordedTopic {
            name: (*name).into(),
            message_type: "a/msg/B".into(),
            offered_qos: (*qos).into(),
            ..RecordedTopic::default()
        };
        let topic = recording.topic(topic);
        let message = |(ms, bytes): &(i64, u64)| Message {
            topic,
            bytes: *bytes,
            log_ns: ms * 1_000_000,
            publish_ns: ms * 1_000_000,
        };
        messages.extend(of_topic.iter().map(message));
    }
    messages.sort_by_key(|message| message.log_ns);
    recording.messages = messages;
    recording
}

fn import(recording: &Recording, choices: &BagChoices) -> System {
    rosbag2(recording, choices, Vec::new()).expect("a system")
}

const VOLATILE: &str = "- durability: 2";
const IMU: &[(i64, u64)] = &[(1_000, 300), (1_010, 300), (1_020, 300)];

/// Returns the recorded samples of a topic.
fn recorded(topic: &Topic) -> RecordedSends {
    let Sends::Recorded(recorded) = &topic.sends else { panic!("{topic:?}") };
    recorded.clone()
}

#[test]
fn recorded_times_start_at_the_first_message_of_the_bag() {
    let bag = recording(&[("/imu", VOLATILE, IMU), ("/scan", VOLATILE, &[(1_005, 100), (1_015, 201)])]);
    let system = import(&bag, &BagChoices::default());
    let samples = |times_ns: &[u64], sizes_bytes: &[u64]| RecordedSends {
        times_ns: times_ns.to_vec(),
        sizes_bytes: sizes_bytes.to_vec(),
    };
    assert_eq!(recorded(&system.topics[0]), samples(&[0, 10_000_000, 20_000_000], &[]));
    assert_eq!(recorded(&system.topics[1]), samples(&[5_000_000, 15_000_000], &[100, 201]));
    assert_eq!([0, 1].map(|topic: usize| system.topics[topic].size_bytes), [300, 151]);
    assert_eq!(system.not_applied, []);
    let rates = import(&bag, &BagChoices { rates: true, ..BagChoices::default() });
    assert_eq!(rates.topics[0].sends, Sends::Rate(Rate::every(10_000_000)));
    assert_eq!(
        rates.not_applied[2].to_string(),
        "order of the sizes of `/scan`: 100 to 201 B; each sample has one of these, as often as recorded, in a random order"
    );
}

#[test]
fn sizes_are_those_recorded_in_their_order_and_drawn_as_often_with_rates() {
    let of = |sizes: &[u64], rates: bool| {
        let messages: Vec<(i64, u64)> = (0..).zip(sizes).map(|(at, size)| (10 * at, *size)).collect();
        let choices = BagChoices { rates, ..BagChoices::default() };
        import(&recording(&[("/scan", VOLATILE, &messages)]), &choices).topics.swap_remove(0)
    };
    assert_eq!((of(&[300; 5], true).sizes, recorded(&of(&[300; 5], false)).sizes_bytes), (None, Vec::new()));
    let values = |values: &[u64], weights: &[u32]| {
        Some(SizeDistribution::Values { values: values.to_vec(), weights: weights.to_vec() })
    };
    let mixed = [27, 1_009, 27, 64, 27];
    let topic = of(&mixed, true);
    assert_eq!((topic.sizes, topic.size_bytes), (values(&[27, 64, 1_009], &[3, 1, 1]), 231));
    let topic = of(&mixed, false);
    assert_eq!((recorded(&topic).sizes_bytes, topic.sizes, topic.size_bytes), (mixed.to_vec(), None, 231));
    // Parts of two messages each, with the mean of all messages.
    let many: Vec<u64> = (0..128).map(|index| 100 + 10 * index).rev().collect();
    let topic = of(&many, true);
    let means: Vec<u64> = (0..64).map(|part| 105 + 20 * part).collect();
    assert_eq!((topic.sizes, topic.size_bytes), (values(&means, &[2; 64]), 735));
    let topic = of(&many, false);
    assert_eq!((recorded(&topic).sizes_bytes, topic.size_bytes), (many, 735));
}

#[test]
fn part_of_a_bag_is_used_on_request() {
    let bag = recording(&[("/imu", VOLATILE, &[(0, 1), (40, 1), (50, 1), (60, 1), (31_000, 1)])]);
    let part = BagChoices { from_ns: 40_000_000, for_ns: Some(15_000_000), ..BagChoices::default() };
    assert_eq!(recorded(&import(&bag, &part).topics[0]).times_ns, [0, 10_000_000]);
    let usual = import(&bag, &BagChoices::default());
    assert_eq!(
        usual.not_applied[0].to_string(),
        "messages after 30 s: only 30 s are used; `--for` changes it"
    );
    let none = BagChoices { from_ns: 20_000_000_000, for_ns: Some(1_000_000_000), ..BagChoices::default() };
    assert!(rosbag2(&bag, &none, Vec::new()).is_err());
}

#[test]
fn topics_without_traffic_are_noted() {
    let kept = "- durability: transient_local";
    let rosout: &[(i64, u64)] = &[(1_000, 90), (1_020, 90)];
    let bag = recording(&[
        ("/imu", VOLATILE, IMU),
        ("/map", kept, &[(1_000, 9), (1_001, 9)]),
        ("/once", VOLATILE, &[(1_002, 9)]),
        ("/none", VOLATILE, &[]),
        ("/rosout", VOLATILE, rosout),
        ("/set/_service_event", VOLATILE, rosout),
    ]);
    let system = import(&bag, &BagChoices::default());
    assert_eq!((system.topics.len(), system.not_applied.len()), (1, 5), "{:?}", system.not_applied);
    assert_eq!(import(&bag, &BagChoices { all: true, ..BagChoices::default() }).topics.len(), 3);
}

#[test]
fn processes_are_chosen() {
    let bag = recording(&[("/front/imu", VOLATILE, IMU)]);
    let topic = &import(&bag, &BagChoices::default()).topics[0];
    assert_eq!((topic.from.len(), topic.to.len()), (0, 0));
    let choices = BagChoices { readers: Some(2), process_prefix: true, ..BagChoices::default() };
    let topic = &import(&bag, &choices).topics[0];
    assert_eq!(
        (&topic.from[..], &topic.to[..]),
        (&["front".to_owned()][..], &["reader-1".to_owned(), "reader-2".into()][..])
    );
}
