//! Reader in a second process, as in a run, and the messages between the two processes.
//!
//! The case sends one request at a time, and the second process replies to it. Both are JSON lines over a socket, which
//! is the standard input of that process.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Child,
    time::Duration,
};

use control::{ChannelError, Inbox, OpenOptions};
use driver_host::MatchState;
use serde::{Deserialize, Serialize};

use crate::{
    Stop, broken,
    endpoint::{End, PairConfig},
    sample::ReceivedSample,
};

/// Time limit of an answer, including the wait that was requested: the driver may be slow to load, open or close.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Starts the second process of a case, which calls [`serve`](crate::serve()) with its standard input as the channel.
pub type SpawnPeer<'a> = dyn Fn(OwnedFd) -> io::Result<Child> + 'a;

/// Request to the second process.
#[derive(Serialize, Deserialize)]
pub enum Ask {
    /// Opens a participant and a reader.
    Open { way: OpenOptions, name: String, domain: u32, topic: String, pair_config: Box<PairConfig> },
    /// Requests the locator of the reader.
    Locator,
    /// Connects the reader to a writer with this locator.
    Connect(String),
    /// Requests the number of matched writers.
    Matched,
    /// Receives samples until there are `expected`, or none has arrived for `quiet`.
    Receive { expected: usize, quiet: Duration },
    /// Closes the reader and its participant.
    Close,
}

/// Reply of the second process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Done, without a value.
    Done,
    /// Locator of the reader.
    Locator(String),
    /// Matched writers.
    Matched(MatchState),
    /// Samples in the order of their arrival.
    Received(Vec<ReceivedSample>),
    /// Error of the driver.
    Failed(String),
}

control::json_message!(Ask, 1 << 20);

// An answer carries all samples of a case.
control::json_message!(Answer, 512 << 20);

fn unexpected<T>(answer: &Answer) -> Result<T, Stop> {
    broken(format!("unexpected reply from the reader's process: {answer:?}"))
}

/// Reader in another process. That process is killed when the value is dropped.
pub struct RemoteReader {
    process: Child,
    asks: UnixStream,
    answers: Inbox<Answer>,
}

impl Drop for RemoteReader {
    fn drop(&mut self) {
        // has no effect if the process has exited
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl RemoteReader {
    /// Starts the process, and opens a reader in it with the request [`Ask::Open`].
    pub fn open(start: &SpawnPeer<'_>, request: &Ask) -> Result<Self, Stop> {
        let failed = |error: io::Error| Stop::Failed(format!("cannot start the second process: {error}"));
        let (asks, theirs) = UnixStream::pair().map_err(failed)?;
        asks.set_write_timeout(Some(TIME_LIMIT)).map_err(failed)?;
        let answers = Inbox::start(asks.try_clone().map_err(failed)?, || {});
        let far = Self { process: start(theirs.into()).map_err(failed)?, asks, answers };
        far.done(request)?;
        Ok(far)
    }

    fn ask(&self, ask: &Ask) -> Result<Answer, Stop> {
        let lost = |error: ChannelError| Stop::Failed(format!("lost the reader's process: {error}"));
        control::send(&mut &self.asks, ask).map_err(lost)?;
        match self.answers.receive(TIME_LIMIT).map_err(lost)? {
            Answer::Failed(how) => broken(format!("in the reader's process: {how}")),
            answer => Ok(answer),
        }
    }

    fn done(&self, ask: &Ask) -> Result<(), Stop> {
        match self.ask(ask)? {
            Answer::Done => Ok(()),
            other => unexpected(&other),
        }
    }

    /// Receives samples in that process until there are `expected`, or none has arrived for `quiet`.
    pub fn receive(&self, expected: usize, quiet: Duration) -> Result<Vec<ReceivedSample>, Stop> {
        match self.ask(&Ask::Receive { expected, quiet })? {
            Answer::Received(got) => Ok(got),
            other => unexpected(&other),
        }
    }

    /// Closes the reader and its participant, and ends the process.
    pub fn close(self) -> Result<(), Stop> {
        self.done(&Ask::Close)
    }
}

impl End for &RemoteReader {
    fn match_state(&self) -> Result<MatchState, Stop> {
        match self.ask(&Ask::Matched)? {
            Answer::Matched(state) => Ok(state),
            other => unexpected(&other),
        }
    }

    fn locator(&self) -> Result<String, Stop> {
        match self.ask(&Ask::Locator)? {
            Answer::Locator(text) => Ok(text),
            other => unexpected(&other),
        }
    }

    fn connect(&self, locator: &str) -> Result<(), Stop> {
        self.done(&Ask::Connect(locator.to_owned()))
    }
}
