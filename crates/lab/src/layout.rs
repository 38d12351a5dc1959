//! Names and addresses of a lab, and the commands that create it. Pure.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use experiment::LabSpec;

use crate::host::Host;

/// Interface of each host.
pub(crate) const INTERFACE: &str = "eth0";
/// Bridge in the namespace of the switch.
pub(crate) const BRIDGE: &str = "bridge";
/// Directory with a directory for each lab.
pub(crate) const DIRECTORY: &str = "/run/ddsmark/labs";
/// Directory with the named network namespaces, as `ip netns` manages them.
pub(crate) const NAMESPACES: &str = "/run/netns";

/// Returns whether a name may be that of a lab. It has no dot, which separates it from the name of a host.
pub(crate) fn is_valid_name(name: &str) -> bool {
    let may_be = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    name.len() <= 32 && name.bytes().all(may_be) && name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns the directory of a lab.
pub(crate) fn directory(lab: &str) -> PathBuf {
    Path::new(DIRECTORY).join(lab)
}

/// Returns the directory with the files of `/etc` that a host has for itself: `hosts` and `machine-id`.
pub(crate) fn files_of(host: &Host) -> PathBuf {
    directory(host.lab()).join(&host.name)
}

/// Returns the directory whose files `ip netns exec` shows in `/etc`.
pub(crate) fn files_of_ip(host: &Host) -> PathBuf {
    Path::new("/etc/netns").join(&host.namespace)
}

/// Returns the namespace of the switch of a lab.
pub(crate) fn switch_namespace(lab: &str) -> String {
    format!("{lab}.switch")
}

/// Returns the hosts of a lab.
pub(crate) fn hosts(lab: &str, spec: &LabSpec) -> Vec<Host> {
    let host = |number: u32| Host {
        name: format!("h{number}"),
        namespace: format!("{lab}.h{number}"),
        address: Ipv4Addr::from_bits(Ipv4Addr::new(10, 77, 0, 0).to_bits() + number),
        interface: INTERFACE.to_owned(),
        mtu_bytes: spec.link.mtu_bytes,
    };
    (1..=spec.hosts).map(host).collect()
}

/// Returns the port of the switch to the host at an index.
pub(crate) fn port(index: usize) -> String {
    format!("p{}", index + 1)
}

/// Returns the MAC address of the host at an index: locally administered.
pub(crate) fn mac(index: usize) -> [u8; 6] {
    let [high, low] = u16::try_from(index + 1).expect("a lab has at most 200 hosts").to_be_bytes();
    [0x02, 0x4c, 0x41, 0x42, high, low]
}

/// Formats a MAC address.
pub(crate) fn mac_text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// Returns the file that maps the names of the hosts to their addresses.
pub(crate) fn hosts_file(hosts: &[Host]) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n".to_owned();
    for host in hosts {
        text += &format!("{} {}\n", host.address, host.name);
    }
    text
}

/// Returns the `ip` commands that create the namespaces.
pub(crate) fn create_namespaces(lab: &str, hosts: &[Host]) -> String {
    let switch = switch_namespace(lab);
    let names = hosts.iter().map(|host| host.namespace.as_str()).chain([switch.as_str()]);
    names.fold(String::new(), |text, name| text + &format!("netns add {name}\n"))
}

/// Returns the `ip` commands that create the bridge, in the namespace of the switch.
pub(crate) fn create_bridge(has_ipv6: bool) -> String {
    let quiet = quiet(has_ipv6);
    format!(
        "link set lo up\nlink add {BRIDGE} type bridge mcast_snooping 0 stp_state 0 forward_delay 0\nlink set {BRIDGE}{quiet} up\n"
    )
}

/// Returns the property of an interface without addresses of its own. The ports take frames only, so the switch sends nothing
/// itself.
const fn quiet(has_ipv6: bool) -> &'static str {
    if has_ipv6 { " addrgenmode none" } else { "" }
}

/// Returns the `ip` commands that create the links, in the namespace of the switch. The ports have the MTU of the hosts.
pub(crate) fn create_links(hosts: &[Host], has_ipv6: bool) -> String {
    let (mut text, quiet) = (String::new(), quiet(has_ipv6));
    for (index, host) in hosts.iter().enumerate() {
        let (port, mac, mtu) = (port(index), mac_text(mac(index)), host.mtu_bytes);
        text += &format!(
            "link add {port} mtu {mtu} type veth peer name {INTERFACE} address {mac} mtu {mtu} netns {}\nlink set {port} gso_max_segs 1{quiet}\nlink set {port} up\n",
            host.namespace
        );
    }
    text
}

/// Returns the `ip` commands that configure the interfaces of the host at an index, in its namespace.
pub(crate) fn configure_host(index: usize, host: &Host, has_ipv6: bool) -> String {
    let mut text = format!("link set lo up\nlink set {INTERFACE} gso_max_segs 1\n");
    if has_ipv6 {
        // Addresses of our own are usable at once: there is no detection of duplicates to wait for.
        let number = index + 1;
        text += &format!(
            "link set {INTERFACE} addrgenmode none\naddr add fe80::{number:x}/64 dev {INTERFACE} nodad\naddr add fd77::{number:x}/64 dev {INTERFACE} nodad\n"
        );
    }
    let address = host.address;
    text += &format!(
        "addr add {address}/24 broadcast + dev {INTERFACE}\nlink set {INTERFACE} up\nroute add 224.0.0.0/4 dev {INTERFACE}\n"
    );
    text
}

/// Returns the `ip` commands that attach the ports to the bridge, or detach them from it.
pub(crate) fn attach_ports(hosts: usize, is_attached: bool) -> String {
    let change = if is_attached { format!("master {BRIDGE}") } else { "nomaster".to_owned() };
    (0..hosts).fold(String::new(), |text, index| text + &format!("link set {} {change}\n", port(index)))
}

/// Returns the `bridge` commands that send multicast to some hosts only.
pub(crate) fn flood_members(members: &[bool]) -> String {
    members.iter().enumerate().fold(String::new(), |text, (index, is_member)| {
        let flood = if *is_member { "on" } else { "off" };
        text + &format!("link set dev {} mcast_flood {flood}\n", port(index))
    })
}

/// Returns the `ip` commands that set the MTU of all ports.
pub(crate) fn set_port_mtu(hosts: usize, mtu: u32) -> String {
    (0..hosts).fold(String::new(), |text, index| text + &format!("link set {} mtu {mtu}\n", port(index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_distinct_and_short() {
        let spec: LabSpec = "200".parse().unwrap();
        let hosts = hosts("lab", &spec);
        let last = &hosts[199];
        assert_eq!((last.name.as_str(), last.namespace.as_str()), ("h200", "lab.h200"));
        assert_eq!(last.address.to_string(), "10.77.0.200");
        // The kernel's limit.
        assert!(port(199).len() < 16 && BRIDGE.len() < 16);
        let macs: std::collections::BTreeSet<_> = (0..200).map(mac).collect();
        assert_eq!(macs.len(), 200);
        // Locally administered, unicast.
        assert!(macs.iter().all(|mac| mac[0] & 3 == 2));
    }

    #[test]
    fn names_that_could_be_ambiguous_are_invalid() {
        for name in ["lab", "ddsmark-4194304-0123abcd-1", "a", "lab-2"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "Lab", "lab.h1", "-lab", "2", "../x", "lab/x", "lab lab", &"a".repeat(33), "läb"] {
            assert!(!is_valid_name(name), "{name}");
        }
    }

    #[test]
    fn commands_create_two_hosts() {
        let hosts = hosts("lab", &"2".parse().unwrap());
        assert_eq!(
            create_namespaces("lab", &hosts),
            "netns add lab.h1\nnetns add lab.h2\nnetns add lab.switch\n"
        );
        let links = create_links(&hosts, false);
        assert!(links.contains(
            "link add p2 mtu 1500 type veth peer name eth0 address 02:4c:41:42:00:02 mtu 1500 netns lab.h2\n"
        ));
        assert!(!links.contains("addrgenmode") && create_links(&hosts, true).contains("addrgenmode"));
        assert!(!configure_host(1, &hosts[1], false).contains("::"));
        assert!(configure_host(1, &hosts[1], true).contains("addr add fd77::2/64 dev eth0 nodad\n"));
        assert_eq!(attach_ports(2, true), "link set p1 master bridge\nlink set p2 master bridge\n");
        assert_eq!(attach_ports(1, false), "link set p1 nomaster\n");
        assert_eq!(
            flood_members(&[true, false]),
            "link set dev p1 mcast_flood on\nlink set dev p2 mcast_flood off\n"
        );
        assert_eq!(set_port_mtu(2, 9_000), "link set p1 mtu 9000\nlink set p2 mtu 9000\n");
        assert!(hosts_file(&hosts).ends_with("\n10.77.0.1 h1\n10.77.0.2 h2\n"));
    }
}
