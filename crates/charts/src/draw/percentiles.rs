//! Values by percentile.

use crate::{
    axes::{XAxis, YAxis, tooltip},
    canvas::{Anchor, Canvas, Position},
    draw::marks::{EndName, end_names, extent, names_height, names_space},
    labels::{Area, Occupied},
    model::{PercentilePoint, PercentileSeries, Percentiles, Slot},
    number::{estimate, round},
    scale::Kind,
    text::width,
};

/// Above this number of runs there are no hairlines.
pub(crate) const MOST_RUNS: usize = 20;
/// Words on a dashed line.
const POOLED: &str = "all runs pooled";

/// Draws the chart and returns its height.
pub(crate) fn draw(percentiles: &Percentiles, canvas: &mut Canvas) -> f64 {
    let names = || percentiles.series.iter().map(|series| &series.series);
    let right = canvas.width - names_space(names(), canvas.width, 0.34, 0.0);
    let top = 24.0;
    let bottom = top + names_height(names(), canvas.width - right).ceil().max(266.0);
    let y = YAxis::new(&percentiles.y, percentiles.series.iter().flat_map(values), bottom, top);
    let left = y.space();
    let quantiles = percentiles.series.iter().flat_map(points).map(|point| point.quantile);
    let last = quantiles.filter(|quantile| Kind::Nines.place(*quantile).is_some()).fold(0.0, f64::max);
    let x = XAxis::quantiles(last, left, right);
    y.draw(canvas, left, right, true);
    y.draw_unit(canvas, left, top - 12.0);
    x.draw_grid(canvas, top, bottom);
    x.draw(canvas, left, right, bottom);
    x.draw_label(canvas, left, right, bottom);
    let mut occupied = Occupied::default();
    let mut ends = Vec::new();
    let mut dashed: Option<(Vec<Position>, usize)> = None;
    for (number, series) in percentiles.series.iter().enumerate() {
        let lines = series_lines(series, percentiles, canvas, &x, &y);
        for (part, line) in lines.iter().enumerate() {
            occupied.line(line, 2 * number + part);
        }
        let [median, pooled] = lines;
        let end = median.iter().chain(&pooled).max_by(|a, b| a.0.total_cmp(&b.0)).copied();
        if let Some(end) = end.filter(|_| !series.series.name.is_empty()) {
            ends.push(EndName { series: &series.series, end, sample: String::new() });
        }
        if !pooled.is_empty() && dashed.as_ref().is_none_or(|(line, _)| line.len() < pooled.len()) {
            dashed = Some((pooled, 2 * number + 1));
        }
    }
    end_names(canvas, &ends, (right, canvas.width - right), (top, bottom));
    if let Some((line, number)) = dashed {
        let frame = Area { left, top, right, bottom };
        label(canvas, &line, number, frame, &mut occupied);
    }
    bottom + 40.0
}

fn points(series: &PercentileSeries) -> impl Iterator<Item = &PercentilePoint> {
    let runs = series.runs.iter().filter(|_| series.runs.len() <= MOST_RUNS).flatten();
    series.median.iter().chain(&series.pooled).chain(runs)
}

fn values(series: &PercentileSeries) -> impl Iterator<Item = f64> + '_ {
    points(series)
        .filter(|point| Kind::Nines.place(point.quantile).is_some())
        .flat_map(|point| extent(&point.estimate))
}

/// Draws the lines of a series and returns the positions of median and pooled points.
fn series_lines(
    series: &PercentileSeries,
    percentiles: &Percentiles,
    canvas: &mut Canvas,
    x: &XAxis,
    y: &YAxis,
) -> [Vec<Position>; 2] {
    let slot = series.series.slot.class();
    let place = |point: &PercentilePoint, value: f64| Some((x.map.at(point.quantile)?, y.map.at(value)?));
    let path = |points: &[PercentilePoint]| -> Vec<Position> {
        points.iter().filter_map(|point| place(point, point.estimate.value)).collect()
    };
    if series.runs.len() <= MOST_RUNS {
        for run in &series.runs {
            canvas.path(&path(run), &format!("hair {slot}"));
        }
    }
    let bounded = series.median.iter().filter_map(|point| {
        let (x, (low, high)) = (x.map.at(point.quantile)?, y.map.ends(point.estimate.interval)?);
        Some(((x, low), (x, high)))
    });
    let (low, mut high): (Vec<Position>, Vec<Position>) = bounded.unzip();
    high.reverse();
    canvas.area(&[low, high].concat(), &format!("band {slot}"));
    let (median, pooled) = (path(&series.median), path(&series.pooled));
    canvas.path(&median, &format!("ln {slot}"));
    canvas.path(&pooled, &format!("ln dash {slot}"));
    for (points, kind, r) in [(&series.median, "median of the runs", 3.0), (&series.pooled, POOLED, 2.4)] {
        for point in points {
            if let Some(at) = place(point, point.estimate.value) {
                let name = format!("p{}", round(point.quantile * 100.0));
                let text = estimate(point.estimate, percentiles.y.unit);
                let title = tooltip(&[&series.series.name, &name], &text, kind);
                canvas.mark(series.series.slot, at, r, "mk", &title);
            }
        }
    }
    [median, pooled]
}

fn label(canvas: &mut Canvas, line: &[Position], number: usize, frame: Area, occupied: &mut Occupied) {
    let wide = width(POOLED, 12.0);
    let beside = |(x, y): &Position| {
        let left = (x - wide / 2.0).min(frame.right - wide);
        [(left, y - 24.0), (left, y + 8.0), (left, y + 20.0), (x - wide - 10.0, y - 12.0)]
    };
    let places: Vec<Area> = line.iter().flat_map(beside).map(|corner| Area::at(corner, wide, 14.0)).collect();
    if let Some(best) = occupied.place(&places, frame, &[number]) {
        let class = format!("am {}", Slot::Ink.class());
        canvas.text((best.left, best.bottom - 3.0), Anchor::Start, &class, POOLED);
    }
}
