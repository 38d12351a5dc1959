//! Which fields that were recorded of runs go with the groups that the runs fall into.
//!
//! Each field is tested by itself: numbers by their ranks (Kruskal and Wallis; for two groups that is Wilcoxon's rank sum,
//! two-sided), words by how often each stands in each group (Pearson's statistic). What the statistic comes to where field and
//! groups have nothing to do with each other is found by dealing the groups to the runs at random, so ties and few runs need no
//! approximation, and the level holds. Fields are adjusted by Holm.
//!
//! A field takes part if it could tell anything: by its values alone, never by the groups.
//!
//! Limits: it shows what goes together, not what caused what. Runs count as exchangeable: where groups follow each other in
//! time, everything that drifts goes with them, the number of the run too.
//!
//! Sources: W. H. Kruskal and W. A. Wallis, *Use of Ranks in One-Criterion Variance Analysis*, Journal of the American
//! Statistical Association 47, 1952; B. Phipson and G. K. Smyth, *Permutation P-values Should Never Be Zero*, Statistical
//! Applications in Genetics and Molecular Biology 9, 2010; J. Besag and P. Clifford, *Sequential Monte Carlo p-values*,
//! Biometrika 78, 1991.

use std::collections::BTreeMap;

use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};

use crate::{LEAST_RUNS, holm};

/// How often groups are dealt to the runs.
const DEALS: u32 = 9_999;
/// After so many that are as far apart no more are needed: the p-value is plainly not small.
const PLAIN: u32 = 200;
/// So many runs must have another value than the most frequent one: as many as the smallest group has.
const LEAST_OTHERS: usize = 3;

/// A field: its value for each run, none where it has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// Values that have an order.
    Numbers(Vec<Option<f64>>),
    /// Values that are the same or not.
    Words(Vec<Option<String>>),
}

/// A field that took part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// Its place among the fields.
    pub field: usize,
    /// p-value of "has nothing to do with the groups", adjusted by Holm over the fields that took part.
    pub p_holm: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Separation {
    /// The fields that took part, in their order.
    pub tested: Vec<Tested>,
    /// Those in which groups differ.
    pub separating: Vec<Tested>,
    /// Whether so many runs can show anything where so many fields take part.
    pub enough_runs: bool,
}

/// Which fields go with the groups: `groups` has one number a run, `level` is the confidence that no field is named falsely.
///
/// # Panics
/// If a field has not one value a run, or a number that is none.
#[must_use]
pub fn separate(groups: &[usize], fields: &[Field], level: f64, seed: u64) -> Separation {
    let known: Vec<(usize, Vec<usize>, Values)> = fields
        .iter()
        .enumerate()
        .filter_map(|(place, field)| {
            let (groups, values) = known(groups, field)?;
            Some((place, groups, values))
        })
        .collect();
    let p: Vec<f64> = known.iter().map(|(_, groups, values)| values.p(groups, seed)).collect();
    let tested: Vec<Tested> =
        known.iter().zip(holm(&p)).map(|((field, ..), p_holm)| Tested { field: *field, p_holm }).collect();
    let separating: Vec<Tested> =
        tested.iter().filter(|tested| tested.p_holm <= 1.0 - level + 1e-12).copied().collect();
    let could = least_p(groups) * tested.len() as f64 <= 1.0 - level;
    Separation { enough_runs: could || !separating.is_empty(), tested, separating }
}

/// Values of the runs that have one, so that they can be tested.
enum Values {
    /// Ranks; of equal values their mean.
    Ranks(Vec<f64>),
    /// The number of each run's word.
    Words(Vec<usize>),
}

/// Groups and values of the runs that have the field; none where it can tell nothing.
fn known(groups: &[usize], field: &Field) -> Option<(Vec<usize>, Values)> {
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
    // words that are almost all different name runs, not what they have in common
    let says_something = matches!(values, Values::Ranks(_)) || 2 * counts.len() <= n;
    let several = groups.iter().any(|group| *group != groups[0]);
    (n >= LEAST_RUNS && others >= LEAST_OTHERS && says_something && several).then_some((groups, values))
}

/// The rank of each value, and how many values share each rank.
fn ranks(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut counts, mut below) = (vec![0.0; values.len()], Vec::new(), 0);
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        for place in tied {
            ranks[*place] = below as f64 + (tied.len() + 1) as f64 / 2.0;
        }
        below += tied.len();
        counts.push(tied.len());
    }
    (ranks, counts)
}

impl Values {
    /// In how many of all deals the groups lie as far apart as they do, the true one among them.
    fn p(&self, groups: &[usize], seed: u64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let found = self.apart(groups);
        let mut dealt = groups.to_vec();
        let mut as_far = 0;
        for deal in 1..=DEALS {
            dealt.shuffle(&mut random);
            as_far += u32::from(self.apart(&dealt) >= found * (1.0 - 1e-9));
            if as_far == PLAIN {
                return f64::from(PLAIN) / f64::from(deal);
            }
        }
        f64::from(as_far + 1) / f64::from(DEALS + 1)
    }

    /// How far groups lie apart. What all deals have in common is left out.
    fn apart(&self, groups: &[usize]) -> f64 {
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
                let share = |place: usize| {
                    let count = counts[place];
                    count * count / (sizes[place / kinds].max(1.0) * totals[place % kinds].max(1.0))
                };
                // 1 where nothing differs
                (0..counts.len()).map(share).sum::<f64>() - 1.0
            }
        }
    }
}

/// The least p-value that so many runs in each group can come to: two of all ways to deal the groups.
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
