//! Assembling runs into results: pooled samples, medians, exclusions and warnings.

use experiment::{Load, Workload};
use results::{
    Assembler, CellResult, Distribution, Histograms, IntervalLog, Latency, ResultDocument, Run, RunState,
    State, Warning, WarningKind,
};
use stats::median;

use crate::sample;

fn cells(document: &ResultDocument, workload: Workload) -> impl Iterator<Item = &CellResult> {
    document.cells.iter().filter(move |cell| cell.factors.workload == workload)
}

/// Returns the sorted values of one kind over the runs that `keep` selects.
fn pooled(cell: &CellResult, kind: &str, keep: impl Fn(&Run) -> bool) -> Vec<u64> {
    let runs = cell.runs.iter().filter(|run| keep(run));
    let mut all: Vec<u64> = runs
        .flat_map(|run| {
            sample::latencies(run.number, cell.factors.size_bytes).remove(kind).unwrap_or_default()
        })
        .collect();
    all.sort_unstable();
    all
}

fn assert_pooled(cell: &CellResult, keep: impl Fn(&Run) -> bool) {
    for (kind, latency) in &cell.latency {
        let values = pooled(cell, kind, &keep);
        assert_eq!(latency.n, values.len() as u64, "{}", cell.id);
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
        let sd = (squares / (values.len() - 1) as f64).sqrt();
        assert!(
            (latency.mean_ns - mean).abs() < 1e-9 * mean,
            "{} {kind}: {} {mean}",
            cell.id,
            latency.mean_ns
        );
        assert!((latency.sd_ns - sd).abs() < 1e-9 * sd, "{} {kind}: {} {sd}", cell.id, latency.sd_ns);
        assert_eq!((latency.min_ns, latency.max_ns), (values[0], values[values.len() - 1]));
        for (q, found) in [(0.5, latency.p50_ns), (0.9, latency.p90_ns), (0.99, latency.p99_ns)] {
            let of_run = |run: &Run| {
                let mut values =
                    sample::latencies(run.number, cell.factors.size_bytes).remove(kind.as_str()).unwrap();
                values.sort_unstable();
                values[(q * values.len() as f64).ceil() as usize - 1] as f64
            };
            let truth =
                median(&cell.runs.iter().filter(|run| keep(run)).map(of_run).collect::<Vec<_>>()).unwrap();
            let found = found.unwrap();
            assert!((found - truth).abs() <= 0.001 * truth, "{} {kind} {q}: {found} {truth}", cell.id);
        }
        assert!(latency.pooled.is_empty(), "{latency:?}");
        assert_eq!((latency.p99_9_ns, latency.p99_99_ns, latency.p99_9999_ns), (None, None, None));
    }
}

#[test]
fn moments_are_of_all_samples_and_quantiles_are_medians_over_runs() {
    let document = sample::document();
    for cell in cells(&document, Workload::Latency) {
        assert_eq!(cell.latency.keys().collect::<Vec<_>>(), ["one_way_back", "one_way_out", "rtt"]);
        assert_eq!(cell.latency["rtt"].n, 1200);
        assert_pooled(cell, |_| true);
    }
}

#[test]
fn the_pool_supports_what_one_run_does_not() {
    let header = sample::header();
    let mut assembler = Assembler::new(header.clone());
    for (mut run, _) in sample::runs() {
        let distribution = sample::record(&sample::latencies(run.number, 32)["rtt"][..100]);
        let mut log = IntervalLog::new();
        log.add("rtt", &distribution).unwrap();
        run.latency = [("rtt".to_owned(), sample::latency_of(&distribution))].into();
        assembler.add(run, &log.merged());
    }
    let document = assembler.document(State::Complete);
    let cell = cells(&document, Workload::Latency).next().unwrap();
    assert!(cell.runs.iter().all(|run| run.latency["rtt"].p99_ns.is_none()), "of 100 samples");
    let rtt = &cell.latency["rtt"];
    assert!(rtt.p99_ns.is_some() && rtt.is_pooled(0.99) && !rtt.is_pooled(0.9), "of 300 samples");
}

/// A run of a fixed time has more samples if they are quick: its p99 is not that of all runs.
#[test]
fn a_quantile_that_only_the_quick_run_supports_is_that_of_all_runs() {
    let mut assembler = Assembler::new(sample::header());
    for (mut run, _) in sample::runs() {
        let slow = run.block > 1;
        let values: Vec<u64> = if slow { vec![9_000_000; 100] } else { vec![40_000; 400] };
        let distribution = sample::record(&values);
        let mut log = IntervalLog::new();
        log.add("rtt", &distribution).unwrap();
        run.latency = [("rtt".to_owned(), sample::latency_of(&distribution))].into();
        assembler.add(run, &log.merged());
    }
    let document = assembler.document(State::Complete);
    let rtt = &cells(&document, Workload::Latency).next().unwrap().latency["rtt"];
    let (p50, p99) = (rtt.p50_ns.unwrap(), rtt.p99_ns.unwrap());
    assert!(p99 >= p50 && rtt.is_pooled(0.99) && !rtt.is_pooled(0.5), "{rtt:?}");
}

/// Quantiles are over all that were sent, and the lost ones took longest; a quantile among the lost is `None`.
#[test]
fn a_lost_round_trip_is_longer_than_all_others() {
    let values: Vec<u64> = (1..=999).map(|value| 1_000 * value).collect();
    let distribution = sample::record(&values);
    let all = sample::latency_of(&distribution);
    let mut histogram = results::new_histogram();
    values.iter().for_each(|value| histogram.record(*value).unwrap());
    assert_eq!(Latency::of_merged(&distribution, &histogram, 0), all);
    for lost in [1, 9, 10, 11, 99, 110, 111, 998, 999, 1000, u64::MAX] {
        let found = Latency::of_merged(&distribution, &histogram, lost);
        assert_eq!((found.n, found.lost, found.mean_ns, found.max_ns), (999, lost, all.mean_ns, 999_000));
        let sent = 999_u128 + u128::from(lost);
        for (of_100, found) in [(50, found.p50_ns), (90, found.p90_ns), (99, found.p99_ns)] {
            let rank = (of_100 * sent).div_ceil(100);
            let is_lost = u128::from(lost) * 100 >= (100 - of_100) * sent;
            let truth = (!is_lost).then(|| values[rank as usize - 1] as f64);
            let close = |(found, truth): (u64, f64)| (found as f64 - truth).abs() <= 0.001 * truth;
            assert_eq!(found.is_some(), truth.is_some(), "{lost} {of_100}: {found:?} {truth:?}");
            assert!(found.zip(truth).is_none_or(close), "{lost} {of_100}: {found:?} {truth:?}");
        }
        assert_eq!(found.p99_9_ns, None, "of 999");
    }
}

/// A lost quantile of a run counts as longer than the others; if half of the runs lost it, it is `None`.
#[test]
fn a_cell_has_the_median_over_runs_of_which_some_lost_the_quantile() {
    let header = sample::header();
    let p90 = |lossy: &[u32]| {
        let mut assembler = Assembler::new(header.clone());
        for (mut run, log) in sample::runs() {
            let histograms = log.merged();
            if let Some(rtt) = run.latency.get_mut("rtt").filter(|_| lossy.contains(&run.block)) {
                let Latency { n, mean_ns, min_ns, max_ns, .. } = *rtt;
                let distribution = Distribution { n, mean_ns, min_ns, max_ns, ..Distribution::default() };
                *rtt = Latency::of_merged(&distribution, &histograms["rtt"], 50);
                assert_eq!((rtt.p90_ns, rtt.p50_ns.is_some()), (None, true));
            }
            assembler.add(run, &histograms);
        }
        let document = assembler.document(State::Complete);
        let cell = cells(&document, Workload::Latency).next().unwrap();
        let mut runs: Vec<u64> = cell.runs.iter().filter_map(|run| run.latency["rtt"].p90_ns).collect();
        runs.sort_unstable();
        (cell.latency["rtt"].p90_ns, runs, cell.latency["rtt"].pooled.clone())
    };
    let (found, runs, _) = p90(&[2]);
    assert_eq!(found, Some(runs[1] as f64), "the longer one of two, and one longer than both");
    assert_eq!(p90(&[1, 2]).0, None);
    let (found, _, pooled) = p90(&[1, 2, 3]);
    assert_eq!((found, pooled.as_slice()), (None, &[][..]));
}

#[test]
fn rates_are_medians_and_counts_are_sums() {
    let document = sample::document();
    for cell in cells(&document, Workload::Throughput) {
        let runs: Vec<_> = cell.runs.iter().map(|run| run.throughput().unwrap()).collect();
        let whole = cell.throughput.as_ref().unwrap();
        let rates: Vec<f64> = runs.iter().map(|run| run.delivered_sps).collect();
        assert_eq!(Some(whole.delivered_sps), median(&rates));
        assert!(rates.contains(&whole.delivered_sps), "of three runs the median is one of them");
        assert_eq!(whole.sent, runs.iter().map(|run| run.sent).sum::<u64>());
        assert_eq!(whole.sent, whole.delivered + whole.lost);
        let lost_pct = whole.lost as f64 / whole.sent as f64 * 100.0;
        assert!((whole.lost_pct - lost_pct).abs() < 1e-12);
        let cpu: Vec<f64> =
            cell.runs.iter().map(|run| run.cpu_ns_per_sample.as_ref().unwrap().reader).collect();
        assert_eq!(Some(cell.cpu_ns_per_sample.as_ref().unwrap().reader), median(&cpu));
    }
}

#[test]
fn invalid_runs_are_excluded_everywhere() {
    let document = sample::document_with(|run| match run.block {
        1 => *run = sample::failed(run),
        2 => run.state = RunState::Invalid,
        _ => {}
    });
    for cell in cells(&document, Workload::Latency) {
        assert_eq!(cell.runs.len(), 3);
        assert_eq!(cell.valid_runs().count(), 1);
        assert_pooled(cell, |run| run.block == 3);
    }
    for cell in cells(&document, Workload::Throughput) {
        let valid = cell.runs.iter().find(|run| run.block == 3).unwrap();
        assert_eq!(cell.throughput.as_ref(), valid.throughput());
        assert_eq!(cell.cpu_ns_per_sample, valid.cpu_ns_per_sample);
    }
    for cell in &document.cells {
        let kinds: Vec<_> = cell.warnings.iter().map(|warning| warning.kind).collect();
        assert!(kinds.contains(&WarningKind::RunsFailed) && kinds.contains(&WarningKind::RunsInvalid));
        assert!(cell.warnings[0].text.starts_with("1 of 3 runs failed: run "), "{}", cell.warnings[0].text);
    }
}

#[test]
fn cell_without_valid_run_has_no_values() {
    let document = sample::document_with(|run| *run = sample::failed(run));
    for cell in &document.cells {
        assert!(cell.latency.is_empty() && cell.throughput.is_none() && cell.cpu_ns_per_sample.is_none());
        assert!(cell.effective_qos.is_empty() && cell.settings.is_empty());
        assert_eq!(cell.warnings.len(), 1);
    }
}

#[test]
fn runs_are_sorted_by_execution() {
    let mut runs = sample::runs();
    runs.reverse();
    let mut assembler = Assembler::new(sample::header());
    for (run, log) in runs {
        assert!(!assembler.is_complete());
        assembler.add(run, &log.merged());
    }
    assert!(assembler.is_complete());
    assert_eq!(assembler.document(State::Complete), sample::document());
}

#[test]
fn settings_and_qos_are_those_that_all_runs_share() {
    let document = sample::document_with(|run| {
        if run.block == 2 {
            run.endpoints[1].effective_qos.clear();
        }
    });
    let cell = document.cells.iter().find(|cell| cell.factors.driver == "dds").unwrap();
    let participant = &cell.settings["participant"];
    assert_eq!(participant.get("receive_buffer").map(String::as_str), Some("1048576"));
    assert_eq!(participant.get("address"), None, "differs from run to run");
    assert_eq!(participant.get("peer"), None, "differs from agent to agent");
    assert_eq!(cell.effective_qos.keys().collect::<Vec<_>>(), ["writer"]);
}

#[test]
fn an_interrupted_experiment_says_so() {
    let header = sample::header();
    let mut assembler = Assembler::new(header.clone());
    for (run, log) in sample::runs().into_iter().take(5) {
        assembler.add(run, &log.merged());
    }
    let document = assembler.document(State::Interrupted);
    assert_eq!(document.cells.len(), header.experiment.cells.len(), "cells without runs are there too");
    let warning = &document.warnings[0];
    assert_eq!(warning.kind, WarningKind::Incomplete);
    assert_eq!(
        warning.text,
        format!("stopped early: 5 of {} runs were made", header.experiment.cells.len() * 3)
    );
}

#[test]
fn a_histogram_that_lacks_values_gives_no_quantile() {
    let header = sample::header();
    let mut assembler = Assembler::new(header.clone());
    for (run, log) in sample::runs() {
        let histograms = if run.block == 2 { Histograms::new() } else { log.merged() };
        assembler.add(run, &histograms);
    }
    let document = assembler.document(State::Complete);
    let cell = cells(&document, Workload::Latency).next().unwrap();
    let rtt = &cell.latency["rtt"];
    assert!(rtt.n == 1200 && rtt.p50_ns.is_some() && rtt.p99_9_ns.is_none(), "{rtt:?}");
    let text =
        "no quantiles of `rtt` for which a run has too few samples: the histograms hold 800 values, not 1200";
    assert!(cell.warnings.iter().any(|w| w.kind == WarningKind::Incomplete && w.text == text), "{cell:?}");
}

/// Kind of the warning, workload, change to a run, and expected text of the cell's warning.
type Case = (WarningKind, Workload, fn(&mut Run), &'static str);

#[test]
fn each_defect_has_exactly_its_own_warning() {
    let cases: [Case; 10] = [
        (
            WarningKind::Loss,
            Workload::Latency,
            |run| run.flows[0].counted.lost = 12,
            "36 of 1200 pings were lost (3.00 %)",
        ),
        (
            WarningKind::BufferDrops,
            Workload::Throughput,
            |run| run.udp_buffer_drops = Some(7),
            "21 datagrams",
        ),
        (
            WarningKind::Foreign,
            Workload::Throughput,
            |run| run.flows[0].counted.foreign = 1,
            "3 samples came",
        ),
        (
            WarningKind::Corrupt,
            Workload::Throughput,
            |run| run.flows[0].counted.corrupt = 2,
            "6 samples were damaged",
        ),
        (
            WarningKind::Order,
            Workload::Latency,
            |run| run.flows[0].counted.duplicate = 1,
            "3 samples came again, 0 out",
        ),
        (
            WarningKind::Order,
            Workload::Throughput,
            |run| run.flows[0].counted.out_of_order = 1,
            "0 samples came again, 3",
        ),
        (
            WarningKind::Spread,
            Workload::Throughput,
            |run| run.throughput_mut().unwrap().delivered_sps = 1e5 + 2e4 * f64::from(run.block),
            "3 runs differ widely: samples delivered from 120000 to 160000/s (±14 %)",
        ),
        (
            WarningKind::Spread,
            Workload::Latency,
            |run| run.latency.get_mut("rtt").unwrap().p50_ns = Some(20_000 + 5_000 * u64::from(run.block)),
            "3 runs differ widely: median RTT from 25.0 to 35.0 µs (±17 %)",
        ),
        (
            WarningKind::Incomplete,
            Workload::Throughput,
            |run| run.flows[0].counted.undelivered = 5,
            "15 samples were still",
        ),
        (
            WarningKind::WritesRefused,
            Workload::Throughput,
            |run| {
                let (kind, text) = (WarningKind::WritesRefused, "9 writes were refused".to_owned());
                run.warnings.push(Warning::new(kind, text));
            },
            "9 writes were refused (the first of 3 such warnings of the runs)",
        ),
    ];
    // the reliable driver loses nothing, so its cells have no other warnings
    let reliable = |document: &ResultDocument, workload| {
        let cells: Vec<CellResult> =
            cells(document, workload).filter(|cell| cell.factors.driver == "dds").cloned().collect();
        assert!(!cells.is_empty());
        cells
    };
    for workload in [Workload::Latency, Workload::Throughput] {
        for cell in reliable(&sample::document(), workload) {
            assert_eq!(cell.warnings, [], "{}", cell.id);
        }
    }
    for (kind, workload, befalls, text) in cases {
        let document = sample::document_with(|run| {
            if run.cell.contains(workload.name()) {
                befalls(run);
            }
        });
        for cell in reliable(&document, workload) {
            let [warning] = &cell.warnings[..] else { panic!("{kind:?}: {:?}", cell.warnings) };
            assert_eq!(warning.kind, kind);
            assert!(warning.text.contains(text), "{}", warning.text);
        }
    }
}

/// Returns the warnings of a cell whose runs in 16 blocks have these median RTTs, in µs.
fn of_median_rtts(us: impl Fn(u32) -> u64) -> Vec<Warning> {
    let mut header = sample::header();
    header.experiment.cells.retain(|cell| cell.id == "dds/udp4/latency/32");
    header.experiment.design.blocks = 16;
    let mut assembler = Assembler::new(header.clone());
    for (mut run, log) in sample::runs_of(&header.experiment) {
        run.latency.get_mut("rtt").unwrap().p50_ns = Some(1000 * us(run.block));
        assembler.add(run, &log.merged());
    }
    assembler.document(State::Complete).cells.remove(0).warnings
}

#[test]
fn groups_of_runs_that_are_far_apart_are_named() {
    let of = |slow: u64| {
        of_median_rtts(|block| u64::from(block % 5) + if block >= 12 { slow } else { 100 })
            .into_iter()
            .find(|warning| matches!(warning.kind, WarningKind::Spread | WarningKind::Groups))
    };
    let groups = "16 runs form groups: median RTT near 102 µs (11 runs in blocks 1 to 11), near 702 µs (5 runs in blocks 12 to 16)";
    assert_eq!(of(700), Some(Warning::new(WarningKind::Groups, groups)));
    // groups that are close to each other
    let close = "16 runs differ widely: median RTT from 100 to 134 µs (±17 %)";
    assert_eq!(of(130), Some(Warning::new(WarningKind::Spread, close)));
    assert_eq!(of(100), None);
    // two runs are no group
    let outliers = of_median_rtts(|block| u64::from(block % 5) + if block >= 15 { 700 } else { 100 });
    assert_eq!(outliers[0].kind, WarningKind::Spread, "{outliers:?}");
}

#[test]
fn loss_is_reported_as_a_broken_guarantee() {
    let document = sample::document_with(|run| {
        // 2 % of the pings of one size, 0.5 % of the others
        run.flows[0].counted.lost = if run.cell.ends_with("latency/32") { 8 } else { 2 };
    });
    for cell in &document.cells {
        let text = &cell.warnings.iter().find(|warning| warning.kind == WarningKind::Loss).unwrap().text;
        let ending = match (cell.id.as_str(), cell.factors.driver.as_str()) {
            (id, _) if id.ends_with("latency/32") => "(2.00 %): too many for a verdict on latency",
            (_, "dds") => "although delivery was to be reliable",
            _ => " %)",
        };
        assert!(text.ends_with(ending), "{text}");
    }
    let lossy = document.cells.iter().find(|cell| cell.id == "dds/udp4/latency/32").unwrap();
    assert!((lossy.shortfall().pct() - 2.0).abs() < 1e-12);
}

#[test]
fn a_paced_run_has_what_was_planned_and_each_stream_by_itself() {
    use sample::paced;
    let flows =
        [paced::flow("control", 64, paced::constant(100)), paced::flow("bulk", 4096, paced::constant(5000))];
    let header = paced::header(&[paced::constant(1000), Load::Max], &flows);
    let document = paced::document_with(&header, |_| {});
    let cell = |id: &str| document.cells.iter().find(|cell| cell.id == id).unwrap();

    let one = cell("dds/paced/1000/s");
    let paced = one.paced.as_ref().unwrap();
    assert_eq!((paced.planned, paced.planned_sps, paced.unsent), (600, Some(1000.0), 0));
    assert_eq!((paced.sender_limited_runs, one.is_sender_limited()), (0, false));
    assert_eq!(one.latency.keys().collect::<Vec<_>>(), ["response", "send_lag", "service", "write_call"]);
    // all runs together support a quantile that no single run supports
    assert_eq!(one.latency["response"].n, 3600);
    assert!(one.latency["response"].p99_9_ns.is_some() && one.runs[0].latency["response"].p99_9_ns.is_none());
    assert_eq!(paced.flows[0].latency, one.latency);
    assert_eq!((paced.flows[0].planned, paced.flows[0].counted.sent), (600, 600));

    let several = cell("dds/paced/flows");
    let paced = several.paced.as_ref().unwrap();
    assert_eq!((paced.planned, paced.planned_sps), (3060, Some(5100.0)));
    assert_eq!(several.latency["service"].n, 7200);
    for (flow, planned) in paced.flows.iter().zip([60, 3000]) {
        assert_eq!((flow.planned, flow.latency["service"].n), (planned, 3600));
        let runs = several.runs.iter().flat_map(|run| {
            paced::values(run.number, &flows[usize::from(flow.name == "bulk")]).remove("service").unwrap()
        });
        let mut values: Vec<u64> = runs.collect();
        values.sort_unstable();
        // medians over runs that differ a little, compared with the median of all their samples
        let (found, truth) = (flow.latency["service"].p50_ns.unwrap(), values[1799] as f64);
        assert!((found - truth).abs() <= 0.05 * truth, "{found} {truth}");
    }

    let max = cell("dds/paced/max").paced.as_ref().unwrap();
    assert_eq!(max.planned_sps, None);
    assert_eq!(max.flows[0].latency.keys().collect::<Vec<_>>(), ["service", "write_call"]);
}

#[test]
fn a_cell_is_sender_limited_where_half_of_its_valid_runs_are() {
    let header = sample::paced::header(&[sample::paced::constant(1000)], &[]);
    let limited = |late: &[u32], invalid: &[u32]| {
        let document = sample::paced::document_with(&header, |run| {
            run.paced_mut().unwrap().sender_limited = late.contains(&run.block);
            if invalid.contains(&run.block) {
                run.state = RunState::Invalid;
            }
        });
        document.cells[0].is_sender_limited()
    };
    assert!(!limited(&[], &[]) && !limited(&[1], &[]) && limited(&[1, 2], &[]));
    // runs that are not valid are ignored
    assert!(limited(&[1], &[3]) && !limited(&[1], &[1]));
}
