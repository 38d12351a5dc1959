//! Inputs of records: a file with a position, and decompressed chunks.

use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

use crate::error::ImportError;

/// Records one after the other.
pub(super) trait Input {
    /// Fills a buffer. Returns whether there were enough bytes.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, ImportError>;

    /// Skips bytes. Returns whether there were enough.
    fn skip(&mut self, bytes: u64) -> Result<bool, ImportError>;

    /// Returns the position, for messages.
    fn position(&self) -> u64;
}

/// File that is read from its start to its end.
pub(super) struct FileInput<R> {
    reader: BufReader<R>,
    at: u64,
    /// Length of the file in bytes.
    pub(super) length: u64,
}

impl<R: Read + Seek> FileInput<R> {
    /// Creates an input at the start of a file.
    pub(super) fn new(mut file: R) -> Result<Self, ImportError> {
        let length = file.seek(SeekFrom::End(0)).map_err(|error| unreadable(&error, 0))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| unreadable(&error, 0))?;
        // A page: messages are far from each other.
        Ok(Self { reader: BufReader::with_capacity(4_096, file), at: 0, length })
    }

    /// Returns this many bytes; `None` if there are less.
    pub(super) fn bytes(&mut self, number: u64) -> Result<Option<Vec<u8>>, ImportError> {
        if number > self.length - self.at {
            return Ok(None);
        }
        let mut bytes = vec![0; number as usize];
        Ok(self.fill(&mut bytes)?.then_some(bytes))
    }
}

impl<R: Read + Seek> Input for FileInput<R> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, ImportError> {
        if buffer.len() as u64 > self.length - self.at {
            return Ok(false);
        }
        self.reader.read_exact(buffer).map_err(|error| unreadable(&error, self.at))?;
        self.at += buffer.len() as u64;
        Ok(true)
    }

    fn skip(&mut self, bytes: u64) -> Result<bool, ImportError> {
        if bytes > self.length - self.at {
            return Ok(false);
        }
        // Files have less than 2^63 bytes.
        self.reader.seek_relative(bytes as i64).map_err(|error| unreadable(&error, self.at))?;
        self.at += bytes;
        Ok(true)
    }

    fn position(&self) -> u64 {
        self.at
    }
}

/// Decompressed chunk.
pub(super) struct ChunkInput<R> {
    reader: R,
    /// Bytes that its header promises and that have not been read.
    left: u64,
    /// Position of the chunk in the file.
    at: u64,
}

impl<R: Read> ChunkInput<R> {
    /// Creates an input of `left` bytes, of a chunk at this position.
    pub(super) const fn new(reader: R, left: u64, at: u64) -> Self {
        Self { reader, left, at }
    }

    /// Returns whether all bytes that the header promises have been read.
    pub(super) const fn is_at_end(&self) -> bool {
        self.left == 0
    }

    fn damaged(&self, error: &std::io::Error) -> ImportError {
        let message = format!("a compressed chunk is damaged: {error}");
        ImportError::new(message, "repair the bag: `mcap recover`").at_byte(self.at)
    }
}

impl<R: Read> Input for ChunkInput<R> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, ImportError> {
        if buffer.len() as u64 > self.left {
            return Ok(false);
        }
        self.left -= buffer.len() as u64;
        match self.reader.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(self.damaged(&error)),
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<bool, ImportError> {
        if bytes > self.left {
            return Ok(false);
        }
        self.left -= bytes;
        let copied = std::io::copy(&mut self.reader.by_ref().take(bytes), &mut std::io::sink());
        copied.map(|copied| copied == bytes).map_err(|error| self.damaged(&error))
    }

    fn position(&self) -> u64 {
        self.at
    }
}

fn unreadable(error: &std::io::Error, at: u64) -> ImportError {
    ImportError::new(format!("cannot read: {error}"), "check the file and its device").at_byte(at)
}
