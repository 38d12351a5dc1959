//! Payload of a system that has to cross the links of its hosts, and what these can carry.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Design, Endpoint, Factors, Load, RunTopology, full_frames_ceiling};

use super::link_ceiling::{EndpointLink, link};
use crate::schema::host::HostRecord;

/// Payload on one direction of the link of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkLoad {
    /// Host.
    pub host: String,
    /// Whether the payload leaves the host; otherwise it arrives.
    pub leaves: bool,
    /// Payload that has to cross the link, in bit/s: each sample once for each other host that has a reader of it, or once with
    /// multicast.
    pub bit_per_s: f64,
    /// Rate of the link, in bit/s.
    pub link_bit_per_s: f64,
    /// Payload that any middleware can send over it, in bit/s: in full frames, without headers of its own.
    pub ceiling_bit_per_s: f64,
}

impl LinkLoad {
    /// Returns the load of a paced cell that uses the largest share of a link; `None` if no sample crosses a link of a known rate.
    #[must_use]
    pub fn heaviest(factors: &Factors, design: &Design, hosts: &[HostRecord]) -> Option<Self> {
        let endpoints = RunTopology::of(factors, design).endpoints;
        let mut crossing: BTreeMap<(&str, bool), f64> = BTreeMap::new();
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.role.drives()) {
            for writer in &endpoint.writers {
                let stream = &writer.stream;
                let sps = stream.load.as_ref().and_then(Load::mean_sps).unwrap_or(0.0);
                let bits = sps * stream.flow_sizes().mean_bytes() * 8.0;
                let reads = |other: &&Endpoint| {
                    other.readers.iter().any(|reader| reader.topic == writer.topic)
                        && other.place.host != endpoint.place.host
                };
                let remote: BTreeSet<&str> =
                    endpoints.iter().filter(reads).map(|other| other.place.host.as_str()).collect();
                let copies = if factors.multicast { remote.len().min(1) } else { remote.len() };
                if copies > 0 {
                    *crossing.entry((endpoint.place.host.as_str(), true)).or_default() +=
                        bits * copies as f64;
                }
                for host in remote {
                    *crossing.entry((host, false)).or_default() += bits;
                }
            }
        }
        let loads = crossing.into_iter().filter_map(|((name, leaves), bit_per_s)| {
            let endpoint = endpoints.iter().find(|endpoint| endpoint.place.host == name)?;
            let EndpointLink { bit_per_s: link, mtu_bytes } = link(endpoint, factors, hosts)?;
            let link_bit_per_s = link as f64;
            let ceiling_bit_per_s = full_frames_ceiling(link_bit_per_s, u32::try_from(mtu_bytes).ok()?);
            Some(Self { host: name.to_owned(), leaves, bit_per_s, link_bit_per_s, ceiling_bit_per_s })
        });
        loads.max_by(|left, right| left.share().total_cmp(&right.share()))
    }

    /// Returns the payload as a share of what the link can carry: no middleware carries more than 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.bit_per_s / self.ceiling_bit_per_s
    }
}

#[cfg(test)]
mod tests {
    use experiment::{
        Flow, HostSpec, LinkSpec, PlannedHost, Rate, SizeDistribution, Sizes, Topology, Workload,
    };

    use super::*;
    use crate::schema::{Environment, host::Host};

    fn hosts(names: &[&str]) -> Vec<HostRecord> {
        let host = |name: &&str| HostRecord {
            name: (*name).to_owned(),
            at: HostSpec::parse("lab:3").expect("a lab"),
            machine_of: None,
            interface: Some("eth0".to_owned()),
            properties: Host { mtu_bytes: [("eth0".to_owned(), 1_500)].into(), ..Host::default() },
            environment: Environment::default(),
        };
        names.iter().map(host).collect()
    }

    fn heaviest(link: &str, rate: u64, readers: u16, multicast: bool) -> Option<LinkLoad> {
        let load = Load::Constant { rate: Rate::per_second(rate) };
        heaviest_of(Flow::new("camera", 125_000, load), link, readers, multicast)
    }

    fn heaviest_of(flow: Flow, link: &str, readers: u16, multicast: bool) -> Option<LinkLoad> {
        let names = ["h1", "h2", "h3"];
        let hosts = hosts(&names[..=usize::from(readers)]);
        let planned =
            hosts.iter().map(|host| PlannedHost::new(&host.name, host.at.clone(), host.interface.clone()));
        let design = Design { hosts: planned.collect(), ..Design::default() };
        let factors = Factors {
            workload: Workload::Paced,
            interface: "auto".to_owned(),
            topology: Topology::Mesh { writers: 1, readers },
            flows: vec![flow],
            link: Some(link.parse::<LinkSpec>().expect("a link")),
            multicast,
            ..Factors::default()
        };
        LinkLoad::heaviest(&factors, &design, &hosts)
    }

    #[test]
    fn load_of_a_link_is_exact_on_both_sides_of_its_rate() {
        // 1 Mbit each; 1,480 of 1,538 bytes of a full frame are payload: 96.2 of 100 Mbit/s.
        let within = heaviest("rate=100mbit", 96, 1, false).expect("a link");
        assert!(within.share() < 1.0 && (within.bit_per_s - 96e6).abs() < 1.0, "{within:?}");
        let beyond = heaviest("rate=100mbit", 97, 1, false).expect("a link");
        assert!(beyond.share() > 1.0 && (beyond.link_bit_per_s - 1e8).abs() < 1.0, "{beyond:?}");
        assert_eq!(heaviest("delay=1ms", 97, 1, false), None, "a link without a rate");
    }

    #[test]
    fn link_carries_the_mean_of_different_sizes() {
        let distribution = SizeDistribution::Values { values: vec![25_000, 125_000], weights: vec![4, 1] };
        let load = Load::Constant { rate: Rate::per_second(100) };
        let flow =
            Flow { sizes: Some(Sizes { distribution, seed: 0 }), ..Flow::new("camera", 125_000, load) };
        let found = heaviest_of(flow, "rate=100mbit", 1, false).expect("a link");
        assert!((found.bit_per_s - 36e6).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn each_other_host_gets_a_copy_unless_it_is_multicast() {
        let unicast = heaviest("rate=100mbit", 50, 2, false).expect("a link");
        assert_eq!((unicast.host.as_str(), unicast.leaves), ("h1", true));
        assert!((unicast.bit_per_s - 1e8).abs() < 1.0, "{unicast:?}");
        let multicast = heaviest("rate=100mbit", 50, 2, true).expect("a link");
        assert!((multicast.bit_per_s - 5e7).abs() < 1.0, "{multicast:?}");
    }
}
