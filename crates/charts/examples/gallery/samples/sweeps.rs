//! Lines over sizes and loads.

use charts::{
    Axis, Better, Chart, ChartKind, Estimate, Line, LineStyle, Lines, Panel, Point, Reference, Scale, Series,
    Slot, Unit,
};

use super::tools::{Numbers, SIZES, chart, drivers, over_sizes, sizes, socket, times};

pub fn latency_over_size() -> Chart {
    let mut numbers = Numbers(3);
    let [a, b, ..] = drivers();
    let lines: Vec<Line> = [(socket(), 14_000.0, 0.35), (a, 23_000.0, 0.9), (b, 45_000.0, 1.3)]
        .into_iter()
        .map(|(series, fixed, per_byte)| {
            let points = over_sizes(fixed, per_byte, &mut numbers);
            let band = points.iter().map(|point| Point::new(point.x, Estimate::exact(point.y.value * 2.1)));
            Line {
                band: band.collect(),
                band_name: "p99".to_owned(),
                role: "p50".to_owned(),
                series,
                points,
                ..Line::default()
            }
        })
        .collect();
    let panels = (0..lines.len()).map(|own| {
        let ghosts = lines.iter().enumerate().filter(|(index, _)| *index != own).map(|(_, line)| Line {
            style: LineStyle::Ghost,
            band: vec![],
            ..line.clone()
        });
        Panel {
            heading: Some(lines[own].series.clone()),
            lines: ghosts.chain([lines[own].clone()]).collect(),
            ..Panel::default()
        }
    });
    chart(
        "The middleware adds 11 to 55 \u{b5}s to a round trip with Driver A, 39 to 72 \u{b5}s with Driver B",
        Some(Better::Less),
        "Round-trip time, \u{b5}s, both axes logarithmic, median of 12 runs, whisker: 95 % interval",
        "Band: up to p99. Grey lines: the other drivers.",
        ChartKind::Lines(Lines { x: sizes(), y: times(Scale::Log), panels: panels.collect() }),
    )
}

pub fn response_over_load() -> Chart {
    let mut numbers = Numbers(11);
    let loads = [1e3, 5e3, 10e3, 20e3, 30e3, 40e3, 50e3, 60e3, 80e3, 100e3, 120e3];
    let [a, b, ..] = drivers();
    let mut lines = Vec::new();
    for (series, base, limit) in [(a, 12_000.0, 140e3), (b, 31_000.0, 72e3)] {
        for (role, style, factor) in [("p99", LineStyle::Thin, 7.0), ("p50", LineStyle::Thick, 1.0)] {
            let mut point = |load: f64| {
                let queue = if load < limit { 1.0 / (1.0 - load / limit) } else { 800.0 * load / limit };
                let value = numbers.around(base * factor * queue, 0.1);
                let estimate = if factor > 1.0 {
                    Estimate::exact(value)
                } else {
                    Estimate::within(value, value * 0.8, value * 1.5)
                };
                Point { hollow: load > limit, ..Point::new(load, estimate) }
            };
            let points = loads.map(&mut point).to_vec();
            lines.push(Line {
                series: series.clone(),
                role: role.to_owned(),
                named: factor == 1.0,
                style,
                points,
                ..Line::default()
            });
        }
    }
    let references = vec![Reference { at: 60e3, label: "knee 60 k/s".to_owned(), slot: Slot::S2 }];
    let x = Axis {
        label: "planned rate".to_owned(),
        unit: Unit::SamplesPerSecond,
        scale: Scale::FromZero,
        ticks: vec![],
    };
    chart(
        "Driver B slows down above 60\u{202f}000 samples/s; Driver A keeps its pace up to 120\u{202f}000",
        Some(Better::Less),
        "Response time from the planned time, logarithmic, 1024 bytes, median and range of 5 runs",
        "Thick: p50 with its range. Thin: p99. Hollow: the sender was late in most runs.",
        ChartKind::Lines(Lines {
            x,
            y: times(Scale::Log),
            panels: vec![Panel { lines, references, ..Panel::default() }],
        }),
    )
}

pub fn throughput_over_size() -> Chart {
    let mut numbers = Numbers(5);
    let [a, b, ..] = drivers();
    let mut lines = Vec::new();
    for (series, cost, batched) in [(socket(), 900.0, 0.0), (a, 2_100.0, 6.0), (b, 5_200.0, 30.0)] {
        let mut line = |factor: f64, style, role: &str| {
            let point = |size: f64| {
                let rate = size * 8e9 / (cost / (1.0 + factor * 64.0 / size) + 0.25 * size);
                let value = numbers.around(rate.min(9.4e9), 0.08);
                let point = Point::new(size, Estimate::within(value, value * 0.85, value * 1.1));
                Point {
                    hollow: cost < 1000.0 && size > 500.0 && size < 5000.0,
                    detail: "n = 5".to_owned(),
                    ..point
                }
            };
            let points = SIZES.map(point).to_vec();
            lines.push(Line {
                series: series.clone(),
                role: role.to_owned(),
                named: style == LineStyle::Thick,
                style,
                points,
                ..Line::default()
            });
        };
        if batched > 0.0 {
            line(batched, LineStyle::Dashed, "batched, 8 KiB");
        }
        line(0.0, LineStyle::Thick, "unbatched");
    }
    let y = Axis { label: String::new(), unit: Unit::BitsPerSecond, scale: Scale::Log, ticks: vec![] };
    chart(
        "Batching multiplies the throughput of small samples",
        Some(Better::More),
        "Throughput of payload, both axes logarithmic, median and range of 5 runs",
        "Hollow: over 1 % of the samples lost. Dashed: batched.",
        ChartKind::Lines(Lines { x: sizes(), y, panels: vec![Panel { lines, ..Panel::default() }] }),
    )
}

pub fn many() -> Chart {
    let mut numbers = Numbers(37);
    let all: Vec<(Series, Vec<Point>)> = (0..7)
        .map(|index| {
            let series = Series::new(
                format!("Driver {index}, a long name"),
                if index == 0 { Slot::S0 } else { Slot::S1 },
            );
            let points = over_sizes(12_000.0 * (1.0 + f64::from(index)), 0.8, &mut numbers);
            (series, points)
        })
        .collect();
    let panel = |own: usize| {
        let others =
            all.iter().enumerate().filter(|(index, _)| *index != own).map(|(_, (series, points))| Line {
                series: series.clone(),
                style: LineStyle::Ghost,
                points: points.clone(),
                ..Line::default()
            });
        let (series, points) = all[own].clone();
        let line = Line { series: series.clone(), points, ..Line::default() };
        Panel { heading: Some(series), lines: others.chain([line]).collect(), ..Panel::default() }
    };
    chart(
        "Seven configurations as small multiples",
        Some(Better::Less),
        "Round-trip time, \u{b5}s, both axes logarithmic, median of 12 runs",
        "Grey lines: the other configurations.",
        ChartKind::Lines(Lines { x: sizes(), y: times(Scale::Log), panels: (0..7).map(panel).collect() }),
    )
}
