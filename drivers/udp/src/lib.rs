//! Bare UDP sockets: the baseline of datagram transports. One datagram is one sample without a header, unless the
//! host requests batching; see README.md.
#![deny(unsafe_code)]

mod locator;
mod multicast;
mod packing;
mod reader;
mod segments;
mod socket;
mod writer;

use driver_kit::{
    Description, Driver, DriverOption, Durability, Error, Features, OrFailed, Participant, ParticipantConfig,
    Policies, Policy, Qos, QosDuration, ReaderConfig, Reliability, Result, Settings, Support, Transport,
    WriterConfig,
    net::{Buffers, Family, interface_address, multicast_enabled},
};
use nix::sys::socket::MsgFlags;

use crate::{
    locator::NAMES,
    multicast::Multicast,
    packing::{Load, PACKING, Packing, max_datagram},
    reader::UdpReader,
    socket::Socket,
    writer::UdpWriter,
};

/// Default size of a receive buffer, without a request of the host or `vendor_defaults`, as for all drivers over
/// UDP. It has room for 120 datagrams of maximum size, or some thousand small ones, while the reader is not
/// scheduled. With best effort further ones are lost.
const RECEIVE_BUFFER_BYTES: u64 = 8 << 20;

/// Timeout of the probe of a multicast group within this host.
const PROBE_NS: u64 = 500_000_000;

/// Driver of UDP sockets.
struct Udp;

impl Driver for Udp {
    type Participant = UdpParticipant;

    const FEATURES: Features = Features::LOCATORS
        .and(Features::APPLICATION_BATCHING)
        .and(Features::ECHO_IN_LISTENER)
        .and(Features::MULTICAST);

    fn describe() -> Description {
        Description {
            transports: Family::ALL
                .into_iter()
                .map(|family| Transport {
                    name: family.pick(NAMES),
                    max_payload_bytes: max_datagram(family) as u64,
                    note: Some("each sample is one datagram, split into IP fragments above the MTU; with batching and `packing` = `datagram` the maximum is 4 bytes less"),
                })
                .collect(),
            options: vec![DriverOption {
                name: PACKING,
                default: Some("datagram"),
                help: "what the samples of a batch share: datagram (one datagram) or segments (one system call, which sends each as its own datagram; UDP_SEGMENT and UDP_GRO); default datagram",
            }],
            policies: Policies::none()
                .with(
                    Policy::Reliability,
                    Support::Unsupported,
                    Some("UDP is best effort: `best_effort` is accepted, `reliable` is rejected"),
                )
                .with(
                    Policy::Durability,
                    Support::Unsupported,
                    Some("UDP stores no samples: `volatile` is accepted, other values are rejected"),
                )
                .fixed(in_force(None)),
            ..Description::of_kernel("udp", env!("CARGO_PKG_VERSION"), "UDP sockets")
        }
    }

    fn open(config: &ParticipantConfig<'_>) -> Result<UdpParticipant> {
        let family = Family::from_config(config, NAMES)?;
        let interface = config.interface.unwrap_or("lo");
        let address = interface_address(interface, family)?;
        let receive_default = (!config.vendor_defaults).then_some(RECEIVE_BUFFER_BYTES);
        let asked = Buffers::from_config(config);
        let buffers = Buffers { receive: asked.receive.or(receive_default), ..asked };
        if config.multicast && !multicast_enabled(interface)? {
            return Err(Multicast::disabled(interface, family));
        }
        let way = config.multicast.then(|| Multicast::new(interface, address, config.domain)).transpose()?;
        let packing = Packing::from_config(config, || segments::probe(address))?;
        let participant = UdpParticipant {
            family,
            interface: interface.to_owned(),
            address,
            multicast: way,
            buffers,
            packing,
        };
        // Detects an address that cannot be bound, an invalid buffer size or unusable multicast here, not at the
        // first writer.
        let out = participant.socket()?;
        if let Some(way) = &participant.multicast {
            let topic = format!("{}-probe-{}", config.run_name, std::process::id());
            probe(&out, &participant.reader_socket(&topic)?)
                .map_err(|cause| way.no_way(interface, family, &cause))?;
        }
        Ok(participant)
    }
}

/// Checks multicast: sends one byte to a group that only this process has joined, within this host, and receives
/// it.
fn probe(from: &Socket, to: &Socket) -> Result<()> {
    const BYTE: [u8; 1] = [0xd5];
    from.keep_on_this_host()?;
    from.connect(to.locator)?;
    from.send(Load::datagram(&BYTE), MsgFlags::empty())
        .or_failed("cannot send to the multicast group: send() failed")?;
    to.set_receive_limit(PROBE_NS)?;
    let mut heard = [0; 2];
    match to.receive(&mut heard, MsgFlags::empty()) {
        Ok(1) if heard[..1] == BYTE => Ok(()),
        Ok(_) => {
            Err(Error::failed("the datagram received from the multicast group is not the one that was sent"))
        }
        Err(errno) => {
            Err(Error::os("a datagram to the multicast group was not received: recv() failed", errno))
        }
    }
}

/// Returns the effective QoS, which is fixed: best effort and volatile.
fn in_force(max_blocking_ns: Option<u64>) -> Qos {
    Qos {
        reliability: Some(Reliability::BestEffort),
        max_blocking_ns: max_blocking_ns.map(QosDuration::from_raw),
        durability: Some(Durability::Volatile),
        ..Qos::default()
    }
}

/// Parameters for opening sockets.
struct UdpParticipant {
    family: Family,
    interface: String,
    address: std::net::IpAddr,
    multicast: Option<Multicast>,
    buffers: Buffers,
    packing: Packing,
}

impl UdpParticipant {
    /// Opens a socket for sending; without multicast also for receiving.
    fn socket(&self) -> Result<Socket> {
        match self.multicast {
            Some(way) => Socket::to_groups(way, self.buffers),
            None => Socket::bound(self.address, self.buffers),
        }
    }

    fn reader_socket(&self, topic: &str) -> Result<Socket> {
        match self.multicast {
            Some(way) => Socket::in_group_of(topic, way, self.buffers),
            None => self.socket(),
        }
    }
}

impl Participant for UdpParticipant {
    type Writer = UdpWriter;
    type Reader = UdpReader;

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("transport", self.family.pick(NAMES));
        settings.set("interface", &self.interface);
        settings.set("address", &self.address);
        settings.set("multicast", if self.multicast.is_some() { "on" } else { "off" });
        Ok(())
    }

    fn open_writer(&self, config: WriterConfig<'_>) -> Result<UdpWriter> {
        UdpWriter::open(self.socket()?, self.family, self.packing, &config)
    }

    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<UdpReader> {
        reader::open(self.reader_socket(config.topic)?, self.family, self.packing, config)
    }
}

driver_kit::export!(Udp);

#[cfg(test)]
mod hot_path_tests;
