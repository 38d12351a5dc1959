//! Trace files that an experiment follows: read before its first run and saved with its result.

use std::{collections::BTreeMap, fs, sync::Arc};

use experiment::{Experiment, Factors, Load, Trace, trace_times};
use results::{Directory, sha256};

use crate::RunnerError;

/// Times of trace files, by the SHA-256 of the file.
#[derive(Debug, Default)]
pub(crate) struct Times(BTreeMap<String, Arc<[u64]>>);

impl Times {
    /// Reads all trace files of an experiment: from its result directory, or from their planned paths, in which case
    /// they are saved too. Returns an error for a file that differs from the planned one.
    pub(crate) fn read(experiment: &Experiment, directory: &Directory) -> Result<Self, RunnerError> {
        let mut times = BTreeMap::new();
        for flow in experiment.cells.iter().flat_map(|cell| cell.factors.streams()) {
            if let Load::Trace { trace } = flow.load
                && !times.contains_key(&trace.sha256)
            {
                times.insert(trace.sha256.clone(), read(&trace, directory)?.into());
            }
        }
        Ok(Self(times))
    }

    /// Returns the times of a load; empty for a load without a trace file.
    pub(crate) fn of(&self, load: &Load) -> Arc<[u64]> {
        match load {
            Load::Trace { trace } => self.0.get(&trace.sha256).cloned().unwrap_or_default(),
            _ => Arc::default(),
        }
    }

    /// Returns the times of each flow of a cell that follows a trace file, by flow name.
    pub(crate) fn by_flow(&self, factors: &Factors) -> BTreeMap<String, Vec<u64>> {
        let flows = factors.streams().into_iter().filter(|flow| matches!(flow.load, Load::Trace { .. }));
        flows.map(|flow| (flow.name, self.of(&flow.load).to_vec())).collect()
    }
}

fn read(trace: &Trace, directory: &Directory) -> Result<Vec<u64>, RunnerError> {
    let refused = |why: String| RunnerError::Trace { file: trace.file.clone(), why };
    let kept = directory.trace(&trace.sha256)?.filter(|bytes| sha256(bytes) == trace.sha256);
    let bytes = match kept {
        Some(bytes) => bytes,
        None => {
            let bytes = fs::read(&trace.file).map_err(|error| refused(error.to_string()))?;
            let found = sha256(&bytes);
            if found != trace.sha256 {
                return Err(refused(format!(
                    "it is not the file that was planned: its SHA-256 is {found}, not {}",
                    trace.sha256
                )));
            }
            directory.save_trace(&trace.sha256, &bytes)?;
            bytes
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| refused("it is no text".to_owned()))?;
    trace_times(&text).map_err(|fault| refused(fault.to_string()))
}
