//! Commands on a host, over one connection if its shell can share one.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;

use super::{execution::execute, shell::RemoteShell};
use crate::{
    client::{
        process::Process,
        steward_command::{StewardCommand, Timeouts},
    },
    start_error::StartError,
};

/// Maximum wait for the connection, and for the exit of the command that keeps it.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
const END_PATIENCE: Duration = Duration::from_secs(3);
/// Remote command that keeps the connection: it prints the greeting of a steward, and ends with its input.
const KEEP: &str = r"printf '\000\001ddsmark steward\002\n'; exec cat >/dev/null";

/// Connection to a host. Dropping it ends it.
pub(super) struct Connection<'a> {
    host: &'a str,
    /// Shell of all commands.
    shell: Arc<dyn RemoteShell>,
    /// Process that keeps a shared connection, its input, and the directory of the connection.
    kept: Option<(Process, File, TempDir)>,
    /// Last lines that the host's shell printed before a command.
    pub(super) noise: Vec<String>,
}

impl<'a> Connection<'a> {
    /// Connects to a host.
    ///
    /// # Errors
    /// Returns an error if the host cannot be reached or rejects the user.
    pub(super) fn open(host: &'a str, shell: &Arc<dyn RemoteShell>) -> Result<Self, StartError> {
        let Some(shared) = shell.shared()? else {
            return Ok(Self { host, shell: Arc::clone(shell), kept: None, noise: Vec::new() });
        };
        let mut keep = StewardCommand::new(host, move || shared.keeper.command(KEEP));
        keep.explain = shell.explain();
        keep.timeouts = Timeouts { start: OPEN_TIMEOUT, ..Timeouts::default() };
        // The connection can be used before the remote command starts.
        let (process, input, _, noise) = Process::start(&keep)?;
        Ok(Self { host, shell: shared.user, kept: Some((process, input, shared.directory)), noise })
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
        let mut content = File::open(file).map_err(|error| StartError::of_file(file, error))?;
        let remote = format!("umask 077; exec cat >{quoted}");
        self.execute(&remote, limit, move |input| io::copy(&mut content, input).map(drop)).map(drop)
    }

    fn execute(
        &self,
        remote: &str,
        limit: Duration,
        feed: impl FnOnce(&mut File) -> io::Result<()> + Send + 'static,
    ) -> Result<String, StartError> {
        let (who, command) = ((self.host, self.shell.explain()), self.shell.command(remote));
        execute(who, command, limit, "a command failed there", feed)
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if let Some((mut process, input, _directory)) = self.kept.take() {
            drop(input);
            process.end(END_PATIENCE);
        }
    }
}
