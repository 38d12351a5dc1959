//! Ways to execute commands on a host.

use std::{fmt, process::Command, sync::Arc};

use tempfile::TempDir;

use crate::{client::steward_command::Explain, start_error::StartError};

/// Way to execute commands on a host.
pub trait RemoteShell: fmt::Debug + Send + Sync {
    /// Returns the local command that executes `command`, a line of a POSIX shell, on the host. Its standard streams and its
    /// exit status are those of the command there.
    fn command(&self, command: &str) -> Command;

    /// Returns what explains the messages of a command that fails.
    fn explain(&self) -> Explain;

    /// Returns shells whose commands share one connection; `None` if each command has its own.
    ///
    /// # Errors
    /// Returns an error if the connection cannot be prepared.
    fn shared(&self) -> Result<Option<SharedConnection>, StartError> {
        Ok(None)
    }
}

/// Shells that share one connection.
#[derive(Debug)]
pub struct SharedConnection {
    /// Shell whose first command opens the connection and keeps it until it ends.
    pub keeper: Arc<dyn RemoteShell>,
    /// Shell whose commands use the connection.
    pub user: Arc<dyn RemoteShell>,
    /// Directory that exists for as long as the connection.
    pub directory: TempDir,
}
