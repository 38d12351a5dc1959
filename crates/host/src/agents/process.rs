//! Start and end of agent processes, each with a control channel for each of its endpoints.

use std::{
    io::{self, BufReader},
    net::Shutdown,
    os::{
        fd::{OwnedFd, RawFd},
        unix::{
            net::UnixStream,
            process::{CommandExt as _, ExitStatusExt as _},
        },
    },
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use control::{ChannelError, Request, receive_line, send};
use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, killpg},
        socket::{AddressFamily, SockFlag, SockType, socketpair},
        wait::{Id, WaitPidFlag, WaitStatus, waitid},
    },
    unistd::{Pid, getpid, getppid},
};

use super::log::AgentLog;
use crate::{
    site::{Agent, ReplySink},
    values::{
        agent_command::AgentCommand,
        error::SiteError,
        process_exit::{ChannelEnd, ProcessExit},
    },
};

/// Maximum time for the kernel to end a killed process.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time that a send on the control channel may block. Requests are much smaller than the channel's buffer.
const SEND_PATIENCE: Duration = Duration::from_secs(5);

/// Environment variable that pads the environment of an agent.
const PADDING: &str = "DDSMARK_PADDING";

/// Starts an agent program. Its process ends no later than the calling thread. The last reply of a channel is an error,
/// sent when the process has exited or has closed the channel.
pub(crate) fn launch(
    agent: &Path,
    command: &AgentCommand,
    log: AgentLog,
    replies: ReplySink,
) -> Result<LocalAgent, SiteError> {
    let started = start(agent, command, log).map_err(|error| {
        let text = format!("cannot start the agent `{}`: {error}", agent.display());
        SiteError::failed(text, launch_hint(&error))
    })?;
    started.read(replies).map_err(SiteError::no_channel)?;
    Ok(started)
}

/// Returns a suggested action for an agent that did not start.
fn launch_hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => "raise the limit of open files of this shell: `ulimit -n 8192`",
        Some(libc::EAGAIN) => "raise the limit of processes of this user: `ulimit -u`",
        _ => "set DDSMARK_AGENT to another agent program",
    }
}

/// Starts the process of an agent.
fn start(agent: &Path, arguments: &AgentCommand, log: AgentLog) -> io::Result<LocalAgent> {
    let mut channels = Vec::new();
    let mut theirs: Vec<OwnedFd> = Vec::new();
    for _ in 0..arguments.channels.max(1) {
        let (ours, of_agent) =
            socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
        let channel = UnixStream::from(ours);
        channel.set_write_timeout(Some(SEND_PATIENCE))?;
        channels.push(channel);
        theirs.push(of_agent);
    }
    let inherited: Vec<RawFd> = theirs.iter().map(std::os::fd::AsRawFd::as_raw_fd).collect();
    let owner = getpid();
    let mut command = Command::new(agent);
    command
        .arg("--driver")
        .arg(&arguments.driver.path)
        .args(inherited.iter().flat_map(|channel| ["--control-fd".to_owned(), channel.to_string()]))
        // Set in the agent only: this process keeps its own environment.
        .envs(arguments.variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))))
        .env(PADDING, "-".repeat(arguments.padding_bytes as usize))
        .stdin(Stdio::null())
        .stdout(log.file().try_clone()?)
        .stderr(log.file().try_clone()?)
        // The agent gets its own process group: Ctrl-C in the terminal does not reach it, and this process ends it.
        .process_group(0);
    for (name, _) in arguments.variables.iter().filter(|(_, value)| value.is_none()) {
        command.env_remove(name);
    }
    let prepare = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        if getppid() != owner {
            // The parent ended before the death signal was set.
            return Err(Errno::ESRCH.into());
        }
        for channel in &inherited {
            // SAFETY: F_SETFD on a descriptor that this child inherited open; nothing else refers to its flags.
            let status = unsafe { libc::fcntl(*channel, libc::F_SETFD, 0) };
            Errno::result(status)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec `prepare` only makes the system calls prctl, getppid and fcntl, all
    // async-signal-safe; it allocates nothing and takes no lock.
    let child = unsafe { command.pre_exec(prepare) }.spawn()?;
    Ok(LocalAgent { child, channels, log, ended: None })
}

/// Running agent on this host: its process, its control channels and its log.
#[derive(Debug)]
pub(crate) struct LocalAgent {
    child: Child,
    channels: Vec<UnixStream>,
    log: AgentLog,
    ended: Option<ProcessExit>,
}

impl LocalAgent {
    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Starts the threads that pass on the replies.
    fn read(&self, replies: ReplySink) -> io::Result<()> {
        let clones = || self.channels.iter().map(UnixStream::try_clone).collect::<io::Result<Vec<_>>>();
        let (channels, closing, pid) = (clones()?, clones()?, self.pid());
        thread::Builder::new().name(format!("agent-{pid}-end")).spawn(move || {
            await_end_of(pid);
            for channel in closing {
                // A process that the driver left behind may keep the other end open.
                let _ = channel.shutdown(Shutdown::Read);
            }
        })?;
        let replies = Arc::new(Mutex::new(replies));
        for (number, channel) in (0..).zip(channels) {
            let replies = Arc::clone(&replies);
            thread::Builder::new().name(format!("agent-{pid}")).spawn(move || {
                let mut channel = BufReader::new(channel);
                loop {
                    let reply = receive_line(&mut channel);
                    let over = reply.is_err();
                    let mut pass_on = replies.lock().unwrap_or_else(PoisonError::into_inner);
                    pass_on(number, reply.map(Box::new).map_err(ChannelEnd::from));
                    if over {
                        break;
                    }
                }
            })?;
        }
        Ok(())
    }
}

impl Agent for LocalAgent {
    fn send(&self, channel: u32, request: &Request) -> Result<(), ChannelEnd> {
        let channel = self.channels.get(channel as usize).ok_or(ChannelError::Closed)?;
        Ok(send(&mut &*channel, request)?)
    }

    fn hang_up(&self) {
        for channel in &self.channels {
            // It may be closed already.
            let _ = channel.shutdown(Shutdown::Both);
        }
    }

    fn end(&mut self, limit: Duration) -> ProcessExit {
        if let Some(ended) = self.ended {
            return ended;
        }
        let by_itself = await_exit(self.pid(), Instant::now() + limit);
        // Until the process is reaped, no other process can get its id or its group's id. A group without living
        // members is not an error here.
        let _ = killpg(self.pid(), Signal::SIGKILL);
        let ended = if by_itself || await_exit(self.pid(), Instant::now() + KILL_PATIENCE) {
            match self.child.wait() {
                Ok(status) if by_itself => exit_of(status),
                _ => ProcessExit::Killed,
            }
        } else {
            ProcessExit::Stuck
        };
        *self.ended.insert(ended)
    }

    fn last_log_lines(&self) -> Vec<String> {
        self.log.last_lines()
    }
}

impl Drop for LocalAgent {
    fn drop(&mut self) {
        self.hang_up();
        self.end(Duration::ZERO);
    }
}

/// Returns the exit that the status of a reaped process describes.
fn exit_of(status: ExitStatus) -> ProcessExit {
    // A reaped process without a status was killed by a signal.
    let by_signal = || ProcessExit::Signal(status.signal().unwrap_or_default());
    status.code().map_or_else(by_signal, ProcessExit::Status)
}

/// Blocks until a child process has exited. Does not reap it.
fn await_end_of(pid: Pid) {
    while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(Errno::EINTR) {}
}

/// Returns whether a child process has exited by the deadline. Does not reap it.
pub fn await_exit(pid: Pid, deadline: Instant) -> bool {
    let mut pause = Duration::from_micros(200);
    loop {
        match waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            // An error means that the child no longer exists.
            Ok(_) | Err(_) => return true,
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
