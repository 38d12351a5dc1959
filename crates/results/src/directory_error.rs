//! Why a result cannot be written or read, in words.

use std::{io, path::PathBuf};

use crate::{SCHEMA_VERSION, disk::is_full};

/// Why a result cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// There is something already.
    #[error("the results directory `{}` is not empty", .path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// It cannot be made or written to.
    #[error("cannot write `{}`: {cause}", .path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There is not enough room for the result.
    #[error("no room for a result in `{}`: {cause}", .path.display())]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// About as much as is needed.
        needed_bytes: u64,
        /// Why.
        cause: io::Error,
    },
    /// What was to be saved could not be read again.
    #[error("the record `{}` was not saved: it would not read back: {cause}", .path.display())]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// It cannot be read.
    #[error("cannot read `{}`: {cause}", .path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There is no result in it.
    #[error("`{}` holds no result: it has neither `result.json` nor `experiment.json`", .path.display())]
    NoResult {
        /// The directory.
        path: PathBuf,
    },
    /// A record that is not what was written.
    #[error("the record `{}` is damaged: {cause}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// There is nothing left to do.
    #[error("the experiment in `{}` is complete", .path.display())]
    Complete {
        /// The directory.
        path: PathBuf,
    },
    /// It cannot be gone on with as it was begun.
    #[error("the experiment in `{}` was begun by another version of ddsmark", .path.display())]
    OtherVersion {
        /// The directory.
        path: PathBuf,
    },
    /// Another ddsmark writes there.
    #[error("another ddsmark is writing to `{}`", .path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// Written by a newer version.
    #[error(
        "`{}` has schema version {found}; this version of ddsmark reads versions up to {SCHEMA_VERSION}",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
}

impl DirectoryError {
    /// The next step.
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
            Self::Damaged { .. } => {
                "restore the file, or move it away to read the rest of the result without it".to_owned()
            }
            Self::Complete { .. } => "`ddsmark report DIR` shows it".to_owned(),
            Self::OtherVersion { .. } => {
                "go on with that version, or measure anew; `ddsmark report DIR` shows what was measured"
                    .to_owned()
            }
            Self::InUse { .. } => "wait until it has ended, or end it".to_owned(),
            Self::Newer { .. } => "read it with a newer version of ddsmark".to_owned(),
        }
    }
}
