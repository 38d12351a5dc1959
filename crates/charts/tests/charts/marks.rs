//! Number and position of marks, against the data.

use std::collections::BTreeMap;

use charts::{
    Axis, Chart, ChartKind, Estimate, Interval, Line, Lines, Panel, Point, Run, RunMark, RunStrip, Scale,
    Series, Slot, StripSeries, Unit, Width, key_mark, svg,
};
use roxmltree::Document;

use crate::{
    samples,
    svg::{has_class, middle, of_class},
};

fn sample(name: &str) -> Chart {
    samples::all().into_iter().find(|(id, _)| *id == name).expect("a sample").1
}

fn draw(chart: &Chart) -> String {
    svg(chart, "c", Width::Wide)
}

/// Map from heights to values, from the labels at the left of the first panel: an independent reading of the axis.
struct Ruler {
    low: (f64, f64),
    high: (f64, f64),
    is_log: bool,
}

impl Ruler {
    fn new(document: &Document<'_>, is_log: bool) -> Self {
        let labels =
            of_class(document, "t").into_iter().filter(|node| node.attribute("text-anchor") == Some("end"));
        let ticks: Vec<(f64, f64)> = labels
            .filter_map(|node| {
                let text = node.text()?.replace('\u{202f}', "");
                let mut parts = text.split('\u{a0}');
                let number: f64 = parts.next()?.parse().ok()?;
                let factor = match parts.next() {
                    Some("µs") => 1e3,
                    Some("ms" | "Mbit/s") => 1e6,
                    Some("s" | "Gbit/s") => 1e9,
                    _ => 1.0,
                };
                // The baseline of a label is 4 px below its tick.
                Some((middle(node).1 - 4.0, number * factor))
            })
            .collect();
        let (low, high) = (ticks[0], *ticks.last().expect("ticks"));
        assert!(high.1 > low.1 && high.0 < low.0, "{ticks:?}");
        Self { low, high, is_log }
    }

    fn value(&self, y: f64) -> f64 {
        let place = |value: f64| if self.is_log { value.ln() } else { value };
        let share = (y - self.low.0) / (self.high.0 - self.low.0);
        let value = place(self.low.1) + share * (place(self.high.1) - place(self.low.1));
        if self.is_log { value.exp() } else { value }
    }
}

#[test]
fn every_run_is_a_mark_at_its_value() {
    let chart = sample("strip");
    let text = draw(&chart);
    let document = Document::parse(&text).expect("XML");
    let ChartKind::RunStrip(strip) = &chart.kind else { panic!("a strip") };
    let ruler = Ruler::new(&document, true);
    for (class, mark) in [("run", RunMark::Counted), ("second", RunMark::Second), ("cross", RunMark::Invalid)]
    {
        for series in &strip.series {
            let marks = of_class(&document, class);
            let marks: Vec<_> =
                marks.into_iter().filter(|node| has_class(*node, series.series.slot.class())).collect();
            let runs: Vec<&Run> = series.runs.iter().filter(|run| run.mark == mark).collect();
            assert_eq!(marks.len(), runs.len(), "{class}");
            for (node, run) in marks.iter().zip(runs).filter(|(_, run)| run.value.is_finite()) {
                // The labels are in µs.
                let value = 1e3 * ruler.value(middle(*node).1);
                assert!((value / run.value - 1.0).abs() < 0.005, "{value} is drawn for {}", run.value);
                let title = node.first_element_child().and_then(|title| title.text()).expect("a title");
                assert!(title.contains(&format!("block {}", run.block)), "{title}");
            }
        }
    }
}

#[test]
fn every_point_of_a_line_is_a_mark_at_its_value() {
    for (name, is_log, unit) in
        [("throughput_over_size", true, 1e6), ("readers", false, 1e3), ("discovery", true, 1e6)]
    {
        let chart = sample(name);
        let text = draw(&chart);
        let document = Document::parse(&text).expect("XML");
        let ChartKind::Lines(lines) = &chart.kind else { panic!("lines") };
        let ruler = Ruler::new(&document, is_log);
        let is_point = |node: &roxmltree::Node<'_, '_>| has_class(*node, "mk") || has_class(*node, "hol");
        let marks: Vec<_> = document.descendants().filter(is_point).collect();
        let drawn = lines.panels[0].lines.iter().filter(|line| line.style != charts::LineStyle::Law);
        let points: Vec<&Point> = drawn.flat_map(|line| &line.points).collect();
        assert_eq!(marks.len(), points.len(), "{name}");
        for (node, point) in marks.iter().zip(points) {
            let value = unit * ruler.value(middle(*node).1);
            assert!(
                (value / point.y.value - 1.0).abs() < 0.02,
                "{name}: {value} is drawn for {}",
                point.y.value
            );
            assert_eq!(has_class(*node, "hol"), point.hollow, "{name}");
        }
    }
}

#[test]
fn bars_are_as_long_as_their_parts() {
    let chart = sample("cpu");
    let text = draw(&chart);
    let document = Document::parse(&text).expect("XML");
    let ChartKind::Bars(bars) = &chart.kind else { panic!("bars") };
    let rects: Vec<_> =
        document.descendants().filter(|node| has_class(*node, "bar") || has_class(*node, "bar2")).collect();
    // The first two are samples of the parts.
    let widths =
        rects[2..].iter().map(|node| node.attribute("width").expect("a width").parse::<f64>().expect("px"));
    let parts: Vec<f64> =
        bars.groups.iter().flat_map(|group| &group.bars).flat_map(|bar| bar.parts.clone()).collect();
    assert_eq!(rects.len() - 2, parts.len());
    let longest = parts.iter().copied().fold(0.0, f64::max);
    let scale = widths.clone().fold(0.0, f64::max) / longest;
    for (width, part) in widths.zip(parts) {
        assert!((width - part * scale).abs() <= 0.16, "{width} px for {part}, not {}", part * scale);
    }
}

#[test]
fn claims_are_filled_and_the_rest_is_hollow() {
    let text = draw(&sample("forest"));
    let document = Document::parse(&text).expect("XML");
    assert_eq!(of_class(&document, "mk").len(), 4);
    assert_eq!(of_class(&document, "hol").len(), 2);
    assert_eq!(of_class(&document, "nf").len(), 6);
    let zero = of_class(&document, "ax").first().map(|node| middle(*node).0).expect("an axis");
    let equivalent =
        of_class(&document, "mk").into_iter().find(|node| has_class(*node, "ink")).expect("a mark");
    assert!((middle(equivalent).0 - zero).abs() < 2.0);
    // One interval is cut.
    assert_eq!(of_class(&document, "arr").len(), 1);
}

/// A chart of one line.
fn line(scale: Scale, values: &[f64]) -> Chart {
    let points = values.iter().enumerate().map(|(x, value)| Point::new(x as f64, Estimate::exact(*value)));
    let line = Line { series: Series::new("a", Slot::S1), points: points.collect(), ..Line::default() };
    Chart {
        title: "t".to_owned(),
        better: None,
        subtitle: String::new(),
        note: String::new(),
        description: "d".to_owned(),
        interval_name: String::new(),
        footer: String::new(),
        kind: ChartKind::Lines(Lines {
            x: Axis { scale: Scale::Linear, ..Axis::default() },
            y: Axis { scale, ..Axis::default() },
            panels: vec![Panel { lines: vec![line], ..Panel::default() }],
        }),
    }
}

#[test]
fn lines_are_interrupted_where_a_value_is_missing() {
    let paths = |scale, values: &[f64]| {
        let text = draw(&line(scale, values));
        let document = Document::parse(&text).expect("XML");
        (of_class(&document, "ln").len(), of_class(&document, "mk").len())
    };
    assert_eq!(paths(Scale::Log, &[1.0, 2.0, 3.0, 4.0]), (1, 4));
    assert_eq!(paths(Scale::Log, &[1.0, 2.0, 0.0, 4.0, 5.0]), (2, 4));
    assert_eq!(paths(Scale::FromZero, &[1.0, f64::NAN, 0.0, 4.0, f64::INFINITY]), (1, 3));
}

/// Names at line ends stand apart from their lines, so dashes say which is which.
#[test]
fn names_of_lines_of_one_colour_have_a_piece_of_their_line() {
    let pieces = |slots: &[Slot]| {
        let mut chart = line(Scale::Linear, &[1.0, 2.0]);
        let ChartKind::Lines(lines) = &mut chart.kind else { panic!("lines") };
        let first = lines.panels[0].lines.remove(0);
        lines.panels[0].lines = slots
            .iter()
            .enumerate()
            .map(|(number, slot)| Line {
                series: Series::new(format!("name {number}"), *slot),
                named: true,
                style: charts::LineStyle::Thin,
                ..first.clone()
            })
            .collect();
        let text = draw(&chart);
        let document = Document::parse(&text).expect("XML");
        let mut alike: BTreeMap<(String, String), usize> = BTreeMap::new();
        for line in of_class(&document, "thin") {
            let [class, dashes] =
                ["class", "stroke-dasharray"].map(|name| line.attribute(name).unwrap_or_default().to_owned());
            *alike.entry((class, dashes)).or_default() += 1;
        }
        alike.into_values().collect::<Vec<_>>()
    };
    // each line, and a piece of it beside its name
    assert_eq!(pieces(&[Slot::Ink; 7]), [2; 7]);
    assert_eq!(pieces(&[Slot::Ink, Slot::S1]), [1; 2], "their colours tell them apart");
}

#[test]
fn numbers_of_many_digits_fit_behind_bars() {
    let total = Estimate::within(605_522.0, 390_000.0, 642_000.0);
    let bar = charts::Bar { series: Series::new("sim", Slot::S1), parts: vec![total.value], total };
    let groups = vec![charts::BarGroup { label: String::new(), bars: vec![bar] }];
    let x = Axis { unit: Unit::SamplesPerSecond, ..Axis::default() };
    let bars = charts::Bars { x, groups, ..charts::Bars::default() };
    let chart = Chart { kind: ChartKind::Bars(bars), ..line(Scale::Log, &[]) };
    assert!(draw(&chart).contains(">605\u{202f}522  sim<"), "{}", draw(&chart));
}

#[test]
fn a_chart_without_values_says_so() {
    for values in [&[][..], &[0.0, -1.0, f64::NAN]] {
        assert!(draw(&line(Scale::Log, values)).contains("No values to draw"));
    }
}

#[test]
fn an_interval_without_an_end_is_an_arrow() {
    let runs = vec![Run { block: 1, value: 10.0, mark: RunMark::Counted, detail: String::new() }];
    let median = Some(Estimate { value: 10.0, interval: Some(Interval { low: 5.0, high: f64::INFINITY }) });
    let series = vec![StripSeries { series: Series::new("a", Slot::S2), runs, median, limit: Some(20.0) }];
    let y = Axis { unit: Unit::Nanoseconds, scale: Scale::Log, ..Axis::default() };
    let strip = RunStrip { y, series, ..RunStrip::default() };
    let chart = Chart { kind: ChartKind::RunStrip(strip), ..line(Scale::Log, &[]) };
    let text = draw(&chart);
    assert!(text.contains("10.0\u{a0}ns (5.00 to \u{221e})"), "{text}");
    let document = Document::parse(&text).expect("XML");
    let limits = of_class(&document, "ref");
    let title = limits[0].first_element_child().and_then(|title| title.text());
    assert_eq!((limits.len(), title), (1, Some("a, limit: 20.0 ns")));
    let [at, run] = [limits[0], of_class(&document, "run")[0]].map(|node| middle(node).1);
    assert!(at < run, "the limit is above the run: {at}, {run}");
    let mark = key_mark(Estimate::within(5.0, 4.0, 100.0), Interval { low: 0.0, high: 10.0 }, Slot::S1);
    assert!(mark.contains("class=\"arr s1\"") && mark.contains("aria-hidden"), "{mark}");
}

#[test]
fn rows_of_several_units_have_them_in_their_labels() {
    let row = |factor: f64| {
        let run = |block: u32| Run {
            block,
            value: factor * f64::from(block),
            mark: RunMark::Counted,
            detail: String::new(),
        };
        let name = format!("times {factor}");
        StripSeries {
            series: Series::new(name, Slot::S1),
            runs: (3..9).map(run).collect(),
            median: None,
            limit: None,
        }
    };
    let drawn = |factors: &[f64]| {
        let y = Axis { unit: Unit::Nanoseconds, scale: Scale::Log, ..Axis::default() };
        let strip = RunStrip { y, series: factors.iter().copied().map(row).collect(), ..RunStrip::default() };
        draw(&Chart { kind: ChartKind::RunStrip(strip), ..line(Scale::Log, &[]) })
    };
    let same = drawn(&[1e6, 1e6, 1e6, 1e6, 1e6, 1e6]);
    assert!(same.contains(">ms<") && same.contains(">5<") && !same.contains(">5\u{a0}ms<"), "{same}");
    let several = drawn(&[1e6, 1e6, 1e6, 1e6, 1e6, 1e4]);
    assert!(!several.contains(">ms<"), "{several}");
    assert!(several.contains(">5\u{a0}ms<") && several.contains(">50\u{a0}\u{b5}s<"), "{several}");
}

#[test]
fn words_of_a_law_are_not_shortened() {
    let words = "each adds 2239 packets up to 32, and 28660 packets above";
    let mut chart = line(Scale::Linear, &[1.0, 2.0, 3.0, 4.0]);
    let ChartKind::Lines(lines) = &mut chart.kind else { panic!("lines") };
    lines.panels[0].lines[0].role = words.to_owned();
    let drawn = svg(&chart, "c", Width::Narrow);
    assert!(!drawn.contains('\u{2026}'), "{drawn}");
    for part in ["each adds 2239", "packets above<"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
}
