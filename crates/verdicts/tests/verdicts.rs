//! Each verdict has an input that gives it, and one that gives its opposite.
#[path = "../../results/tests/sample/mod.rs"]
mod sample;

use std::collections::BTreeSet;

use experiment::{
    Arrival, Characterize, Effort, Load, Pin, Rate, ReceiveMode, ReliabilityChoice, Share, Workload,
};
use results::{
    Assembler, Conclusion, CriterionOutcome, Document, Histograms, Metric, Pairing, Run, RunState, State,
    SteadyState, SteadyVerdict, Typical, Verdict, VerdictKind,
};
use verdicts::{Asked, Criterion, Refusal, Side, compare};

/// A result of two drivers, of which `plain` is the baseline, with what `change` makes of each run.
fn result(workload: Workload, blocks: u32, change: impl Fn(&mut Run)) -> Document {
    made(workload, blocks, false, change)
}

/// The same, in duets or not.
fn made(workload: Workload, blocks: u32, duet: bool, change: impl Fn(&mut Run)) -> Document {
    let mut header = sample::header_of(&Characterize {
        drivers: vec!["plain".to_owned(), "dds".to_owned()],
        sizes: vec![1024],
        workloads: vec![workload],
        batch_bytes: 0,
        reliability: ReliabilityChoice::Strongest,
        receive: ReceiveMode::Waitset,
        interface: "lo".to_owned(),
        multicast: false,
        vendor_defaults: false,
        transport: None,
        options: Vec::new(),
        effort: Effort::Quick,
        runs: None,
        measure_ns: None,
        warm_up_ns: None,
        check_every: 64,
        seed: 3,
        pin: Pin::None,
        keep_awake: false,
        match_ns: None,
    });
    header.experiment.design.blocks = blocks;
    header.experiment.design.duet = duet;
    let baseline = header.experiment.cells.iter().find(|cell| cell.factors.driver == "plain");
    header.experiment.design.baseline = vec![baseline.expect("a cell").id.clone()];
    let (schedule, cells) = (header.experiment.schedule(), header.experiment.cells.clone());
    let mut assembler = Assembler::new(header);
    for scheduled in schedule {
        let (mut run, _) = sample::run(scheduled, &cells[scheduled.cell]);
        change(&mut run);
        assembler.add(run, &Histograms::new());
    }
    assembler.document(State::Complete)
}

/// A round trip of 100 µs where `driver`'s is `ratio` of it, and runs lie up to `reach` apart.
fn rtt(run: &mut Run, ratio: f64, reach: f64) {
    let noise = (sample::Noise(u64::from(run.number)).next() >> 11) as f64 / (1_u64 << 53) as f64;
    let ratio = if run.cell.starts_with("dds") { ratio } else { 1.0 };
    let p50 = 100_000.0 * ratio * (1.0 + reach * (2.0 * noise - 1.0));
    let rtt = run.latency.get_mut("rtt").expect("a latency run");
    (rtt.p50_ns, rtt.p99_ns) = (Some(p50 as u64), Some((3.0 * p50) as u64));
}

fn latency(blocks: u32, ratio: f64, reach: f64) -> Document {
    result(Workload::Latency, blocks, |run| rtt(run, ratio, reach))
}

/// Of the treatment's median RTT.
fn p50(document: &Document) -> Verdict {
    p50_without(document, &[])
}

fn p50_without(document: &Document, noisy: &[u32]) -> Verdict {
    let noisy = BTreeSet::from_iter(noisy.iter().copied());
    let mut verdicts = verdicts::without(document, &noisy);
    verdicts.retain(|verdict| verdict.kind == VerdictKind::Comparison && verdict.metric == Metric::RttP50);
    assert_eq!(verdicts.len(), 1);
    verdicts.remove(0)
}

fn conclusion(verdict: &Verdict) -> &Conclusion {
    &verdict.answer.as_ref().expect("a verdict").conclusion
}

#[test]
fn each_conclusion_has_its_words() {
    let words = [
        (12, 0.95, 0.01),
        (12, 1.08, 0.01),
        (12, 1.0, 0.01),
        (12, 0.99, 0.002),
        (12, 1.0, 0.2),
        (3, 2.0, 0.01),
    ]
    .map(|(blocks, ratio, reach)| p50(&latency(blocks, ratio, reach)).text);
    assert_eq!(
        words,
        [
            "p50 RTT 5.1 % lower (95 % 4.7..5.6, 12 blocks)",
            "p50 RTT 7.9 % higher (95 % 7.4..8.3, 12 blocks)",
            "p50 RTT equivalent within 2 % (95 % -0.6..+0.3, 12 blocks)",
            "p50 RTT 1.0 % lower, equivalent within 2 % (95 % 0.9..1.1, 12 blocks)",
            "p50 RTT inconclusive: could have seen 15.2 % (95 % -11.2..+5.8, 12 blocks)",
            "p50 RTT has too few blocks for any claim: 3, needs 7",
        ]
    );
}

#[test]
fn what_is_better_depends_on_the_figure() {
    let lower = p50(&latency(12, 0.9, 0.01));
    assert_eq!(conclusion(&lower), &Conclusion::Lower { better: true, within_margin: false });
    let document = result(Workload::Throughput, 12, |run| {
        let ratio = if run.cell.starts_with("dds") { 0.9 } else { 1.0 };
        let throughput = run.throughput.as_mut().expect("a throughput run");
        throughput.goodput_mbps = 900.0 * ratio * (1.0 + 0.001 * f64::from(run.number % 5));
    });
    let verdicts = verdicts::of(&document);
    let goodput = verdicts.last().expect("a verdict");
    assert_eq!(conclusion(goodput), &Conclusion::Lower { better: false, within_margin: false });
    assert!(goodput.text.starts_with("goodput 10.0 % lower (95 % "), "{}", goodput.text);
}

#[test]
fn the_baseline_against_itself_is_the_noise_floor() {
    let floors = |document: &Document| -> Vec<Verdict> {
        let mut verdicts = verdicts::of(document);
        verdicts.retain(|verdict| verdict.kind == VerdictKind::NoiseFloor);
        verdicts
    };
    let quiet = floors(&latency(12, 0.9, 0.01));
    assert_eq!(quiet.len(), 2, "median and p99");
    for floor in &quiet {
        assert_eq!(floor.treatment.cell, floor.baseline.cell);
        assert_eq!(floor.answer.as_ref().map(|answer| (answer.n, answer.family)), Some((12, 2)));
        assert!(!conclusion(floor).differs(), "{}", floor.text);
    }
    // a second run that is always slower would be a defect of the rig, and is seen
    let rigged = result(Workload::Latency, 12, |run| {
        rtt(run, 1.0, 0.01);
        let slower = if run.twin { 1.1 } else { 1.0 };
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        rtt.p50_ns = rtt.p50_ns.map(|ns| (ns as f64 * slower) as u64);
    });
    assert!(conclusion(&floors(&rigged)[0]).differs());
    // no baseline: no verdict
    let mut without = latency(12, 0.9, 0.01);
    without.experiment.design.baseline.clear();
    without.cells.iter_mut().for_each(|cell| cell.runs.retain(|run| !run.twin));
    assert_eq!(verdicts::of(&without), []);
}

#[test]
fn over_one_percent_of_lost_pings_there_is_no_verdict_on_latency() {
    let lossy = |lost| {
        p50(&result(Workload::Latency, 12, |run| {
            rtt(run, 0.9, 0.01);
            if run.cell.starts_with("dds") {
                run.counted[0].lost = lost;
            }
        }))
    };
    // of 400
    let (kept, withheld) = (lossy(4), lossy(5));
    assert!(kept.withheld.is_none() && conclusion(&kept).differs(), "{}", kept.text);
    assert_eq!(withheld.answer, None);
    assert_eq!(
        withheld.text,
        "p50 RTT: no verdict: 1.2 % of the pings of `dds/udp4/latency/1024` were lost, more than 1 %"
    );
}

#[test]
fn groups_of_runs_are_told_with_places_and_shares() {
    let grouped = |apart: f64| {
        p50(&result(Workload::Latency, 20, |run| {
            rtt(run, 1.0, 0.01);
            let rtt = run.latency.get_mut("rtt").expect("a latency run");
            if run.cell.starts_with("dds") && run.block % 5 < 2 {
                rtt.p50_ns = rtt.p50_ns.map(|ns| (ns as f64 * apart) as u64);
            }
        }))
    };
    let (one, two) = (grouped(1.0), grouped(1.5));
    assert!(one.treatment.modes.is_empty() && !one.text.contains("multi-modal"), "{}", one.text);
    assert!(two.text.contains("; multi-modal: 60 % near 100 µs, 40 % near 150 µs"), "{}", two.text);
    assert!(two.baseline.modes.is_empty() && !two.text.contains("baseline multi-modal"), "{}", two.text);
}

#[test]
fn what_tells_groups_of_runs_apart_is_named_and_what_does_not_is_not() {
    let is_slow = |run: &Run| run.block % 5 < 2;
    let plain = result(Workload::Latency, 20, |run| {
        rtt(run, 1.0, 0.01);
        let slow = run.cell.starts_with("dds") && is_slow(run);
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        rtt.p50_ns = rtt.p50_ns.map(|ns| if slow { ns * 3 / 2 } else { ns });
        let mut noise = sample::Noise(900 + u64::from(run.number));
        run.environment_padding_bytes = Some((noise.next() % 4096) as u32);
        for agent in &mut run.agents {
            agent.usage.involuntary_switches = noise.next() % 20;
            agent.usage.core = Some((noise.next() % 2) as u32);
        }
    });
    let told = |record: &dyn Fn(&mut Run)| {
        let mut document = plain.clone();
        document.cells.iter_mut().flat_map(|cell| &mut cell.runs).for_each(record);
        let verdict = p50(&document);
        (verdict.treatment.modes_by.clone().expect("groups"), verdict.text)
    };
    let (by, text) = told(&|_| {});
    assert!(by.separating.is_empty() && by.enough_runs && by.tested >= 5, "{by:?}");
    assert!(text.ends_with(&format!(", told apart by none of {} recorded fields", by.tested)), "{text}");

    let (by, text) = told(&|run| run.agents[1].usage.core = Some(u32::from(is_slow(run))));
    assert_eq!(by.separating.len(), 1, "{by:?}");
    assert!(by.separating[0].field == "core of the ponger" && by.separating[0].p_holm < 0.01, "{by:?}");
    assert!(text.ends_with(", told apart by core of the ponger (0, then 1)"), "{text}");

    let (by, text) = told(&|run| run.udp_buffer_drops = Some(if is_slow(run) { 312 } else { 0 }));
    assert_eq!(by.separating[0].typical, [Typical::Number(0.0), Typical::Number(312.0)].map(Some));
    assert!(text.ends_with(", told apart by UDP buffer drops (0, then 312)"), "{text}");

    // of many fields nothing could be shown by 12 runs
    let (by, text) = told(&|run| {
        if run.block > 12 {
            run.state = RunState::Failed;
        }
        for number in 0..30 {
            let word = sample::Noise(u64::from(run.number * 100 + number)).next() % 2;
            let settings = run.agents[0].settings.entry("reader".to_owned()).or_default();
            settings.insert(format!("setting{number}"), word.to_string());
        }
    });
    assert!(!by.enough_runs && by.separating.is_empty() && by.tested > 30, "{by:?}");
    let words = format!(", with too few runs to tell by which of {} recorded fields", by.tested);
    assert!(text.contains(&words), "{text}");
}

#[test]
fn runs_without_steady_state_and_runs_without_figures_are_counted() {
    let document = result(Workload::Latency, 12, |run| {
        rtt(run, 0.9, 0.01);
        let dds = run.cell.starts_with("dds");
        let verdict = if dds && run.block <= 5 { SteadyVerdict::NoSteadyState } else { SteadyVerdict::Flat };
        let state = SteadyState { verdict, steady_from_ns: None, segments: Vec::new() };
        run.steady_state.insert("rtt_p50".to_owned(), state);
        match run.block {
            10 if dds => run.state = RunState::Failed,
            11 if !dds && !run.twin => run.state = RunState::Invalid,
            12 if dds => run.latency.get_mut("rtt").expect("rtt").p50_ns = None,
            _ => {}
        }
    });
    let verdict = p50(&document);
    assert!(verdict.text.contains(", 9 blocks)"), "{}", verdict.text);
    assert!(
        verdict.text.ends_with(
            "; no steady state in 5 of 21 runs; left out: runs 1 failed, 1 invalid, 1 without this figure"
        ),
        "{}",
        verdict.text
    );
    assert_eq!(verdict.answer.map(|answer| (answer.n, answer.incomplete)), Some((9, 3)));
    let clean = p50(&latency(12, 0.9, 0.01));
    assert!(!clean.text.contains("steady") && !clean.text.contains("left out"), "{}", clean.text);
}

#[test]
fn noisy_blocks_are_told_with_and_without() {
    let document = result(Workload::Latency, 12, |run| {
        rtt(run, 0.9, 0.01);
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        // the noise hits the treatment, in a third of the blocks
        if run.block <= 4 && run.cell.starts_with("dds") {
            rtt.p50_ns = rtt.p50_ns.map(|ns| ns * 3);
        }
    });
    let none = p50(&document);
    assert!(none.without_noisy.is_none() && !none.depends_on_noise(), "{}", none.text);
    let some = p50_without(&document, &[1, 2, 3, 4]);
    assert!(some.depends_on_noise(), "{}", some.text);
    assert!(some.text.contains("p50 RTT inconclusive"), "{}", some.text);
    assert!(
        some.text.contains("; without 4 noisy blocks, ANOTHER CONCLUSION: 10.3 % lower (95 % "),
        "{}",
        some.text
    );
    // the conclusion may as well be the same
    let same = p50_without(&latency(12, 0.9, 0.01), &[2]);
    assert!(same.text.contains("; without the noisy block: 10."), "{}", same.text);
    assert!(!same.depends_on_noise() && same.without_noisy.is_some_and(|quiet| quiet.n == 11));
}

#[test]
fn claims_of_one_table_share_the_level_and_a_list_to_look_at_does_not_claim() {
    let verdicts = verdicts::of(&latency(12, 0.9, 0.01));
    let answers: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.kind == VerdictKind::Comparison)
        .filter_map(|verdict| verdict.answer.as_ref())
        .collect();
    assert_eq!(answers.len(), 2);
    for answer in answers {
        assert_eq!(answer.family, 2);
        assert!(answer.p_holm >= answer.p && answer.p_exploratory <= answer.p_holm, "{answer:?}");
        let [low, high] = answer.simultaneous_pct.expect("12 blocks");
        assert!(low <= answer.low_pct.expect("low") && high >= answer.high_pct.expect("high"));
    }
}

fn side<'d>(name: &str, document: &'d Document, cell: &str) -> Side<'d> {
    let cells = document.cells.iter().filter(|found| found.id.starts_with(cell)).collect();
    Side { name: name.to_owned(), document, cells }
}

fn criteria(texts: &[&str]) -> Vec<Criterion> {
    texts.iter().map(|text| Criterion::parse(text).expect("a criterion")).collect()
}

#[test]
fn two_cells_of_one_result_are_paired_by_block_and_two_results_are_not() {
    let document = latency(12, 0.9, 0.01);
    let asked = Asked { factors: vec!["driver".to_owned(), "qos".to_owned()], ..Asked::default() };
    let one =
        compare(&side("a", &document, "plain"), &side("a", &document, "dds"), &asked).expect("compared");
    let of = |comparison: &results::Comparison| {
        let verdicts = comparison.verdicts.iter();
        verdicts
            .filter(|verdict| verdict.kind == VerdictKind::Comparison)
            .map(|v| v.pairing)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&one), [Pairing::Blocks; 2]);
    assert!(one.notes.iter().all(|note| !note.contains("Drift")), "{:?}", one.notes);
    // the same cell, later, with another noise
    let later = result(Workload::Latency, 10, |run| {
        run.number += 1000;
        rtt(run, 0.8, 0.01);
    });
    let two = compare(&side("a", &document, "dds"), &side("b", &later, "dds"), &Asked::default());
    let two = two.expect("compared");
    assert_eq!(of(&two), [Pairing::Apart; 2]);
    assert!(two.notes[0].contains("Drift between the two is not controlled"), "{:?}", two.notes);
    let p50 = two.verdicts.iter().find(|verdict| verdict.pairing == Pairing::Apart).expect("a verdict");
    assert!(
        p50.text.starts_with("p50 RTT 11.0 % lower (95 % ") && p50.text.contains("12 and 10 runs"),
        "{}",
        p50.text
    );
}

/// Each block is on a level of its own, which all its duets share; but for the ratio runs lie up to 1 % apart.
fn duets(blocks: u32, ratio: f64, change: impl Fn(&mut Run)) -> Document {
    made(Workload::Latency, blocks, true, |run| {
        rtt(run, ratio * f64::from(1 + run.block % 3), 0.01);
        if run.cell.starts_with("plain") {
            rtt(run, 1.0, 0.01);
            let rtt = run.latency.get_mut("rtt").expect("a latency run");
            rtt.p50_ns = rtt.p50_ns.map(|ns| ns * u64::from(1 + run.block % 3));
        }
        change(run);
    })
}

#[test]
fn a_run_of_a_duet_is_held_against_the_one_beside_it() {
    let document = duets(12, 0.9, |_| {});
    let verdict = p50(&document);
    assert_eq!((verdict.pairing, verdict.treatment.under_duet_interference), (Pairing::Duets, true));
    assert!(verdict.text.starts_with("p50 RTT 9.9 % lower (95 % 9.4..10.4, 12 duets); "), "{}", verdict.text);
    // the levels of the blocks are in the figures, and not in the ratio
    assert!(verdict.text.contains("baseline multi-modal under duet interference: "), "{}", verdict.text);
    assert_eq!((verdict.baseline.runs, verdict.treatment.runs), (12, 12), "{verdict:?}");
    let floors = verdicts::of(&document);
    let floor = floors.iter().find(|verdict| verdict.kind == VerdictKind::NoiseFloor).expect("a floor");
    assert_eq!((floor.pairing, floor.answer.as_ref().map(|answer| answer.n)), (Pairing::Duets, Some(12)));
    assert!(!conclusion(floor).differs(), "{}", floor.text);
    assert!(p50(&duets(3, 0.9, |_| {})).text.ends_with("has too few duets for any claim: 3, needs 7"));

    // without a figure at one side, or not side by side, there is no ratio
    for spoil in [
        |run: &mut Run| run.state = RunState::Failed,
        |run: &mut Run| run.duet.as_mut().expect("a duet").side_by_side_pct = 80.0,
    ] {
        let spoilt = duets(12, 0.9, |run| {
            if run.block <= 2 && run.cell.starts_with("dds") {
                spoil(run);
            }
        });
        let answer = p50(&spoilt).answer.expect("an answer");
        assert_eq!((answer.n, answer.incomplete), (10, 2));
    }

    // a run that says that it was beside another has no ratio to this one
    let strangers = duets(12, 0.9, |run| {
        if run.cell.starts_with("dds") {
            run.duet.as_mut().expect("a duet").partner += 1000;
        }
    });
    let withheld = p50(&strangers).withheld.expect("no verdict");
    assert!(withheld.contains("only between runs that were made beside each other"), "{withheld}");
}

#[test]
fn figures_under_duet_interference_are_not_compared_with_others() {
    let document = duets(12, 0.9, |_| {});
    let asked = Asked { factors: vec!["driver".to_owned(), "qos".to_owned()], ..Asked::default() };
    let one =
        compare(&side("a", &document, "plain"), &side("a", &document, "dds"), &asked).expect("compared");
    let judged = one.verdicts.iter().find(|verdict| verdict.kind == VerdictKind::Comparison).expect("one");
    assert!(conclusion(judged).differs(), "{}", judged.text);

    let later = duets(12, 0.8, |run| run.number += 1000);
    let two = compare(&side("a", &document, "dds"), &side("b", &later, "dds"), &Asked::default());
    let two = two.expect("compared");
    let apart: Vec<_> = two.verdicts.iter().filter(|verdict| verdict.pairing == Pairing::Apart).collect();
    assert!(apart.len() == 2 && apart.iter().all(|verdict| verdict.answer.is_none()), "{apart:?}");
    assert!(apart[0].text.contains("no verdict: figures under duet interference"), "{}", apart[0].text);

    let alone = latency(12, 0.9, 0.01);
    let refused = compare(&side("a", &alone, "dds"), &side("b", &document, "dds"), &Asked::default());
    let Err(Refusal::Differ(differences)) = refused else { panic!("{refused:?}") };
    assert_eq!(differences.iter().map(|d| d.field.as_str()).collect::<Vec<_>>(), ["design.duet"]);
}

#[test]
fn a_result_against_itself_never_differs() {
    for (blocks, reach) in [(12, 0.01), (12, 0.3), (3, 0.01)] {
        let document = latency(blocks, 0.9, reach);
        let all = side("a", &document, "");
        let found = compare(&all, &all, &Asked::default()).expect("compared");
        assert!(found.notes.iter().any(|note| note.contains("the same runs")), "{:?}", found.notes);
        for verdict in found.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison) {
            assert!(!conclusion(verdict).differs(), "{}", verdict.text);
        }
    }
}

#[test]
fn what_differs_in_more_than_the_named_factors_is_refused_by_name() {
    let document = latency(12, 0.9, 0.01);
    let mut other = latency(12, 0.9, 0.02);
    other.host.sysctls.insert("net.core.rmem_max".to_owned(), "26214400".to_owned());
    let compare = |factors: &[&str], force| {
        let factors = factors.iter().map(|&factor| factor.to_owned()).collect();
        let asked = Asked { factors, force, ..Asked::default() };
        compare(&side("a", &document, "dds"), &side("b", &other, "dds"), &asked)
    };
    let refusal = compare(&[], false).expect_err("an environment that differs");
    assert_eq!(refusal.details(), ["env.sysctl.net.core.rmem_max: `212992`, then `26214400`"]);
    let named = compare(&["env.net.core.rmem_max"], false).expect("it is the named factor");
    assert!(!named.forced && named.differences.len() == 1 && named.differences[0].named);
    let forced = compare(&[], true).expect("forced");
    assert!(forced.forced && forced.notes[0].starts_with("FORCED: "), "{:?}", forced.notes);
    assert_eq!(compare(&["sise"], false), Err(Refusal::UnknownFactor("sise".to_owned())));
    // every kind of field
    type Change = fn(&mut Document);
    let changes: [(&str, Change); 8] = [
        ("design.warm_up_ns", |document| document.experiment.design.warm_up_ns += 1),
        ("design.measure_ns", |document| document.experiment.design.measure_ns += 1),
        ("design.pin", |document| document.experiment.design.pin = Pin::Cores(vec![0], vec![1])),
        ("design.keep_awake", |document| document.experiment.design.keep_awake = true),
        ("tool.version", |document| document.tool.version = "9".to_owned()),
        ("driver.middleware_version", |document| {
            document.drivers.get_mut("dds").expect("a driver").middleware_version = "9".to_owned();
        }),
        ("receive", |document| {
            document.cells.iter_mut().for_each(|cell| cell.factors.receive = ReceiveMode::Polling);
        }),
        ("effective_qos.writer.max_samples", |document| {
            let effective = document.cells.iter_mut().filter_map(|cell| cell.effective_qos.get_mut("writer"));
            effective.for_each(|qos| qos.max_samples = Some(77));
        }),
    ];
    for (field, change) in changes {
        let mut other = latency(12, 0.9, 0.02);
        change(&mut other);
        let sides = (side("a", &document, "dds"), side("b", &other, "dds"));
        let Err(Refusal::Differ(found)) = verdicts::compare(&sides.0, &sides.1, &Asked::default()) else {
            panic!("`{field}` differs")
        };
        assert_eq!(found.iter().map(|found| found.field.as_str()).collect::<Vec<_>>(), [field]);
    }
}

#[test]
fn cells_without_a_counterpart_are_named_and_nothing_is_compared_with_nothing() {
    let document = latency(12, 0.9, 0.01);
    let other = latency(12, 0.9, 0.02);
    let found = compare(&side("a", &document, ""), &side("b", &other, "dds"), &Asked::default());
    assert_eq!(found.expect("compared").baseline.unmatched, ["plain/udp4/latency/1024"]);
    let throughput = result(Workload::Throughput, 12, |_| {});
    let refused = compare(&side("a", &document, ""), &side("b", &throughput, ""), &Asked::default());
    assert!(matches!(refused, Err(Refusal::NothingToCompare { .. })), "{refused:?}");
}

#[test]
fn criteria_are_broken_kept_or_not_to_be_told() {
    let judged = |ratio: f64, reach: f64, blocks: u32, texts: &[&str]| {
        let document = latency(blocks, ratio, reach);
        let asked = Asked {
            factors: vec!["driver".to_owned(), "qos".to_owned()],
            criteria: criteria(texts),
            ..Asked::default()
        };
        let found = compare(&side("a", &document, "plain"), &side("a", &document, "dds"), &asked);
        let judged = found.expect("compared").criteria;
        judged.into_iter().map(|judged| judged.outcome).collect::<Vec<_>>()
    };
    use CriterionOutcome::{Broken, CannotTell, Kept};
    assert_eq!(judged(1.10, 0.01, 12, &["p99 > +5%", "p50 > 20%", "p50 < -5%"]), [Broken, Kept, Kept]);
    assert_eq!(judged(0.9, 0.01, 12, &["p50 < -5%"]), [Broken]);
    assert_eq!(judged(1.05, 0.1, 12, &["p99 > +5%"]), [CannotTell]);
    assert_eq!(judged(3.0, 0.01, 5, &["p99 > +5%"]), [CannotTell]);
    let document = latency(12, 1.0, 0.01);
    let asked = Asked { criteria: criteria(&["goodput < -5%"]), ..Asked::default() };
    let wrong = compare(&side("a", &document, "dds"), &side("a", &document, "dds"), &asked);
    assert!(
        matches!(wrong, Err(Refusal::WrongMetric { wanted, .. }) if wanted.means(Metric::Goodput)),
        "{wrong:?}"
    );
}

/// Open loops of two loads, measured in one experiment, with responses of this ratio.
fn under_load(ratio: f64, change: impl Fn(&mut Run)) -> Document {
    use sample::paced::{constant, document_with, header};
    let mut header = header(&[constant(1000), constant(2000)], &[]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    header.experiment.design.blocks = 12;
    document_with(&header, |run| {
        let noise = (sample::Noise(u64::from(run.number)).next() >> 11) as f64 / (1_u64 << 53) as f64;
        let ratio = if run.cell.ends_with("2000/s") { ratio } else { 1.0 };
        let p50 = 100_000.0 * ratio * (1.0 + 0.01 * noise);
        let response = run.latency.get_mut("response").expect("an open loop");
        (response.p50_ns, response.p99_ns) = (Some(p50 as u64), Some((3.0 * p50) as u64));
        change(run);
    })
}

fn held(document: &Document, asked: &Asked) -> Result<results::Comparison, Refusal> {
    let side = |load: &str| Side {
        name: "r".to_owned(),
        document,
        cells: document.cells.iter().filter(|cell| cell.id.ends_with(load)).collect(),
    };
    compare(&side("/1000/s"), &side("/2000/s"), asked)
}

#[test]
fn loads_are_compared_where_the_load_is_named_and_p99_is_that_of_the_response() {
    let document = under_load(1.3, |_| {});
    let refused = held(&document, &Asked::default()).expect_err("the load was not named");
    assert_eq!(refused.details(), ["load: `1000/s`, then `2000/s`"]);

    let criteria = ["p99 > +10%", "response-p50 > +50%"].map(|text| Criterion::parse(text).unwrap());
    let asked = Asked { factors: vec!["load".to_owned()], criteria: criteria.to_vec(), ..Asked::default() };
    let comparison = held(&document, &asked).expect("the load is named");
    let metrics: Vec<Metric> = comparison.verdicts.iter().map(|verdict| verdict.metric).collect();
    assert_eq!(metrics, [Metric::ResponseP50, Metric::ResponseP99]);
    assert!(comparison.verdicts[1].text.starts_with("p99 response 29."), "{}", comparison.verdicts[1].text);
    let outcomes: Vec<_> = comparison.criteria.iter().map(|judged| (judged.metric, judged.outcome)).collect();
    let expected =
        [(Metric::ResponseP99, CriterionOutcome::Broken), (Metric::ResponseP50, CriterionOutcome::Kept)];
    assert_eq!(outcomes, expected);

    let asked = Asked { metrics: vec![Metric::RttP50.into(), Metric::Goodput.into()], ..asked };
    assert!(held(&document, &asked).is_ok());
}

#[test]
fn responses_of_few_samples_or_of_a_late_sender_are_told() {
    let asked = Asked { factors: vec!["load".to_owned()], ..Asked::default() };
    let lossy = under_load(1.3, |run| run.counted[0].lost = run.counted[0].sent / 50);
    let comparison = held(&lossy, &asked).expect("the load is named");
    assert!(comparison.verdicts[0].text.contains("of the samples of `dds/paced/"), "{comparison:?}");

    let late = under_load(1.3, |run| run.paced.as_mut().unwrap().sender_limited = run.block < 3);
    let comparison = held(&late, &asked).expect("the load is named");
    assert_eq!(comparison.verdicts[0].treatment.sender_limited, 2);
    let words = "sender-limited in 4 of 24 runs";
    assert!(comparison.verdicts[0].text.contains(words), "{}", comparison.verdicts[0].text);
    let quiet = held(&under_load(1.3, |_| {}), &asked).expect("the load is named");
    assert!(!quiet.verdicts[0].text.contains("sender-limited"));
}

/// Not the verdict: that shares its level with all figures of the table, a criterion with the other criteria.
#[test]
fn a_criterion_is_told_with_the_interval_that_it_is_judged_by() {
    let told = |document: &Document, treatment: &str, texts: &[&str]| {
        let asked = Asked {
            factors: vec!["driver".to_owned(), "qos".to_owned()],
            criteria: criteria(texts),
            ..Asked::default()
        };
        let sides = (side("a", document, "plain"), side("a", document, treatment));
        let judged = compare(&sides.0, &sides.1, &asked).expect("compared").criteria;
        judged.into_iter().map(|judged| judged.text).collect::<Vec<_>>()
    };
    let six = latency(6, 1.1, 0.01);
    assert!(p50(&six).text.starts_with("p50 RTT has too few blocks"), "{}", p50(&six).text);
    let one = told(&six, "dds", &["p50 > +20%"]);
    assert!(one[0].starts_with("kept: p50 RTT +") && one[0].contains(" % (95 % +"), "{one:?}");
    let two = told(&six, "dds", &["p50 > +20%", "p50 > +5%"]);
    assert_eq!(two, ["the data cannot tell: p50 RTT has 6 blocks, needs 7"; 2]);
    let two = told(&latency(12, 1.1, 0.01), "dds", &["p50 > +20%", "p50 > +5%"]);
    assert!(two[0].starts_with("kept: ") && two[1].starts_with("BROKEN: "), "{two:?}");
    assert!(two.iter().all(|text| text.contains(" % (97.5 % +")), "{two:?}");
    let itself = told(&six, "plain", &["p50 > +20%"]);
    assert_eq!(itself, ["the data cannot tell: both sides are the same runs"]);
}

#[test]
fn the_same_percents_of_two_maxima_are_compared_and_both_rates_named() {
    use sample::paced::{constant, document_with, header};
    let of = |load: Load| {
        let mut header = header(&[load], &[]);
        header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
        header.experiment.design.blocks = 12;
        document_with(&header, |_| {})
    };
    let half = |sps: u64| {
        let percent = Share::of_percent(50.0).expect("a share");
        of(Load::Share { percent, arrival: Arrival::Constant, rate: Some(Rate::per_second(sps)) })
    };
    let compared = |before: &Document, after: &Document, asked: &Asked| {
        compare(&side("a", before, "dds"), &side("b", after, "dds"), asked)
    };
    let comparison = compared(&half(5_000), &half(6_000), &Asked::default()).expect("the same load");
    assert_eq!(comparison.differences, []);
    let words = "each at a share of its own maximum: 6000/s against 5000/s (+20.0 %)";
    for verdict in &comparison.verdicts {
        assert!(verdict.text.contains(words), "{}", verdict.text);
        assert_eq!((verdict.treatment.share_sps, verdict.baseline.share_sps), (Some(6_000.0), Some(5_000.0)));
    }
    // a rate that is planned is another load
    let refused = compared(&half(5_000), &of(constant(5_000)), &Asked::default()).expect_err("another load");
    assert_eq!(refused.details(), ["load: `50% of the maximum`, then `5000/s`"]);
    let asked = Asked { factors: vec!["load".to_owned()], ..Asked::default() };
    let comparison = compared(&half(5_000), &of(constant(5_000)), &asked).expect("the load is named");
    assert!(!comparison.verdicts[0].text.contains("of its own maximum"), "{}", comparison.verdicts[0].text);
}
