//! Number of samples per take of a reader's application.

use serde::{Deserialize, Serialize};
use stats::total;

/// Takes: each time that the reader's application receives samples. A take is one call of the driver, or a group of
/// several calls if samples are grouped. With a waitset, it is about the samples per wake-up of its thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TakeStats {
    /// Number of takes with new samples.
    pub groups: u64,
    /// Number of new samples.
    pub samples: u64,
    /// Mean number of new samples per take.
    pub mean_samples: f64,
    /// Maximum number of new samples in a take.
    pub max_samples: u64,
    /// Number of calls of the driver, including those that returned nothing.
    pub calls: u64,
}

impl TakeStats {
    /// Creates the record from these counts.
    #[must_use]
    pub fn new(groups: u64, samples: u64, max_samples: u64, calls: u64) -> Self {
        let mean_samples = if groups == 0 { 0.0 } else { samples as f64 / groups as f64 };
        Self { groups, samples, mean_samples, max_samples, calls }
    }

    /// Merges the takes of several readers or runs; `None` without parts.
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
        let parts = [TakeStats::new(2, 8, 6, 4), TakeStats::new(8, 8, 1, 9)];
        let all = TakeStats::sum(parts.iter()).expect("two");
        assert_eq!(all, TakeStats { groups: 10, samples: 16, mean_samples: 1.6, max_samples: 6, calls: 13 });
        assert_eq!(TakeStats::sum([].iter()), None);
        assert_eq!(TakeStats::new(0, 0, 0, 3).mean_samples, 0.0);
    }
}
