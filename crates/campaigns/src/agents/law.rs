//! Law of a cost: a constant, and a part for each agent, host and flow.

use stats::{Interval, SignedRank};

/// Number of terms: constant, agents, hosts, flows.
pub const TERMS: usize = 4;

/// Confidence level of the intervals.
pub const LEVEL: f64 = 0.95;
/// Share of the square of a term up to which it depends on the others.
const DEPENDENT: f64 = 1e-9;

/// Coefficient of a law: over the rounds, its estimate and interval.
#[derive(Clone, Copy, Debug)]
pub struct Coefficient {
    pub value: f64,
    /// `None` with too few rounds.
    pub interval: Option<Interval>,
}

/// Law of a cost.
#[derive(Clone, Debug)]
pub struct Law {
    pub coefficients: [Coefficient; TERMS],
    /// Largest relative distance between the law and the mean of a case, and the index of that case.
    pub miss: (f64, usize),
}

impl Law {
    /// Fits a law to each round by least squares of the relative errors, so that small cases count as much as large ones.
    /// `terms` has the terms of each case, `rounds` the cost of each case by round. Returns `None` if the cases do not tell
    /// the terms apart.
    pub fn fit(terms: &[[f64; TERMS]], rounds: &[Vec<f64>]) -> Option<Self> {
        let means: Vec<f64> = (0..terms.len())
            .map(|case| rounds.iter().map(|round| round[case]).sum::<f64>() / rounds.len() as f64)
            .collect();
        let of_rounds: Vec<[f64; TERMS]> =
            rounds.iter().map(|round| least_squares(terms, round, &means)).collect::<Option<_>>()?;
        let coefficient = |term: usize| {
            let values: Vec<f64> = of_rounds.iter().map(|of_round| of_round[term]).collect();
            let ranks = SignedRank::new(&values)?;
            Some(Coefficient { value: ranks.estimate(), interval: ranks.interval(LEVEL) })
        };
        let coefficients = [coefficient(0)?, coefficient(1)?, coefficient(2)?, coefficient(3)?];
        let miss = |(case, (terms, mean)): (usize, (&[f64; TERMS], &f64))| {
            let law: f64 = terms.iter().zip(&coefficients).map(|(term, of)| term * of.value).sum();
            ((law / mean - 1.0).abs(), case)
        };
        let misses = terms.iter().zip(&means).enumerate().map(miss);
        let miss = misses.max_by(|left, right| left.0.total_cmp(&right.0))?;
        Some(Self { coefficients, miss })
    }
}

/// Returns the coefficients that minimize the sum of the squared errors, each relative to its scale.
fn least_squares(terms: &[[f64; TERMS]], values: &[f64], scales: &[f64]) -> Option<[f64; TERMS]> {
    // Normal equations, with the right side as the last column.
    let mut rows = [[0.0; TERMS + 1]; TERMS];
    for ((terms, value), scale) in terms.iter().zip(values).zip(scales) {
        let weight = scale.powi(-2);
        for (row, left) in rows.iter_mut().zip(terms) {
            for (cell, right) in row.iter_mut().zip(terms.iter().chain([value])) {
                *cell += weight * left * right;
            }
        }
    }
    solve(rows)
}

/// Solves normal equations by elimination; `None` if they have no single solution.
fn solve(mut rows: [[f64; TERMS + 1]; TERMS]) -> Option<[f64; TERMS]> {
    let squares = [0, 1, 2, 3].map(|term| rows[term][term]);
    for (term, square) in squares.into_iter().enumerate() {
        let pivot = rows[term];
        // What the terms before it leave of its square.
        if pivot[term] <= DEPENDENT * square {
            return None;
        }
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = row[term] / pivot[term];
            if index != term {
                row.iter_mut().zip(pivot).for_each(|(cell, of)| *cell -= factor * of);
            }
        }
    }
    Some([0, 1, 2, 3].map(|term| rows[term][TERMS] / rows[term][term]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms of fan-outs on one host and on a host for each agent, and of meshes.
    fn terms() -> Vec<[f64; TERMS]> {
        let sizes = [2_u32, 8, 64, 1000].map(f64::from);
        let one_host = sizes.map(|n| [1.0, n, 1.0, n - 1.0]);
        let host_each = sizes.map(|n| [1.0, n, n, n - 1.0]);
        let meshes = [4_u32, 16, 64].map(f64::from).map(|n| [1.0, n, n, n * n / 4.0]);
        [&one_host[..], &host_each, &meshes].concat()
    }

    fn round(cost: impl Fn(&[f64; TERMS]) -> f64) -> Vec<f64> {
        terms().iter().map(cost).collect()
    }

    #[test]
    fn known_coefficients_are_found_with_an_interval_around_them() {
        let truth = [20.0, 0.5, 0.25, 0.05];
        let exact = |terms: &[f64; TERMS]| terms.iter().zip(truth).map(|(term, of)| term * of).sum::<f64>();
        let rounds: Vec<Vec<f64>> =
            [0.97, 0.98, 0.99, 1.01, 1.02, 1.03].map(|noise| round(|terms| noise * exact(terms))).into();
        let law = Law::fit(&terms(), &rounds).expect("a law");
        for (coefficient, truth) in law.coefficients.iter().zip(truth) {
            assert!((coefficient.value / truth - 1.0).abs() < 0.02, "{coefficient:?} {truth}");
            assert!(coefficient.interval.is_some_and(|interval| interval.covers(truth)), "{coefficient:?}");
        }
        assert!(law.miss.0 < 0.02, "{:?}", law.miss);
    }

    #[test]
    fn quadratic_cost_is_missed_by_the_law() {
        let rounds = vec![round(|terms| 20.0 + 0.01 * terms[1] * terms[1]); 6];
        let law = Law::fit(&terms(), &rounds).expect("a law");
        assert!(law.miss.0 > 0.3, "{:?}", law.miss);
    }

    #[test]
    fn cases_that_do_not_tell_terms_apart_have_no_law() {
        let alike: Vec<[f64; TERMS]> = [2.0, 8.0, 64.0].map(|n| [1.0, n, n, n]).into();
        assert!(Law::fit(&alike, &vec![vec![1.0, 2.0, 3.0]; 6]).is_none());
    }
}
