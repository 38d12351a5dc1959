//! Result directory: written run by run, and readable after an interruption or a crash.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

mod disk;
mod error;
mod windows;

pub use disk::save_file;
use disk::{exists, parse, probe, read, read_any, save_json};
pub use error::DirectoryError;
use recording::{Histograms, IntervalLog};
pub use windows::{LogWindow, log_windows};

use crate::{
    schema::{
        ExperimentLog, ResultDocument, ResultHeader, Run, SCHEMA_VERSION, State, StoppedBy, Warning,
        WarningKind,
    },
    values::Assembler,
};

/// Expected size of one run: its record, its histograms, and a few lines of logs.
const BYTES_PER_RUN: u64 = 128 << 10;

/// Directory that a result is being written to.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// Lock on the directory: only one process writes to it.
    _lock: File,
}

/// Saved state of an interrupted experiment.
#[derive(Debug)]
pub struct SavedExperiment {
    /// Directory, opened for writing.
    pub directory: Directory,
    /// Assembler with the header and the saved runs.
    pub assembler: Assembler,
    /// Progress besides the runs.
    pub log: ExperimentLog,
}

/// Stored form of a run.
#[derive(Serialize, Deserialize)]
struct Record<R> {
    schema_version: u32,
    #[serde(flatten)]
    run: R,
}

impl Directory {
    /// Creates the directory, or uses an empty one, and checks that a result of this many runs can be written to
    /// it.
    ///
    /// # Errors
    /// Returns an error if it is not empty, not a directory, not writable, or has too little free space. Nothing
    /// new is left behind then.
    pub fn create(path: &Path, expected_runs: usize) -> Result<Self, DirectoryError> {
        let write = |cause| DirectoryError::Write { path: path.to_owned(), cause };
        let existed = path.exists();
        fs::create_dir_all(path).map_err(write)?;
        let mut entries = fs::read_dir(path).map_err(write)?;
        if entries.next().is_some() {
            return Err(DirectoryError::NotEmpty { path: path.to_owned() });
        }
        let directory = Self::locked(path)?;
        directory.prepare(expected_runs).inspect_err(|_| {
            // restores the initial state; an error here does not change the error to report
            let _ = fs::remove_dir(path.join("runs"));
            let _ = fs::remove_dir(path.join("logs"));
            if !existed {
                let _ = fs::remove_dir(path);
            }
        })?;
        Ok(directory)
    }

    /// Opens the directory of an interrupted experiment to resume it. Saved runs are kept. If only one run of a
    /// duet was saved, both must be repeated, and an incomplete search too.
    ///
    /// # Errors
    /// Returns an error if there is no experiment, if it is complete, if it ended before its first block, if
    /// another process is writing to it, or if a file is damaged or has a newer schema version.
    pub fn reopen(path: &Path) -> Result<SavedExperiment, DirectoryError> {
        let header = path.join("experiment.json");
        if !exists(&header)? {
            return Err(DirectoryError::NoResult { path: path.to_owned() });
        }
        let directory = Self::locked(path)?;
        let read_header: ResultHeader = read(&header)?;
        let log = path.join("log.json");
        if !exists(&log)? {
            return Err(DirectoryError::NotStarted { path: path.to_owned() });
        }
        let log: ExperimentLog = read(&log)?;
        let records = records(path)?;
        let whole = |run: &Run| {
            let alone = run.duet.as_ref().is_some_and(|duet| !records.contains_key(&duet.partner));
            !alone && !run.is_partial()
        };
        let assembler = assemble(read_header, &records, whole)?;
        if log.is_complete() {
            return Err(DirectoryError::Complete { path: path.to_owned() });
        }
        Ok(SavedExperiment { directory, assembler, log })
    }

    fn locked(path: &Path) -> Result<Self, DirectoryError> {
        let write = |cause| DirectoryError::Write { path: path.to_owned(), cause };
        let lock = File::open(path).map_err(write)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(DirectoryError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(cause)) => Err(write(cause)),
        }
    }

    fn prepare(&self, expected_runs: usize) -> Result<(), DirectoryError> {
        for part in ["runs", "logs"] {
            let part = self.path.join(part);
            fs::create_dir(&part).map_err(|cause| DirectoryError::Write { path: part, cause })?;
        }
        probe(&self.path, (expected_runs as u64).saturating_mul(BYTES_PER_RUN))
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the log of an agent process.
    #[must_use]
    pub fn log_path(&self, run: u32, role: &str) -> PathBuf {
        self.path.join("logs").join(format!("{run:04}-{role}.log"))
    }

    /// Saves the header, which is known before the first run.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_experiment(&self, header: &ResultHeader) -> Result<(), DirectoryError> {
        save_json::<ResultHeader>(&self.path.join("experiment.json"), header)
    }

    /// Saves a trace file of the plan under the SHA-256 of its bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_trace(&self, sha256: &str, bytes: &[u8]) -> Result<(), DirectoryError> {
        let path = self.trace_path(sha256);
        let folder = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder)
            .map_err(|cause| DirectoryError::Write { path: folder.to_owned(), cause })?;
        save_file(&path, bytes)
    }

    /// Returns the trace file with this SHA-256, or `None` if it was not saved or if `sha256` is not a valid hash.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn trace(&self, sha256: &str) -> Result<Option<Vec<u8>>, DirectoryError> {
        let path = self.trace_path(sha256);
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash || !exists(&path)? {
            return Ok(None);
        }
        fs::read(&path).map(Some).map_err(|cause| DirectoryError::Read { path, cause })
    }

    fn trace_path(&self, sha256: &str) -> PathBuf {
        self.path.join("traces").join(format!("{sha256}.txt"))
    }

    /// Saves a run and its histograms. After it returns, neither a crash nor a power cut loses them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn save_run(&self, run: &Run, log: IntervalLog) -> Result<(), DirectoryError> {
        let path = self.path.join("runs").join(format!("{:04}.json", run.number));
        if log.is_empty() {
            // a repeated run must not keep the histograms of its first attempt
            let _ = fs::remove_file(path.with_extension("hlog"));
        } else {
            let path = path.with_extension("hlog");
            let started = SystemTime::UNIX_EPOCH + Duration::from_nanos(run.started_unix_ns);
            let text = log.write(started, &format!("ddsmark run {} cell {}", run.number, run.cell));
            let text = text.map_err(|error| DirectoryError::NotReadable {
                path: path.clone(),
                cause: error.to_string(),
            })?;
            save_file(&path, &text)?;
        }
        // the record last: if there is a record, its histograms are complete
        save_json::<Record<Run>>(&path, &Record { schema_version: SCHEMA_VERSION, run })
    }

    /// Saves the progress besides the runs.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_log(&self, log: &ExperimentLog) -> Result<(), DirectoryError> {
        save_json::<ExperimentLog>(&self.path.join("log.json"), log)
    }

    /// Saves the complete result.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_document(&self, document: &ResultDocument) -> Result<(), DirectoryError> {
        save_json::<ResultDocument>(&self.path.join("result.json"), document)
    }

    /// Parses a result from the bytes of a `result.json`.
    ///
    /// # Errors
    /// Returns an error if it is damaged or has a newer schema version. The error names `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<ResultDocument, DirectoryError> {
        parse(path, bytes)
    }

    /// Loads a result: from a complete directory, from one that an interrupted experiment or a crash left behind,
    /// or from a single `result.json`.
    ///
    /// # Errors
    /// Returns an error if there is no result, or if a file is damaged, has something else or has a newer schema version.
    pub fn load(path: &Path) -> Result<ResultDocument, DirectoryError> {
        if path.is_file() {
            return read_any(path);
        }
        let records = records(path)?;
        let (whole, header) = (path.join("result.json"), path.join("experiment.json"));
        let damage = match (exists(&whole)?, exists(&header)?) {
            (false, false) => return Err(DirectoryError::NoResult { path: path.to_owned() }),
            (false, true) => None,
            (true, has_header) => match read::<ResultDocument>(&whole) {
                Ok(document) if !has_header || holds_all(&document, &records) => return Ok(document),
                // runs were saved after the file
                Ok(_) => None,
                Err(damage @ DirectoryError::Damaged { .. }) if has_header => Some(damage),
                Err(error) => return Err(error),
            },
        };
        let mut assembler = assemble(read(&header)?, &records, |_| true)?;
        let mut damages: Vec<String> = damage
            .map(|damage| format!("{damage}; the result was put together from the records of its runs"))
            .into_iter()
            .collect();
        let log = path.join("log.json");
        if exists(&log)? {
            match read::<ExperimentLog>(&log) {
                Ok(mut log) => {
                    log.allocation.stopped_by.get_or_insert(StoppedBy::Interrupted);
                    assembler.set_log(log);
                }
                Err(damage @ DirectoryError::Damaged { .. }) => {
                    damages.push(format!("{damage}; nothing is known of its blocks"));
                }
                Err(error) => return Err(error),
            }
        }
        let state = if assembler.is_complete() { State::Complete } else { State::Interrupted };
        let mut document = assembler.document(state);
        let warnings = damages.into_iter().map(|text| Warning::new(WarningKind::Incomplete, text));
        document.warnings.extend(warnings);
        Ok(document)
    }
}

/// Returns the run records of a result, by number. Files with other names are ignored, for example a file that a
/// crash left incomplete.
fn records(path: &Path) -> Result<BTreeMap<u32, PathBuf>, DirectoryError> {
    let unreadable = |path: &Path, cause| DirectoryError::Read { path: path.to_owned(), cause };
    fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    let runs = path.join("runs");
    if !exists(&runs)? {
        return Ok(BTreeMap::new());
    }
    let mut records = BTreeMap::new();
    for entry in fs::read_dir(&runs).map_err(|cause| unreadable(&runs, cause))? {
        let path = entry.map_err(|cause| unreadable(&runs, cause))?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if let (Some(number), Some("json")) = (number, path.extension().and_then(|e| e.to_str())) {
            records.insert(number, path);
        }
    }
    Ok(records)
}

fn holds_all(document: &ResultDocument, records: &BTreeMap<u32, PathBuf>) -> bool {
    let held: BTreeSet<u32> =
        document.cells.iter().flat_map(|cell| &cell.runs).map(|run| run.number).collect();
    records.keys().all(|number| held.contains(number))
}

/// Creates an assembler with the runs for which `kept` returns true.
fn assemble(
    header: ResultHeader,
    records: &BTreeMap<u32, PathBuf>,
    kept: impl Fn(&Run) -> bool,
) -> Result<Assembler, DirectoryError> {
    let mut assembler = Assembler::new(header);
    for (number, path) in records {
        let damaged = |path: &Path, cause| DirectoryError::Damaged { path: path.to_owned(), cause };
        let Record { run, .. } = read::<Record<Run>>(path)?;
        if run.number != *number {
            return Err(damaged(path, format!("it is the record of run {}", run.number)));
        }
        if !assembler.header().experiment.cells.iter().any(|cell| cell.id == run.cell) {
            return Err(damaged(path, format!("the experiment has no cell `{}`", run.cell)));
        }
        if !kept(&run) {
            continue;
        }
        let log = path.with_extension("hlog");
        let histograms = if exists(&log)? {
            let bytes = fs::read(&log).map_err(|cause| DirectoryError::Read { path: log.clone(), cause })?;
            let merged = IntervalLog::read_merged(&bytes, &run.pooled_kinds());
            merged.map_err(|error| damaged(&log, error.to_string()))?
        } else {
            Histograms::new()
        };
        assembler.add(run, &histograms);
    }
    Ok(assembler)
}
