//! Time per hop of simulated rings.

use std::collections::BTreeMap;

use experiment::{Cell, Factors, Topology, Workload};
use results::{Finding, FindingKind, ResultDocument};
use simulate::{RunVariation, Simulator, describe};

use crate::{rig::alone, sample::Characterize};

const MS: u64 = 1_000_000;

/// Returns the simulated result of rings with these numbers of nodes, whose hops take 50 µs.
fn rings(nodes: &[u16], loss: &str) -> ResultDocument {
    pipelined_rings(nodes, &[1], loss)
}

/// Returns the simulated result of rings with these numbers of nodes and of samples in flight.
fn pipelined_rings(nodes: &[u16], in_flight: &[u32], loss: &str) -> ResultDocument {
    let drivers = BTreeMap::from([("plain".to_owned(), describe("plain", true))]);
    let option = |name: &str, value: &str| ("plain".to_owned(), name.to_owned(), value.to_owned());
    let options = vec![option("latency", "50us"), option("loss", loss)];
    let characterize = Characterize { sizes: vec![64], options, ..alone("plain", Workload::Latency) };
    let mut experiment = characterize.plan(&drivers).unwrap_or_else(|error| panic!("{error}"));
    let [pair] = &experiment.cells[..] else { panic!("{:?}", experiment.cells) };
    let cell = |nodes: u16, samples: u32| {
        let in_flight = Some(samples).filter(|samples| *samples > 1);
        let factors = Factors { topology: Topology::Ring { nodes }, in_flight, ..pair.factors.clone() };
        let id = if samples > 1 { format!("ring-{nodes}-{samples}") } else { format!("ring-{nodes}") };
        Cell { id, factors }
    };
    let all = nodes.iter().flat_map(|nodes| in_flight.iter().map(|samples| cell(*nodes, *samples)));
    experiment.cells = all.collect();
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

#[test]
fn time_per_sample_and_hop_and_its_laws_are_the_truth() {
    let document = pipelined_rings(&[2, 3, 5], &[1, 2, 4, 8], "0%");
    let pipelined_rings: Vec<&Finding> =
        document.findings.iter().filter(|finding| finding.kind == FindingKind::PipelinedRing).collect();
    assert_eq!(pipelined_rings.len(), 3, "one for 2, 4 and 8 in flight: {:#?}", document.findings);
    let four = pipelined_rings.iter().find(|finding| finding.text.contains("with 4 samples in flight"));
    let four = four.unwrap_or_else(|| panic!("{pipelined_rings:#?}"));
    assert_eq!(four.cells, ["ring-2-4", "ring-3-4", "ring-5-4"]);
    for nodes in [2, 3, 5] {
        let ns = four.numbers[&format!("per_sample_hop_of_{nodes}_ns")];
        assert!((ns - 12_500.0).abs() < 0.05 * 12_500.0, "{nodes}: {ns}");
    }
    // The round trips have findings of their own.
    assert_eq!(of_rings(&document).len(), 1);
    // Without a bottleneck, the time per sample and hop is inverse to the samples in flight.
    let law = document.findings.iter().find(|finding| {
        finding.kind == FindingKind::ScalesAsPower
            && finding.cells == ["ring-3", "ring-3-2", "ring-3-4", "ring-3-8"]
    });
    let law = law.unwrap_or_else(|| panic!("{:#?}", document.findings));
    assert!((law.numbers["exponent_power"] + 1.0).abs() < 0.02, "{}", law.text);
    for expected in [
        "3 nodes: from 1 to 8 samples in flight, the time per sample and hop falls as the number of samples in \
         flight to the power of -1.0",
        "with 1,",
    ] {
        assert!(law.text.contains(expected), "{expected}: {}", law.text);
    }
    assert_eq!(law.numbers["to_samples_in_flight"], 8.0);
}
