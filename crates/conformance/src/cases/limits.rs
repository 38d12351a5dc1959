//! Cases on RESOURCE_LIMITS, which a middleware may apply to writers, to readers, or to both.

use std::thread;

use driver_abi::UNSUPPORTED;
use driver_host::{Participant, WriteOutcome};
use experiment::{Policy, ReceiveMode, Reliability, Support};

use super::{
    CaseSpec,
    effects::{NOTHING, SECTION, numbers, pair_config, takes_when_asked},
};
use crate::{
    CaseResult, Stop, broken,
    endpoint::{PairConfig, reader_config},
    fixture::{Fixture, TIME_LIMIT, write},
    no_effect, not_applicable,
    sample::numbered,
    values::Side,
};

/// Cases on RESOURCE_LIMITS.
pub const CASES: &[CaseSpec] = &[
    CaseSpec {
        id: "reader-limit",
        section: SECTION,
        promise: "a reader that takes late keeps `max_samples` samples at most, if its limits are declared as enforced, and more \
                  if they are declared as ignored",
        run: reader_limit,
    },
    CaseSpec {
        id: "writer-limit",
        section: SECTION,
        promise: "a reliable writer accepts `max_samples` unacknowledged samples at most, if its limits are declared as \
                  enforced, and more if they are declared as ignored",
        run: writer_limit,
    },
];

/// Samples that the limited endpoint may keep.
const LIMIT: i32 = 8;
/// Samples that the reader keeps while the writer is tested.
const KEPT_BY_READER: i32 = 5;
/// Samples written, if each is accepted.
const SAMPLES: u64 = 60;

/// Checks a count with the limit, `limited`, and without it against the declared support. `most` is what the limit allows.
fn check(support: Support, what: &str, (limited, unlimited): (u64, u64), most: u64) -> CaseResult {
    if unlimited <= most {
        return broken(format!("without a limit {what} {unlimited} of {SAMPLES} samples"));
    }
    match (support, limited <= most) {
        (Support::Enforced, false) => {
            no_effect(format!("with `max_samples` {LIMIT}, {what} {limited} of {SAMPLES} samples"))
        }
        (Support::Enforced, true) if limited == 0 => {
            broken(format!("with `max_samples` {LIMIT}, {what} none of {SAMPLES} samples"))
        }
        (Support::Ignored, true) => broken(format!(
            "the limits are declared as ignored, but with `max_samples` {LIMIT}, {what} {limited} of {SAMPLES} samples"
        )),
        _ => Ok(()),
    }
}

/// Returns the declared support of the limits of these endpoints, if it can be observed.
fn declared(fixture: &Fixture<'_>, side: Side) -> Result<Support, Stop> {
    let support = fixture.support_of(side, Policy::ResourceLimits);
    if fixture.probes {
        return Ok(Support::Enforced);
    }
    if matches!(support, Support::Enforced | Support::Ignored) {
        return Ok(support);
    }
    Err(Stop::NotApplicable(format!(
        "resource_limits of {}s is not declared as enforced or ignored",
        side.name()
    )))
}

/// Ends the case if the driver rejects these limits of a reader.
fn accepts(fixture: &Fixture<'_>, participant: &Participant, limited: &PairConfig) -> CaseResult {
    match participant.reader(&reader_config(&fixture.topic(), limited)) {
        Ok(reader) => Ok(reader.close()?),
        Err(error) if error.status == UNSUPPORTED => not_applicable(error.text),
        Err(error) => Err(error.into()),
    }
}

fn reader_limit(fixture: &Fixture<'_>) -> CaseResult {
    let support = declared(fixture, Side::Reader)?;
    let participant = fixture.open()?;
    // Best effort: a sample that is rejected does not come again.
    let best_effort = |limit: Option<i32>| {
        pair_config(fixture, |qos| {
            qos.reliability = Some(Reliability::BestEffort);
            qos.max_blocking_ns = None;
            qos.max_samples = limit;
        })
    };
    takes_when_asked(&best_effort(None))?;
    accepts(fixture, &participant, &best_effort(Some(LIMIT)))?;
    let kept = |limit: Option<i32>| {
        let topic = fixture.topic();
        let mut inlet = fixture.inlet(&participant, &topic, &best_effort(limit))?;
        let writer = fixture.writer(&participant, &topic, &best_effort(None))?;
        fixture.match_up(&writer.monitor(), &*inlet.end())?;
        for number in 0..SAMPLES {
            write(&writer, 0, &numbered(number, 64))?;
        }
        thread::sleep(NOTHING);
        let got = numbers(&inlet.receive(SAMPLES as usize, NOTHING)?).len() as u64;
        writer.close()?;
        inlet.close()?;
        Ok::<_, Stop>(got)
    };
    check(support, "a reader that takes late received", (kept(Some(LIMIT))?, kept(None)?), LIMIT as u64)
}

fn writer_limit(fixture: &Fixture<'_>) -> CaseResult {
    let support = declared(fixture, Side::Writer)?;
    if !fixture.reliable() {
        return not_applicable("reliable delivery is not declared as enforced");
    }
    if fixture.support_of(Side::Reader, Policy::ResourceLimits) != Support::Enforced {
        return not_applicable(
            "a reader without limits acknowledges each sample, so that no writer reaches its limit",
        );
    }
    let participant = fixture.open()?;
    // A full reader that does not take acknowledges nothing further.
    let full = pair_config(fixture, |qos| qos.max_samples = Some(KEPT_BY_READER));
    if full.mode == ReceiveMode::Listener {
        return takes_when_asked(&full);
    }
    accepts(fixture, &participant, &full)?;
    let accepted = |limit: Option<i32>| {
        let topic = fixture.topic();
        let mut inlet = fixture.inlet(&participant, &topic, &full)?;
        let writer =
            fixture.writer(&participant, &topic, &pair_config(fixture, |qos| qos.max_samples = limit))?;
        fixture.match_up(&writer.monitor(), &*inlet.end())?;
        let mut accepted = 0;
        while accepted < SAMPLES && writer.write(0, &numbered(accepted, 64))? == WriteOutcome::Accepted {
            accepted += 1;
        }
        let got = numbers(&inlet.receive(accepted as usize, TIME_LIMIT)?).len() as u64;
        if got < accepted {
            return broken(format!("{accepted} samples were accepted, but {got} arrived")).map(|()| 0);
        }
        writer.close()?;
        inlet.close()?;
        Ok(accepted)
    };
    let counts = (accepted(Some(LIMIT))?, accepted(None)?);
    if counts.1 <= KEPT_BY_READER as u64 {
        return not_applicable(
            "a writer of this middleware blocks while a reader of its own process is full",
        );
    }
    check(
        support,
        &format!("and a full reader of {KEPT_BY_READER}, a writer accepted"),
        counts,
        (LIMIT + KEPT_BY_READER) as u64,
    )
}
