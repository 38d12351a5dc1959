//! Indexes of many results: histories, their lines and changes, the table of results, and the page.

use std::collections::BTreeMap;

use html_report::{Index, IndexedResult, index_html};
use insta::assert_snapshot;
use results::{ResultDocument, Run};

use crate::{
    hostile::{HOSTILE, options, unique_ids, well_formed},
    sample,
};

const DAY_NS: u64 = 86_400_000_000_000;

/// Night of a series of results of the sample.
#[derive(Clone, Copy)]
struct Night {
    day: u64,
    /// Factor of all times of `dds`.
    level: f64,
    /// Factor of all times, and of the reference: the speed of the host.
    host: f64,
}

/// Returns numbers between -1 and 1 that look random.
fn scatter(seed: u64) -> f64 {
    sample::Noise(seed).next() as f64 / u64::MAX as f64 * 2.0 - 1.0
}

/// Returns the result of a night. Values of each night scatter by 1 %, and the reference by 0.2 %.
fn result(night: Night) -> ResultDocument {
    let mut document = sample::document();
    document.blocks = sample::blocks(&document.experiment);
    let shift = night.day * DAY_NS;
    document.hosts[0].properties.started_unix_ns += shift;
    for (index, cell) in document.cells.iter_mut().enumerate() {
        let own = if cell.factors.driver == "dds" { night.level } else { 1.0 };
        let slower = own * night.host * (1.0 + 0.01 * scatter(night.day * 1_000 + index as u64));
        for run in &mut cell.runs {
            run.started_unix_ns += shift;
            slow_down(run, slower);
        }
    }
    let reference = night.host * (1.0 + 0.002 * scatter(night.day + 77));
    for host in document.blocks.iter_mut().flat_map(|block| &mut block.hosts) {
        for of in host.reference_before.iter_mut().chain(&mut host.reference_after) {
            of.rtt_p50_ns *= reference;
            of.rtt_p99_ns = of.rtt_p99_ns.map(|ns| ns * reference);
            of.rate_sps /= reference;
        }
    }
    document
}

fn slow_down(run: &mut Run, factor: f64) {
    for latency in run.latency.values_mut() {
        for ns in [&mut latency.p50_ns, &mut latency.p99_ns].into_iter().flatten() {
            *ns = (*ns as f64 * factor) as u64;
        }
    }
    if let Some(throughput) = run.throughput_mut() {
        throughput.goodput_mbps /= factor;
    }
}

fn indexed(name: &str, document: &ResultDocument) -> IndexedResult {
    IndexedResult::new(name.to_owned(), Some(&format!("{name}/report.html")), Some("../index.html"), document)
}

/// Returns the index of nights with these levels and hosts.
fn nights(levels: &[(f64, f64)]) -> Vec<IndexedResult> {
    let night = |(day, (level, host)): (usize, &(f64, f64))| {
        let night = Night { day: day as u64, level: *level, host: *host };
        indexed(&format!("night-{day:02}"), &result(night))
    };
    levels.iter().enumerate().map(night).collect()
}

/// Returns 24 nights, from the 13th on with this level.
fn step(level: f64) -> Vec<(f64, f64)> {
    (0..24).map(|day| (if day < 12 { 1.0 } else { level }, 1.0)).collect()
}

#[test]
fn step_of_one_driver_is_found_in_its_cells_only() {
    let index = Index::new(nights(&step(1.3)));
    let text = index.text();
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("nothing that is recorded")).collect();
    assert!(rows.len() > 3, "{text}");
    assert!(rows.iter().all(|row| row.trim_start().starts_with("dds")), "{text}");
    // The 13th night, whose change is +30 % of a time and -23 % of a rate.
    let day = "2026-10-03";
    assert!(rows.iter().all(|row| row.contains(day)), "{text}");
    assert_snapshot!(index.summary().join("\n"));
}

/// Levels from some µs to some ms, of which the newest has the unit of its row.
#[test]
fn row_of_a_history_has_one_unit() {
    let levels = [(0.01, 1.0), (1.0, 1.0), (300.0, 1.0), (30.0, 1.0)];
    let html = index_html(&Index::new(nights(&levels)));
    let (_, table) = html.split_once("id=\"histories\"").expect("the histories");
    let unit = |entry: &str| entry.split('\u{a0}').nth(1).map(ToOwned::to_owned);
    let mut several = 0;
    for row in table.split("<tr>").skip(2) {
        let entries: Vec<&str> =
            row.split("<td").skip(1).filter_map(|entry| entry.split(['>', '<']).nth(1)).collect();
        let units: Vec<Option<String>> = entries[4..7].iter().map(|entry| unit(entry)).collect();
        let known: Vec<&String> = units.iter().flatten().collect();
        assert!(known.iter().all(|unit| *unit == known[0]), "{entries:?}");
        several += usize::from(known.len() == 3);
    }
    assert!(several > 3, "{several} rows");
}

#[test]
fn change_is_new_with_the_first_result_that_shows_it() {
    let all = step(1.3);
    let found: Vec<(usize, usize)> = (12..=24)
        .map(|results| Index::new(nights(&all[..results])))
        .map(|index| {
            let words = index.summary().join(" ").contains("New, found with the newest result only: the ");
            assert_eq!(words, index.new_changes() > 0);
            (index.changes(), index.new_changes())
        })
        .collect();
    // No change before the step; then all are new once, and none when nothing but a further result comes.
    let new: usize = found.iter().map(|(_, new)| new).sum();
    let (changes, last) = found[found.len() - 1];
    assert!(found[..3].iter().all(|of| *of == (0, 0)), "{found:?}");
    assert!(new >= changes && new <= changes + changes / 2 && last == 0, "{found:?}");
}

#[test]
fn change_of_a_line_that_has_ended_is_not_new_for_ever() {
    let all = step(1.3);
    let first = (13..24).find(|results| Index::new(nights(&all[..*results])).new_changes() > 0);
    let first = first.expect("the step is found");
    let mut after = nights(&all[..first]);
    // The next night has another version, and so other lines.
    let mut next = result(Night { day: first as u64, level: 1.3, host: 1.0 });
    for driver in next.drivers.values_mut() {
        driver.middleware_version.push_str(".1");
    }
    after.push(indexed("next", &next));
    let index = Index::new(after);
    assert!(index.changes() > 0 && index.new_changes() == 0, "{}", index.text());
}

#[test]
fn host_that_changes_is_no_change_of_a_cell() {
    let levels: Vec<(f64, f64)> = (0..24).map(|day| (1.0, if day < 12 { 1.0 } else { 1.3 })).collect();
    let index = Index::new(nights(&levels));
    assert!(index.text().contains("No change was found in"), "{}", index.text());
    let drift: Vec<(f64, f64)> = (0..24).map(|day| (1.0, 1.0 + 0.02 * f64::from(day))).collect();
    assert!(Index::new(nights(&drift)).text().contains("No change was found in"));
}

#[test]
fn change_that_may_be_of_the_host_is_not_claimed_but_named() {
    let named = |scattered: f64| {
        let night = |(day, (level, host)): (usize, &(f64, f64))| {
            let mut document = result(Night { day: day as u64, level: *level, host: *host });
            let factor = (scattered * scatter(day as u64 + 5)).exp();
            for host in document.blocks.iter_mut().flat_map(|block| &mut block.hosts) {
                for of in host.reference_before.iter_mut().chain(&mut host.reference_after) {
                    of.rtt_p50_ns *= factor;
                    of.rtt_p99_ns = of.rtt_p99_ns.map(|ns| ns * factor);
                    of.rate_sps /= factor;
                }
            }
            indexed(&format!("night-{day:02}"), &document)
        };
        Index::new(step(1.3).iter().enumerate().map(night).collect()).summary().join(" ")
    };
    let words = "but the reference of the host scatters so much that the host may be the cause: the ";
    let (quiet, scattered) = (named(0.0), named(1.0));
    assert!(!quiet.contains(words) && quiet.contains("changes were found"), "{quiet}");
    assert!(scattered.contains(words) && scattered.contains("No change was found"), "{scattered}");
}

#[test]
fn slow_change_is_said_to_be_one() {
    let slow: Vec<(f64, f64)> = (0..60).map(|day| (1.0 + 0.01 * f64::from(day), 1.0)).collect();
    let words = "go in one direction: these may be steps of a slow change";
    assert!(Index::new(nights(&slow)).summary().join(" ").contains(words));
    assert!(!Index::new(nights(&step(1.3))).summary().join(" ").contains(words));
}

#[test]
fn results_without_a_reference_are_not_tested() {
    let levels = step(1.3);
    let without = levels.iter().enumerate().map(|(day, (level, host))| {
        let mut document = result(Night { day: day as u64, level: *level, host: *host });
        document.blocks.clear();
        indexed(&format!("night-{day}"), &document)
    });
    let text = Index::new(without.collect()).text();
    assert!(text.contains("No history is tested for changes: its results lack the reference."), "{text}");
}

#[test]
fn order_of_the_arguments_does_not_matter() {
    let sorted = nights(&step(1.3));
    let mut shuffled = sorted.clone();
    shuffled.reverse();
    shuffled.swap(3, 17);
    assert_eq!(index_html(&Index::new(sorted)), index_html(&Index::new(shuffled)));
}

#[test]
fn hosts_and_versions_are_lines_of_their_own_with_marks() {
    let mut all = Vec::new();
    for day in 0..20 {
        let mut document = result(Night { day, level: if day < 10 { 1.0 } else { 1.5 }, host: 1.0 });
        if day >= 10 {
            let driver = document.drivers.get_mut("dds").expect("the sample has it");
            driver.middleware_version = "2.6.0".to_owned();
        }
        if day >= 15 {
            document.hosts[0].properties.kernel = "Linux 6.13.1".to_owned();
        }
        all.push(indexed(&format!("night-{day}"), &document));
    }
    for day in 4..8 {
        let mut document = result(Night { day, level: 3.0, host: 1.0 });
        document.hosts[0].properties.name = "other".to_owned();
        all.push(indexed(&format!("other-{day}"), &document));
    }
    let index = Index::new(all);
    assert!(index.text().contains("No change was found"), "versions are not mixed: {}", index.text());
    let summary = index.summary().join(" ");
    assert!(summary.contains("hosts and versions are not compared with each other"), "{summary}");
    let html = index_html(&index);
    for words in ["host other", "version 2.6.0", "kernel 6.12.0 \u{2192} 6.13.1"] {
        assert!(html.contains(&format!(">{words}</text>")), "{words}");
    }
    assert!(html.contains("bench, 2.5.1") && html.contains("bench, 2.6.0"));
}

#[test]
fn nights_without_a_result_are_marked() {
    let all = nights(&step(1.0));
    let html = |indexed: Vec<IndexedResult>| index_html(&Index::new(indexed));
    assert!(!html(all.clone()).contains("missing"), "a result each night");
    let (mut some, rest) = (all[..9].to_vec(), &all[12..]);
    some.extend_from_slice(rest);
    let html = html(some);
    assert!(html.contains(">3 missing</text>"), "the mark");
    assert!(
        html.contains("Missing: no result here, although the others follow every 24\u{a0}h."),
        "its explanation"
    );
    assert!(!html.contains("Grey dotted line: another host"), "no other mark");
}

#[test]
fn what_differs_with_a_change_is_named() {
    let all = step(1.3).into_iter().enumerate().map(|(day, (level, host))| {
        let mut document = result(Night { day: day as u64, level, host });
        if day >= 12 {
            document.hosts[0].environment = sample::environment("4194304");
            document.hosts[0].properties.kernel = "Linux 6.13.1".to_owned();
        }
        indexed(&format!("night-{day}"), &document)
    });
    let text = Index::new(all.collect()).text();
    let with = "kernel 6.12.0 \u{2192} 6.13.1; sysctl/net.core.rmem_max 212992 \u{2192} 4194304";
    assert!(text.contains(with), "{text}");
}

#[test]
fn other_conditions_are_another_history() {
    let mut all = nights(&step(1.0)[..8]);
    for day in 8..16 {
        let mut document = result(Night { day, level: 2.0, host: 1.0 });
        document.experiment.design.measure_ns *= 10;
        document.experiment.name = "longer".to_owned();
        all.push(indexed(&format!("night-{day}"), &document));
    }
    let index = Index::new(all);
    assert!(index.text().contains("No change was found"), "{}", index.text());
    let mut more_blocks = nights(&step(1.0)[..2]);
    let mut document = result(Night { day: 3, level: 1.0, host: 1.0 });
    (document.experiment.design.blocks, document.experiment.design.seed) = (50, 9);
    more_blocks.push(indexed("night-3", &document));
    assert!(index_html(&Index::new(more_blocks)).contains("id=\"history-1\""), "the same history");
}

#[test]
fn results_that_cannot_be_placed_are_in_the_table_only() {
    let mut all = nights(&step(1.0)[..6]);
    all.push(IndexedResult::unreadable("broken".to_owned(), "the record is damaged".to_owned()));
    all.push(indexed("copy-of-3", &result(Night { day: 3, level: 1.0, host: 1.0 })));
    let mut unset = result(Night { day: 4, level: 9.0, host: 1.0 });
    unset.hosts[0].properties.started_unix_ns = 1_000_000_000;
    all.push(indexed("unset", &unset));
    let mut jumped = result(Night { day: 5, level: 9.0, host: 1.0 });
    let last = jumped.cells.iter_mut().flat_map(|cell| &mut cell.runs).max_by_key(|run| run.number);
    last.expect("a run").started_unix_ns -= 2 * DAY_NS;
    all.push(indexed("jumped", &jumped));
    let index = Index::new(all);
    let html = index_html(&index);
    for words in [
        "cannot be loaded: the record is damaged",
        "valid; the same as copy-of-3: counted once",
        "valid; its clock was not set, or jumped: in no history",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(index.summary()[1].contains("1 cannot be loaded"), "{:?}", index.summary());
    let points: BTreeMap<&str, usize> = ["unset;", "jumped;", "night-03"]
        .into_iter()
        .map(|name| (name, html.matches(name).count()))
        .collect();
    assert_eq!((points["unset;"], points["jumped;"]), (0, 0), "no mark has their names");
}

#[test]
fn few_results_have_a_table_and_no_history() {
    let index = Index::new(nights(&step(1.0)[..2]));
    let html = index_html(&index);
    assert!(
        html.contains("No cell has a value in 3 results")
            && html.contains("href=\"./night-01/report.html?index=./../index.html\"")
    );
    assert!(!html.contains("id=\"history-1\""));
    assert!(!Index::new(vec![IndexedResult::unreadable("a".to_owned(), "b".to_owned())]).has_results());
}

#[test]
fn page_is_well_formed_and_names_are_inert() {
    let all = step(1.3).into_iter().enumerate().map(|(day, (level, host))| {
        let mut document = result(Night { day: day as u64, level, host });
        document.experiment.name = HOSTILE.to_owned();
        document.experiment.question = HOSTILE.to_owned();
        document.hosts[0].properties.name = HOSTILE.to_owned();
        document.hosts[0].properties.kernel = format!("Linux {HOSTILE}{day}");
        for driver in document.drivers.values_mut() {
            driver.middleware = HOSTILE.to_owned();
        }
        indexed(&format!("{HOSTILE}{day}"), &document)
    });
    let mut all: Vec<IndexedResult> = all.collect();
    all.push(IndexedResult::unreadable(HOSTILE.to_owned(), HOSTILE.to_owned()));
    let index = Index::new(all);
    let html = index_html(&index);
    assert!(!html.contains("<script>alert") && !html.contains("<img"), "a name became markup");
    assert!(!html.contains('\u{202e}') && !html.contains('\u{1b}'));
    let text = well_formed(&html);
    let parsed = roxmltree::Document::parse_with_options(&text, options()).expect("well-formed");
    let ids = unique_ids(&parsed);
    for target in parsed.descendants().filter_map(|node| node.attribute("href")) {
        let is_section = target.strip_prefix('#').is_some_and(|id| ids.contains(id));
        assert!(is_section || target.starts_with("./"), "{target}");
    }
    for word in ["@import", "url(", "https://"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn hundreds_of_results_are_a_page() {
    let document = result(Night { day: 0, level: 1.0, host: 1.0 });
    let all = (0..500_u64).map(|day| {
        let mut document = document.clone();
        document.hosts[0].properties.started_unix_ns += day * DAY_NS;
        document
            .cells
            .iter_mut()
            .flat_map(|cell| &mut cell.runs)
            .for_each(|run| run.started_unix_ns += day * DAY_NS);
        indexed(&format!("night-{day}"), &document)
    });
    let html = index_html(&Index::new(all.collect()));
    assert_eq!(html.matches("/report.html?index=./../index.html\"").count(), 500);
    assert!(html.len() < 8_000_000, "{}", html.len());
}
