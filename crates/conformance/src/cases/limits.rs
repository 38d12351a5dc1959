//! Cases on RESOURCE_LIMITS, which a middleware may apply to writers, to readers, or to both.

use std::{collections::BTreeSet, thread};

use driver_abi::UNSUPPORTED;
use driver_host::{Participant, TypeKind};
use experiment::{Policy, Reliability, Support};

use super::{
    CaseSpec,
    effects::{NOTHING, SECTION, numbers, pair_config, takes_when_asked},
};
use crate::{
    CaseResult, Stop, broken,
    endpoint::{PairConfig, reader_config},
    fixture::{Fixture, TIME_LIMIT, write, write_until_full},
    no_effect, not_applicable,
    sample::numbered,
    values::Side,
};

/// Cases on RESOURCE_LIMITS.
pub const CASES: &[CaseSpec] = cases! {
    "reader-limit" reader_limit, SECTION =>
        "a reader that takes late keeps `max_samples` samples at most, if its limits are declared as enforced, and more \
         if they are declared as ignored";
    "writer-limit" writer_limit, SECTION =>
        "a reliable writer accepts `max_samples` unacknowledged samples at most, if its limits are declared as \
         enforced, and more if they are declared as ignored";
    "reader-instances" reader_instances, SECTION =>
        "a reader that takes late keeps samples of `max_instances` instances at most, if its limits are declared as \
         enforced, and of more if they are declared as ignored";
};

/// Samples that the limited endpoint may keep.
const LIMIT: i32 = 8;
/// Samples that the reader keeps while the writer is tested.
const KEPT_BY_READER: i32 = 5;
/// Samples written, if each is accepted.
const SAMPLES: u64 = 60;

/// Limit of a case, and what it counts.
struct Limit {
    /// Policy and the limit as requested.
    requested: (&'static str, i32),
    /// Number of items that it allows.
    most: u64,
    /// Number of items that are written.
    written: u64,
    /// Name of the items.
    items: &'static str,
}

impl Limit {
    /// Checks a count with the limit, `limited`, and without it against the declared support.
    fn check(&self, support: Support, what: &str, (limited, unlimited): (u64, u64)) -> CaseResult {
        let &Self { requested: (policy, limit), most, written, items } = self;
        let requested = format!("`{policy}` {limit}");
        fail_if!(unlimited <= most, "without a limit {what} {unlimited} of {written} {items}");
        match (support, limited <= most) {
            (Support::Enforced, false) => {
                no_effect(format!("with {requested}, {what} {limited} of {written} {items}"))
            }
            (Support::Enforced, true) if limited == 0 => {
                broken(format!("with {requested}, {what} none of {written} {items}"))
            }
            (Support::Ignored, true) => broken(format!(
                "the limits are declared as ignored, but with {requested}, {what} {limited} of {written} {items}"
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the limit of samples, of which `most` may be accepted or received.
const fn of_samples(most: u64) -> Limit {
    Limit { requested: ("max_samples", LIMIT), most, written: SAMPLES, items: "samples" }
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

/// Ends the case if the driver does not support this reader, for example samples with keys over this transport.
pub(super) fn accepts(fixture: &Fixture<'_>, participant: &Participant, limited: &PairConfig) -> CaseResult {
    match participant.reader(&reader_config(&fixture.topic(), limited)) {
        Ok(reader) => Ok(reader.close()?),
        Err(error) if error.status == UNSUPPORTED => not_applicable(error.text),
        Err(error) => Err(error.into()),
    }
}

/// Returns the keys of the samples that a reader receives which takes none until all are written. They are spread over this many keys.
fn keys_taken_late(
    fixture: &Fixture<'_>,
    participant: &Participant,
    (reader, writer): (&PairConfig, &PairConfig),
    keys: u64,
) -> Result<Vec<u32>, Stop> {
    let mut pair = fixture.pair_of((participant, writer), (participant, reader))?;
    for number in 0..SAMPLES {
        write(&pair.writer, (number % keys) as u32, &numbered(number, 64))?;
    }
    thread::sleep(NOTHING);
    let got = pair.inlet.receive(SAMPLES as usize, NOTHING)?;
    pair.close()?;
    Ok(got.iter().map(|sample| sample.key).collect())
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
        let configs = (&best_effort(limit), &best_effort(None));
        Ok::<_, Stop>(keys_taken_late(fixture, &participant, configs, 1)?.len() as u64)
    };
    let counts = (kept(Some(LIMIT))?, kept(None)?);
    of_samples(LIMIT as u64).check(support, "a reader that takes late received", counts)
}

fn writer_limit(fixture: &Fixture<'_>) -> CaseResult {
    let support = declared(fixture, Side::Writer)?;
    fixture.needs_reliable()?;
    skip_if!(
        fixture.support_of(Side::Reader, Policy::ResourceLimits) != Support::Enforced,
        "a reader without limits acknowledges each sample, so that no writer reaches its limit"
    );
    let participant = fixture.open()?;
    // A full reader that does not take acknowledges nothing further.
    let full = pair_config(fixture, |qos| qos.max_samples = Some(KEPT_BY_READER));
    takes_when_asked(&full)?;
    accepts(fixture, &participant, &full)?;
    let accepted = |limit: Option<i32>| {
        let limited = pair_config(fixture, |qos| qos.max_samples = limit);
        let mut pair = fixture.pair_of((&participant, &limited), (&participant, &full))?;
        let accepted = write_until_full(&pair.writer, SAMPLES)?;
        let got = numbers(&pair.inlet.receive(accepted as usize, TIME_LIMIT)?).len() as u64;
        fail_if!(got < accepted, "{accepted} samples were accepted, but {got} arrived");
        pair.close()?;
        Ok::<_, Stop>(accepted)
    };
    let counts = (accepted(Some(LIMIT))?, accepted(None)?);
    skip_if!(
        counts.1 <= KEPT_BY_READER as u64,
        "a writer of this middleware blocks while a reader of its own process is full"
    );
    let what = format!("and a full reader of {KEPT_BY_READER}, a writer accepted");
    of_samples((LIMIT + KEPT_BY_READER) as u64).check(support, &what, counts)
}

fn reader_instances(fixture: &Fixture<'_>) -> CaseResult {
    /// Instances written, each with as many samples.
    const INSTANCES: u64 = 12;
    const EACH: u64 = SAMPLES / INSTANCES;
    const MOST: i32 = 4;
    fixture.needs_keys()?;
    let support = declared(fixture, Side::Reader)?;
    let participant = fixture.open()?;
    // Best effort, with room for all samples: what is rejected does not come again, and is rejected for its instance only.
    let best_effort = |limit: Option<i32>| {
        let mut pair_config = pair_config(fixture, |qos| {
            qos.reliability = Some(Reliability::BestEffort);
            qos.max_blocking_ns = None;
            if let Some(instances) = limit {
                qos.max_instances = Some(instances);
                qos.max_samples = Some(SAMPLES as i32);
                qos.max_samples_per_instance = Some(EACH as i32);
            }
        });
        pair_config.type_kind = TypeKind::Keyed;
        pair_config
    };
    takes_when_asked(&best_effort(None))?;
    accepts(fixture, &participant, &best_effort(Some(MOST)))?;
    let kept = |limit: Option<i32>| {
        let configs = (&best_effort(limit), &best_effort(None));
        let keys = keys_taken_late(fixture, &participant, configs, INSTANCES)?;
        Ok::<_, Stop>(keys.into_iter().collect::<BTreeSet<u32>>().len() as u64)
    };
    let limit = Limit {
        requested: ("max_instances", MOST),
        most: MOST as u64,
        written: INSTANCES,
        items: "instances",
    };
    limit.check(support, "a reader that takes late received", (kept(Some(MOST))?, kept(None)?))
}
