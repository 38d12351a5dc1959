//! Lines over counts and results.

use charts::{
    Axis, Better, Chart, ChartKind, Estimate, Interval, Line, LineStyle, Lines, Panel, Point, Reference,
    Scale, Slot, Unit,
};

use super::tools::{Numbers, chart, drivers, times};

pub fn discovery() -> Chart {
    let mut numbers = Numbers(17);
    let [a, b, ..] = drivers();
    let counts = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let mut lines = Vec::new();
    for (series, first, exponent) in [(a, 9e6, 1.02), (b, 14e6, 1.71)] {
        let law = |n: f64| first * n.powf(exponent);
        let ends = [2.0, 64.0].map(|n| Point::new(n, Estimate::exact(law(n)))).to_vec();
        lines.push(Line {
            series: series.clone(),
            role: format!("N^{exponent} (95 % \u{b1}0.04)"),
            style: LineStyle::Law,
            points: ends,
            ..Line::default()
        });
        let runs = counts
            .iter()
            .flat_map(|n| [(); 5].map(|()| Point::new(*n, Estimate::exact(numbers.around(law(*n), 0.3)))));
        let runs = runs.collect();
        let points =
            counts.map(|n| Point::new(n, Estimate::within(law(n) * 1.02, law(n) * 0.85, law(n) * 1.2)));
        lines.push(Line {
            series,
            named: true,
            style: LineStyle::Marks,
            points: points.to_vec(),
            runs,
            ..Line::default()
        });
    }
    let x = Axis {
        label: "participants".to_owned(),
        unit: Unit::Count,
        scale: Scale::Log,
        ticks: counts.to_vec(),
    };
    chart(
        "Discovery takes time proportional to N with Driver A, and to N^1.7 with Driver B",
        Some(Better::Less),
        "Time until all participants matched, both axes logarithmic, 5 runs of each N",
        "Small dots: runs. Large: median with its range. Dashed: fitted power law.",
        ChartKind::Lines(Lines {
            x,
            y: times(Scale::Log),
            panels: vec![Panel { lines, ..Panel::default() }],
        }),
    )
}

pub fn readers() -> Chart {
    let mut numbers = Numbers(19);
    let [a, ..] = drivers();
    let names: Vec<String> = (1..=8).map(|reader| format!("reader {reader}")).collect();
    let points = (0..8).map(|reader| {
        let value = numbers.around(30_000.0 + 4_000.0 * f64::from(reader), 0.05);
        Point::new(f64::from(reader), Estimate::within(value, value * 0.93, value * 1.1))
    });
    let line =
        Line { series: a, named: true, style: LineStyle::Marks, points: points.collect(), ..Line::default() };
    let x = Axis { label: String::new(), unit: Unit::Count, scale: Scale::Ordinal(names), ticks: vec![] };
    chart(
        "The last of 8 readers gets a sample 28 \u{b5}s after the first",
        Some(Better::Less),
        "One-way time to each reader, \u{b5}s, median of 12 runs",
        "",
        ChartKind::Lines(Lines {
            x,
            y: times(Scale::FromZero),
            panels: vec![Panel { lines: vec![line], ..Panel::default() }],
        }),
    )
}

pub fn history() -> Chart {
    let mut numbers = Numbers(23);
    let names: Vec<String> = (1..=14).map(|day| format!("01-{day:02}")).collect();
    let [a, ..] = drivers();
    let mut points: Vec<Point> = (0..14)
        .map(|day| {
            let value = numbers.around(if day < 9 { 23_000.0 } else { 27_500.0 }, 0.06);
            Point::new(f64::from(day), Estimate::within(value, value * 0.96, value * 1.05))
        })
        .collect();
    points[4].y = Estimate::exact(f64::NAN);
    let panel = Panel {
        lines: vec![Line { series: a, named: true, points, ..Line::default() }],
        references: vec![Reference { at: 8.5, label: "+19 %: version 2.1".to_owned(), slot: Slot::Ink }],
        shaded: vec![Interval { low: 2.5, high: 3.5 }],
        ..Panel::default()
    };
    let x =
        Axis { label: "result".to_owned(), unit: Unit::Count, scale: Scale::Ordinal(names), ticks: vec![] };
    chart(
        "Round trips are 19 % longer since 10 January",
        Some(Better::Less),
        "RTT p50, \u{b5}s, 64 bytes, one result a night, 95 % intervals",
        "Dotted: change point. Shaded: the host was noisy. A missing result interrupts the line.",
        ChartKind::Lines(Lines { x, y: times(Scale::Linear), panels: vec![panel] }),
    )
}
