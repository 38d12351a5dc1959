//! Standard streams of a steward.

use std::{
    fs::File,
    io,
    os::fd::{AsFd as _, OwnedFd},
};

use nix::unistd::{dup2_stdin, dup2_stdout};

/// Takes the standard streams for frames. Whatever this process or a library prints from now on goes to standard error,
/// which the other process keeps as the log of the steward; standard input is empty.
///
/// # Errors
/// Returns an error if a stream cannot be duplicated.
pub fn take_streams() -> io::Result<(File, File)> {
    let input: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let output: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(io::stderr())?;
    Ok((input.into(), output.into()))
}
