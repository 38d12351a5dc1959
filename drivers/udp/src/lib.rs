//! Bare UDP sockets: the baseline that a middleware is measured against. One datagram is one sample, with nothing
//! around it, unless the host asks for batching; see README.md.
#![deny(unsafe_code)]

mod batch;
mod interface;
mod locator;
mod reader;
mod socket;
mod writer;

use driver_kit::{
    Description, Driver, Durability, Error, Features, Participant, ParticipantConfig, Policies, Policy, Qos,
    ReaderConfig, ReceiveMode, Reliability, Result, Settings, Support, Transport, TypeKind, VersionSource,
    WriterConfig,
};
use nix::sys::utsname::uname;

use crate::{
    locator::Family,
    reader::UdpReader,
    socket::{Buffers, Socket},
    writer::UdpWriter,
};

/// What a socket asks the kernel for where neither the host nor `vendor_defaults` says otherwise: room for 60 datagrams
/// of the largest size, or some thousand small ones, while the reader is not scheduled. Best effort loses the rest.
const RECEIVE_BUFFER_BYTES: u64 = 4 << 20;

/// The driver.
struct Udp;

impl Driver for Udp {
    type Participant = UdpParticipant;

    const FEATURES: Features =
        Features::LOCATORS.and(Features::APPLICATION_BATCHING).and(Features::ECHO_IN_LISTENER);

    fn describe() -> Description {
        Description {
            name: "udp",
            driver_version: env!("CARGO_PKG_VERSION"),
            middleware: "UDP sockets",
            middleware_version: uname().map_or_else(
                |errno| format!("unknown ({errno})"),
                |names| names.release().to_string_lossy().into_owned(),
            ),
            version_source: VersionSource::Kernel,
            build: None,
            licence: "GPL-2.0-only WITH Linux-syscall-note",
            receive_modes: &[ReceiveMode::Waitset, ReceiveMode::Polling, ReceiveMode::Listener],
            type_kinds: &[TypeKind::Octets],
            transports: Family::ALL
                .into_iter()
                .map(|family| Transport {
                    name: family.name(),
                    max_payload_bytes: family.max_datagram() as u64,
                    note: Some("one datagram; 4 bytes less with batching; larger than the MTU: IP fragments"),
                })
                .collect(),
            options: vec![],
            policies: Policies::none()
                .with(
                    Policy::Reliability,
                    Support::Unsupported,
                    Some("best effort is what UDP is: asking for that is granted, for reliable refused"),
                )
                .with(
                    Policy::Durability,
                    Support::Unsupported,
                    Some("volatile is what UDP is: asking for that is granted, for more refused"),
                )
                .fixed(in_force(None)),
        }
    }

    fn open(config: &ParticipantConfig<'_>) -> Result<UdpParticipant> {
        let family = Family::ALL
            .into_iter()
            .find(|family| family.name() == config.transport)
            .ok_or_else(|| Error::bad_argument(format!("no transport `{}`", config.transport)))?;
        let interface = config.interface.unwrap_or("lo");
        let address = interface::address(interface, family)?;
        let receive_default = (!config.vendor_defaults).then_some(RECEIVE_BUFFER_BYTES);
        let buffers = Buffers {
            send: config.send_buffer_bytes,
            receive: config.receive_buffer_bytes.or(receive_default),
        };
        let participant = UdpParticipant { family, interface: interface.to_owned(), address, buffers };
        // Fails here rather than at the first writer, where an address cannot be bound or a buffer size is absurd.
        participant.socket()?;
        Ok(participant)
    }
}

/// What UDP does, whatever is asked: best effort and volatile.
fn in_force(max_blocking_ns: Option<u64>) -> Qos {
    Qos {
        reliability: Some(Reliability::BestEffort),
        max_blocking_ns,
        durability: Some(Durability::Volatile),
        ..Qos::default()
    }
}

/// An address to bind, and how.
struct UdpParticipant {
    family: Family,
    interface: String,
    address: std::net::IpAddr,
    buffers: Buffers,
}

impl UdpParticipant {
    fn socket(&self) -> Result<Socket> {
        Socket::bound(self.address, self.buffers)
    }
}

impl Participant for UdpParticipant {
    type Writer = UdpWriter;
    type Reader = UdpReader;

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("transport", self.family.name());
        settings.set("interface", &self.interface);
        settings.set("address", &self.address);
        settings.set("multicast", "no");
        Ok(())
    }

    fn open_writer(&self, config: WriterConfig<'_>) -> Result<UdpWriter> {
        UdpWriter::open(self.socket()?, self.family, &config)
    }

    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<UdpReader> {
        UdpReader::open(self.socket()?, self.family, config)
    }
}

driver_kit::export!(Udp);

#[cfg(test)]
mod hot_path_tests;
