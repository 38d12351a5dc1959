//! Charts that each kind of result needs.

use std::cell::RefCell;

use charts::{ChartKind, LineStyle};
use experiment::{Cell, Factors, Workload};
use html_report::{Figure, Page};
use results::{Assembler, FindingKind, Histograms, LogWindow, ResultDocument, Run, State};

use crate::{charts, judged, page, sample, simulated};

/// Returns a chart of a page.
#[track_caller]
pub fn chart<'p>(page: &'p Page, id: &str) -> &'p Figure {
    let mut figures = page.sections.iter().flat_map(|section| &section.figures);
    figures.find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}: {:?}", charts(page)))
}

/// Returns the sample with these sizes only.
pub fn with_sizes(sizes: &[u64]) -> ResultDocument {
    let characterize = sample::Characterize { sizes: sizes.to_vec(), ..sample::characterize() };
    let header = sample::header_of(&characterize);
    let mut assembler = Assembler::new(header.clone());
    for (run, log) in sample::runs_of(&header.experiment) {
        assembler.add(run, &log.merged());
    }
    judged(assembler.document(State::Complete))
}

#[test]
fn sizes_are_curves_and_one_size_is_not() {
    let expected =
        ["runs", "percentiles", "latency-over-size", "throughput-over-size", "runs-of-throughput", "cpu"];
    let several = page(&with_sizes(&[32, 1024, 8192]));
    let of_several = charts(&several);
    assert!(expected.iter().all(|id| of_several.contains(&(*id).to_owned())), "{of_several:?}");
    let of_one = charts(&page(&with_sizes(&[1024])));
    assert!(!of_one.iter().any(|id| id.contains("over-size")), "{of_one:?}");
    assert!(of_one.contains(&"runs".to_owned()), "{of_one:?}");
}

#[test]
fn latency_has_a_panel_for_each_driver_and_throughput_one_for_all() {
    let page = page(&with_sizes(&[32, 1024, 8192]));
    let ChartKind::Lines(latency) = &chart(&page, "latency-over-size").chart.kind else { panic!("lines") };
    assert_eq!(latency.panels.len(), 2);
    assert_eq!(latency.x.ticks, [32.0, 1024.0, 8192.0]);
    let styles: Vec<LineStyle> = latency.panels[0].lines.iter().map(|line| line.style).collect();
    assert_eq!(styles, [LineStyle::Ghost, LineStyle::Thick]);
    let ChartKind::Lines(throughput) = &chart(&page, "throughput-over-size").chart.kind else {
        panic!("lines")
    };
    assert_eq!(throughput.panels.len(), 1);
    let dashed = throughput.panels[0].lines.iter().filter(|line| line.style == LineStyle::Dashed);
    assert_eq!(dashed.map(|line| line.role.contains("8192")).collect::<Vec<_>>().len(), 2);
}

#[test]
fn loads_are_response_times_with_the_knee() {
    let loads = [1_000, 5_000, 20_000, 40_000].map(sample::paced::constant);
    let header = sample::paced::header(&loads, &[]);
    let document = judged(sample::paced::document_with(&header, |_| {}));
    let found = page(&document);
    let ChartKind::Lines(lines) = &chart(&found, "load").chart.kind else { panic!("lines") };
    let knees: Vec<&results::Finding> =
        document.findings.iter().filter(|finding| finding.kind == FindingKind::Knee).collect();
    let drawn = lines.panels.iter().flat_map(|panel| &panel.references);
    let drawn: Vec<f64> = drawn.map(|reference| reference.at).collect();
    assert_eq!(drawn, knees.iter().map(|knee| knee.numbers["knee_sps"]).collect::<Vec<_>>());
    let points: Vec<f64> = lines.panels[0].lines[1].points.iter().map(|point| point.x).collect();
    assert_eq!(points, [1_000.0, 5_000.0, 20_000.0, 40_000.0]);
    // A single load has no curve.
    let header = sample::paced::header(&loads[..1], &[]);
    let one = charts(&page(&judged(sample::paced::document_with(&header, |_| {}))));
    assert!(!one.contains(&"load".to_owned()) && one.contains(&"runs-under-load".to_owned()), "{one:?}");
}

#[test]
fn each_flow_of_a_mix_has_its_response_times() {
    let flows = [
        sample::paced::flow("command", 200, sample::paced::constant(1_000)),
        sample::paced::flow("lidar", 65_536, sample::paced::constant(100)),
    ];
    let document = judged(sample::paced::document_with(&sample::paced::header(&[], &flows), |_| {}));
    let found = page(&document);
    let mixes = document.cells.iter().filter(|cell| cell.factors.flows.len() == 2).count();
    for id in ["flows", "flows-p99"] {
        let figure = chart(&found, id);
        let ChartKind::RunStrip(strip) = &figure.chart.kind else { panic!("strip") };
        assert_eq!(strip.series.len(), 2 * mixes, "{id}");
        assert!(strip.series.iter().all(|of| of.median.is_some() && !of.runs.is_empty()), "{id}");
        assert!(figure.chart.subtitle.contains("2 flows"), "{}", figure.chart.subtitle);
    }
    let ids = charts(&found);
    assert!(!ids.contains(&"runs-under-load".to_owned()), "{ids:?}");
}

#[test]
fn search_has_its_trials_and_rates() {
    let document = judged(sample::search::document_with(|_| {}));
    let found = page(&document);
    let ChartKind::Trials(trials) = &chart(&found, "trials-ndr").chart.kind else { panic!("trials") };
    let shown = &trials.searches[0];
    let of_runs: Vec<usize> =
        document.cells[0].valid_runs().filter_map(Run::search).map(|search| search.trials.len()).collect();
    assert!(of_runs.contains(&shown.trials.len()), "{of_runs:?}");
    assert!(shown.found.is_some());
}

#[test]
fn search_over_a_system_has_its_scales_and_what_fails_first() {
    let document = judged(sample::search::system_document());
    let found = page(&document);
    let figure = &chart(&found, "trials-system").chart;
    let ChartKind::Trials(trials) = &figure.kind else { panic!("trials") };
    assert_eq!(trials.y.label, "scale of all rates");
    let [first, over, _] = &trials.searches[0].trials[..] else { panic!("{:?}", trials.searches[0]) };
    assert!((first.load - 1.0).abs() < 1e-12 && over.load < 2.1, "{first:?} {over:?}");
    assert!(over.detail.contains("missed 31.4 %, limit 0.100 %"), "{over:?}");
    let line = trials.searches[0].found.expect("found");
    assert!((1.8..2.1).contains(&line.value), "{line:?}");
    assert!(
        figure.title.contains("headroom of 1.") && figure.title.contains("fails first"),
        "{}",
        figure.title
    );
    assert!(charts(&found).contains(&"runs-of-system".to_owned()));
}

#[test]
fn endpoints_are_an_axis_with_a_law() {
    let found = page(&judged(simulated::fan_outs(Workload::Throughput)));
    let ids = charts(&found);
    assert!(ids.contains(&"sample-time-over-readers".to_owned()), "{ids:?}");
    let ChartKind::Lines(lines) = &chart(&found, "sample-time-over-readers").chart.kind else {
        panic!("lines")
    };
    assert_eq!(lines.x.ticks, [1.0, 2.0, 4.0, 8.0]);
    let marks: Vec<&charts::Line> =
        lines.panels[0].lines.iter().filter(|line| !line.runs.is_empty()).collect();
    assert_eq!(marks[0].runs.len(), 4 * 3);
    let laws = lines.panels[0].lines.iter().filter(|line| line.style == LineStyle::Law);
    for law in laws {
        assert!(law.points.len() > 40, "a law has no corner on a logarithmic axis");
        assert_eq!((law.points[0].x, law.points[law.points.len() - 1].x.round()), (1.0, 8.0));
    }
    let readers = chart(&found, "readers");
    let ChartKind::Lines(readers) = &readers.chart.kind else { panic!("lines") };
    assert_eq!(readers.panels[0].lines[0].points.len(), 8);
}

#[test]
fn two_numbers_of_endpoints_are_compared_in_the_answer() {
    let mut document = simulated::measured(Workload::Latency, |factors| {
        let with = |readers, size_bytes| {
            let topology = experiment::Topology::Mesh { writers: 1, readers };
            Factors { topology, size_bytes, ..factors.clone() }
        };
        vec![
            ("1/64", with(1, 64)),
            ("3/64", with(3, 64)),
            ("1/1024", with(1, 1024)),
            ("3/1024", with(3, 1024)),
        ]
    });
    for cell in &mut document.cells {
        for run in &mut cell.runs {
            let block = u64::from(run.block);
            run.latency.get_mut("rtt").expect("round trips").p50_ns = Some(match cell.id.as_str() {
                "3/64" => 150_000 + 1_000 * block,
                "3/1024" => 99_000 + 2_000 * (block % 2),
                _ => 100_000,
            });
        }
    }
    let page = page(&judged(document));
    let answer: String = page.answer[0].iter().map(html_report::Words::text).collect();
    assert_eq!(
        answer.replace('\u{a0}', " "),
        "With 3 readers instead of 1, the median round trip of plain was 52.0 % longer at 1 of 2 sizes and not shown to differ at 1 of 2 \
         sizes (64 B: +52.0 %, range 51.0 to 53.0 %, 3 blocks)."
    );
}

#[test]
fn ring_has_its_hops() {
    let found = page(&judged(simulated::rings()));
    let ChartKind::Lines(hops) = &chart(&found, "hops").chart.kind else { panic!("lines") };
    assert_eq!(hops.panels[0].lines[0].points.len(), 5);
    let ids = charts(&found);
    assert!(ids.contains(&"rtt-over-nodes".to_owned()), "{ids:?}");
}

#[test]
fn discovery_is_over_the_participants() {
    let found = page(&judged(simulated::discoveries()));
    let ids = charts(&found);
    assert!(ids.contains(&"matched-over-participants".to_owned()), "{ids:?}");
}

#[test]
fn verdicts_are_a_chart_from_two_on() {
    let header = sample::header();
    let mut document = sample::document();
    assert!(!charts(&page(&document)).contains(&"verdicts".to_owned()));
    let baseline = header.experiment.cells.iter().filter(|cell| cell.factors.driver == "plain");
    document.experiment.design.baseline = baseline.map(|cell| cell.id.clone()).collect();
    let document = judged(document);
    let compared =
        document.verdicts.iter().filter(|verdict| verdict.kind == results::VerdictKind::Comparison);
    let estimated =
        compared.filter(|verdict| verdict.answer.as_ref().is_some_and(|answer| answer.change_pct.is_some()));
    let page = page(&document);
    let ChartKind::Forest(forest) = &chart(&page, "verdicts").chart.kind else { panic!("forest") };
    assert_eq!(forest.rows.len(), estimated.count().min(24));
}

#[test]
fn windows_of_the_median_runs_are_over_time() {
    let document = with_sizes(&[1024]);
    let window = |start_ns| LogWindow { start_ns, samples: 10, p50_ns: 20_000, max_ns: 90_000 };
    let length = document.experiment.design.measure_ns / u64::from(document.experiment.design.windows);
    let wanted = RefCell::new(Vec::new());
    let windows = |run: u32, kind: &str| {
        let is_first = wanted.borrow().is_empty();
        wanted.borrow_mut().push((run, kind.to_owned()));
        if is_first { [0, 1, 2, 5].map(|index| window(index * length)).to_vec() } else { Vec::new() }
    };
    let page = html_report::page(&document, &windows);
    let wanted = wanted.borrow();
    assert!(wanted.len() == 2 && wanted.iter().all(|(_, kind)| kind == "rtt"), "{wanted:?}");
    let ChartKind::Timeline(timeline) = &chart(&page, "time").chart.kind else { panic!("timeline") };
    assert_eq!((timeline.panels.len(), timeline.panels[0].windows.len()), (1, 4));
    assert_eq!(timeline.panels[0].gaps.len(), 1, "no sample arrived in two windows");
}

#[test]
fn rate_that_varies_is_over_time_as_the_run_had_it() {
    use results::{RateWindows, SteadyClass, SteadySegment, SteadyState};
    let level = |index: u64, sps| SteadySegment {
        from_ns: index * 100,
        to_ns: 100 * (index + 1),
        level_ns: None,
        level_sps: Some(sps),
    };
    let windows = RateWindows { length_ns: 50, delivered: vec![7, 5, 2, 0] };
    for windows in [Some(windows), None] {
        let mut document = with_sizes(&[1024]);
        for run in document.cells.iter_mut().flat_map(|cell| &mut cell.runs) {
            let state = SteadyState {
                verdict: SteadyClass::Slowdown,
                steady_from_ns: Some(100),
                segments: vec![level(0, 1.2e8), level(1, 2e7)],
                windows: windows.clone(),
            };
            run.steady_state.insert("delivered".to_owned(), state);
        }
        let page = page(&document);
        let figure = &chart(&page, "rate-over-time").chart;
        let ChartKind::Timeline(timeline) = &figure.kind else { panic!("a timeline") };
        let drawn: Vec<f64> = timeline.panels[0].windows.iter().map(|window| window.value).collect();
        match &windows {
            Some(kept) => {
                let rates: Vec<f64> = kept.delivered.iter().map(|n| *n as f64 * 1e9 / 50.0).collect();
                assert_eq!(drawn, rates);
                assert_eq!(timeline.panels[0].windows[3].end, 200.0);
                assert_eq!(figure.note, "Step: the rate of 50 ns.");
            }
            // Results of earlier versions have the levels only.
            None => assert_eq!((drawn[0], *drawn.last().expect("levels")), (1.2e8, 2e7)),
        }
    }
}

#[test]
fn many_configurations_are_fields() {
    let document = many(30, 1);
    let page = page(&document);
    let ChartKind::Heat(heat) = &chart(&page, "all-latencies").chart.kind else { panic!("heat") };
    assert_eq!(heat.rows.len(), 30);
    let figure = chart(&page, "runs");
    let ChartKind::RunStrip(strip) = &figure.chart.kind else { panic!("strip") };
    assert_eq!(strip.series.len(), 12);
    assert!(figure.chart.note.contains("Shows 12 of 30 configurations"), "{}", figure.chart.note);
}

/// Returns a result of this many transports with this many sizes each, with the workload `latency`.
pub fn many(transports: u64, sizes: u64) -> ResultDocument {
    let mut header = sample::header_of(&sample::Characterize {
        sizes: vec![64],
        drivers: vec!["dds".to_owned()],
        workloads: vec![Workload::Latency],
        ..sample::characterize()
    });
    let first = header.experiment.cells[0].clone();
    let cell = |(way, size): (u64, u64)| {
        let (transport, size_bytes) = (format!("way-{way}"), 64 + 8 * size);
        let id = format!("dds/{transport}/{size_bytes}");
        Cell { id, factors: Factors { transport, size_bytes, ..first.factors.clone() } }
    };
    let all = (0..transports).flat_map(|way| (0..sizes).map(move |size| (way, size)));
    header.experiment.cells = all.map(cell).collect();
    let scheduled = header.experiment.schedule();
    let (template, _) = sample::run_in_one_window(scheduled[0], &first);
    let mut assembler = Assembler::new(header.clone());
    for scheduled in scheduled {
        let mut run = template.clone();
        (run.number, run.block) = (scheduled.number, scheduled.block);
        run.cell.clone_from(&header.experiment.cells[scheduled.cell].id);
        if let Some(rtt) = run.latency.get_mut("rtt") {
            rtt.p50_ns = rtt.p50_ns.map(|ns| ns + 100 * scheduled.cell as u64 + u64::from(scheduled.block));
        }
        assembler.add(run, &Histograms::new());
    }
    assembler.document(State::Complete)
}

#[test]
fn system_has_a_table_of_topics_and_a_row_for_each_flow() {
    use experiment::{Deadline, Flow};
    let deadline = Some(Deadline { deadline_ns: 1_000_000, missed_ppm: 0 });
    let flow = |name: &str, size: u64, sps: u64| Flow {
        deadline,
        ..sample::paced::flow(name, size, sample::paced::constant(sps))
    };
    let flows = [flow("control", 64, 1_000), flow("picture", 4_096, 100)];
    let header = sample::paced::header(&[], &flows);
    let document = judged(sample::paced::document_with(&header, |_| {}));
    let page = page(&document);
    let topics = page.cells.iter().find(|table| table.title == "Topics").expect("a table of topics");
    let drivers: usize = document.cells.len();
    assert_eq!(topics.rows.len(), 2 * drivers, "{:?}", topics.rows);
    let missed =
        topics.columns.iter().position(|(heading, _)| heading.starts_with("Missed")).expect("a column");
    for cell in &document.cells {
        for flow in &cell.paced.as_ref().expect("a paced cell").flows {
            let timeliness = flow.timeliness.as_ref().expect("a deadline");
            let share = results::format_value(100.0 * timeliness.missed as f64 / timeliness.planned as f64);
            let is_of =
                |row: &&Vec<String>| row[0].contains(&cell.factors.driver) && row[0].contains(&flow.name);
            let row = topics.rows.iter().find(is_of).expect("a row");
            assert_eq!(row[missed], share, "{row:?}");
        }
    }
    let ChartKind::RunStrip(strip) = &chart(&page, "flows").chart.kind else { panic!("a strip") };
    assert_eq!(strip.series.len(), 2 * drivers);
    let html = html_report::html(&page);
    assert!(html.contains("Topics: 4 rows"), "the page has the table");
}
