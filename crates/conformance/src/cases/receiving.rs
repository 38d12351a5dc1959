//! Cases on receive modes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use driver_abi::FEATURE_ECHO_IN_LISTENER;
use driver_host::{WriteOutcome, Writer};
use experiment::{Policy, QosDuration, ReceiveMode, Support};

use super::CaseSpec;
use crate::{
    CaseResult, Stop, broken,
    endpoint::{PairConfig, reader_config},
    fixture::{Fixture, TIME_LIMIT, until_some, write},
    inlet::Inlet,
    not_applicable,
    sample::{ReceivedSample, numbered},
    values::Side,
};

/// Cases on receive modes.
pub const CASES: &[CaseSpec] = cases! {
    "receive-waitset" |fixture| receive_in_mode(fixture, ReceiveMode::Waitset, 50_000_000), "reader_receive()" =>
        "with `waitset`, samples arrive, and a call without samples returns 0 after its timeout";
    // a driver that waits here hits the time limit of the case
    "receive-polling"
        |fixture| receive_in_mode(fixture, ReceiveMode::Polling, 3_600_000_000_000), "reader_receive()" =>
        "with `polling`, samples arrive, and a call never waits, whatever its timeout";
    "receive-listener" listener, "3" =>
        "with `listener`, each sample is passed to the sink once, and the sink is never called after reader_close()";
    "echo-in-listener" echo, "3" =>
        "a sink of a listener can write, and a write without `max_blocking` never waits, even if there is no room";
};

const SAMPLES: u64 = 50;

fn declared(fixture: &Fixture<'_>, mode: ReceiveMode) -> CaseResult {
    if fixture.receives_by(mode) {
        Ok(())
    } else {
        not_applicable(format!("the receive mode `{}` is not declared", mode.name()))
    }
}

fn receive_in_mode(fixture: &Fixture<'_>, mode: ReceiveMode, timeout_ns: u64) -> CaseResult {
    declared(fixture, mode)?;
    let participant = fixture.open()?;
    let mut pair = fixture.pair(&participant, &PairConfig { mode, ..fixture.pair_config(64) })?;
    let Inlet::Asked { reader, .. } = &mut pair.inlet else {
        return broken("the reader is not called by the host");
    };
    let taken = reader.receive(timeout_ns, 10, |_| {})?;
    fail_if!(taken != 0, "{taken} samples were taken before any was written");
    for number in 0..SAMPLES {
        write(&pair.writer, 0, &numbered(number, 64))?;
        let got = pair.inlet.receive(1, TIME_LIMIT)?;
        fail_if!(
            got.iter().map(ReceivedSample::number).ne([Some(number)]),
            "sample {number} was written, but {} arrived",
            got.len()
        );
    }
    pair.close()
}

fn listener(fixture: &Fixture<'_>) -> CaseResult {
    declared(fixture, ReceiveMode::Listener)?;
    let participant = fixture.open()?;
    let pair_config = PairConfig { mode: ReceiveMode::Listener, ..fixture.pair_config(64) };
    let topic = fixture.topic();
    let calls = Arc::new(AtomicU64::new(0));
    let count = |calls: &mut Arc<AtomicU64>, _: driver_host::Sample<'_>| {
        calls.fetch_add(1, Ordering::SeqCst);
    };
    let reader =
        participant.listening_reader(&reader_config(&topic, &pair_config), Arc::clone(&calls), count)?;
    let writer = fixture.writer(&participant, &topic, &pair_config)?;
    fixture.match_up(&writer.monitor(), &reader.monitor())?;
    for number in 0..SAMPLES {
        write(&writer, 0, &numbered(number, 64))?;
        let what = format!("sample {number} was written, but not passed to the listener");
        until_some(&what, || Ok((calls.load(Ordering::SeqCst) > number).then_some(())))?;
    }
    let received = calls.load(Ordering::SeqCst);
    fail_if!(received != SAMPLES, "{SAMPLES} samples were written, but {received} passed to the listener");
    // Dropped, not closed by `close`: its state is not freed, in case the driver still uses it.
    drop(reader);
    for number in 0..SAMPLES {
        // the outcome does not matter: there is no reader
        let _ = writer.write(0, &numbered(number, 64))?;
    }
    thread::sleep(Duration::from_millis(200));
    let late = calls.load(Ordering::SeqCst) - received;
    fail_if!(late > 0, "the sink was called {late} times after reader_close()");
    Ok(writer.close()?)
}

/// Writer of the echoes, and counts that the case reads.
struct EchoSink {
    writer: Writer,
    calls: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
    accepted: Arc<AtomicU64>,
}

impl EchoSink {
    fn on_sample(&mut self, sample: driver_host::Sample<'_>) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let outcome = self.writer.write(0, sample.payload);
        self.accepted.fetch_add(u64::from(matches!(outcome, Ok(WriteOutcome::Accepted))), Ordering::SeqCst);
        self.written.fetch_add(u64::from(outcome.is_ok()), Ordering::SeqCst);
    }
}

fn echo(fixture: &Fixture<'_>) -> CaseResult {
    /// More than any queue holds.
    const PINGS: u64 = 3_000;
    declared(fixture, ReceiveMode::Listener)?;
    skip_if!(!fixture.driver.has(FEATURE_ECHO_IN_LISTENER), "an echo from a listener is not declared");
    let participant = fixture.open()?;
    // The echoes are not taken meanwhile.
    let mut of_echoes = fixture.pair_config(1_000);
    of_echoes.qos.max_blocking_ns = of_echoes.qos.max_blocking_ns.map(|_| QosDuration::Ns(0));
    if fixture.reliable() && fixture.support_of(Side::Writer, Policy::ResourceLimits) == Support::Enforced {
        of_echoes.qos.max_samples = Some(100);
    }
    let mut echoes = fixture.pair(&participant, &of_echoes)?;
    let [calls, written, accepted] = [0; 3].map(|count| Arc::new(AtomicU64::new(count)));
    let sink = EchoSink {
        writer: echoes.writer,
        calls: Arc::clone(&calls),
        written: Arc::clone(&written),
        accepted: Arc::clone(&accepted),
    };
    let topic = fixture.topic();
    let of_pings = PairConfig { mode: ReceiveMode::Listener, ..fixture.pair_config(1_000) };
    let reader =
        participant.listening_reader(&reader_config(&topic, &of_pings), sink, EchoSink::on_sample)?;
    let writer = fixture.writer(&participant, &topic, &of_pings)?;
    fixture.match_up(&writer.monitor(), &reader.monitor())?;
    // A thread of its own: a listener may be called while its sample is written.
    let pinging = thread::spawn({
        let written = Arc::clone(&written);
        move || {
            for number in 0..PINGS {
                write(&writer, 0, &numbered(number, 1_000))?;
                let begin = Instant::now();
                while written.load(Ordering::SeqCst) <= number && begin.elapsed() < TIME_LIMIT {
                    thread::yield_now();
                }
            }
            Ok::<_, Stop>(writer)
        }
    });
    let (mut last, mut since) = (0, Instant::now());
    while !pinging.is_finished() {
        thread::sleep(Duration::from_millis(1));
        let now = written.load(Ordering::SeqCst);
        if now > last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() > TIME_LIMIT {
            let what = if calls.load(Ordering::SeqCst) > last {
                "passed to the listener, but its echo is not written"
            } else {
                "written, but not passed to the listener"
            };
            // The driver's thread is still in the sink: closing would wait for it, and for those of all pings that follow.
            std::mem::forget((reader, echoes.inlet, participant));
            return broken(format!("sample {last} was {what}"));
        }
    }
    let writer = pinging.join().map_err(|_| Stop::Failed("the pinging thread panicked".to_owned()))??;
    let sink = reader.close()?;
    writer.close()?;
    let accepted = accepted.load(Ordering::SeqCst);
    let got = echoes.inlet.receive(accepted as usize, TIME_LIMIT)?.len() as u64;
    fail_if!(fixture.reliable() && got < accepted, "{accepted} echoes were accepted, but {got} arrived");
    sink.writer.close()?;
    echoes.inlet.close()
}
