//! Files of a result, written atomically and with a version of the schema.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::Path,
};

use flate2::read::GzDecoder;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use super::error::{DirectoryError, is_full};
use crate::schema::SCHEMA_VERSION;

/// Minimum and maximum number of bytes written to test the free space.
const PROBE_BYTES: std::ops::RangeInclusive<u64> = (1 << 20)..=(64 << 20);

/// First bytes of a file that is compressed by gzip.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Maximum size of a compressed result, in bytes after it was decompressed. What is longer is cut, and therefore damaged.
const MOST_PLAIN_BYTES: u64 = 1 << 30;

/// First bytes of each file, without spaces.
const VERSION_KEY: &[u8] = br#"{"schema_version":"#;

/// Returns whether the file exists.
pub(crate) fn exists(path: &Path) -> Result<bool, DirectoryError> {
    path.try_exists().map_err(|cause| DirectoryError::Read { path: path.to_owned(), cause })
}

/// Reads a file. Another version of the schema is an error.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, DirectoryError> {
    let bytes = fs::read(path).map_err(|cause| DirectoryError::Read { path: path.to_owned(), cause })?;
    parse(path, &bytes)
}

/// Like [`read`], from the bytes of that file.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, DirectoryError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    let damaged = |error: serde_json::Error| DirectoryError::Damaged {
        path: path.to_owned(),
        cause: error.to_string(),
    };
    if begins_with_version(bytes) {
        return serde_json::from_slice(bytes).map_err(damaged);
    }
    // the version first: another one may have other fields
    let Version { schema_version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if schema_version != u64::from(SCHEMA_VERSION) {
        return Err(DirectoryError::OtherVersion { path: path.to_owned(), found: schema_version });
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

/// Returns whether a file begins with this version of the schema, as each file that [`save_json`] writes: all of it need not be read twice.
fn begins_with_version(bytes: &[u8]) -> bool {
    let mut visible = visible(bytes);
    let is_key = VERSION_KEY.iter().all(|byte| visible.next() == Some(*byte));
    is_key && SCHEMA_VERSION.to_string().bytes().chain([b',']).all(|byte| visible.next() == Some(byte))
}

/// Returns the bytes of a file without spaces.
fn visible(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace())
}

/// Like [`read`], for a file that the user named: it need not be one of ddsmark, and may be compressed by gzip (RFC 1952).
pub(crate) fn read_any<T: DeserializeOwned>(path: &Path) -> Result<T, DirectoryError> {
    let failed = |cause| DirectoryError::Read { path: path.to_owned(), cause };
    let mut bytes = fs::read(path).map_err(failed)?;
    if bytes.starts_with(&GZIP_MAGIC) {
        let mut plain = Vec::new();
        GzDecoder::new(&*bytes).take(MOST_PLAIN_BYTES).read_to_end(&mut plain).map_err(failed)?;
        bytes = plain;
    }
    parse(path, &bytes).map_err(|error| match error {
        DirectoryError::Damaged { path, cause } if !is_part_of_record(&bytes) => {
            DirectoryError::NotAResult { path, cause }
        }
        error => error,
    })
}

/// Returns whether a file begins as those that [`save_json`] writes, and is not complete.
fn is_part_of_record(bytes: &[u8]) -> bool {
    let mut visible = visible(bytes);
    let begins_with_key = VERSION_KEY.iter().all(|byte| visible.next() == Some(*byte));
    begins_with_key && serde_json::from_slice::<IgnoredAny>(bytes).is_err()
}

/// Checks for enough free space: writes noise to the disk and removes it.
pub(crate) fn probe(directory: &Path, needed_bytes: u64) -> Result<(), DirectoryError> {
    let needed_bytes = needed_bytes.max(*PROBE_BYTES.start());
    let path = directory.join(".probe.tmp");
    let outcome = write_noise(&path, needed_bytes.min(*PROBE_BYTES.end()));
    let removed = if path.exists() { fs::remove_file(&path) } else { Ok(()) };
    let directory = directory.to_owned();
    outcome.and(removed).map_err(|cause| {
        if is_full(&cause) {
            DirectoryError::NoRoom { path: directory, needed_bytes, cause }
        } else {
            DirectoryError::Write { path: directory, cause }
        }
    })
}

/// Writes noise, so that file systems that compress or leave holes need the space too.
fn write_noise(path: &Path, bytes: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut block = vec![0; 64 << 10];
    let mut left = bytes as usize;
    while left > 0 {
        for word in block.chunks_exact_mut(8) {
            // xorshift64 (Marsaglia 2003)
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        let now = left.min(block.len());
        file.write_all(&block[..now])?;
        left -= now;
    }
    file.sync_all()
}

/// Saves a value as JSON, after a check that it parses. A non-finite rate, for example, would not.
pub(crate) fn save_json<R: DeserializeOwned>(
    path: &Path,
    value: &impl Serialize,
) -> Result<(), DirectoryError> {
    let failed = |error: serde_json::Error| DirectoryError::NotReadable {
        path: path.to_owned(),
        cause: error.to_string(),
    };
    let mut text = serde_json::to_vec_pretty(value).map_err(failed)?;
    serde_json::from_slice::<R>(&text).map_err(failed)?;
    text.push(b'\n');
    save_file(path, &text)
}

/// Writes a file, such as a report, atomically: a reader never sees a part of it under this name, even after a crash or a power cut.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn save_file(path: &Path, bytes: &[u8]) -> Result<(), DirectoryError> {
    let directory = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.tmp"));
    let outcome = File::create(&temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| File::open(directory)?.sync_all());
    outcome.map_err(|cause| {
        let _ = fs::remove_file(&temporary);
        DirectoryError::Write { path: path.to_owned(), cause }
    })
}
