//! Records of MCAP: fields of their content, and what they add to a recording.

use std::collections::BTreeMap;

use super::{
    super::recording::{HEAD_BYTES, Message, RecordedTopic, Recording},
    input::Input,
};
use crate::{error::ImportError, system::NotApplied};

pub(super) const FOOTER: u8 = 0x02;
const SCHEMA: u8 = 0x03;
const CHANNEL: u8 = 0x04;
const MESSAGE: u8 = 0x05;
pub(super) const CHUNK: u8 = 0x06;
pub(super) const STATISTICS: u8 = 0x0b;
const METADATA: u8 = 0x0c;
pub(super) const DATA_END: u8 = 0x0f;

/// Bytes of the opcode and the length of a record.
const RECORD_HEADER: usize = 9;
/// Bytes of a message before its data.
const MESSAGE_HEADER: usize = 22;
/// Longest schema, channel or metadata record.
const MAX_RECORD: u64 = 64 << 20;

/// Fields of a record, one after the other. `None`: the record is too short.
pub(super) struct Cursor<'b>(pub(super) &'b [u8]);

impl<'b> Cursor<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// Returns the entries of a map of texts.
    fn map(&mut self) -> Option<Vec<(String, String)>> {
        let length = self.u32()? as usize;
        let mut map = Cursor(self.take(length)?);
        let mut entries = Vec::new();
        while !map.0.is_empty() {
            entries.push((map.text()?, map.text()?));
        }
        Some(entries)
    }
}

/// Returns the error of a record whose content is not valid.
pub(super) fn invalid(what: &str, at: u64) -> ImportError {
    ImportError::new(format!("a record is not a valid {what}"), "repair the bag: `mcap recover`").at_byte(at)
}

/// Returns the opcode and length of the next record; `None` at the end.
pub(super) fn header(input: &mut impl Input) -> Result<Option<(u8, u64)>, ImportError> {
    let mut bytes = [0; RECORD_HEADER];
    if !input.fill(&mut bytes)? {
        return Ok(None);
    }
    let length = Cursor(&bytes[1..]).u64().unwrap_or_default();
    Ok(Some((bytes[0], length)))
}

/// Schemas and channels of a file, and the recording to which its messages are added.
pub(super) struct Collector<'r> {
    recording: &'r mut Recording,
    schemas: BTreeMap<u16, String>,
    /// Index of the topic of each channel.
    channels: BTreeMap<u16, u32>,
}

impl<'r> Collector<'r> {
    pub(super) fn new(recording: &'r mut Recording) -> Self {
        Self { recording, schemas: BTreeMap::new(), channels: BTreeMap::new() }
    }

    /// Adds a schema, a channel, or metadata of the bag.
    fn definition(&mut self, opcode: u8, content: &[u8], at: u64) -> Result<(), ImportError> {
        let mut cursor = Cursor(content);
        let added = match opcode {
            SCHEMA => (|| {
                let id = cursor.u16()?;
                let name = cursor.text()?;
                self.schemas.insert(id, name);
                Some(())
            })(),
            METADATA => (|| {
                let (name, entries) = (cursor.text()?, cursor.map()?);
                for (key, value) in entries {
                    match (name.as_str(), key.as_str()) {
                        ("rosbag2", "serialized_metadata") => self.recording.own_metadata = Some(value),
                        _ => self.not_known(format!("key `{key}` of the metadata `{name}` in the file")),
                    }
                }
                Some(())
            })(),
            _ => (|| {
                let (id, schema) = (cursor.u16()?, cursor.u16()?);
                let (name, encoding) = (cursor.text()?, cursor.text()?);
                let mut topic = RecordedTopic {
                    message_type: self.schemas.get(&schema).cloned().unwrap_or_default(),
                    type_details: Some(encoding)
                        .filter(|encoding| !encoding.is_empty())
                        .into_iter()
                        .collect(),
                    ..RecordedTopic::default()
                };
                for (key, value) in cursor.map()? {
                    match key.as_str() {
                        "offered_qos_profiles" => topic.offered_qos = value,
                        "topic_type_hash" => {
                            topic.type_details.extend(Some(value).filter(|hash| !hash.is_empty()));
                        }
                        _ => self.not_known(format!("key `{key}` of the channel of `{name}`")),
                    }
                }
                let topic = self.recording.topic(RecordedTopic { name, ..topic });
                self.channels.insert(id, topic);
                Some(())
            })(),
        };
        let what = match opcode {
            SCHEMA => "schema",
            METADATA => "metadata record",
            _ => "channel",
        };
        added.ok_or_else(|| invalid(what, at))
    }

    /// Adds a note about a part that is not known, unless there is one: a file repeats its definitions.
    fn not_known(&mut self, item: String) {
        let note = NotApplied { item, count: 1, reason: "not known".to_owned() };
        if !self.recording.not_applied.contains(&note) {
            self.recording.not_applied.push(note);
        }
    }

    /// Reads the content of the next record, which has this opcode and length. Returns `false` if the input ends within it.
    pub(super) fn record(
        &mut self,
        input: &mut impl Input,
        opcode: u8,
        length: u64,
    ) -> Result<bool, ImportError> {
        let at = input.position();
        match opcode {
            SCHEMA | CHANNEL | METADATA => {
                if length > MAX_RECORD {
                    return Ok(false);
                }
                // Grows with what is there, not with what the length promises.
                let mut content = Vec::new();
                let mut left = length as usize;
                while left > 0 {
                    let part = left.min(1 << 16);
                    let begin = content.len();
                    content.resize(begin + part, 0);
                    if !input.fill(&mut content[begin..])? {
                        return Ok(false);
                    }
                    left -= part;
                }
                self.definition(opcode, &content, at)?;
                Ok(true)
            }
            MESSAGE => self.message(input, length),
            _ => input.skip(length),
        }
    }

    /// Reads a message of this length. Returns `false` if the input ends within it.
    fn message(&mut self, input: &mut impl Input, length: u64) -> Result<bool, ImportError> {
        let at = input.position();
        let Some(data) = length.checked_sub(MESSAGE_HEADER as u64) else {
            return Err(invalid("message", at));
        };
        let mut bytes = [0; MESSAGE_HEADER + HEAD_BYTES];
        let head = data.min(HEAD_BYTES as u64) as usize;
        let bytes = &mut bytes[..MESSAGE_HEADER + head];
        if !input.fill(bytes)? {
            return Ok(false);
        }
        let mut cursor = Cursor(bytes);
        let fields = (|| Some((cursor.u16()?, cursor.u32()?, cursor.u64()?, cursor.u64()?)))();
        let Some((channel, _sequence, log, publish)) = fields else { return Err(invalid("message", at)) };
        let Some(topic) = self.channels.get(&channel) else {
            let message = format!("a message has channel {channel}, which is not defined");
            return Err(ImportError::new(message, "repair the bag: `mcap recover`").at_byte(at));
        };
        let ns = |time: u64| i64::try_from(time).map_err(|_| invalid("time of a message", at));
        let message = Message { topic: *topic, bytes: 0, log_ns: ns(log)?, publish_ns: ns(publish)? };
        if !input.skip(data - head as u64)? {
            return Ok(false);
        }
        self.recording.message(message, cursor.0, data).map_err(|error| error.at_byte(at))?;
        Ok(true)
    }
}
