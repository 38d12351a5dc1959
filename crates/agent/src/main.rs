//! `ddsmark-agent`: one process with one driver and one role, started by a runner.

use std::{
    fs::File,
    os::fd::{AsFd as _, FromRawFd as _, OwnedFd, RawFd},
    path::{Path, PathBuf},
    process::ExitCode,
};

use agent::{base::error::AgentError, session::AgentSession};
use clap::Parser;
use control::Reply;
use driver_host::Driver;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Run one role of one run; started by ddsmark
#[derive(Parser)]
#[command(name = "ddsmark-agent", version)]
struct Arguments {
    /// Driver library
    #[arg(long)]
    driver: PathBuf,
    /// File descriptor of the control channel, open for reading and writing
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "peer",
        value_parser = clap::value_parser!(RawFd).range(0..)
    )]
    control_fd: Option<RawFd>,
    /// Run as the second process of a conformance case; standard input is the channel to the first
    #[arg(long)]
    peer: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(control_fd) = arguments.control_fd else { return be_peer(&arguments.driver) };
    match take_channel(control_fd).map(|channel| play(&arguments.driver, channel)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("ddsmark-agent: {error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!(
                "ddsmark-agent: no control channel: {error}; hint: run `ddsmark`, which starts this program"
            );
            ExitCode::from(2)
        }
    }
}

fn play(driver: &Path, channel: OwnedFd) -> Result<(), AgentError> {
    let mut replies = File::from(channel);
    let orders = replies.try_clone().map_err(control::ChannelError::Broken)?;
    let driver = match Driver::load(driver) {
        Ok(driver) => driver,
        Err(error) => {
            control::send(
                &mut replies,
                &Reply::Failed { error: error.to_string(), hint: Some(error.hint()), refused: false },
            )?;
            return Err(error.into());
        }
    };
    AgentSession::begin(driver, orders.into(), replies)?.run()
}

/// Runs the reader of a case until the agent that runs the case is done or gone.
fn be_peer(driver: &Path) -> ExitCode {
    let outcome = std::io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string()).and_then(
        |channel| {
            let driver = Driver::load(driver).map_err(|error| error.to_string())?;
            conformance::serve(&driver, channel, agent::end_at_once).map_err(|error| error.to_string())
        },
    );
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ddsmark-agent: second process of a case: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Takes ownership of the channel and sets close-on-exec, so that processes started by the driver do not inherit
/// it.
fn take_channel(descriptor: RawFd) -> nix::Result<OwnedFd> {
    // SAFETY: borrowed for this call only, which fails if the descriptor is not open.
    let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    fcntl(borrowed, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    // SAFETY: the descriptor is open, the command line passes its ownership, and nothing else in this process uses
    // it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
