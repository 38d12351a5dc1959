//! Conclusions about two cells, their text, and their statistics.

use experiment::Workload;
use results::{Conclusion, ResultDocument, Run, RunState, SteadyClass, SteadyState, Verdict, VerdictKind};

use crate::{conclusion, latency, made_of, p50, p50_without, result, rtt};

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
            "RTT p50 5.13 % lower (95 % 4.71..5.56, 12 blocks)",
            "RTT p50 7.86 % higher (95 % 7.37..8.32, 12 blocks)",
            "RTT p50 equivalent within 2 % (95 % -0.586..+0.301, 12 blocks)",
            "RTT p50 1.03 % lower, equivalent within 2 % (95 % 0.940..1.12, 12 blocks)",
            "RTT p50 inconclusive: could have seen 15.2 % (95 % -11.2..+5.82, 12 blocks)",
            "RTT p50 has too few blocks for any claim: 3, needs 7",
        ]
    );
}

/// A number of many digits says no more than that the noise is too large.
#[test]
fn inconclusive_comparison_of_large_noise_has_no_number() {
    let mut verdict = p50(&latency(12, 1.0, 0.2));
    let answer = verdict.answer.as_mut().expect("an answer");
    answer.conclusion = Conclusion::Inconclusive { could_have_seen_pct: Some(2_097_959.0) };
    let text = verdict.headline();
    let expected = "RTT p50 inconclusive: could not have seen even a difference of 10x (95 % ";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn direction_of_improvement_depends_on_the_metric() {
    let lower = p50(&latency(12, 0.9, 0.01));
    assert_eq!(conclusion(&lower), &Conclusion::Lower { better: true, within_margin: false });
    let document = result(Workload::Throughput, 12, |run| {
        let ratio = if run.cell.starts_with("dds") { 0.9 } else { 1.0 };
        let noise = 1.0 + 0.001 * f64::from(run.number % 5);
        run.throughput_mut().expect("a throughput run").goodput_mbps = 900.0 * ratio * noise;
    });
    let verdicts = verdicts::judge(&document);
    let goodput = verdicts.last().expect("a verdict");
    assert_eq!(conclusion(goodput), &Conclusion::Lower { better: false, within_margin: false });
    assert!(goodput.text.starts_with("goodput 10.0 % lower (95 % "), "{}", goodput.text);
}

#[test]
fn the_baseline_against_itself_is_the_noise_floor() {
    let floors = |document: &ResultDocument| -> Vec<Verdict> {
        let mut verdicts = verdicts::judge(document);
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
    // a second run that is always slower would be a defect of the setup, and is detected
    let rigged = result(Workload::Latency, 12, |run| {
        rtt(run, 1.0, 0.01);
        let slower = if run.twin { 1.1 } else { 1.0 };
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        rtt.p50_ns = rtt.p50_ns.map(|ns| (ns as f64 * slower) as u64);
    });
    assert!(conclusion(&floors(&rigged)[0]).differs());
    // no verdict without a baseline
    let mut without = latency(12, 0.9, 0.01);
    without.experiment.design.baseline.clear();
    without.cells.iter_mut().for_each(|cell| cell.runs.retain(|run| !run.twin));
    assert_eq!(verdicts::judge(&without), []);
}

#[test]
fn latency_verdict_is_withheld_above_one_percent_lost_pings() {
    let lossy = |lost| {
        p50(&result(Workload::Latency, 12, |run| {
            rtt(run, 0.9, 0.01);
            if run.cell.starts_with("dds") {
                run.flows[0].counted.lost = lost;
            }
        }))
    };
    // of 400 pings
    let (kept, withheld) = (lossy(4), lossy(5));
    assert!(kept.withheld.is_none() && conclusion(&kept).differs(), "{}", kept.text);
    assert_eq!(withheld.answer, None);
    assert_eq!(
        withheld.text,
        "RTT p50: no verdict: 1.25 % of the pings of `dds/udp4/latency/1024` did not arrive, more than 1 %"
    );
}

#[test]
fn withheld_verdicts_and_those_without_values_count_towards_the_family() {
    let of = |blocks: u32, spoil: fn(&mut Run)| {
        let document = made_of(&[64, 1024], Workload::Latency, blocks, false, |run| {
            rtt(run, 0.9, 0.01);
            if run.cell == "dds/udp4/latency/1024" {
                spoil(run);
            }
        });
        let mut verdicts = verdicts::judge(&document);
        verdicts.retain(|verdict| verdict.kind == VerdictKind::Comparison && verdict.metric.is_latency());
        assert_eq!(verdicts.len(), 4);
        let verdict = verdicts.into_iter().find(|verdict| verdict.treatment.cell == "dds/udp4/latency/64");
        verdict.expect("a verdict").answer.expect("an answer")
    };
    let spoils: [fn(&mut Run); 4] = [
        |_| {},
        |run| run.flows[0].counted.lost = 100,
        |run| run.state = RunState::Failed,
        |run| run.latency.retain(|kind, _| kind != "rtt"),
    ];
    for spoil in spoils {
        assert_eq!(of(8, spoil).family, 4);
        assert!(of(8, spoil).conclusion.differs());
        // 7 blocks are enough for two claims, not for four
        assert_eq!(of(7, spoil).conclusion, Conclusion::TooFew { needs: 8 });
    }
}

/// The runs with enough samples are the quick ones.
#[test]
fn quantile_is_withheld_if_a_run_of_either_side_has_too_few_samples() {
    for (short, cell) in [("dds", "dds/udp4/latency/1024"), ("plain", "plain/udp4/latency/1024")] {
        let document = result(Workload::Latency, 12, |run| {
            rtt(run, 0.9, 0.01);
            if run.cell.starts_with(short) && !run.twin && [3, 5].contains(&run.block) {
                let rtt = run.latency.get_mut("rtt").expect("rtt");
                (rtt.n, rtt.p99_ns) = (115 + u64::from(run.block), None);
            }
        });
        assert!(conclusion(&p50(&document)).differs(), "the median has enough samples");
        let of_p99 = |verdict: &Verdict| verdict.metric == results::Metric::RttP99;
        let verdicts = verdicts::judge(&document);
        let verdict = verdicts.iter().rfind(|verdict| of_p99(verdict)).expect("a verdict on p99");
        let words = format!(
            "RTT p99: no verdict: 2 of 12 runs of `{cell}` have too few samples for it, 118 instead of at least 299"
        );
        assert_eq!((verdict.text.as_str(), &verdict.answer), (words.as_str(), &None));
        let side = if short == "dds" { &verdict.treatment } else { &verdict.baseline };
        assert_eq!((side.runs, side.median), (10, None), "no median of the quick runs");

        // the criterion of a comparison follows
        let sides = [crate::side("before", &document, "plain"), crate::side("after", &document, "dds")];
        let options = verdicts::CompareOptions {
            factors: vec!["driver".to_owned(), "qos".to_owned(), "effective_qos".to_owned()],
            criteria: vec![verdicts::Criterion::parse("p99 > +5%").expect("a criterion")],
            force: true,
            ..verdicts::CompareOptions::default()
        };
        let compared = verdicts::compare(&sides[0], &sides[1], &options).expect("a comparison");
        let judged = &compared.criteria[0];
        assert_eq!(judged.outcome, results::CriterionOutcome::CannotTell);
        assert!(judged.text.starts_with(&format!("inconclusive: {words}")), "{}", judged.text);
    }
}

#[test]
fn runs_without_steady_state_or_values_are_counted() {
    let document = result(Workload::Latency, 12, |run| {
        rtt(run, 0.9, 0.01);
        let dds = run.cell.starts_with("dds");
        let verdict = if dds && run.block <= 5 { SteadyClass::NoSteadyState } else { SteadyClass::Flat };
        let state = SteadyState { verdict, steady_from_ns: None, segments: Vec::new(), windows: None };
        run.steady_state.insert("rtt_p50".to_owned(), state);
        match run.block {
            10 if dds => run.state = RunState::Failed,
            11 if !dds && !run.twin => run.state = RunState::Invalid,
            12 if dds => run.latency.retain(|kind, _| kind != "rtt"),
            _ => {}
        }
    });
    let verdict = p50(&document);
    assert!(verdict.text.contains(", 9 blocks)"), "{}", verdict.text);
    assert!(
        verdict.text.ends_with(
            "; no steady state in 5 of 21 runs; left out: runs 1 failed, 1 invalid, 1 without a value"
        ),
        "{}",
        verdict.text
    );
    assert_eq!(verdict.answer.map(|answer| (answer.n, answer.incomplete)), Some((9, 3)));
    let clean = p50(&latency(12, 0.9, 0.01));
    assert!(!clean.text.contains("steady") && !clean.text.contains("left out"), "{}", clean.text);
}

#[test]
fn verdict_is_shown_with_and_without_noisy_blocks() {
    let document = result(Workload::Latency, 12, |run| {
        rtt(run, 0.9, 0.01);
        let rtt = run.latency.get_mut("rtt").expect("a latency run");
        // noise disturbs the candidate in a third of the blocks
        if run.block <= 4 && run.cell.starts_with("dds") {
            rtt.p50_ns = rtt.p50_ns.map(|ns| ns * 3);
        }
    });
    let none = p50(&document);
    assert!(none.without_noisy.is_none() && !none.depends_on_noise(), "{}", none.text);
    let some = p50_without(&document, &[1, 2, 3, 4]);
    assert!(some.depends_on_noise(), "{}", some.text);
    assert!(some.text.contains("RTT p50 inconclusive"), "{}", some.text);
    assert!(
        some.text.contains("; without 4 noisy blocks, ANOTHER CONCLUSION: 10.3 % lower (95 % "),
        "{}",
        some.text
    );
    // the conclusion can also be the same
    let same = p50_without(&latency(12, 0.9, 0.01), &[2]);
    assert!(same.text.contains("; without the noisy block: 10."), "{}", same.text);
    assert!(!same.depends_on_noise() && same.without_noisy.is_some_and(|quiet| quiet.n == 11));
}

#[test]
fn claims_of_one_table_share_the_level_and_a_list_to_look_at_does_not_claim() {
    let verdicts = verdicts::judge(&latency(12, 0.9, 0.01));
    let answers: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.kind == VerdictKind::Comparison)
        .filter_map(|verdict| verdict.answer.as_ref())
        .collect();
    assert_eq!(answers.len(), 2);
    for answer in answers {
        assert_eq!(answer.family, 2);
        assert!(answer.p_adjusted >= answer.p && answer.p_exploratory <= answer.p_adjusted, "{answer:?}");
        let [low, high] = answer.simultaneous_pct.expect("12 blocks");
        assert!(low <= answer.low_pct.expect("low") && high >= answer.high_pct.expect("high"));
    }
}
