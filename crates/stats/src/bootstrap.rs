//! Bias-corrected and accelerated (BCa) bootstrap over blocks: a cross-check of the Wilcoxon interval.
//!
//! The values are those of blocks, drawn with replacement; never samples of a run. Unlike the signed-rank interval,
//! this one does not assume symmetry. Its coverage is approximate, and too low with few values, so no claim rests
//! on it. A large difference between the two intervals indicates skewed or multimodal values.
//!
//! Source: B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 14 (equations 14.9 to
//! 14.15).

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use crate::{Interval, normal};

/// Minimum number of values. Fewer values have too few distinct resamples.
const LEAST: usize = 5;

/// Returns the bootstrap interval of the statistic `estimate`. `None` with fewer than 5 values, with 0 resamples,
/// or if all resamples are on one side of the estimate.
///
/// # Panics
/// Panics if `level` is not between 0 and 1, both exclusive.
#[must_use]
pub fn bca(
    values: &[f64],
    estimate: impl Fn(&[f64]) -> f64,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    assert!(level > 0.0 && level < 1.0, "{level} is no level of confidence");
    if values.len() < LEAST || resamples == 0 {
        return None;
    }
    let found = estimate(values);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut resample = vec![0.0; values.len()];
    let mut estimates: Vec<f64> = (0..resamples)
        .map(|_| {
            resample.fill_with(|| values[random.random_range(0..values.len())]);
            estimate(&resample)
        })
        .collect();
    estimates.sort_unstable_by(f64::total_cmp);
    if estimates[0] == estimates[resamples - 1] {
        return Some(Interval { low: estimates[0], high: estimates[0], level });
    }
    let acceleration = acceleration(values, &estimate);
    // ties with the estimate count half, so that a discrete distribution does not appear biased
    let below = estimates.partition_point(|value| *value < found);
    let not_above = estimates.partition_point(|value| *value <= found);
    let bias = normal::quantile((below + not_above) as f64 / (2 * resamples) as f64);
    if !bias.is_finite() {
        return None;
    }
    let end = |share: f64| {
        let z = bias + normal::quantile(share);
        let share = normal::cdf(bias + z / (1.0 - acceleration * z));
        let place = (share * (resamples + 1) as f64) as usize;
        estimates[place.clamp(1, resamples) - 1]
    };
    let tail = (1.0 - level) / 2.0;
    Some(Interval { low: end(tail), high: end(1.0 - tail), level })
}

/// Returns the acceleration: one sixth of the skewness of the jackknife estimates.
fn acceleration(values: &[f64], estimate: &impl Fn(&[f64]) -> f64) -> f64 {
    let without = |i: usize| {
        let rest: Vec<f64> = values[..i].iter().chain(&values[i + 1..]).copied().collect();
        estimate(&rest)
    };
    let all: Vec<f64> = (0..values.len()).map(without).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let squares: f64 = all.iter().map(|value| (mean - value).powi(2)).sum();
    let cubes: f64 = all.iter().map(|value| (mean - value).powi(3)).sum();
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{golden, hodges_lehmann};

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn scipy_finds_the_same_but_for_its_random_numbers() {
        for case in golden::cases("bca") {
            let values = case.list("values");
            let ours = bca(&values, mean, 0.95, 20_000, 1).expect("values");
            // 2 % of the width: about four standard errors of an interval bound from 20,000 resamples
            let slack = 0.02 * (case.number("high") - case.number("low"));
            assert!((ours.low - case.number("low")).abs() < slack, "{ours:?}");
            assert!((ours.high - case.number("high")).abs() < slack, "{ours:?}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let of = |seed| bca(&values, |resample| hodges_lehmann(resample).expect("values"), 0.95, 200, seed);
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }

    #[test]
    fn too_little_to_draw_from_has_no_interval() {
        assert_eq!(bca(&[1.0, 2.0, 3.0, 4.0], mean, 0.95, 1000, 1), None);
        assert_eq!(bca(&[1.0, 2.0, 3.0, 4.0, 5.0], mean, 0.95, 0, 1), None);
        let same = bca(&[2.5; 6], mean, 0.95, 100, 1);
        assert_eq!(same, Some(Interval { low: 2.5, high: 2.5, level: 0.95 }));
    }
}
