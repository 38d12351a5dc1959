//! Errors of writing and reading a result directory.

use std::{io, path::PathBuf};

use crate::schema::SCHEMA_VERSION;

/// Error of writing or reading a result.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The directory is not empty.
    #[error("the results directory `{}` is not empty", .path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The file or directory cannot be created or written to.
    #[error("cannot write `{}`: {cause}", .path.display())]
    Write {
        /// Path of the file or directory.
        path: PathBuf,
        /// OS error.
        cause: io::Error,
    },
    /// There is too little free space for the result.
    #[error("no room for a result in `{}`: {cause}", .path.display())]
    NoRoom {
        /// Path of the directory.
        path: PathBuf,
        /// Estimated size of the result, in bytes.
        needed_bytes: u64,
        /// OS error.
        cause: io::Error,
    },
    /// The record would not parse after writing.
    #[error("the record `{}` was not saved: it would not read back: {cause}", .path.display())]
    NotReadable {
        /// Path of the file.
        path: PathBuf,
        /// Parse error.
        cause: String,
    },
    /// The file or directory cannot be read.
    #[error("cannot read `{}`: {cause}", .path.display())]
    Read {
        /// Path of the file or directory.
        path: PathBuf,
        /// OS error.
        cause: io::Error,
    },
    /// There is no result in the directory.
    #[error("`{}` holds no result: it has neither `result.json` nor `experiment.json`", .path.display())]
    NoResult {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The file has something else than a result.
    #[error("`{}` is not the result of an experiment: {cause}", .path.display())]
    NotAResult {
        /// Path of the file.
        path: PathBuf,
        /// Parse error.
        cause: String,
    },
    /// The record is damaged.
    #[error("the record `{}` is damaged: {cause}", .path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Description of the damage.
        cause: String,
    },
    /// The experiment is complete and cannot be resumed.
    #[error("the experiment in `{}` is complete", .path.display())]
    Complete {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The experiment ended before its first block, so there is nothing to resume.
    #[error("the experiment in `{}` ended before its first block: it has no `log.json`", .path.display())]
    NotStarted {
        /// Path of the directory.
        path: PathBuf,
    },
    /// Another ddsmark process is writing to the directory.
    #[error("another ddsmark is writing to `{}`", .path.display())]
    InUse {
        /// Path of the directory.
        path: PathBuf,
    },
    /// An older or a newer version of ddsmark wrote the file.
    #[error(
        "`{}` has schema version {found}; this version of ddsmark reads version {SCHEMA_VERSION} only", .path.display()
    )]
    OtherVersion {
        /// Path of the file.
        path: PathBuf,
        /// Schema version of the file.
        found: u64,
    },
}

impl DirectoryError {
    /// Returns a suggested next step.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotEmpty { .. } => {
                "results are never overwritten: choose another directory with `--out DIR`, or remove this one"
                    .to_owned()
            }
            Self::Write { cause, .. } if is_full(cause) => {
                "free some room there: the runs that were saved before can be read".to_owned()
            }
            Self::Write { .. } => "choose a directory that can be written to with `--out DIR`".to_owned(),
            Self::NoRoom { needed_bytes, .. } => format!(
                "free about {} MiB there, or choose another directory with `--out DIR`",
                needed_bytes.div_ceil(1 << 20)
            ),
            Self::NotReadable { .. } => "this is a defect of ddsmark: please report it".to_owned(),
            Self::Read { .. } | Self::NoResult { .. } => {
                "name the directory that `--out` named when it was measured".to_owned()
            }
            Self::NotAResult { .. } => {
                "name a `result.json`, or the directory that `--out` named when it was measured".to_owned()
            }
            Self::Damaged { .. } => {
                "restore the file, or move it away to read the rest of the result without it".to_owned()
            }
            Self::Complete { .. } => "`ddsmark report DIR` shows it".to_owned(),
            Self::NotStarted { .. } => "remove the directory, and start the experiment again".to_owned(),
            Self::InUse { .. } => "wait until it has ended, or end it".to_owned(),
            Self::OtherVersion { found, .. } if *found < u64::from(SCHEMA_VERSION) => {
                "read it with the version of ddsmark that wrote it, or measure again".to_owned()
            }
            Self::OtherVersion { .. } => "read it with a newer version of ddsmark".to_owned(),
        }
    }
}

/// Returns whether the error means that the disk is full.
pub(crate) fn is_full(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
