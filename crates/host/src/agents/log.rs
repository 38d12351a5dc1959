//! Output of an agent's process.

use std::{
    fs::{self, File},
    io::{self, PipeReader, Read as _, Seek as _, SeekFrom, Write as _, pipe},
    os::fd::OwnedFd,
    path::PathBuf,
};

use crate::values::error::SiteError;

/// Maximum number of last lines of an agent's output in a failure.
const LAST_WORDS: usize = 10;
const LAST_BYTES: u64 = 4096;

/// Output of an agent's process, on the host of the process that uses the site. Removed on drop if it is empty.
#[derive(Debug)]
pub struct AgentLog {
    file: File,
    path: Option<PathBuf>,
}

impl AgentLog {
    /// Creates a log in a file, or continues the one that is there.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub fn in_file(path: PathBuf) -> Result<Self, SiteError> {
        let file = File::options().read(true).append(true).create(true).open(&path);
        match file {
            Ok(file) => Ok(Self { file, path: Some(path) }),
            Err(error) => Err(SiteError::no_log(Some(&path), error)),
        }
    }

    /// Creates a log in memory.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be reserved.
    pub fn in_memory() -> Result<Self, SiteError> {
        use nix::sys::memfd::{MFdFlags, memfd_create};
        match memfd_create(c"ddsmark-log", MFdFlags::MFD_CLOEXEC) {
            Ok(file) => Ok(Self { file: file.into(), path: None }),
            Err(errno) => Err(SiteError::no_log(None, io::Error::from(errno))),
        }
    }

    /// Creates a log that passes its bytes to a pipe, for a process that sends them elsewhere. Returns the end of the
    /// pipe to read. This log itself keeps no lines.
    ///
    /// # Errors
    /// Returns an error if the pipe cannot be created.
    pub fn to_pipe() -> Result<(Self, PipeReader), SiteError> {
        match pipe() {
            Ok((reader, writer)) => Ok((Self { file: OwnedFd::from(writer).into(), path: None }, reader)),
            Err(error) => Err(SiteError::no_log(None, error)),
        }
    }

    /// Appends output that another process sent.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.file).write_all(bytes)
    }

    /// Returns the file that the output is appended to.
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Returns the last non-empty lines.
    #[must_use]
    pub fn last_lines(&self) -> Vec<String> {
        let mut file = &self.file;
        let mut bytes = Vec::new();
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        // One byte more than is kept: a line that begins with the first kept byte is complete.
        let skipped = length.saturating_sub(LAST_BYTES + 1);
        if file.seek(SeekFrom::Start(skipped)).is_err()
            || file.take(LAST_BYTES + 1).read_to_end(&mut bytes).is_err()
        {
            return Vec::new();
        }
        let begin = match skipped {
            0 => 0,
            _ => bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1),
        };
        let text = String::from_utf8_lossy(&bytes[begin..]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(LAST_WORDS)..].iter().map(|&line| line.to_owned()).collect()
    }
}

impl Drop for AgentLog {
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && self.file.metadata().is_ok_and(|metadata| metadata.len() == 0)
        {
            // An empty file left behind is harmless.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_lines(text: &str) -> Vec<String> {
        let log = AgentLog::in_memory().expect("memory");
        log.append(text.as_bytes()).expect("a file can be written");
        log.last_lines()
    }

    #[test]
    fn last_lines_of_a_long_log_begin_at_a_line() {
        let long = "x".repeat(3000);
        assert_eq!(last_lines(&format!("{long}\n{long}\nlast\n")), [long.as_str(), "last"]);
        let whole = "y".repeat(LAST_BYTES as usize - 1);
        assert_eq!(last_lines(&format!("before\n{whole}\n")), [whole]);
    }

    #[test]
    fn last_lines_of_one_overlong_line_are_its_end() {
        let found = last_lines(&format!("begin{}end", "x".repeat(2 * LAST_BYTES as usize)));
        assert!(found.len() == 1 && found[0].ends_with("xend") && !found[0].contains("begin"), "{found:?}");
    }

    #[test]
    fn last_lines_of_a_short_log_are_its_lines() {
        assert_eq!(last_lines("one\n\ntwo"), ["one", "two"]);
        assert_eq!(last_lines(""), [""; 0]);
        let many: String = (0..20).map(|line| format!("{line}\n")).collect();
        assert_eq!(last_lines(&many).len(), LAST_WORDS);
    }
}
