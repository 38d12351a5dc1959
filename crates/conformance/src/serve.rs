//! Second process of a case: opens the reader and executes the requests of the case.

use std::os::{fd::OwnedFd, unix::net::UnixStream};

use control::Inbox;
use driver_host::{Driver, Participant};

use crate::{
    Stop, broken,
    fixture::Fixture,
    inlet::Inlet,
    remote_reader::{Answer, Ask, TIME_LIMIT},
};

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
        let Ok(ask) = asks.receive(TIME_LIMIT) else { continue };
        let last = matches!(ask, Ask::Close);
        let answer = answer(driver, &mut open, ask).unwrap_or_else(|stop| match stop {
            Stop::Failed(how) | Stop::NoEffect(how) | Stop::NotApplicable(how) => Answer::Failed(how),
        });
        control::send(&mut answers, &answer)?;
        if last {
            return Ok(());
        }
    }
}

fn answer(driver: &Driver, open: &mut Option<(Participant, Inlet)>, ask: Ask) -> Result<Answer, Stop> {
    if let Ask::Open { way, name, domain, topic, pair_config } = ask {
        let fixture = Fixture::new(driver, &way, &name, domain, None, false);
        let participant = fixture.open()?;
        let inlet = fixture.inlet(&participant, &topic, &pair_config)?;
        *open = Some((participant, inlet));
        return Ok(Answer::Done);
    }
    let Some((_, inlet)) = open else { return broken("the reader is not open") };
    Ok(match ask {
        Ask::Open { .. } => Answer::Done,
        Ask::Locator => Answer::Locator(inlet.end().locator()?),
        Ask::Connect(locator) => {
            inlet.end().connect(&locator)?;
            Answer::Done
        }
        Ask::Matched => Answer::Matched(inlet.end().match_state()?),
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
