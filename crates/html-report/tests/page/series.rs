//! More configurations than colours.

use std::collections::BTreeSet;

use charts::{ChartKind, LineStyle, Slot};

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
                    let words = format!("Shows 4 of {count} configurations; the tables have all.");
                    assert!(figure.chart.note.contains(&words), "{}", figure.chart.note);
                }
                _ => {}
            }
        }
        assert!(lines_with_panels >= 1, "round-trip times have a panel for each");
    }
}
