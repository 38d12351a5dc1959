//! Counters of a lab: what happened to the frames.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Counters of all hosts since the lab is up. Differences of two readings belong to the time between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Counters by host, in the order of the hosts.
    pub hosts: Vec<HostCounters>,
}

impl Counters {
    /// Returns the frames that were dropped anywhere, whatever the reason.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        let of_host = |host: &HostCounters| {
            let HostCounters { rate_out, rate_in, switch_out, switch_in, interface, .. } = host;
            host.lost() + rate_out + rate_in + switch_out + switch_in + interface
        };
        self.hosts.iter().map(of_host).sum()
    }
}

/// Counters of a host, in Ethernet frames. A datagram above the MTU is several frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounters {
    /// Name of the host.
    pub host: String,
    /// Frames that left the host.
    pub sent: u64,
    /// Frames that arrived at the host, with those that its loss rule then dropped.
    pub received: u64,
    /// Frames that the host sent and its own send queue dropped, because it was full.
    pub rate_out: u64,
    /// Frames to the host that the port of the switch dropped, because they came faster than the rate of the link.
    pub rate_in: u64,
    /// Frames to the host that its loss rule dropped, by the host that sent them.
    pub lost_from: BTreeMap<String, u64>,
    /// Frames from the host that the userspace switch could not take or keep.
    pub switch_out: u64,
    /// Frames to the host that the userspace switch could not send.
    pub switch_in: u64,
    /// Frames that the interface of the host or its port dropped: longer than the MTU of the host, or the kernel was too busy.
    pub interface: u64,
}

impl HostCounters {
    /// Returns the frames to the host that its loss rule dropped.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost_from.values().sum()
    }
}

/// Frames of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InterfaceCounts {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64()
}

/// Returns the counters of each interface in the output of `ip -s -j link show`.
pub(crate) fn interfaces(text: &str) -> Option<BTreeMap<String, InterfaceCounts>> {
    let list: Value = serde_json::from_str(text).ok()?;
    let interface = |entry: &Value| {
        let (sent, received) = (&entry["stats64"]["tx"], &entry["stats64"]["rx"]);
        let counts = InterfaceCounts {
            sent: number(&sent["packets"])?,
            received: number(&received["packets"])?,
            dropped: number(&sent["dropped"])?,
        };
        Some((entry["ifname"].as_str()?.to_owned(), counts))
    };
    list.as_array()?.iter().map(interface).collect()
}

/// Returns the drops of the rate limit of each device in the output of `tc -s -j qdisc show`.
pub(crate) fn rate_drops(text: &str) -> Option<BTreeMap<String, u64>> {
    let list: Value = serde_json::from_str(text).ok()?;
    // The root counts what the disciplines below it drop, too.
    let is_limit = |entry: &&Value| entry["root"] == true && entry["kind"] != "noqueue";
    let entries = list.as_array()?.iter().filter(is_limit);
    entries.map(|entry| Some((entry["dev"].as_str()?.to_owned(), number(&entry["drops"])?))).collect()
}

/// Returns the frames of each counter in the output of `nft -j list counters`.
pub(crate) fn losses(text: &str) -> Option<BTreeMap<String, u64>> {
    let document: Value = serde_json::from_str(text).ok()?;
    let counters = document["nftables"].as_array()?.iter().filter_map(|entry| entry.get("counter"));
    counters
        .map(|counter| Some((counter["name"].as_str()?.to_owned(), number(&counter["packets"])?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_those_of_the_programs() {
        let ip = r#"[{"ifname":"lo","stats64":{"rx":{"packets":1},"tx":{"packets":1,"dropped":0}}},
            {"ifname":"eth0","stats64":{"rx":{"bytes":9,"packets":7},"tx":{"packets":8,"dropped":2}}}]"#;
        let expected = InterfaceCounts { sent: 8, received: 7, dropped: 2 };
        assert_eq!(interfaces(ip).unwrap()["eth0"], expected);
        let tc = r#"[{"kind":"noqueue","dev":"lo","root":true,"drops":5},{"kind":"netem","dev":"p1","root":true,"drops":4},
            {"kind":"tbf","dev":"p1","parent":"1:1","options":{},"drops":3,"qlen":0}]"#;
        assert_eq!(rate_drops(tc).unwrap(), BTreeMap::from([("p1".to_owned(), 4)]));
        let nft = r#"{"nftables":[{"metainfo":{"version":"1"}},
            {"counter":{"family":"netdev","name":"from_h2","table":"ddsmark","packets":4,"bytes":9}}]}"#;
        assert_eq!(losses(nft).unwrap(), BTreeMap::from([("from_h2".to_owned(), 4)]));
    }

    #[test]
    fn drops_of_all_kinds_and_hosts_add_up() {
        let host = HostCounters {
            host: "h1".to_owned(),
            sent: 1_000_000,
            received: 1_000_000,
            rate_out: 1,
            rate_in: 10,
            lost_from: BTreeMap::from([("h2".to_owned(), 100), ("h3".to_owned(), 200)]),
            switch_out: 1_000,
            switch_in: 10_000,
            interface: 100_000,
        };
        let counters = Counters { hosts: vec![host.clone(), host, HostCounters::default()] };
        assert_eq!(counters.dropped(), 222_622);
    }

    #[test]
    fn incomplete_output_is_no_counter() {
        for text in ["", "{}", r#"[{"ifname":"eth0"}]"#, r#"[{"kind":"tbf","dev":"p1","root":true}]"#] {
            assert!(interfaces(text).is_none() || rate_drops(text).is_none(), "{text}");
        }
        assert_eq!((losses("{}"), losses(r#"{"nftables":[{"counter":{"name":"a"}}]}"#)), (None, None));
    }
}
