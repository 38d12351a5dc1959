//! Differences that the scatter of the runs lets a comparison see.

use results::{Metric, ResultDocument, least_runs_for_claims, smallest_differences};
use stats::{PowerSpec, smallest_effect_apart};

use crate::sample;

/// Creates a result whose RTT medians are these, in ns.
fn of_medians(medians: &[u64]) -> ResultDocument {
    let mut document = sample::document();
    document.cells.truncate(1);
    document.experiment.cells.truncate(1);
    let cell = &mut document.cells[0];
    let first = cell.runs[0].clone();
    cell.runs = medians
        .iter()
        .map(|median| {
            let mut run = first.clone();
            run.latency.get_mut("rtt").expect("a latency run").p50_ns = Some(*median);
            run
        })
        .collect();
    document
}

#[test]
fn smallest_difference_follows_from_the_scatter_of_the_runs() {
    let few = of_medians(&[100, 101, 102]);
    let found = smallest_differences(&few);
    assert_eq!((found[0].metric, found[0].pct), (Metric::RttP50, None));
    // two metrics of one cell share the level
    assert_eq!(least_runs_for_claims(&few), 5);

    let medians: [u64; 8] = [100_000, 102_000, 99_000, 101_000, 98_000, 103_000, 100_500, 99_500];
    let logs: Vec<f64> = medians.iter().map(|ns| (*ns as f64).ln()).collect();
    let spec = PowerSpec { level: 0.95, power: 0.8, comparisons: 2 };
    let sd = stats::sample_sd(&logs).expect("a scatter");
    let expected = 100.0 * smallest_effect_apart((8, 8), sd, &spec).expect("enough runs");
    let found = smallest_differences(&of_medians(&medians))[0].pct.expect("enough runs");
    assert!((found[0] - expected).abs() < 1e-9 && (found[1] - expected).abs() < 1e-9, "{found:?} {expected}");
    assert!((1.0..10.0).contains(&expected), "{expected}");
    // twice the scatter, about twice the difference
    let wide: Vec<u64> = medians.iter().map(|ns| (2 * ns) - 100_000).collect();
    let wide = smallest_differences(&of_medians(&wide))[0].pct.expect("enough runs");
    assert!((1.8..2.3).contains(&(wide[0] / expected)), "{wide:?} {expected}");
}
