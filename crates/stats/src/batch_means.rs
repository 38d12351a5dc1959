//! Effective sample size of an autocorrelated series.
//!
//! Successive samples of a series are correlated, so the mean of `n` samples is less precise than `n` suggests. The
//! means of batches much longer than the autocorrelation time are nearly independent. The variance of the batch
//! means gives the effective sample size.
//!
//! Source: A. M. Law, *Simulation Modeling and Analysis*, 5th edition, 2015, section 9.5.3 (batch means). A batch
//! is at least ten times as long as the autocorrelation takes to fall below 1/e. Limits: with 10 batches, the
//! estimate is between half of and three times the true number in 19 of 20 cases. A drift appears as long
//! autocorrelation: then the result is `None`.

/// Minimum number of batches. With fewer, the estimated variance of the batch means is too imprecise.
const LEAST_BATCHES: usize = 10;
/// Minimum batch length, in autocorrelation times.
const BATCH: usize = 10;

/// Effective sample size, with the autocorrelation time and the batch length that it was computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveN {
    /// Number of independent samples whose mean would be as precise; at most the number of samples.
    pub n: f64,
    /// Autocorrelation time in samples: the smallest lag at which the autocorrelation is below 1/e.
    pub memory: usize,
    /// Batch length in samples.
    pub batch: usize,
}

/// Returns the effective sample size by batch means. `None` if the series is constant, or too short for 10 batches
/// of ten times the autocorrelation time.
///
/// # Panics
/// Panics if a value is not finite.
#[must_use]
pub fn effective_n(values: &[f64]) -> Option<EffectiveN> {
    assert!(values.iter().all(|value| value.is_finite()), "there is no mean of what is not finite");
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if squares == 0.0 || n < LEAST_BATCHES * BATCH {
        return None;
    }
    let longest = n / (LEAST_BATCHES * BATCH);
    let memory = (1..=longest).find(|lag| {
        let products: f64 = values.iter().zip(&values[*lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum();
        products / squares < 1.0 / std::f64::consts::E
    })?;
    let batch = BATCH * memory;
    let means: Vec<f64> =
        values.chunks_exact(batch).map(|part| part.iter().sum::<f64>() / batch as f64).collect();
    let centre = means.iter().sum::<f64>() / means.len() as f64;
    let scatter = means.iter().map(|mean| (mean - centre).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
    let variance = squares / (n - 1) as f64;
    // the variance of the overall mean is that of one batch mean divided by the number of batches
    let worth = variance / (scatter * batch as f64 / n as f64);
    Some(EffectiveN { n: worth.min(n as f64), memory, batch })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

    use super::*;

    /// First-order autoregressive series: each value is `keeps` times the previous one plus normal noise.
    fn series(n: usize, keeps: f64, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut last = 0.0;
        let mut next = || {
            last = keeps * last + crate::normal::quantile(random.random::<f64>().max(1e-300));
            last
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_series_with_memory_is_worth_what_theory_says() {
        for (keeps, memory) in [(0.0, 1), (0.5, 2), (0.9, 10)] {
            // effective sample size of an AR(1) series: n (1 - r) / (1 + r)
            let n = 100_000;
            let truth = n as f64 * (1.0 - keeps) / (1.0 + keeps);
            let found = effective_n(&series(n, keeps, 1)).expect("long enough");
            assert!((0.8..1.25).contains(&(found.n / truth)), "{found:?}, {truth}");
            assert!(found.memory.abs_diff(memory) <= 1, "{found:?}");
        }
    }

    #[test]
    fn what_is_too_short_for_its_memory_has_no_number() {
        assert_eq!(effective_n(&[]), None);
        assert_eq!(effective_n(&[1.0; 1000]), None);
        assert_eq!(effective_n(&series(99, 0.0, 2)), None);
        assert_eq!(effective_n(&series(500, 0.99, 3)), None);
        let drift: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(effective_n(&drift), None);
    }
}
