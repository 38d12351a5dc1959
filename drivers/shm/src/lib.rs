//! Bare shared memory: the baseline of transports over it. A sample is copied once, into a ring in the memory of each
//! reader, and lent to the host from there; see README.md.
#![deny(unsafe_code)]

mod futex;
mod layout;
mod locator;
mod outgoing;
mod process;
mod reader;
mod ring;
mod segment;
mod writer;

use driver_kit::{
    Description, Driver, Error, Features, Participant, ParticipantConfig, Policies, ReaderConfig, Result,
    Settings, Transport, WriterConfig,
};
use nix::net::if_::if_nametoindex;

use crate::{
    layout::{MAX_CAPACITY, MIN_CAPACITY, record},
    locator::NAME,
    reader::ShmReader,
    writer::ShmWriter,
};

/// Maximum payload size: a ring of the maximum capacity then has room for three samples.
const MAX_PAYLOAD: u64 = 256 << 20;
/// Smallest default capacity of a ring: some thousand small samples, in the cache of a core.
const DEFAULT_CAPACITY: u64 = 1 << 20;

/// Driver of shared memory.
struct Shm;

impl Driver for Shm {
    type Participant = ShmParticipant;

    const FEATURES: Features = Features::LOCATORS
        .and(Features::APPLICATION_BATCHING)
        .and(Features::ECHO_IN_LISTENER)
        .and(Features::WAIT_ACKED);

    fn describe() -> Description {
        Description {
            transports: vec![Transport {
                name: NAME,
                max_payload_bytes: MAX_PAYLOAD,
                note: Some(
                    "writer and reader on one host, in one PID namespace; a reader has a ring for each of its writers, of four samples or 1 MiB",
                ),
            }],
            policies: Policies::without_storage(
                "`reliable`: a write waits for room; `best_effort`: a sample without room is dropped",
            ),
            ..Description::of_kernel("shm", env!("CARGO_PKG_VERSION"), "shared memory")
        }
    }

    fn open(config: &ParticipantConfig<'_>) -> Result<ShmParticipant> {
        if let Some(interface) = config.interface {
            // unused, but an unknown name is an error with every driver
            if_nametoindex(interface).map_err(|_| {
                Error::bad_argument(format!("interface `{interface}` does not exist"))
                    .hint("list the interfaces with `ip -br link`")
            })?;
        }
        if config.send_buffer_bytes.is_some() {
            return Err(Error::unsupported(
                "`send_buffer` is not supported: a writer writes to the rings of its readers",
            )
            .hint("set `receive_buffer`, the size of each ring"));
        }
        if config.receive_buffer_bytes.is_some_and(|bytes| bytes > MAX_CAPACITY) {
            return Err(Error::bad_argument("`receive_buffer` is out of range")
                .hint(format!("use at most {MAX_CAPACITY} bytes")));
        }
        Ok(ShmParticipant {
            name: format!("ddsmark-{}", config.run_name),
            asked_capacity: config.receive_buffer_bytes,
        })
    }
}

/// Returns the capacity of the rings of a reader with samples of at most `max_payload` bytes: a power of two, with room
/// for at least one sample.
fn capacity(asked: Option<u64>, max_payload: u64) -> u64 {
    let record = record(max_payload as usize) as u64;
    let default = (4 * record).max(DEFAULT_CAPACITY);
    asked.unwrap_or(default).max(record).next_power_of_two().clamp(MIN_CAPACITY, MAX_CAPACITY)
}

/// Parameters for opening readers.
struct ShmParticipant {
    /// Name of the memory of each reader, for /proc.
    name: String,
    asked_capacity: Option<u64>,
}

impl Participant for ShmParticipant {
    type Writer = ShmWriter;
    type Reader = ShmReader;

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("transport", NAME);
        Ok(())
    }

    fn open_writer(&self, config: WriterConfig<'_>) -> Result<ShmWriter> {
        Ok(ShmWriter::open(&config))
    }

    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<ShmReader> {
        reader::open(&self.name, self.asked_capacity, config)
    }
}

driver_kit::export!(Shm);

#[cfg(test)]
mod faulty_peer_tests;
#[cfg(test)]
mod hot_path_tests;
#[cfg(test)]
mod ring_tests;
