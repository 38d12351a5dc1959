//! Number of blocks: fixed, decided by a pilot, limited by a budget; repetition of noisy blocks.

use experiment::{Cell, Design, Factors, Plan, Precision};
use results::{
    Distribution, ExperimentLog, Latency, Run, RunState, StoppedBy, comparison_claims, least_blocks,
};
use stopping_rule::{NextBlock, add_quiet, begin, decide, is_due, next};

const SECOND: u64 = 1_000_000_000;

fn cell(id: &str, size_bytes: u64) -> Cell {
    let factors =
        Factors { driver: "udp".to_owned(), transport: "udp4".to_owned(), size_bytes, ..Factors::default() };
    Cell { id: id.to_owned(), factors }
}

/// Returns an experiment with a baseline and one other cell: claims on median and p99, which need 7 blocks.
fn experiment(precision: Option<Precision>, budget_ns: Option<u64>, blocks: u32) -> Plan {
    Plan {
        name: "test".to_owned(),
        question: "?".to_owned(),
        cells: vec![cell("base", 64), cell("other", 65)],
        design: Design {
            blocks,
            seed: 3,
            measure_ns: SECOND,
            windows: 20,
            check_every: 1,
            baseline: vec!["base".to_owned()],
            repeat_noisy: true,
            precision,
            budget_ns,
            ..Design::default()
        },
        ..Plan::default()
    }
}

fn precise(half_width_pct: f64) -> Option<Precision> {
    Some(Precision { half_width_pct, pilot_blocks: 7 })
}

/// Executes an experiment. Each block takes `took_ns`, and the other cell's RTT is `1 + scatter(block)` times that of
/// the baseline. `noisy` lists the noisy blocks. Returns the log and the numbers of the runs in order.
fn go(experiment: &Plan, took_ns: u64, scatter: fn(u32) -> f64, noisy: &[u32]) -> (ExperimentLog, Vec<u32>) {
    go_with_tail(experiment, took_ns, scatter, |_| 0.0, noisy)
}

/// Does the same as [`go`], with the other cell's p99 multiplied by `1 + tail(block)`.
fn go_with_tail(
    experiment: &Plan,
    took_ns: u64,
    scatter: fn(u32) -> f64,
    tail: fn(u32) -> f64,
    noisy: &[u32],
) -> (ExperimentLog, Vec<u32>) {
    let mut log = begin(experiment);
    let mut runs: Vec<Run> = Vec::new();
    loop {
        if is_due(experiment, &log) {
            let of = |cell: &str| runs.iter().filter(|run| run.cell == cell).cloned().collect::<Vec<Run>>();
            let (base, other) = (of("base"), of("other"));
            let (base, other) = (base.as_slice(), other.as_slice());
            decide(experiment, &mut log, |cell| if cell == "base" { base } else { other });
        }
        match next(experiment, &experiment.schedule(), &log) {
            NextBlock::Done(why) => {
                log.allocation.stopped_by = Some(why);
                return (log, runs.iter().map(|run| run.number).collect());
            }
            NextBlock::Block { number, repeats, runs: scheduled } => {
                add_quiet(&mut log, number, repeats, &scheduled, took_ns);
                log.blocks.last_mut().expect("a block").noisy = noisy.contains(&number);
                let of = scheduled.clone();
                for scheduled in scheduled {
                    assert_eq!(scheduled.block, number);
                    let cell = &experiment.cells[scheduled.cell];
                    let partner = scheduled.duet.map(|duet| of.iter().find(|run| run.number == duet.partner));
                    // The baseline as its own partner has another level in every block.
                    let beside_itself =
                        partner.flatten().is_some_and(|partner| partner.cell == scheduled.cell);
                    let ratio = match cell.id.as_str() {
                        "base" if beside_itself => f64::from(number % 3 + 1),
                        "base" => 1.0,
                        _ => 1.0 + scatter(number),
                    };
                    let mut run = Run::blank(scheduled, cell, 0);
                    if let Some(duet) = &mut run.duet {
                        duet.side_by_side_pct = 100.0;
                    }
                    run.state = RunState::Valid;
                    let p50 = (100_000.0 * ratio * (1.0 + f64::from(number) / 10.0)) as u64;
                    let mut histogram = results::new_histogram();
                    for _ in 0..1000 {
                        histogram.record(p50).expect("within its range");
                    }
                    let (mean_ns, min_ns, max_ns) = (p50 as f64, p50, p50);
                    let all = Distribution { n: 1000, mean_ns, min_ns, max_ns, ..Distribution::default() };
                    let mut rtt = Latency::of_merged(&all, &histogram, 0);
                    let tail = if cell.id == "base" { 0.0 } else { tail(number) };
                    rtt.p99_ns = rtt.p99_ns.map(|ns| (ns as f64 * (1.0 + tail)) as u64);
                    run.latency.insert("rtt".to_owned(), rtt);
                    runs.push(run);
                }
            }
        }
    }
}

fn wide(block: u32) -> f64 {
    f64::from(block % 3) * 0.02
}

fn narrow(block: u32) -> f64 {
    0.2 + f64::from(block % 2) * 0.001
}

#[test]
fn fixed_number_of_blocks_is_executed() {
    let (log, runs) = go(&experiment(None, None, 7), SECOND, wide, &[]);
    assert_eq!((log.allocation.planned, log.allocation.made), (7, 7));
    assert_eq!((log.allocation.stopped_by, log.allocation.wanted), (Some(StoppedBy::Fixed), None));
    assert_eq!(runs, (1..=21).collect::<Vec<_>>());
}

#[test]
fn scattered_values_need_more_blocks_whatever_their_level() {
    let made = |half, scatter| {
        let (log, _) = go(&experiment(precise(half), Some(10_000 * SECOND), 500), SECOND, scatter, &[]);
        assert_eq!(log.allocation.stopped_by, Some(StoppedBy::Precision));
        assert_eq!(log.allocation.wanted, Some(log.allocation.made));
        log.allocation.made
    };
    // 20 % higher with little scatter: the pilot is sufficient.
    assert_eq!(made(2.0, narrow), 7);
    let wide_made = made(2.0, wide);
    assert!(wide_made > 10, "{wide_made}");
    assert!(made(1.0, wide) > 2 * wide_made);
}

#[test]
fn the_metric_that_scatters_most_decides() {
    let experiment = experiment(precise(2.0), Some(10_000 * SECOND), 500);
    assert_eq!((comparison_claims(&experiment).len(), least_blocks(&experiment)), (2, 7));
    let (quiet, _) = go(&experiment, SECOND, narrow, &[]);
    let (tail, _) = go_with_tail(&experiment, SECOND, narrow, wide, &[]);
    assert_eq!(quiet.allocation.made, 7);
    assert!(tail.allocation.made > 10, "{:?}", tail.allocation);
    assert!(tail.allocation.pilot_log_sd > Some(0.01), "{:?}", tail.allocation);
}

#[test]
fn pilot_too_small_for_a_claim_is_extended() {
    let pilot = Some(Precision { half_width_pct: 50.0, pilot_blocks: 3 });
    let (log, _) = go(&experiment(pilot.clone(), Some(10_000 * SECOND), 500), SECOND, narrow, &[]);
    assert_eq!((log.allocation.made, log.allocation.stopped_by), (7, Some(StoppedBy::Precision)));
    // A budget that is too small does not reduce the blocks that a claim needs.
    let (log, _) = go(&experiment(pilot, Some(SECOND), 500), 10 * SECOND, wide, &[]);
    assert_eq!(log.allocation.made, 7);
}

#[test]
fn budget_ends_the_experiment_and_the_missing_blocks_are_reported() {
    let (log, _) = go(&experiment(precise(1.0), Some(100 * SECOND), 500), 10 * SECOND, wide, &[]);
    let allocation = log.allocation;
    assert_eq!((allocation.made, allocation.room), (10, Some(10)));
    assert!(allocation.wanted > Some(10) && allocation.pilot_log_sd > Some(0.01), "{allocation:?}");
    assert_eq!(allocation.stopped_by, Some(StoppedBy::Budget));
    // The pilot is always executed completely.
    let (log, _) = go(&experiment(precise(1.0), Some(SECOND), 500), 10 * SECOND, wide, &[]);
    assert_eq!((log.allocation.made, log.allocation.stopped_by), (7, Some(StoppedBy::Budget)));
}

#[test]
fn without_a_baseline_the_level_of_each_cell_is_to_be_precise() {
    let mut alone = experiment(precise(2.0), Some(10_000 * SECOND), 500);
    alone.design.baseline.clear();
    // Each block is slower than the previous one: this changes the level, but not the ratio.
    let (log, _) = go(&alone, SECOND, narrow, &[]);
    assert!(log.allocation.made > 40, "{:?}", log.allocation);
}

#[test]
fn in_duets_it_is_the_ratio_to_the_run_beside_it_that_scatters() {
    let mut duets = experiment(precise(2.0), Some(10_000 * SECOND), 500);
    duets.design.duet = true;
    let (log, runs) = go(&duets, SECOND, narrow, &[]);
    assert_eq!((log.allocation.made, log.allocation.wanted), (7, Some(7)), "{:?}", log.allocation);
    assert_eq!(runs, (1..=28).collect::<Vec<_>>());
    let (wide, _) = go(&duets, SECOND, wide, &[]);
    assert!(wide.allocation.made > 10, "{:?}", wide.allocation);
}

#[test]
fn noisy_blocks_are_repeated_once_unless_over_half_are_noisy() {
    // Block 8 repeats block 2 and is noisy too.
    let (log, runs) = go(&experiment(None, None, 6), SECOND, wide, &[2, 5, 8]);
    let repeats: Vec<_> = log.blocks.iter().map(|block| (block.number, block.repeats)).skip(5).collect();
    assert_eq!(repeats, [(6, None), (7, Some(2)), (8, Some(5))]);
    assert_eq!((log.allocation.made, runs), (6, (1..=24).collect::<Vec<_>>()));
    assert_eq!(go(&experiment(None, None, 6), SECOND, wide, &[1, 2, 5, 6]).0.blocks.len(), 6);
    assert_eq!(go(&experiment(None, None, 6), SECOND, wide, &[1, 2, 5]).0.blocks.len(), 9);
    let mut never = experiment(None, None, 6);
    never.design.repeat_noisy = false;
    assert_eq!(go(&never, SECOND, wide, &[2]).0.blocks.len(), 6);
    // Repetitions also respect the budget.
    let (log, _) = go(&experiment(None, Some(7 * SECOND), 6), SECOND, wide, &[2, 5]);
    assert_eq!(log.blocks.len(), 7);
}

#[test]
fn started_block_is_next() {
    let experiment = experiment(None, None, 6);
    let (whole, _) = go(&experiment, SECOND, wide, &[2]);
    for blocks in 1..=7 {
        let mut log = whole.clone();
        log.blocks.truncate(blocks);
        let expected = log.blocks[blocks - 1].clone();
        log.blocks[blocks - 1].complete = false;
        log.allocation.made = (blocks as u32 - 1).min(6);
        let NextBlock::Block { number, repeats, runs } = next(&experiment, &experiment.schedule(), &log)
        else {
            panic!("{log:?}")
        };
        assert_eq!(
            (number, repeats, runs[0].number),
            (expected.number, expected.repeats, expected.first_run)
        );
    }
}
