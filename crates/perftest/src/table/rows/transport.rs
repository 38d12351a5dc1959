//! Options of the network.

use crate::table::row::{Honouring, Kind, Need, OptionRow, ROW, key, number, plain};

use super::rejected;

/// Reason for settings of transports that no driver has.
const NO_TRANSPORT: (&str, &str) =
    ("it is a setting of a transport that no driver has", "use `-transport` UDPv4, UDPv6, SHMEM or TCP");

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "nic",
        aliases: &["allowInterfaces"],
        kind: Kind::Text("name or address"),
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[key("interface")],
        honouring: Honouring::Honoured("the only network interface; a name or an address of this host"),
        about: "Network interface.",
        ..ROW
    },
    OptionRow {
        name: "peer",
        kind: Kind::Peer,
        v4_3: Some(plain("")),
        repeats: true,
        honouring: Honouring::Honoured(
            "host to find the other side on; with `-rawTransport` by default the address of `-nic`, or 127.0.0.1",
        ),
        about: "Address of a host of the other side.",
        instead: "leave it out: discovery uses multicast",
        ..ROW
    },
    OptionRow {
        name: "transport",
        kind: Kind::Choice(&["UDPv4", "UDPv6", "SHMEM", "TCP", "TLS", "DTLS", "WAN", "UDPv4_WAN"]),
        v4_3: Some(plain("")),
        needs: Need::Transport,
        honouring: Honouring::Honoured(
            "the only transport; TLS, DTLS and WAN are rejected, because no driver has them",
        ),
        about: "Transport.",
        instead: "use `-enableSharedMemory` or `-enableTcpOnly`",
        ..ROW
    },
    OptionRow {
        name: "enableSharedMemory",
        v5_1: Some(plain("")),
        ini: &[key("enable shared memory")],
        needs: Need::Transport,
        honouring: Honouring::Honoured("shared memory is the only transport"),
        about: "Use shared memory only.",
        instead: "use `-transport SHMEM`",
        ..ROW
    },
    OptionRow {
        name: "enableTcpOnly",
        v5_1: Some(plain("")),
        ini: &[key("enable tcp only")],
        needs: Need::Transport,
        honouring: Honouring::Honoured("TCP is the only transport"),
        about: "Use TCP only.",
        instead: "use `-transport TCP`",
        ..ROW
    },
    OptionRow {
        name: "multicast",
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        ini: &[key("is multicast")],
        needs: Need::Multicast,
        agrees: true,
        honouring: Honouring::Honoured("data by multicast, to a group that the driver chooses"),
        about: "Send data by multicast.",
        ..ROW
    },
    OptionRow {
        name: "nomulticast",
        v5_1: Some(plain("")),
        honouring: Honouring::Honoured("data by unicast, as by default"),
        about: "Send data by unicast.",
        instead: "leave it out: this is the default",
        ..ROW
    },
    OptionRow {
        name: "multicastAddress",
        kind: Kind::Text("address"),
        v5_1: Some(plain("")),
        v4_3: Some(plain("")),
        honouring: Honouring::Rejected {
            reason: "drivers choose the group from the domain",
            instead: "use `-multicast`",
        },
        about: "Group of the data.",
        ..ROW
    },
    OptionRow {
        name: "rawTransport",
        aliases: &["raw"],
        v4_3: Some(plain("")),
        needs: Need::Sockets,
        honouring: Honouring::Honoured(
            "bare sockets without discovery and repetition, or shared memory with `-transport SHMEM`: the drivers of ddsmark for them",
        ),
        about: "Use bare sockets, without a middleware.",
        ..ROW
    },
    rejected(
        "noBlockingSockets",
        Kind::Flag,
        plain(""),
        "Never wait for a socket.",
        ("a bare socket of ddsmark waits for room", "leave it out"),
    ),
    rejected(
        "messageSizeMax",
        Kind::Integer("bytes"),
        number("", 0, 2_147_482_620),
        "Largest message of a transport.",
        ("each middleware has a setting of its own", "set it in the configuration of the middleware"),
    ),
    rejected(
        "transportVerbosity",
        Kind::Integer("level"),
        number("0", 0, i64::MAX),
        "Log level of a transport.",
        ("no driver has one", "set it in the configuration of the middleware"),
    ),
    rejected(
        "transportServerBindPort",
        Kind::Integer("port"),
        number("7400", 0, 65_535),
        "Port of a TCP server.",
        ("drivers choose their ports from the domain", "leave it out, or use another `-domain`"),
    ),
    rejected("transportWan", Kind::Flag, plain(""), "TCP across a WAN.", NO_TRANSPORT),
    rejected(
        "transportPublicAddress",
        Kind::Text("address"),
        plain(""),
        "Public address of a TCP server.",
        NO_TRANSPORT,
    ),
    rejected(
        "transportHostPort",
        Kind::Integer("port"),
        number("", 0, 65_535),
        "Port of a host behind a router.",
        NO_TRANSPORT,
    ),
    rejected(
        "transportWanServerAddress",
        Kind::Text("address"),
        plain(""),
        "Address of a WAN server.",
        NO_TRANSPORT,
    ),
    rejected(
        "transportWanServerPort",
        Kind::Integer("port"),
        number("3478", 0, 65_535),
        "Port of a WAN server.",
        NO_TRANSPORT,
    ),
    rejected("transportWanId", Kind::Integer("id"), number("", 0, i64::MAX), "Id in a WAN.", NO_TRANSPORT),
    rejected("transportSecureWan", Kind::Flag, plain(""), "DTLS across a WAN.", NO_TRANSPORT),
    rejected(
        "transportCertAuthority",
        Kind::Text("file"),
        plain(""),
        "Certificate authority of TLS.",
        NO_TRANSPORT,
    ),
    rejected("transportCertFile", Kind::Text("file"), plain(""), "Certificate of TLS.", NO_TRANSPORT),
    rejected("transportPrivateKey", Kind::Text("file"), plain(""), "Private key of TLS.", NO_TRANSPORT),
];
