//! Cases on several participants of one process.

use std::{sync::Barrier, thread};

use driver_abi::FEATURE_LOCATORS;
use driver_host::{DriverError, Participant};

use super::{
    CaseSpec,
    traffic::{receive_window, unmatched},
};
use crate::{
    CaseResult, Stop, broken,
    fixture::{Fixture, Pair, TIME_LIMIT, write_all},
};

/// Cases on several participants of one process.
pub const CASES: &[CaseSpec] = cases! {
    "two-participants" two_participants, "1" =>
        "two participants of one process, opened from two threads at the same time, match and receive each sample of \
         the other once and in order; when one is closed, the other one goes on";
};

/// Number of samples in each direction, and of those that are written before they are received.
const SAMPLES: u64 = 200;
const WINDOW: u64 = 10;

fn two_participants(fixture: &Fixture<'_>) -> CaseResult {
    let config = fixture.pair_config(64);
    let [first, second] = open_together(fixture)?;
    let mut out = fixture.pair_of((&first, &config), (&second, &config))?;
    let mut back = fixture.pair_of((&second, &config), (&first, &config))?;
    let [mut from_first, mut from_second] = [0; 2];
    for begin in (0..SAMPLES).step_by(WINDOW as usize) {
        // The directions have different numbers, which neither may mix up.
        pass(fixture, "the reader of the second participant", &mut out, begin, &mut from_first)?;
        pass(fixture, "the reader of the first participant", &mut back, begin, &mut from_second)?;
    }
    back.close()?;
    let Pair { writer, inlet } = out;
    inlet.close()?;
    drop(second);
    if !fixture.driver.has(FEATURE_LOCATORS) {
        unmatched(fixture, "the other participant was closed", &writer.monitor(), 0, TIME_LIMIT)?;
    }
    writer.close()?;
    let mut own = fixture.pair(&first, &config)?;
    let mut next = 0;
    for begin in (0..SAMPLES).step_by(WINDOW as usize) {
        pass(fixture, "its own reader", &mut own, begin, &mut next)
            .map_err(|stop| stop.at("at a participant, after the other one was closed"))?;
    }
    own.close()
}

/// Opens two participants from two threads at the same time.
fn open_together(fixture: &Fixture<'_>) -> Result<[Participant; 2], Stop> {
    let (driver, config, barrier) = (fixture.driver, fixture.config(), Barrier::new(2));
    let open = || {
        barrier.wait();
        driver.open(&config)
    };
    let opened: [thread::Result<Result<Participant, DriverError>>; 2] = thread::scope(|scope| {
        let threads = [scope.spawn(open), scope.spawn(open)];
        threads.map(thread::ScopedJoinHandle::join)
    });
    let [first, second] =
        opened.map(|opened| opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    match (first, second) {
        (Ok(first), Ok(second)) => Ok([first, second]),
        (Err(error), _) | (_, Err(error)) => {
            broken(format!("of two participants opened at the same time, one failed: {error}"))
        }
    }
}

/// Writes a window of samples and checks that they arrive. `next`: number that the reader expects.
fn pass(fixture: &Fixture<'_>, whose: &str, pair: &mut Pair, begin: u64, next: &mut u64) -> CaseResult {
    write_all(&pair.writer, begin..begin + WINDOW, 64)?;
    receive_window(fixture, &mut pair.inlet, next, WINDOW, whose)
}
