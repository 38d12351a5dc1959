//! Time per hop of simulated rings.

use std::collections::BTreeMap;

use experiment::{Cell, Factors, Topology, Workload};
use results::{Finding, FindingKind, ResultDocument};
use simulate::{RunVariation, Simulator, describe};

use crate::{rig::alone, sample::Characterize};

const MS: u64 = 1_000_000;

/// Returns the simulated result of rings with these numbers of nodes, whose hops take 50 µs.
fn rings(nodes: &[u16], loss: &str) -> ResultDocument {
    let drivers = BTreeMap::from([("plain".to_owned(), describe("plain", true))]);
    let option = |name: &str, value: &str| ("plain".to_owned(), name.to_owned(), value.to_owned());
    let options = vec![option("latency", "50us"), option("loss", loss)];
    let characterize = Characterize { sizes: vec![64], options, ..alone("plain", Workload::Latency) };
    let mut experiment = characterize.plan(&drivers).unwrap_or_else(|error| panic!("{error}"));
    let [pair] = &experiment.cells[..] else { panic!("{:?}", experiment.cells) };
    let cell = |nodes: &u16| {
        let factors = Factors { topology: Topology::Ring { nodes: *nodes }, ..pair.factors.clone() };
        Cell { id: format!("ring-{nodes}"), factors }
    };
    experiment.cells = nodes.iter().map(cell).collect();
    experiment.design.baseline = Vec::new();
    (experiment.design.blocks, experiment.design.measure_ns) = (3, 20 * MS);
    let mut simulator = Simulator::new();
    simulator.host.between = RunVariation { drift: 0.0, sd: 0.01, autocorrelation: 0.0 };
    simulator.drivers = drivers;
    simulator.experiment(&experiment).unwrap_or_else(|error| panic!("{error}"))
}

fn of_rings(document: &ResultDocument) -> Vec<&Finding> {
    document.findings.iter().filter(|finding| finding.kind == FindingKind::RingHop).collect()
}

#[test]
fn time_per_hop_and_growth_are_the_truth() {
    let document = rings(&[5, 2, 8, 3], "0%");
    let findings = of_rings(&document);
    let [finding] = findings[..] else { panic!("{findings:#?}") };
    assert_eq!(finding.cells, ["ring-2", "ring-3", "ring-5", "ring-8"]);
    for name in ["per_hop_of_2_ns", "per_hop_of_3_ns", "per_hop_of_5_ns", "per_hop_of_8_ns"] {
        let ns = finding.numbers[name];
        assert!((ns - 50_000.0).abs() < 0.05 * 50_000.0, "{name}: {ns}");
    }
    for expected in ["64 bytes: one hop of a ring", "µs with 5 nodes (", "3 runs each."] {
        assert!(finding.text.contains(expected), "{expected}: {}", finding.text);
    }
    let growth = document.findings.iter().find(|finding| finding.kind == FindingKind::ScalesLinearly);
    let growth = growth.unwrap_or_else(|| panic!("{:#?}", document.findings));
    let slope = growth.numbers["rtt_slope_ns_per_node"];
    assert!((slope - 50_000.0).abs() < 0.05 * 50_000.0, "{}", growth.text);
}

#[test]
fn lossy_rings_have_no_finding() {
    assert!(of_rings(&rings(&[3], "5%")).is_empty());
}
