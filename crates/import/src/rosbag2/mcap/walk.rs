//! Files without an index: record by record, from the begin to the end.

use std::io::{Read, Seek};

use lz4_flex::frame::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::{
    super::recording::Recording,
    input::{ChunkInput, FileInput, Input as _},
    records::{CHUNK, Collector, Cursor, DATA_END, FOOTER, header, invalid},
};
use crate::error::ImportError;

/// Bytes of the fields of a chunk before the name of its compression.
const CHUNK_HEADER: usize = 28;
/// Longest name of a compression.
const MAX_NAME: u32 = 32;
/// Largest decompressed chunk in bytes.
const MAX_CHUNK: u64 = 4 << 30;

/// Chunk whose fields have been read; its records are next.
pub(super) struct Chunk {
    compression: String,
    uncompressed_bytes: u64,
    /// Bytes of its records in the file.
    bytes: u64,
}

impl Chunk {
    /// Returns whether its records are not compressed.
    pub(super) fn is_plain(&self) -> bool {
        self.compression.is_empty()
    }

    /// Reads the fields of a chunk; `None` if the file ends within them.
    pub(super) fn read<R: Read + Seek>(input: &mut FileInput<R>) -> Result<Option<Self>, ImportError> {
        let at = input.position();
        let mut fields = [0; CHUNK_HEADER + 4];
        if !input.fill(&mut fields)? {
            return Ok(None);
        }
        let mut cursor = Cursor(&fields[16..]);
        let sizes = (|| Some((cursor.u64()?, cursor.u32()?, cursor.u32()?)))();
        let Some((uncompressed_bytes, _crc, name)) = sizes.filter(|(_, _, name)| *name <= MAX_NAME) else {
            return Err(invalid("chunk", at));
        };
        let Some(rest) = input.bytes(u64::from(name) + 8)? else { return Ok(None) };
        let (name, length) = rest.split_at(name as usize);
        let compression = String::from_utf8_lossy(name).into_owned();
        let bytes = Cursor(length).u64().unwrap_or_default();
        Ok(Some(Self { compression, uncompressed_bytes, bytes }))
    }

    /// Reads the records of a compressed chunk. Returns `false` if the file ends within it.
    pub(super) fn decompress<R: Read + Seek>(
        &self,
        input: &mut FileInput<R>,
        collector: &mut Collector<'_>,
    ) -> Result<bool, ImportError> {
        let at = input.position();
        if self.uncompressed_bytes > MAX_CHUNK {
            return Err(invalid("chunk", at));
        }
        let Some(stored) = input.bytes(self.bytes)? else { return Ok(false) };
        let is_whole = match self.compression.as_str() {
            "zstd" => {
                let damaged = |error: &dyn std::fmt::Display| {
                    let message = format!("a compressed chunk is damaged: {error}");
                    ImportError::new(message, "repair the bag: `mcap recover`").at_byte(at)
                };
                let decoder = StreamingDecoder::new(&stored[..]).map_err(|error| damaged(&error))?;
                self.records(&mut ChunkInput::new(decoder, self.uncompressed_bytes, at), collector)?
            }
            "lz4" => {
                let decoder = FrameDecoder::new(&stored[..]);
                self.records(&mut ChunkInput::new(decoder, self.uncompressed_bytes, at), collector)?
            }
            other => {
                let message = format!("compression `{other}` of a chunk is not supported");
                return Err(ImportError::new(message, "use zstd, lz4 or none: `mcap compress`").at_byte(at));
            }
        };
        if !is_whole {
            return Err(ImportError::new(
                "a compressed chunk is damaged: it ends within a record",
                "repair the bag: `mcap recover`",
            )
            .at_byte(at));
        }
        Ok(true)
    }

    /// Reads records until the end. Returns whether it is between two records.
    fn records<D: Read>(
        &self,
        chunk: &mut ChunkInput<D>,
        collector: &mut Collector<'_>,
    ) -> Result<bool, ImportError> {
        loop {
            if chunk.is_at_end() {
                return Ok(true);
            }
            let Some((opcode, length)) = header(chunk)? else { return Ok(false) };
            if opcode == CHUNK {
                return Err(invalid("record of a chunk", chunk.position()));
            }
            if !collector.record(chunk, opcode, length)? {
                return Ok(false);
            }
        }
    }
}

/// Reads all records from a position on. A file that is cut counts as far as it goes.
pub(super) fn read<R: Read + Seek>(
    input: &mut FileInput<R>,
    begin: u64,
    recording: &mut Recording,
) -> Result<(), ImportError> {
    let before = recording.messages.len();
    let mut collector = Collector::new(recording);
    input.go_to(begin)?;
    let mut end = input.position();
    let is_whole = loop {
        end = end.max(input.position());
        let record = input.position();
        let Some((opcode, length)) = header(input)? else { break false };
        let is_there = match opcode {
            DATA_END | FOOTER => break true,
            CHUNK => match Chunk::read(input)? {
                None => false,
                // Its records follow as those outside of chunks do.
                Some(chunk) if chunk.is_plain() => true,
                Some(chunk) => chunk.decompress(input, &mut collector)?,
            },
            _ => collector.record(input, opcode, length)?,
        };
        if !is_there {
            end = record;
            break false;
        }
    };
    if !is_whole {
        let number = collector.recording.messages.len() - before;
        let remark = format!(
            "the file is cut at byte {end} of {}: the {number} messages before it are used",
            input.length
        );
        collector.recording.remarks.push(remark);
    }
    Ok(())
}
