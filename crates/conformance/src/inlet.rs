//! Reader of any receive mode, in this process or in another, and the received samples.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use driver_host::{ListeningReader, Monitor, Participant, Reader};
use experiment::ReceiveMode;

use crate::{
    Stop, broken,
    endpoint::{End, PairConfig, reader_config},
    remote_reader::RemoteReader,
    sample::ReceivedSample,
};

/// Timeout of one receive call, in ns.
const SLICE_NS: u64 = 20_000_000;

type ReceivedSamples = Arc<Mutex<Vec<ReceivedSample>>>;

/// Reader of any receive mode, in this process or in another.
pub enum Inlet {
    /// Reader whose receive calls this process makes.
    Asked { reader: Reader, polling: bool },
    /// Reader with a listener, and what it has received.
    Listening { reader: ListeningReader<ReceivedSamples>, received: ReceivedSamples },
    /// Reader in another process.
    Far(RemoteReader),
}

impl Inlet {
    /// Opens a reader in this process.
    pub fn open(participant: &Participant, topic: &str, pair_config: &PairConfig) -> Result<Self, Stop> {
        let config = reader_config(topic, pair_config);
        Ok(if pair_config.mode == ReceiveMode::Listener {
            let received = ReceivedSamples::default();
            let reader =
                participant.listening_reader(&config, Arc::clone(&received), |received, sample| {
                    received
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(ReceivedSample::copy_of(sample));
                })?;
            Self::Listening { reader, received }
        } else {
            Self::Asked { reader: participant.reader(&config)?, polling: config.polling }
        })
    }

    /// Returns the monitor of a reader in this process.
    pub fn monitor(&self) -> Result<Monitor, Stop> {
        match self {
            Self::Asked { reader, .. } => Ok(reader.monitor()),
            Self::Listening { reader, .. } => Ok(reader.monitor()),
            Self::Far(_) => broken("the reader is in another process"),
        }
    }

    /// Returns the reader as an endpoint to match with.
    pub fn end(&self) -> Box<dyn End + '_> {
        match self {
            Self::Asked { reader, .. } => Box::new(reader.monitor()),
            Self::Listening { reader, .. } => Box::new(reader.monitor()),
            Self::Far(far) => Box::new(far),
        }
    }

    /// Receives samples until there are `expected`, or none has arrived for `quiet`.
    pub fn receive(&mut self, expected: usize, quiet: Duration) -> Result<Vec<ReceivedSample>, Stop> {
        let mut got = Vec::new();
        let mut last = Instant::now();
        while got.len() < expected && last.elapsed() < quiet {
            let before = got.len();
            self.receive_once(&mut got, expected)?;
            if got.len() > before {
                last = Instant::now();
            }
        }
        Ok(got)
    }

    fn receive_once(&mut self, got: &mut Vec<ReceivedSample>, expected: usize) -> Result<(), Stop> {
        match self {
            Self::Asked { reader, polling } => {
                let before = got.len();
                let timeout = if *polling { 0 } else { SLICE_NS };
                let taken =
                    reader.receive(timeout, 100, |sample| got.push(ReceivedSample::copy_of(sample)))?;
                if taken as usize != got.len() - before {
                    let given = got.len() - before;
                    return broken(format!(
                        "reader_receive returned {taken}, but passed {given} samples to the sink"
                    ));
                }
                if *polling && taken == 0 {
                    thread::sleep(Duration::from_micros(200));
                }
            }
            Self::Listening { received, .. } => {
                let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
                if received.is_empty() {
                    drop(received);
                    thread::sleep(Duration::from_micros(200));
                } else {
                    got.append(&mut received);
                }
            }
            Self::Far(far) => {
                let slice = Duration::from_nanos(SLICE_NS);
                got.append(&mut far.receive(expected - got.len(), slice)?);
            }
        }
        Ok(())
    }

    /// Closes the reader; one in another process with its participant and process.
    pub fn close(self) -> Result<(), Stop> {
        match self {
            Self::Asked { reader, .. } => reader.close()?,
            Self::Listening { reader, .. } => drop(reader.close()?),
            Self::Far(far) => far.close()?,
        }
        Ok(())
    }
}
