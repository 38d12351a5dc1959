//! Cases on several participants of one process.

use std::{sync::Barrier, thread, time::Duration};

use driver_abi::FEATURE_LOCATORS;
use driver_host::{DriverError, Participant};

use super::{
    CaseSpec,
    traffic::{check_order, unmatched},
};
use crate::{
    CaseResult, Stop, broken,
    endpoint::PairConfig,
    fixture::{Fixture, Pair, TIME_LIMIT, write},
    sample::numbered,
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
    let mut out = between(fixture, &first, &second, &config)?;
    let mut back = between(fixture, &second, &first, &config)?;
    let [mut from_first, mut from_second] = [0; 2];
    for begin in (0..SAMPLES).step_by(WINDOW as usize) {
        // The directions have different numbers, which neither may mix up.
        pass(fixture, "the first to the second", &mut out, begin, &mut from_first)?;
        pass(fixture, "the second to the first", &mut back, begin, &mut from_second)?;
    }
    let Pair { writer, inlet } = back;
    writer.close()?;
    inlet.close()?;
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
        let what = "a participant to itself, after the other one was closed";
        pass(fixture, what, &mut own, begin, &mut next)?;
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

/// Creates a writer in one participant and its reader in another.
fn between(
    fixture: &Fixture<'_>,
    from: &Participant,
    to: &Participant,
    config: &PairConfig,
) -> Result<Pair, Stop> {
    let topic = fixture.topic();
    let inlet = fixture.inlet(to, &topic, config)?;
    let writer = fixture.writer(from, &topic, config)?;
    fixture.match_up(&writer.monitor(), &*inlet.end())?;
    Ok(Pair { writer, inlet })
}

/// Writes a window of samples and checks that they arrive. `next`: number that the reader expects.
fn pass(fixture: &Fixture<'_>, what: &str, pair: &mut Pair, begin: u64, next: &mut u64) -> CaseResult {
    for number in begin..begin + WINDOW {
        write(&pair.writer, 0, &numbered(number, 64))?;
    }
    let may_lose = !fixture.reliable();
    let quiet = if may_lose { Duration::from_millis(100) } else { TIME_LIMIT };
    let got = pair.inlet.receive(WINDOW as usize, quiet)?;
    *next = check_order(&got, *next, may_lose).or_else(|stop| match stop {
        Stop::Failed(how) => broken(format!("from {what}: {how}")),
        other @ (Stop::NotApplicable(_) | Stop::NoEffect(_)) => Err(other),
    })?;
    if got.is_empty() || (!may_lose && got.len() < WINDOW as usize) {
        return broken(format!("from {what}, sample {next} did not arrive"));
    }
    Ok(())
}
