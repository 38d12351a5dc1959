//! Separation: which recorded fields of the runs correlate with the groups that the runs fall into.
//!
//! Each field is tested separately: numbers by their ranks (Kruskal-Wallis; for two groups this is the two-sided
//! Wilcoxon rank-sum test), words by their frequency in each group (Pearson's chi-squared statistic). The null
//! distribution comes from random permutations of the groups. Ties and few runs need no approximation, and the
//! level is exact. The p-values of the fields are adjusted by Holm.
//!
//! A field is included if it can be informative. Only its values decide that, never the groups.
//!
//! Limits: the result shows correlation, not causation. Runs are assumed to be exchangeable: if groups follow each
//! other in time, everything that drifts correlates with them, including the run number.
//!
//! Sources: W. H. Kruskal and W. A. Wallis, *Use of Ranks in One-Criterion Variance Analysis*, Journal of the
//! American Statistical Association 47, 1952; B. Phipson and G. K. Smyth, *Permutation P-values Should Never Be
//! Zero*, Statistical Applications in Genetics and Molecular Biology 9, 2010; J. Besag and P. Clifford, *Sequential
//! Monte Carlo p-values*, Biometrika 78, 1991.

use std::collections::BTreeMap;

use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};

use crate::{modes::LEAST_RUNS, multiple::holm};

/// Maximum number of permutations.
const DEALS: u32 = 9_999;
/// Number of permutations at least as extreme after which the test stops: the p-value is clearly not small.
const PLAIN: u32 = 200;
/// Minimum number of runs with a value other than the most frequent one: the minimum size of a group.
const LEAST_OTHERS: usize = 3;

/// Field: one value per run, `None` where a run lacks it.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// Ordered values.
    Numbers(Vec<Option<f64>>),
    /// Categorical values.
    Words(Vec<Option<String>>),
}

/// Test result of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// Index of the field.
    pub field: usize,
    /// p-value of "independent of the groups", adjusted by Holm over the included fields.
    pub p_adjusted: f64,
}

/// Result of [`separate`].
#[derive(Clone, Debug, PartialEq)]
pub struct Separation {
    /// Included fields in their order.
    pub tested: Vec<Tested>,
    /// Fields that differ significantly between groups.
    pub separating: Vec<Tested>,
    /// Whether this number of runs can show a difference, given the number of included fields.
    pub enough_runs: bool,
}

/// Tests which fields correlate with the groups. `groups` has one group number per run. `level` is the confidence
/// that no field is reported falsely.
///
/// # Panics
/// Panics if a field does not have one value per run, or a number is NaN.
#[must_use]
pub fn separate(groups: &[usize], fields: &[Field], level: f64, seed: u64) -> Separation {
    let known: Vec<(usize, Vec<usize>, Values)> = fields
        .iter()
        .enumerate()
        .filter_map(|(index, field)| {
            let (groups, values) = known_values(groups, field)?;
            Some((index, groups, values))
        })
        .collect();
    let p: Vec<f64> = known.iter().map(|(_, groups, values)| values.p(groups, seed)).collect();
    let tested: Vec<Tested> = known
        .iter()
        .zip(holm(&p))
        .map(|((field, ..), p_adjusted)| Tested { field: *field, p_adjusted })
        .collect();
    let separating: Vec<Tested> =
        tested.iter().filter(|tested| tested.p_adjusted <= 1.0 - level + 1e-12).copied().collect();
    let could = least_p(groups) * tested.len() as f64 <= 1.0 - level;
    Separation { enough_runs: could || !separating.is_empty(), tested, separating }
}

/// Returns the p-value of the test of Kruskal and Wallis by random permutations: whether the groups differ in location.
pub(crate) fn permuted_kruskal_wallis(groups: &[usize], values: &[f64], seed: u64) -> f64 {
    Values::Ranks(ranks(values).0).p(groups, seed)
}

/// Values of the runs that have the field, in the form that the tests need.
enum Values {
    /// Ranks; tied values have their mean rank.
    Ranks(Vec<f64>),
    /// Index of each run's word.
    Words(Vec<usize>),
}

/// Returns groups and values of the runs that have the field; `None` if the field cannot be informative.
fn known_values(groups: &[usize], field: &Field) -> Option<(Vec<usize>, Values)> {
    let of = |has: &dyn Fn(usize) -> bool| -> Vec<usize> {
        groups.iter().enumerate().filter(|(run, _)| has(*run)).map(|(_, group)| *group).collect()
    };
    let (groups, values, counts) = match field {
        Field::Numbers(numbers) => {
            assert_eq!(numbers.len(), groups.len(), "one value a run");
            let kept: Vec<f64> = numbers.iter().flatten().copied().collect();
            assert!(kept.iter().all(|number| !number.is_nan()), "there is no order among {kept:?}");
            let (ranks, counts) = ranks(&kept);
            (of(&|run| numbers[run].is_some()), Values::Ranks(ranks), counts)
        }
        Field::Words(words) => {
            assert_eq!(words.len(), groups.len(), "one value a run");
            let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
            words.iter().flatten().for_each(|word| *counts.entry(word).or_default() += 1);
            let number = |word: &String| counts.keys().position(|known| *known == word).unwrap_or_default();
            let numbers = words.iter().flatten().map(number).collect();
            (of(&|run| words[run].is_some()), Values::Words(numbers), counts.into_values().collect())
        }
    };
    let n = groups.len();
    let others = n - counts.iter().max().copied().unwrap_or(0);
    // words that are almost all different identify runs, not groups
    let says_something = matches!(values, Values::Ranks(_)) || 2 * counts.len() <= n;
    let several = groups.iter().any(|group| *group != groups[0]);
    (n >= LEAST_RUNS && others >= LEAST_OTHERS && says_something && several).then_some((groups, values))
}

/// Returns the rank of each value, and the number of values at each rank.
fn ranks(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut counts, mut below) = (vec![0.0; values.len()], Vec::new(), 0);
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        for index in tied {
            ranks[*index] = below as f64 + (tied.len() + 1) as f64 / 2.0;
        }
        below += tied.len();
        counts.push(tied.len());
    }
    (ranks, counts)
}

impl Values {
    /// Returns the permutation p-value: the share of permutations, including the actual one, that are at least as
    /// extreme.
    fn p(&self, groups: &[usize], seed: u64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let found = self.statistic(groups);
        let mut dealt = groups.to_vec();
        let mut as_far = 0;
        for deal in 1..=DEALS {
            dealt.shuffle(&mut random);
            as_far += u32::from(self.statistic(&dealt) >= found * (1.0 - 1e-9));
            if as_far == PLAIN {
                return f64::from(PLAIN) / f64::from(deal);
            }
        }
        f64::from(as_far + 1) / f64::from(DEALS + 1)
    }

    /// Returns the test statistic, without terms that are equal for all permutations.
    fn statistic(&self, groups: &[usize]) -> f64 {
        let most = 1 + groups.iter().max().copied().unwrap_or(0);
        let mut sizes = vec![0.0_f64; most];
        groups.iter().for_each(|group| sizes[*group] += 1.0);
        match self {
            Self::Ranks(ranks) => {
                let middle = (ranks.len() + 1) as f64 / 2.0;
                let mut sums = vec![0.0; most];
                groups.iter().zip(ranks).for_each(|(group, rank)| sums[*group] += rank - middle);
                sums.iter().zip(&sizes).map(|(sum, size)| sum * sum / size.max(1.0)).sum()
            }
            Self::Words(words) => {
                let kinds = 1 + words.iter().max().copied().unwrap_or(0);
                let (mut counts, mut totals) = (vec![0.0_f64; most * kinds], vec![0.0_f64; kinds]);
                for (group, word) in groups.iter().zip(words) {
                    counts[group * kinds + word] += 1.0;
                    totals[*word] += 1.0;
                }
                let share = |index: usize| {
                    let count = counts[index];
                    count * count / (sizes[index / kinds].max(1.0) * totals[index % kinds].max(1.0))
                };
                // the sum is 1 without any difference
                (0..counts.len()).map(share).sum::<f64>() - 1.0
            }
        }
    }
}

/// Returns the minimum attainable p-value for these group sizes: two of all assignments.
fn least_p(groups: &[usize]) -> f64 {
    let mut ways = 1.0_f64;
    let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
    for (n, group) in (1..).zip(groups) {
        let size = sizes.entry(*group).or_default();
        *size += 1.0;
        ways = (ways * f64::from(n) / *size).min(1e300);
    }
    (2.0 / ways).clamp(1.0 / f64::from(DEALS + 1), 1.0)
}

#[cfg(test)]
#[path = "separation_tests.rs"]
mod tests;
