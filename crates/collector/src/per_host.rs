//! Values that the agents of a run read of their host, such as counters of its kernel: one value for each host, then the sum over the
//! hosts.

use std::collections::BTreeMap;

use results::Interface;

/// Values of hosts by name.
pub(crate) type PerHost<'r, T> = BTreeMap<&'r str, T>;

/// Returns the value of each host: of several agents of a host, each reads counters of the whole host over its own time, and the
/// one that is largest by `key` contains the others.
pub(crate) fn largest_per_host<'r, T, K: Ord>(
    read: impl Iterator<Item = (&'r str, T)>,
    key: impl Fn(&T) -> K,
) -> PerHost<'r, T> {
    let mut by_host: PerHost<'r, T> = BTreeMap::new();
    for (host, value) in read {
        match by_host.get(host) {
            Some(most) if key(most) >= key(&value) => {}
            _ => {
                by_host.insert(host, value);
            }
        }
    }
    by_host
}

/// Returns the sum of the counters of all hosts, with the names of their interfaces; `None` without hosts.
pub(crate) fn sum_of_interfaces<'i>(of_hosts: impl Iterator<Item = &'i Interface>) -> Option<Interface> {
    let all: Vec<&Interface> = of_hosts.collect();
    let mut names: Vec<&str> = all.iter().map(|interface| interface.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    (!all.is_empty()).then(|| Interface { name: names.join(", "), ..Interface::sum(all) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_a_host_count_its_traffic_once_and_hosts_add_up() {
        let counters = |name: &str, rx_bytes| Interface {
            name: name.to_owned(),
            rx_bytes,
            tx_packets: 2 * rx_bytes,
            ..Interface::default()
        };
        let [less, most, other] = [counters("eth0", 900), counters("eth0", 1_000), counters("eth1", 700)];
        let read = [("h1", &less), ("h1", &most), ("h2", &other)];
        let by_host = largest_per_host(read.into_iter(), |interface| interface.rx_bytes);
        assert_eq!(by_host, [("h1", &most), ("h2", &other)].into());
        let all = sum_of_interfaces(by_host.into_values()).expect("hosts");
        assert_eq!((all.name.as_str(), all.rx_bytes, all.tx_packets), ("eth0, eth1", 1_700, 3_400));
        assert_eq!(sum_of_interfaces(std::iter::empty()), None);
    }
}
