//! `ddsmark-agent`: one process with one driver and one endpoint, or several of them, started by a runner.

use std::{
    fs::File,
    os::fd::{AsFd as _, FromRawFd as _, OwnedFd, RawFd},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use agent::{
    base::error::AgentError,
    session::{AgentSession, ProcessParticipant},
};
use clap::Parser;
use control::Reply;
use driver_host::Driver;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Run the endpoints of one process of a run; started by ddsmark
#[derive(Parser)]
#[command(name = "ddsmark-agent", version)]
struct Arguments {
    /// Driver library
    #[arg(long)]
    driver: PathBuf,
    /// File descriptor of a control channel, open for reading and writing; once for each endpoint of the process
    #[arg(
        long = "control-fd",
        value_name = "N",
        required_unless_present = "peer",
        value_parser = clap::value_parser!(RawFd).range(0..)
    )]
    control_fds: Vec<RawFd>,
    /// Run as the second process of a conformance case; standard input is the channel to the first
    #[arg(long)]
    peer: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.peer {
        return be_peer(&arguments.driver);
    }
    let channels: nix::Result<Vec<OwnedFd>> = arguments.control_fds.into_iter().map(take_channel).collect();
    match channels.map(|channels| play_all(&arguments.driver, channels)) {
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

/// Plays each endpoint in a thread of its own, the first one in this thread. Ends with the first error.
fn play_all(driver: &Path, channels: Vec<OwnedFd>) -> Result<(), AgentError> {
    // The driver is described by one thread at a time.
    let loading = Arc::new(Mutex::new(()));
    let participant = ProcessParticipant::default();
    let mut channels = channels.into_iter();
    let first = channels.next();
    let mut others = Vec::new();
    for (number, channel) in (2..).zip(channels) {
        let (driver, loading, participant) = (driver.to_owned(), Arc::clone(&loading), participant.clone());
        let play_one = move || {
            let played = play(&driver, &loading, participant, channel);
            if let Err(error) = played {
                // The endpoints of a process end together, whatever the other ones are doing.
                eprintln!("ddsmark-agent: {error}");
                agent::end_at_once();
            }
        };
        let thread = thread::Builder::new().name(format!("endpoint-{number}")).spawn(play_one);
        others.push(thread.map_err(control::ChannelError::Broken)?);
    }
    first.map_or(Ok(()), |channel| play(driver, &loading, participant, channel))?;
    for other in others {
        // A thread that panicked has ended the process.
        let _ = other.join();
    }
    Ok(())
}

fn play(
    driver: &Path,
    loading: &Mutex<()>,
    participant: ProcessParticipant,
    channel: OwnedFd,
) -> Result<(), AgentError> {
    let mut replies = File::from(channel);
    let orders = replies.try_clone().map_err(control::ChannelError::Broken)?;
    let loaded = {
        let _guard = loading.lock().unwrap_or_else(PoisonError::into_inner);
        Driver::load(driver)
    };
    let driver = match loaded {
        Ok(driver) => driver,
        Err(error) => {
            control::send(
                &mut replies,
                &Reply::Failed { error: error.to_string(), hint: Some(error.hint()), refused: false },
            )?;
            return Err(error.into());
        }
    };
    AgentSession::begin(driver, participant, orders, replies)?.run()
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
