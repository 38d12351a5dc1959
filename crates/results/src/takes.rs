//! How many samples a reader's application was given at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::total;

/// How many samples the reader's application was given at a time: what one call of the driver gave, or a group of several calls
/// where samples are grouped. Of a waitset, about the samples of each time that its thread woke up for some.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Takes {
    /// Times that it was given new samples.
    pub groups: u64,
    /// New samples.
    pub samples: u64,
    /// Samples at a time, on average.
    pub mean_samples: f64,
    /// The most at a time.
    pub max_samples: u64,
    /// Calls of the driver for these, those that gave nothing included.
    pub calls: u64,
}

impl Takes {
    /// Of these counts.
    #[must_use]
    pub fn new(groups: u64, samples: u64, max_samples: u64, calls: u64) -> Self {
        let mean_samples = if groups == 0 { 0.0 } else { samples as f64 / groups as f64 };
        Self { groups, samples, mean_samples, max_samples, calls }
    }

    /// Of several readers or runs together; none of none.
    #[must_use]
    pub fn sum<'t>(parts: impl Iterator<Item = &'t Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.collect();
        let max = parts.iter().map(|part| part.max_samples).max()?;
        let sum = |of: fn(&Self) -> u64| total(parts.iter().map(|part| of(part)));
        Some(Self::new(sum(|part| part.groups), sum(|part| part.samples), max, sum(|part| part.calls)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_summed_by_their_samples() {
        let parts = [Takes::new(2, 8, 6, 4), Takes::new(8, 8, 1, 9)];
        let all = Takes::sum(parts.iter()).expect("two");
        assert_eq!(all, Takes { groups: 10, samples: 16, mean_samples: 1.6, max_samples: 6, calls: 13 });
        assert_eq!(Takes::sum([].iter()), None);
        assert_eq!(Takes::new(0, 0, 0, 3).mean_samples, 0.0);
    }
}
