//! Mixes and systems: values of flows, never those of all together, and what all verdicts say.

use charts::{ChartKind, Unit};
use experiment::{Deadline, Flow, SizeDistribution, Sizes};
use html_report::{Page, Words};
use results::{Conclusion, Metric, ResultDocument, VerdictKind};

use crate::{charts, judged, page, sample};

/// Returns a system of three topics with both drivers, of which one is the baseline; `picture` misses its deadline most, and `control` is the
/// furthest beyond its limit.
fn system(deadlines: bool) -> ResultDocument {
    let flow = |name: &str, size: u64, missed_ppm: u32| Flow {
        deadline: deadlines.then_some(Deadline { deadline_ns: 1_000_000, missed_ppm }),
        ..sample::paced::flow(name, size, sample::paced::constant(1_000))
    };
    let flows = [flow("control", 64, 1_000), flow("map", 256, 500_000), flow("picture", 4_096, 10_000)];
    let header = sample::paced::header(&[], &flows);
    let mut document = sample::paced::document_with(&header, |run| {
        for flow in &mut run.flows {
            let Some(timeliness) = &mut flow.timeliness else { continue };
            let missed = [("control", 8), ("map", 90), ("picture", 60)];
            timeliness.missed = missed.iter().find(|(name, _)| *name == flow.name).expect("a flow").1;
            timeliness.is_met = flow.name == "map";
        }
    });
    let baseline = document.cells.iter().filter(|cell| cell.factors.driver == "plain");
    document.experiment.design.baseline = baseline.map(|cell| cell.id.clone()).collect();
    judged(document)
}

/// Gives the verdicts on flows these conclusions; the others show nothing.
fn conclude(document: &mut ResultDocument, of: &dyn Fn(&str, Metric) -> Option<Conclusion>) {
    let mut found = 0;
    for verdict in document.verdicts.iter_mut().filter(|verdict| verdict.kind == VerdictKind::Comparison) {
        let (Some(flow), Some(answer)) = (&verdict.flow, &mut verdict.answer) else { continue };
        let conclusion = of(flow, verdict.metric);
        found += usize::from(conclusion.is_some());
        answer.conclusion = conclusion.unwrap_or(Conclusion::Equivalent { margin_pct: 2.0 });
    }
    assert!(found > 0, "no verdict was changed");
}

fn answer(page: &Page) -> String {
    page.answer.iter().flatten().map(Words::text).collect::<String>()
}

#[test]
fn charts_of_flows_have_their_sizes() {
    let mut document = system(true);
    let distribution = SizeDistribution::LogNormal { median_bytes: 20_000, p99_bytes: 45_000 };
    for cell in &mut document.cells {
        cell.factors.flows[2].sizes = Some(Sizes { distribution: distribution.clone(), seed: 1 });
    }
    let page = page(&document);
    let figures = page.sections.iter().flat_map(|section| &section.figures);
    let charts: Vec<String> = figures.map(|figure| format!("{:?}", figure.chart)).collect();
    assert!(charts.iter().any(|chart| chart.contains("(p99 45") && chart.contains("64")), "{charts:?}");
}

#[test]
fn key_figures_of_a_mix_are_those_of_its_worst_flow_by_name() {
    for (deadlines, columns) in [(true, 3), (false, 2)] {
        let document = system(deadlines);
        let page = page(&document);
        let keys = page.key_figures.as_ref().expect("there are values");
        assert_eq!(
            keys.columns.len(),
            columns,
            "no rate and no cost of all flows together: {:?}",
            keys.columns
        );
        assert!(keys.columns.iter().all(|column| column.heading.ends_with(", worst of 3 flows")), "{keys:?}");
        for row in &keys.rows {
            let p99 = row.figures[columns - 1].as_ref().expect("a value");
            let cell = document.cells.iter().find(|cell| row.series.name.starts_with(&cell.factors.driver));
            let flows = &cell.expect("a cell").paced.as_ref().expect("a paced cell").flows;
            let worst = flows.iter().max_by(|left, right| {
                let p99 = |flow: &results::CellFlow| {
                    flow.latency["response"].quantiles()[2].expect("enough samples")
                };
                p99(left).total_cmp(&p99(right))
            });
            let worst = worst.expect("flows");
            assert_eq!(p99.of, worst.name);
            assert_eq!(p99.estimate.value, worst.latency["response"].quantiles()[2].expect("enough samples"));
        }
        if deadlines {
            // 90 of 200 are within the limit of 50 %; 60 of 200 are 30 times that of 1 %, 8 of 200 are 40 times that of 0.1 %.
            let missed = keys.rows[0].figures[0].as_ref().expect("a value");
            assert_eq!((missed.text.as_str(), missed.of.as_str()), ("4.00", "control, limit 0.100\u{a0}%"));
            let html = html_report::html(&page);
            assert!(html.contains("<span class=\"r\">control, limit 0.100\u{a0}%</span>"), "on the page");
            let text = answer(&page);
            assert!(
                text.contains(
                    "; `control` was the furthest beyond its limit, 4.00 % missed where 0.100 % may"
                ),
                "{text}"
            );
        }
    }
}

#[test]
fn topics_that_suffer_first_are_first() {
    let document = system(true);
    let page = page(&document);
    let topics = page.cells.iter().find(|table| table.title == "Topics").expect("a table");
    let mut order: Vec<&str> =
        topics.rows.iter().map(|row| row[0].rsplit(' ').next().expect("a name")).collect();
    assert_eq!(order.len(), 3 * document.cells.len());
    order.dedup();
    assert_eq!(order, ["control", "picture", "map"], "40, 30 and 0.9 times the limit");
    let shown = page.topics.as_ref().expect("topics near the top");
    let heads: Vec<&str> = shown.columns[1..].iter().map(|(heading, _)| heading.as_str()).collect();
    assert!(heads[0].starts_with("Missed") && heads[1].starts_with("Limit"), "{heads:?}");
    assert_eq!(shown.rows[0][1..3], ["4.00", "0.100"], "{:?}", shown.rows);
    let missed = page.sections.iter().flat_map(|section| &section.figures).find(|of| of.id == "flows-missed");
    let missed = &missed.unwrap_or_else(|| panic!("{:?}", charts(&page))).chart;
    let ChartKind::RunStrip(strip) = &missed.kind else { panic!("a strip") };
    assert_eq!(strip.y.unit, Unit::Percent);
    let names: Vec<&str> = strip.series.iter().map(|series| series.series.name.as_str()).collect();
    assert!(names[0].starts_with("control, "), "{names:?}");
    assert_eq!((strip.series[0].median.expect("runs").value, strip.series[0].limit), (4.0, Some(0.1)));
    // Each limit is said once, not in the row of each driver, and is a line.
    assert_eq!(missed.note.matches("limit 0.100\u{a0}%").count(), 1, "{}", missed.note);
    assert!(missed.note.contains("Long dashes: the limit."), "{}", missed.note);
    let drawn = charts::svg(missed, "missed", charts::Width::Wide);
    assert_eq!(drawn.matches("class=\"ref ink\"").count(), strip.series.len());
}

#[test]
fn limit_that_all_flows_have_is_in_the_subtitle_and_one_far_above_is_not_drawn() {
    let mut document = system(true);
    for deadline_ns in [100_000, 1_000_000_000] {
        for cell in &mut document.cells {
            for flow in &mut cell.factors.flows {
                flow.deadline = Some(Deadline { deadline_ns, missed_ppm: 1_000 });
            }
        }
        let page = page(&document);
        let mut figures = page.sections.iter().flat_map(|section| &section.figures);
        let p99 = &figures.find(|figure| figure.id == "flows-p99").expect("a chart").chart;
        let words = format!("deadline {}", charts::number::value(deadline_ns as f64, Unit::Nanoseconds));
        assert!(p99.subtitle.contains(&words) && !p99.note.contains("deadline"), "{p99:?}");
        let ChartKind::RunStrip(strip) = &p99.kind else { panic!("a strip") };
        let drawn = strip.series.iter().filter(|series| series.limit.is_some()).count();
        assert_eq!(drawn > 0, deadline_ns == 100_000, "{strip:?}");
        assert_eq!(p99.note.contains("Long dashes"), drawn > 0, "{}", p99.note);
    }
}

#[test]
fn system_is_better_only_if_nothing_is_worse() {
    let lower = |better| Conclusion::Lower { better, within_margin: false };
    let higher = |better| Conclusion::Higher { better, within_margin: false };
    let mut document = system(true);
    conclude(&mut document, &|flow, metric| {
        (flow == "control" && metric == Metric::ResponseP50).then(|| lower(true))
    });
    let text = answer(&page(&document));
    assert!(text.starts_with("All deadlines were met in 0 of "), "{text}");
    assert!(
        text.contains(" is better than with ")
            && text
                .ends_with(": response p50 of flow `control` is better, and nothing is shown to be worse."),
        "{text}"
    );
    conclude(&mut document, &|flow, metric| match (flow, metric) {
        ("control", Metric::ResponseP50) => Some(lower(true)),
        ("picture", Metric::Missed) => Some(higher(false)),
        _ => None,
    });
    let text = answer(&page(&document));
    let (better, worse) =
        ("response p50 of flow `control`", "share of samples that missed the deadline of flow `picture`");
    let expected = format!(" is a trade-off: {better} is better, but {worse} is worse.");
    assert!(text.ends_with(&expected), "{text}");
    // The list of verdicts and Markdown have the same.
    let line = format!("System: a trade-off. Better: {better}. Worse: {worse}.");
    let page = page(&document);
    assert!(
        page.notes.iter().flat_map(|list| &list.items).any(|(text, _)| text.contains(&line)),
        "{:?}",
        page.notes
    );
    let markdown = report::markdown(&document);
    assert!(markdown.contains(&line), "{markdown}");
}

#[test]
fn many_comparisons_are_a_table_with_a_row_for_each() {
    let deadline = Some(Deadline { deadline_ns: 1_000_000, missed_ppm: 1_000 });
    let flow =
        |name: &str| Flow { deadline, ..sample::paced::flow(name, 64, sample::paced::constant(1_000)) };
    let flows = ["one", "two", "three", "four", "five"].map(flow);
    let mut document = sample::paced::document_with(&sample::paced::header(&[], &flows), |_| {});
    let baseline = document.cells.iter().filter(|cell| cell.factors.driver == "plain");
    document.experiment.design.baseline = baseline.map(|cell| cell.id.clone()).collect();
    let document = judged(document);
    let compared = document.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Comparison).count();
    let page = page(&document);
    let table = page.verdicts.as_ref().expect("a table");
    assert!(compared > 12 && table.rows.len() == compared, "{compared}");
    assert_eq!(table.rows[0][2], "one", "{:?}", table.rows[0]);
    let html = html_report::html(&page);
    assert!(html.contains(&format!("All {compared} comparisons")));
    let long = page.notes.iter().flat_map(|list| &list.items).find(|(text, _)| text.len() > 1_000);
    assert!(long.is_none(), "{long:?}");
}

#[test]
fn head_about_systems_has_at_most_four_sentences() {
    let mut document = system(true);
    let better = |better| Conclusion::Lower { better, within_margin: false };
    conclude(&mut document, &|flow, _| Some(better(flow == "control")));
    let text = answer(&page(&document));
    let ends = text.match_indices(". ").filter(|(at, _)| text[at + 2..].starts_with(char::is_uppercase));
    assert!(text.contains(" is a trade-off: ") && ends.count() < 4, "{text}");
}

#[test]
fn verdicts_on_flows_are_grouped_by_flow() {
    let mut document = system(true);
    conclude(&mut document, &|flow, _| {
        (flow == "control").then_some(Conclusion::Lower { better: true, within_margin: false })
    });
    let page = page(&document);
    let mut figures = page.sections.iter().flat_map(|section| &section.figures);
    let ChartKind::Forest(forest) = &figures.find(|of| of.id == "verdicts").expect("verdicts").chart.kind
    else {
        panic!("forest")
    };
    let mut groups: Vec<&str> = forest.rows.iter().map(|row| row.group.as_str()).collect();
    groups.dedup();
    assert_eq!(groups, ["control", "map", "picture"], "each once");
    assert!(forest.rows.iter().all(|row| !row.label.contains("flow")), "{:?}", forest.rows);
}

#[test]
fn memory_of_processes_that_is_not_known_is_not_drawn() {
    let mut document = system(true);
    for process in
        document.cells.iter_mut().flat_map(|cell| &mut cell.runs).flat_map(|run| &mut run.processes)
    {
        process.usage.user_ns = 1_000_000;
        process.usage.peak_memory_bytes = None;
    }
    let page = page(&document);
    let shown = charts(&page);
    assert!(shown.iter().any(|id| id == "process-cpu"));
    assert!(!shown.iter().any(|id| id == "process-memory"));
}

#[test]
fn each_process_has_its_cpu_time_and_memory() {
    let mut document = system(true);
    for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs) {
        for (process, name) in run.processes.iter_mut().zip(["camera", "planner"]) {
            process.name = Some(name.to_owned());
            process.usage.peak_memory_bytes =
                Some(u64::from(process.number) * (50 << 20) + u64::from(run.number));
            process.usage.user_ns = 1_000_000 * u64::from(30 / process.number + run.number);
        }
    }
    let page = page(&document);
    type OfProcess = fn(&results::Usage) -> f64;
    let values: [(&str, [&str; 2], OfProcess); 2] = [
        ("process-cpu", ["camera", "planner"], |usage| 100.0 * usage.used()),
        ("process-memory", ["planner", "camera"], |usage| usage.peak_memory_bytes.unwrap() as f64),
    ];
    for (id, order, value) in values {
        let mut figures = page.sections.iter().flat_map(|section| &section.figures);
        let figure = figures.find(|figure| figure.id == id).unwrap_or_else(|| panic!("{:?}", charts(&page)));
        let ChartKind::Bars(bars) = &figure.chart.kind else { panic!("bars") };
        let names: Vec<&str> = bars.groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(names, order, "{id}: the process with the highest value is first");
        for group in &bars.groups {
            assert_eq!(group.bars.len(), document.cells.len(), "{id}");
            for (bar, cell) in group.bars.iter().zip(&document.cells) {
                let of_runs = cell.claimed_runs().map(|run| {
                    let process = run.processes.iter().find(|process| process.label() == group.label);
                    value(&process.expect("a process").usage)
                });
                assert_eq!(Some(bar.total.value), stats::median(&of_runs.collect::<Vec<_>>()), "{id}");
                assert!(bar.total.interval.is_some(), "{id}");
            }
        }
    }
    // Records without processes have no bars.
    for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs) {
        run.processes.clear();
    }
    let without = charts(&crate::page(&document));
    assert!(!without.iter().any(|id| id.starts_with("process")), "{without:?}");
}
