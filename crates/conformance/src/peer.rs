//! The reader of a case in a process of its own, as the two ends of a run are.
//!
//! The case asks, the other process answers, one question at a time, as JSON lines over a socket that is the standard
//! input of that process.

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

/// How long an answer may take beyond what it waits for itself: the driver may be slow to load, open or close.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts the second process of a case, which calls [`serve`] with what it gets as its standard input.
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
    /// It carries all samples of a case.
    const MAX_LINE_BYTES: u64 = 512 << 20;
}

/// Payloads as base64: a line of numbers takes too long to read.
pub fn to_base64<S: Serializer>(payload: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(payload))
}

/// And back.
pub fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// A reader in another process. Dropped, that process is killed.
pub struct Far {
    process: Child,
    asks: UnixStream,
    answers: Inbox<Answer>,
}

impl Drop for Far {
    fn drop(&mut self) {
        // it has ended already, where it was closed
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Far {
    /// Starts the process, and has it open a reader.
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

    /// What arrives there until there are so many, or nothing has come for so long.
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

/// Plays the reader of a case, in the second process. Returns when it is closed; `on_end` is called when the process that
/// tries the case is gone, and must end this one at once, whatever the driver is doing.
///
/// # Errors
/// The channel is closed or broken.
pub fn serve(
    driver: &Driver,
    channel: OwnedFd,
    on_end: impl FnOnce() + Send + 'static,
) -> Result<(), control::ChannelError> {
    let mut answers = UnixStream::from(channel);
    let asks = Inbox::start(answers.try_clone()?, on_end);
    let mut open = None;
    loop {
        // the end of the channel ends the process
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
