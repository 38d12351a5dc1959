//! Cases on the effect of policies that a driver declares as enforced.

use std::{
    thread,
    time::{Duration, Instant},
};

use experiment::{History, Liveliness, Ownership, Qos, QosDuration, ReceiveMode};

use super::CaseSpec;
use crate::{
    CaseResult, Stop, broken,
    endpoint::{End, PairConfig},
    fixture::{Fixture, Pair, TIME_LIMIT, until_matched, write, write_all},
    sample::{ReceivedSample, numbered},
};

pub(super) const SECTION: &str = "DDSMARK_SUPPORT_ENFORCED";

/// Cases on the effect of policies that a driver declares as enforced.
pub const CASES: &[CaseSpec] = cases! {
    "history-depth" history_depth, SECTION =>
        "with `keep_last`, a reader that takes late receives the last `history_depth` samples";
    "deadline" deadline, SECTION =>
        "a missed deadline is counted by each endpoint that has the counter, and without a deadline none is";
    "lifespan" lifespan, SECTION =>
        "an expired sample is not delivered, but a fresh sample is";
    "time-based-filter" time_based_filter, SECTION =>
        "of several samples within `minimum_separation`, the reader receives one";
    "partition" partition, SECTION =>
        "a writer and a reader match only if they share a partition";
    "ownership" ownership, SECTION =>
        "with `exclusive` ownership, only the samples of the stronger of two writers are delivered";
    "liveliness" liveliness, SECTION =>
        "a writer that does not assert its liveliness within `liveliness_lease` is counted as not alive";
};

/// Wait for samples that must not arrive.
pub(super) const NOTHING: Duration = Duration::from_millis(400);

/// Returns the strongest delivery guarantee with this change; with receive calls instead of a listener, if the
/// driver can.
pub(super) fn pair_config(fixture: &Fixture<'_>, change: impl FnOnce(&mut Qos)) -> PairConfig {
    let mut pair_config = fixture.pair_config(64);
    if let Some(mode) =
        [ReceiveMode::Waitset, ReceiveMode::Polling].into_iter().find(|&mode| fixture.receives_by(mode))
    {
        pair_config.mode = mode;
    }
    change(&mut pair_config.qos);
    pair_config
}

pub(super) fn ms(ms: u64) -> Option<QosDuration> {
    Some(QosDuration::Ns(ms * 1_000_000))
}

pub(super) fn numbers(got: &[ReceivedSample]) -> Vec<u64> {
    got.iter().filter_map(ReceivedSample::number).collect()
}

/// Excludes listeners: samples have to wait in the reader.
pub(super) fn takes_when_asked(pair_config: &PairConfig) -> CaseResult {
    skip_if!(
        pair_config.mode == ReceiveMode::Listener,
        "the driver declares only the receive mode `listener`, which takes samples at once"
    );
    Ok(())
}

fn history_depth(fixture: &Fixture<'_>) -> CaseResult {
    const DEPTH: i32 = 3;
    fixture.needs_reliable()?;
    let participant = fixture.open()?;
    let late = pair_config(fixture, |qos| {
        qos.history = Some(History::KeepLast);
        qos.history_depth = Some(DEPTH);
    });
    takes_when_asked(&late)?;
    let mut pair = fixture.pair_of((&participant, &pair_config(fixture, |_| {})), (&participant, &late))?;
    write_all(&pair.writer, 0..10, 64)?;
    thread::sleep(NOTHING);
    let got = numbers(&pair.inlet.receive(10, NOTHING)?);
    no_effect_if!(got != [7, 8, 9], "a reader of depth {DEPTH} received {got:?} of samples 0 to 9");
    pair.close()
}

/// Returns the counter of this name of each endpoint that has it.
pub(super) fn counted(pair: &Pair, name: &str) -> Result<Vec<(&'static str, u64)>, Stop> {
    let ends = [
        ("writer", pair.writer.monitor().counters()?.get(name).copied()),
        ("reader", pair.inlet.monitor()?.counters()?.get(name).copied()),
    ];
    Ok(ends.into_iter().filter_map(|(end, count)| Some((end, count?))).collect())
}

/// Checks that the counter of each endpoint that has it rises after a sample is written and none follows.
fn rises(fixture: &Fixture<'_>, pair_config: &PairConfig, name: &str, what: &str) -> CaseResult {
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, pair_config)?;
    skip_if!(counted(&pair, name)?.is_empty(), "`{name}` is not counted");
    write(&pair.writer, 0, &numbered(0, 64))?;
    pair.inlet.receive(1, TIME_LIMIT)?;
    let begin = Instant::now();
    while let Some((end, _)) = counted(&pair, name)?.into_iter().find(|(_, count)| *count == 0) {
        no_effect_if!(
            begin.elapsed() > TIME_LIMIT,
            "`{name}` of the {end} is 0, {} s after {what} passed",
            TIME_LIMIT.as_secs()
        );
        thread::sleep(Duration::from_millis(10));
    }
    pair.close()
}

/// Checks that the counter stays 0 without the policy.
fn stays(fixture: &Fixture<'_>, name: &str) -> CaseResult {
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &pair_config(fixture, |_| {}))?;
    write(&pair.writer, 0, &numbered(0, 64))?;
    pair.inlet.receive(1, TIME_LIMIT)?;
    thread::sleep(NOTHING);
    match counted(&pair, name)?.into_iter().find(|(_, count)| *count > 0) {
        None => pair.close(),
        Some((end, count)) => broken(format!("`{name}` of the {end} is {count} without the policy")),
    }
}

fn deadline(fixture: &Fixture<'_>) -> CaseResult {
    const NAME: &str = "deadline_missed";
    rises(fixture, &pair_config(fixture, |qos| qos.deadline_ns = ms(100)), NAME, "a deadline of 100 ms")?;
    stays(fixture, NAME)
}

fn liveliness(fixture: &Fixture<'_>) -> CaseResult {
    const NAME: &str = "liveliness_lost";
    let pair_config = pair_config(fixture, |qos| {
        qos.liveliness = Some(Liveliness::ManualByTopic);
        qos.liveliness_lease_ns = ms(200);
    });
    rises(fixture, &pair_config, NAME, "a lease of 200 ms")?;
    stays(fixture, NAME)
}

fn lifespan(fixture: &Fixture<'_>) -> CaseResult {
    let pair_config = pair_config(fixture, |qos| qos.lifespan_ns = ms(50));
    takes_when_asked(&pair_config)?;
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &pair_config)?;
    write_all(&pair.writer, 0..3, 64)?;
    thread::sleep(NOTHING);
    let got = numbers(&pair.inlet.receive(1, NOTHING)?);
    no_effect_if!(!got.is_empty(), "samples {got:?} with a lifespan of 50 ms were delivered after 400 ms");
    // Positive control: a driver that drops every sample passes the check above. On a busy host a fresh sample may
    // expire on its way, so several are tried.
    let begin = Instant::now();
    let mut fresh = 3;
    while begin.elapsed() < TIME_LIMIT {
        write(&pair.writer, 0, &numbered(fresh, 64))?;
        fresh += 1;
        match numbers(&pair.inlet.receive(1, Duration::from_millis(100))?)[..] {
            [] => {}
            [number] if number >= 3 => return pair.close(),
            [..] => return broken("an expired sample was delivered after fresh ones"),
        }
    }
    broken(format!(
        "none of {} fresh samples with a lifespan of 50 ms was delivered within {} s",
        fresh - 3,
        TIME_LIMIT.as_secs()
    ))
}

fn time_based_filter(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let mut pair =
        fixture.pair(&participant, &pair_config(fixture, |qos| qos.minimum_separation_ns = ms(60_000)))?;
    write_all(&pair.writer, 0..20, 64)?;
    let got = numbers(&pair.inlet.receive(20, NOTHING)?);
    no_effect_if!(got.len() != 1, "the reader received {got:?} of 20 samples within a separation of 60 s");
    pair.close()
}

fn partition(fixture: &Fixture<'_>) -> CaseResult {
    fixture.needs_discovery()?;
    let within = |name: &str| pair_config(fixture, |qos| qos.partitions = Some(vec![name.to_owned()]));
    let participant = fixture.open()?;
    let topic = fixture.topic();
    let stranger = fixture.inlet(&participant, &topic, &within("two"))?;
    let mut friend = fixture.inlet(&participant, &topic, &within("one"))?;
    let writer = fixture.writer(&participant, &topic, &within("one"))?;
    fixture.match_up(&writer.monitor(), &*friend.end())?;
    thread::sleep(NOTHING);
    let (writers, readers) = (stranger.end().matched()?, writer.monitor().matched()?);
    no_effect_if!(
        (writers, readers) != (0, 1),
        "the writer is matched with {readers} readers, of which 1 shares its partition; the other reader is matched \
             with {writers} writers"
    );
    write(&writer, 0, &numbered(0, 64))?;
    fail_if!(
        friend.receive(1, TIME_LIMIT)?.is_empty(),
        "a sample did not reach the reader of the same partition"
    );
    stranger.close()?;
    friend.close()?;
    Ok(writer.close()?)
}

fn ownership(fixture: &Fixture<'_>) -> CaseResult {
    fixture.needs_discovery()?;
    let exclusive = |strength| {
        pair_config(fixture, |qos| {
            qos.ownership = Some(Ownership::Exclusive);
            qos.ownership_strength = strength;
        })
    };
    let participant = fixture.open()?;
    let topic = fixture.topic();
    let mut inlet = fixture.inlet(&participant, &topic, &exclusive(None))?;
    let strong = fixture.writer(&participant, &topic, &exclusive(Some(6)))?;
    fixture.match_up(&strong.monitor(), &*inlet.end())?;
    let weak = fixture.writer(&participant, &topic, &exclusive(Some(5)))?;
    until_matched("second writer", || {
        let matched = (End::matched(&weak.monitor())?, inlet.end().matched()?);
        Ok((matched == (1, 2)).then_some(()))
    })?;
    write(&strong, 0, &numbered(1, 64))?;
    let mut got = numbers(&inlet.receive(1, TIME_LIMIT)?);
    write_all(&weak, 100..110, 64)?;
    got.extend(numbers(&inlet.receive(1, NOTHING)?));
    write(&strong, 0, &numbered(2, 64))?;
    got.extend(numbers(&inlet.receive(1, TIME_LIMIT)?));
    no_effect_if!(got != [1, 2], "the reader received {got:?}; samples 1 and 2 are of the stronger writer");
    weak.close()?;
    strong.close()?;
    inlet.close()
}
