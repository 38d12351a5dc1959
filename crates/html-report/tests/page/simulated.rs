//! Simulated results of each workload.

use std::collections::BTreeMap;

use experiment::{Cell, Discovery, Factors, Topology, Workload};
use results::ResultDocument;
use simulate::{RunVariation, Simulator, describe};

use crate::sample::{Characterize, characterize};

const MS: u64 = 1_000_000;

/// Returns the simulated result of cells that are made from the only cell of a workload, in 3 blocks.
pub fn measured(
    workload: Workload,
    make: impl Fn(&Factors) -> Vec<(&'static str, Factors)>,
) -> ResultDocument {
    let drivers = BTreeMap::from([("plain".to_owned(), describe("plain", true))]);
    let options = vec![("plain".to_owned(), "latency".to_owned(), "50us".to_owned())];
    let characterize = Characterize {
        sizes: vec![64],
        drivers: vec!["plain".to_owned()],
        workloads: vec![workload],
        batch_bytes: 0,
        options,
        ..characterize()
    };
    let mut experiment = characterize.plan(&drivers).unwrap_or_else(|error| panic!("{error}"));
    let first = experiment.cells[0].clone();
    let cells = make(&first.factors).into_iter();
    experiment.cells = cells.map(|(id, factors)| Cell { id: id.to_owned(), factors }).collect();
    experiment.design.baseline = Vec::new();
    (experiment.design.blocks, experiment.design.measure_ns) = (3, 20 * MS);
    let mut simulator = Simulator::new();
    simulator.host.between = RunVariation { drift: 0.0, sd: 0.01, autocorrelation: 0.0 };
    simulator.drivers = drivers;
    simulator.experiment(&experiment).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns fan-outs to 1, 2, 4 and 8 readers.
pub fn fan_outs(workload: Workload) -> ResultDocument {
    measured(workload, |factors| {
        let with = |readers| Factors { topology: Topology::Mesh { writers: 1, readers }, ..factors.clone() };
        vec![("plain/1", with(1)), ("plain/2", with(2)), ("plain/4", with(4)), ("plain/8", with(8))]
    })
}

/// Returns rings of 2, 3 and 5 nodes.
pub fn rings() -> ResultDocument {
    measured(Workload::Latency, |factors| {
        let with = |nodes| Factors { topology: Topology::Ring { nodes }, ..factors.clone() };
        vec![("plain/ring-2", with(2)), ("plain/ring-3", with(3)), ("plain/ring-5", with(5))]
    })
}

/// Returns discoveries of 2, 4 and 8 participants.
pub fn discoveries() -> ResultDocument {
    measured(Workload::Latency, |factors| {
        let with = |participants| Factors {
            workload: Workload::Discovery,
            topology: Topology::FullMesh { participants },
            discovery: Discovery::default(),
            ..factors.clone()
        };
        vec![("plain/2", with(2)), ("plain/4", with(4)), ("plain/8", with(8))]
    })
}
