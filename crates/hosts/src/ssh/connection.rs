//! Commands on a host over one connection of ssh.

use std::{
    env,
    fs::File,
    io::{self, Read as _, Write as _},
    path::Path,
    process::{Command, ExitStatus},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use experiment::Target;
use tempfile::TempDir;

use super::messages;
use crate::{
    StartError,
    client::{
        process::{Input, Process},
        steward_command::{Patience, StewardCommand},
    },
    framing::greeting::last_lines,
};

/// Options of every call of ssh. Nothing is asked for: the runner may have no terminal. A dead link is found within
/// about 3 s, and a terminal would mangle bytes.
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=1",
    "ServerAliveCountMax=3",
    "RequestTTY=no",
    "EscapeChar=none",
    "ForwardX11=no",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
];
/// Longest path of a control socket: ssh appends up to 17 characters to it, and a socket has at most 107.
const SOCKET_PATH: usize = 80;
/// Maximum output of a command in bytes.
const OUTPUT_BYTES: u64 = 256 << 10;
/// Maximum wait for the exit of the command that keeps the connection.
const END_PATIENCE: Duration = Duration::from_secs(3);
/// Remote command that keeps the connection: it prints the greeting of a steward, and ends with its input.
const KEEP: &str = r"printf '\000\001ddsmark steward\002\n'; exec cat >/dev/null";

/// Program that connects: ssh, with options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshProgram(Vec<String>);

impl SshProgram {
    /// Returns the words of `$DDSMARK_SSH`, by default `ssh`.
    #[must_use]
    pub fn from_environment() -> Self {
        let words = env::var("DDSMARK_SSH").ok().and_then(|text| shlex::split(&text));
        Self(words.filter(|words| !words.is_empty()).unwrap_or_else(|| vec!["ssh".to_owned()]))
    }

    /// Creates a program from its words.
    #[must_use]
    pub fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|&word| word.to_owned()).collect())
    }

    /// Returns a command of ssh with additional options.
    pub(super) fn command(&self, target: &Target, options: &[String], remote: &str) -> Command {
        let mut command = Command::new(self.0.first().map_or("ssh", String::as_str));
        command.args(self.0.iter().skip(1));
        for option in options.iter().map(String::as_str).chain(OPTIONS.iter().copied()) {
            command.args(["-o", option]);
        }
        command.args(target.arguments()).arg(remote);
        command
    }

    /// Returns whether the user's configuration shares connections itself.
    fn shares_connections(&self, target: &Target) -> bool {
        let mut command = Command::new(self.0.first().map_or("ssh", String::as_str));
        let output = command.args(self.0.iter().skip(1)).arg("-G").args(target.arguments()).output();
        output.is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().any(|line| line.strip_prefix("controlpath ").is_some_and(|path| path != "none"))
        })
    }
}

/// Connection to a host. Dropping it ends it.
pub(super) struct Connection<'a> {
    host: &'a str,
    target: &'a Target,
    ssh: &'a SshProgram,
    /// Process that keeps the connection, its input, and the directory of the control socket. Without it, every command
    /// connects as the user's configuration says.
    shared: Option<(Process, std::process::ChildStdin, TempDir)>,
    options: Vec<String>,
    /// Last lines that the host's shell printed before a command.
    pub(super) noise: Vec<String>,
}

impl<'a> Connection<'a> {
    /// Connects to a host.
    ///
    /// # Errors
    /// Returns an error if the host cannot be reached or rejects the user.
    pub(super) fn open(host: &'a str, target: &'a Target, ssh: &'a SshProgram) -> Result<Self, StartError> {
        let mut connection = Self { host, target, ssh, shared: None, options: Vec::new(), noise: Vec::new() };
        if ssh.shares_connections(target) {
            return Ok(connection);
        }
        let directory = private_directory().map_err(|error| StartError::File {
            file: env::temp_dir(),
            error: format!("no directory for a control socket: {error}"),
        })?;
        connection.options = vec![format!("ControlPath={}", directory.path().join("s").display())];
        let options = [connection.options.clone(), own_control("yes")].concat();
        let keep = connection.steward_like(Duration::from_secs(30));
        let keep = StewardCommand {
            command: {
                let (ssh, target) = (ssh.clone(), target.clone());
                Arc::new(move || ssh.command(&target, &options, KEEP))
            },
            ..keep
        };
        // The socket exists before the remote command starts.
        let (process, input, _, noise) = Process::start(&keep)?;
        connection.noise = noise;
        connection.shared = Some((process, input, directory));
        connection.options.extend(own_control("no"));
        Ok(connection)
    }

    fn steward_like(&self, limit: Duration) -> StewardCommand {
        let mut command = StewardCommand::new(self.host, || Command::new("ssh"));
        command.explain = messages::explain;
        command.patience = Patience { start: limit, ..Patience::default() };
        command
    }

    /// Executes a shell script on the host. Returns its output.
    ///
    /// # Errors
    /// Returns an error if the script fails or does not end in time.
    pub(super) fn script(&self, script: &str, limit: Duration) -> Result<String, StartError> {
        let script = script.as_bytes().to_vec();
        self.execute("exec sh -s", limit, move |input| input.write_all(&script))
    }

    /// Copies a file to a path on the host.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written, or not in time.
    pub(super) fn copy(&self, file: &Path, quoted: &str, limit: Duration) -> Result<(), StartError> {
        let cannot = |error: io::Error| StartError::File { file: file.to_owned(), error: error.to_string() };
        let mut content = File::open(file).map_err(cannot)?;
        let remote = format!("umask 077; exec cat >{quoted}");
        self.execute(&remote, limit, move |input| io::copy(&mut content, input).map(drop)).map(drop)
    }

    fn execute(
        &self,
        remote: &str,
        limit: Duration,
        feed: impl FnOnce(&mut std::process::ChildStdin) -> io::Result<()> + Send + 'static,
    ) -> Result<String, StartError> {
        let command = self.ssh.command(self.target, &self.options, remote);
        let (mut process, mut input, output) = Process::spawn(&self.steward_like(limit), command)?;
        // A command that ends early reports why.
        let fed = thread::Builder::new().name(format!("input of {}", self.host)).spawn(move || {
            let _ = feed(&mut input);
        });
        if let Err(error) = fed {
            return Err(process.failed(&error.to_string(), &[]));
        }
        let mut text = Vec::new();
        match read_all(output, limit, &mut text) {
            Ok(()) => match process.cause().status {
                Some(status) if ExitStatus::success(&status) => {
                    Ok(String::from_utf8_lossy(&text).into_owned())
                }
                _ => Err(process.failed("a command failed there", &last_lines(&text, 2))),
            },
            Err(error) => Err(process.failed(&format!("a command failed there: {error}"), &[])),
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if let Some((mut process, input, _directory)) = self.shared.take() {
            drop(input);
            process.end(END_PATIENCE);
        }
    }
}

fn own_control(master: &str) -> Vec<String> {
    vec![format!("ControlMaster={master}"), "ControlPersist=no".to_owned()]
}

/// Reads the output of a command to its end.
fn read_all(mut output: Input, limit: Duration, text: &mut Vec<u8>) -> io::Result<()> {
    output.get_mut().deadline = Some(Instant::now() + limit);
    output.take(OUTPUT_BYTES).read_to_end(text).map(drop)
}

/// Creates a private directory whose path is short enough for a socket.
fn private_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("ddsmark-");
    let directory = builder.tempdir()?;
    if directory.path().as_os_str().len() <= SOCKET_PATH { Ok(directory) } else { builder.tempdir_in("/tmp") }
}
