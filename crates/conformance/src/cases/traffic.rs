//! Cases on matching and on the delivery of samples.

use std::{
    thread,
    time::{Duration, Instant},
};

use driver_abi::{FEATURE_LOCATORS, FEATURE_WAIT_ACKED};
use driver_host::Writer;
use experiment::{Durability, History, Policy, Qos, QosDuration, Reliability, Support};

use super::{CaseSpec, lifecycle::batches};
use crate::{
    CaseResult, Stop, broken,
    endpoint::{End, PairConfig},
    fixture::{Fixture, TIME_LIMIT, until, until_accepted, write, write_all, write_until_full},
    inlet::Inlet,
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
    fail_if!(alone != 0, "a writer without a peer is matched with {alone}");
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
    let left = left + u32::from(fixture.driver.has(FEATURE_LOCATORS));
    let waited = limit.as_secs();
    until(limit, || {
        let matched = end.matched()?;
        Ok((matched <= left).then_some(()).ok_or_else(|| {
            format!("{what}, but its peer still counted {matched} as matched after {waited} s")
        }))
    })
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
    fail_if!(
        pair.inlet.receive(1, TIME_LIMIT)?.is_empty(),
        "a sample did not arrive within {} s",
        TIME_LIMIT.as_secs()
    );
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
        fail_if!(number < next, "sample {number} is duplicate or late: expected {next}");
        fail_if!(number > next && !may_lose, "sample {number} arrived: expected {next}");
        next = number + 1;
    }
    Ok(next)
}

/// Receives a window of samples from `next` on, which it moves. Without reliable delivery, all but one may be missing.
pub(super) fn receive_window(
    fixture: &Fixture<'_>,
    inlet: &mut Inlet,
    next: &mut u64,
    window: u64,
    whose: &str,
) -> CaseResult {
    let may_lose = !fixture.reliable();
    let got = inlet.receive(window as usize, fixture.patience())?;
    *next = check_order(&got, *next, may_lose).map_err(|stop| stop.at(&format!("at {whose}")))?;
    let is_short = got.is_empty() || (!may_lose && (got.len() as u64) < window);
    fail_if!(is_short, "{whose} did not receive sample {next}");
    Ok(())
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
        write_all(&pair.writer, first..first + WINDOW, 64)?;
        // small steps: at most as many samples are outstanding as any queue holds
        let got = pair.inlet.receive(WINDOW as usize, fixture.patience())?;
        arrived += got.len() as u64;
        next = check_order(&got, next, may_lose)?;
        fail_if!(!may_lose && got.len() < WINDOW as usize, "sample {next} did not arrive");
        fail_if!(arrived == 0, "no sample arrived");
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
        write_all(&writer, 0..SAMPLES, 1_000)?;
        Ok::<_, Stop>(writer)
    });
    // the queues fill up
    thread::sleep(Duration::from_millis(300));
    let mut next = 0;
    while next < SAMPLES {
        let got = pair.inlet.receive(20, TIME_LIMIT)?;
        fail_if!(got.is_empty(), "sample {next} was accepted, but did not arrive");
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
    skip_if!(!batches(fixture), "batching is not declared");
    let participant = fixture.open()?;
    let mut pair =
        fixture.pair(&participant, &PairConfig { batch_bytes: 8192, ..fixture.pair_config(64) })?;
    let may_lose = !fixture.reliable();
    let mut next = 0;
    for first in (0..10 * BATCH).step_by(BATCH as usize) {
        write_all(&pair.writer, first..first + BATCH, 64)?;
        until_accepted("a flush was not accepted", || pair.writer.flush())?;
        let got = pair.inlet.receive(BATCH as usize, TIME_LIMIT)?;
        fail_if!(got.len() < BATCH as usize, "{} of {BATCH} samples arrived after the flush", got.len());
        next = check_order(&got, next, may_lose)?;
    }
    pair.close()
}

/// Checks that the driver waits for acknowledgments.
pub(super) fn acknowledges(fixture: &Fixture<'_>) -> CaseResult {
    skip_if!(!fixture.driver.has(FEATURE_WAIT_ACKED), "waiting for acknowledgments is not declared");
    fail_if!(
        fixture.support(Policy::Reliability) != Support::Enforced,
        "waiting for acknowledgments is declared, but reliability is not"
    );
    skip_if!(!fixture.reliable(), "keep-all history is not declared as enforced");
    Ok(())
}

fn wait_acked(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 100;
    acknowledges(fixture)?;
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &fixture.pair_config(64))?;
    let limit = TIME_LIMIT.as_nanos() as u64;
    let written = write_until_full(&pair.writer, SAMPLES)?;
    let early = pair.writer.wait_acked(limit)?;
    let got = pair.inlet.receive(written as usize, Duration::from_secs(1))?;
    fail_if!(
        early && (got.len() as u64) < written,
        "all {written} samples are acknowledged, but the reader has {}",
        got.len()
    );
    // some drivers acknowledge only samples that were taken
    fail_if!(
        !early && !pair.writer.wait_acked(limit)?,
        "all samples were received, but not acknowledged within {} s",
        TIME_LIMIT.as_secs()
    );
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
    write_all(&writer, 0..3, 64)?;
    let mut inlet = fixture.inlet(&participant, &topic, &pair_config)?;
    fixture.match_up(&writer.monitor(), &*inlet.end())?;
    let begin = Instant::now();
    let mut last = None;
    while last != Some(2) {
        no_effect_if!(begin.elapsed() > TIME_LIMIT, "the late reader did not receive the last sample");
        if let Some(got) = inlet.receive(1, Duration::from_millis(100))?.last() {
            last = got.number();
        }
    }
    inlet.close()?;
    Ok(writer.close()?)
}
