//! Variance components between and within runs, and the number of windows that a run needs.
//!
//! One-way random effects: each run has its own level, and its windows scatter around it. More windows make the
//! level of a run more precise, but give no information on the scatter between runs. A run should be long enough
//! that the variance within it no longer matters. Further time is better spent on more runs.
//!
//! Sources: S. R. Searle, G. Casella and C. E. McCulloch, *Variance Components*, 1992, section 3.6 (unbalanced, by
//! analysis of variance); T. Kalibera and R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013 (the
//! optimum).

/// Variance components of a metric, or of its logarithm if effects are ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Variance of the levels of runs. 0 if the means of runs vary no more than their windows explain.
    pub between: f64,
    /// Variance of the windows of a run around its level.
    pub within: f64,
    /// Number of runs.
    pub runs: usize,
    /// Number of windows of all runs.
    pub windows: usize,
}

/// Number of windows per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Windows per run with which the variance within runs adds at most a quarter to the variance between runs.
    pub negligible: usize,
    /// Windows per run that give the most precise result in a given time if a further run costs as much as
    /// `run_cost` windows.
    pub cheapest: usize,
}

impl Components {
    /// Creates the components from the windows of each run. `None` with fewer than two runs, or if no run has two
    /// windows. Runs without a window are ignored.
    #[must_use]
    pub fn of(runs: &[Vec<f64>]) -> Option<Self> {
        let runs: Vec<&Vec<f64>> = runs.iter().filter(|run| !run.is_empty()).collect();
        let (k, n) = (runs.len(), runs.iter().map(|run| run.len()).sum::<usize>());
        if k < 2 || n <= k {
            return None;
        }
        let mean = |run: &[f64]| run.iter().sum::<f64>() / run.len() as f64;
        let whole = runs.iter().copied().flatten().sum::<f64>() / n as f64;
        let squares_between: f64 =
            runs.iter().map(|run| run.len() as f64 * (mean(run) - whole).powi(2)).sum();
        let squares_within: f64 = runs
            .iter()
            .map(|run| {
                let level = mean(run);
                run.iter().map(|value| (value - level).powi(2)).sum::<f64>()
            })
            .sum();
        let within = squares_within / (n - k) as f64;
        let lengths_squared: f64 = runs.iter().map(|run| (run.len() as f64).powi(2)).sum();
        let typical_length = (n as f64 - lengths_squared / n as f64) / (k - 1) as f64;
        let between = (squares_between / (k - 1) as f64 - within) / typical_length;
        Some(Self { between: between.max(0.0), within, runs: k, windows: n })
    }

    /// Returns the number of windows per run, if starting a run costs as much time as `run_cost` windows. `None` if
    /// there is no variance between runs: then only the number of windows matters, and more are always better.
    ///
    /// # Panics
    /// Panics if `run_cost` is negative.
    #[must_use]
    pub fn allocate(&self, run_cost: f64) -> Option<Allocation> {
        assert!(run_cost >= 0.0, "a run cannot cost {run_cost} windows");
        let ratio = self.within / self.between;
        // a float-to-integer cast saturates
        let windows = |number: f64| (number.ceil() as usize).max(1);
        (self.between > 0.0).then(|| Allocation {
            negligible: windows(4.0 * ratio),
            cheapest: windows((run_cost * ratio).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_by_hand() {
        // means 2, 5, 8; within: squares 2 + 2 + 2 over 6; between: 3 * 18 / 2 = 27
        let runs = [vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]];
        let found = Components::of(&runs).expect("three runs");
        assert_eq!((found.within, found.runs, found.windows), (1.0, 3, 9));
        assert!((found.between - 26.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.allocate(1000.0), Some(Allocation { negligible: 1, cheapest: 11 }));
    }

    #[test]
    fn scipy_has_the_same_mean_squares() {
        for case in crate::golden::cases("components") {
            let lengths = case.list("lengths");
            let mut values = case.list("values").into_iter();
            let runs: Vec<Vec<f64>> =
                lengths.iter().map(|n| values.by_ref().take(*n as usize).collect()).collect();
            let found = Components::of(&runs).expect("runs");
            assert!((found.within - case.number("within")).abs() < 1e-9, "{found:?}");
            assert!((found.between - case.number("between")).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn noise_within_needs_windows() {
        let found = Components { between: 1.0, within: 25.0, runs: 5, windows: 100 };
        assert_eq!(found.allocate(4.0), Some(Allocation { negligible: 100, cheapest: 10 }));
        assert_eq!(Components { between: 0.0, ..found }.allocate(4.0), None);
        // the means are closer together than the windows explain
        assert_eq!(Components::of(&[vec![1.0, 9.0], vec![9.0, 1.0]]).map(|found| found.between), Some(0.0));
    }

    #[test]
    fn too_little_has_no_components() {
        assert_eq!(Components::of(&[vec![1.0, 2.0]]), None);
        assert_eq!(Components::of(&[vec![1.0], vec![2.0], vec![]]), None);
    }
}
