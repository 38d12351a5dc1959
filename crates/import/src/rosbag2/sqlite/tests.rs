//! Tests of SQLite files. `small.db3` was written by SQLite itself, with pages of 512 bytes: it has interior and overflow pages.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const SMALL: &[u8] = include_bytes!("../../../tests/data/small.db3");

fn read(bytes: &[u8]) -> Result<Recording, ImportError> {
    let mut recording = Recording::default();
    read_db3(Cursor::new(bytes), &mut recording).map(|()| recording)
}

#[test]
fn topics_times_and_sizes_are_those_that_were_written() {
    let recording = read(SMALL).expect("a bag");
    let names: Vec<&str> = recording.topics.iter().map(|topic| topic.name.as_str()).collect();
    assert_eq!(names, ["/imu", "/camera"]);
    assert_eq!(recording.topics[0].message_type, "sensor_msgs/msg/Imu");
    // Longer than a page.
    let qos = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n  deadline:\n    sec: 9223372036\n    nsec: 854775807\n";
    assert_eq!(recording.topics[0].offered_qos, qos.repeat(4));
    let mut expected = Vec::new();
    let begin = 1_700_000_000_000_000_000;
    for index in 0..60 {
        let ns = begin + index * 10_000_000;
        expected.push((0, 48, ns));
        if index % 20 == 0 {
            expected.push((1, 1_004 + index as u64, ns + 5));
        }
    }
    let found: Vec<(u32, u64, i64)> =
        recording.messages.iter().map(|message| (message.topic, message.bytes, message.log_ns)).collect();
    assert_eq!(found, expected);
}

/// `own-metadata.db3` has the schema of rosbag2 since Iron, whose file has the metadata of the bag: as it was when the file was opened, and at its end.
#[test]
fn metadata_in_the_file_is_the_last_one() {
    let recording = read(include_bytes!("../../../tests/data/own-metadata.db3")).expect("a bag");
    let text = recording.own_metadata.expect("metadata");
    assert!(text.starts_with("version: 9\nrelative_file_paths: [drive_0.db3]\nmessage_count: 3\n"), "{text}");
    assert!(text.ends_with("xx}\n") && text.len() > 600, "{text}");
    assert_eq!(read(SMALL).expect("a bag").own_metadata, None);
}

#[test]
fn other_files_are_rejected() {
    let message = |bytes: &[u8]| read(bytes).expect_err("it is rejected").to_string();
    assert_eq!(message(b""), "the file is empty");
    assert_eq!(message(&[0; 200]), "byte 0: not a SQLite file");
    assert!(message(&SMALL[..1_024]).contains("is missing"));
    let mut other = SMALL.to_vec();
    for at in 0..other.len() - 8 {
        if other[at..].starts_with(b"messages") {
            other[at] = b'M';
        }
    }
    assert_eq!(message(&other), "not a bag of rosbag2: it has no table `messages`");
}

#[test]
fn names_of_columns_are_read_from_the_statement() {
    let sql = "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,\n \"type\" TEXT, `offered_qos_profiles` TEXT)";
    assert_eq!(column_names(sql), ["id", "name", "type", "offered_qos_profiles"]);
}

proptest! {
    #[test]
    fn any_change_is_read_or_rejected(at in 0..SMALL.len(), value: u8) {
        let mut bytes = SMALL.to_vec();
        bytes[at] = value;
        if let Err(error) = read(&bytes) {
            prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
        }
    }
}
