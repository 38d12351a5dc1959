//! UDP sockets of this process: the ports on which it receives, and what the kernel dropped there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read as _,
    path::Path,
};

/// Columns of a table: `tx_queue` and `rx_queue` are one field, as are `tr` and `tm->when`.
const INODE: usize = 9;
const DROPS: usize = 12;
/// Bytes of a table of 2,000 sockets.
const TABLE_BYTES: usize = 256 * 1024;
const TABLES: [&str; 2] = ["/proc/self/net/udp", "/proc/self/net/udp6"];

/// Returns the UDP ports of the open sockets of this process, as far as the kernel lists them.
pub fn udp_ports() -> BTreeSet<u16> {
    let own = own_sockets().unwrap_or_default();
    TABLES.iter().filter_map(|table| read(table)).flat_map(|text| ports(&text, &own)).collect()
}

/// Returns the datagrams that the kernel dropped at each UDP socket of this process since the socket was opened, by its inode;
/// `None` if the kernel does not list sockets. A host may lack IPv6.
pub fn udp_drops() -> Option<BTreeMap<u64, u64>> {
    let own = own_sockets()?;
    let four = read(TABLES[0])?;
    let six = read(TABLES[1]).unwrap_or_default();
    Some(drops(&four, &own).chain(drops(&six, &own)).collect())
}

/// Reads a table of the kernel, which has no size. One allocation is enough for the tables of most hosts.
fn read(table: &str) -> Option<String> {
    let mut text = String::with_capacity(TABLE_BYTES);
    fs::File::open(table).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the inodes of the sockets of this process.
fn own_sockets() -> Option<BTreeSet<u64>> {
    let entries = fs::read_dir("/proc/self/fd").ok()?;
    let inode = |link: &Path| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    Some(entries.flatten().filter_map(|entry| inode(&fs::read_link(entry.path()).ok()?)).collect())
}

/// Returns the drops of the sockets with these inodes in a table of the kernel.
fn drops<'t>(table: &'t str, inodes: &'t BTreeSet<u64>) -> impl Iterator<Item = (u64, u64)> + 't {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_whitespace();
        let inode = fields.nth(INODE)?.parse().ok()?;
        let drops = fields.nth(DROPS - INODE - 1)?.parse().ok()?;
        inodes.contains(&inode).then_some((inode, drops))
    })
}

/// Returns the local ports of the sockets with these inodes in a table of the kernel.
fn ports(table: &str, inodes: &BTreeSet<u64>) -> Vec<u16> {
    let port = |line: &str| {
        let mut fields = line.split_whitespace();
        let local = fields.nth(1)?;
        let inode = fields.nth(INODE - 2)?.parse().ok()?;
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
                     1: 0100007F:1CF2 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 71 2 0 5\n\
                     2: 00000000:1CE8 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 72 2 0 0\n";
        assert_eq!(ports(table, &BTreeSet::from([71])), [7410]);
        assert_eq!(drops(table, &BTreeSet::from([71])).collect::<Vec<_>>(), [(71, 5)]);
        assert_eq!(drops("no table\nx", &BTreeSet::from([71])).count(), 0);
        assert_eq!(ports("no table", &BTreeSet::from([71])), [0; 0]);
    }
}
