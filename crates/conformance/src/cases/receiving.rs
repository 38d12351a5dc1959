//! Cases on receive modes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use experiment::ReceiveMode;

use super::CaseSpec;
use crate::{
    CaseResult, broken,
    endpoint::{PairConfig, reader_config},
    fixture::{Fixture, Inlet, PATIENCE, write},
    not_applicable,
    sample::{ReceivedSample, numbered},
};

pub const CASES: &[CaseSpec] = &[
    CaseSpec {
        id: "receive-waitset",
        section: "reader_receive()",
        promise: "with `waitset`, samples arrive, and a call without samples returns 0 after its timeout",
        observes: &[],
        run: |fixture| receive_in_mode(fixture, ReceiveMode::Waitset, 50_000_000),
    },
    CaseSpec {
        id: "receive-polling",
        section: "reader_receive()",
        promise: "with `polling`, samples arrive, and a call never waits, whatever its timeout",
        // a driver that waits here hits the time limit of the case
        observes: &[],
        run: |fixture| receive_in_mode(fixture, ReceiveMode::Polling, 3_600_000_000_000),
    },
    CaseSpec {
        id: "receive-listener",
        section: "3",
        promise: "with `listener`, each sample is passed to the sink once, and the sink is never called after reader_close()",
        observes: &[],
        run: listener,
    },
];

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
    if taken != 0 {
        return broken(format!("{taken} samples were taken before any was written"));
    }
    for number in 0..SAMPLES {
        write(&pair.writer, 0, &numbered(number, 64))?;
        let got = pair.inlet.receive(1, PATIENCE)?;
        if got.iter().map(ReceivedSample::number).ne([Some(number)]) {
            return broken(format!("sample {number} was written, but {} arrived", got.len()));
        }
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
        let begin = Instant::now();
        while calls.load(Ordering::SeqCst) <= number {
            if begin.elapsed() > PATIENCE {
                return broken(format!("sample {number} was written, but not passed to the listener"));
            }
            thread::sleep(Duration::from_micros(200));
        }
    }
    let received = calls.load(Ordering::SeqCst);
    if received != SAMPLES {
        return broken(format!("{SAMPLES} samples were written, but {received} passed to the listener"));
    }
    // Dropped, not closed by `close`: its state is not freed, in case the driver still uses it.
    drop(reader);
    for number in 0..SAMPLES {
        // the outcome does not matter: there is no reader
        let _ = writer.write(0, &numbered(number, 64))?;
    }
    thread::sleep(Duration::from_millis(200));
    let late = calls.load(Ordering::SeqCst) - received;
    if late > 0 {
        return broken(format!("the sink was called {late} times after reader_close()"));
    }
    Ok(writer.close()?)
}
