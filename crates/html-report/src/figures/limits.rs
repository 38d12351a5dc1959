//! Limits of what a chart shows.

/// Maximum number of series in a chart with a panel or a row for each.
pub(crate) const MOST_SERIES: usize = 12;
/// Maximum number of points of a line, and of ticks at measured sizes.
pub(crate) const MOST_POINTS: usize = 100;
/// Maximum number of series in one panel.
pub(crate) const ONE_PANEL: usize = 4;

/// Returns at most this many values, from 2 on, spread over all of them, with the first and the last one.
pub(crate) fn thinned<T>(most: usize, values: Vec<T>) -> Vec<T> {
    let (all, last) = (values.len(), most - 1);
    if all <= most {
        return values;
    }
    let mut kept = (0..most).map(|index| index * (all - 1) / last).peekable();
    let is_kept = |(index, value)| kept.next_if_eq(&index).map(|_| value);
    values.into_iter().enumerate().filter_map(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_values_keep_both_ends() {
        assert_eq!(thinned(MOST_POINTS, vec![1, 2, 3]), [1, 2, 3]);
        let thin = thinned(MOST_POINTS, (0..1_000).collect());
        assert_eq!((thin.len(), thin[0], thin[MOST_POINTS - 1]), (MOST_POINTS, 0, 999));
        assert_eq!(thinned(3, vec![16, 32, 64, 128, 256, 512, 1024]), [16, 128, 1024]);
        assert!(thin.is_sorted_by(|left, right| left < right));
    }
}
