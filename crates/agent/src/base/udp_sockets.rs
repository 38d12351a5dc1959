//! UDP ports on which this process receives.

use std::{collections::BTreeSet, fs, path::Path};

/// Returns the UDP ports of the open sockets of this process, as far as the kernel lists them.
pub fn udp_ports() -> BTreeSet<u16> {
    let own = own_sockets();
    let tables = ["/proc/self/net/udp", "/proc/self/net/udp6"];
    tables
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|text| ports(&text, &own))
        .collect()
}

/// Returns the inodes of the sockets of this process.
fn own_sockets() -> BTreeSet<u64> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return BTreeSet::new() };
    let inode = |link: &Path| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    entries.flatten().filter_map(|entry| inode(&fs::read_link(entry.path()).ok()?)).collect()
}

/// Returns the local ports of the sockets with these inodes in a table of the kernel.
fn ports(table: &str, inodes: &BTreeSet<u64>) -> Vec<u16> {
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, inode) = (fields.get(1)?, fields.get(9)?.parse().ok()?);
        let (_, port) = local.rsplit_once(':')?;
        inodes.contains(&inode).then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).filter(|port| *port > 0).collect()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn ports_are_those_of_open_sockets_of_this_process() {
        // A host may lack IPv6.
        let sockets: Vec<UdpSocket> = ["127.0.0.1:0", "127.0.0.1:0", "[::1]:0"]
            .into_iter()
            .filter_map(|at| UdpSocket::bind(at).ok())
            .collect();
        let port = |socket: &UdpSocket| socket.local_addr().expect("an address").port();
        let own: Vec<u16> = sockets.iter().map(port).collect();
        assert!(own.len() > 1 && own.iter().all(|port| udp_ports().contains(port)), "{own:?}");
        drop(sockets);
        assert!(own.iter().any(|port| !udp_ports().contains(port)), "{own:?}");
    }

    #[test]
    fn sockets_of_other_processes_do_not_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
                     1: 0100007F:1CF2 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 71 2 0 0\n\
                     2: 00000000:1CE8 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 72 2 0 0\n";
        assert_eq!(ports(table, &BTreeSet::from([71])), [7410]);
        assert_eq!(ports("no table", &BTreeSet::from([71])), [0; 0]);
    }
}
