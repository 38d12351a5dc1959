//! Additive model of two factors on a logarithmic scale: the effect of a setting, over several levels of another factor, such as
//! the effect of a QoS policy over several base configurations.
//!
//! Each block gives, at each level, the logarithm of the ratio of the setting to the default of that level. The model says that these log
//! ratios have one centre, whatever the level. Its estimate, interval and test are those of [`Ranks::of_blocks`] over all of them. The test for an
//! interaction is that of Kruskal and Wallis between the levels, with random permutations: it asks whether the centres differ.
//!
//! Both are for exploration: p-values of all settings are adjusted for the false discovery rate, each kind of hypothesis as one
//! list. The test of an effect keeps its level where no level has one; with an interaction, the estimate is a middle over the levels.
//!
//! Assumptions: log ratios of different blocks and levels are independent and symmetric; without an interaction, they scatter alike at all
//! levels.
//!
//! Sources: those of [`Ranks::of_blocks`] and of [`separate`](crate::separate); J. W. Tukey, *One Degree of Freedom for Non-Additivity*, Biometrics
//! 5, 1949, for the question.

use crate::{
    multiple::benjamini_hochberg,
    ranks::{Interval, Ranks},
    separation::permuted_kruskal_wallis,
    spread::median,
};

/// Effect of a setting in the additive model.
#[derive(Clone, Debug, PartialEq)]
pub struct AdditiveEffect {
    /// Number of log ratios over all levels.
    pub ratios: usize,
    /// Hodges-Lehmann estimate as a relative change (0.06 for 6 %).
    pub estimate: f64,
    /// Interval of this setting alone, as relative changes. `None` with too few log ratios.
    pub interval: Option<Interval>,
    /// p-value of "no effect at any level".
    pub p: f64,
    /// `p` adjusted for the false discovery rate over all settings.
    pub p_exploratory: f64,
    /// p-value of "the same effect at all levels"; `None` with fewer than two levels, or too few log ratios for a small one.
    pub p_interaction: Option<f64>,
    /// `p_interaction` adjusted for the false discovery rate over all settings that have one.
    pub p_interaction_exploratory: Option<f64>,
    /// Median at each level, as a relative change; `None` for a level without log ratios.
    pub levels: Vec<Option<f64>>,
}

/// Minimum number of log ratios of a level that is included in the test for an interaction.
const LEAST_OF_LEVEL: usize = 2;
/// Minimum number of log ratios for the test for an interaction: with fewer, few permutations differ.
const LEAST_RATIOS: usize = 6;

/// Fits the additive model to each setting, and adjusts the p-values over all of them. A setting has its log ratios at each level; the
/// result is `None` for one without any.
#[must_use]
pub fn additive_effects(settings: &[Vec<Vec<f64>>], level: f64, seed: u64) -> Vec<Option<AdditiveEffect>> {
    let mut effects: Vec<Option<AdditiveEffect>> =
        settings.iter().map(|levels| effect(levels, level, seed)).collect();
    let found = || effects.iter().flatten();
    let p = benjamini_hochberg(&found().map(|effect| effect.p).collect::<Vec<_>>());
    let interactions =
        benjamini_hochberg(&found().filter_map(|effect| effect.p_interaction).collect::<Vec<_>>());
    let (mut p, mut interactions) = (p.into_iter(), interactions.into_iter());
    for effect in effects.iter_mut().flatten() {
        effect.p_exploratory = p.next().unwrap_or(1.0);
        effect.p_interaction_exploratory = effect.p_interaction.and_then(|_| interactions.next());
    }
    effects
}

fn effect(levels: &[Vec<f64>], level: f64, seed: u64) -> Option<AdditiveEffect> {
    let all: Vec<f64> = levels.iter().flatten().copied().collect();
    let ranks = Ranks::of_blocks(&all)?;
    let p = ranks.p_differs(0.0);
    Some(AdditiveEffect {
        ratios: all.len(),
        estimate: ranks.estimate().exp_m1(),
        interval: ranks.interval(level).map(|interval| interval.map(f64::exp_m1)),
        p,
        p_exploratory: p,
        p_interaction: interaction(levels, seed),
        p_interaction_exploratory: None,
        levels: levels.iter().map(|ratios| median(ratios).map(f64::exp_m1)).collect(),
    })
}

fn interaction(levels: &[Vec<f64>], seed: u64) -> Option<f64> {
    let with_enough: Vec<&Vec<f64>> = levels.iter().filter(|ratios| ratios.len() >= LEAST_OF_LEVEL).collect();
    let groups: Vec<usize> =
        with_enough.iter().enumerate().flat_map(|(level, ratios)| vec![level; ratios.len()]).collect();
    let values: Vec<f64> = with_enough.into_iter().flatten().copied().collect();
    let several = groups.last().is_some_and(|last| *last > 0);
    (several && values.len() >= LEAST_RATIOS).then(|| permuted_kruskal_wallis(&groups, &values, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the exact p-value of the test of Kruskal and Wallis: the share of all assignments of the ranks to the groups that are at
    /// least as extreme.
    fn enumerated(sizes: &[usize], values: &[f64]) -> f64 {
        fn assign(left: &mut Vec<usize>, groups: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize])) {
            if left.iter().all(|left| *left == 0) {
                visit(groups);
            }
            for group in 0..left.len() {
                if left[group] > 0 {
                    left[group] -= 1;
                    groups.push(group);
                    assign(left, groups, visit);
                    groups.pop();
                    left[group] += 1;
                }
            }
        }
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let tied = values.iter().filter(|other| *other == value).count() as f64;
            below + (tied + 1.0) / 2.0
        };
        let ranks: Vec<f64> = values.iter().map(rank).collect();
        let statistic = |groups: &[usize]| -> f64 {
            (0..sizes.len())
                .map(|group| {
                    let of = groups.iter().zip(&ranks).filter(|(of, _)| **of == group);
                    let sum: f64 = of.map(|(_, rank)| rank).sum();
                    sum * sum / sizes[group] as f64
                })
                .sum()
        };
        let actual: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(group, size)| vec![group; *size]).collect();
        let found = statistic(&actual);
        let (mut all, mut extreme) = (0_u32, 0_u32);
        assign(&mut sizes.to_vec(), &mut Vec::new(), &mut |groups| {
            all += 1;
            extreme += u32::from(statistic(groups) >= found - 1e-9);
        });
        f64::from(extreme) / f64::from(all)
    }

    #[test]
    fn interaction_agrees_with_all_assignments() {
        let cases: [Vec<Vec<f64>>; 4] = [
            vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]],
            vec![vec![0.1, 0.9, 0.4], vec![0.2, 0.8, 0.3], vec![0.5, 0.7]],
            vec![vec![1.0, 1.0, 2.0, 3.0], vec![2.0, 3.0, 3.0, 4.0]],
            vec![vec![-3.0, -2.0, -1.0], vec![1.0, 2.0, 3.0], vec![0.0, 0.5, 4.0]],
        ];
        for levels in cases {
            let sizes: Vec<usize> = levels.iter().map(Vec::len).collect();
            let exact = enumerated(&sizes, &levels.concat());
            let found = interaction(&levels, 7).expect("several levels");
            // 200 of the permutations, or 9,999 of them, decide
            let error = 4.0 * (exact * (1.0 - exact) / 3000.0).sqrt() + 0.01 * exact + 0.002;
            assert!((found - exact).abs() <= error, "{levels:?}: {found}, exactly {exact}");
        }
    }

    #[test]
    fn effect_is_that_of_all_log_ratios_together() {
        let levels = vec![vec![0.02, 0.05, 0.03], vec![0.01, 0.04], vec![], vec![0.035, 0.045, -0.01]];
        let alone = Ranks::of_blocks(&levels.concat()).expect("values");
        let found = additive_effects(&[levels], 0.95, 1).remove(0).expect("values");
        assert_eq!((found.ratios, found.estimate), (8, alone.estimate().exp_m1()));
        assert_eq!((found.p, found.p_exploratory), (alone.p_differs(0.0), alone.p_differs(0.0)));
        assert_eq!(found.levels[0], Some(0.03_f64.exp_m1()));
        assert_eq!((found.levels[2], found.levels.len()), (None, 4));
    }

    #[test]
    fn one_level_and_few_ratios_have_no_interaction() {
        assert_eq!(interaction(&[vec![1.0; 9]], 1), None);
        assert_eq!(interaction(&[vec![1.0, 2.0], vec![3.0, 4.0]], 1), None);
        assert_eq!(interaction(&[vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![9.0]], 1), None);
        assert_eq!(additive_effects(&[vec![vec![], vec![]]], 0.95, 1), [None]);
        assert_eq!(additive_effects(&[], 0.95, 1), []);
    }

    #[test]
    fn p_values_are_adjusted_over_the_settings_that_have_them() {
        let settings: Vec<Vec<Vec<f64>>> = (1..=4)
            .map(|i| {
                (0..3).map(|level| (0..3).map(|k| f64::from(i * (k + 1) - 3 * level)).collect()).collect()
            })
            .chain([vec![vec![0.3; 3]]])
            .collect();
        let found = additive_effects(&settings, 0.95, 3);
        let p: Vec<f64> = found.iter().flatten().map(|effect| effect.p).collect();
        let adjusted: Vec<f64> = found.iter().flatten().map(|effect| effect.p_exploratory).collect();
        assert_eq!(adjusted, benjamini_hochberg(&p));
        let p: Vec<f64> = found.iter().flatten().filter_map(|effect| effect.p_interaction).collect();
        let adjusted: Vec<f64> =
            found.iter().flatten().filter_map(|effect| effect.p_interaction_exploratory).collect();
        assert_eq!((p.len(), adjusted), (4, benjamini_hochberg(&p)));
    }
}
