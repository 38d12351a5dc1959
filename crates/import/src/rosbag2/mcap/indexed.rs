//! Files with a summary: channels and chunks from it, messages by their indexes.

use std::io::{Read, Seek};

use super::{
    super::recording::Recording,
    MAGIC,
    input::{FileInput, Input as _},
    records::{
        CHANNEL, CHUNK, CHUNK_INDEX, Collector, Cursor, FOOTER, MESSAGE, MESSAGE_INDEX, METADATA,
        METADATA_INDEX, RECORD_HEADER, SCHEMA, STATISTICS, header,
    },
    walk::Chunk,
};
use crate::error::ImportError;

/// Bytes of the footer record and the magic after it.
const END_BYTES: u64 = (RECORD_HEADER + 20 + MAGIC.len()) as u64;

/// Place of a chunk and its message indexes in the file.
struct ChunkIndex {
    begin: u64,
    bytes: u64,
    index_bytes: u64,
}

/// Reads the messages by the indexes of a file. Returns the reason if there is none, or if it does not agree with the file.
pub(super) fn read<R: Read + Seek>(
    input: &mut FileInput<R>,
    recording: &mut Recording,
) -> Result<Option<String>, ImportError> {
    let because = |reason: &str| Ok(Some(reason.to_owned()));
    let Some(summary) = summary(input)? else { return because("it has no summary") };
    let before = recording.messages.len();
    let mut collector = Collector::new(recording);
    let (mut chunks, mut metadata) = (Vec::new(), Vec::new());
    let mut messages = None;
    let mut cursor = Cursor(&summary);
    while !cursor.0.is_empty() {
        let record = (|| {
            let opcode = cursor.take(1)?[0];
            let length = cursor.u64()?;
            Some((opcode, cursor.take(usize::try_from(length).ok()?)?))
        })();
        let Some((opcode, content)) = record else { return because("its summary is not valid") };
        let mut fields = Cursor(content);
        let is_valid = match opcode {
            SCHEMA | CHANNEL => collector.definition(opcode, content, 0).is_ok(),
            CHUNK_INDEX => chunk_index(&mut fields).map(|index| chunks.push(index)).is_some(),
            METADATA_INDEX => fields.u64().map(|begin| metadata.push(begin)).is_some(),
            STATISTICS => {
                messages = fields.u64();
                messages.is_some()
            }
            _ => true,
        };
        if !is_valid {
            return because("its summary is not valid");
        }
    }
    let Some(messages) = messages else { return because("its summary has no statistics") };
    if messages > 0 && (chunks.is_empty() || !collector.has_channels()) {
        return because("its summary has no chunks or no channels");
    }
    chunks.sort_by_key(|chunk: &ChunkIndex| chunk.begin);
    metadata.sort_unstable();
    for begin in metadata {
        if !read_metadata(input, begin, &mut collector)? {
            return because("its index of metadata does not agree with it");
        }
    }
    for chunk in &chunks {
        match read_chunk(input, chunk, &mut collector) {
            Ok(true) => {}
            Ok(false) => return because("an index does not agree with its chunk"),
            Err(error) => return Ok(Some(format!("an index does not agree with its chunk: {error}"))),
        }
    }
    let found = (collector.recording.messages.len() - before) as u64;
    if found != messages {
        return Ok(Some(format!("its indexes have {found} messages, its statistics {messages}")));
    }
    Ok(None)
}

/// Reads the metadata record at a byte of the file. Returns `false` if there is none.
fn read_metadata<R: Read + Seek>(
    input: &mut FileInput<R>,
    begin: u64,
    collector: &mut Collector<'_>,
) -> Result<bool, ImportError> {
    if !input.go_to(begin)? {
        return Ok(false);
    }
    match header(input)? {
        Some((METADATA, length)) => collector.record(input, METADATA, length),
        _ => Ok(false),
    }
}

/// Returns the summary section.
fn summary<R: Read + Seek>(input: &mut FileInput<R>) -> Result<Option<Vec<u8>>, ImportError> {
    let Some(footer) = input.length.checked_sub(END_BYTES) else { return Ok(None) };
    input.go_to(footer)?;
    let Some(end) = input.bytes(END_BYTES)? else { return Ok(None) };
    let mut cursor = Cursor(&end);
    let fields = (|| Some((cursor.take(1)?[0], cursor.u64()?, cursor.u64()?)))();
    match fields {
        Some((FOOTER, 20, begin)) if end.ends_with(MAGIC) && begin > 0 && begin < footer => {
            input.go_to(begin)?;
            input.bytes(footer - begin)
        }
        _ => Ok(None),
    }
}

fn chunk_index(fields: &mut Cursor<'_>) -> Option<ChunkIndex> {
    let (_first, _last) = (fields.u64()?, fields.u64()?);
    let (begin, bytes) = (fields.u64()?, fields.u64()?);
    let map = fields.u32()? as usize;
    fields.take(map)?;
    Some(ChunkIndex { begin, bytes, index_bytes: fields.u64()? })
}

/// Reads the messages of a chunk. Returns `false` if its index does not agree with it.
fn read_chunk<R: Read + Seek>(
    input: &mut FileInput<R>,
    index: &ChunkIndex,
    collector: &mut Collector<'_>,
) -> Result<bool, ImportError> {
    if !input.go_to(index.begin)? {
        return Ok(false);
    }
    let Some((CHUNK, _)) = header(input)? else { return Ok(false) };
    let Some(chunk) = Chunk::read(input)? else { return Ok(false) };
    if !chunk.is_plain() {
        return chunk.decompress(input, collector);
    }
    let records = input.position();
    let Some(end) = index.begin.checked_add(index.bytes) else { return Ok(false) };
    if !input.go_to(end)? {
        return Ok(false);
    }
    let Some(bytes) = input.bytes(index.index_bytes)? else { return Ok(false) };
    let Some(mut entries) = message_indexes(&bytes) else { return Ok(false) };
    entries.sort_unstable_by_key(|entry| entry.offset);
    for entry in entries {
        let Some(at) = records.checked_add(entry.offset).filter(|at| *at < end) else { return Ok(false) };
        input.go_to(at)?;
        let Some((MESSAGE, length)) = header(input)? else { return Ok(false) };
        if collector.message(input, length)? != Some((entry.channel, entry.log)) || input.position() > end {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Message in the index of a chunk.
struct IndexEntry {
    channel: u16,
    log: u64,
    /// Byte in the records of the chunk.
    offset: u64,
}

/// Returns the entries of the message indexes after a chunk; `None` if they are not valid.
fn message_indexes(bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    let mut entries = Vec::new();
    let mut cursor = Cursor(bytes);
    while !cursor.0.is_empty() {
        let opcode = cursor.take(1)?[0];
        let length = usize::try_from(cursor.u64()?).ok()?;
        let mut fields = Cursor(cursor.take(length)?);
        if opcode != MESSAGE_INDEX {
            return None;
        }
        let channel = fields.u16()?;
        let array = fields.u32()? as usize;
        let mut array = Cursor(fields.take(array)?);
        while !array.0.is_empty() {
            entries.push(IndexEntry { channel, log: array.u64()?, offset: array.u64()? });
        }
    }
    Some(entries)
}
