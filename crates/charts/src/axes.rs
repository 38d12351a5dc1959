//! Axes: ticks with their texts, grid lines, labels.

use crate::{
    canvas::{Anchor, Canvas},
    model::{Axis, Scale, Unit},
    number::{NBSP, Prefix, round, with_unit},
    scale::{Kind, Map},
    text::{fit, width},
};

/// Size of tick labels in px.
const TICK: f64 = 12.0;
/// Least height per tick of a y axis in px.
const Y_STEP: f64 = 24.0;
/// Least width per tick of an x axis in px.
const X_STEP: f64 = 56.0;
/// Most space for labels of a y axis in px.
const MOST_SPACE: f64 = 90.0;
/// From here on rates and counts are in thousands.
const THOUSANDS: f64 = 10_000.0;

/// Value with its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub text: String,
}

/// Ticks of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    pub ticks: Vec<Tick>,
    /// Unit that all texts share and none has; empty if they have it.
    pub unit: &'static str,
    /// Number of base units of that unit.
    pub factor: f64,
}

impl Ticks {
    /// Returns the ticks of an axis, at most about `most` unless the axis lists its own.
    pub fn new(axis: &Axis, map: &Map, most: usize) -> Self {
        if let Scale::Ordinal(names) = &axis.scale {
            let tick = |(index, name): (usize, &String)| Tick { value: index as f64, text: name.clone() };
            return Self { ticks: names.iter().enumerate().map(tick).collect(), unit: "", factor: 1.0 };
        }
        if axis.unit == Unit::Memory && axis.ticks.is_empty() {
            // A round number of bytes is none of KiB.
            let prefix = axis.unit.prefix(map.highest());
            let tick = |value: f64| Tick { value, text: round(value / prefix.factor) };
            let ticks = map.ticks_in(prefix.factor, most).into_iter().map(tick).collect();
            return Self { ticks, unit: prefix.name, factor: prefix.factor };
        }
        let values = if axis.ticks.is_empty() { map.ticks(most) } else { axis.ticks.clone() };
        let values: Vec<f64> = values.into_iter().filter(|value| map.contains(*value)).collect();
        Self::of(&values, axis.unit, map.kind)
    }

    /// Gives values their texts.
    fn of(values: &[f64], unit: Unit, kind: Kind) -> Self {
        let largest = values.iter().fold(0.0_f64, |largest, value| value.abs().max(largest));
        let least = values.iter().fold(f64::INFINITY, |least, value| value.abs().min(least));
        let ticks = |text: &dyn Fn(f64) -> String| {
            values.iter().map(|value| Tick { value: *value, text: text(*value) }).collect()
        };
        match unit {
            Unit::Nanoseconds | Unit::BitsPerSecond if kind == Kind::Log && largest >= 1000.0 * least => {
                let text = |value: f64| {
                    let prefix = unit.prefix(value);
                    with_unit(&round(value / prefix.factor), prefix)
                };
                Self { ticks: ticks(&text), unit: "", factor: 1.0 }
            }
            Unit::SamplesPerSecond | Unit::Count if largest >= THOUSANDS => {
                let name = if unit == Unit::Count { "" } else { unit.prefix(0.0).name };
                Self { ticks: ticks(&|value| thousands(value, largest, kind)), unit: name, factor: 1.0 }
            }
            _ => {
                let prefix =
                    if kind == Kind::Log { unit.common_prefix([least]) } else { unit.prefix(largest) };
                Self {
                    ticks: ticks(&|value| round(value / prefix.factor)),
                    unit: prefix.name,
                    factor: prefix.factor,
                }
            }
        }
    }

    /// Returns the width of the widest text in px.
    pub fn text_width(&self) -> f64 {
        self.ticks.iter().map(|tick| width(&tick.text, TICK)).fold(0.0, f64::max)
    }
}

fn thousands(value: f64, largest: f64, kind: Kind) -> String {
    let size = if kind == Kind::Log { value.abs() } else { largest };
    let prefix = match size {
        _ if value == 0.0 => Prefix { factor: 1.0, name: "" },
        size if size >= 1e6 => Prefix { factor: 1e6, name: "M" },
        size if size >= THOUSANDS => Prefix { factor: 1e3, name: "k" },
        _ => Prefix { factor: 1.0, name: "" },
    };
    with_unit(&round(value / prefix.factor), prefix)
}

/// Horizontal grid with values at the left.
#[derive(Debug, Clone)]
pub(crate) struct YAxis {
    pub map: Map,
    pub ticks: Ticks,
}

impl YAxis {
    /// Creates the axis that contains `values` between the positions `bottom` and `top`.
    pub fn new(axis: &Axis, values: impl IntoIterator<Item = f64>, bottom: f64, top: f64) -> Self {
        Self::with_map(axis, Map::new(&axis.scale, values, bottom, top))
    }

    /// Creates the axis of a map.
    pub fn with_map(axis: &Axis, map: Map) -> Self {
        let most = ((map.from - map.to).abs() / Y_STEP) as usize;
        Self { map, ticks: Ticks::new(axis, &map, most.clamp(2, 9)) }
    }

    /// Returns the same axis between other positions.
    pub fn onto(&self, bottom: f64, top: f64) -> Self {
        Self { map: self.map.onto(bottom, top), ..self.clone() }
    }

    /// Returns the same axis with its unit in each label.
    pub fn with_unit_in_labels(mut self) -> Self {
        let unit = Prefix { factor: self.ticks.factor, name: self.ticks.unit };
        for tick in &mut self.ticks.ticks {
            tick.text = with_unit(&tick.text, unit);
        }
        self.ticks.unit = "";
        self
    }

    /// Returns the space in px that the labels need at the left.
    pub fn space(&self) -> f64 {
        (self.ticks.text_width().max(width(self.ticks.unit, TICK)) + 9.0).clamp(24.0, MOST_SPACE)
    }

    /// Draws grid lines from `left` to `right`, with labels if `labelled`.
    pub fn draw(&self, canvas: &mut Canvas, left: f64, right: f64, labelled: bool) {
        let mut last: Option<f64> = None;
        for tick in &self.ticks.ticks {
            let Some(y) = self.map.at(tick.value) else { continue };
            canvas.line((left, y), (right, y), "g");
            if labelled && last.is_none_or(|last| (last - y).abs() >= TICK + 3.0) {
                canvas.text((left - 7.0, y + 4.0), Anchor::End, "t", &fit(&tick.text, TICK, left - 7.0));
                last = Some(y);
            }
        }
    }

    /// Writes the unit at the upper end, if the tick labels have none.
    pub fn draw_unit(&self, canvas: &mut Canvas, left: f64, y: f64) {
        canvas.text((left - 7.0, y), Anchor::End, "t", self.ticks.unit);
    }
}

/// Line at the bottom with values below it.
#[derive(Debug, Clone)]
pub(crate) struct XAxis {
    pub map: Map,
    pub ticks: Ticks,
    label: String,
}

impl XAxis {
    /// Creates the axis that contains `values` between the positions `left` and `right`.
    pub fn new(axis: &Axis, values: impl IntoIterator<Item = f64>, left: f64, right: f64) -> Self {
        Self::with_map(axis, Map::new(&axis.scale, values, left, right))
    }

    /// Creates the axis of a map.
    pub fn with_map(axis: &Axis, map: Map) -> Self {
        let most = ((map.to - map.from).abs() / X_STEP) as usize;
        let ticks = Ticks::new(axis, &map, most.clamp(2, 12));
        let unit = if ticks.unit == "B" { "bytes" } else { ticks.unit };
        let label = if unit.is_empty() || axis.label.is_empty() {
            axis.label.clone()
        } else {
            format!("{} ({unit})", axis.label)
        };
        Self { map, ticks, label }
    }

    /// Returns the same axis between other positions.
    pub fn onto(&self, left: f64, right: f64) -> Self {
        Self { map: self.map.onto(left, right), ..self.clone() }
    }

    /// Creates an axis of quantiles from 0 to at least `last`.
    pub fn quantiles(last: f64, left: f64, right: f64) -> Self {
        let high = Kind::Nines.place(last).unwrap_or(2.0).max(1.0);
        let map = Map::between(Kind::Nines, (0.0, high * 1.01), left, right);
        let tick = |value: f64| Tick { value, text: round(value * 100.0) };
        let ticks = Ticks { ticks: map.ticks(0).into_iter().map(tick).collect(), unit: "%", factor: 0.01 };
        Self { map, ticks, label: "percentile (%): each nine has the same width".to_owned() }
    }

    /// Draws vertical grid lines.
    pub fn draw_grid(&self, canvas: &mut Canvas, top: f64, bottom: f64) {
        for x in self.ticks.ticks.iter().filter_map(|tick| self.map.at(tick.value)) {
            canvas.line((x, top), (x, bottom), "g");
        }
    }

    /// Draws the line from `left` to `right` with ticks. No text goes far beyond `right`.
    pub fn draw(&self, canvas: &mut Canvas, left: f64, right: f64, y: f64) {
        canvas.line((left, y), (right, y), "ax");
        for x in self.ticks.ticks.iter().filter_map(|tick| self.map.at(tick.value)) {
            canvas.line((x, y), (x, y + 4.0), "ax");
        }
        self.draw_texts(canvas, right + 4.0, y);
    }

    /// Writes the texts of the ticks, none beyond `right`. One that would touch the next is left out.
    pub fn draw_texts(&self, canvas: &mut Canvas, right: f64, y: f64) {
        let right = right.min(canvas.width);
        let mut free = right;
        for tick in self.ticks.ticks.iter().rev() {
            let Some(x) = self.map.at(tick.value) else { continue };
            let half = width(&tick.text, TICK) / 2.0;
            let middle = x.min(right - half).max(half);
            if middle + half <= free + 0.1 {
                canvas.text((middle, y + 17.0), Anchor::Middle, "t", &tick.text);
                free = middle - half - 5.0;
            }
        }
    }

    /// Writes the label below the tick labels of an axis at `y`.
    pub fn draw_label(&self, canvas: &mut Canvas, left: f64, right: f64, y: f64) {
        let half = width(&self.label, TICK) / 2.0;
        let middle = f64::midpoint(left, right).min(canvas.width - half).max(half);
        canvas.text((middle, y + 34.0), Anchor::Middle, "t", &self.label);
    }

    /// Returns the text of a position, as for tooltips.
    pub fn text(axis: &Axis, value: f64) -> String {
        match &axis.scale {
            Scale::Ordinal(names) => {
                let next = names.iter().enumerate().find(|(index, _)| *index as f64 >= value);
                match next {
                    Some((index, name)) if index as f64 == value => name.clone(),
                    // A line between two positions.
                    Some((_, name)) => format!("before {name}"),
                    None => round(value),
                }
            }
            _ if matches!(axis.unit, Unit::Nanoseconds | Unit::BitsPerSecond) => {
                let prefix = axis.unit.prefix(value);
                with_unit(&round(value / prefix.factor), prefix)
            }
            _ => with_unit(&round(value), axis.unit.prefix(0.0)),
        }
    }
}

/// Joins words of a tooltip.
pub(crate) fn tooltip(names: &[&str], text: &str, detail: &str) -> String {
    let names: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let detail = if detail.is_empty() { String::new() } else { format!("; {detail}") };
    format!("{}: {text}{detail}", names.join(", ")).replace(NBSP, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[f64], unit: Unit, kind: Kind) -> (String, &'static str) {
        let ticks = Ticks::of(values, unit, kind);
        let texts: Vec<String> = ticks.ticks.into_iter().map(|tick| tick.text.replace(NBSP, " ")).collect();
        (texts.join(" | "), ticks.unit)
    }

    #[test]
    fn units_change_above_three_decades() {
        let times = |values: &[f64]| texts(values, Unit::Nanoseconds, Kind::Log);
        assert_eq!(times(&[2e4, 5e4, 1e5]), ("20 | 50 | 100".to_owned(), "µs"));
        assert_eq!(times(&[1e4, 1e6, 1e8]), ("10 µs | 1 ms | 100 ms".to_owned(), ""));
        assert_eq!(
            texts(&[0.0, 5e5, 1e6], Unit::Nanoseconds, Kind::Linear),
            ("0 | 0.5 | 1".to_owned(), "ms")
        );
    }

    #[test]
    fn labels_have_the_unit_on_request() {
        let axis = Axis { unit: Unit::Nanoseconds, scale: Scale::Log, ..Axis::default() };
        let y = YAxis::new(&axis, [3e5, 1e6], 60.0, 0.0);
        let with_unit = y.clone().with_unit_in_labels();
        assert_eq!((y.ticks.unit, with_unit.ticks.unit), ("\u{b5}s", ""));
        for (before, after) in y.ticks.ticks.iter().zip(&with_unit.ticks.ticks) {
            assert_eq!(after.text, format!("{}{NBSP}\u{b5}s", before.text));
        }
    }

    #[test]
    fn memory_is_in_round_numbers_of_its_unit() {
        let texts = |scale: Scale, low: f64, high: f64| {
            let map = Map::new(&scale, [low, high], 0.0, 200.0);
            let ticks = Ticks::new(&Axis { unit: Unit::Memory, scale, ..Axis::default() }, &map, 5);
            let all: Vec<String> = ticks.ticks.into_iter().map(|tick| tick.text).collect();
            (all.join(" | "), ticks.unit)
        };
        let kib = 1024.0;
        assert_eq!(
            texts(Scale::Linear, 700.0 * kib, 900.0 * kib),
            ("700 | 750 | 800 | 850 | 900".to_owned(), "KiB")
        );
        assert_eq!(
            texts(Scale::Linear, 870.0 * kib, 1048.0 * kib),
            ("0.85 | 0.9 | 0.95 | 1".to_owned(), "MiB")
        );
        assert_eq!(texts(Scale::Log, 2.0 * kib, 90.0 * kib), ("3 | 10 | 30 | 100".to_owned(), "KiB"));
    }

    #[test]
    fn rates_are_in_thousands() {
        let rates = |values: &[f64], kind| texts(values, Unit::SamplesPerSecond, kind);
        assert_eq!(
            rates(&[0.0, 25e3, 50e3, 1e5], Kind::Linear),
            ("0 | 25 k | 50 k | 100 k".to_owned(), "samples/s")
        );
        assert_eq!(rates(&[1e3, 1e4, 1e6], Kind::Log), ("1000 | 10 k | 1 M".to_owned(), "samples/s"));
        assert_eq!(texts(&[1.0, 2.0, 4.0], Unit::Count, Kind::Log), ("1 | 2 | 4".to_owned(), ""));
    }
}
