//! Robust slope of one metric over another (Theil-Sen).

use crate::{ranks::Interval, spread::median};

/// 97.5 % quantile of the standard normal distribution.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// Returns the slope of `y` over `x`: the median of the slopes between all pairs of points that differ in `x`.
/// `None` without such a pair.
///
/// The breakdown point is 29 % outliers. Sources: H. Theil, *A rank-invariant method of linear and polynomial
/// regression analysis*, 1950; P. K. Sen, *Estimates of the Regression Coefficient Based on Kendall's Tau*, JASA
/// 63, 1968.
///
/// # Panics
/// Panics if a coordinate is not finite.
#[must_use]
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    median(&slopes(points))
}

/// Returns the 95 % interval of that slope by Kendall's tau in its normal approximation, for points without ties in
/// `x` or `y`. `None` with too few points. Source: Sen, as above.
///
/// # Panics
/// Panics if a coordinate is not finite.
#[must_use]
pub fn slope_interval(points: &[(f64, f64)]) -> Option<Interval> {
    let mut slopes = slopes(points);
    slopes.sort_unstable_by(f64::total_cmp);
    let n = points.len() as f64;
    let reach = TWO_SIDED_95 * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let rank = ((slopes.len() as f64 - reach) / 2.0).floor();
    let rank = (rank >= 1.0).then_some(rank as usize)?;
    Some(Interval { low: slopes[rank - 1], high: slopes[slopes.len() - rank], level: 0.95 })
}

/// Returns the slopes between all pairs of points that differ in `x`.
fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    assert!(points.iter().all(|(x, y)| x.is_finite() && y.is_finite()), "there is no slope among {points:?}");
    let pairs =
        points.iter().enumerate().flat_map(|(i, left)| points[..i].iter().map(move |right| (left, right)));
    pairs
        .filter(|((x, _), (other, _))| x != other)
        .map(|((x, y), (other_x, other_y))| (y - other_y) / (x - other_x))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slope_needs_two_points_apart() {
        assert_eq!(slope(&[]), None);
        assert_eq!(slope(&[(1.0, 2.0)]), None);
        assert_eq!(slope(&[(1.0, 2.0), (1.0, 5.0)]), None);
        assert_eq!(slope(&[(1.0, 2.0), (3.0, 5.0)]), Some(1.5));
    }

    #[test]
    fn outlier_does_not_dominate_the_slope() {
        // x from Sen's paper; y = 3x + 1 except for one point
        let mut points: Vec<(f64, f64)> =
            [1.0, 2.0, 3.0, 4.0, 10.0, 12.0, 18.0].iter().map(|x| (*x, 3.0 * x + 1.0)).collect();
        points[3].1 = 1e6;
        assert_eq!(slope(&points), Some(3.0));
    }

    #[test]
    fn sens_interval_ends_where_his_ranks_say() {
        // 10 points on a parabola: 45 slopes i + j of integers; the interval excludes 11 of them on each side
        let points: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i), f64::from(i * i))).collect();
        assert_eq!(slope(&points), Some(9.0));
        let interval = slope_interval(&points).expect("enough points");
        assert_eq!((interval.low, interval.high), (6.0, 12.0));
        assert_eq!(slope_interval(&points[..4]), None, "too few");
        let level: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), f64::from(i % 2))).collect();
        assert!(slope_interval(&level).is_some_and(|slope| slope.low <= 0.0 && slope.high >= 0.0));
    }

    #[test]
    #[should_panic(expected = "no slope")]
    fn what_is_not_finite_has_no_slope() {
        let _ = slope(&[(0.0, 1.0), (1.0, f64::INFINITY)]);
    }

    proptest! {
        #[test]
        fn slope_is_the_median_of_all_slopes(
            points in prop::collection::vec((-1000_i64..1000, -100_000_i64..100_000), 0..12),
        ) {
            // exact: fractions of integers, ordered by cross-multiplication
            let mut fractions = Vec::new();
            for (i, left) in points.iter().enumerate() {
                for right in &points[i + 1..] {
                    let (mut rise, mut run) = (right.1 - left.1, right.0 - left.0);
                    if run < 0 {
                        (rise, run) = (-rise, -run);
                    }
                    if run > 0 {
                        fractions.push((rise, run));
                    }
                }
            }
            fractions.sort_by(|(rise, run), (other_rise, other_run)| (rise * other_run).cmp(&(other_rise * run)));
            let floats: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x as f64, *y as f64)).collect();
            let value = |(rise, run): (i64, i64)| rise as f64 / run as f64;
            let middle = fractions.len() / 2;
            let expected = match fractions.len() {
                0 => None,
                n if n % 2 == 1 => Some(value(fractions[middle])),
                _ => Some(value(fractions[middle - 1]).midpoint(value(fractions[middle]))),
            };
            prop_assert_eq!(slope(&floats), expected);
        }
    }
}
