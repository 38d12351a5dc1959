//! Reader of a case in a process of its own, as in a run.
//!
//! The case sends one request at a time, and the other process answers it. Both are JSON lines over a socket, which
//! is the standard input of that process.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Child,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use control::{Inbox, Message};
use driver_host::{Driver, Participant};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    Stop, Way,
    bench::{Bench, End, Got, Inlet, Wish},
    broken,
};

/// Time limit of an answer, including the wait that was requested: the driver may be slow to load, open or close.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts the second process of a case, which calls [`serve`] with its standard input as the channel.
pub type Start<'a> = dyn Fn(OwnedFd) -> io::Result<Child> + 'a;

#[derive(Serialize, Deserialize)]
enum Ask {
    Open { way: Way, name: String, domain: u32, topic: String, wish: Box<Wish> },
    Locator,
    Connect(String),
    Matched,
    Receive { expected: usize, quiet: Duration },
    Close,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done,
    Locator(String),
    Matched(u32),
    Received(Vec<Got>),
    Failed(String),
}

impl Message for Ask {
    const MAX_LINE_BYTES: u64 = 1 << 20;
}

impl Message for Answer {
    /// Longest line in bytes; an answer carries all samples of a case.
    const MAX_LINE_BYTES: u64 = 512 << 20;
}

/// Serializes a payload as base64: an array of numbers takes too long to parse.
pub fn to_base64<S: Serializer>(payload: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(payload))
}

/// Deserializes a payload from base64.
pub fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// Reader in another process. That process is killed when the value is dropped.
pub struct Far {
    process: Child,
    asks: UnixStream,
    answers: Inbox<Answer>,
}

impl Drop for Far {
    fn drop(&mut self) {
        // has no effect if the process has exited
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Far {
    /// Starts the process, and opens a reader in it.
    pub fn open(start: &Start<'_>, bench: &Bench<'_>, topic: &str, wish: &Wish) -> Result<Self, Stop> {
        let failed =
            |error: io::Error| Stop::Failed(format!("the second process cannot be started: {error}"));
        let (asks, theirs) = UnixStream::pair().map_err(failed)?;
        asks.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let answers = Inbox::start(asks.try_clone().map_err(failed)?, || {});
        let far = Self { process: start(theirs.into()).map_err(failed)?, asks, answers };
        far.done(&Ask::Open {
            way: bench.way.clone(),
            name: bench.name.to_owned(),
            domain: bench.domain,
            topic: topic.to_owned(),
            wish: Box::new(wish.clone()),
        })?;
        Ok(far)
    }

    fn ask(&self, ask: &Ask) -> Result<Answer, Stop> {
        let lost =
            |error: control::ChannelError| Stop::Failed(format!("the reader's process is lost: {error}"));
        control::send(&mut &self.asks, ask).map_err(lost)?;
        match self.answers.receive(PATIENCE).map_err(lost)? {
            Answer::Failed(how) => broken(format!("in the reader's process: {how}")),
            answer => Ok(answer),
        }
    }

    fn done(&self, ask: &Ask) -> Result<(), Stop> {
        match self.ask(ask)? {
            Answer::Done => Ok(()),
            other => broken(format!("the reader's process answers {other:?}")),
        }
    }

    /// Receives samples in that process until there are `expected`, or none has arrived for `quiet`.
    pub fn receive(&self, expected: usize, quiet: Duration) -> Result<Vec<Got>, Stop> {
        match self.ask(&Ask::Receive { expected, quiet })? {
            Answer::Received(got) => Ok(got),
            other => broken(format!("the reader's process answers {other:?}")),
        }
    }

    /// Closes the reader and its participant, and ends the process.
    pub fn close(self) -> Result<(), Stop> {
        self.done(&Ask::Close)
    }
}

impl End for &Far {
    fn matched(&self) -> Result<u32, Stop> {
        match self.ask(&Ask::Matched)? {
            Answer::Matched(count) => Ok(count),
            other => broken(format!("the reader's process answers {other:?}")),
        }
    }

    fn locator(&self) -> Result<String, Stop> {
        match self.ask(&Ask::Locator)? {
            Answer::Locator(text) => Ok(text),
            other => broken(format!("the reader's process answers {other:?}")),
        }
    }

    fn connect(&self, locator: &str) -> Result<(), Stop> {
        self.done(&Ask::Connect(locator.to_owned()))
    }
}

/// Runs the reader of a case in the second process, until the case closes it. `on_end` is called when the first
/// process is gone, and must end this one at once, whatever the driver is doing.
///
/// # Errors
/// Returns an error if the channel is closed or broken.
pub fn serve(
    driver: &Driver,
    channel: OwnedFd,
    on_end: impl FnOnce() + Send + 'static,
) -> Result<(), control::ChannelError> {
    let mut answers = UnixStream::from(channel);
    let asks = Inbox::start(answers.try_clone()?, on_end);
    let mut open = None;
    loop {
        // `on_end` ends the process when the channel ends
        let Ok(ask) = asks.receive(PATIENCE) else { continue };
        let last = matches!(ask, Ask::Close);
        let answer = answer(driver, &mut open, ask).unwrap_or_else(|stop| match stop {
            Stop::Failed(how) | Stop::NotApplicable(how) => Answer::Failed(how),
        });
        control::send(&mut answers, &answer)?;
        if last {
            return Ok(());
        }
    }
}

fn answer(driver: &Driver, open: &mut Option<(Participant, Inlet)>, ask: Ask) -> Result<Answer, Stop> {
    if let Ask::Open { way, name, domain, topic, wish } = ask {
        let bench = Bench::new(driver, &way, &name, domain, None);
        let participant = bench.open()?;
        let inlet = bench.inlet(&participant, &topic, &wish)?;
        *open = Some((participant, inlet));
        return Ok(Answer::Done);
    }
    let Some((_, inlet)) = open else { return broken("nothing is open") };
    Ok(match ask {
        Ask::Open { .. } => Answer::Done,
        Ask::Locator => Answer::Locator(inlet.end().locator()?),
        Ask::Connect(locator) => {
            inlet.end().connect(&locator)?;
            Answer::Done
        }
        Ask::Matched => Answer::Matched(inlet.end().matched()?),
        Ask::Receive { expected, quiet } => Answer::Received(inlet.receive(expected, quiet)?),
        Ask::Close => {
            if let Some((participant, inlet)) = open.take() {
                inlet.close()?;
                participant.close()?;
            }
            Answer::Done
        }
    })
}
