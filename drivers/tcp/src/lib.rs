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
    Description, Driver, DriverOption, Durability, Error, Features, History, Participant, ParticipantConfig,
    Policies, Policy, Qos, QosDuration, ReaderConfig, ReceiveMode, Reliability, Result, Settings, Support,
    Transport, TypeKind, VersionSource, WriterConfig,
    net::{Buffers, Family, interface_address},
};
use nix::sys::utsname::uname;

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
            name: "tcp",
            driver_version: env!("CARGO_PKG_VERSION"),
            middleware: "TCP sockets",
            middleware_version: uname().map_or_else(
                |errno| format!("unknown ({errno})"),
                |names| names.release().to_string_lossy().into_owned(),
            ),
            version_source: VersionSource::Kernel,
            build: None,
            licence: "GPL-2.0-only WITH Linux-syscall-note",
            receive_modes: &[ReceiveMode::Waitset, ReceiveMode::Polling, ReceiveMode::Listener],
            type_kinds: &[TypeKind::Octets],
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
            variables: &[],
            policies: Policies::none()
                .with(
                    Policy::Reliability,
                    Support::Enforced,
                    Some("`reliable`: a write waits for room; `best_effort`: a sample without room is dropped"),
                )
                .with(
                    Policy::History,
                    Support::Enforced,
                    Some("`keep_last` applies to samples that a reader has not taken; a writer sends at once and replaces none"),
                )
                .with(
                    Policy::Durability,
                    Support::Unsupported,
                    Some("this driver stores no samples: `volatile` is accepted, other values are rejected"),
                )
                .fixed(Qos { durability: Some(Durability::Volatile), ..Qos::default() }),
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

/// Returns the effective QoS; the defaults are best effort and KEEP_ALL.
fn in_force(asked: &Qos, max_blocking_ns: u64) -> Qos {
    Qos {
        reliability: Some(asked.reliability.unwrap_or(Reliability::BestEffort)),
        max_blocking_ns: Some(QosDuration::from_raw(max_blocking_ns)),
        history: Some(asked.history.unwrap_or(History::KeepAll)),
        history_depth: asked.history_depth,
        durability: Some(Durability::Volatile),
        ..Qos::default()
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
