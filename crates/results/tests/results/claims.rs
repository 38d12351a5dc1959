//! Families of claims: the claims of a plan, and the number of blocks that they need.

use experiment::{Flow, Load, Plan, Rate, Workload};
use results::{Metric, comparison_claims, least_blocks, level_claims, noise_floor_claims};

use crate::sample;

fn experiment() -> Plan {
    sample::header().experiment
}

/// Formats claims as text.
fn words(claims: &[results::Claim<'_>]) -> Vec<String> {
    let flow = |claim: &results::Claim<'_>| claim.flow.map(|flow| format!(" of {flow}")).unwrap_or_default();
    claims
        .iter()
        .map(|claim| {
            format!("{} {}{} / {}", claim.cell.id, claim.metric.name(), flow(claim), claim.baseline.id)
        })
        .collect()
}

#[test]
fn each_metric_of_each_compared_cell_is_a_claim_against_the_baseline_of_its_workload() {
    let mut experiment = experiment();
    experiment.cells.retain(|cell| cell.factors.size_bytes == 1024 && cell.factors.batch_bytes == 0);
    experiment.design.baseline = experiment
        .cells
        .iter()
        .filter(|cell| cell.factors.driver == "plain")
        .map(|cell| cell.id.clone())
        .collect();
    let found = words(&comparison_claims(&experiment));
    let of = |end: &str| found.iter().filter(|claim| claim.contains(end)).count();
    let compared = experiment.cells.len() - experiment.design.baseline.len();
    assert!(compared >= 2, "{found:?}");
    assert_eq!(
        (of(" rtt-p50 / "), of(" rtt-p99 / "), of(" goodput / ")),
        (compared / 2, compared / 2, compared / 2)
    );
    for claim in comparison_claims(&experiment) {
        assert_eq!(claim.cell.factors.workload, claim.baseline.factors.workload, "{found:?}");
    }
    assert_eq!(noise_floor_claims(&experiment).len(), 3 * experiment.design.baseline.len() / 2);
    assert_eq!(level_claims(&experiment).len(), found.len() + noise_floor_claims(&experiment).len());

    // a baseline of one workload is not a baseline of the other
    experiment.design.baseline.truncate(1);
    let claims = comparison_claims(&experiment);
    assert!(!claims.is_empty());
    for claim in &claims {
        assert_eq!(claim.cell.factors.workload, claim.baseline.factors.workload, "{:?}", words(&claims));
    }
}

#[test]
fn each_flow_has_claims_of_its_own() {
    let mut experiment = experiment();
    experiment.cells.retain(|cell| cell.factors.size_bytes == 1024 && cell.factors.batch_bytes == 0);
    experiment.cells.retain(|cell| cell.factors.workload == Workload::Latency);
    experiment.cells.truncate(2);
    for cell in &mut experiment.cells {
        cell.factors.workload = Workload::Paced;
        cell.factors.flows = ["command", "picture"]
            .map(|name| Flow::new(name, 64, Load::Constant { rate: Rate::per_second(1000) }))
            .into();
    }
    experiment.design.baseline = vec![experiment.cells[0].id.clone()];
    let claims = comparison_claims(&experiment);
    assert_eq!(claims.len(), 4, "{:?}", words(&claims));
    assert_eq!(
        claims.iter().map(|claim| (claim.metric, claim.flow)).collect::<Vec<_>>(),
        [
            (Metric::ResponseP50, Some("command")),
            (Metric::ResponseP50, Some("picture")),
            (Metric::ResponseP99, Some("command")),
            (Metric::ResponseP99, Some("picture")),
        ]
    );
    assert_eq!(least_blocks(&experiment), 8);
}

#[test]
fn larger_families_need_more_blocks() {
    let mut experiment = experiment();
    experiment.cells.retain(|cell| cell.factors.workload == Workload::Latency);
    let cell = experiment.cells[0].clone();
    let least = |cells: usize| {
        let mut experiment = experiment.clone();
        experiment.cells = (0..=cells)
            .map(|number| {
                let mut cell = cell.clone();
                cell.id = format!("cell-{number}");
                cell.factors.size_bytes = 64 + number as u64;
                cell
            })
            .collect();
        experiment.design.baseline = vec!["cell-0".to_owned()];
        least_blocks(&experiment)
    };
    // two claims per cell
    assert_eq!([1, 2, 4, 19, 20].map(least), [7, 8, 9, 11, 11]);
}
