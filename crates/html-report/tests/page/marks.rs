//! Numbers of marks, and their values against the result.

use charts::{ChartKind, RunMark};
use results::{Metric, RunState};

use crate::{judged, page, sample};

#[test]
fn every_run_is_a_dot_with_its_value() {
    let failed = |run: &mut results::Run| {
        if run.number == 3 {
            *run = sample::failed(run);
        }
    };
    let document = judged(sample::document_with(failed));
    let page = page(&document);
    let figures = page.sections.iter().flat_map(|section| &section.figures);
    let mut checked = 0;
    for figure in figures {
        let ChartKind::RunStrip(strip) = &figure.chart.kind else { continue };
        let metric = if figure.id == "runs" { Metric::RttP50 } else { Metric::Goodput };
        let factor = if metric == Metric::Goodput { 1e6 } else { 1.0 };
        for series in &strip.series {
            for dot in &series.runs {
                let number: u32 = dot.detail[4..].split(',').next().unwrap().parse().unwrap();
                let mut all = document.cells.iter().flat_map(|cell| &cell.runs);
                let run = all.find(|run| run.number == number).unwrap();
                assert_eq!(dot.block, run.block);
                match run.value(metric) {
                    Some(value) => assert_eq!(dot.value, value * factor),
                    None => assert_eq!(dot.mark, RunMark::Invalid),
                }
                assert_eq!(dot.mark == RunMark::Invalid, run.state != RunState::Valid);
                checked += 1;
            }
            let html = html_report::html(&page);
            assert!(html.contains(&format!("id=\"{}\"", figure.id)));
        }
    }
    assert!(checked > 6, "{checked}");
}

#[test]
fn medians_are_those_of_the_result() {
    let document = judged(sample::document());
    let page = page(&document);
    let keys = page.key_figures.as_ref().expect("the sample has values");
    assert!(keys.columns[0].heading.starts_with("RTT p50"), "{:?}", keys.columns);
    for row in &keys.rows {
        let figure = row.figures[0].as_ref().expect("both drivers have round trips");
        let name = row.series.name.split(' ').next().unwrap();
        let cell = document.cells.iter().find(|cell| {
            cell.factors.driver == name && cell.latency.contains_key("rtt") && cell.factors.size_bytes == 32
        });
        let p50 = cell.unwrap().latency["rtt"].p50_ns.unwrap();
        assert_eq!(figure.estimate.value, p50);
        assert_eq!(figure.text, charts::number::plain(p50 / 1e3));
    }
    let answer: String = page.answer[0].iter().map(html_report::Words::text).collect();
    let first = charts::number::value(
        keys.rows[0].figures[0].as_ref().unwrap().estimate.value,
        charts::Unit::Nanoseconds,
    );
    assert!(answer.contains(&first), "{answer}");
}

#[test]
fn percentiles_end_where_runs_end() {
    let document = judged(sample::document());
    let page = page(&document);
    let mut figures = page.sections.iter().flat_map(|section| &section.figures);
    let figure = figures.find(|figure| figure.id == "percentiles").expect("the sample has round trips");
    let ChartKind::Percentiles(shown) = &figure.chart.kind else { panic!("percentiles") };
    let longest = |series: &charts::Series| {
        let of = |cell: &&results::CellResult| {
            series.name.starts_with(&cell.factors.driver)
                && cell.latency.contains_key("rtt")
                && cell.factors.size_bytes == 32
        };
        let cell = document.cells.iter().find(of).expect("a cell");
        let longest = cell.claimed_runs().map(|run| run.latency["rtt"].max_ns).max().expect("runs");
        charts::number::value(longest as f64, charts::Unit::Nanoseconds)
    };
    let words: Vec<String> =
        shown.series.iter().map(|of| format!("{} with {}", longest(&of.series), of.series.name)).collect();
    let sentence = format!(" The longest of all: {}.", words.join(" and "));
    assert!(figure.chart.note.ends_with(&sentence), "{}", figure.chart.note);
    for series in &shown.series {
        let driver = series.series.name.split(' ').next().unwrap();
        let cell = document.cells.iter().find(|cell| {
            cell.factors.driver == driver && cell.latency.contains_key("rtt") && cell.factors.size_bytes == 32
        });
        let rtt = &cell.unwrap().latency["rtt"];
        let known = rtt.quantiles().iter().flatten().count();
        assert_eq!(series.median.len() + series.pooled.len(), 1 + known, "the minimum, and each quantile");
        assert_eq!(series.median[1].estimate.value, rtt.p50_ns.unwrap());
    }
}

#[test]
fn share_of_which_nothing_arrived_is_an_arrow_and_two_shares() {
    use results::{Conclusion, Metric, VerdictKind};
    let mut document = sample::document();
    let baseline = document.cells.iter().filter(|cell| cell.factors.driver == "plain");
    document.experiment.design.baseline = baseline.map(|cell| cell.id.clone()).collect();
    let mut document = judged(document);
    let is_first = |verdict: &&mut results::Verdict| verdict.kind == VerdictKind::Comparison;
    let first = document.verdicts.iter_mut().find(is_first).expect("the sample compares");
    (first.metric, first.is_of_round_trips, first.withheld) = (Metric::Arrived, true, None);
    (first.treatment.missing_pct, first.baseline.missing_pct) = (100.0, 0.0);
    let answer = first.answer.as_mut().expect("an answer");
    // One ping of each run that did not return counts as half a sample.
    (answer.change_pct, answer.low_pct, answer.high_pct) = (Some(-50.0), Some(-50.0), Some(-50.0));
    answer.conclusion = Conclusion::Lower { better: false, within_margin: false };
    let words = first.headline();
    assert!(words.starts_with("share of complete round trips 0 % instead of 100 % ("), "{words}");
    assert!(!words.contains("50"), "{words}");
    let page = page(&document);
    let first: String = page.answer[0].iter().map(html_report::Words::text).collect();
    assert!(
        first.contains("share of complete round trips is 0 % with")
            && first.contains("instead of 100 % with"),
        "{first}"
    );
    let mut figures = page.sections.iter().flat_map(|section| &section.figures);
    let figure = figures.find(|figure| figure.id == "verdicts").expect("verdicts");
    let ChartKind::Forest(forest) = &figure.chart.kind else { panic!("forest") };
    let row = forest.rows.iter().find(|row| row.label.contains("complete round trips")).expect("a row");
    assert_eq!((row.ratio.value, row.ratio.interval), (0.0, None));
    assert_eq!((row.words.as_str(), row.interval_words.as_str()), ("0 % instead of 100 %", ""));
}
