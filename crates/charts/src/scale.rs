//! Values to positions, and round values for ticks.

use crate::{
    model::{Interval, Scale},
    number::drawable,
};

/// Least magnitude: smaller values are 0.
const LEAST: f64 = 1e-18;
/// Least span of a logarithmic scale, in decades.
const LEAST_DECADES: f64 = 0.1;
/// Least distance of a quantile from 1.
const LEAST_TAIL: f64 = 1e-9;

/// Function from values to a line on which positions are proportional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Log,
    /// Quantiles: each nine has the same width.
    Nines,
}

impl Kind {
    /// Returns the place on the proportional line; `None` if the value cannot be drawn.
    pub fn place(self, value: f64) -> Option<f64> {
        match self {
            _ if !drawable(value) => None,
            Self::Linear => Some(if value.abs() < LEAST { 0.0 } else { value }),
            Self::Log => (value >= LEAST).then(|| value.log10()),
            Self::Nines => (0.0..1.0).contains(&value).then(|| -(1.0 - value).max(LEAST_TAIL).log10()),
        }
    }
}

/// Map from values to px.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Map {
    pub kind: Kind,
    /// Ends of the domain on the proportional line.
    pub low: f64,
    pub high: f64,
    /// Positions in px of these ends.
    pub from: f64,
    pub to: f64,
}

impl Map {
    /// Creates the map of a scale that contains all `values` that can be drawn, with some space around them.
    pub fn new(scale: &Scale, values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let kind = if *scale == Scale::Log { Kind::Log } else { Kind::Linear };
        let hull = hull(values.into_iter().filter_map(|value| kind.place(value)));
        let (low, high) = match (scale, hull) {
            (Scale::Log, None) => (0.0, 1.0),
            (Scale::Log, Some((low, high))) => {
                let short = (LEAST_DECADES - (high - low)).max(0.0) / 2.0;
                let pad = 0.04 * (high - low).max(LEAST_DECADES);
                (low - short - pad, high + short + pad)
            }
            (Scale::FromZero, hull) => {
                let (low, high) = hull.unwrap_or((0.0, 1.0));
                let (low, high) = (low.min(0.0), high.max(0.0));
                let high = if high > low { high } else { 1.0 };
                (if low < 0.0 { low - 0.05 * (high - low) } else { 0.0 }, high + 0.05 * (high - low))
            }
            (Scale::Linear, None) => (0.0, 1.0),
            (Scale::Linear, Some((low, high))) => {
                let middle = f64::midpoint(low, high);
                let least = if middle == 0.0 { 1.0 } else { 0.02 * middle.abs() };
                let half = (0.54 * (high - low)).max(least);
                (middle - half, middle + half)
            }
            (Scale::Ordinal(names), _) => (-0.5, (names.len().max(1) as f64) - 0.5),
        };
        Self { kind, low, high, from, to }
    }

    /// Creates a map with a domain of the proportional line as given.
    pub fn between(kind: Kind, (low, high): (f64, f64), from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { kind, low, high, from, to }
    }

    /// Returns the same map to other positions.
    pub fn onto(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Returns the position of a value, at the edge if it is outside; `None` if it cannot be drawn.
    pub fn at(&self, value: f64) -> Option<f64> {
        let share = (self.kind.place(value)? - self.low) / (self.high - self.low);
        Some(self.from + share.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// Returns the positions of the ends of an interval; `None` if it is not valid, or an end cannot be drawn.
    pub fn ends(&self, interval: Option<Interval>) -> Option<(f64, f64)> {
        let interval = interval.filter(|interval| interval.is_valid())?;
        Some((self.at(interval.low)?, self.at(interval.high)?))
    }

    /// Returns whether a value is inside the domain.
    pub fn contains(&self, value: f64) -> bool {
        let tolerance = 1e-9 * (self.high - self.low);
        self.kind.place(value).is_some_and(|at| at >= self.low - tolerance && at <= self.high + tolerance)
    }

    /// Returns the highest value of the domain.
    pub fn highest(&self) -> f64 {
        match self.kind {
            Kind::Linear => self.high,
            Kind::Log => 10_f64.powf(self.high),
            Kind::Nines => 1.0,
        }
    }

    /// Returns at most about `most` values inside the domain that are round in a unit of this many base units, ascending.
    pub fn ticks_in(&self, factor: f64, most: usize) -> Vec<f64> {
        let (low, high) = match self.kind {
            Kind::Log => (self.low - factor.log10(), self.high - factor.log10()),
            Kind::Linear | Kind::Nines => (self.low / factor, self.high / factor),
        };
        Self { low, high, ..*self }.ticks(most).into_iter().map(|tick| tick * factor).collect()
    }

    /// Returns at most about `most` round values inside the domain, ascending.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let mut ticks = match self.kind {
            Kind::Linear => linear_ticks(self.low, self.high, most),
            Kind::Log => log_ticks(self.low, self.high, most),
            Kind::Nines => {
                vec![0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999, 0.999_999_9, 0.999_999_99]
            }
        };
        ticks.retain(|tick| self.contains(*tick));
        ticks
    }
}

fn hull(places: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    places.fold(None, |hull, at| match hull {
        None => Some((at, at)),
        Some((low, high)) => Some((at.min(low), at.max(high))),
    })
}

/// Returns multiples of 1, 2 or 5 times a power of ten between two values.
pub(crate) fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let most = most.max(2) as f64;
    let least = (high - low) / most;
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = *step.iter().find(|step| **step >= least * (1.0 - 1e-9)).unwrap_or(&step[3]);
    if !step.is_finite() || step <= 0.0 {
        return Vec::new();
    }
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if last - first > 1000.0 {
        return Vec::new();
    }
    // Division by whole numbers gives 0.3 where multiplication gives 0.30000000000000004.
    let value = |index: f64| if step < 1.0 { index / (1.0 / step).round() } else { index * step };
    (0..=(last - first).max(-1.0) as i64).map(|index| value(first + index as f64)).collect()
}

/// Returns round values between two powers of ten: by the span, steps inside a decade, 1-2-5, 1-3 or decades.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let most = most.max(2);
    let fine: &[f64] = &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];
    let sets: [&[f64]; 4] = [fine, &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let sets = if high - low < 0.95 { &sets[..] } else { &sets[1..] };
    let of = |set: &[f64], every: i32| -> Vec<f64> {
        let decades = (low.floor() as i32..=high.ceil() as i32).filter(|decade| decade % every == 0);
        let values = decades.flat_map(|decade| set.iter().map(move |factor| factor * power_of_ten(decade)));
        let inside = |value: &f64| (low - 1e-9..=high + 1e-9).contains(&value.log10());
        values.filter(inside).collect()
    };
    let found = sets.iter().map(|set| of(set, 1)).find(|ticks| ticks.len() <= most);
    let found = found.or_else(|| (2..).map(|every| of(&[1.0], every)).find(|ticks| ticks.len() <= most));
    match found {
        Some(ticks) if ticks.len() >= 2 || high - low > 1.5 => ticks,
        // Less than a step inside a decade, or nothing round: ticks as on a linear axis.
        _ => linear_ticks(10_f64.powf(low), 10_f64.powf(high), most),
    }
}

fn power_of_ten(exponent: i32) -> f64 {
    if exponent >= 0 { 10_f64.powi(exponent) } else { 1.0 / 10_f64.powi(-exponent) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn linear_ticks_are_multiples_of_1_2_or_5() {
        assert_eq!(linear_ticks(0.0, 62.0, 4), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(linear_ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(linear_ticks(-3.0, 3.0, 3), [-2.0, 0.0, 2.0]);
        assert_eq!(linear_ticks(0.05, 0.35, 3), [0.1, 0.2, 0.3]);
        assert_eq!(linear_ticks(1e9, 1e9, 5), Vec::<f64>::new());
    }

    #[test]
    fn log_ticks_depend_on_the_span() {
        let ticks = |low: f64, high: f64, most| log_ticks(low.log10(), high.log10(), most);
        assert_eq!(ticks(22.0, 110.0, 9), [30.0, 40.0, 50.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(8.0, 300.0, 6), [10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(ticks(20.0, 4000.0, 5), [30.0, 100.0, 300.0, 1000.0, 3000.0]);
        assert_eq!(ticks(6.0, 200_000.0, 6), [10.0, 100.0, 1000.0, 10_000.0, 100_000.0]);
        assert_eq!(ticks(1.0, 1e12, 8), [1.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12]);
        assert_eq!(ticks(101.0, 108.0, 5), [102.0, 104.0, 106.0, 108.0]);
    }

    #[test]
    fn quantiles_have_a_nine_per_unit() {
        let map = Map::between(Kind::Nines, (0.0, 4.0), 0.0, 400.0);
        assert_eq!(map.at(0.0), Some(0.0));
        assert!((map.at(0.99).expect("a position") - 200.0).abs() < 1e-9);
        assert!((map.at(0.9999).expect("a position") - 400.0).abs() < 1e-9);
        assert_eq!((map.at(1.0), map.at(-0.1), map.at(f64::NAN)), (None, None, None));
        assert_eq!(map.ticks(9), [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999]);
    }

    #[test]
    fn what_cannot_be_drawn_has_no_position() {
        let map = Map::new(&Scale::Log, [10.0, 1000.0, 0.0, -1.0, f64::NAN, f64::INFINITY], 0.0, 100.0);
        assert!(map.at(100.0).is_some_and(|at| (at - 50.0).abs() < 1e-9));
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(map.at(value), None, "{value}");
        }
    }

    #[test]
    fn an_axis_from_zero_begins_there() {
        let map = Map::new(&Scale::FromZero, [5.0, 10.0], 0.0, 105.0);
        assert_eq!((map.at(0.0), map.at(10.0)), (Some(0.0), Some(100.0)));
        let empty = Map::new(&Scale::FromZero, [], 0.0, 100.0);
        assert_eq!(empty.at(0.0), Some(0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn all_values_are_inside_and_ticks_ascend(
            values in prop::collection::vec(prop::num::f64::ANY, 0..20),
            most in 2_usize..12,
        ) {
            for scale in [Scale::Linear, Scale::FromZero, Scale::Log] {
                let map = Map::new(&scale, values.iter().copied(), 10.0, 20.0);
                prop_assert!(map.high > map.low, "{:?}", map);
                for value in &values {
                    if let Some(at) = map.at(*value) {
                        prop_assert!((10.0..=20.0).contains(&at) && map.contains(*value));
                    }
                }
                let ticks = map.ticks(most);
                prop_assert!(ticks.is_sorted() && ticks.len() <= 2 * most + 2, "{:?}", ticks);
                prop_assert!(ticks.iter().all(|tick| map.contains(*tick)), "{:?} {:?}", map, ticks);
            }
        }
    }
}
