//! Trace files that an experiment follows: read before its first run and saved with its result.

use std::fs;

use collector::TraceFiles;
use experiment::{Plan, Trace, TraceSamples, trace_samples};
use results::{Directory, sha256};

use crate::error::RunnerError;

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
            files.insert(&trace.sha256, read(trace, directory)?);
        }
    }
    Ok(files)
}

fn read(trace: &Trace, directory: &Directory) -> Result<TraceSamples, RunnerError> {
    let rejected = |why: String| RunnerError::Trace { file: trace.file.clone(), why };
    let kept = directory.trace(&trace.sha256)?.filter(|bytes| sha256(bytes) == trace.sha256);
    let bytes = match kept {
        Some(bytes) => bytes,
        None => {
            let bytes = fs::read(&trace.file).map_err(|error| rejected(error.to_string()))?;
            let found = sha256(&bytes);
            if found != trace.sha256 {
                return Err(rejected(format!(
                    "the file has changed since the plan: its SHA-256 is {found}, not {}",
                    trace.sha256
                )));
            }
            directory.save_trace(&trace.sha256, &bytes)?;
            bytes
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| rejected("not UTF-8 text".to_owned()))?;
    trace_samples(&text).map_err(|fault| rejected(fault.to_string()))
}
