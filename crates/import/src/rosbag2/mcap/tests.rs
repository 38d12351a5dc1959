//! Tests of MCAP files of each layout.

use std::io::{Cursor, Write as _};

use proptest::prelude::*;

use super::{
    super::recording::{Message, Recording},
    read_mcap,
    test_writer::{Layout, PLAIN, TestTopic, mcap},
};
use crate::error::ImportError;

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("a frame")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Uncompressed)
}

fn layouts() -> Vec<(&'static str, Layout)> {
    vec![
        ("plain", PLAIN),
        ("lz4", Layout { compression: ("lz4", lz4), ..PLAIN }),
        ("zstd", Layout { compression: ("zstd", zstd), ..PLAIN }),
        ("without an index", Layout { has_index: false, ..PLAIN }),
        ("zstd without an index", Layout { compression: ("zstd", zstd), has_index: false, ..PLAIN }),
        ("without chunks", Layout { chunk: 0, ..PLAIN }),
        ("without chunks and index", Layout { chunk: 0, has_index: false, ..PLAIN }),
    ]
}

fn topics() -> Vec<TestTopic<'static>> {
    let imu = (0..40).map(|index| (1_000 + index * 25, 990 + index * 25, vec![0; 48])).collect();
    let camera = (0..5)
        .map(|index| (1_010 + index * 300, 1_010 + index * 300, vec![0; 5_000 + index as usize]))
        .collect();
    vec![("/imu", "- depth: 1", imu), ("/camera", "", camera), ("/none", "", Vec::new())]
}

fn read(bytes: &[u8]) -> Result<Recording, ImportError> {
    let mut recording = Recording::default();
    read_mcap(Cursor::new(bytes), &mut recording).map(|()| recording)
}

fn expected() -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for (topic, (_, _, of_topic)) in (0..).zip(topics()) {
        messages.extend(of_topic.iter().map(|(log, publish, data)| Message {
            topic,
            bytes: data.len() as u64,
            log_ns: *log as i64,
            publish_ns: *publish as i64,
        }));
    }
    messages.sort_by_key(|message| message.log_ns);
    messages
}

#[test]
fn each_layout_has_the_same_topics_times_and_sizes() {
    for (name, layout) in layouts() {
        let recording = read(&mcap(&topics(), layout)).expect(name);
        assert_eq!(recording.messages, expected(), "{name}");
        let found = &recording.topics[0];
        assert_eq!((found.name.as_str(), found.offered_qos.as_str()), ("/imu", "- depth: 1"), "{name}");
        assert_eq!((found.message_type.as_str(), recording.topics.len()), ("test/msg/Data", 3), "{name}");
        assert_eq!(recording.remarks, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn metadata_in_the_file_is_the_last_one_in_each_layout() {
    for (name, layout) in layouts() {
        let bytes = mcap(&topics(), Layout { metadata: "ros_distro: jazzy", ..layout });
        let recording = read(&bytes).expect(name);
        assert_eq!(recording.own_metadata.as_deref(), Some("ros_distro: jazzy"), "{name}");
        assert_eq!(recording.messages, expected(), "{name}");
        assert_eq!(recording.not_applied, [], "{name}");
        assert_eq!(read(&mcap(&topics(), layout)).expect(name).own_metadata, None, "{name}");
    }
}

#[test]
fn cut_file_counts_as_far_as_it_goes() {
    let bytes = mcap(&topics(), PLAIN);
    let recording = read(&bytes[..bytes.len() / 2]).expect("a part");
    let number = recording.messages.len();
    assert!((1..45).contains(&number), "{number}");
    assert_eq!(recording.messages, expected()[..number]);
    assert!(recording.remarks[0].starts_with("the file is cut at byte "), "{:?}", recording.remarks);
    assert!(recording.remarks[0].ends_with(&format!("the {number} messages before it are used")));
}

#[test]
fn statistics_that_do_not_agree_are_a_remark() {
    let mut bytes = mcap(&topics(), PLAIN);
    let record = [11, 8 + 2 + 4 + 4 + 4 + 4 + 8 + 8 + 4, 0, 0, 0, 0, 0, 0, 0, 45];
    let at = bytes.windows(10).position(|window| window == record).expect("statistics");
    bytes[at + 9] = 46;
    let recording = read(&bytes).expect("a whole file");
    assert_eq!(recording.messages, expected());
    assert_eq!(recording.remarks, ["the file has 45 messages, its statistics say 46"]);
}

#[test]
fn other_files_are_rejected() {
    let message = |bytes: &[u8]| read(bytes).expect_err("it is rejected").to_string();
    assert_eq!(message(b""), "the file is empty");
    assert_eq!(message(b"SQLite format 3\0"), "byte 0: not an MCAP file");
    assert_eq!(message(b"\x89MCAP1\r\n"), "byte 5: MCAP version `1` is not supported");
    let unknown = mcap(&topics(), Layout { compression: ("brotli", <[u8]>::to_vec), ..PLAIN });
    assert!(message(&unknown).contains("compression `brotli` of a chunk is not supported"));
    let damaged = mcap(&topics(), Layout { compression: ("zstd", |bytes| vec![7; bytes.len()]), ..PLAIN });
    assert!(message(&damaged).contains("a compressed chunk is damaged"));
}

proptest! {
    #[test]
    fn any_change_is_read_or_rejected(at in 0_usize..6_000, value: u8, layout in 0_usize..7) {
        let mut bytes = mcap(&topics(), layouts()[layout].1);
        let length = bytes.len();
        bytes[at % length] = value;
        if let Err(error) = read(&bytes) {
            prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
        }
    }
}
