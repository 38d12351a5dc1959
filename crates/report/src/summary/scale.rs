//! Logarithmic scale of a picture in characters.

/// Mantissas of the ends of a scale, and of the labels of a short one.
const FINE: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
/// Mantissas of the labels of a long scale.
const COARSE: [f64; 3] = [1.0, 2.0, 5.0];
/// Decades from which a scale is long.
const LONG: f64 = 0.95;

/// Logarithmic scale over a number of columns. Its ends are round.
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// Number of columns.
    pub(super) columns: usize,
}

impl Scale {
    /// Creates a scale of positive values from the smallest to the largest one. `columns`: at least 2.
    pub fn new((least, most): (f64, f64), columns: usize) -> Self {
        let low = round(least, false);
        let high = round(most.max(least), true);
        let high = if high > low { high } else { round(low * 1.1, true) };
        Self { low, high, columns: columns.max(2) }
    }

    /// Returns both ends.
    pub const fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns the column of a value.
    pub fn column(&self, value: f64) -> usize {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        let last = self.columns - 1;
        ((share * last as f64).round().max(0.0) as usize).min(last)
    }

    /// Returns the line of labels. Labels that would touch one before them are left out; both ends have one.
    pub fn labels(&self) -> String {
        let is_long = (self.high / self.low).log10() >= LONG;
        let mantissas: &[f64] = if is_long { &COARSE } else { &FINE };
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let values = decades.flat_map(|decade| mantissas.iter().map(move |one| (*one, decade)));
        let inner = values.filter(|(mantissa, decade)| {
            let value = value(*mantissa, *decade);
            value > self.low * 1.001 && value < self.high * 0.999
        });
        let end = text(self.high);
        let last = self.columns - end.len().min(self.columns);
        let mut line = text(self.low);
        for (mantissa, decade) in inner {
            let value = value(mantissa, decade);
            let label = text(value);
            let at = self.column(value).saturating_sub(label.len() / 2);
            if at > line.len() && at + label.len() < last {
                line = format!("{line:at$}{label}");
            }
        }
        // The labels of a few columns need more room than these.
        let last = last.max(line.len() + 1);
        format!("{line:last$}{end}")
    }
}

fn value(mantissa: f64, decade: i32) -> f64 {
    mantissa * 10_f64.powi(decade)
}

/// Returns the nearest round value that is not above, or with `up` not below.
fn round(value_to_round: f64, up: bool) -> f64 {
    let decade = value_to_round.log10().floor() as i32;
    let candidates = (decade - 1..=decade + 1).flat_map(|decade| FINE.map(|one| value(one, decade)));
    // The computed value of a round one may differ in its last digit.
    let (floor, ceiling) = (value_to_round * (1.0 + 1e-9), value_to_round * (1.0 - 1e-9));
    let found = match up {
        true => candidates.filter(|round| *round >= ceiling).fold(f64::INFINITY, f64::min),
        false => candidates.filter(|round| *round <= floor).fold(0.0, f64::max),
    };
    if found > 0.0 && found.is_finite() { found } else { value_to_round }
}

/// Formats a round value.
fn text(value: f64) -> String {
    let decimals = (1 - value.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_round_and_enclose_the_values() {
        for (least, most, ends) in [
            (23.2, 190.0, (20.0, 200.0)),
            (20.0, 200.0, (20.0, 200.0)),
            (0.31, 0.33, (0.3, 0.5)),
            (7.0, 7.0, (7.0, 10.0)),
            (12_345.0, 6_413_891.0, (10_000.0, 7_000_000.0)),
        ] {
            let (low, high) = Scale::new((least, most), 40).ends();
            assert!((low / ends.0 - 1.0).abs() < 1e-6 && (high / ends.1 - 1.0).abs() < 1e-6, "{low} {high}");
        }
    }

    #[test]
    fn columns_are_logarithmic_and_within_the_scale() {
        let scale = Scale::new((10.0, 1_000.0), 41);
        assert_eq!([1.0, 10.0, 100.0, 1_000.0, 9e9].map(|value| scale.column(value)), [0, 0, 20, 40, 40]);
    }

    #[test]
    fn labels_do_not_touch_and_both_ends_have_one() {
        let labels = |least, most, columns| Scale::new((least, most), columns).labels();
        assert_eq!(labels(20.0, 200.0, 41), "20             50          100        200");
        assert_eq!(labels(20.0, 200.0, 9), "20    200");
        assert_eq!(labels(0.2, 0.5, 30), "0.2         0.3            0.5");
        for (least, most) in [(1.0, 1e6), (0.004, 70.0), (29.5, 63.2)] {
            for columns in 8..80 {
                let line = labels(least, most, columns);
                assert!(line.split_whitespace().count() >= 2, "{columns}: {line}");
                assert!(line.len() == columns || columns < 20, "{columns}: {line}");
            }
        }
    }
}
