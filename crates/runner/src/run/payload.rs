//! File with the bytes of samples: read before the first run.

use std::fs;

use control::PayloadBytes;
use experiment::PayloadFile;
use results::sha256;

use crate::error::RunnerError;

/// Reads the file with the bytes of samples.
///
/// # Errors
/// Returns an error if the file cannot be read, is too large, or differs from the planned one.
pub(crate) fn read_payload(file: &PayloadFile) -> Result<PayloadBytes, RunnerError> {
    let rejected = |why: String| RunnerError::Payload { file: file.path.clone(), why };
    let bytes = fs::read(&file.path).map_err(|error| rejected(error.to_string()))?;
    let found = sha256(&bytes);
    if found != file.sha256 {
        return Err(rejected(format!(
            "the file has changed since the plan: its SHA-256 is {found}, not {}",
            file.sha256
        )));
    }
    let payload = PayloadBytes::new(&bytes);
    payload.ok_or_else(|| rejected(format!("it has {} bytes, not 1 to {}", bytes.len(), PayloadBytes::MAX)))
}
