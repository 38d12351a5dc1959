//! Changepoints: where the mean level of a series changes.
//!
//! The cost of a segment is the sum of squared deviations from its mean. The cost of a segmentation is the sum over
//! its segments plus a penalty for each change. PELT finds the optimal segmentation exactly, in about linear time:
//! it discards candidates for the last change that can no longer be part of an optimal segmentation.
//!
//! Source: Killick, Fearnhead and Eckley, *Optimal Detection of Changepoints with a Linear Computational Cost*,
//! JASA 2012. Their pruning rule discards a last change `s` at time `t` immediately. With a minimum segment length,
//! `t` can be a change only for series that end at least that much later. `s` is therefore discarded that much
//! later.

/// Prefix sums of values and of squares: the cost of any segment in constant time.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn new(values: &[f64]) -> Self {
        let mut sums = vec![(0.0, 0.0)];
        for value in values {
            let (sum, squares) = sums[sums.len() - 1];
            sums.push((sum + value, squares + value * value));
        }
        Self(sums)
    }

    /// Returns the cost of the segment of the values `from..to`.
    fn cost(&self, from: usize, to: usize) -> f64 {
        let ((sum, squares), (sum_before, squares_before)) = (self.0[to], self.0[from]);
        let sum = sum - sum_before;
        (squares - squares_before - sum * sum / (to - from) as f64).max(0.0)
    }
}

/// Returns the start indices of all segments but the first: the optimal segmentation with `penalty` for each change
/// and segments of at least `least` values. Empty if the series is too short to be split.
///
/// # Panics
/// Panics if `least` is 0.
#[must_use]
pub fn changepoints(values: &[f64], penalty: f64, least: usize) -> Vec<usize> {
    assert!(least > 0, "a segment has at least one value");
    let n = values.len();
    let sums = Sums::new(values);
    // cost[t]: cost of the optimal segmentation of the first t values; last[t]: start of its last segment
    let mut cost = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    cost[0] = -penalty;
    // candidate starts of the last segment, each with the end of the series from which it is pruned
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    for end in least..=n {
        let begin = end - least;
        if cost[begin].is_finite() {
            candidates.push((begin, usize::MAX));
        }
        candidates.retain(|(_, until)| end < *until);
        let with = |from: usize| cost[from] + sums.cost(from, end);
        let mut best = (f64::INFINITY, 0);
        for (from, _) in &candidates {
            let total = with(*from) + penalty;
            if total < best.0 {
                best = (total, *from);
            }
        }
        for (from, until) in &mut candidates {
            if *until == usize::MAX && with(*from) > best.0 {
                *until = end + least;
            }
        }
        (cost[end], last[end]) = best;
    }
    let mut changes = Vec::new();
    let mut end = n;
    while end > 0 && last[end] > 0 {
        end = last[end];
        changes.push(end);
    }
    changes.reverse();
    changes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn total(values: &[f64], changes: &[usize], penalty: f64) -> f64 {
        let mut bounds = vec![0];
        bounds.extend(changes);
        bounds.push(values.len());
        let costs = bounds.windows(2).map(|pair| {
            let part = &values[pair[0]..pair[1]];
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        });
        costs.sum::<f64>() + penalty * changes.len() as f64
    }

    /// Returns the optimal cost by optimal partitioning: every last change is tried at every end, without pruning.
    fn cheapest(values: &[f64], penalty: f64, least: usize) -> f64 {
        let mut best = vec![f64::INFINITY; values.len() + 1];
        best[0] = -penalty;
        for end in least..=values.len() {
            for from in 0..=end - least {
                best[end] = best[end].min(best[from] + total(&values[from..end], &[], penalty) + penalty);
            }
        }
        best[values.len()]
    }

    #[test]
    fn step_is_found_at_its_position() {
        let values: Vec<f64> = (0..60).map(|i| if i < 37 { 1.0 } else { 2.0 }).collect();
        assert_eq!(changepoints(&values, 1.0, 1), [37]);
        assert_eq!(changepoints(&values, 100.0, 1), Vec::<usize>::new(), "not worth its penalty");
        assert_eq!(changepoints(&values, 1.0, 30), [30], "no segment is shorter than allowed");
    }

    #[test]
    fn short_series_is_one_segment() {
        for n in 0..6 {
            assert_eq!(changepoints(&vec![f64::from(n); n as usize], 0.1, 3), Vec::<usize>::new());
        }
    }

    proptest! {
        #[test]
        fn as_cheap_as_the_cheapest(
            levels in prop::collection::vec((-5.0_f64..5.0, 1_usize..15), 1..6),
            noise in prop::collection::vec(-1.0_f64..1.0, 90),
            penalty in 0.1_f64..40.0,
            least in 1_usize..8,
        ) {
            let flat = levels.iter().flat_map(|(level, length)| std::iter::repeat_n(*level, *length));
            let values: Vec<f64> = flat.zip(&noise).map(|(level, noise)| level + noise).collect();
            prop_assume!(values.len() >= least);
            let changes = changepoints(&values, penalty, least);
            let mut bounds = vec![0];
            bounds.extend(&changes);
            bounds.push(values.len());
            prop_assert!(bounds.windows(2).all(|pair| pair[0] + least <= pair[1]), "{:?}", changes);
            let (found, cheapest) = (total(&values, &changes, penalty), cheapest(&values, penalty, least));
            prop_assert!((found - cheapest).abs() < 1e-6, "{} by {:?}, cheapest {}", found, changes, cheapest);
        }
    }
}
