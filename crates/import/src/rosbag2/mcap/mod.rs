//! MCAP files: topics, and the time and size of each message.
//!
//! Format: <https://mcap.dev/spec>. Files are read record by record. Of a message of a plain chunk 49 bytes are read, and the rest of its
//! data is skipped; compressed chunks are decompressed.

mod input;
mod records;
mod walk;

use std::io::{Read, Seek};

use super::recording::Recording;
use crate::error::ImportError;
use input::{FileInput, Input as _};

const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

/// Reads an MCAP file, and adds it to a recording.
///
/// # Errors
/// Returns an error if it is not an MCAP file of this version, or if a record is not valid.
pub fn read_mcap<R: Read + Seek>(file: R, recording: &mut Recording) -> Result<(), ImportError> {
    let mut input = FileInput::new(file)?;
    let mut magic = [0; 8];
    if input.length == 0 {
        return Err(ImportError::new("the file is empty", "record the bag again"));
    }
    if !input.fill(&mut magic)? || magic[..5] != MAGIC[..5] {
        return Err(
            ImportError::new("not an MCAP file", "give a bag that `ros2 bag record` wrote").at_byte(0)
        );
    }
    if magic != *MAGIC {
        let message = format!("MCAP version `{}` is not supported", magic[5].escape_ascii());
        return Err(ImportError::new(message, "convert the bag to version 0").at_byte(5));
    }
    walk::read(&mut input, recording)
}

#[cfg(test)]
pub(crate) mod test_writer;
#[cfg(test)]
mod tests;
