//! Laws over the number of endpoints: how often the finding of a simulated experiment has the true law, and how often
//! its 95 % interval covers the true growth.

use experiment::{Cell, Discovery, Topology, Workload};
use results::FindingKind;
use sim_model::{DiscoveryTruth, GroundTruth};
use simulate::{HostModel, RunVariation, Simulator};

use crate::{
    rate::Rate,
    rig::{MS, WINDOWS, cell, config, design, experiment_of},
};

/// Metric that grows with the number of endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Time of a writer per sample, over the number of readers by unicast.
    Readers,
    /// Time until all are matched, over the number of participants.
    Participants,
}

#[allow(dead_code, reason = "the tests name them")]
pub const GROWTHS: [Growth; 2] = [Growth::Readers, Growth::Participants];

const READERS: [(&str, &str); 3] = [("service", "20us"), ("queue", "10"), ("latency", "50us")];
const PARTICIPANTS: [(&str, &str); 2] = [("service", "20us"), ("latency", "500us")];

impl Growth {
    fn cells(self) -> Vec<Cell> {
        let cells = [1_u16, 2, 4, 8].map(|number| match self {
            Self::Readers => {
                let mut cell = cell(Workload::Throughput, true, 0, &READERS);
                cell.factors.topology = Topology::Mesh { writers: 1, readers: number };
                cell
            }
            Self::Participants => {
                let mut cell = cell(Workload::Discovery, true, 0, &PARTICIPANTS);
                cell.factors.topology = Topology::FullMesh { participants: 2 * number };
                cell.factors.discovery = Discovery { endpoints: 2, ..Discovery::default() };
                cell
            }
        });
        cells.into_iter().map(|cell| Cell { id: cell.factors.topology.to_string(), ..cell }).collect()
    }

    /// Returns the growth for each endpoint on an undisturbed host, in ns.
    fn true_ns(self) -> f64 {
        match self {
            Self::Readers => {
                let config = config(&READERS);
                let truth = GroundTruth::new(&config, true, 0.0, 1000, 1.0, 0);
                1e9 / truth.capacity_sps(1).expect("a limit")
            }
            Self::Participants => {
                let truth = DiscoveryTruth::new(&config(&PARTICIPANTS), 1.0, 2, 2);
                truth.expect("constant").slope_ns()
            }
        }
    }

    /// Returns the names of the slope, and of the ends of its interval.
    fn names(self) -> [String; 3] {
        let (key, endpoint) = match self {
            Self::Readers => ("time_per_sample", "reader"),
            Self::Participants => ("all_matched", "participant"),
        };
        ["slope", "slope_low", "slope_high"].map(|of| format!("{key}_{of}_ns_per_{endpoint}"))
    }
}

/// Experiments with a law.
#[derive(Clone, Copy, Debug)]
pub struct Laws {
    /// The finding has the true law, a line.
    pub linear: Rate,
    /// Its interval covers the true growth.
    pub covers: Rate,
}

/// Simulates experiments of `blocks` blocks on a host whose runs scatter by `cv`. `stated`: the growth that counts as
/// true, as a multiple of the true one.
pub fn laws(growth: Growth, cv: f64, blocks: u32, seed: u64, experiments: u32, stated: f64) -> Laws {
    let between = RunVariation { sd: cv, ..RunVariation::default() };
    let mut simulator = Simulator::on(HostModel { between, ..HostModel::default() });
    // The mean factor of the times of a run is that of a lognormal distribution.
    let expected = growth.true_ns() * (cv * cv / 2.0).exp() * stated;
    let [slope, low, high] = growth.names();
    let (mut linear, mut covers) = (0, 0);
    for experiment in 0..u64::from(experiments) {
        let design =
            experiment::Design { blocks, seed: seed + experiment, windows: WINDOWS, ..design(10 * MS) };
        let plan = experiment_of(growth.cells(), design);
        let document = simulator.experiment(&plan).expect("options of the simulation");
        let of_growth = |finding: &&results::Finding| {
            finding.kind == FindingKind::ScalesLinearly && finding.numbers.contains_key(&slope)
        };
        if let Some(found) = document.findings.iter().find(of_growth) {
            linear += 1;
            covers += u32::from((found.numbers[&low]..=found.numbers[&high]).contains(&expected));
        }
    }
    let of = experiments;
    Laws { linear: Rate { times: linear, of }, covers: Rate { times: covers, of } }
}
