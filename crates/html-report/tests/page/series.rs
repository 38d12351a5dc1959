//! More configurations than colours.

use std::collections::BTreeSet;

use charts::{ChartKind, LineStyle, Slot};
use results::{Conclusion, ResultDocument};

use crate::{judged, kinds::many, page};

/// Most lines with a colour in one frame.
const MOST: usize = 4;

#[test]
fn twelve_configurations_are_told_apart() {
    for count in [6, 12] {
        let document = judged(many(count, 3));
        let page = page(&document);
        let keys = page.key_figures.as_ref().expect("there are values");
        let slots: BTreeSet<Slot> = keys.rows.iter().map(|row| row.series.slot).collect();
        assert_eq!(slots.len(), count as usize, "each has a colour and a shape of its own");
        assert!(!slots.contains(&Slot::Ink));
        let mut lines_with_panels = 0;
        for figure in page.sections.iter().flat_map(|section| &section.figures) {
            match &figure.chart.kind {
                ChartKind::Lines(lines) => {
                    for panel in &lines.panels {
                        let drawn = panel.lines.iter().filter(|line| line.style != LineStyle::Ghost);
                        let names: BTreeSet<&str> = drawn.map(|line| line.series.name.as_str()).collect();
                        assert!(names.len() <= MOST, "{}: {names:?}", figure.id);
                    }
                    lines_with_panels += usize::from(lines.panels.len() == count as usize);
                }
                ChartKind::Percentiles(shown) => {
                    assert!(shown.series.len() <= MOST, "{}", figure.id);
                    // The first two of 6 have the colours of the last two; of 12, the furthest four have four colours.
                    let of_colours = if count == 6 { ", one of each colour" } else { "" };
                    let words = format!(
                        "Shows 4 of {count} configurations, those furthest from the median of all{of_colours};"
                    );
                    assert!(figure.chart.note.contains(&words), "{}", figure.chart.note);
                }
                _ => {}
            }
        }
        assert!(lines_with_panels >= 1, "round-trip times have a panel for each");
    }
}

/// Returns the names in the chart of percentiles, and its note.
fn in_percentiles(document: &ResultDocument) -> (Vec<String>, String) {
    let page = page(document);
    let mut figures = page.sections.iter().flat_map(|section| &section.figures);
    let figure = figures.find(|figure| figure.id == "percentiles").expect("round trips");
    let ChartKind::Percentiles(shown) = &figure.chart.kind else { panic!("percentiles") };
    let name =
        |of: &charts::PercentileSeries| of.series.name.split(' ').next().unwrap_or_default().to_owned();
    (shown.series.iter().map(name).collect(), figure.chart.note.clone())
}

#[test]
fn charts_show_the_configurations_that_differ_most() {
    let mut document = many(30, 1);
    for run in &mut document.cells[20].runs {
        let p50 = &mut run.latency.get_mut("rtt").expect("round trips").p50_ns;
        *p50 = p50.map(|ns| 10 * ns);
    }
    let (names, note) = in_percentiles(&document);
    assert!(names.iter().any(|name| name == "way-20"), "{names:?}");
    let words = "4 of 30 configurations, those furthest from the median of all, one of each colour;";
    assert!(note.contains(words), "{note}");
    let [near, baseline] = [14, 15].map(|index| document.cells[index].id.clone());
    document.experiment.design.baseline = vec![baseline];
    let mut document = judged(document);
    for verdict in &mut document.verdicts {
        let Some(answer) = &mut verdict.answer else { continue };
        answer.change_pct = Some(-5.0);
        answer.conclusion = match verdict.treatment.cell == near {
            true => Conclusion::Lower { better: true, within_margin: false },
            false => Conclusion::Inconclusive { could_have_seen_pct: None },
        };
    }
    let (names, note) = in_percentiles(&document);
    assert!(["way-14", "way-15"].iter().all(|name| names.iter().any(|of| of == name)), "{names:?}");
    let words = "4 of 30 configurations, those with the largest differences that verdicts show and their baselines, then those furthest \
         from the median of all, one of each colour;";
    assert!(note.contains(words), "{note}");
    // Rows have names, so that colours repeat.
    let keys = page(&document).key_figures.expect("there are values");
    assert_eq!(keys.rows.len(), 12);
    assert!(!keys.part.contains("colour"), "{}", keys.part);
    // A difference needs both of its sides: these two have one colour.
    let treatment = document.cells[11].id.clone();
    for verdict in &mut document.verdicts {
        verdict.treatment.cell.clone_from(&treatment);
        let Some(answer) = &mut verdict.answer else { continue };
        answer.conclusion = Conclusion::Lower { better: true, within_margin: false };
    }
    let (names, note) = in_percentiles(&document);
    assert!(!["way-11", "way-15"].iter().all(|name| names.iter().any(|of| of == name)), "{names:?}");
    assert!(note.contains("those furthest from the median of all, one of each colour;"), "{note}");
    assert!(!note.contains("verdicts show"), "{note}");
}
