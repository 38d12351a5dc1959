//! Correlation of pairs.

/// Returns Pearson's correlation of pairs of values; `None` with fewer than three pairs, or if one side does not vary.
#[must_use]
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    if pairs.len() < 3 {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (left, right) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| -> f64 { pairs.iter().map(|(a, b)| of(a - left, b - right)).sum() };
    let scale = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    (scale > 0.0).then(|| sum(&|a, b| a * b) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_is_that_of_the_definition() {
        let of =
            |right: [f64; 4]| correlation(&[1.0, 2.0, 3.0, 4.0].into_iter().zip(right).collect::<Vec<_>>());
        assert_eq!(of([2.0, 4.0, 6.0, 8.0]), Some(1.0));
        assert_eq!(of([3.0, 2.0, 1.0, 0.0]), Some(-1.0));
        // sums of products 4, of squares 5 and 5
        assert!((of([1.0, 3.0, 2.0, 4.0]).expect("varies") - 0.8).abs() < 1e-12);
        assert_eq!(of([7.0; 4]), None);
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 1.0)]), None);
    }
}
