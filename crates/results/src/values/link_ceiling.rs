//! Goodput that the links between the hosts of a cell can carry.

use experiment::{Design, Endpoint, Factors, Role, RunTopology, Workload, goodput_ceiling};

use crate::schema::{LinkCeiling, host::HostRecord};

/// Transport whose headers are known: UDP over IPv4.
const TRANSPORT: &str = "udp4";

/// Link of an endpoint.
pub(super) struct EndpointLink {
    pub(super) bit_per_s: u64,
    pub(super) mtu_bytes: u64,
}

impl LinkCeiling {
    /// Returns the ceiling of a cell. `None` if a link has no known rate, if two endpoints share a host, if the headers of the
    /// transport are not known, or for several writers with several readers.
    #[must_use]
    pub fn of_cell(factors: &Factors, design: &Design, hosts: &[HostRecord]) -> Option<Self> {
        let is_stream = factors.workload == Workload::Throughput && factors.flows.is_empty();
        if !is_stream || factors.transport != TRANSPORT {
            return None;
        }
        let run_topology = RunTopology::of(factors, design);
        if run_topology.hosts().len() < run_topology.endpoints.len() {
            return None;
        }
        let links = |role: Role| -> Option<Vec<EndpointLink>> {
            let of_role = run_topology.endpoints.iter().filter(|endpoint| endpoint.role == role);
            of_role.map(|endpoint| link(endpoint, factors, hosts)).collect()
        };
        let (writers, readers) = (links(Role::Writer)?, links(Role::Reader)?);
        // Copies of each sample on the link of the writer. Several writers share the link of the reader.
        let copies = match (writers.len(), readers.len()) {
            (1, readers) if !factors.multicast => readers as u64,
            (1, _) | (_, 1) => 1,
            _ => return None,
        };
        let sending = writers.iter().map(|link| link.bit_per_s / copies);
        // All writers together.
        let sending = sending.fold(0, u64::saturating_add);
        let receiving = readers.iter().map(|link| link.bit_per_s).min()?;
        let slowest = writers.iter().chain(&readers).map(|link| link.bit_per_s).min()?;
        let mtu = writers.iter().map(|link| link.mtu_bytes).min()?;
        let payload = factors.samples_per_flush() * factors.size_bytes;
        let ceiling = goodput_ceiling(sending.min(receiving) as f64, u32::try_from(mtu).ok()?, payload)?;
        Some(Self { link_mbps: slowest as f64 / 1e6, goodput_mbps: ceiling / 1e6 })
    }
}

/// Returns the link of an endpoint; `None` if its rate or its MTU is unknown.
pub(super) fn link(endpoint: &Endpoint, factors: &Factors, hosts: &[HostRecord]) -> Option<EndpointLink> {
    let host = hosts.iter().find(|host| host.name == endpoint.place.host)?;
    let interface = &endpoint.participant.interface;
    let rate = factors.link.and_then(|link| link.rate_bit_per_s);
    let mtu = factors.link.map(|link| u64::from(link.mtu_bytes));
    Some(EndpointLink {
        bit_per_s: host.link_bit_per_s(interface, rate)?,
        mtu_bytes: mtu.or_else(|| host.properties.mtu_bytes.get(interface).copied())?,
    })
}

#[cfg(test)]
mod tests {
    use experiment::{HostSpec, LinkSpec, PlannedHost, Topology};

    use super::*;
    use crate::schema::{Environment, host::Host};

    const MBIT: u64 = 1_000_000;

    fn design(hosts: &[HostRecord]) -> Design {
        let planned =
            hosts.iter().map(|host| PlannedHost::new(&host.name, host.at.clone(), host.interface.clone()));
        Design { hosts: planned.collect(), ..Design::default() }
    }

    /// Returns hosts with a link each, or those of a lab.
    fn hosts(count: usize, speed_mbps: Option<u64>, at: &str) -> Vec<HostRecord> {
        let eth0 = |value: u64| [("eth0".to_owned(), value)].into();
        let host = |number: usize| HostRecord {
            name: format!("h{number}"),
            at: HostSpec::parse(at).expect("a way to reach a host"),
            machine_of: None,
            interface: Some("eth0".to_owned()),
            properties: Host {
                link_mbps: speed_mbps.map(eth0).unwrap_or_default(),
                mtu_bytes: eth0(1_500),
                ..Host::default()
            },
            environment: Environment::default(),
        };
        (1..=count).map(host).collect()
    }

    fn cell(size_bytes: u64) -> Factors {
        Factors {
            driver: "udp".to_owned(),
            transport: TRANSPORT.to_owned(),
            workload: Workload::Throughput,
            interface: "auto".to_owned(),
            size_bytes,
            ..Factors::default()
        }
    }

    fn ceiling(cell: &Factors, hosts: &[HostRecord]) -> Option<(f64, f64)> {
        let ceiling = LinkCeiling::of_cell(cell, &design(hosts), hosts)?;
        Some((ceiling.link_mbps, (ceiling.goodput_mbps * 10.0).round() / 10.0))
    }

    #[test]
    fn ceiling_is_that_of_ethernet() {
        let two = hosts(2, Some(100), "ssh:pi");
        assert_eq!(ceiling(&cell(1472), &two), Some((100.0, 95.7)));
        assert_eq!(ceiling(&cell(64), &two), Some((100.0, 49.2)));
        // Samples of a batch share its headers.
        let batched = Factors { batch_bytes: 1_500, ..cell(64) };
        assert_eq!(ceiling(&batched, &two), Some((100.0, 95.7)));
        assert_eq!(ceiling(&cell(63_000), &hosts(2, Some(1_000), "ssh:pi")), Some((1_000.0, 961.8)));
    }

    #[test]
    fn copies_share_the_link_of_their_writer_or_reader() {
        let four = hosts(4, Some(100), "ssh:pi");
        let topology = |writers, readers, multicast| Factors {
            topology: Topology::Mesh { writers, readers },
            multicast,
            ..cell(1_472)
        };
        assert_eq!(ceiling(&topology(1, 3, false), &four), Some((100.0, 31.9)));
        assert_eq!(ceiling(&topology(1, 3, true), &four), Some((100.0, 95.7)));
        assert_eq!(ceiling(&topology(3, 1, false), &four), Some((100.0, 95.7)));
        assert_eq!(ceiling(&topology(2, 2, false), &four), None);
        // Readers share a host.
        assert_eq!(ceiling(&topology(1, 3, true), &four[..2]), None);
    }

    #[test]
    fn links_of_a_lab_have_its_rate() {
        let lab = hosts(2, Some(10_000), "lab:2,rate=1gbit");
        let link = |text: &str| text.parse::<LinkSpec>().expect("a link");
        let with = |text| Factors { link: Some(link(text)), ..cell(1_472) };
        assert_eq!(ceiling(&with("rate=10mbit"), &lab), Some((10.0, 9.6)));
        assert_eq!(ceiling(&with("rate=10mbit,mtu=9000"), &lab), Some((10.0, 9.6)));
        assert_eq!(ceiling(&with("delay=1ms"), &lab), None);
        assert_eq!(lab[0].link_bit_per_s("eth0", Some(10 * MBIT)), Some(10 * MBIT));
        assert_eq!(lab[0].link_bit_per_s("lo", Some(10 * MBIT)), None);
    }

    #[test]
    fn nothing_is_said_without_a_link_or_with_other_headers() {
        let two = hosts(2, Some(100), "ssh:pi");
        assert_eq!(ceiling(&cell(1_472), &hosts(2, None, "ssh:pi")), None);
        assert_eq!(ceiling(&cell(1_472), &two[..1]), None);
        for other in [
            Factors { transport: "tcp4".to_owned(), ..cell(1_472) },
            Factors { workload: Workload::Latency, ..cell(1_472) },
            Factors { interface: "lo".to_owned(), ..cell(1_472) },
        ] {
            assert_eq!(ceiling(&other, &two), None, "{other:?}");
        }
    }
}
