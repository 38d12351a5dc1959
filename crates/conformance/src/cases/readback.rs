//! Cases on effective settings, effective QoS and counters.

use driver_abi::{FEATURE_LOCATORS, UNSUPPORTED};
use driver_host::{Counters, DriverError, Participant, WriteOutcome};
use experiment::{Policy, Qos, QosDuration, Support};

use super::CaseSpec;
use crate::{
    CaseResult, broken,
    endpoint::{PairConfig, reader_config, writer_config},
    fixture::Fixture,
    sample::numbered,
    values::{Side, two_of},
};

/// Cases on effective settings, effective QoS and counters.
pub const CASES: &[CaseSpec] = cases! {
    "settings" settings, "7, participant_settings()" =>
        "the effective settings contain the transport; `batching` of a writer without batching is `none`";
    "qos-read-back" qos_read_back, "7" =>
        "for each policy that has an effect, the effective value equals the requested one; an ignored policy is not \
         reported as effective";
    "qos-refused" qos_refused, "7" =>
        "a request for another value of an unsupported policy fails with DDSMARK_UNSUPPORTED";
    "counters" counters, "ddsmark_counters" =>
        "counters agree with the observed calls and never decrease";
};

fn settings(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let read_back = participant.settings()?;
    let tried = &fixture.transport().name;
    match read_back.get("transport") {
        None => return broken("the settings of the participant lack `transport`"),
        Some(read_back) if read_back != tried => {
            return broken(format!("the effective transport is `{read_back}`, the requested one `{tried}`"));
        }
        Some(_) => {}
    }
    let named = read_back.get("as_requested").into_iter().flat_map(|names| names.split(','));
    for name in named {
        fail_if!(!read_back.contains_key(name), "`as_requested` names `{name}`, which is not a setting");
    }
    let pair = fixture.pair(&participant, &fixture.pair_config(64))?;
    pair.inlet.monitor()?.settings()?;
    if let Some(batching) = pair.writer.monitor().settings()?.get("batching")
        && batching != "none"
    {
        return broken(format!("`batching` is `{batching}` for a writer without batching"));
    }
    pair.close()
}

/// Opens an endpoint with these policies, and reads them back.
fn effective(
    fixture: &Fixture<'_>,
    participant: &Participant,
    side: Side,
    qos: &Qos,
) -> Result<Qos, DriverError> {
    let pair_config = PairConfig { qos: qos.clone(), ..fixture.pair_config(64) };
    let topic = fixture.topic();
    match side {
        Side::Writer => {
            let writer = participant.writer(&writer_config(&topic, &pair_config))?;
            let read_back = writer.monitor().qos()?;
            writer.close().map(|()| read_back)
        }
        Side::Reader => {
            let config = reader_config(&topic, &pair_config);
            if pair_config.mode == experiment::ReceiveMode::Listener {
                let reader = participant.listening_reader(&config, (), |(), _| {})?;
                let read_back = reader.monitor().qos()?;
                return reader.close().map(|()| read_back);
            }
            let reader = participant.reader(&config)?;
            let read_back = reader.monitor().qos()?;
            reader.close().map(|()| read_back)
        }
    }
}

/// Checks each policy with one of these kinds of support, for each kind of endpoint that has it. Returns the number
/// of checks.
fn each(
    fixture: &Fixture<'_>,
    kinds: &[Support],
    mut check: impl FnMut(Policy, Side, &[Qos; 2]) -> CaseResult,
) -> Result<u32, crate::Stop> {
    let mut checked = 0;
    for &policy in Policy::ALL {
        for side in Side::ALL.into_iter().filter(|&side| kinds.contains(&fixture.support_of(side, policy))) {
            if let Some(values) = two_of(policy, side) {
                checked += 1;
                check(policy, side, &values)?;
            }
        }
    }
    Ok(checked)
}

fn qos_read_back(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let acting = [Support::Enforced, Support::Hint, Support::MatchedOnly];
    let checked = each(fixture, &acting, |policy, side, values| {
        for requested in values {
            let read_back = effective(fixture, &participant, side, requested)?;
            if let Some((field, requested, read_back)) = requested.differences(&read_back).first() {
                let side = side.name();
                return broken(format!(
                    "{policy} of a {side}: {field} requested {requested}, effective {read_back}"
                ));
            }
        }
        Ok(())
    })?;
    let ignored = each(fixture, &[Support::Ignored], |policy, side, values| {
        // at most one of the two values is the driver's default
        for requested in values {
            if !requested.differences(&effective(fixture, &participant, side, requested)?).is_empty() {
                return Ok(());
            }
        }
        broken(format!("{policy} of a {} is declared as ignored, but reported as effective", side.name()))
    })?;
    skip_if!(checked + ignored == 0, "no policy is declared as effective or ignored");
    Ok(())
}

fn qos_refused(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let checked = each(fixture, &[Support::Unsupported], |policy, side, values| {
        let mut accepted = 0;
        for requested in values {
            match effective(fixture, &participant, side, requested) {
                Ok(_) => accepted += 1,
                Err(error) if error.status == UNSUPPORTED => {}
                Err(error) => {
                    return broken(format!(
                        "{policy} of a {} failed with another status than DDSMARK_UNSUPPORTED: {error}",
                        side.name()
                    ));
                }
            }
        }
        // at most one of the two values is the driver's default
        fail_if!(
            accepted == values.len(),
            "{policy} of a {} is declared as unsupported, but was accepted",
            side.name()
        );
        Ok(())
    })?;
    skip_if!(checked == 0, "all policies are supported");
    Ok(())
}

fn counters(fixture: &Fixture<'_>) -> CaseResult {
    const SIZE: usize = 1_000;
    let participant = fixture.open()?;
    let mut pair_config = fixture.pair_config(SIZE as u64);
    if fixture.reliable() {
        pair_config.qos.max_blocking_ns = Some(QosDuration::Ns(5_000_000));
    }
    let mut pair = fixture.pair(&participant, &pair_config)?;
    let (writer, reader) = (pair.writer.monitor(), pair.inlet.monitor()?);
    let mut before = (writer.counters()?, reader.counters()?);
    let (mut accepted, mut timed_out, mut refused) = (0, 0, 0);
    for round in 0..12 {
        // nothing is read at first: a bounded queue fills up
        for number in 0..50 {
            match pair.writer.write(0, &numbered(number, SIZE))? {
                WriteOutcome::Accepted => {
                    accepted += 1;
                    continue;
                }
                WriteOutcome::TimedOut => timed_out += 1,
                WriteOutcome::Refused => refused += 1,
            }
            // the queue is full, and each further write might wait as long
            break;
        }
        if round >= 10 {
            pair.inlet.receive(usize::MAX, std::time::Duration::from_millis(100))?;
        }
        let now = (writer.counters()?, reader.counters()?);
        check_progress("writer", &before.0, &now.0)?;
        check_progress("reader", &before.1, &now.1)?;
        before = now;
    }
    let counted = &before.0;
    for (name, seen) in [("write_timed_out", timed_out), ("write_refused", refused)] {
        if let Some(&counted) = counted.get(name)
            && counted != seen
        {
            return broken(format!("`{name}` is {counted}, but {seen} writes returned this status"));
        }
    }
    if let (Some(&packets), Some(&bytes)) = (counted.get("packets_sent"), counted.get("bytes_sent")) {
        fail_if!((packets == 0) != (bytes == 0), "`packets_sent` is {packets}, but `bytes_sent` is {bytes}");
        // with discovery the middleware may use a shorter path within one process
        fail_if!(
            fixture.driver.has(FEATURE_LOCATORS) && bytes < accepted * SIZE as u64,
            "{accepted} samples of {SIZE} B were accepted, but `bytes_sent` is {bytes}"
        );
    }
    pair.close()
}

/// Checks that every earlier counter is still valid and has not decreased.
fn check_progress(side: &str, before: &Counters, now: &Counters) -> CaseResult {
    for (name, before) in before {
        match now.get(name) {
            None => return broken(format!("`{name}` of the {side} is no longer valid")),
            Some(now) if now < before => {
                return broken(format!("`{name}` of the {side} decreased from {before} to {now}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}
