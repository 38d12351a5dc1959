//! Steady-state detection: whether a run reached a steady state, and when.
//!
//! The series has one value per window of the run. Its logarithms are split into segments of constant level
//! ([`changepoints`], penalty `15 ln W` in units of the noise variance). The segments determine the class: whether
//! the run ends on a level that it kept for at least half of its duration, and whether it was better or worse
//! before.
//!
//! Source: Barrett and others, *Virtual Machine Warmup Blows Hot and Cold*, OOPSLA 2017: changepoints instead of a
//! fixed discard, the classes, and the removal of outliers first. Two things are added: autocorrelated noise counts
//! with the uncertainty that it causes in a mean, and a level kept for half of the run must not drift.

use crate::{changepoint::changepoints, spread::median};

/// Minimum number of windows for a classification.
pub const MIN_WINDOWS: usize = 20;
/// Relative difference up to which two levels are the same level.
pub const SAME_LEVEL: f64 = 0.02;
/// Difference in standard errors up to which two levels are the same level.
const STANDARD_ERRORS: f64 = 3.0;
const PENALTY: f64 = 15.0;
/// Relative resolution of a histogram: the minimum noise.
const RESOLUTION: f64 = 0.001;
/// Outlier limit: a window more than this many standard deviations from the median of its neighbourhood is clamped.
const OUTLIER: f64 = 3.0;
/// Number of windows on each side in a neighbourhood.
const NEIGHBOURS: usize = 3;
/// Maximum lag-1 autocorrelation. Stronger autocorrelation cannot be told from a change of level.
const MAX_AUTOCORRELATION: f64 = 0.75;

/// Direction of improvement of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Lower is better: latencies.
    Less,
    /// Higher is better: rates.
    More,
}

/// Steady-state class of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// One level throughout.
    Flat,
    /// Improvement, then a level kept for at least half of the run.
    WarmUp,
    /// Deterioration, then a level kept for at least half of the run.
    Slowdown,
    /// No level kept for at least half of the run, up to its end.
    NoSteadyState,
    /// No steady state, with levels that alternate regularly.
    Cyclic,
}

/// Successive windows of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Index of the first window.
    pub from: usize,
    /// Index after the last window.
    pub to: usize,
    /// Geometric mean of the windows, with outliers clamped.
    pub level: f64,
}

impl Segment {
    const fn len(&self) -> usize {
        self.to - self.from
    }
}

/// Steady-state class of a series, and its levels.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Steady-state class.
    pub verdict: Steadiness,
    /// First window of the steady state; `None` without one.
    pub steady_from: Option<usize>,
    /// Segments; neighbours have different levels.
    pub segments: Vec<Segment>,
}

/// Returns the minimum segment length for a series of `windows` windows.
#[must_use]
pub fn shortest_segment(windows: usize) -> usize {
    (windows / 20).max(3)
}

/// Classifies a series with one value per window. `None` with fewer than [`MIN_WINDOWS`] values.
///
/// # Panics
/// Panics if a value is not above 0: it has no logarithm.
#[must_use]
pub fn steady_state(values: &[f64], better: Better) -> Option<SteadyState> {
    assert!(values.iter().all(|value| *value > 0.0 && value.is_finite()), "no logarithm among {values:?}");
    let windows = values.len();
    if windows < MIN_WINDOWS {
        return None;
    }
    let series = Series::new(values);
    let segments = series.segments();
    let level = |segment: &Segment| series.mean(segment.from, segment.to);
    let steady = segments[segments.len() - 1];
    let kept = segments.len() == 1 || (steady.len() * 2 >= windows && !series.drifts(steady));
    let verdict = if segments.len() == 1 {
        Steadiness::Flat
    } else if kept {
        let was_better = |before: &Segment| match better {
            Better::Less => level(before) < level(&steady),
            Better::More => level(before) > level(&steady),
        };
        let differs = |before: &&Segment| !series.alike(**before, steady);
        if segments.iter().filter(differs).any(was_better) {
            Steadiness::Slowdown
        } else {
            Steadiness::WarmUp
        }
    } else if is_regular(&segments.iter().map(|segment| (segment.len(), level(segment))).collect::<Vec<_>>())
    {
        Steadiness::Cyclic
    } else {
        Steadiness::NoSteadyState
    };
    Some(SteadyState { verdict, steady_from: kept.then_some(steady.from), segments })
}

/// Logarithms with outliers clamped, their segmentation and noise.
struct Series {
    logs: Vec<f64>,
    /// Start indices of the segments, then the end of the series.
    bounds: Vec<usize>,
    /// Standard deviation of one window, widened for autocorrelation.
    noise: f64,
}

impl Series {
    fn new(values: &[f64]) -> Self {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let reach = OUTLIER * differences(&logs).max(RESOLUTION) / 2.0_f64.sqrt();
        let logs: Vec<f64> = (0..logs.len())
            .map(|i| {
                let around = &logs[i.saturating_sub(NEIGHBOURS)..(i + NEIGHBOURS + 1).min(logs.len())];
                let middle = middle(around);
                logs[i].clamp(middle - reach, middle + reach)
            })
            .collect();
        let windows = logs.len();
        let white = differences(&logs).max(RESOLUTION) / 2.0_f64.sqrt();
        let penalty = PENALTY * (windows as f64).ln() * white * white;
        let mut bounds = vec![0];
        bounds.extend(changepoints(&logs, penalty, shortest_segment(windows)));
        bounds.push(windows);
        let noise = white.max(noise_around(&logs, &bounds));
        Self { logs, bounds, noise }
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        self.logs[from..to].iter().sum::<f64>() / (to - from) as f64
    }

    /// Returns the segments, with neighbours of the same level merged from the end.
    fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        for pair in self.bounds.windows(2).rev() {
            let mut segment = self.segment(pair[0], pair[1]);
            if let Some(after) = segments.pop_if(|after| self.alike(segment, *after)) {
                segment = self.segment(segment.from, after.to);
            }
            segments.push(segment);
        }
        segments.reverse();
        segments
    }

    fn segment(&self, from: usize, to: usize) -> Segment {
        Segment { from, to, level: self.mean(from, to).exp() }
    }

    fn alike(&self, left: Segment, right: Segment) -> bool {
        let standard_error = self.noise * (1.0 / left.len() as f64 + 1.0 / right.len() as f64).sqrt();
        let distance = self.mean(left.from, left.to) - self.mean(right.from, right.to);
        distance.abs() <= (STANDARD_ERRORS * standard_error).max(SAME_LEVEL.ln_1p())
    }

    /// Returns whether the two halves of a segment have different levels.
    fn drifts(&self, whole: Segment) -> bool {
        let middle = whole.from.midpoint(whole.to);
        !self.alike(self.segment(whole.from, middle), self.segment(middle, whole.to))
    }
}

fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or(0.0)
}

/// Returns the standard deviation of the differences between neighbours, around their median. Differences at
/// changes of level are few, and are limited to three standard deviations.
fn differences(logs: &[f64]) -> f64 {
    let differences: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let centre = middle(&differences);
    let distances: Vec<f64> = differences.iter().map(|difference| (difference - centre).abs()).collect();
    // the median absolute deviation of normal values is 0.6745 standard deviations
    let most = 3.0 * middle(&distances) / 0.6745;
    let squares = distances.iter().map(|distance| distance.min(most).powi(2));
    (squares.sum::<f64>() / distances.len().max(1) as f64).sqrt()
}

/// Returns the standard deviation around the segment means, widened for the lag-1 autocorrelation `r`: the mean of
/// n windows has the variance `s² (1 + r) / (1 - r) / n`.
fn noise_around(logs: &[f64], bounds: &[usize]) -> f64 {
    let (mut squares, mut products) = (0.0, 0.0);
    for pair in bounds.windows(2) {
        let part = &logs[pair[0]..pair[1]];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        squares += part.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        products += part.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>();
    }
    let segments = bounds.len() - 1;
    let r = if squares > 0.0 { (products / squares).clamp(0.0, MAX_AUTOCORRELATION) } else { 0.0 };
    (squares / (logs.len() - segments) as f64 * (1.0 + r) / (1.0 - r)).sqrt()
}

/// Returns whether levels alternate above and below their midrange at least five times, with no period more than
/// twice as long as another.
fn is_regular(levels: &[(usize, f64)]) -> bool {
    let low = levels.iter().map(|(_, level)| *level).fold(f64::INFINITY, f64::min);
    let high = levels.iter().map(|(_, level)| *level).fold(f64::NEG_INFINITY, f64::max);
    let mut begins = Vec::new();
    let (mut at, mut above) = (0, None);
    for (length, level) in levels {
        let is_above = Some(*level > low.midpoint(high));
        if is_above != above {
            begins.push(at);
            above = is_above;
        }
        at += length;
    }
    // the first period may have started before the run
    let periods: Vec<usize> = begins.iter().zip(begins.iter().skip(2)).skip(1).map(|(a, b)| b - a).collect();
    let (Some(shortest), Some(longest)) = (periods.iter().min(), periods.iter().max()) else { return false };
    begins.len() >= 5 && *longest <= 2 * shortest
}

#[cfg(test)]
#[path = "steady_tests.rs"]
mod tests;
