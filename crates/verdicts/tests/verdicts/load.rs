//! Paced cells: loads, late senders, and shares of a maximum.

use experiment::{Arrival, Load, PercentOfMax, Rate};
use results::{CriterionOutcome, Metric, MetricSelector, ResultDocument, Run};
use verdicts::{CompareError, CompareOptions, CompareSide, Criterion, compare};

use crate::{sample, side};

/// Returns a result with two loads in one experiment, and this ratio of response times.
fn under_load(ratio: f64, change: impl Fn(&mut Run)) -> ResultDocument {
    use sample::paced::{constant, document_with, header};
    let mut header = header(&[constant(1000), constant(2000)], &[]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    header.experiment.design.blocks = 12;
    document_with(&header, |run| {
        let noise = (sample::Noise(u64::from(run.number)).next() >> 11) as f64 / (1_u64 << 53) as f64;
        let ratio = if run.cell.ends_with("2000/s") { ratio } else { 1.0 };
        let p50 = 100_000.0 * ratio * (1.0 + 0.01 * noise);
        let response = run.latency.get_mut("response").expect("a paced run");
        (response.p50_ns, response.p99_ns) = (Some(p50 as u64), Some((3.0 * p50) as u64));
        change(run);
    })
}

fn held(document: &ResultDocument, options: &CompareOptions) -> Result<results::Comparison, CompareError> {
    let side = |load: &str| CompareSide {
        name: "r".to_owned(),
        document,
        cells: document.cells.iter().filter(|cell| cell.id.ends_with(load)).collect(),
    };
    compare(&side("/1000/s"), &side("/2000/s"), options)
}

#[test]
fn loads_are_compared_where_the_load_is_named_and_p99_is_that_of_the_response() {
    let document = under_load(1.3, |_| {});
    let rejected = held(&document, &CompareOptions::default()).expect_err("the load was not named");
    assert_eq!(rejected.details(), ["load: `1000/s`, then `2000/s`"]);

    let criteria = ["p99 > +10%", "response-p50 > +50%"].map(|text| Criterion::parse(text).unwrap());
    let options = CompareOptions {
        factors: vec!["load".to_owned()],
        criteria: criteria.to_vec(),
        ..CompareOptions::default()
    };
    let comparison = held(&document, &options).expect("the load is named");
    let metrics: Vec<Metric> = comparison.verdicts.iter().map(|verdict| verdict.metric).collect();
    assert_eq!(metrics, [Metric::ResponseP50, Metric::ResponseP99]);
    assert!(comparison.verdicts[1].text.starts_with("response p99 29."), "{}", comparison.verdicts[1].text);
    let outcomes: Vec<_> = comparison.criteria.iter().map(|judged| (judged.metric, judged.outcome)).collect();
    let expected =
        [(Metric::ResponseP99, CriterionOutcome::Broken), (Metric::ResponseP50, CriterionOutcome::Kept)];
    assert_eq!(outcomes, expected);

    // `p50` is the response of a load; `rtt-p50` is a metric of round trips only
    for (word, is_metric) in [("p50", true), ("rtt-p50", false)] {
        let metrics = vec![MetricSelector::by_word(word).expect("a metric"), Metric::Goodput.into()];
        assert_eq!(
            held(&document, &CompareOptions { metrics, ..options.clone() }).is_ok(),
            is_metric,
            "{word}"
        );
    }
}

#[test]
fn difference_within_the_clock_errors_has_no_verdict() {
    let options = CompareOptions { factors: vec!["load".to_owned()], ..CompareOptions::default() };
    // The sides differ by 30 us at p50, and 90 us at p99.
    for (error_us, withheld) in
        [(0, [false, false]), (14, [false, false]), (16, [true, false]), (50, [true, true])]
    {
        let document = under_load(1.3, |run| {
            run.latency.get_mut("response").expect("a paced run").clock_error_ns = error_us * 1_000;
        });
        let comparison = held(&document, &options).expect("the load is named");
        let is_withheld: Vec<bool> = comparison.verdicts.iter().map(|of| of.withheld.is_some()).collect();
        assert_eq!(is_withheld, withheld, "{error_us}");
        if error_us == 16 {
            let text = &comparison.verdicts[0].text;
            assert!(text.contains("the clocks of the hosts may differ by 32.0 µs"), "{text}");
        }
    }
}

#[test]
fn few_samples_and_late_senders_are_reported() {
    let options = CompareOptions { factors: vec!["load".to_owned()], ..CompareOptions::default() };
    let lossy = under_load(1.3, |run| run.flows[0].counted.lost = run.flows[0].counted.sent / 50);
    let comparison = held(&lossy, &options).expect("the load is named");
    assert!(comparison.verdicts[0].text.contains("of the samples of `dds/paced/"), "{comparison:?}");

    let late = under_load(1.3, |run| run.paced_mut().unwrap().sender_limited = run.block < 3);
    let comparison = held(&late, &options).expect("the load is named");
    assert_eq!(comparison.verdicts[0].treatment.sender_limited, 2);
    let words = "sender-limited in 4 of 24 runs";
    assert!(comparison.verdicts[0].text.contains(words), "{}", comparison.verdicts[0].text);
    let quiet = held(&under_load(1.3, |_| {}), &options).expect("the load is named");
    assert!(!quiet.verdicts[0].text.contains("sender-limited"));
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
        let percent = PercentOfMax::of_percent(50.0).expect("a share");
        of(Load::Share { percent, arrival: Arrival::Constant, rate: Some(Rate::per_second(sps)) })
    };
    let compared = |before: &ResultDocument, after: &ResultDocument, options: &CompareOptions| {
        compare(&side("a", before, "dds"), &side("b", after, "dds"), options)
    };
    let comparison = compared(&half(5_000), &half(6_000), &CompareOptions::default()).expect("the same load");
    assert_eq!(comparison.differences, []);
    let words = "each at a share of its own maximum: 6000/s against 5000/s (+20.0 %)";
    for verdict in &comparison.verdicts {
        assert!(verdict.text.contains(words), "{}", verdict.text);
        assert_eq!((verdict.treatment.share_sps, verdict.baseline.share_sps), (Some(6_000.0), Some(5_000.0)));
    }
    // a rate in samples/s is another load
    let rejected =
        compared(&half(5_000), &of(constant(5_000)), &CompareOptions::default()).expect_err("another load");
    assert_eq!(rejected.details(), ["load: `50% of the maximum`, then `5000/s`"]);
    let options = CompareOptions { factors: vec!["load".to_owned()], ..CompareOptions::default() };
    let comparison = compared(&half(5_000), &of(constant(5_000)), &options).expect("the load is named");
    assert!(!comparison.verdicts[0].text.contains("of its own maximum"), "{}", comparison.verdicts[0].text);
}

#[test]
fn each_of_several_flows_has_verdicts_of_its_own() {
    use sample::paced::{constant, document_with, flow, header};
    let of = |ratio: f64, lost: u64| {
        let flows = [flow("command", 200, constant(1000)), flow("picture", 4096, constant(500))];
        let mut header = header(&[], &flows);
        header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
        header.experiment.design.blocks = 12;
        let mut document = document_with(&header, |run| {
            for (flow, ratio) in run.flows.iter_mut().zip([ratio, 1.0]) {
                let noise = (sample::Noise(u64::from(run.number)).next() >> 11) as f64 / (1_u64 << 53) as f64;
                let p50 = 100_000.0 * ratio * (1.0 + 0.01 * noise);
                let response = flow.latency.get_mut("response").expect("a paced run");
                (response.p50_ns, response.p99_ns) = (Some(p50 as u64), Some((3.0 * p50) as u64));
            }
            let pictures = &mut run.flows[1].counted;
            pictures.lost = pictures.sent * lost / 100;
        });
        document.blocks = sample::blocks(&document.experiment);
        document
    };
    let criteria = vec![Criterion::parse("p99 > +10%").expect("a criterion")];
    let options = CompareOptions { criteria, ..CompareOptions::default() };
    let (before, after) = (of(1.0, 0), of(1.5, 10));
    let comparison = compare(&side("a", &before, "dds"), &side("b", &after, "dds"), &options)
        .expect("the same experiment");
    let metrics: Vec<(Metric, Option<&str>)> =
        comparison.verdicts.iter().map(|verdict| (verdict.metric, verdict.flow.as_deref())).collect();
    let flows = [Some("command"), Some("picture")];
    let expected = [Metric::ResponseP50, Metric::ResponseP99].map(|metric| flows.map(|flow| (metric, flow)));
    // what is judged where too many samples are missing for latencies
    let arrived = vec![(Metric::Arrived, Some("picture"))];
    assert_eq!(metrics, [expected.concat(), arrived].concat());
    let text = |index: usize| comparison.verdicts[index].text.as_str();
    assert!(
        text(2).starts_with("response p99 of flow `command` ") && text(2).contains(" % higher"),
        "{}",
        text(2)
    );
    // one flow lost too many samples, which does not affect the other
    assert!(text(3).starts_with("response p99 of flow `picture`: no verdict: "), "{}", text(3));
    assert_eq!(
        comparison.verdicts[4].answer.as_ref().expect("an answer").change_pct.map(f64::round),
        Some(-10.0)
    );
    assert!(text(4).starts_with("share of samples that arrived of flow `picture` "), "{}", text(4));
    assert!(text(4).contains(" % lower"), "{}", text(4));
    let outcomes: Vec<CriterionOutcome> = comparison.criteria.iter().map(|judged| judged.outcome).collect();
    assert_eq!(outcomes, [CriterionOutcome::Broken, CriterionOutcome::CannotTell]);
}
