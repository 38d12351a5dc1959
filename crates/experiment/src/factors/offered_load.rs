//! Load that the flows of a system offer together.

use serde::Serialize;

use crate::factors::{Factors, flow::Flow, load::Load};

/// Samples and payload that all flows of a cell write and deliver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferedLoad {
    /// Samples that all writers write, in samples/s.
    pub written_sps: f64,
    /// Their payload, in bit/s.
    pub written_bit_per_s: f64,
    /// Samples that all readers are to receive, in samples/s: each sample once for each reader of its flow.
    pub delivered_sps: f64,
    /// Their payload, in bit/s.
    pub delivered_bit_per_s: f64,
}

impl Factors {
    /// Returns whether samples travel over sockets only. The transport may otherwise be memory that processes share.
    #[must_use]
    pub fn is_over_sockets(&self) -> bool {
        ["udp", "tcp"].iter().any(|kind| self.transport.starts_with(kind))
    }

    /// Returns the load of all flows; `None` without flows, or if the rate of one is not known.
    #[must_use]
    pub fn offered_load(&self) -> Option<OfferedLoad> {
        if self.flows.is_empty() {
            return None;
        }
        let all = self.flows.iter().map(|flow| self.offered_by(flow));
        all.sum::<Option<OfferedLoad>>()
    }

    /// Returns the load of a flow.
    fn offered_by(&self, flow: &Flow) -> Option<OfferedLoad> {
        let (writers, readers) = self.ends_of(flow);
        let sps = flow.load.mean_sps()? * writers;
        let bits = 8.0 * flow.flow_sizes().mean_bytes();
        Some(OfferedLoad {
            written_sps: sps,
            written_bit_per_s: sps * bits,
            delivered_sps: sps * readers,
            delivered_bit_per_s: sps * readers * bits,
        })
    }

    /// Returns the numbers of writers and of readers of a flow.
    fn ends_of(&self, flow: &Flow) -> (f64, f64) {
        if self.is_system() {
            return (flow.writing_processes().count() as f64, flow.reading_processes().count() as f64);
        }
        let (writers, readers) = self.topology.mesh().unwrap_or((1, 1));
        (f64::from(writers), f64::from(readers))
    }
}

impl Load {
    /// Returns the mean rate in samples/s; `None` if it is not known before the run.
    #[must_use]
    pub fn mean_sps(&self) -> Option<f64> {
        let in_burst = match self {
            Self::Burst { rate } => rate.samples.max(1) as f64,
            _ => 1.0,
        };
        self.mean_period_ns().map(|period_ns| in_burst * 1e9 / period_ns.max(1.0))
    }
}

impl std::iter::Sum for OfferedLoad {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            written_sps: sum.written_sps + one.written_sps,
            written_bit_per_s: sum.written_bit_per_s + one.written_bit_per_s,
            delivered_sps: sum.delivered_sps + one.delivered_sps,
            delivered_bit_per_s: sum.delivered_bit_per_s + one.delivered_bit_per_s,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::{rate::Rate, topology::Topology};

    fn flow(name: &str, load: Load, from: &[&str], to: &[&str]) -> Flow {
        let names = |of: &[&str]| of.iter().map(|&name| name.to_owned()).collect();
        Flow { from: names(from), to: names(to), ..Flow::new(name, 1_000, load) }
    }

    #[test]
    fn each_writer_writes_and_each_reader_receives() {
        let constant = Load::Constant { rate: Rate::per_second(100) };
        let bursts = Load::Burst { rate: Rate { samples: 10, period_ns: 100_000_000 } };
        let system = |flows| Factors { flows, ..Factors::default() };
        let cell = system(vec![
            flow("scan", constant.clone(), &["sensor"], &["control", "log"]),
            flow("status", bursts, &["sensor", "control"], &["log"]),
        ]);
        let load = cell.offered_load().expect("rates");
        assert_eq!((load.written_sps, load.delivered_sps), (300.0, 400.0));
        assert_eq!((load.written_bit_per_s, load.delivered_bit_per_s), (2.4e6, 3.2e6));
        let mesh = Factors {
            topology: Topology::Mesh { writers: 2, readers: 3 },
            ..system(vec![flow("a", constant, &[], &[])])
        };
        let load = mesh.offered_load().expect("rates");
        assert_eq!((load.written_sps, load.delivered_sps), (200.0, 600.0));
        assert_eq!(Factors::default().offered_load(), None);
        assert_eq!(system(vec![flow("a", Load::Max, &[], &[])]).offered_load(), None);
    }
}
