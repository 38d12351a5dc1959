//! Multiple comparisons.
//!
//! Two of 40 settings without any effect differ from the default at the 5 % level by chance. For claims, Holm's
//! procedure keeps the probability of any false claim below the level (family-wise error rate). For a list of
//! candidates to investigate, the Benjamini-Hochberg procedure keeps the expected share of false ones below it
//! (false discovery rate). Both adjust p-values: a claim is made where the adjusted p-value is at most the level.
//!
//! Sources: S. Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, Scandinavian Journal of Statistics
//! 6, 1979 (no assumption on the dependence of the tests); Y. Benjamini and Y. Hochberg, *Controlling the False
//! Discovery Rate*, Journal of the Royal Statistical Society B 57, 1995 (independent or positively dependent tests,
//! such as those with one common baseline); J. P. Shaffer, *Modified Sequentially Rejective Multiple Test
//! Procedures*, Journal of the American Statistical Association 81, 1986 (hypotheses that exclude each other); J.
//! J. Goeman and A. Solari, *The Sequential Rejection Principle of Familywise Error Control*, Annals of Statistics
//! 38, 2010 (why the procedure below keeps its level).

/// Adjusts p-values for the family-wise error rate (Holm).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut most = 0.0_f64;
    for (step, i) in by_size(p).into_iter().enumerate() {
        most = most.max(p[i] * (p.len() - step) as f64).min(1.0);
        adjusted[i] = most;
    }
    adjusted
}

/// Adjusts p-values for the family-wise error rate of differences and equivalences together.
///
/// Each comparison has two null hypotheses that exclude each other: "no difference" and "a difference beyond the
/// margin". The p-values of the second are on the scale of a two-sided test, so its false rejections have half of
/// the stated probability. A comparison contributes a full share to the error while neither, or only the second, is
/// rejected. It contributes half a share once a difference is claimed, and none once both are claimed. The smallest
/// remaining p-value is multiplied by the sum of the shares, at least 1. This is the sequential rejection
/// principle: shares only fall, and once all false hypotheses are rejected, the shares of the true ones bound the
/// error. Holm's procedure on each list separately would allow 1.5 times the level.
///
/// # Panics
/// Panics if the lists differ in length, or a value is not a probability.
#[must_use]
pub fn differs_and_equivalent(differs: &[f64], beyond: &[f64]) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(differs.len(), beyond.len(), "each comparison has two hypotheses");
    let all: Vec<f64> = differs.iter().chain(beyond).copied().collect();
    let comparisons = differs.len();
    let mut rejected = vec![[false; 2]; comparisons];
    let mut adjusted = vec![0.0; all.len()];
    let (mut most, mut shares) = (0.0_f64, comparisons as f64);
    for index in by_size(&all) {
        most = most.max(all[index] * shares.max(1.0)).min(1.0);
        adjusted[index] = most;
        let of = &mut rejected[index % comparisons];
        let before = share(*of);
        of[index / comparisons] = true;
        shares -= before - share(*of);
    }
    let beyond = adjusted.split_off(comparisons);
    (adjusted, beyond)
}

/// Returns the share that a comparison contributes to the error, given whether its difference and its equivalence
/// are claimed.
const fn share([differs, equivalent]: [bool; 2]) -> f64 {
    match (differs, equivalent) {
        (false, _) => 1.0,
        (true, false) => 0.5,
        (true, true) => 0.0,
    }
}

/// Adjusts p-values for the false discovery rate (Benjamini-Hochberg).
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 1.0_f64;
    for (step, i) in by_size(p).into_iter().enumerate().rev() {
        least = least.min(p[i] * p.len() as f64 / (step + 1) as f64);
        adjusted[i] = least;
    }
    adjusted
}

/// Returns the level that each of `intervals` intervals needs for all of them to cover their true values with
/// probability `level` (Bonferroni).
#[must_use]
pub fn simultaneous_level(level: f64, intervals: usize) -> f64 {
    1.0 - (1.0 - level) / intervals.max(1) as f64
}

/// Returns the indices of the values in ascending order.
///
/// # Panics
/// Panics if a value is not a probability.
fn by_size(p: &[f64]) -> Vec<usize> {
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "no probabilities: {p:?}");
    let mut places: Vec<usize> = (0..p.len()).collect();
    places.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden;

    #[test]
    fn scipy_lists_the_same() {
        for case in golden::cases("benjamini_hochberg") {
            let ours = benjamini_hochberg(&case.list("p"));
            for (ours, theirs) in ours.iter().zip(case.list("adjusted")) {
                assert!((ours - theirs).abs() < 1e-12, "{ours}, {theirs}");
            }
        }
    }

    #[test]
    fn one_comparison_is_not_adjusted_and_none_is_nothing() {
        assert_eq!((holm(&[0.03]), benjamini_hochberg(&[0.03])), (vec![0.03], vec![0.03]));
        assert_eq!((holm(&[]), benjamini_hochberg(&[])), (vec![], vec![]));
        assert_eq!(simultaneous_level(0.95, 1), 0.95);
        assert!((simultaneous_level(0.95, 40) - 0.998_75).abs() < 1e-12);
    }

    #[test]
    fn a_comparison_counts_until_both_of_its_hypotheses_are_rejected() {
        // alone: unchanged, also after the difference is claimed
        assert_eq!(differs_and_equivalent(&[0.01], &[0.03]), (vec![0.01], vec![0.03]));
        // a claimed difference leaves half a share, where Holm leaves none
        let (differs, beyond) = differs_and_equivalent(&[0.01, 0.03], &[1.0, 1.0]);
        assert_eq!((differs, beyond), (vec![0.02, 0.045], vec![1.0, 1.0]));
        // a claimed equivalence leaves a full share
        let (differs, beyond) = differs_and_equivalent(&[1.0, 0.03], &[0.01, 1.0]);
        assert_eq!((differs, beyond), (vec![1.0, 0.06], vec![0.02, 1.0]));
        // both claimed leave none
        let (differs, beyond) = differs_and_equivalent(&[0.01, 0.03], &[0.02, 1.0]);
        assert_eq!((differs[1], beyond[0]), (0.03, 0.03));
        assert_eq!(differs_and_equivalent(&[], &[]), (vec![], vec![]));
    }

    #[test]
    #[should_panic(expected = "no probabilities")]
    fn what_is_no_probability_is_refused() {
        let _ = holm(&[0.1, 1.5]);
    }

    proptest! {
        #[test]
        fn both_reject_what_their_procedures_reject(
            thousandths in prop::collection::vec(0_u32..1000, 1..12), level in 0.01_f64..0.5,
        ) {
            let p: Vec<f64> = thousandths.iter().map(|p| f64::from(*p) / 1000.0).collect();
            let mut sorted = p.clone();
            sorted.sort_by(f64::total_cmp);
            let m = p.len() as f64;
            prop_assume!((1..=p.len()).all(|k| {
                let k = k as f64;
                p.iter().all(|p| (p * k - level).abs() > 1e-9 && (p * m / k - level).abs() > 1e-9)
            }));
            // as in the papers: step down until the first that is not rejected, and step up from the last that is
            let down = sorted.iter().enumerate().take_while(|(i, p)| **p <= level / (m - *i as f64)).count();
            let up = (1..=p.len()).rev().find(|k| sorted[k - 1] <= level * *k as f64 / m).unwrap_or(0);
            for (adjusted, procedure) in [(holm(&p), down), (benjamini_hochberg(&p), up)] {
                prop_assert_eq!(adjusted.iter().filter(|p| **p <= level).count(), procedure);
            }
        }
    }
}
