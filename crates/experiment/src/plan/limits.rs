//! Time limits of the phases of a run.

use serde::{Deserialize, Serialize};

use crate::factors::{Factors, topology::Topology};

/// Time without an echo after which a ping is lost, in ns, where links have no delay that is known.
const PING_NS: u64 = 200_000_000;

/// Time limits of the phases of a run, in ns. A phase that takes longer fails the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// From the start of an agent process to its first message.
    pub hello_ns: u64,
    /// Opening of the DDS entities.
    pub configure_ns: u64,
    /// From the opened entities until writer and reader match.
    pub match_ns: u64,
    /// Additional time of a traffic phase, beyond its planned duration.
    pub grace_ns: u64,
    /// From the last write until the reader stops waiting for samples.
    pub drain_ns: u64,
    /// Transfer of the agents' records.
    pub report_ns: u64,
    /// From the request to exit until the process is killed.
    pub exit_ns: u64,
    /// Minimum time without an echo after which a ping is lost. Absent: 200 ms and the delay of the links of a lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_ns: Option<u64>,
}

impl Limits {
    /// Returns the limits of a run with this number of endpoints. They share the cores of a host, so each phase may take
    /// longer in proportion: twice as long with four endpoints as with two. The drain is not longer, because its limit
    /// is a part of the measurement, and a limit that is not the default is kept as it was requested.
    #[must_use]
    pub fn of_endpoints(&self, endpoints: usize) -> Self {
        let default = Self::default();
        let scaled = |ns: u64, default_ns: u64| {
            if ns == default_ns { ns.saturating_mul((endpoints as u64).max(2)) / 2 } else { ns }
        };
        Self {
            hello_ns: scaled(self.hello_ns, default.hello_ns),
            configure_ns: scaled(self.configure_ns, default.configure_ns),
            match_ns: scaled(self.match_ns, default.match_ns),
            grace_ns: scaled(self.grace_ns, default.grace_ns),
            drain_ns: self.drain_ns,
            report_ns: scaled(self.report_ns, default.report_ns),
            exit_ns: scaled(self.exit_ns, default.exit_ns),
            ping_ns: self.ping_ns,
        }
    }

    /// Returns the minimum time in ns without an echo after which a ping of a cell is lost: its round trip takes at least the delay
    /// of its links.
    #[must_use]
    pub fn least_ping_ns(&self, factors: &Factors) -> u64 {
        let hops = match factors.topology {
            Topology::Ring { nodes } => u64::from(nodes),
            Topology::Mesh { .. } | Topology::FullMesh { .. } => 2,
        };
        let delay_ns = factors.link.map_or(0, |link| link.delay_ns);
        self.ping_ns.unwrap_or_else(|| PING_NS.saturating_add(delay_ns.saturating_mul(hops)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            hello_ns: 10 * SECOND,
            configure_ns: 20 * SECOND,
            match_ns: 10 * SECOND,
            grace_ns: 10 * SECOND,
            drain_ns: 5 * SECOND,
            report_ns: 30 * SECOND,
            exit_ns: 5 * SECOND,
            ping_ns: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::link::LinkSpec;

    #[test]
    fn ping_waits_for_the_delay_of_its_links_unless_a_time_is_given() {
        let ms = 1_000_000;
        let over = |delay_ns, topology| Factors {
            link: Some(LinkSpec { delay_ns, ..LinkSpec::default() }),
            topology,
            ..Factors::default()
        };
        let limits = Limits::default();
        assert_eq!(limits.least_ping_ns(&Factors::default()), 200 * ms);
        assert_eq!(limits.least_ping_ns(&over(300 * ms, Topology::PAIR)), 800 * ms);
        assert_eq!(limits.least_ping_ns(&over(300 * ms, Topology::Ring { nodes: 4 })), 1_400 * ms);
        let given = Limits { ping_ns: Some(50 * ms), ..limits };
        assert_eq!(given.of_endpoints(8).least_ping_ns(&over(300 * ms, Topology::PAIR)), 50 * ms);
    }

    #[test]
    fn limits_grow_with_the_endpoints_and_the_drain_does_not() {
        let limits = Limits::default();
        assert_eq!(limits.of_endpoints(1), limits);
        assert_eq!(limits.of_endpoints(2), limits);
        let many = limits.of_endpoints(64);
        assert_eq!((many.match_ns, many.exit_ns), (32 * limits.match_ns, 32 * limits.exit_ns));
        assert_eq!(many.drain_ns, limits.drain_ns);
        assert_eq!(Limits { match_ns: 2_000_000_000, ..limits }.of_endpoints(64).match_ns, 2_000_000_000);
    }
}
