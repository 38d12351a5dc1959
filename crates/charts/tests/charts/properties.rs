//! Any data: drawings are well-formed, finite, inside of their view box, and free of what texts bring.

use charts::{
    Axis, Bar, BarGroup, Bars, Better, Chart, ChartKind, Claim, Estimate, Forest, ForestRow, Heat, HeatCell,
    HeatRow, Interval, Line, LineStyle, Lines, Outcome, Panel, PercentilePoint, PercentileSeries,
    Percentiles, Point, Reference, Run, RunMark, RunStrip, Scale, SearchTrials, Series, Slot, StripSeries,
    Timeline, TimelinePanel, Trial, Trials, Unit, Window, table,
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::{samples, svg::check};

fn text() -> impl Strategy<Value = String> {
    let hostile =
        select(vec!["", "a", "<script>alert(1)</script>", "\"'><g onload=\"x\">", "]]>&amp;\u{0}\u{202e}"]);
    prop_oneof![
        hostile.prop_map(str::to_owned),
        vec(any::<char>(), 0..40).prop_map(|text| text.into_iter().collect())
    ]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 1.0..1e6_f64, 1 => -10.0..10.0_f64, 1 => prop::num::f64::ANY]
}

fn interval() -> impl Strategy<Value = Interval> {
    (value(), value()).prop_map(|(low, high)| Interval { low, high })
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (value(), prop::option::of(interval())).prop_map(|(value, interval)| Estimate { value, interval })
}

fn slot() -> impl Strategy<Value = Slot> {
    select(Slot::SERIES.into_iter().chain([Slot::Ink]).collect::<Vec<_>>())
}

fn series() -> impl Strategy<Value = Series> {
    (text(), slot()).prop_map(|(name, slot)| Series { name, slot })
}

fn axis() -> impl Strategy<Value = Axis> {
    let units = vec![
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::SamplesPerSecond,
        Unit::BitsPerSecond,
        Unit::Percent,
        Unit::Count,
    ];
    let scale = prop_oneof![
        select(vec![Scale::Linear, Scale::FromZero, Scale::Log]),
        vec(text(), 0..5).prop_map(Scale::Ordinal)
    ];
    (text(), select(units), scale, vec(value(), 0..4)).prop_map(|(label, unit, scale, ticks)| Axis {
        label,
        unit,
        scale,
        ticks,
    })
}

fn points() -> impl Strategy<Value = Vec<Point>> {
    let point = (value(), estimate(), any::<bool>(), text());
    vec(point.prop_map(|(x, y, hollow, detail)| Point { x, y, hollow, detail }), 0..6)
}

fn line() -> impl Strategy<Value = Line> {
    let styles = vec![
        LineStyle::Thick,
        LineStyle::Dashed,
        LineStyle::Thin,
        LineStyle::Ghost,
        LineStyle::Law,
        LineStyle::Marks,
    ];
    let names = (series(), text(), any::<bool>(), select(styles));
    (names, points(), points(), text(), points()).prop_map(|(names, points, band, band_name, runs)| {
        let (series, role, named, style) = names;
        Line { series, role, named, style, points, band, band_name, runs }
    })
}

fn reference() -> impl Strategy<Value = Reference> {
    (value(), text(), slot()).prop_map(|(at, label, slot)| Reference { at, label, slot })
}

fn lines() -> impl Strategy<Value = ChartKind> {
    let panel =
        (prop::option::of(series()), vec(line(), 0..5), vec(reference(), 0..5), vec(interval(), 0..3));
    let panel =
        panel.prop_map(|(heading, lines, references, shaded)| Panel { heading, lines, references, shaded });
    (axis(), axis(), vec(panel, 0..8)).prop_map(|(x, y, panels)| ChartKind::Lines(Lines { x, y, panels }))
}

fn forest() -> impl Strategy<Value = ChartKind> {
    let claims = vec![Claim::Better, Claim::Worse, Claim::Equivalent, Claim::Inconclusive];
    let row =
        (text(), text(), estimate(), select(claims), slot(), prop::option::of(interval()), text(), text());
    let row = row.prop_map(|(group, label, ratio, claim, slot, noise, words, interval_words)| ForestRow {
        group,
        label,
        ratio,
        claim,
        slot,
        noise,
        words,
        interval_words,
    });
    (text(), text(), text(), prop::option::of(value()), vec(row, 0..8), text()).prop_map(
        |(below, above, axis_label, margin, rows, more)| {
            ChartKind::Forest(Forest { below, above, axis_label, margin, rows, more })
        },
    )
}

fn strip() -> impl Strategy<Value = ChartKind> {
    let marks = vec![RunMark::Counted, RunMark::Second, RunMark::Doubtful, RunMark::Invalid];
    let block = prop_oneof![4 => 1..30_u32, 1 => any::<u32>()];
    let run = (block.clone(), value(), select(marks), text());
    let run = run.prop_map(|(block, value, mark, detail)| Run { block, value, mark, detail });
    let series = (series(), vec(run, 0..8), prop::option::of(estimate()), prop::option::of(value()));
    let series = series.prop_map(|(series, runs, median, limit)| StripSeries { series, runs, median, limit });
    (axis(), vec(series, 0..7), vec(block, 0..5))
        .prop_map(|(y, series, noisy)| ChartKind::RunStrip(RunStrip { y, series, noisy }))
}

fn percentiles() -> impl Strategy<Value = ChartKind> {
    let quantile = prop_oneof![4 => 0.0..1.0_f64, 1 => prop::num::f64::ANY];
    let point =
        (quantile, estimate()).prop_map(|(quantile, estimate)| PercentilePoint { quantile, estimate });
    let points = vec(point, 0..6).boxed();
    let series = (series(), points.clone(), points.clone(), vec(points, 0..3));
    let series =
        series.prop_map(|(series, median, pooled, runs)| PercentileSeries { series, median, pooled, runs });
    (axis(), vec(series, 0..5)).prop_map(|(y, series)| ChartKind::Percentiles(Percentiles { y, series }))
}

fn timeline() -> impl Strategy<Value = ChartKind> {
    let window = (value(), value(), value(), prop::option::of(value()));
    let window = window.prop_map(|(start, end, value, longest)| Window { start, end, value, longest });
    let panel = (series(), vec(window, 0..8), vec(interval(), 0..4));
    let panel = panel.prop_map(|(series, windows, gaps)| TimelinePanel { series, windows, gaps });
    (axis(), vec(panel, 0..4)).prop_map(|(y, panels)| ChartKind::Timeline(Timeline { y, panels }))
}

fn bars() -> impl Strategy<Value = ChartKind> {
    let bar = (series(), vec(value(), 0..5), estimate());
    let bar = bar.prop_map(|(series, parts, total)| Bar { series, parts, total });
    let group = (text(), vec(bar, 0..4)).prop_map(|(label, bars)| BarGroup { label, bars });
    (axis(), text(), vec(text(), 0..4), vec(group, 0..4))
        .prop_map(|(x, group_label, parts, groups)| ChartKind::Bars(Bars { x, group_label, parts, groups }))
}

fn heat() -> impl Strategy<Value = ChartKind> {
    let cell = (value(), any::<bool>(), text());
    let cell = cell.prop_map(|(value, hollow, detail)| HeatCell { value, hollow, detail });
    let row = (text(), vec(cell, 0..6)).prop_map(|(label, cells)| HeatRow { label, cells });
    (text(), text(), vec(text(), 0..20), vec(row, 0..5), axis(), slot()).prop_map(
        |(row_label, column_label, columns, rows, axis, slot)| {
            ChartKind::Heat(Heat { row_label, column_label, columns, rows, unit: axis.unit, slot })
        },
    )
}

fn trials() -> impl Strategy<Value = ChartKind> {
    let outcome = select(vec![Outcome::Passed, Outcome::Failed, Outcome::Inconclusive]);
    let trial =
        (value(), outcome, text()).prop_map(|(load, outcome, detail)| Trial { load, outcome, detail });
    let search = (series(), vec(trial, 0..8), prop::option::of(estimate()));
    let search = search.prop_map(|(series, trials, found)| SearchTrials { series, trials, found });
    (axis(), vec(search, 0..5)).prop_map(|(y, searches)| ChartKind::Trials(Trials { y, searches }))
}

fn chart() -> impl Strategy<Value = Chart> {
    let kind = prop_oneof![forest(), strip(), percentiles(), lines(), timeline(), bars(), heat(), trials()];
    let words = (text(), text(), text(), text(), text());
    (words, select(vec![None, Some(Better::Less), Some(Better::More)]), text(), kind).prop_map(
        |(words, better, interval_name, kind)| {
            let (title, subtitle, note, description, footer) = words;
            Chart { title, better, subtitle, note, description, interval_name, footer, kind }
        },
    )
}

#[test]
fn drawings_of_the_gallery_are_sound() {
    for (_, chart) in samples::all() {
        check(&chart);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_data_gives_a_sound_drawing(chart in chart()) {
        check(&chart);
        let table = table(&chart);
        prop_assert!(table.rows.iter().all(|row| row.len() == table.head.len()));
    }
}
