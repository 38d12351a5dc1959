//! Network counters of the kernel.

use std::{collections::BTreeMap, fs};

use results::{Interface, MulticastSent, Sockets};

use crate::base::udp_sockets::udp_drops;

/// Snapshot of the kernel's network counters. Reading it takes long: never read while traffic flows.
#[derive(Clone, Debug)]
pub struct Counters {
    sockets: Option<Sockets>,
    /// Datagrams dropped at each socket of this process, by its inode.
    drops: Option<BTreeMap<u64, u64>>,
    interface: Option<Interface>,
}

impl Counters {
    /// Reads the counters now.
    #[must_use]
    pub fn read(interface: &str) -> Self {
        Self { sockets: sockets(), drops: udp_drops(), interface: interface_counters(interface) }
    }

    /// Returns the increments from this snapshot to a later one; 0 for a counter that the kernel has reset.
    #[must_use]
    pub fn until(&self, later: &Self) -> (Option<Sockets>, Option<Interface>) {
        let own_drops = self.drops.as_ref().zip(later.drops.as_ref()).map(|(a, b)| {
            // A socket that was opened in between has dropped nothing before.
            let added =
                |(inode, drops): (&u64, &u64)| drops.saturating_sub(a.get(inode).copied().unwrap_or(0));
            b.iter().map(added).sum()
        });
        let sockets = self.sockets.as_ref().zip(later.sockets.as_ref()).map(|(a, b)| Sockets {
            own_drops,
            multicast: a.multicast.as_ref().zip(b.multicast.as_ref()).map(|(a, b)| b.since(a)),
            ..b.since(a)
        });
        let interface = self.interface.as_ref().zip(later.interface.as_ref()).map(|(a, b)| b.since(a));
        (sockets, interface)
    }
}

/// Reads the UDP counters of this network namespace, summed over IPv4 and IPv6.
fn sockets() -> Option<Sockets> {
    let four = fs::read_to_string("/proc/self/net/snmp").ok()?;
    let mut sockets = udp4(&four)?;
    sockets.multicast = fs::read_to_string("/proc/self/net/netstat").ok().and_then(|text| multicast4(&text));
    if let Ok(six) = fs::read_to_string("/proc/self/net/snmp6") {
        let value = |name: &str| {
            six.lines()
                .filter_map(|line| line.split_once(char::is_whitespace))
                .find(|(key, _)| *key == name)
                .and_then(|(_, value)| value.trim().parse::<u64>().ok())
                .unwrap_or(0)
        };
        sockets.in_datagrams += value("Udp6InDatagrams");
        sockets.in_errors += value("Udp6InErrors");
        sockets.receive_buffer_errors += value("Udp6RcvbufErrors");
        sockets.send_buffer_errors += value("Udp6SndbufErrors");
        if let Some(multicast) = &mut sockets.multicast {
            multicast.packets += value("Ip6OutMcastPkts");
            multicast.bytes += value("Ip6OutMcastOctets");
        }
    }
    Some(sockets)
}

/// Returns a value from the two lines with this prefix, in files such as `/proc/self/net/snmp`: names, then values.
fn named(text: &str, beginning: &str, wanted: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(beginning));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut columns = names.split_whitespace().zip(values.split_whitespace());
    columns.find(|(name, _)| *name == wanted)?.1.parse().ok()
}

/// Parses the multicast counters of `/proc/self/net/netstat`.
fn multicast4(text: &str) -> Option<MulticastSent> {
    let value = |wanted: &str| named(text, "IpExt:", wanted);
    Some(MulticastSent { packets: value("OutMcastPkts")?, bytes: value("OutMcastOctets")? })
}

/// Parses the UDP counters of `/proc/self/net/snmp`.
fn udp4(text: &str) -> Option<Sockets> {
    let value = |wanted: &str| named(text, "Udp:", wanted);
    Some(Sockets {
        in_datagrams: value("InDatagrams")?,
        in_errors: value("InErrors")?,
        receive_buffer_errors: value("RcvbufErrors")?,
        own_drops: None,
        send_buffer_errors: value("SndbufErrors")?,
        multicast: None,
    })
}

/// Reads the counters of an interface in the network namespace of this process, which `/sys` may not be of. Returns `None` if the
/// kernel does not report them.
#[must_use]
pub fn interface_counters(interface: &str) -> Option<Interface> {
    device(&fs::read_to_string("/proc/self/net/dev").ok()?, interface)
}

/// Parses the line of an interface in `/proc/self/net/dev`: bytes and packets are the first two of 8 columns each.
fn device(text: &str, interface: &str) -> Option<Interface> {
    let columns = text.lines().find_map(|line| {
        let (name, columns) = line.split_once(':')?;
        (name.trim() == interface).then_some(columns)
    })?;
    let columns: Vec<u64> = columns.split_whitespace().map_while(|column| column.parse().ok()).collect();
    Some(Interface {
        name: interface.to_owned(),
        rx_bytes: *columns.first()?,
        rx_packets: *columns.get(1)?,
        tx_bytes: *columns.get(8)?,
        tx_packets: *columns.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn udp_counters_are_found_by_name() {
        let text =
            "Ip: A B\nIp: 1 2\nUdp: InErrors RcvbufErrors InDatagrams X SndbufErrors\nUdp: 1 2 3 4 5\n";
        let expected = Sockets {
            in_datagrams: 3,
            in_errors: 1,
            receive_buffer_errors: 2,
            own_drops: None,
            send_buffer_errors: 5,
            multicast: None,
        };
        assert_eq!(udp4(text), Some(expected));
        assert_eq!(udp4("Udp: InErrors\n"), None);
        let text =
            "TcpExt: OutMcastPkts\nTcpExt: 9\nIpExt: OutMcastOctets InMcastPkts OutMcastPkts\nIpExt: 1 2 3\n";
        assert_eq!(multicast4(text), Some(MulticastSent { packets: 3, bytes: 1 }));
        assert_eq!(multicast4("IpExt: OutMcastOctets\nIpExt: 1\n"), None);
    }

    #[test]
    fn drops_are_those_of_the_sockets_of_this_process() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let before = Counters::read("lo");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let at = receiver.local_addr().expect("an address");
        // Far more than a receive buffer of the default size holds.
        for _ in 0..2_000 {
            sender.send_to(&[0; 8_192], at).expect("sent");
        }
        let (sockets, _) = before.until(&Counters::read("lo"));
        let sockets = sockets.expect("the kernel counts");
        let own = sockets.own_drops.expect("the kernel lists sockets");
        assert!(own > 0 && own <= sockets.receive_buffer_errors, "{sockets:?}");
        // Nothing more is dropped, whatever other programs do.
        let before = Counters::read("lo");
        assert_eq!(before.until(&Counters::read("lo")).0.and_then(|sockets| sockets.own_drops), Some(0));
    }

    #[test]
    fn counters_of_an_interface_are_found_by_its_name() {
        let text = "Inter-|   Receive                            |  Transmit\n\
                     face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs\n\
                    lo: 11 2 0 0 0 0 0 0 13 4 0 0 0 0 0 0\n  eth0:21 22 0 0 0 0 0 0 23 24 0 0 0 0 0 0\n";
        let eth0 = device(text, "eth0").expect("an interface");
        assert_eq!((eth0.rx_bytes, eth0.rx_packets, eth0.tx_bytes, eth0.tx_packets), (21, 22, 23, 24));
        assert_eq!(device(text, "lo").expect("an interface").tx_packets, 4);
        assert_eq!((device(text, "eth"), device("lo: 1 2\n", "lo")), (None, None));
    }

    #[test]
    fn an_unknown_interface_has_no_counters() {
        assert_eq!(Counters::read("no-such-interface").interface, None);
    }
}
