//! Agent of an agent set: its process, its log, and the thread that reads its replies.

use std::{
    fs::{self, File},
    io::{BufReader, Read as _, Seek as _, SeekFrom},
    net::Shutdown,
    path::PathBuf,
    sync::mpsc::Sender,
    thread,
    time::Instant,
};

use control::{ChannelError, Reply, Request, receive_line, send};
use experiment::Variables;

use super::launcher::{AgentCommand, AgentProcess, Launcher, ProcessExit};
use crate::RunnerError;

/// Maximum number of last lines of an agent's output in a failure.
const LAST_WORDS: usize = 10;
const LAST_BYTES: u64 = 4096;

/// Output of an agent's process. Removed on drop if it is empty.
#[derive(Debug)]
pub(crate) struct AgentLog {
    file: File,
    path: Option<PathBuf>,
}

impl AgentLog {
    /// Creates a log in a file of the results directory.
    pub(crate) fn in_file(path: PathBuf) -> Result<Self, RunnerError> {
        let file = File::options().read(true).append(true).create(true).open(&path);
        match file {
            Ok(file) => Ok(Self { file, path: Some(path) }),
            Err(error) => Err(RunnerError::Log { file: Some(path), error }),
        }
    }

    /// Creates a log in memory.
    pub(crate) fn in_memory() -> Result<Self, RunnerError> {
        use nix::sys::memfd::{MFdFlags, memfd_create};
        match memfd_create(c"ddsmark-log", MFdFlags::MFD_CLOEXEC) {
            Ok(file) => Ok(Self { file: file.into(), path: None }),
            Err(errno) => Err(RunnerError::Log { file: None, error: errno.into() }),
        }
    }

    /// Returns the last non-empty lines.
    fn last_log_lines(&self) -> Vec<String> {
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

/// Event that an agent set waits for.
#[derive(Debug)]
pub(crate) enum Event {
    /// Reply of the agent with this index, or the error that closed its channel.
    Reply(usize, Result<Box<Reply>, ChannelError>),
    /// Stop request.
    Stop,
}

/// Specification of an agent to start.
pub(crate) struct AgentSpec {
    /// Id of its endpoint, if it takes part in a run.
    pub(crate) endpoint: Option<String>,
    pub(crate) driver: PathBuf,
    pub(crate) variables: Variables,
    pub(crate) padding_bytes: u32,
    pub(crate) log: AgentLog,
}

impl AgentSpec {
    /// Creates an agent without an endpoint and without variables of its own.
    pub(crate) const fn alone(driver: PathBuf, log: AgentLog) -> Self {
        Self { endpoint: None, driver, variables: Variables::new(), padding_bytes: 0, log }
    }
}

/// Running agent with its log.
#[derive(Debug)]
pub(crate) struct SpawnedAgent {
    process: AgentProcess,
    log: AgentLog,
}

impl SpawnedAgent {
    /// Starts an agent. Its replies arrive as events with this index. The last event is an error, sent when its
    /// process has exited or has closed the channel.
    pub(crate) fn start(
        launcher: &dyn Launcher,
        AgentSpec { driver, variables, padding_bytes, log, .. }: AgentSpec,
        number: usize,
        events: Sender<Event>,
    ) -> Result<Self, RunnerError> {
        let process = launcher.launch(&AgentCommand {
            driver: &driver,
            variables: &variables,
            padding_bytes,
            log: &log.file,
        })?;
        let failed = |error| RunnerError::Channel { error };
        let channel = process.channel().try_clone().map_err(failed)?;
        let closing = process.channel().try_clone().map_err(failed)?;
        let id = process.id();
        thread::Builder::new()
            .name(format!("agent-{number}-end"))
            .spawn(move || {
                AgentProcess::await_end_of(id);
                // A process that the driver left behind may keep the other end open.
                let _ = closing.shutdown(Shutdown::Read);
            })
            .map_err(failed)?;
        thread::Builder::new()
            .name(format!("agent-{number}"))
            .spawn(move || {
                let mut channel = BufReader::new(channel);
                loop {
                    let reply = receive_line(&mut channel);
                    let over = reply.is_err();
                    if events.send(Event::Reply(number, reply.map(Box::new))).is_err() || over {
                        break;
                    }
                }
            })
            .map_err(failed)?;
        Ok(Self { process, log })
    }

    pub(crate) fn order(&self, order: &Request) -> Result<(), ChannelError> {
        send(&mut self.process.channel(), order)
    }

    pub(crate) fn hang_up(&self) {
        self.process.hang_up();
    }

    /// Ends the process, see [`AgentProcess::end`].
    pub(crate) fn end(&mut self, deadline: Instant) -> ProcessExit {
        self.process.end(deadline)
    }

    pub(crate) fn last_log_lines(&self) -> Vec<String> {
        self.log.last_log_lines()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn last_lines(text: &str) -> Vec<String> {
        let log = AgentLog::in_memory().expect("memory");
        (&log.file).write_all(text.as_bytes()).expect("a file can be written");
        log.last_log_lines()
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
