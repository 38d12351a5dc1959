//! Verdicts, runs and distributions.

use charts::{
    Axis, Better, Chart, ChartKind, Claim, Estimate, Forest, ForestRow, Interval, PercentilePoint,
    PercentileSeries, Percentiles, Run, RunMark, RunStrip, Scale, Series, Slot, StripSeries, Timeline,
    TimelinePanel, Unit, Window,
};

use super::tools::{Numbers, chart, drivers, socket, times};

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

pub fn forest() -> Chart {
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
        Some(Better::Less),
        "Change of round-trip time, ratio on a logarithmic axis, 95 % intervals, 12 blocks",
        "Filled: a claim. Hollow: inconclusive. Grey box: the noise floor. Stripe: \u{b1}2 %, too small to matter.",
        ChartKind::Forest(forest),
    )
}

pub fn strip(count: usize) -> Chart {
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
        StripSeries { series, runs, median, limit: None }
    });
    let strip = RunStrip { y: times(Scale::Log), series: series.collect(), noisy: vec![4, 5, 9] };
    chart(
        "Every run: the two groups do not overlap",
        Some(Better::Less),
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

pub fn percentiles() -> Chart {
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
        Some(Better::Less),
        "Round-trip time by percentile, logarithmic, 64 bytes, 12 runs, n = 162\u{202f}153 and 78\u{202f}220",
        "Thick: median of the runs, with its 95 % interval. Hair: each run. Dashed: all runs pooled.",
        ChartKind::Percentiles(Percentiles { y: times(Scale::Log), series: series.to_vec() }),
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

pub fn time() -> Chart {
    let mut numbers = Numbers(29);
    let [a, b, ..] = drivers();
    let panels = vec![
        TimelinePanel {
            series: a,
            windows: windows(&mut numbers, 40, 1e7, 23_000.0, None),
            gaps: Vec::new(),
        },
        TimelinePanel {
            series: b,
            windows: windows(&mut numbers, 40, 1e7, 61_000.0, Some((12, 19))),
            gaps: vec![Interval { low: 1.2e8, high: 1.9e8 }],
        },
    ];
    let timeline = Timeline { y: times(Scale::Log), panels };
    chart(
        "Within one run: stalls show as long stems and as gaps",
        Some(Better::Less),
        "Round-trip time in windows of 10 ms, logarithmic, 64 bytes, the median run of each driver",
        "Line: median of the window. Stem: its longest. Grey: no sample arrived.",
        ChartKind::Timeline(timeline),
    )
}

pub fn seconds() -> Chart {
    let mut numbers = Numbers(31);
    let [a, ..] = drivers();
    let windows = windows(&mut numbers, 30, 1e9, 410_000.0, None);
    let windows = windows.into_iter().map(|window| Window { longest: None, ..window }).collect();
    let y =
        Axis { label: String::new(), unit: Unit::SamplesPerSecond, scale: Scale::FromZero, ticks: vec![] };
    chart(
        "The rate of each second stays within 10 %",
        Some(Better::More),
        "Samples per second, 64 bytes, one run",
        "Step: the rate of a second.",
        ChartKind::Timeline(Timeline {
            y,
            panels: vec![TimelinePanel { series: a, windows, gaps: Vec::new() }],
        }),
    )
}
