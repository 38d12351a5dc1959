//! The records of a file, from the begin to the end.

use std::{
    fmt::Display,
    io::{Read, Seek},
};

use lz4_flex::frame::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::{
    super::recording::Recording,
    input::{ChunkInput, FileInput, Input as _},
    records::{CHUNK, Collector, Cursor, DATA_END, FOOTER, STATISTICS, header, invalid},
};
use crate::error::ImportError;

/// Bytes of the fields of a chunk up to the length of the name of its compression.
const CHUNK_HEADER: u64 = 32;
/// Longest name of a compression.
const MAX_NAME: u32 = 32;
/// Largest decompressed chunk in bytes.
const MAX_CHUNK: u64 = 4 << 30;

/// Reads all records from the position of the input on. A file that is cut counts as far as it goes.
pub(super) fn read<R: Read + Seek>(
    input: &mut FileInput<R>,
    recording: &mut Recording,
) -> Result<(), ImportError> {
    let before = recording.messages.len();
    let mut collector = Collector::new(recording);
    let end = loop {
        let record = input.position();
        let Some((opcode, length)) = header(input)? else { break Some(record) };
        let is_there = match opcode {
            DATA_END | FOOTER => {
                input.skip(length)?;
                break None;
            }
            CHUNK => read_chunk(input, &mut collector)?,
            _ => collector.record(input, opcode, length)?,
        };
        if !is_there {
            break Some(record);
        }
    };
    let found = (recording.messages.len() - before) as u64;
    let remark = match end {
        Some(end) => Some(format!(
            "the file is cut at byte {end} of {}: the {found} messages before it are used",
            input.length
        )),
        None => statistics(input)?
            .filter(|messages| *messages != found)
            .map(|messages| format!("the file has {found} messages, its statistics say {messages}")),
    };
    recording.remarks.extend(remark);
    Ok(())
}

/// Returns the number of messages in the statistics of the summary, if there are any.
fn statistics<R: Read + Seek>(input: &mut FileInput<R>) -> Result<Option<u64>, ImportError> {
    while let Some((opcode, length)) = header(input)? {
        if opcode == STATISTICS {
            return Ok(input.bytes(8)?.and_then(|messages| Cursor(&messages).u64()));
        }
        if !input.skip(length)? {
            break;
        }
    }
    Ok(None)
}

/// Reads the fields of a chunk, and its records if they are compressed: plain ones follow as those outside of chunks do.
/// Returns `false` if the file ends within it.
fn read_chunk<R: Read + Seek>(
    input: &mut FileInput<R>,
    collector: &mut Collector<'_>,
) -> Result<bool, ImportError> {
    let at = input.position();
    let Some(fields) = input.bytes(CHUNK_HEADER)? else { return Ok(false) };
    let mut cursor = Cursor(&fields[16..]);
    let sizes = (|| Some((cursor.u64()?, cursor.u32()?, cursor.u32()?)))();
    let Some((uncompressed_bytes, _crc, name)) = sizes.filter(|(_, _, name)| *name <= MAX_NAME) else {
        return Err(invalid("chunk", at));
    };
    let Some(rest) = input.bytes(u64::from(name) + 8)? else { return Ok(false) };
    let (name, length) = rest.split_at(name as usize);
    if name.is_empty() {
        return Ok(true);
    }
    let at = input.position();
    if uncompressed_bytes > MAX_CHUNK {
        return Err(invalid("chunk", at));
    }
    let Some(stored) = input.bytes(Cursor(length).u64().unwrap_or_default())? else { return Ok(false) };
    let damaged = |reason: &dyn Display| {
        let message = format!("a compressed chunk is damaged: {reason}");
        ImportError::new(message, "repair the bag: `mcap recover`").at_byte(at)
    };
    let decoder: Box<dyn Read> = match name {
        b"zstd" => Box::new(StreamingDecoder::new(&stored[..]).map_err(|error| damaged(&error))?),
        b"lz4" => Box::new(FrameDecoder::new(&stored[..])),
        other => {
            let message = format!("compression `{}` of a chunk is not supported", other.escape_ascii());
            return Err(ImportError::new(message, "use zstd, lz4 or none: `mcap compress`").at_byte(at));
        }
    };
    let mut chunk = ChunkInput::new(decoder, uncompressed_bytes, at);
    while !chunk.is_at_end() {
        let is_there = match header(&mut chunk)? {
            None => false,
            Some((CHUNK, _)) => return Err(invalid("record of a chunk", at)),
            Some((opcode, length)) => collector.record(&mut chunk, opcode, length)?,
        };
        if !is_there {
            return Err(damaged(&"it ends within a record"));
        }
    }
    Ok(true)
}
