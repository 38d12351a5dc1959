//! Recording: topics, and the time and size of each message.

use std::collections::BTreeMap;

use crate::{error::ImportError, system::NotApplied};

/// Most messages of a recording.
const MAX_MESSAGES: usize = 50_000_000;
/// First bytes of a message that show whether it is compressed, and its true size.
pub(super) const HEAD_BYTES: usize = 18;
/// First bytes of a frame of Zstandard. A message in CDR begins with 0.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Recording of a bag: one file, or several that follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Topics.
    pub topics: Vec<RecordedTopic>,
    /// Messages, in the order of the files.
    pub messages: Vec<Message>,
    /// Remarks about the files.
    pub remarks: Vec<String>,
    /// Parts of the description of the bag that are not applied.
    pub not_applied: Vec<NotApplied>,
    /// Number of messages that are compressed one by one.
    pub compressed_messages: u64,
    /// Metadata that the last file has of the bag, as YAML text.
    pub own_metadata: Option<String>,
    indexes: BTreeMap<String, u32>,
}

/// Topic of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedTopic {
    /// Name.
    pub name: String,
    /// Message type.
    pub message_type: String,
    /// QoS of its writers as YAML text. Empty: unknown.
    pub offered_qos: String,
    /// Serialization format and hash of its type, as far as the metadata has them.
    pub type_details: Vec<String>,
}

/// Message of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Index of its topic.
    pub topic: u32,
    /// Bytes of its data, not compressed.
    pub bytes: u64,
    /// Time when it was recorded, in ns.
    pub log_ns: i64,
    /// Time when it was published, in ns; the same if it is not known.
    pub publish_ns: i64,
}

impl Recording {
    /// Adds a topic, unless it is there; returns its index.
    pub(super) fn topic(&mut self, topic: RecordedTopic) -> u32 {
        if let Some(index) = self.indexes.get(&topic.name) {
            let known = &mut self.topics[*index as usize];
            if known.offered_qos.is_empty() {
                known.offered_qos = topic.offered_qos;
            }
            return *index;
        }
        let index = self.topics.len() as u32;
        self.indexes.insert(topic.name.clone(), index);
        self.topics.push(topic);
        index
    }

    /// Adds a message. `head`: the first bytes of its data. `stored`: the number of stored bytes.
    pub(super) fn message(
        &mut self,
        mut message: Message,
        head: &[u8],
        stored: u64,
    ) -> Result<(), ImportError> {
        if self.messages.len() == MAX_MESSAGES {
            let words = format!("more than {MAX_MESSAGES} messages");
            return Err(ImportError::new(words, "import a part: split the bag with `ros2 bag convert`"));
        }
        message.bytes = stored;
        if head.starts_with(&ZSTD_MAGIC) {
            self.compressed_messages += 1;
            message.bytes = content_size(head).ok_or_else(|| {
                let words = "a message is compressed, and its true size is not stored";
                ImportError::new(words, "decompress the bag first: `ros2 bag convert`")
            })?;
        }
        self.messages.push(message);
        Ok(())
    }
}

/// Returns the content size in the header of a frame of Zstandard (RFC 8878, 3.1.1.1).
fn content_size(frame: &[u8]) -> Option<u64> {
    let descriptor = *frame.get(4)?;
    let is_single_segment = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let begin = 5 + usize::from(!is_single_segment) + dictionary;
    let field = |bytes: usize| {
        let field = frame.get(begin..begin + bytes)?;
        Some(field.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)))
    };
    match descriptor >> 6 {
        0 if is_single_segment => field(1),
        0 => None,
        1 => Some(field(2)? + 256),
        2 => field(4),
        _ => field(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_size_has_each_width() {
        let frame = |descriptor: u8, rest: &[u8]| [&ZSTD_MAGIC[..], &[descriptor], rest].concat();
        assert_eq!(content_size(&frame(0x20, &[200])), Some(200));
        assert_eq!(content_size(&frame(0x60, &[0xf1, 2])), Some(0x2f1 + 256));
        assert_eq!(content_size(&frame(0xa0, &[1, 0, 1, 0])), Some(65_537));
        assert_eq!(content_size(&frame(0xe0, &[1, 0, 0, 0, 1, 0, 0, 0])), Some(0x1_0000_0001));
        // With a window, and a dictionary of 2 bytes.
        assert_eq!(content_size(&frame(0x42, &[9, 7, 7, 1, 0])), Some(257));
        assert_eq!(content_size(&frame(0x00, &[9])), None);
        assert_eq!(content_size(&ZSTD_MAGIC), None);
    }

    #[test]
    fn compressed_message_counts_with_its_true_size() {
        let mut recording = Recording::default();
        let message = Message { topic: 0, bytes: 0, log_ns: 0, publish_ns: 0 };
        let frame = [&ZSTD_MAGIC[..], &[0x60, 0xf1, 2]].concat();
        recording.message(message, &frame, 27).expect("a message");
        recording.message(message, &[0, 1, 0, 0], 27).expect("a message");
        let sizes: Vec<u64> = recording.messages.iter().map(|message| message.bytes).collect();
        assert_eq!((sizes, recording.compressed_messages), (vec![1_009, 27], 1));
        let unknown = [&ZSTD_MAGIC[..], &[0x00, 9]].concat();
        assert!(recording.message(message, &unknown, 27).is_err());
    }

    #[test]
    fn topic_with_two_channels_is_one() {
        let topic = |qos: &str| RecordedTopic {
            name: "a".into(),
            message_type: "t".into(),
            offered_qos: qos.into(),
            ..RecordedTopic::default()
        };
        let mut recording = Recording::default();
        assert_eq!(
            (recording.topic(topic("")), recording.topic(topic("x")), recording.topic(topic("y"))),
            (0, 0, 0)
        );
        assert_eq!(recording.topics, [topic("x")]);
    }
}
