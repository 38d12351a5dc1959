//! Changes within blocks, without a claim.

use std::cmp::Ordering;

use experiment::Workload;
use results::{Metric, RunState};
use verdicts::BlockChange;

use crate::{made, result, rtt};

/// Returns the change from `plain` to `dds`, whose round trips take 100 µs, and 100 µs times these ratios, one for each block.
fn change(ratios: &[f64]) -> Option<BlockChange> {
    let document = made(Workload::Latency, ratios.len() as u32, false, |run| {
        let slow = f64::from(run.block);
        let ratio = if run.cell.starts_with("dds") { ratios[run.block as usize - 1] } else { 1.0 };
        run.latency.get_mut("rtt").expect("a latency run").p50_ns = Some((slow * 100_000.0 * ratio) as u64);
    });
    let of = |driver: &str| document.cells.iter().find(|cell| cell.factors.driver == driver).expect("a cell");
    BlockChange::new(of("dds"), of("plain"), Metric::RttP50)
}

#[test]
fn ratios_are_those_of_the_blocks() {
    // The host becomes slower from block to block, which changes both cells.
    let few = change(&[1.5, 1.25, 1.75]).expect("three blocks");
    assert_eq!(few, BlockChange { ratio: 1.5, low: 1.25, high: 1.75, is_interval: false, blocks: 3 });
    assert_eq!(few.direction(), Ordering::Greater);
    let many = change(&[0.5, 0.25, 0.75, 0.5, 0.5, 0.875, 0.5]).expect("seven blocks");
    assert_eq!((many.ratio, many.low, many.high), (0.5, 0.25, 0.875));
    assert!(many.is_interval && many.blocks == 7 && many.direction() == Ordering::Less, "{many:?}");
    assert_eq!(change(&[0.5, 1.5]).map(|change| change.direction()), Some(Ordering::Equal));
    assert_eq!(change(&[1.5]), None, "one block has no range");
}

#[test]
fn blocks_without_both_values_do_not_count() {
    let document = result(Workload::Latency, 8, |run| {
        rtt(run, 2.0, 0.0);
        match (run.block, run.cell.starts_with("dds")) {
            (3, true) => run.state = RunState::Failed,
            (5, false) => run.latency.get_mut("rtt").expect("a latency run").p50_ns = None,
            _ => {}
        }
    });
    let of = |driver: &str| document.cells.iter().find(|cell| cell.factors.driver == driver).expect("a cell");
    let change = BlockChange::new(of("dds"), of("plain"), Metric::RttP50).expect("six blocks");
    assert_eq!((change.blocks, change.ratio), (6, 2.0));
    // Of the baseline, each block has two runs, of which the first counts.
    assert!(of("plain").runs.iter().any(|run| run.twin), "the second runs are there");
    assert_eq!(BlockChange::new(of("dds"), of("plain"), Metric::Goodput), None);
}
