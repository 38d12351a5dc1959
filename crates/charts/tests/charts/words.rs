//! Names of any length: none is cut as long as it fits in lines, none lies on another, and those that are cut are told apart.

use std::collections::BTreeSet;

use charts::{Chart, ChartKind, Series, Slot, Width, svg};
use roxmltree::{Document, Node};

use crate::{samples, svg::positions};

/// Width of a narrow letter, as a share of the size of its text: no text is narrower.
const LEAST_EM: f64 = 0.3;

/// Replaces all names of a chart.
fn rename(chart: &mut Chart, of: &dyn Fn(&str) -> String) {
    let name = |text: &mut String| {
        if !text.is_empty() {
            *text = of(text);
        }
    };
    let series = |series: &mut Series| name(&mut series.name);
    match &mut chart.kind {
        ChartKind::Forest(forest) => {
            [&mut forest.below, &mut forest.above, &mut forest.axis_label, &mut forest.more]
                .into_iter()
                .for_each(name);
            for row in &mut forest.rows {
                [&mut row.group, &mut row.label].into_iter().for_each(name);
                row.words = "0 % instead of 100 %".to_owned();
            }
        }
        ChartKind::RunStrip(strip) => strip.series.iter_mut().for_each(|of| series(&mut of.series)),
        ChartKind::Percentiles(shown) => shown.series.iter_mut().for_each(|of| series(&mut of.series)),
        ChartKind::Lines(lines) => {
            for panel in &mut lines.panels {
                panel.heading.iter_mut().for_each(series);
                panel.lines.iter_mut().for_each(|line| series(&mut line.series));
            }
        }
        ChartKind::Timeline(timeline) => timeline.panels.iter_mut().for_each(|of| series(&mut of.series)),
        ChartKind::Bars(bars) => {
            name(&mut bars.group_label);
            for group in &mut bars.groups {
                name(&mut group.label);
                group.bars.iter_mut().for_each(|bar| series(&mut bar.series));
            }
        }
        ChartKind::Heat(heat) => {
            name(&mut heat.row_label);
            name(&mut heat.column_label);
            heat.rows.iter_mut().for_each(|row| name(&mut row.label));
        }
        ChartKind::Trials(trials) => trials.searches.iter_mut().for_each(|of| series(&mut of.series)),
    }
}

/// Returns the names of a chart that must be readable on it.
fn names(chart: &Chart) -> BTreeSet<String> {
    let of = |series: &Series| series.name.clone();
    match &chart.kind {
        ChartKind::Forest(forest) => forest
            .rows
            .iter()
            .flat_map(|row| [row.group.clone(), row.label.clone(), row.words.clone()])
            .collect(),
        ChartKind::RunStrip(strip) => strip.series.iter().map(|series| of(&series.series)).collect(),
        ChartKind::Percentiles(shown) => shown.series.iter().map(|series| of(&series.series)).collect(),
        ChartKind::Lines(lines) => {
            let named = |panel: &charts::Panel| {
                let ends: Vec<String> =
                    panel.lines.iter().filter(|line| line.named).map(|line| of(&line.series)).collect();
                panel.heading.iter().map(of).chain(ends).collect::<Vec<_>>()
            };
            lines.panels.iter().flat_map(named).collect()
        }
        ChartKind::Timeline(timeline) => timeline.panels.iter().map(|panel| of(&panel.series)).collect(),
        ChartKind::Bars(bars) => {
            let bars_of = bars.groups.iter().flat_map(|group| group.bars.iter().map(|bar| of(&bar.series)));
            bars_of.chain(bars.groups.iter().map(|group| group.label.clone())).collect()
        }
        ChartKind::Heat(heat) => heat.rows.iter().map(|row| row.label.clone()).collect(),
        ChartKind::Trials(trials) => trials.searches.iter().map(|search| of(&search.series)).collect(),
    }
}

/// Returns the texts of a drawing, each with the least box that it needs.
fn texts(document: &Document<'_>) -> Vec<(String, [f64; 4])> {
    let text = |node: Node<'_, '_>| {
        let text = node.text().unwrap_or_default().to_owned();
        let (x, y) = positions(node)[0];
        let wide = LEAST_EM * 11.0 * text.chars().count() as f64;
        let left = match node.attribute("text-anchor") {
            Some("end") => x - wide,
            Some("middle") => x - wide / 2.0,
            _ => x,
        };
        (text, [left, y - 8.0, left + wide, y])
    };
    document.descendants().filter(|node| node.tag_name().name() == "text").map(text).collect()
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Names as long as those of results, whose differences are in their middle.
#[test]
fn long_names_are_whole_and_beside_each_other() {
    for (id, mut chart) in samples::all() {
        let long = |name: &str| format!("in-flight-16 presentation-topic {name}");
        rename(&mut chart, &long);
        for width in [Width::Wide, Width::Narrow] {
            let drawn = svg(&chart, "c", width);
            assert!(!drawn.contains('\u{2026}'), "{id} {width:?}: a text is cut: {drawn}");
            let document = Document::parse(&drawn).expect("XML");
            let texts = texts(&document);
            let all = without_spaces(&texts.iter().map(|(text, _)| text.as_str()).collect::<String>());
            for name in names(&chart).iter().filter(|name| !name.is_empty()) {
                let is_narrow_group = matches!(chart.kind, ChartKind::Forest(_)) && width == Width::Narrow;
                // In a narrow forest plot group and label are one text.
                let name = if is_narrow_group { name.split(' ').next().unwrap_or_default() } else { name };
                assert!(all.contains(&without_spaces(name)), "{id} {width:?}: {name} in {all}");
            }
            for (index, (text, one)) in texts.iter().enumerate() {
                assert!(one[0] >= -2.0 && one[2] <= width.px() + 2.0, "{id} {width:?}: {text} is outside");
                for (other, two) in &texts[index + 1..] {
                    let covers = |low: usize| one[low + 2].min(two[low + 2]) - one[low].max(two[low]);
                    assert!(covers(0) <= 0.5 || covers(1) <= 0.5, "{id} {width:?}: `{text}` is on `{other}`");
                }
            }
        }
    }
}

/// Names of which not even several lines show all.
#[test]
fn names_that_are_cut_differ() {
    for (id, mut chart) in samples::all() {
        let before = names(&chart).len();
        let wide = "\u{56fd}W".repeat(150);
        rename(&mut chart, &|name| format!("{wide}{name}{wide}"));
        for width in [Width::Wide, Width::Narrow] {
            let drawn = svg(&chart, "c", width);
            let document = Document::parse(&drawn).expect("XML");
            let texts = texts(&document);
            for (text, [left, _, right, _]) in &texts {
                assert!(*left >= -2.0 && *right <= width.px() + 2.0, "{id} {width:?}: {text} is outside");
            }
            // Names of one place have numbers in front.
            let numbered: BTreeSet<&str> = texts
                .iter()
                .filter_map(|(text, _)| text.split_once(": "))
                .map(|(number, _)| number)
                .collect();
            let is_single = before < 2 || matches!(chart.kind, ChartKind::Lines(_) | ChartKind::Forest(_));
            assert!(is_single || numbered.len() > 1, "{id} {width:?}: {numbered:?}");
        }
    }
}

#[test]
fn series_differ_in_their_shape_and_neighbours_in_their_colour() {
    let mut shapes = BTreeSet::new();
    for slot in Slot::SERIES {
        let sign = charts::sign(slot);
        let start = sign.find("\n<").expect("a mark") + 1;
        let mark = &sign[start..];
        let end = mark.find("class").expect("a class");
        assert!(shapes.insert(mark[..end].to_owned()), "{slot:?} has the shape of another: {sign}");
        assert!(mark.contains(&format!("mk {}", slot.class())), "{sign}");
    }
    assert_eq!(shapes.len(), 13);
    let coloured = &Slot::SERIES[1..];
    for four in coloured.windows(4) {
        let classes: BTreeSet<&str> = four.iter().map(|slot| slot.class()).collect();
        assert_eq!(classes.len(), 4, "{four:?}");
    }
    assert!(coloured.iter().all(|slot| ![Slot::S0.class(), Slot::Ink.class()].contains(&slot.class())));
}

/// Published figures beside measured ones: seven names at the ends of lines, which need more lines than an equal share of the height of
/// the plot in a narrow chart.
#[test]
fn names_of_many_lines_make_the_plot_higher_instead_of_being_cut() {
    let published = [
        "Connext Professional 6.0.0, batched",
        "Connext Professional 6.0.0, unbatched",
        "Connext Micro 3.0.0, batched",
        "RTI Perftest with sockets, raw transport",
    ];
    for (id, mut chart) in samples::all() {
        let ChartKind::Lines(lines) = &mut chart.kind else { continue };
        let [panel] = &mut lines.panels[..] else { continue };
        let Some(last) = panel.lines.last().cloned() else { continue };
        panel.lines.extend(published.map(|name| charts::Line {
            series: Series::new(name, Slot::Ink),
            named: true,
            ..last.clone()
        }));
        let drawn = svg(&chart, "c", Width::Narrow);
        assert!(!drawn.contains('\u{2026}'), "{id}: a name is cut: {drawn}");
        let document = Document::parse(&drawn).expect("XML");
        let all: String = texts(&document).iter().map(|(text, _)| without_spaces(text)).collect();
        for name in published {
            assert!(all.contains(&without_spaces(name)), "{id}: {name} in {all}");
        }
    }
}
