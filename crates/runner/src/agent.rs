//! Agent of a crew: its process, its log, and the thread that reads its replies.

use std::{
    fs::{self, File},
    io::{BufReader, Read as _, Seek as _, SeekFrom},
    net::Shutdown,
    path::PathBuf,
    sync::mpsc::Sender,
    thread,
    time::Instant,
};

use control::{ChannelError, Order, receive_line, send};

use crate::{
    AgentProcess, Ending, Launch, Launcher, RunnerError,
    crew::{Event, Member},
};

/// Maximum number of last lines of an agent's output in a failure.
const LAST_WORDS: usize = 10;
const LAST_BYTES: u64 = 4096;

/// Output of an agent's process. Removed on drop if it is empty.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    path: Option<PathBuf>,
}

impl Log {
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
    fn last_words(&self) -> Vec<String> {
        let mut file = &self.file;
        let mut bytes = Vec::new();
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let skipped = length.saturating_sub(LAST_BYTES);
        if file.seek(SeekFrom::Start(skipped)).is_err()
            || file.take(LAST_BYTES).read_to_end(&mut bytes).is_err()
        {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(LAST_WORDS)..].iter().map(|&line| line.to_owned()).collect()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && self.file.metadata().is_ok_and(|metadata| metadata.len() == 0)
        {
            // An empty file left behind is harmless.
            let _ = fs::remove_file(path);
        }
    }
}

/// Running agent with its log.
#[derive(Debug)]
pub(crate) struct Agent {
    process: AgentProcess,
    log: Log,
}

impl Agent {
    /// Starts an agent. Its replies arrive as events with this index. The last event is an error, sent when its
    /// process has exited or has closed the channel.
    pub(crate) fn start(
        launcher: &dyn Launcher,
        Member { driver, variables, padding_bytes, log, .. }: Member,
        number: usize,
        events: Sender<Event>,
    ) -> Result<Self, RunnerError> {
        let process = launcher.launch(&Launch {
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

    pub(crate) fn order(&self, order: &Order) -> Result<(), ChannelError> {
        send(&mut self.process.channel(), order)
    }

    pub(crate) fn hang_up(&self) {
        self.process.hang_up();
    }

    /// Ends the process, see [`AgentProcess::end`].
    pub(crate) fn end(&mut self, deadline: Instant) -> Ending {
        self.process.end(deadline)
    }

    pub(crate) fn last_words(&self) -> Vec<String> {
        self.log.last_words()
    }
}
