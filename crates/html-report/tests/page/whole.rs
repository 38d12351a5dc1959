//! Whole pages: their words, their size, and that they are written alike twice.

use insta::assert_snapshot;
use results::{Assembler, State};

use crate::{judged, kinds::many, outline::outline, page, sample};

#[test]
fn words_of_a_complete_result() {
    assert_snapshot!(outline(&page(&judged(sample::document()))));
}

#[test]
fn words_of_an_interrupted_result_without_values() {
    let mut assembler = Assembler::new(sample::header());
    for (run, _) in sample::runs().into_iter().take(2) {
        assembler.add(sample::failed(&run), &results::Histograms::new());
    }
    let document = judged(assembler.document(State::Interrupted));
    let page = page(&document);
    assert_snapshot!(outline(&page));
    assert!(html_report::html(&page).contains("interrupted"));
}

#[test]
fn same_result_is_the_same_page() {
    let document = judged(sample::document());
    let once = html_report::html(&page(&document));
    assert_eq!(html_report::html(&page(&document)), once);
    let drawings = || html_report::drawings(&page(&document), html_report::Colours::Preferred);
    assert_eq!(drawings(), drawings());
}

#[test]
fn result_without_hosts_and_cells_is_a_page() {
    let mut document = sample::document();
    document.cells.clear();
    document.hosts.clear();
    document.blocks.clear();
    document.drivers.clear();
    let html = html_report::html(&page(&document));
    assert!(html.contains("No run has a value"), "the answer says so");
}

#[test]
fn hundreds_of_runs_are_below_two_megabytes() {
    let document = judged(many(10, 17));
    let runs: usize = document.cells.iter().map(|cell| cell.runs.len()).sum();
    assert!(runs >= 500, "{runs}");
    let html = html_report::html(&page(&document));
    assert!(html.len() < 2_000_000, "{}", html.len());
}

#[test]
fn ten_thousand_cells_without_a_common_curve_are_judged_and_shown() {
    let document = judged(many(10_000, 1));
    assert_eq!(document.curves().len(), 10_000);
    let page = page(&document);
    assert_eq!(page.rows.rows.len(), document.cells.iter().map(|cell| cell.runs.len()).sum::<usize>());
    assert!(html_report::html(&page).contains("dds/way-9999/64"));
}

#[test]
fn ten_thousand_cells_are_a_page_with_all_rows() {
    let document = many(200, 50);
    let page = page(&document);
    assert_eq!(page.rows.rows.len(), document.cells.iter().map(|cell| cell.runs.len()).sum::<usize>());
    let html = html_report::html(&page);
    assert!(html.contains("dds/way-199/456"));
    let elements = html.matches("<td").count();
    assert!(elements < 20_000, "{elements}");
}

#[test]
fn settings_of_the_host_are_named_without_the_hint() {
    use results::{Warning, WarningKind};
    let mut document = judged(sample::document());
    document.warnings.retain(|warning| warning.kind != WarningKind::Host);
    document.warnings.push(Warning::new(WarningKind::Host, "the limit is 5; at least").with_hint("raise it"));
    let page = page(&document);
    let check = page.fitness.checks.iter().find(|check| check.name == "Settings").expect("a check");
    assert_eq!(check.text, "the limit is 5; at least");
}

#[test]
fn system_is_answered_by_its_deadlines() {
    use experiment::{Deadline, Flow};
    let flow = |name: &str, deadline_ns: u64| Flow {
        deadline: Some(Deadline { deadline_ns, missed_ppm: 0 }),
        ..sample::paced::flow(name, 64, sample::paced::constant(1_000))
    };
    let mut header = sample::paced::header(&[], &[flow("control", 1_000_000), flow("picture", 50_000_000)]);
    header.experiment.cells.retain(|cell| cell.factors.driver == "dds");
    let document = judged(sample::paced::document_with(&header, |run| {
        for flow in &mut run.flows {
            let misses = flow.name == "control" && run.number == 2;
            let timeliness = flow.timeliness.as_mut().expect("a deadline");
            (timeliness.missed, timeliness.is_met) = if misses { (50, false) } else { (0, true) };
        }
    }));
    let runs = document.cells[0].valid_runs().count();
    let page = page(&document);
    let answer: String = page.answer[0].iter().map(html_report::Words::text).collect();
    let met = format!("All deadlines were met in {} of {runs} runs with ", runs - 1);
    assert!(
        answer.starts_with(&met)
            && answer.contains(
                "; `control` was the furthest beyond its limit, 25.0 % missed where 0 % may, in a run"
            ),
        "{answer}"
    );
    let all: String = page.answer.iter().flatten().map(html_report::Words::text).collect();
    assert!(!all.contains("the median response time was"), "not that of all topics together: {all}");
}

/// Whoever adds a section with a heading adds it to the navigation.
#[test]
fn navigation_leads_to_each_section() {
    let mut document = judged(sample::document());
    document.experiment.published = vec![experiment::Published {
        system: "Old 1.0".to_owned(),
        source: "A book".to_owned(),
        note: String::new(),
        conditions: experiment::PublishedConditions::default(),
        repeats: None,
        figures: vec![experiment::PublishedFigure {
            cell: "dds/udp4/latency/1024".to_owned(),
            batch_bytes: 0,
            figure: experiment::Figure::HalfRtt(experiment::RttStatistic::P50),
            value: 20.0,
        }],
    }];
    document.show_published(document.experiment.published.clone());
    let html = html_report::html(&page(&document));
    let (_, rest) = html.split_once("<nav").expect("a navigation");
    let (navigation, body) = rest.split_once("</nav>").expect("its end");
    let targets: Vec<&str> =
        navigation.split("href=\"#").skip(1).filter_map(|part| part.split('"').next()).collect();
    for target in &targets {
        assert_eq!(html.matches(&format!(" id=\"{target}\"")).count(), 1, "{target}");
    }
    let mut sections = 0;
    for section in body.split("<section").skip(1) {
        sections += 1;
        let ids = section.split(" id=\"").skip(1).filter_map(|part| part.split('"').next());
        assert!(ids.clone().any(|id| targets.contains(&id)), "no link to {:?}", ids.collect::<Vec<_>>());
    }
    assert!(sections >= 5, "{sections}");
    // parts of a section with a heading of their own
    for heading in body.split("<h3 ").skip(1).filter(|heading| heading.contains(" id=\"")) {
        let id = heading.split("id=\"").nth(1).and_then(|part| part.split('"').next());
        assert!(
            id.is_some_and(|id| targets.contains(&id)) || !heading.starts_with("class=\"list\" id"),
            "{id:?}"
        );
    }
    for place in ["published-figures", "repeat", "notes", "settings", "rows"] {
        assert!(targets.contains(&place), "{place}: {targets:?}");
    }
}
