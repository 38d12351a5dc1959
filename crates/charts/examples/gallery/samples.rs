//! Synthetic charts, one of each type: for the gallery and for tests. No value was measured.

use charts::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Claim, Estimate, Forest, ForestRow, Heat, HeatCell,
    HeatRow, Interval, Line, LineStyle, Lines, Outcome, Panel, PercentilePoint, PercentileSeries,
    Percentiles, Point, Reference, Run, RunMark, RunStrip, Scale, SearchTrials, Series, Shade, Slot, Span,
    SpanKind, StripSeries, Timeline, TimelinePanel, Trial, Trials, Unit, Window,
};

const SIZES: [f64; 6] = [64.0, 256.0, 1024.0, 4096.0, 16_384.0, 63_000.0];

/// Numbers from 0 to 1 that look random, and are the same on every host.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1_u64 << 24) as f64
    }

    /// A value that scatters by a share.
    fn around(&mut self, value: f64, share: f64) -> f64 {
        value * (1.0 + share * (self.next() + self.next() - 1.0))
    }
}

fn socket() -> Series {
    Series::new("UDP socket", Slot::S0)
}

fn drivers() -> [Series; 4] {
    [
        Series::new("Driver A", Slot::S1),
        Series::new("Driver B", Slot::S2),
        Series::new("Driver C", Slot::S3),
        Series::new("Driver D", Slot::S4),
    ]
}

fn chart(title: &str, better: Option<Better>, subtitle: &str, note: &str, kind: ChartKind) -> Chart {
    Chart {
        title: title.to_owned(),
        better,
        subtitle: format!("{subtitle} \u{b7} synthetic data"),
        note: note.to_owned(),
        description: format!("{title}. {subtitle}. {note}"),
        interval_name: "95 % interval".to_owned(),
        footer: "synthetic data \u{b7} n = 12 runs \u{b7} no host \u{b7} 2026-01-01".to_owned(),
        kind,
    }
}

fn times(scale: Scale) -> Axis {
    Axis { label: String::new(), unit: Unit::Nanoseconds, scale, ticks: vec![] }
}

fn sizes() -> Axis {
    Axis { label: "sample size".to_owned(), unit: Unit::Bytes, scale: Scale::Log, ticks: SIZES.to_vec() }
}

/// Returns all charts with their identifiers.
pub fn all() -> Vec<(&'static str, Chart)> {
    vec![
        ("forest", forest()),
        ("strip", strip(2)),
        ("strip_rows", strip(6)),
        ("percentiles", percentiles()),
        ("time", time()),
        ("latency_over_size", latency_over_size()),
        ("response_over_load", response_over_load()),
        ("throughput_over_size", throughput_over_size()),
        ("cpu", cpu()),
        ("discovery", discovery()),
        ("readers", readers()),
        ("history", history()),
        ("seconds", seconds()),
        ("many", many()),
        ("heat", heat()),
        ("heat_ratio", heat_ratio()),
        ("trials", trials()),
        ("empty", empty()),
    ]
}

fn row(group: &str, label: &str, [ratio, low, high]: [f64; 3], claim: Claim, words: [&str; 2]) -> ForestRow {
    ForestRow {
        group: group.to_owned(),
        label: label.to_owned(),
        ratio: Estimate::within(ratio, low, high),
        claim,
        slot: if claim == Claim::Better { Slot::S1 } else { Slot::S2 },
        noise: Some(Interval { low: 0.92, high: if label == "RTT p99" { 1.3 } else { 1.06 } }),
        words: words[0].to_owned(),
        interval_words: words[1].to_owned(),
    }
}

fn forest() -> Chart {
    let rows = vec![
        row("64 B", "RTT p50", [0.513, 0.389, 0.558], Claim::Better, ["48.7 % lower", "95 % 44.2..61.1"]),
        row("64 B", "RTT p99", [0.331, 0.132, 0.531], Claim::Better, ["66.9 % lower", "95 % 46.9..86.8"]),
        row(
            "1024 B",
            "RTT p50",
            [1.004, 0.991, 1.016],
            Claim::Equivalent,
            ["equivalent", "95 % \u{2212}0.9..+1.6"],
        ),
        row("1024 B", "RTT p99", [1.41, 1.22, 1.63], Claim::Worse, ["41.0 % higher", "95 % 22.0..63.0"]),
        row(
            "63\u{202f}000 B",
            "RTT p50",
            [0.90, 0.78, 0.99],
            Claim::Inconclusive,
            ["inconclusive", "95 % \u{2212}22.0..\u{2212}1.0"],
        ),
        row(
            "63\u{202f}000 B",
            "RTT p99",
            [1.0, 0.672, 14.0],
            Claim::Inconclusive,
            ["inconclusive", "95 % \u{2212}32.8..+1300"],
        ),
    ];
    let forest = Forest {
        below: "Driver A shorter".to_owned(),
        above: "longer".to_owned(),
        axis_label: "change against Driver B".to_owned(),
        margin: Some(1.02),
        rows,
        more: "2 more in the table of rows".to_owned(),
    };
    chart(
        "Driver A has the shorter round trips in 2 of 6 comparisons; 2 are inconclusive",
        Some(Better::Lower),
        "Change of round-trip time, ratio on a logarithmic axis, 95 % intervals, 12 blocks",
        "Filled: a claim. Hollow: inconclusive. Grey box: the noise floor. Stripe: \u{b1}2 %, too small to matter.",
        ChartKind::Forest(forest),
    )
}

fn strip(count: usize) -> Chart {
    let mut numbers = Numbers(1);
    let mut names: Vec<Series> = drivers().to_vec();
    names.push(socket());
    names.push(Series::new("Driver A, shared memory", Slot::Ink));
    let series = names.into_iter().take(count).enumerate().map(|(index, series)| {
        let middle = 23_200.0 * 1.9_f64.powi(index as i32 % 4);
        let mut runs: Vec<Run> = (1..=12)
            .map(|block| Run {
                block,
                value: numbers.around(middle, 0.12),
                mark: RunMark::Counted,
                detail: "n = 7022".to_owned(),
            })
            .collect();
        runs[3].value *= 1.6;
        if index == 1 {
            runs[7].mark = RunMark::Invalid;
            runs[9].mark = RunMark::Doubtful;
            let seconds: Vec<Run> = runs
                .iter()
                .map(|run| Run { value: numbers.around(middle, 0.2), mark: RunMark::Second, ..run.clone() })
                .collect();
            runs.extend(seconds);
            runs.push(Run {
                block: 11,
                value: f64::NAN,
                mark: RunMark::Invalid,
                detail: "an agent crashed".to_owned(),
            });
        }
        let median = Some(Estimate::within(middle * 1.005, middle * 0.955, middle * 1.06));
        StripSeries { series, runs, median }
    });
    let strip = RunStrip {
        x_label: "block, in order of measurement".to_owned(),
        y: times(Scale::Log),
        series: series.collect(),
        noisy: vec![4, 5, 9],
    };
    chart(
        "Every run: the two groups do not overlap",
        Some(Better::Lower),
        "RTT p50 of each run, \u{b5}s, 64 bytes, right: median with its 95 % interval",
        "Shaded: noisy blocks. Pale: the second run of the baseline, which counts in no median. Cross: invalid.",
        ChartKind::RunStrip(strip),
    )
}

/// Round-trip time at a quantile of a plausible distribution.
fn at_quantile(quantile: f64, median: f64, tail: f64) -> f64 {
    let nines = -(1.0 - quantile).log10();
    median * (0.82 + 0.5 * nines.min(2.0) * 0.6 + tail * (nines - 0.9).max(0.0).powi(2))
}

fn percentiles() -> Chart {
    let mut numbers = Numbers(7);
    let quantiles = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.97, 0.99, 0.995, 0.997, 0.999];
    let point = |quantile: f64, estimate| PercentilePoint { quantile, estimate };
    let [a, b, ..] = drivers();
    let series = [(a, 23_200.0, 0.25), (b, 45_100.0, 0.9)].map(|(series, median, tail)| {
        let runs: Vec<Vec<PercentilePoint>> = (0..12)
            .map(|_| {
                let (middle, end) = (numbers.around(median, 0.15), numbers.around(tail, 0.8));
                quantiles.map(|q| point(q, Estimate::exact(at_quantile(q, middle, end)))).to_vec()
            })
            .collect();
        let within =
            |value: f64, q: f64| Estimate::within(value, value * (0.96 - 0.1 * q), value * (1.05 + 0.5 * q));
        PercentileSeries {
            series,
            median: quantiles.map(|q| point(q, within(at_quantile(q, median, tail), q))).to_vec(),
            pooled: [0.9995, 0.9997, 0.9999]
                .map(|q| point(q, Estimate::exact(at_quantile(q, median, 2.0 * tail))))
                .to_vec(),
            runs,
        }
    });
    chart(
        "Driver A leads up to p99: 44.6 to 127 \u{b5}s",
        Some(Better::Lower),
        "Round-trip time by percentile, logarithmic, 64 bytes, 12 runs, n = 162\u{202f}153 and 78\u{202f}220",
        "Thick: median of the runs, with its 95 % interval. Hair: each run. Dashed: all runs pooled.",
        ChartKind::Percentiles(Percentiles { y: times(Scale::Log), series: series.to_vec() }),
    )
}

fn over_sizes(fixed: f64, per_byte: f64, numbers: &mut Numbers) -> Vec<Point> {
    let value = |numbers: &mut Numbers, size: f64| numbers.around(fixed + per_byte * size, 0.1);
    let mut point = |size: f64| {
        let value = value(numbers, size);
        Point::new(size, Estimate::within(value, value * 0.9, value * 1.25))
    };
    SIZES.map(&mut point).to_vec()
}

fn latency_over_size() -> Chart {
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
        Some(Better::Lower),
        "Round-trip time, \u{b5}s, both axes logarithmic, median of 12 runs, whisker: 95 % interval",
        "Band: up to p99. Grey lines: the other drivers.",
        ChartKind::Lines(Lines { x: sizes(), y: times(Scale::Log), panels: panels.collect() }),
    )
}

fn response_over_load() -> Chart {
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
    let references = vec![Reference::Vertical { at: 60e3, label: "knee 60 k/s".to_owned(), slot: Slot::S2 }];
    let x = Axis {
        label: "planned rate".to_owned(),
        unit: Unit::SamplesPerSecond,
        scale: Scale::FromZero,
        ticks: vec![],
    };
    chart(
        "Driver B slows down above 60\u{202f}000 samples/s; Driver A keeps its pace up to 120\u{202f}000",
        Some(Better::Lower),
        "Response time from the planned time, logarithmic, 1024 bytes, median and range of 5 runs",
        "Thick: p50 with its range. Thin: p99. Hollow: the sender was late in most runs.",
        ChartKind::Lines(Lines {
            x,
            y: times(Scale::Log),
            panels: vec![Panel { lines, references, ..Panel::default() }],
        }),
    )
}

fn throughput_over_size() -> Chart {
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
    let references =
        vec![Reference::Horizontal { at: 10e9, label: "line rate 10 Gbit/s".to_owned(), slot: Slot::Ink }];
    let y = Axis { label: String::new(), unit: Unit::BitsPerSecond, scale: Scale::Log, ticks: vec![] };
    chart(
        "Batching multiplies the throughput of small samples",
        Some(Better::Higher),
        "Throughput of payload, both axes logarithmic, median and range of 5 runs",
        "Hollow: over 1 % of the samples lost. Dashed: batched.",
        ChartKind::Lines(Lines {
            x: sizes(),
            y,
            panels: vec![Panel { lines, references, ..Panel::default() }],
        }),
    )
}

fn cpu() -> Chart {
    let mut numbers = Numbers(13);
    let [a, b, ..] = drivers();
    let groups = [("64", 1.0), ("256", 1.05), ("1024", 1.2), ("4096", 1.5), ("63\u{202f}000", 4.0)];
    let groups = groups.map(|(label, factor)| {
        let bars =
            [(socket(), 1_900.0, 1_300.0), (a.clone(), 3_900.0, 4_200.0), (b.clone(), 10_800.0, 7_400.0)];
        let bars = bars.map(|(series, writer, reader)| {
            let parts = vec![numbers.around(writer * factor, 0.1), numbers.around(reader * factor, 0.1)];
            let sum: f64 = parts.iter().sum();
            Bar { series, total: Estimate::within(sum, sum * 0.9, sum * 1.15), parts }
        });
        BarGroup { label: label.to_owned(), bars: bars.to_vec() }
    });
    let bars = Bars {
        x: Axis { label: "CPU time per sample".to_owned(), unit: Unit::Nanoseconds, ..Axis::default() },
        group_label: "bytes".to_owned(),
        parts: vec!["writer".to_owned(), "reader".to_owned()],
        groups: groups.to_vec(),
    };
    chart(
        "A 64-byte sample costs 8.1 \u{b5}s of CPU time with Driver A and 18 \u{b5}s with Driver B",
        Some(Better::Lower),
        "CPU time per delivered sample, \u{b5}s, writer + reader, unbatched, median of 5 runs",
        "Line: range of the sum.",
        ChartKind::Bars(bars),
    )
}

fn discovery() -> Chart {
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
        Some(Better::Lower),
        "Time until all participants matched, both axes logarithmic, 5 runs of each N",
        "Small dots: runs. Large: median with its range. Dashed: fitted power law.",
        ChartKind::Lines(Lines {
            x,
            y: times(Scale::Log),
            panels: vec![Panel { lines, ..Panel::default() }],
        }),
    )
}

fn readers() -> Chart {
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
        Some(Better::Lower),
        "One-way time to each reader, \u{b5}s, median of 12 runs",
        "",
        ChartKind::Lines(Lines {
            x,
            y: times(Scale::FromZero),
            panels: vec![Panel { lines: vec![line], ..Panel::default() }],
        }),
    )
}

fn history() -> Chart {
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
        references: vec![Reference::Vertical {
            at: 8.5,
            label: "+19 %: version 2.1".to_owned(),
            slot: Slot::Ink,
        }],
        shaded: vec![Interval { low: 2.5, high: 3.5 }],
        ..Panel::default()
    };
    let x =
        Axis { label: "result".to_owned(), unit: Unit::Count, scale: Scale::Ordinal(names), ticks: vec![] };
    chart(
        "Round trips are 19 % longer since 10 January",
        Some(Better::Lower),
        "RTT p50, \u{b5}s, 64 bytes, one result a night, 95 % intervals",
        "Dotted: change point. Shaded: the host was noisy. A missing result interrupts the line.",
        ChartKind::Lines(Lines { x, y: times(Scale::Linear), panels: vec![panel] }),
    )
}

fn windows(
    numbers: &mut Numbers,
    count: u32,
    width: f64,
    median: f64,
    gap: Option<(u32, u32)>,
) -> Vec<Window> {
    let inside = |index: &u32| gap.is_none_or(|(from, to)| *index < from || *index >= to);
    let indexes = (0..count).filter(inside);
    let windows = indexes.map(|index| {
        let start = f64::from(index) * width;
        let value = numbers.around(median, 0.1);
        let stall = if index % 13 == 7 { 30.0 } else { 1.0 };
        let longest = Some(value * (1.5 + numbers.next()) * stall);
        Window { start, end: start + width, value, longest }
    });
    windows.collect()
}

fn time() -> Chart {
    let mut numbers = Numbers(29);
    let [a, b, ..] = drivers();
    let panels = vec![
        TimelinePanel {
            series: a,
            windows: windows(&mut numbers, 40, 1e7, 23_000.0, None),
            spans: vec![Span { start: 1.2e8, end: 1.6e8, kind: SpanKind::Noisy }],
        },
        TimelinePanel {
            series: b,
            windows: windows(&mut numbers, 40, 1e7, 61_000.0, Some((12, 19))),
            spans: vec![
                Span { start: 1.2e8, end: 1.9e8, kind: SpanKind::Gap },
                Span { start: 2.6e8, end: 3.0e8, kind: SpanKind::Burst },
            ],
        },
    ];
    let timeline = Timeline {
        x_label: "time since the start of the measurement".to_owned(),
        y: times(Scale::Log),
        panels,
    };
    chart(
        "Within one run: stalls show as long stems and as gaps",
        Some(Better::Lower),
        "Round-trip time in windows of 10 ms, logarithmic, 64 bytes, the median run of each driver",
        "Line: median of the window. Stem: its longest. Grey: no sample arrived. Top: other work. Bottom: burst.",
        ChartKind::Timeline(timeline),
    )
}

fn seconds() -> Chart {
    let mut numbers = Numbers(31);
    let [a, ..] = drivers();
    let windows = windows(&mut numbers, 30, 1e9, 410_000.0, None);
    let windows = windows.into_iter().map(|window| Window { longest: None, ..window }).collect();
    let spans = vec![Span { start: 1.1e10, end: 1.4e10, kind: SpanKind::Noisy }];
    let y =
        Axis { label: String::new(), unit: Unit::SamplesPerSecond, scale: Scale::FromZero, ticks: vec![] };
    chart(
        "The rate of each second stays within 10 %",
        Some(Better::Higher),
        "Samples per second, 64 bytes, one run",
        "Strip at the top: other work on the host.",
        ChartKind::Timeline(Timeline {
            x_label: "time since the start of the measurement".to_owned(),
            y,
            panels: vec![TimelinePanel { series: a, windows, spans }],
        }),
    )
}

fn many() -> Chart {
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
        Some(Better::Lower),
        "Round-trip time, \u{b5}s, both axes logarithmic, median of 12 runs",
        "Grey lines: the other configurations.",
        ChartKind::Lines(Lines { x: sizes(), y: times(Scale::Log), panels: (0..7).map(panel).collect() }),
    )
}

fn heat_of(shade: Shade, value: &mut dyn FnMut(usize, usize) -> f64) -> Heat {
    let rows = (0..10).map(|row| HeatRow {
        label: format!(
            "Driver {}, {}",
            ["A", "B", "C", "D", "E"][row / 2],
            ["udp", "shared memory"][row % 2]
        ),
        cells: (0..6)
            .map(|column| HeatCell {
                value: if row == 7 && column > 3 { f64::NAN } else { value(row, column) },
                hollow: (row * 7 + column * 3) % 11 == 5,
                detail: String::new(),
            })
            .collect(),
    });
    Heat {
        row_label: "driver, transport".to_owned(),
        column_label: "sample size (bytes)".to_owned(),
        columns: ["64", "256", "1024", "4096", "16\u{202f}384", "63\u{202f}000"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        unit: Unit::Nanoseconds,
        shade,
    }
}

fn heat() -> Chart {
    let mut numbers = Numbers(41);
    let mut value = |row: usize, column: usize| {
        numbers.around(15_000.0 * 1.3_f64.powi(row as i32) + 0.8 * SIZES[column], 0.1)
    };
    chart(
        "Round trips of 60 cells",
        Some(Better::Lower),
        "RTT p50, \u{b5}s, median of 5 runs",
        "The stronger the colour, the longer. Outline: compare with care.",
        ChartKind::Heat(heat_of(Shade::Larger(Slot::S1), &mut value)),
    )
}

fn heat_ratio() -> Chart {
    let mut numbers = Numbers(43);
    let mut value = |row: usize, column: usize| numbers.around(0.6 + 0.13 * (row + column) as f64, 0.3);
    let shade = Shade::Ratio { below: Slot::S1, above: Slot::S2 };
    chart(
        "Driver A compared with Driver B in 60 cells",
        None,
        "Change of RTT p50 against Driver B",
        "Blue: Driver A is shorter. Orange: it is longer. Outline: inconclusive.",
        ChartKind::Heat(heat_of(shade, &mut value)),
    )
}

fn trials() -> Chart {
    let [a, b, ..] = drivers();
    let searches = [(a, 118e3), (b, 61e3)].map(|(series, limit)| {
        let (mut low, mut high) = (0.0, 200e3);
        let trials = (0..9).map(|index| {
            let load = f64::midpoint(low, high);
            let outcome = match () {
                () if index == 6 => Outcome::Inconclusive,
                () if load < limit => Outcome::Passed,
                () => Outcome::Failed,
            };
            match outcome {
                Outcome::Passed => low = load,
                Outcome::Failed => high = load,
                Outcome::Inconclusive => high -= 1500.0,
            }
            Trial { load, outcome, detail: "2 s".to_owned() }
        });
        SearchTrials {
            series,
            trials: trials.collect(),
            found: Some(Estimate::within(limit, limit * 0.97, limit * 1.02)),
        }
    });
    let y =
        Axis { label: String::new(), unit: Unit::SamplesPerSecond, scale: Scale::FromZero, ticks: vec![] };
    chart(
        "Driver A sustains 118\u{202f}000 samples/s, Driver B 61\u{202f}000",
        Some(Better::Higher),
        "Load of each trial in samples/s, goal: no loss, 64 bytes",
        "Filled: passed. Cross: failed. Hollow: inconclusive. Line: the load that was found, with its bounds.",
        ChartKind::Trials(Trials { y, searches: searches.to_vec() }),
    )
}

fn empty() -> Chart {
    chart(
        "All runs failed",
        None,
        "RTT p50",
        "",
        ChartKind::Lines(Lines { x: sizes(), y: times(Scale::Log), panels: vec![Panel::default()] }),
    )
}
