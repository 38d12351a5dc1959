//! Cases on matching: the time of a match, and several peers.

use std::{thread, time::Duration};

use driver_abi::FEATURE_LOCATORS;
use driver_host::{MatchState, Writer};
use nix::time::{ClockId, clock_gettime};

use super::{
    CaseSpec,
    traffic::{acknowledges, check_order, receive_window, unmatched},
};
use crate::{
    CaseResult, Stop, broken,
    endpoint::End,
    fixture::{Fixture, TIME_LIMIT, until_matched, write, write_all, write_until_full},
    inlet::Inlet,
    sample::numbered,
};

/// Cases on matching.
pub const CASES: &[CaseSpec] = cases! {
    "match-time" match_time, "6" =>
        "the time of a match lies between the open of the peer and the query that reports it, is not that of \
         the query, does not move while no peer comes or goes, and moves when the peer is closed";
    "three-readers" three_readers, "writer_write()" =>
        "each of three readers receives each sample once and in order";
    "three-writers" three_writers, "writer_write()" =>
        "a reader receives each sample of each of three writers once, and those of one writer in order";
    "reader-joins" reader_joins, "6" =>
        "a reader that is opened after a writer has written to another one receives each sample that is written \
         when both are matched, and the other one receives all samples";
    "reader-leaves" reader_leaves, "6" =>
        "after one of three readers was closed, the others receive all samples, and with discovery the writer \
         is matched with 2";
    "wait-acked-readers" wait_acked_readers, "writer_wait_acked()" =>
        "the call returns DDSMARK_OK only when each of three readers has all samples";
};

/// Number of peers of the cases with several.
const SEVERAL: usize = 3;
/// Number of samples that are written before the readers receive them.
const WINDOW: u64 = 10;

/// Interval between queries, in which the middleware can report a match.
const UNASKED: Duration = Duration::from_millis(50);
/// Time in which nothing changes.
const STILL: Duration = Duration::from_millis(200);

fn match_time(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let (topic, pair_config) = (fixture.topic(), fixture.pair_config(64));
    let writer = fixture.writer(&participant, &topic, &pair_config)?;
    let writing = writer.monitor();
    if let Some(changed_ns) = writing.match_state()?.changed_ns {
        return broken(format!("a writer that never had a peer reports a match at {changed_ns} ns"));
    }
    let opening_ns = now_ns()?;
    let inlet = fixture.inlet(&participant, &topic, &pair_config)?;
    let reading = inlet.end();
    let ends: [(&str, &dyn End); 2] = [("writer", &writing), ("reader", &*reading)];
    if fixture.driver.has(FEATURE_LOCATORS) {
        // here a query may accept a connection
        fixture.match_up(&writing, &*reading)?;
    }
    let mut known = 0;
    for (what, end) in ends {
        known += u32::from(time_of_match(fixture, what, end, opening_ns)?);
    }
    skip_if!(known == 0, "the driver does not know when an endpoint matches");
    drop(reading);
    let closing_ns = now_ns()?;
    inlet.close()?;
    if fixture.driver.has(FEATURE_LOCATORS) {
        return Ok(writer.close()?);
    }
    unmatched(fixture, "the reader was closed", &writing, 0, TIME_LIMIT)?;
    let seen_ns = now_ns()?;
    match writing.match_state()?.changed_ns {
        Some(at_ns) if !(closing_ns..=seen_ns).contains(&at_ns) => broken(format!(
            "the writer's peer was closed between {closing_ns} and {seen_ns} ns, but its match ended at {at_ns} ns"
        )),
        _ => Ok(writer.close()?),
    }
}

/// Checks the time of a first match. Returns whether the driver knows it.
fn time_of_match(fixture: &Fixture<'_>, what: &str, end: &dyn End, opening_ns: u64) -> Result<bool, Stop> {
    let mut asked_ns = 0;
    let state = until_matched(what, || {
        thread::sleep(UNASKED);
        asked_ns = now_ns()?;
        let state = end.match_state()?;
        Ok((state.count == 1).then_some(state))
    })?;
    let seen_ns = now_ns()?;
    let Some(at_ns) = state.changed_ns else { return Ok(false) };
    fail_if!(
        !(opening_ns..=seen_ns).contains(&at_ns),
        "the {what} matched at {at_ns} ns, but its peer was opened after {opening_ns} ns, and the match reported \
             before {seen_ns} ns"
    );
    fail_if!(
        at_ns >= asked_ns && !fixture.driver.has(FEATURE_LOCATORS),
        "the time of the match of the {what} is that of the query that reports it"
    );
    thread::sleep(STILL);
    let later = end.match_state()?;
    if later != state {
        let MatchState { count, changed_ns } = later;
        return broken(format!(
            "the match state of the {what} was 1 peer since {at_ns} ns; later, although no peer came or went, {count} \
             since {} ns",
            changed_ns.unwrap_or(0)
        ));
    }
    Ok(true)
}

/// Writes a window of samples to all readers, and checks that each receives them. `next` are the numbers that they
/// expect.
fn pass_window(
    fixture: &Fixture<'_>,
    writer: &Writer,
    readers: &mut [Inlet],
    next: &mut [u64],
    first: u64,
) -> CaseResult {
    write_all(writer, first..first + WINDOW, 64)?;
    for (index, (inlet, next)) in readers.iter_mut().zip(next).enumerate() {
        receive_window(fixture, inlet, next, WINDOW, &reader(index))?;
    }
    Ok(())
}

/// Returns the name of a reader.
fn reader(index: usize) -> String {
    format!("reader {} of {SEVERAL}", index + 1)
}

fn three_readers(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 1_000;
    let participant = fixture.open()?;
    let mut peers = fixture.peers(&participant, &fixture.pair_config(64), 1, SEVERAL)?;
    let mut next = [0; SEVERAL];
    for first in (0..SAMPLES).step_by(WINDOW as usize) {
        pass_window(fixture, &peers.writers[0], &mut peers.readers, &mut next, first)?;
    }
    for (index, (inlet, next)) in peers.readers.iter_mut().zip(next).enumerate() {
        let extra = inlet.receive(1, Duration::from_millis(100))?;
        check_order(&extra, next, false).map_err(|stop| stop.at(&format!("at {}", reader(index))))?;
    }
    peers.close()
}

fn three_writers(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 300;
    // All writers together fill the queues no more than one writer of the other cases.
    const EACH: u64 = WINDOW / SEVERAL as u64;
    let participant = fixture.open()?;
    let mut peers = fixture.peers(&participant, &fixture.pair_config(64), SEVERAL, 1)?;
    let may_lose = !fixture.reliable();
    let mut next = [0; SEVERAL];
    for first in (0..SAMPLES).step_by(EACH as usize) {
        for number in first..first + EACH {
            for (index, writer) in (0..).zip(&peers.writers) {
                write(writer, 0, &numbered(number << 8 | index, 64))?;
            }
        }
        let expected = EACH as usize * SEVERAL;
        let got = peers.readers[0].receive(expected, fixture.patience())?;
        for sample in &got {
            let Some(number) = sample.number() else {
                return broken("a sample that was not written arrived");
            };
            let (index, number) = ((number & 0xff) as usize, number >> 8);
            let Some(next) = next.get_mut(index) else {
                return broken("a sample of an unknown writer arrived");
            };
            fail_if!(
                number < *next || (number > *next && !may_lose),
                "sample {number} of writer {} arrived: expected {next}",
                index + 1
            );
            *next = number + 1;
        }
        if let Some(index) =
            next.iter().position(|&next| if may_lose { next == 0 } else { next < first + EACH })
        {
            return broken(format!(
                "sample {} of writer {} of {SEVERAL} did not arrive",
                next[index],
                index + 1
            ));
        }
    }
    let extra = peers.readers[0].receive(1, Duration::from_millis(100))?;
    fail_if!(!extra.is_empty(), "a sample arrived more than once");
    peers.close()
}

fn reader_joins(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let (topic, pair_config) = (fixture.topic(), fixture.pair_config(64));
    let mut first = fixture.inlet(&participant, &topic, &pair_config)?;
    let writer = fixture.writer(&participant, &topic, &pair_config)?;
    let writing = writer.monitor();
    fixture.match_up(&writing, &*first.end())?;
    let mut written = 0;
    let mut write_window = || -> CaseResult {
        write_all(&writer, written..written + WINDOW, 64)?;
        written += WINDOW;
        Ok(())
    };
    let receive =
        |inlet: &mut Inlet, next: &mut u64, whose: &str| receive_window(fixture, inlet, next, WINDOW, whose);
    let (mut of_first, mut of_second) = (0, 2 * WINDOW);
    write_window()?;
    receive(&mut first, &mut of_first, "the first reader")?;
    let mut second = fixture.inlet(&participant, &topic, &pair_config)?;
    // The writer may match before the reader does.
    write_window()?;
    fixture.match_further(&writing, 2, &*second.end())?;
    receive(&mut first, &mut of_first, "the first reader")?;
    // Samples from before are no violation.
    second.receive(WINDOW as usize, Duration::from_millis(100))?;
    for _ in 0..WINDOW {
        write_window()?;
        receive(&mut first, &mut of_first, "the first reader")?;
        receive(&mut second, &mut of_second, "the second reader")?;
    }
    first.close()?;
    second.close()?;
    Ok(writer.close()?)
}

fn reader_leaves(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let mut peers = fixture.peers(&participant, &fixture.pair_config(64), 1, SEVERAL)?;
    let mut next = [0; SEVERAL];
    pass_window(fixture, &peers.writers[0], &mut peers.readers, &mut next, 0)?;
    peers.readers.remove(0).close()?;
    let what = "one of three readers was closed";
    unmatched(fixture, what, &peers.writers[0].monitor(), SEVERAL as u32 - 1, TIME_LIMIT)?;
    for first in (WINDOW..20 * WINDOW).step_by(WINDOW as usize) {
        pass_window(fixture, &peers.writers[0], &mut peers.readers, &mut next[1..], first)
            .map_err(|stop| stop.at(&format!("after {what}")))?;
    }
    let left = peers.writers[0].monitor().matched()?;
    fail_if!(left < SEVERAL as u32 - 1, "{what}, but the writer is matched with {left}");
    peers.close()
}

fn wait_acked_readers(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 100;
    acknowledges(fixture)?;
    let participant = fixture.open()?;
    let mut peers = fixture.peers(&participant, &fixture.pair_config(64), 1, SEVERAL)?;
    let writer = &peers.writers[0];
    let written = write_until_full(writer, SAMPLES)?;
    // some drivers acknowledge only samples that were taken
    let mut acknowledged = writer.wait_acked(Duration::from_secs(2).as_nanos() as u64)?;
    for (index, inlet) in peers.readers.iter_mut().enumerate() {
        let quiet = if acknowledged { Duration::from_secs(1) } else { TIME_LIMIT };
        let got = inlet.receive(written as usize, quiet)?.len() as u64;
        let what = if acknowledged { "are acknowledged" } else { "were written" };
        fail_if!(got < written, "all {written} samples {what}, but {} has {got}", reader(index));
        let limit = if index + 1 < SEVERAL { Duration::from_millis(200) } else { TIME_LIMIT };
        acknowledged = acknowledged || writer.wait_acked(limit.as_nanos() as u64)?;
    }
    let waited = TIME_LIMIT.as_secs();
    fail_if!(!acknowledged, "all readers have all samples, but they are not acknowledged within {waited} s");
    peers.close()
}

/// Returns the time of the clock of all timestamps, in ns.
fn now_ns() -> Result<u64, Stop> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_err(|errno| Stop::Failed(format!("cannot read the clock: {errno}")))?;
    Ok(now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned())
}
