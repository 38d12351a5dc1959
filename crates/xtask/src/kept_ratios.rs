//! Ratios of two cells of a kept result in the same block, so that slow changes of the host cancel out.

use std::collections::BTreeMap;

use results::{CellResult, Metric};
use stats::median;

/// Returns the ratio of a metric of a cell to that of another cell, for each block in which both have it; of a block with several valid
/// runs of a cell, their median counts.
pub fn in_blocks(cell: &CellResult, other: &CellResult, metric: Metric) -> Vec<f64> {
    let others = of_blocks(other, metric);
    let own = of_blocks(cell, metric).into_iter();
    own.filter_map(|(block, value)| Some(value / others.get(&block)?)).collect()
}

/// Returns the value of each block.
fn of_blocks(cell: &CellResult, metric: Metric) -> BTreeMap<u32, f64> {
    let mut runs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in cell.claimed_runs() {
        if let Some(value) = run.value(metric) {
            runs.entry(run.block).or_default().push(value);
        }
    }
    runs.into_iter().filter_map(|(block, values)| Some((block, median(&values)?))).collect()
}

#[cfg(test)]
mod tests {
    use results::{Directory, ResultDocument};

    use super::*;
    use crate::root;

    #[test]
    fn ratio_is_of_runs_in_the_same_block() {
        let path = root().join("docs/explain/data/implementations-round-trips.json.gz");
        let ResultDocument { mut cells, .. } = Directory::load(&path).unwrap();
        let mut listener = cells.swap_remove(1);
        let mut waitset = cells.swap_remove(0);
        let metric = Metric::RttP50;
        let all = in_blocks(&listener, &waitset, metric);
        assert_eq!(all.len(), waitset.claimed_runs().count());
        assert!(in_blocks(&waitset, &waitset, metric).iter().all(|ratio| *ratio == 1.0));
        // The order of the runs does not matter; a block without one of both does not count.
        let of = |cell: &CellResult, block: u32| {
            cell.claimed_runs().find(|run| run.block == block).and_then(|run| run.value(metric)).unwrap()
        };
        let third = of(&listener, 3) / of(&waitset, 3);
        waitset.runs.sort_by_key(|run| std::cmp::Reverse(run.block));
        listener.runs.retain(|run| run.block > 2);
        let rest = in_blocks(&listener, &waitset, metric);
        assert_eq!((rest.len(), rest[0]), (all.len() - 2, third));
    }
}
