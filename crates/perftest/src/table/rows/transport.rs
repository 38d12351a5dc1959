//! Options of the network.

use crate::table::row::{Kind, Need, OptionRow, flag, key, number, option, plain};

/// Reason for settings of transports that no driver has.
const NO_TRANSPORT: (&str, &str) =
    ("it is a setting of a transport that no driver has", "use `-transport` UDPv4, UDPv6, SHMEM or TCP");

pub(super) const ROWS: &[OptionRow] = &[
    option("nic", Kind::Text("name or address"), "Network interface.")
        .both(plain(""))
        .aliases(&["allowInterfaces"])
        .keys(&[key("interface")])
        .does("the only network interface; a name or an address of this host"),
    option("peer", Kind::Peer, "Address of a host of the other side.")
        .v4_3(plain(""))
        .repeats()
        .instead("leave it out: discovery uses multicast")
        .does(
            "host to find the other side on; with `-rawTransport` by default the address of `-nic`, or \
             127.0.0.1",
        ),
    option(
        "transport",
        Kind::Choice(&["UDPv4", "UDPv6", "SHMEM", "TCP", "TLS", "DTLS", "WAN", "UDPv4_WAN"]),
        "Transport.",
    )
    .v4_3(plain(""))
    .needs(Need::Transport)
    .instead("use `-enableSharedMemory` or `-enableTcpOnly`")
    .does("the only transport; TLS, DTLS and WAN are rejected, because no driver has them"),
    flag("enableSharedMemory", "Use shared memory only.")
        .v5_1(plain(""))
        .keys(&[key("enable shared memory")])
        .needs(Need::Transport)
        .instead("use `-transport SHMEM`")
        .does("shared memory is the only transport"),
    flag("enableTcpOnly", "Use TCP only.")
        .v5_1(plain(""))
        .keys(&[key("enable tcp only")])
        .needs(Need::Transport)
        .instead("use `-transport TCP`")
        .does("TCP is the only transport"),
    flag("multicast", "Send data by multicast.")
        .both(plain(""))
        .keys(&[key("is multicast")])
        .needs(Need::Multicast)
        .agrees()
        .does("data by multicast, to a group that the driver chooses"),
    flag("nomulticast", "Send data by unicast.")
        .v5_1(plain(""))
        .instead("leave it out: this is the default")
        .does("data by unicast, as by default"),
    option("multicastAddress", Kind::Text("address"), "Group of the data.")
        .both(plain(""))
        .rejected(("drivers choose the group from the domain", "use `-multicast`")),
    flag("rawTransport", "Use bare sockets, without a middleware.")
        .v4_3(plain(""))
        .aliases(&["raw"])
        .needs(Need::Sockets)
        .does(
            "bare sockets without discovery and repetition, or shared memory with `-transport SHMEM`: the \
             drivers of ddsmark for them",
        ),
    flag("noBlockingSockets", "Never wait for a socket.")
        .v4_3(plain(""))
        .rejected(("a bare socket of ddsmark waits for room", "leave it out")),
    option("messageSizeMax", Kind::Integer("bytes"), "Largest message of a transport.")
        .v4_3(number("", 0, 2_147_482_620))
        .rejected((
            "each middleware has a setting of its own",
            "set it in the configuration of the middleware",
        )),
    option("transportVerbosity", Kind::Integer("level"), "Log level of a transport.")
        .v4_3(number("0", 0, i64::MAX))
        .rejected(("no driver has one", "set it in the configuration of the middleware")),
    option("transportServerBindPort", Kind::Integer("port"), "Port of a TCP server.")
        .v4_3(number("7400", 0, 65_535))
        .rejected(("drivers choose their ports from the domain", "leave it out, or use another `-domain`")),
    flag("transportWan", "TCP across a WAN.").v4_3(plain("")).rejected(NO_TRANSPORT),
    option("transportPublicAddress", Kind::Text("address"), "Public address of a TCP server.")
        .v4_3(plain(""))
        .rejected(NO_TRANSPORT),
    option("transportHostPort", Kind::Integer("port"), "Port of a host behind a router.")
        .v4_3(number("", 0, 65_535))
        .rejected(NO_TRANSPORT),
    option("transportWanServerAddress", Kind::Text("address"), "Address of a WAN server.")
        .v4_3(plain(""))
        .rejected(NO_TRANSPORT),
    option("transportWanServerPort", Kind::Integer("port"), "Port of a WAN server.")
        .v4_3(number("3478", 0, 65_535))
        .rejected(NO_TRANSPORT),
    option("transportWanId", Kind::Integer("id"), "Id in a WAN.")
        .v4_3(number("", 0, i64::MAX))
        .rejected(NO_TRANSPORT),
    flag("transportSecureWan", "DTLS across a WAN.").v4_3(plain("")).rejected(NO_TRANSPORT),
    option("transportCertAuthority", Kind::Text("file"), "Certificate authority of TLS.")
        .v4_3(plain(""))
        .rejected(NO_TRANSPORT),
    option("transportCertFile", Kind::Text("file"), "Certificate of TLS.")
        .v4_3(plain(""))
        .rejected(NO_TRANSPORT),
    option("transportPrivateKey", Kind::Text("file"), "Private key of TLS.")
        .v4_3(plain(""))
        .rejected(NO_TRANSPORT),
];
