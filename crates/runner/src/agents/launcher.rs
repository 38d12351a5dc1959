//! Start and end of agent processes.

use std::{
    fs::File,
    io,
    os::{
        fd::AsRawFd as _,
        unix::{
            net::UnixStream,
            process::{CommandExt as _, ExitStatusExt as _},
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

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

use experiment::Variables;

use crate::RunnerError;

/// Maximum time for the kernel to end a killed process.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time that a send on the control channel may block. Requests are much smaller than the channel's buffer.
const SEND_PATIENCE: Duration = Duration::from_secs(5);

/// Environment variable that pads the environment of an agent.
const PADDING: &str = "DDSMARK_PADDING";

/// Parameters of an agent to start.
#[derive(Debug)]
pub struct AgentCommand<'a> {
    /// Driver library to load.
    pub driver: &'a Path,
    /// Environment variables to set; `None` removes one. Others are inherited.
    pub variables: &'a Variables,
    /// Number of bytes by which the environment is padded.
    pub padding_bytes: u32,
    /// Log file for standard output and standard error.
    pub log: &'a File,
}

/// Starter of agents. The two runs of a duet start their agents from two threads.
pub trait Launcher: Sync {
    /// Starts an agent. Its process ends no later than the calling thread.
    ///
    /// # Errors
    /// Returns an error if the agent cannot be started.
    fn launch(&self, launch: &AgentCommand<'_>) -> Result<AgentProcess, RunnerError>;
}

/// Starter of agents on this host.
#[derive(Clone, Debug)]
pub struct LocalLauncher {
    agent: PathBuf,
}

impl LocalLauncher {
    /// Creates a launcher with the given agent program.
    #[must_use]
    pub fn new(agent: impl Into<PathBuf>) -> Self {
        Self { agent: agent.into() }
    }

    /// Returns the agent program.
    #[must_use]
    pub fn agent(&self) -> &Path {
        &self.agent
    }

    /// Creates a launcher with the agent program from `$DDSMARK_AGENT`, or the one in the directory of this program.
    ///
    /// # Errors
    /// Returns an error if the agent program does not exist.
    pub fn find() -> Result<Self, RunnerError> {
        let agent = match std::env::var_os("DDSMARK_AGENT") {
            Some(file) if !file.is_empty() => PathBuf::from(file),
            _ => std::env::current_exe()
                .map_err(|error| RunnerError::Itself { error })?
                .with_file_name("ddsmark-agent"),
        };
        if agent.is_file() { Ok(Self { agent }) } else { Err(RunnerError::NoAgent { file: agent }) }
    }
}

impl Launcher for LocalLauncher {
    fn launch(&self, launch: &AgentCommand<'_>) -> Result<AgentProcess, RunnerError> {
        let failed = |error: io::Error| RunnerError::Launch { agent: self.agent.clone(), error };
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)
            .map_err(|errno| failed(errno.into()))?;
        let channel = UnixStream::from(ours);
        channel.set_write_timeout(Some(SEND_PATIENCE)).map_err(failed)?;
        let control = theirs.as_raw_fd();
        let runner = getpid();
        let mut command = Command::new(&self.agent);
        command
            .arg("--driver")
            .arg(launch.driver)
            .arg("--control-fd")
            .arg(control.to_string())
            // Set in the agent only: the runner keeps its own environment.
            .envs(launch.variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))))
            .env(PADDING, "-".repeat(launch.padding_bytes as usize))
            .stdin(Stdio::null())
            .stdout(launch.log.try_clone().map_err(failed)?)
            .stderr(launch.log.try_clone().map_err(failed)?)
            // The agent gets its own process group: Ctrl-C in the terminal does not reach it, and the runner ends it.
            .process_group(0);
        for (name, _) in launch.variables.iter().filter(|(_, value)| value.is_none()) {
            command.env_remove(name);
        }
        let prepare = move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != runner {
                // The runner ended before the death signal was set.
                return Err(Errno::ESRCH.into());
            }
            // SAFETY: F_SETFD on a descriptor that this child inherited open; nothing else refers to its flags.
            let status = unsafe { libc::fcntl(control, libc::F_SETFD, 0) };
            Errno::result(status)?;
            Ok(())
        };
        // SAFETY: between fork and exec `prepare` only makes the system calls prctl, getppid and fcntl, all
        // async-signal-safe; it allocates nothing and takes no lock.
        let child = unsafe { command.pre_exec(prepare) }.spawn().map_err(failed)?;
        Ok(AgentProcess { child, channel, ended: None })
    }
}

/// Exit of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessExit {
    /// Exit without action of this program: by itself, or killed by another process.
    Itself(ExitStatus),
    /// Kill by this program after the time limit.
    Killed,
    /// No exit even after the kill: the process hangs in the kernel.
    Stuck,
}

impl std::fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Itself(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "exited with status {code}"),
                (_, Some(number)) => match Signal::try_from(number) {
                    Ok(signal) => write!(f, "was killed by signal {number} ({signal})"),
                    Err(_) => write!(f, "was killed by signal {number}"),
                },
                _ => write!(f, "ended: {status}"),
            },
            Self::Killed => f.write_str("did not exit and was killed"),
            Self::Stuck => f.write_str("cannot be killed: it hangs in the kernel"),
        }
    }
}

/// Running agent: its process and its control channel. Dropping it ends the process.
#[derive(Debug)]
pub struct AgentProcess {
    child: Child,
    channel: UnixStream,
    ended: Option<ProcessExit>,
}

impl AgentProcess {
    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the runner's end of the control channel.
    #[must_use]
    pub const fn channel(&self) -> &UnixStream {
        &self.channel
    }

    /// Closes the control channel, upon which the agent exits immediately.
    pub fn hang_up(&self) {
        // It may be closed already.
        let _ = self.channel.shutdown(std::net::Shutdown::Both);
    }

    /// Waits for the exit of the process, kills it at the deadline, and kills all remaining processes of its group.
    /// No process remains.
    pub fn end(&mut self, deadline: Instant) -> ProcessExit {
        if let Some(ended) = self.ended {
            return ended;
        }
        let by_itself = self.await_exit(deadline);
        // Until the process is reaped, no other process can get its id or its group's id. A group without living
        // members is not an error here.
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let ended = if by_itself || self.await_exit(Instant::now() + KILL_PATIENCE) {
            match self.child.wait() {
                Ok(status) if by_itself => ProcessExit::Itself(status),
                _ => ProcessExit::Killed,
            }
        } else {
            ProcessExit::Stuck
        };
        *self.ended.insert(ended)
    }

    /// Blocks until the child process with this id has exited. Does not reap it.
    pub(crate) fn await_end_of(id: u32) {
        let pid = Pid::from_raw(id.cast_signed());
        while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(Errno::EINTR) {}
    }

    /// Returns whether the process has exited by the deadline. Does not reap it.
    fn await_exit(&self, deadline: Instant) -> bool {
        await_exit(Pid::from_raw(self.child.id().cast_signed()), deadline)
    }
}

/// Returns whether a child process has exited by the deadline. Does not reap it.
pub(crate) fn await_exit(pid: Pid, deadline: Instant) -> bool {
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

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.hang_up();
        self.end(Instant::now());
    }
}
