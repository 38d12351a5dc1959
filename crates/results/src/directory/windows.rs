//! Windows of a run over time, from its log.

use std::{fs, path::Path};

use recording::{IntervalLog, operations};

use super::{disk::exists, error::DirectoryError};

/// Window of one kind of times of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogWindow {
    /// Start in ns since the start of the measurement, accurate to 1 ms.
    pub start_ns: u64,
    /// Number of times; above 0.
    pub samples: u64,
    /// Median in ns.
    pub p50_ns: u64,
    /// Maximum in ns.
    pub max_ns: u64,
}

/// Returns the windows of a kind of times of a run, such as `rtt`, in ascending order and without empty ones; none without a log of the
/// run.
///
/// # Errors
/// Returns an error if the log cannot be read or is damaged.
pub fn log_windows(path: &Path, run: u32, kind: &str) -> Result<Vec<LogWindow>, DirectoryError> {
    let path = path.join("runs").join(format!("{run:04}.hlog"));
    if !exists(&path)? {
        return Ok(Vec::new());
    }
    let bytes = fs::read(&path).map_err(|cause| DirectoryError::Read { path: path.clone(), cause })?;
    let mut windows: Vec<LogWindow> = Vec::new();
    let read = IntervalLog::read_each(&bytes, |of, start, histogram| {
        if of != kind || histogram.is_empty() {
            return;
        }
        let window = LogWindow {
            start_ns: u64::try_from(start.as_nanos()).unwrap_or(u64::MAX),
            samples: histogram.len(),
            p50_ns: operations::value_at_quantile(&histogram, 0.5),
            max_ns: histogram.max(),
        };
        // A kind may have several logs, such as those of both endpoints.
        match windows.iter_mut().find(|known| known.start_ns == window.start_ns) {
            Some(known) if known.samples >= window.samples => known.max_ns = known.max_ns.max(window.max_ns),
            Some(known) => *known = LogWindow { max_ns: known.max_ns.max(window.max_ns), ..window },
            None => windows.push(window),
        }
    });
    read.map_err(|error| DirectoryError::Damaged { path, cause: error.to_string() })?;
    windows.sort_by_key(|window| window.start_ns);
    Ok(windows)
}
