//! Differences that the scatter of the runs lets a comparison see.

use results::{
    Block, BlockHost, Metric, Reference, ResultDocument, least_runs_for_claims, smallest_differences,
};
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

#[test]
fn a_reference_that_scatters_hides_more() {
    let medians = [100_000, 102_000, 99_000, 101_000, 98_000, 103_000, 100_500, 99_500];
    let with_references = |rtt_p50_ns: [f64; 8], rtt_p99_ns: [f64; 8], noisy: bool| {
        let mut document = of_medians(&medians);
        let block = |number: usize| Block {
            number: number as u32 + 1,
            noisy,
            hosts: vec![BlockHost {
                reference_before: Some(Reference {
                    length_ns: 100_000_000,
                    sender_cores: Vec::new(),
                    receiver_cores: Vec::new(),
                    round_trips: 5_000,
                    rtt_p50_ns: rtt_p50_ns[number],
                    rtt_p99_ns: Some(rtt_p99_ns[number]),
                    samples: 50_000,
                    rate_sps: 1e6,
                }),
                ..BlockHost::default()
            }],
            repeats: None,
            reasons: Vec::new(),
            first_run: number as u32 + 1,
            complete: true,
            took_ns: None,
            others: Vec::new(),
        };
        document.blocks = (0..8).map(block).collect();
        for (run, number) in document.cells[0].runs.iter_mut().zip(1..) {
            run.block = number;
        }
        smallest_differences(&document)[0].pct.expect("enough runs")[1]
    };
    let steady = [15_000.0; 8];
    let unsteady = [15_000.0, 19_000.0, 14_000.0, 22_000.0, 15_500.0, 18_000.0, 13_000.0, 16_000.0];
    let quiet = with_references(steady, steady, false);
    let alone = smallest_differences(&of_medians(&medians))[0].pct.expect("enough runs")[1];
    assert!((quiet - alone).abs() < 1e-9, "{quiet} {alone}");
    assert!(with_references(unsteady, steady, false) > 5.0 * quiet);
    // Another reference counts only if blocks were noisy.
    assert!((with_references(steady, unsteady, false) - quiet).abs() < 1e-9);
    assert!(with_references(steady, unsteady, true) > 5.0 * quiet);
}
