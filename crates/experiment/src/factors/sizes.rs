//! Sizes of the samples of a flow whose samples differ: drawn, or recorded.
//!
//! The size of a sample follows from its sequence number and the seed of its flow, or is that of the sample of a trace file with this
//! number. So a writer and its readers know the same sizes without sending them, and a flow has the same sizes in all cells, runs and
//! drivers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{factors::log_normal, syntax::units::MIN_SIZE_BYTES};

/// Number of sizes, all equally frequent, that stand for a log-normal distribution: its quantiles 0.5/1024, 1.5/1024 and so on.
/// The largest one is the 99.95 % quantile.
const LEVELS: u32 = 1_024;
/// Maximum number of values that a description lists.
const LISTED: usize = 3;

/// Sizes of the samples of a flow, and the seed that they are drawn with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// Distribution.
    pub distribution: SizeDistribution,
    /// Seed of the flow.
    pub seed: u32,
}

/// Distribution of the sizes of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SizeDistribution {
    /// Independent draws of these values.
    Values {
        /// Sizes in bytes.
        values: Vec<u64>,
        /// Relative frequency of each value.
        weights: Vec<u32>,
    },
    /// Independent draws of a log-normal distribution, at least 16 bytes and at most its 99.95 % quantile.
    LogNormal {
        /// Median in bytes.
        median_bytes: u64,
        /// 99 % quantile in bytes.
        p99_bytes: u64,
    },
}

impl Sizes {
    /// Returns the sizes of the writer with this index among those of the flow: each draws its own.
    pub(crate) fn of_writer(&self, index: usize) -> Self {
        Self { seed: self.seed.wrapping_add(index as u32), ..self.clone() }
    }
}

impl SizeDistribution {
    /// Describes the sizes, each formatted by `bytes`.
    pub(crate) fn text(&self, bytes: impl Fn(u64) -> String) -> String {
        match self {
            Self::LogNormal { median_bytes, p99_bytes } => {
                format!("{} (p99 {})", bytes(*median_bytes), bytes(*p99_bytes))
            }
            Self::Values { values, .. } if values.len() > LISTED => {
                let bound = |bound: Option<&u64>| bound.copied().unwrap_or(0);
                range_text(bound(values.iter().min()), bound(values.iter().max()), bytes)
            }
            Self::Values { values, .. } => {
                let texts: Vec<String> = values.iter().map(|value| bytes(*value)).collect();
                match texts.split_last() {
                    Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    _ => texts.concat(),
                }
            }
        }
    }

    /// Returns the largest size in bytes.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.table().largest_bytes()
    }

    /// Returns the mean size in whole bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        self.table().mean_bytes().round() as u64
    }

    /// Formats the sizes in bytes and how often each is drawn.
    pub(crate) fn exact_text(&self) -> String {
        match self {
            Self::Values { values, weights } => {
                let pairs = values.iter().zip(weights).map(|(value, weight)| format!("{value} x {weight}"));
                pairs.collect::<Vec<_>>().join(", ")
            }
            Self::LogNormal { .. } => self.to_string(),
        }
    }

    fn table(&self) -> SizeTable {
        SizeTable::new(&Sizes { distribution: self.clone(), seed: 0 }, u64::MAX)
    }
}

impl fmt::Display for SizeDistribution {
    /// Formats the sizes in bytes, without a unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(|bytes| bytes.to_string()))
    }
}

/// Describes sizes by the smallest and the largest one, each formatted by `bytes`.
pub(crate) fn range_text(smallest: u64, largest: u64, bytes: impl Fn(u64) -> String) -> String {
    if smallest == largest {
        return bytes(smallest);
    }
    format!("{} to {}", bytes(smallest), bytes(largest))
}

/// Size of each sample of a flow. Looking it up does not allocate.
#[derive(Clone, Debug)]
pub struct SizeTable {
    /// Seed of the draws; `None` for sizes in the order of the samples.
    seed: Option<u64>,
    /// Sizes in bytes; ascending for a log-normal distribution.
    sizes: Box<[u64]>,
    /// Sum of the weights up to each size. Empty if all sizes are equally frequent.
    ends: Box<[u64]>,
    /// Sum of all weights.
    total: u64,
}

impl SizeTable {
    /// Creates the table of sizes in the order of the samples, which begins again after the last one.
    #[must_use]
    pub(crate) fn recorded(sizes: &[u64], most_bytes: u64) -> Self {
        let most = most_bytes.max(MIN_SIZE_BYTES);
        let limited = sizes.iter().map(|bytes| (*bytes).clamp(MIN_SIZE_BYTES, most));
        Self::filled(None, limited.collect(), Vec::new())
    }

    /// Creates the table of drawn sizes, with all sizes limited to 16 bytes and more, and to `most_bytes`.
    #[must_use]
    pub fn new(Sizes { distribution, seed }: &Sizes, most_bytes: u64) -> Self {
        let most = most_bytes.max(MIN_SIZE_BYTES);
        let limited = |bytes: u64| bytes.clamp(MIN_SIZE_BYTES, most);
        let seed = mixed(u64::from(*seed));
        let (sizes, ends): (Vec<u64>, Vec<u64>) = match distribution {
            SizeDistribution::Values { values, weights } => {
                let mut end = 0;
                let pairs = values.iter().zip(weights).filter(|(_, weight)| **weight > 0);
                pairs
                    .map(|(value, weight)| {
                        end += u64::from(*weight);
                        (limited(*value), end)
                    })
                    .unzip()
            }
            SizeDistribution::LogNormal { median_bytes, p99_bytes } => {
                let (median, p99) = (*median_bytes.max(&1) as f64, *p99_bytes.max(&1) as f64);
                let size = |level: u32| {
                    let p = (f64::from(level) + 0.5) / f64::from(LEVELS);
                    limited(log_normal::quantile(median, p99, p).round() as u64)
                };
                ((0..LEVELS).map(size).collect(), Vec::new())
            }
        };
        Self::filled(Some(seed), sizes, ends)
    }

    /// Creates a table that has a size at least.
    fn filled(seed: Option<u64>, sizes: Vec<u64>, ends: Vec<u64>) -> Self {
        let sizes = if sizes.is_empty() { vec![MIN_SIZE_BYTES] } else { sizes };
        let total = ends.last().copied().unwrap_or(sizes.len() as u64);
        Self { seed, sizes: sizes.into(), ends: ends.into(), total }
    }

    /// Returns the size of the sample with these low 32 bits of its sequence number, in bytes.
    #[inline]
    #[must_use]
    pub fn at(&self, sequence: u32) -> u64 {
        let Some(seed) = self.seed else { return self.sizes[sequence as usize % self.sizes.len()] };
        let random = mixed(seed.wrapping_add(u64::from(sequence)));
        let drawn = ((u128::from(random) * u128::from(self.total)) >> 64) as u64;
        let index = match self.ends.is_empty() {
            true => drawn as usize,
            false => self.ends.partition_point(|end| *end <= drawn),
        };
        self.sizes[index]
    }

    /// Returns the sum of the sizes of these samples, by sequence number, in bytes.
    #[must_use]
    pub fn sum(&self, samples: std::ops::Range<u64>) -> u64 {
        samples.fold(0, |sum, sequence| sum.saturating_add(self.at(sequence as u32)))
    }

    /// Returns the largest size in bytes.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// Returns the smallest size in bytes.
    #[must_use]
    pub fn smallest_bytes(&self) -> u64 {
        self.sizes.iter().copied().min().unwrap_or(0)
    }

    /// Returns the mean size in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        let mut before = 0;
        let weighted = self.sizes.iter().enumerate().map(|(index, size)| {
            let end = self.ends.get(index).copied().unwrap_or(before + 1);
            let weight = end - before;
            before = end;
            *size as f64 * weight as f64
        });
        weighted.sum::<f64>() / self.total as f64
    }
}

/// Returns the output of SplitMix64 for this state (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
const fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(distribution: SizeDistribution, seed: u32) -> SizeTable {
        SizeTable::new(&Sizes { distribution, seed }, u64::MAX)
    }

    fn mix(values: &[u64], weights: &[u32]) -> SizeDistribution {
        SizeDistribution::Values { values: values.to_vec(), weights: weights.to_vec() }
    }

    const IMAGE: SizeDistribution = SizeDistribution::LogNormal { median_bytes: 200_000, p99_bytes: 450_000 };

    /// Returns the statistic of a chi-square test.
    fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
        let all = counts.iter().sum::<u64>() as f64;
        let term = |(count, share): (&u64, &f64)| (*count as f64 - all * share).powi(2) / (all * share);
        counts.iter().zip(shares).map(term).sum()
    }

    #[test]
    fn values_are_drawn_by_their_weights() {
        for seed in 0..20 {
            let table = table(mix(&[64, 1_024, 256], &[9, 1, 2]), seed);
            let mut counts = [0; 3];
            for sequence in 0..120_000 {
                counts[[64, 1_024, 256]
                    .iter()
                    .position(|size| *size == table.at(sequence))
                    .expect("a value")] += 1;
            }
            // 2 degrees of freedom: above 18.4 with a probability of 0.0001.
            let statistic = chi_square(&counts, &[9.0 / 12.0, 1.0 / 12.0, 2.0 / 12.0]);
            assert!(statistic < 18.4, "seed {seed}: {statistic} {counts:?}");
        }
    }

    #[test]
    fn log_normal_sizes_have_the_deciles_of_the_distribution() {
        for seed in 0..20 {
            let table = table(IMAGE, seed);
            let bounds: Vec<f64> =
                (1..10).map(|tenth| log_normal::quantile(2e5, 4.5e5, f64::from(tenth) / 10.0)).collect();
            let (mut counts, mut above_p99) = ([0; 10], 0_u32);
            for sequence in 0..100_000 {
                let size = table.at(sequence);
                counts[bounds.partition_point(|bound| *bound <= size as f64)] += 1;
                above_p99 += u32::from(size > 450_000);
            }
            // 9 degrees of freedom: above 33.7 with a probability of 0.0001. A tenth of 1024 levels is off by up to half of one.
            let statistic = chi_square(&counts, &[0.1; 10]);
            assert!(statistic < 40.0, "seed {seed}: {statistic} {counts:?}");
            // 977 expected (10 of 1024 levels); sd 31
            assert!((850..1_100).contains(&above_p99), "seed {seed}: {above_p99}");
        }
    }

    #[test]
    fn sizes_depend_on_the_seed_and_the_number_only() {
        let of = |seed| {
            let table = table(IMAGE, seed);
            (0..1_000).map(|sequence| table.at(sequence)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        // The last one first, from a table of its own: no size depends on those before it.
        let backwards = table(IMAGE, 1);
        assert!((0..1_000).rev().map(|sequence| backwards.at(sequence)).eq(of(1).into_iter().rev()));
        assert_ne!(of(1), of(2));
        // The same bits on each host: a writer and a reader on different ones expect the same sizes.
        assert_eq!(of(7)[..6], [125_419, 223_395, 460_966, 282_211, 240_044, 157_841]);
        let neighbours = of(1).windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((450..550).contains(&neighbours), "{neighbours}");
    }

    #[test]
    fn bounds_mean_and_sums_are_those_of_the_drawn_sizes() {
        let small = table(mix(&[64, 1_024], &[9, 1]), 3);
        assert_eq!((small.smallest_bytes(), small.largest_bytes()), (64, 1_024));
        assert!((small.mean_bytes() - 160.0).abs() < 1e-9);
        let first: u64 = (0..100).map(|sequence| small.at(sequence)).sum();
        assert_eq!((small.sum(0..100), small.sum(100..100)), (first, 0));
        let image = table(IMAGE, 3);
        assert_eq!(image.largest_bytes(), IMAGE.largest_bytes());
        assert!((600_000..680_000).contains(&image.largest_bytes()), "{}", image.largest_bytes());
        // exp(s^2 / 2) of the median, with s = 0.3486
        assert!((image.mean_bytes() / 200_000.0 - 1.062_6).abs() < 0.001, "{}", image.mean_bytes());
        let drawn = image.sum(0..100_000) as f64 / 1e5;
        assert!((drawn / image.mean_bytes() - 1.0).abs() < 0.01, "{drawn}");
    }

    #[test]
    fn sizes_are_within_the_bounds_of_a_stream_whatever_a_message_says() {
        let tiny = SizeDistribution::LogNormal { median_bytes: 20, p99_bytes: 200 };
        assert_eq!(table(tiny, 0).smallest_bytes(), MIN_SIZE_BYTES);
        for distribution in [
            mix(&[], &[]),
            mix(&[5], &[]),
            mix(&[0, u64::MAX], &[0, u32::MAX]),
            SizeDistribution::LogNormal { median_bytes: 0, p99_bytes: u64::MAX },
        ] {
            let table = SizeTable::new(&Sizes { distribution, seed: u32::MAX }, 100);
            for sequence in (0..1_000).chain([u32::MAX]) {
                assert!((MIN_SIZE_BYTES..=100).contains(&table.at(sequence)), "{table:?}");
            }
        }
    }

    #[test]
    fn recorded_sizes_are_those_of_the_samples_in_their_order() {
        let table = SizeTable::recorded(&[64, 8, 1_000, 64], 500);
        let sizes: Vec<u64> = (0..6).map(|sequence| table.at(sequence)).collect();
        assert_eq!(sizes, [64, 16, 500, 64, 64, 16], "limited, and from the start again");
        assert_eq!((table.sum(0..4), table.smallest_bytes(), table.largest_bytes()), (644, 16, 500));
        assert!((table.mean_bytes() - 161.0).abs() < 1e-9);
        assert_eq!(SizeTable::recorded(&[], 500).at(7), MIN_SIZE_BYTES);
    }

    #[test]
    fn sizes_are_described_in_few_words() {
        let texts = [
            mix(&[64, 1_024], &[9, 1]),
            mix(&[64, 100, 256], &[1; 3]),
            mix(&[64, 16, 256, 100], &[1; 4]),
            IMAGE,
        ]
        .map(|distribution| distribution.to_string());
        assert_eq!(texts, ["64 or 1024", "64, 100 or 256", "16 to 256", "200000 (p99 450000)"]);
    }
}
