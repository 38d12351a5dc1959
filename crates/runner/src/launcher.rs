//! Starting agents, and ending them.

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

/// How long the kernel may take to end a process that was killed.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// How long the agent may leave the control channel unread. Orders are far smaller than its buffer.
const SEND_PATIENCE: Duration = Duration::from_secs(5);

/// The variable that makes an agent's environment longer.
const PADDING: &str = "DDSMARK_PADDING";

/// An agent to be started.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The driver that it loads.
    pub driver: &'a Path,
    /// Variables of its environment; `None` removes one. What is not named is inherited.
    pub variables: &'a Variables,
    /// Its environment is longer by so many bytes.
    pub padding_bytes: u32,
    /// Receives what its process prints.
    pub log: &'a File,
}

/// Where agents run. Here on this host; over ssh and in a cluster later. The two runs of a duet start theirs from two threads.
pub trait Launcher: Sync {
    /// Starts an agent. Its process ends at the latest with the thread that calls this.
    ///
    /// # Errors
    /// It cannot be started.
    fn launch(&self, launch: &Launch<'_>) -> Result<AgentProcess, RunnerError>;

    /// Whether the stamps of all agents are of one clock, so that one-way times can be told.
    fn one_clock(&self) -> bool;
}

/// Starts agents on this host.
#[derive(Clone, Debug)]
pub struct LocalLauncher {
    agent: PathBuf,
}

impl LocalLauncher {
    /// With this agent program.
    #[must_use]
    pub fn new(agent: impl Into<PathBuf>) -> Self {
        Self { agent: agent.into() }
    }

    /// The agent program.
    #[must_use]
    pub fn agent(&self) -> &Path {
        &self.agent
    }

    /// With the agent program of `$DDSMARK_AGENT`, else the one next to this program.
    ///
    /// # Errors
    /// There is none.
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
    fn launch(&self, launch: &Launch<'_>) -> Result<AgentProcess, RunnerError> {
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
            // in the agent only: the runner keeps its own environment
            .envs(launch.variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))))
            .env(PADDING, "-".repeat(launch.padding_bytes as usize))
            .stdin(Stdio::null())
            .stdout(launch.log.try_clone().map_err(failed)?)
            .stderr(launch.log.try_clone().map_err(failed)?)
            // out of the reach of the terminal's Ctrl-C: the runner ends agents
            .process_group(0);
        for (name, _) in launch.variables.iter().filter(|(_, value)| value.is_none()) {
            command.env_remove(name);
        }
        let prepare = move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != runner {
                // the runner ended before that took effect
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

    fn one_clock(&self) -> bool {
        true
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, or by somebody else.
    Itself(ExitStatus),
    /// It was killed here, after its time to end was over.
    Killed,
    /// Not even killing ends it: it hangs in the kernel.
    Stuck,
}

impl std::fmt::Display for Ending {
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
            Self::Killed => f.write_str("did not end by itself, and was killed"),
            Self::Stuck => f.write_str("hangs in the kernel: killing does not end it"),
        }
    }
}

/// A running agent: its process and the control channel to it. Dropping it ends the process.
#[derive(Debug)]
pub struct AgentProcess {
    child: Child,
    channel: UnixStream,
    ended: Option<Ending>,
}

impl AgentProcess {
    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The runner's end of the control channel.
    #[must_use]
    pub const fn channel(&self) -> &UnixStream {
        &self.channel
    }

    /// Closes the control channel, whereupon an agent exits, whatever it is doing.
    pub fn hang_up(&self) {
        // it may be closed already
        let _ = self.channel.shutdown(std::net::Shutdown::Both);
    }

    /// Waits until the process has ended, kills it at the deadline, and with it all that it has started in its
    /// group. Leaves no process behind.
    pub fn end(&mut self, deadline: Instant) -> Ending {
        if let Some(ended) = self.ended {
            return ended;
        }
        let by_itself = self.await_exit(deadline);
        // While the process is not reaped its id, and so its group's, belongs to nobody else.
        // A group without living members is no error that matters here.
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let ended = if by_itself || self.await_exit(Instant::now() + KILL_PATIENCE) {
            match self.child.wait() {
                Ok(status) if by_itself => Ending::Itself(status),
                _ => Ending::Killed,
            }
        } else {
            Ending::Stuck
        };
        *self.ended.insert(ended)
    }

    /// Returns when a process of this one has ended. It is not reaped.
    pub(crate) fn await_end_of(id: u32) {
        let pid = Pid::from_raw(id.cast_signed());
        while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(Errno::EINTR) {}
    }

    /// Whether the process has ended by then. It is not reaped.
    fn await_exit(&self, deadline: Instant) -> bool {
        await_exit(Pid::from_raw(self.child.id().cast_signed()), deadline)
    }
}

/// Whether a process of this one has ended by then. It is not reaped.
pub(crate) fn await_exit(pid: Pid, deadline: Instant) -> bool {
    let mut pause = Duration::from_micros(200);
    loop {
        match waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            // an error means that there is no such child any more
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
