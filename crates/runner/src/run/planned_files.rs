//! Files that an experiment names, as they were when it was planned: traces, and the bytes of samples.

use std::fs;

use collector::TraceFiles;
use control::PayloadBytes;
use experiment::{PayloadFile, Plan, Trace, TraceSamples, trace_samples};
use results::{Directory, sha256};

use crate::error::RunnerError;

/// Reads a file that has the planned hash. Otherwise returns why it cannot be used.
fn read_planned(file: &str, planned: &str) -> Result<Vec<u8>, String> {
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let found = sha256(&bytes);
    if found != planned {
        return Err(format!("the file has changed since the plan: its SHA-256 is {found}, not {planned}"));
    }
    Ok(bytes)
}

/// Reads the file with the bytes of samples.
///
/// # Errors
/// Returns an error if the file cannot be read, is too large, or differs from the planned one.
pub(crate) fn read_payload(file: &PayloadFile) -> Result<PayloadBytes, RunnerError> {
    let rejected = |why: String| unusable(&format!("`{}`: {why}", file.path));
    let bytes = read_planned(&file.path, &file.sha256).map_err(rejected)?;
    let payload = PayloadBytes::new(&bytes);
    payload.ok_or_else(|| rejected(format!("it has {} bytes, not 1 to {}", bytes.len(), PayloadBytes::MAX)))
}

/// Reads all trace files of an experiment: from its result directory, or from their planned paths, in which case
/// they are saved too.
///
/// # Errors
/// Returns an error if a file cannot be read or differs from the planned one.
pub(crate) fn read_traces(experiment: &Plan, directory: &Directory) -> Result<TraceFiles, RunnerError> {
    let mut files = TraceFiles::default();
    for flow in experiment.cells.iter().flat_map(|cell| cell.factors.streams()) {
        if let Some(trace) = flow.load.trace()
            && !files.has(&flow.load)
        {
            files.insert(&trace.sha256, read_trace(trace, directory)?);
        }
    }
    Ok(files)
}

fn unusable(file: &str) -> RunnerError {
    let hint = Some("restore the file, or start a new experiment".to_owned());
    RunnerError::Failed { error: format!("cannot use {file}"), hint }
}

fn read_trace(trace: &Trace, directory: &Directory) -> Result<TraceSamples, RunnerError> {
    let rejected = |why: String| unusable(&format!("trace `{}`: {why}", trace.file));
    let kept = directory.trace(&trace.sha256)?.filter(|bytes| sha256(bytes) == trace.sha256);
    let bytes = match kept {
        Some(bytes) => bytes,
        None => {
            let bytes = read_planned(&trace.file, &trace.sha256).map_err(rejected)?;
            directory.save_trace(&trace.sha256, &bytes)?;
            bytes
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| rejected("not UTF-8 text".to_owned()))?;
    trace_samples(&text).map_err(|fault| rejected(fault.to_string()))
}
