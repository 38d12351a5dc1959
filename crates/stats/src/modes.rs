//! Whether runs of one cell fall into groups: then a middle of them all is a value that no run has.
//!
//! Logarithms of the runs' figures are taken for a mixture of up to four normal distributions. The number of components has
//! the least Bayesian information criterion. Components alone are no modes: one wide and one narrow around the same middle
//! are wide tails. So the density of the mixture must fall between two modes to at most [`VALLEY`] of the lower one, each
//! must have enough runs, and the mixture must beat a single normal distribution by [`EVIDENCE`], which is set so that of
//! series with one mode (normal, log-normal, with wide tails, mildly skewed) at most 5 % are called several.
//!
//! Limits, by simulation: figures that begin at a sharp edge and fall off exponentially are called several in up to 17 % of
//! series, 105 that are spread evenly in 17 %. Two groups of like size are told from 12 runs in 73 % of series when 8
//! standard deviations apart, from 20 in all; when 4 apart, only from some hundred runs.
//!
//! Sources: G. J. McLachlan and D. Peel, *Finite Mixture Models*, 2000, sections 2.8 (EM) and 6.9 (the criterion). The
//! start of EM is the cheapest cut of the sorted values into segments, found exactly. Hartigan's dip, which assumes nothing
//! of the shape, was tried and finds less: two groups of like size, 8 standard deviations apart, from 12 runs in 63 % of
//! series, from 20 in 89 %.

use crate::median;

/// With fewer runs nothing is said.
pub const LEAST_RUNS: usize = 12;
/// Components at most.
const MOST_MODES: usize = 4;
/// A mode has at least this share of the runs, and at least [`LEAST_MEMBERS`].
const LEAST_SHARE: f64 = 0.1;
const LEAST_MEMBERS: usize = 3;
/// Density between two modes, of the lower of them, at most.
const VALLEY: f64 = 0.3;
/// By how much the criterion must be less than that of one normal distribution.
const EVIDENCE: f64 = 10.0;
/// A component is at least this wide, of the standard deviation of all: else it could sit on two equal values.
const NARROWEST: f64 = 0.05;
const EM_STEPS: usize = 60;
const GRID: usize = 400;

/// A group of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of its runs.
    pub location: f64,
    /// Its runs, of all.
    pub share: f64,
    /// The least of its runs.
    pub from: f64,
    /// The greatest of its runs.
    pub to: f64,
}

/// What is known of groups.
#[derive(Clone, Debug, PartialEq)]
pub enum Modality {
    /// Fewer than [`LEAST_RUNS`].
    TooFewRuns,
    /// No more than one group can be told.
    One,
    /// Two or more, from the least to the greatest.
    Several(Vec<Mode>),
}

/// Whether these figures, one a run, fall into groups.
///
/// # Panics
/// If a figure is not above 0: it has no logarithm.
#[must_use]
pub fn modality(figures: &[f64]) -> Modality {
    assert!(
        figures.iter().all(|figure| *figure > 0.0 && figure.is_finite()),
        "no logarithm among {figures:?}"
    );
    if figures.len() < LEAST_RUNS {
        return Modality::TooFewRuns;
    }
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let sample = Sample::of(sorted.iter().map(|figure| figure.ln()).collect());
    if sample.narrowest == 0.0 {
        return Modality::One;
    }
    let fits = (1..=MOST_MODES).filter_map(|k| sample.fit(k));
    let scored: Vec<(f64, Vec<Component>)> =
        fits.map(|mixture| (sample.criterion(&mixture), mixture)).collect();
    let Some(best) = scored.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return Modality::One };
    if scored[0].0 - best.0 < EVIDENCE {
        return Modality::One;
    }
    let mut groups: Vec<&[f64]> = Vec::new();
    let mut rest = sorted.as_slice();
    for valley in sample.valleys(&best.1) {
        let (group, above) = rest.split_at(rest.partition_point(|figure| figure.ln() <= valley));
        if group.len() >= sample.least_members() && above.len() >= sample.least_members() {
            groups.push(group);
            rest = above;
        }
    }
    groups.push(rest);
    if groups.len() == 1 {
        return Modality::One;
    }
    let mode = |group: &&[f64]| Mode {
        location: median(group).expect("a group has members"),
        share: group.len() as f64 / sorted.len() as f64,
        from: group[0],
        to: group[group.len() - 1],
    };
    Modality::Several(groups.iter().map(mode).collect())
}

/// Part of a mixture.
#[derive(Clone, Copy, Debug)]
struct Component {
    share: f64,
    mean: f64,
    sd: f64,
}

impl Component {
    fn density(&self, x: f64) -> f64 {
        let z = (x - self.mean) / self.sd;
        self.share * (-z * z / 2.0).exp() / (self.sd * std::f64::consts::TAU.sqrt())
    }
}

fn density(mixture: &[Component], x: f64) -> f64 {
    mixture.iter().map(|component| component.density(x)).sum()
}

/// Sorted logarithms.
struct Sample {
    logs: Vec<f64>,
    narrowest: f64,
}

impl Sample {
    fn of(logs: Vec<f64>) -> Self {
        let sd = component(&logs, logs.len(), 0.0).sd;
        Self { logs, narrowest: NARROWEST * sd }
    }

    fn least_members(&self) -> usize {
        ((self.logs.len() as f64 * LEAST_SHARE).ceil() as usize).max(LEAST_MEMBERS)
    }

    /// The mixture of `k` components; none if there are too few values.
    fn fit(&self, k: usize) -> Option<Vec<Component>> {
        let mut mixture = self.cut(k)?;
        for _ in 0..EM_STEPS {
            self.improve(&mut mixture);
        }
        Some(mixture)
    }

    /// One step of expectation and maximisation.
    fn improve(&self, mixture: &mut [Component]) {
        let mut sums = vec![(0.0, 0.0, 0.0); mixture.len()];
        for x in &self.logs {
            let all = density(mixture, *x).max(f64::MIN_POSITIVE);
            for (component, (weight, sum, squares)) in mixture.iter().zip(&mut sums) {
                let part = component.density(*x) / all;
                let distance = x - component.mean;
                *weight += part;
                *sum += part * distance;
                *squares += part * distance * distance;
            }
        }
        for (component, (weight, sum, squares)) in mixture.iter_mut().zip(sums) {
            if weight > 0.0 {
                let shift = sum / weight;
                component.share = weight / self.logs.len() as f64;
                component.mean += shift;
                component.sd = (squares / weight - shift * shift).max(0.0).sqrt().max(self.narrowest);
            }
        }
    }

    /// The cut of the sorted values into `k` segments that makes them most likely, each normal: by dynamic programming.
    fn cut(&self, k: usize) -> Option<Vec<Component>> {
        let (n, least) = (self.logs.len(), self.least_members());
        if n < k * least {
            return None;
        }
        let unlikely = |from: usize, to: usize| {
            let part = component(&self.logs[from..to], n, self.narrowest);
            (to - from) as f64 * (part.sd.ln() - part.share.ln())
        };
        // cheapest[end]: of the first `end` values in as many segments as there were passes; with where the last begins
        let mut cheapest: Vec<f64> =
            (0..=n).map(|end| if end < least { f64::INFINITY } else { unlikely(0, end) }).collect();
        let mut begins: Vec<Vec<usize>> = Vec::new();
        for _ in 1..k {
            let longer: Vec<(f64, usize)> = (0..=n)
                .map(|end| {
                    let cuts = (least..=end.saturating_sub(least))
                        .map(|from| (cheapest[from] + unlikely(from, end), from));
                    cuts.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0))
                })
                .collect();
            cheapest = longer.iter().map(|(cost, _)| *cost).collect();
            begins.push(longer.into_iter().map(|(_, from)| from).collect());
        }
        let mut mixture = Vec::new();
        let mut end = n;
        for from in begins.iter().rev().map(Some).chain([None]) {
            let from = from.map_or(0, |begin| begin[end]);
            mixture.push(component(&self.logs[from..end], n, self.narrowest));
            end = from;
        }
        mixture.reverse();
        Some(mixture)
    }

    /// Bayes': -2 log likelihood, and ln n for each number that was fitted.
    fn criterion(&self, mixture: &[Component]) -> f64 {
        let likelihood: f64 =
            self.logs.iter().map(|x| density(mixture, *x).max(f64::MIN_POSITIVE).ln()).sum();
        (3 * mixture.len() - 1) as f64 * (self.logs.len() as f64).ln() - 2.0 * likelihood
    }

    /// Where the density of a mixture is low between two peaks.
    fn valleys(&self, mixture: &[Component]) -> Vec<f64> {
        let (from, to) = (self.logs[0], self.logs[self.logs.len() - 1]);
        let at = |step: usize| from + (to - from) * step as f64 / GRID as f64;
        let mut valleys = Vec::new();
        let (mut peak, mut lowest) = (0.0_f64, (f64::INFINITY, from));
        let mut rising = 0.0_f64;
        for x in (0..=GRID).map(at) {
            let height = density(mixture, x);
            if height < lowest.0 && height <= peak {
                (lowest, rising) = ((height, x), 0.0);
            }
            rising = rising.max(height);
            if lowest.0 <= VALLEY * peak.min(rising) {
                valleys.push(lowest.1);
                (peak, lowest, rising) = (rising, (f64::INFINITY, x), 0.0);
            } else if height > peak {
                (peak, lowest) = (height, (f64::INFINITY, x));
            }
        }
        valleys
    }
}

/// A normal distribution fitted to part of `n` values.
fn component(part: &[f64], n: usize, narrowest: f64) -> Component {
    let size = part.len() as f64;
    let mean = part.iter().sum::<f64>() / size;
    let variance = part.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / size;
    Component { share: size / n as f64, mean, sd: variance.sqrt().max(narrowest) }
}

#[cfg(test)]
#[path = "modes_tests.rs"]
mod tests;
