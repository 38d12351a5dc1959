//! File of `-loadDataFromFile`: the bytes that samples carry.

use std::{fs, io};

use control::PayloadBytes;
use experiment::{MIN_SIZE_BYTES, PayloadFile};
use perftest::Settings;

use crate::cli::cli_error::{CliError, Result};

/// Returns the file of a publisher, after checks of its content; `None` without the option.
pub fn read(settings: &Settings) -> Result<Option<PayloadFile>> {
    let Some(file) = &settings.local.payload else { return Ok(None) };
    let path = &file.path;
    let wrong = |error: String, hint: String| {
        let error = format!("command line: `-loadDataFromFile {path}`: {error}");
        Err(CliError::usage(error, hint))
    };
    let bytes = match content(path) {
        Ok(bytes) => bytes,
        Err(error) => return wrong(error.to_string(), "name a file with the bytes of samples".to_owned()),
    };
    let most = usize::try_from(file.max_bytes).unwrap_or(usize::MAX).min(PayloadBytes::MAX);
    let Some(payload) = PayloadBytes::new(&bytes).filter(|_| bytes.len() <= most) else {
        return wrong(format!("it has {} bytes", bytes.len()), format!("name a file of 1 to {most} bytes"));
    };
    for size in &settings.shared.sizes {
        let length = settings.shared.payload_bytes(*size, settings.local.raw_transport);
        let samples =
            payload.samples(usize::try_from(length - length.min(MIN_SIZE_BYTES)).unwrap_or(usize::MAX));
        if samples > PayloadBytes::MAX_SAMPLES {
            let error = format!(
                "it fills {samples} samples of {size} bytes, more than {}",
                PayloadBytes::MAX_SAMPLES
            );
            return wrong(error, "use larger samples, or a smaller file".to_owned());
        }
    }
    Ok(Some(PayloadFile { path: path.clone(), sha256: results::sha256(&bytes) }))
}

/// Reads a regular file, one byte more than its maximum at most.
fn content(path: &str) -> io::Result<Vec<u8>> {
    use io::Read as _;

    let file = fs::File::open(path)?;
    // Only regular files are sure to end.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(PayloadBytes::MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
