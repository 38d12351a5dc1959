//! Cases on matching and on the delivery of samples.

use std::{
    thread,
    time::{Duration, Instant},
};

use driver_abi::{FEATURE_LOCATORS, FEATURE_WAIT_ACKED};
use driver_host::{WriteOutcome, Writer};
use experiment::{Durability, History, Policy, Qos, QosDuration, Reliability, Support};

use super::{CaseSpec, lifecycle::batches};
use crate::{
    CaseResult, Stop, broken,
    endpoint::{End, PairConfig},
    fixture::{Fixture, TIME_LIMIT, until_accepted, write},
    no_effect, not_applicable,
    sample::{ReceivedSample, numbered},
};

/// Cases on matching and on the delivery of samples.
pub const CASES: &[CaseSpec] = cases! {
    "match" matching, "6" =>
        "writer and reader count their peer only after it was opened, and with discovery until it is closed; a \
         write after the close does not fail";
    "delivery" delivery, "writer_write()" =>
        "samples from 16 B to 1 MiB, or to the maximum of the transport, arrive unchanged";
    "order" order, "writer_write()" =>
        "of 10000 samples none is duplicate or out of order, and with reliable delivery none is missing";
    "back-pressure" back_pressure, "writer_write()" =>
        "with `reliable`, `keep_all` and a slow reader, each accepted sample is delivered once, and no other sample";
    "flush" flush, "writer_flush()" =>
        "samples held back by batching are delivered in order after a flush";
    "wait-acked" wait_acked, "writer_wait_acked()" =>
        "the call returns DDSMARK_OK when all samples are acknowledged, and the reader then has all of them";
    "late-joiner" late_joiner, "DDSMARK_SUPPORT_ENFORCED" =>
        "with `transient_local`, a late reader receives the last sample";
};

/// Cases that exist for two processes only.
pub const ACROSS: &[CaseSpec] = cases! {
    "peer-killed" peer_killed, "6" =>
        "a reader whose process was killed becomes unmatched, and a later write does not fail";
};

/// Time limit for a killed peer to become unmatched: leases are 10 s, or a few times that.
const LEASE_PATIENCE: Duration = Duration::from_secs(40);

fn matching(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let pair_config = fixture.pair_config(64);
    let topic = fixture.topic();
    let writer = fixture.writer(&participant, &topic, &pair_config)?;
    let alone = writer.monitor().matched()?;
    if alone != 0 {
        return broken(format!("a writer without a peer is matched with {alone}"));
    }
    let inlet = fixture.inlet(&participant, &topic, &pair_config)?;
    fixture.match_up(&writer.monitor(), &*inlet.end())?;
    inlet.close()?;
    unmatched(fixture, "the reader was closed", &writer.monitor(), 0, TIME_LIMIT)?;
    write_without_reader(&writer)?;
    if fixture.driver.has(FEATURE_LOCATORS) {
        return Ok(writer.close()?);
    }
    let inlet = fixture.inlet(&participant, &topic, &pair_config)?;
    fixture.match_up(&writer.monitor(), &*inlet.end())?;
    writer.close()?;
    unmatched(fixture, "the writer was closed", &*inlet.end(), 0, TIME_LIMIT)?;
    inlet.close()
}

/// Checks that the match with one peer ends and `left` remain; without discovery, the endpoint may stay matched with the
/// peer it was connected to.
pub(super) fn unmatched(
    fixture: &Fixture<'_>,
    what: &str,
    end: &dyn End,
    left: u32,
    limit: Duration,
) -> CaseResult {
    let begin = Instant::now();
    let left = left + u32::from(fixture.driver.has(FEATURE_LOCATORS));
    loop {
        let matched = end.matched()?;
        if matched <= left {
            return Ok(());
        }
        if begin.elapsed() > limit {
            let waited = limit.as_secs();
            return broken(format!(
                "{what}, but its peer still counted {matched} as matched after {waited} s"
            ));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Writes some samples, accepted or not: only a failed write call fails the case.
fn write_without_reader(writer: &Writer) -> CaseResult {
    for number in 0..20 {
        if let Err(error) = writer.write(0, &numbered(number, 64)) {
            return broken(format!("a write after the end of the reader failed: {error}"));
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn peer_killed(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &fixture.pair_config(64))?;
    write(&pair.writer, 0, &numbered(1, 64))?;
    if pair.inlet.receive(1, TIME_LIMIT)?.is_empty() {
        return broken(format!("a sample did not arrive within {} s", TIME_LIMIT.as_secs()));
    }
    // kills its process
    drop(pair.inlet);
    unmatched(fixture, "the reader's process was killed", &pair.writer.monitor(), 0, LEASE_PATIENCE)?;
    write_without_reader(&pair.writer)?;
    Ok(pair.writer.close()?)
}

fn delivery(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let largest = fixture.largest();
    for size in [16, 64, 1472, 63_000, 1 << 20].into_iter().filter(|&size| size as u64 <= largest) {
        let mut pair = fixture.pair(&participant, &fixture.pair_config(size as u64))?;
        for number in 0..10 {
            // a sample may be smaller than the maximum size of its writer
            let written = numbered(number, if number % 2 == 0 { size } else { size - size / 3 });
            write(&pair.writer, 0, &written)?;
            let got = pair.inlet.receive(1, TIME_LIMIT)?;
            let Some(first) = got.first() else {
                return broken(format!("a sample of {} B did not arrive", written.len()));
            };
            if let Some(how) = difference(&written, &first.payload) {
                return broken(format!("a sample of {} B arrived {how}", written.len()));
            }
        }
        pair.close()?;
    }
    Ok(())
}

fn difference(written: &[u8], read: &[u8]) -> Option<String> {
    if written.len() != read.len() {
        return Some(format!("with {} B", read.len()));
    }
    let at = written.iter().zip(read).position(|(written, read)| written != read)?;
    Some(format!("with another byte at offset {at}"))
}

/// Checks that the numbers rise by one in the order of arrival; gaps are valid if samples may be lost. Returns the
/// next number.
pub(super) fn check_order(got: &[ReceivedSample], mut next: u64, may_lose: bool) -> Result<u64, Stop> {
    for got in got {
        let Some(number) = got.number() else { return broken("a sample that was not written arrived") };
        if number < next {
            return broken(format!("sample {number} is duplicate or late: expected {next}"));
        }
        if number > next && !may_lose {
            return broken(format!("sample {number} arrived: expected {next}"));
        }
        next = number + 1;
    }
    Ok(next)
}

fn order(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 10_000;
    const WINDOW: u64 = 10;
    let participant = fixture.open()?;
    let may_lose = !fixture.reliable();
    let mut pair = fixture.pair(&participant, &fixture.pair_config(64))?;
    let mut next = 0;
    let mut arrived = 0;
    for first in (0..SAMPLES).step_by(WINDOW as usize) {
        for number in first..first + WINDOW {
            write(&pair.writer, 0, &numbered(number, 64))?;
        }
        // small steps: at most as many samples are outstanding as any queue holds
        let quiet = if may_lose { Duration::from_millis(100) } else { TIME_LIMIT };
        let got = pair.inlet.receive(WINDOW as usize, quiet)?;
        arrived += got.len() as u64;
        next = check_order(&got, next, may_lose)?;
        if !may_lose && got.len() < WINDOW as usize {
            return broken(format!("sample {next} did not arrive"));
        }
        if arrived == 0 {
            return broken("no sample arrived");
        }
    }
    let extra = pair.inlet.receive(1, Duration::from_millis(100))?;
    check_order(&extra, next, may_lose)?;
    pair.close()
}

fn back_pressure(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 3_000;
    let participant = fixture.open()?;
    let mut pair_config = fixture.pair_config(1_000);
    pair_config.qos.max_blocking_ns = Some(QosDuration::Ns(20_000_000));
    let mut pair = fixture.pair(&participant, &pair_config)?;
    let writer = pair.writer;
    let writing = thread::spawn(move || {
        for number in 0..SAMPLES {
            write(&writer, 0, &numbered(number, 1_000))?;
        }
        Ok::<_, Stop>(writer)
    });
    // the queues fill up
    thread::sleep(Duration::from_millis(300));
    let mut next = 0;
    while next < SAMPLES {
        let got = pair.inlet.receive(20, TIME_LIMIT)?;
        if got.is_empty() {
            return broken(format!("sample {next} was accepted, but did not arrive"));
        }
        next = check_order(&got, next, false)?;
        thread::sleep(Duration::from_millis(1));
    }
    let writer = writing.join().map_err(|_| Stop::Failed("the writing thread panicked".to_owned()))??;
    let extra = pair.inlet.receive(1, Duration::from_millis(100))?;
    check_order(&extra, next, false)?;
    writer.close()?;
    pair.inlet.close()
}

fn flush(fixture: &Fixture<'_>) -> CaseResult {
    const BATCH: u64 = 10;
    if !batches(fixture) {
        return not_applicable("batching is not declared");
    }
    let participant = fixture.open()?;
    let mut pair =
        fixture.pair(&participant, &PairConfig { batch_bytes: 8192, ..fixture.pair_config(64) })?;
    let may_lose = !fixture.reliable();
    let mut next = 0;
    for first in (0..10 * BATCH).step_by(BATCH as usize) {
        for number in first..first + BATCH {
            write(&pair.writer, 0, &numbered(number, 64))?;
        }
        until_accepted("a flush was not accepted", || pair.writer.flush())?;
        let got = pair.inlet.receive(BATCH as usize, TIME_LIMIT)?;
        if got.len() < BATCH as usize {
            return broken(format!("{} of {BATCH} samples arrived after the flush", got.len()));
        }
        next = check_order(&got, next, may_lose)?;
    }
    pair.close()
}

/// Checks that the driver waits for acknowledgments.
pub(super) fn acknowledges(fixture: &Fixture<'_>) -> CaseResult {
    if !fixture.driver.has(FEATURE_WAIT_ACKED) {
        return not_applicable("waiting for acknowledgments is not declared");
    }
    if fixture.support(Policy::Reliability) != Support::Enforced {
        return broken("waiting for acknowledgments is declared, but reliability is not");
    }
    if !fixture.reliable() {
        return not_applicable("keep-all history is not declared as enforced");
    }
    Ok(())
}

fn wait_acked(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 100;
    acknowledges(fixture)?;
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &fixture.pair_config(64))?;
    let limit = TIME_LIMIT.as_nanos() as u64;
    write(&pair.writer, 0, &numbered(0, 64))?;
    let mut written = 1;
    // nothing is read: a short queue may be full before
    while written < SAMPLES && pair.writer.write(0, &numbered(written, 64))? == WriteOutcome::Accepted {
        written += 1;
    }
    let early = pair.writer.wait_acked(limit)?;
    let got = pair.inlet.receive(written as usize, Duration::from_secs(1))?;
    if early && (got.len() as u64) < written {
        return broken(format!("all {written} samples are acknowledged, but the reader has {}", got.len()));
    }
    // some drivers acknowledge only samples that were taken
    if !early && !pair.writer.wait_acked(limit)? {
        return broken(format!(
            "all samples were received, but not acknowledged within {} s",
            TIME_LIMIT.as_secs()
        ));
    }
    pair.close()
}

fn late_joiner(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let qos = Qos {
        reliability: Some(Reliability::Reliable),
        durability: Some(Durability::TransientLocal),
        history: Some(History::KeepLast),
        history_depth: Some(1),
        ..Qos::default()
    };
    let pair_config = PairConfig { qos, ..fixture.pair_config(64) };
    let topic = fixture.topic();
    let writer = fixture.writer(&participant, &topic, &pair_config)?;
    for number in 0..3 {
        write(&writer, 0, &numbered(number, 64))?;
    }
    let mut inlet = fixture.inlet(&participant, &topic, &pair_config)?;
    fixture.match_up(&writer.monitor(), &*inlet.end())?;
    let begin = Instant::now();
    let mut last = None;
    while last != Some(2) {
        if begin.elapsed() > TIME_LIMIT {
            return no_effect("the late reader did not receive the last sample");
        }
        if let Some(got) = inlet.receive(1, Duration::from_millis(100))?.last() {
            last = got.number();
        }
    }
    inlet.close()?;
    Ok(writer.close()?)
}
