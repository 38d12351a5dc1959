//! Trials of searches.

use crate::{
    axes::{XAxis, YAxis, tooltip},
    canvas::{Anchor, Canvas, Position},
    draw::{
        marks::{MARK, extent},
        panels::Panels,
    },
    labels::{Area, Occupied},
    model::{Axis, Outcome, Scale, SearchTrials, Trials, Unit},
    number::value,
    text::width,
};

/// Draws the chart and returns its height.
pub(crate) fn draw(trials: &Trials, canvas: &mut Canvas) -> f64 {
    let y = YAxis::new(&trials.y, trials.searches.iter().flat_map(values), 290.0, 24.0);
    let most = trials.searches.iter().map(|search| search.trials.len()).max().unwrap_or(0).max(1);
    let right = if trials.searches.len() > 1 { 4.0 } else { 14.0 };
    let headings: Vec<_> = trials.searches.iter().map(|search| Some(&search.series)).collect();
    let panels = Panels::new(&headings, canvas, (y.space(), right), 0.0, 0.0);
    let frame = panels.frames[0];
    let y = YAxis::with_map(&trials.y, y.map.onto(frame.bottom, frame.top));
    let axis = Axis {
        label: "trial".to_owned(),
        unit: Unit::Count,
        scale: Scale::Linear,
        ticks: whole_numbers(most, frame.right - frame.left),
    };
    let x = XAxis::new(&axis, [0.6, most as f64 + 0.4], frame.left, frame.right);
    panels.draw(canvas, &x, &y, (0.0, 0.0));
    for (search, frame) in trials.searches.iter().zip(&panels.frames) {
        let x = x.onto(frame.left, frame.right);
        let y = y.onto(frame.bottom, frame.top);
        draw_search(search, trials.y.unit, canvas, (&x, &y), *frame);
    }
    panels.height()
}

fn whole_numbers(last: usize, wide: f64) -> Vec<f64> {
    let most = ((wide / 28.0) as usize).max(2);
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|step| last / step <= most);
    let step = step.unwrap_or(last.div_ceil(most));
    let multiples = (1..=last / step).map(|index| (index * step) as f64);
    multiples.collect()
}

fn values(search: &SearchTrials) -> impl Iterator<Item = f64> + '_ {
    search.trials.iter().map(|trial| trial.load).chain(search.found.iter().flat_map(extent))
}

fn draw_search(search: &SearchTrials, unit: Unit, canvas: &mut Canvas, axes: (&XAxis, &YAxis), frame: Area) {
    let (x, y) = axes;
    let slot = search.series.slot;
    let at = |index: usize, load: f64| -> Option<Position> {
        Some((x.map.at((index + 1) as f64)?, y.map.at(load)?))
    };
    let mut occupied = Occupied::default();
    let path: Vec<Position> =
        search.trials.iter().enumerate().filter_map(|(index, trial)| at(index, trial.load)).collect();
    occupied.line(&path, 0);
    if let Some(found) = search.found {
        if let Some((low, high)) = y.map.ends(found.interval) {
            canvas.rect((frame.left, high), (frame.right, low), &format!("band {}", slot.class()), "");
        }
        if let Some(height) = y.map.at(found.value) {
            canvas.line((frame.left, height), (frame.right, height), &format!("ref {}", slot.class()));
        }
    }
    canvas.path(&path, &format!("hair {}", slot.class()));
    for (index, trial) in search.trials.iter().enumerate() {
        let Some(at) = at(index, trial.load) else { continue };
        let name = format!("trial {}", index + 1);
        let text = format!("{} {}", value(trial.load, unit), trial.outcome.word());
        let title = tooltip(&[&search.series.name, &name], &text, &trial.detail);
        match trial.outcome {
            Outcome::Passed => canvas.mark(slot, at, MARK, "mk", &title),
            Outcome::Failed => canvas.cross(slot, at, MARK, &title),
            Outcome::Inconclusive => canvas.mark(slot, at, MARK, "hol", &title),
        }
    }
    if let Some(found) = search.found
        && let Some(height) = y.map.at(found.value)
    {
        let text = format!("found {}", value(found.value, unit));
        let wide = width(&text, 12.0);
        let tops = [height - 17.0, height + 5.0, height - 30.0, height + 18.0].into_iter();
        let lefts = [frame.right - wide - 2.0, frame.left + 4.0];
        let places = tops.flat_map(|top| lefts.map(|left| Area::at((left, top), wide, 13.0)));
        if let Some(best) = occupied.place(&places.collect::<Vec<_>>(), frame, &[0]) {
            let class = format!("an {}", slot.class());
            canvas.text((best.left, best.bottom - 2.0), Anchor::Start, &class, &text);
        }
    }
}
