//! Cases on matching: the time of a match, and several peers.

use std::{thread, time::Duration};

use driver_abi::FEATURE_LOCATORS;
use driver_host::MatchState;
use nix::time::{ClockId, clock_gettime};

use super::{CaseSpec, traffic::unmatched};
use crate::{
    CaseResult, Stop, broken,
    endpoint::End,
    fixture::{Fixture, PATIENCE, until_matched},
    not_applicable,
};

pub const CASES: &[CaseSpec] = &[CaseSpec {
    id: "match-time",
    section: "6",
    promise: "the time of a match lies between the open of the peer and the query that reports it, is not that of \
                  the query, does not move while no peer comes or goes, and moves when the peer is closed",
    observes: &[],
    run: match_time,
}];

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
    if known == 0 {
        return not_applicable("the driver does not know when an endpoint matches");
    }
    drop(reading);
    let closing_ns = now_ns()?;
    inlet.close()?;
    if fixture.driver.has(FEATURE_LOCATORS) {
        return Ok(writer.close()?);
    }
    unmatched(fixture, "the reader was closed", &writing, PATIENCE)?;
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
    if !(opening_ns..=seen_ns).contains(&at_ns) {
        return broken(format!(
            "the {what} matched at {at_ns} ns, but its peer was opened after {opening_ns} ns, and the match reported \
             before {seen_ns} ns"
        ));
    }
    if at_ns >= asked_ns && !fixture.driver.has(FEATURE_LOCATORS) {
        return broken(format!("the time of the match of the {what} is that of the query that reports it"));
    }
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

/// Returns the time of the clock of all timestamps, in ns.
fn now_ns() -> Result<u64, Stop> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_err(|errno| Stop::Failed(format!("cannot read the clock: {errno}")))?;
    Ok(now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned())
}
