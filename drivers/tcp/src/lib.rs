//! TCP connections: the baseline of stream transports. A sample is its length and its bytes, in one connection from
//! the writer to each reader; see README.md.
#![deny(unsafe_code)]

mod acceptor;
mod keep_last;
mod outgoing;
mod reader;
mod socket;
mod writer;

use driver_kit::{
    Description, Driver, DriverOption, Error, Features, Participant, ParticipantConfig, Policies,
    ReaderConfig, Result, Settings, Transport, WriterConfig,
    net::{Buffers, Family, interface_address},
};

use crate::{
    reader::TcpReader,
    socket::{NAMES, SocketOptions},
    writer::TcpWriter,
};

/// Maximum payload size: a limit of the allocated buffers, not of TCP.
const MAX_PAYLOAD: u64 = 1 << 30;

/// Name of the option for Nagle's algorithm, which delays small segments.
const NAGLE: &str = "nagle";

/// Driver of TCP sockets.
struct Tcp;

impl Driver for Tcp {
    type Participant = TcpParticipant;

    const FEATURES: Features = Features::LOCATORS
        .and(Features::APPLICATION_BATCHING)
        .and(Features::ECHO_IN_LISTENER)
        .and(Features::WAIT_ACKED);

    fn describe() -> Description {
        Description {
            transports: NAMES
                .map(|name| Transport {
                    name,
                    max_payload_bytes: MAX_PAYLOAD,
                    note: Some("samples are a stream; writer and reader reserve memory for the largest sample of each connection"),
                })
                .into(),
            options: vec![DriverOption {
                name: NAGLE,
                default: Some("off"),
                help: "whether a small segment waits for the acknowledgment of the previous one (off sets TCP_NODELAY): on or off; default off",
            }],
            policies: Policies::without_storage(
                "`reliable`: a write waits for room; `best_effort`: a sample without room is dropped",
            ),
            ..Description::of_kernel("tcp", env!("CARGO_PKG_VERSION"), "TCP sockets")
        }
    }

    fn open(config: &ParticipantConfig<'_>) -> Result<TcpParticipant> {
        let family = Family::from_config(config, NAMES)?;
        let interface = config.interface.unwrap_or("lo");
        let nagle = match config.option(NAGLE) {
            // default of the kernel
            None => config.vendor_defaults,
            Some("on") => true,
            Some("off") => false,
            Some(other) => {
                return Err(Error::bad_argument(format!("invalid value `{other}` of option `{NAGLE}`"))
                    .hint("available: on, off"));
            }
        };
        let way = SocketOptions {
            family,
            address: interface_address(interface, family)?,
            buffers: Buffers::from_config(config),
            nagle,
        };
        // Detects an address that cannot be bound or an invalid buffer size here, not at the first writer.
        way.bound(0)?;
        Ok(TcpParticipant { way, interface: interface.to_owned() })
    }
}

/// Parameters for opening sockets.
struct TcpParticipant {
    way: SocketOptions,
    interface: String,
}

impl Participant for TcpParticipant {
    type Writer = TcpWriter;
    type Reader = TcpReader;

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("transport", self.way.family.pick(NAMES));
        settings.set("interface", &self.interface);
        settings.set("address", &self.way.address);
        Ok(())
    }

    fn open_writer(&self, config: WriterConfig<'_>) -> Result<TcpWriter> {
        TcpWriter::open(self.way, &config)
    }

    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<TcpReader> {
        reader::open(self.way, config)
    }
}

driver_kit::export!(Tcp);

#[cfg(test)]
mod hot_path_tests;
