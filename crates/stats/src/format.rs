//! The rounding rule of measured values.

/// Formats a measured value with three significant digits.
///
/// Digits before the decimal point are never rounded, at most three follow it, and there is no thousands separator.
/// `0` is exactly zero; `0.000` is less than half of the last digit.
#[must_use]
pub fn format_value(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // the limits are where rounding adds a digit before the point
    let decimals = match value.abs() {
        size if size < 0.0005 => return "0.000".to_owned(),
        size if size < 0.9995 => 3,
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_has_three_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.000_4, "0.000"),
            (-0.000_4, "0.000"),
            (0.000_5, "0.001"),
            (0.618, "0.618"),
            (0.999_4, "0.999"),
            (0.999_6, "1.00"),
            (-9.2, "-9.20"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (17.94, "17.9"),
            (99.94, "99.9"),
            (99.96, "100"),
            (512.34, "512"),
            (8_765.4, "8765"),
            (1_234_567.8, "1234568"),
        ] {
            assert_eq!(format_value(value), text, "{value}");
        }
    }

    proptest! {
        #[test]
        fn text_is_within_half_a_digit_of_the_value(value in -1e9_f64..1e9) {
            let read: f64 = format_value(value).parse().expect("a number");
            let half = match value.abs() {
                size if size < 1.0 => 0.000_5,
                size if size < 10.0 => 0.005,
                size if size < 100.0 => 0.05,
                _ => 0.5,
            };
            prop_assert!((read - value).abs() <= half * 1.000_001, "{} as {}", value, read);
        }
    }
}
