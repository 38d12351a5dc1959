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
