//! Shell of a host that OpenSSH reaches.

use std::{env, io, process::Command, sync::Arc};

use experiment::Target;
use tempfile::TempDir;

use super::messages;
use crate::{
    client::steward_command::Explain,
    remote::{RemoteShell, SharedConnection},
    start_error::StartError,
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

    /// Returns a command of ssh without arguments.
    fn command(&self) -> Command {
        let mut command = Command::new(self.0.first().map_or("ssh", String::as_str));
        command.args(self.0.iter().skip(1));
        command
    }
}

/// Shell of a host that OpenSSH reaches.
#[derive(Clone, Debug)]
pub struct SshShell {
    program: SshProgram,
    target: Target,
    /// Options in addition to those of every call.
    options: Vec<String>,
}

impl SshShell {
    /// Creates the shell of a destination.
    #[must_use]
    pub const fn new(program: SshProgram, target: Target) -> Self {
        Self { program, target, options: Vec::new() }
    }

    /// Returns whether the user's configuration shares connections itself.
    fn shares_connections(&self) -> bool {
        let output = self.program.command().arg("-G").args(self.target.arguments()).output();
        output.is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().any(|line| line.strip_prefix("controlpath ").is_some_and(|path| path != "none"))
        })
    }

    /// Returns the shell with the control socket of a directory. `opens`: whether its command creates the socket.
    fn with_socket(&self, directory: &TempDir, opens: bool) -> Arc<dyn RemoteShell> {
        let options = vec![
            format!("ControlPath={}", directory.path().join("s").display()),
            format!("ControlMaster={}", if opens { "yes" } else { "no" }),
            "ControlPersist=no".to_owned(),
        ];
        Arc::new(Self { options, ..self.clone() })
    }
}

impl RemoteShell for SshShell {
    fn command(&self, command: &str) -> Command {
        let mut ssh = self.program.command();
        for option in self.options.iter().map(String::as_str).chain(OPTIONS.iter().copied()) {
            ssh.args(["-o", option]);
        }
        ssh.args(self.target.arguments()).arg(command);
        ssh
    }

    fn explain(&self) -> Explain {
        messages::explain
    }

    fn shared(&self) -> Result<Option<SharedConnection>, StartError> {
        if self.shares_connections() {
            return Ok(None);
        }
        let directory = private_directory().map_err(|error| {
            let error = format!("no directory for a control socket: {error}");
            StartError::of_file(&env::temp_dir(), error)
        })?;
        let [keeper, user] = [true, false].map(|opens| self.with_socket(&directory, opens));
        Ok(Some(SharedConnection { keeper, user, directory }))
    }
}

/// Creates a private directory whose path is short enough for a socket.
fn private_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("ddsmark-");
    let directory = builder.tempdir()?;
    if directory.path().as_os_str().len() <= SOCKET_PATH { Ok(directory) } else { builder.tempdir_in("/tmp") }
}
