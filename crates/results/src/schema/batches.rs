//! Batches that a writer flushed.

use serde::{Deserialize, Serialize};
use stats::total;

/// Batches that ddsmark flushed. A flush by the driver or the middleware itself, for example of a full packet, is
/// not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batches {
    /// Number of flushes.
    pub flushes: u64,
    /// Number of samples in all batches.
    pub samples: u64,
    /// Mean number of samples per flush.
    pub mean_samples: f64,
    /// Number of samples of the largest batch.
    pub max_samples: u64,
}

impl Batches {
    /// Creates the record from these counts.
    #[must_use]
    pub fn new(flushes: u64, samples: u64, max_samples: u64) -> Self {
        let mean_samples = if flushes == 0 { 0.0 } else { samples as f64 / flushes as f64 };
        Self { flushes, samples, mean_samples, max_samples }
    }

    /// Merges the batches of several writers or runs; `None` without parts.
    #[must_use]
    pub fn sum<'b>(parts: impl Iterator<Item = &'b Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.collect();
        let max = parts.iter().map(|part| part.max_samples).max()?;
        let sum = |of: fn(&Self) -> u64| total(parts.iter().map(|part| of(part)));
        Some(Self::new(sum(|part| part.flushes), sum(|part| part.samples), max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_summed_by_their_samples() {
        let parts = [Batches::new(2, 8, 6), Batches::new(8, 8, 1)];
        let all = Batches::sum(parts.iter()).expect("two");
        assert_eq!(all, Batches { flushes: 10, samples: 16, mean_samples: 1.6, max_samples: 6 });
        assert_eq!(Batches::sum([].iter()), None);
        assert_eq!(Batches::new(0, 0, 0).mean_samples, 0.0);
    }
}
