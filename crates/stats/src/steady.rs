//! Whether a run had reached its level, and from when on.
//!
//! A run is cut into windows; the series has one value a window. Its logarithms are cut into segments of equal level
//! ([`changepoints`], penalty `15 ln W` on the scale of their noise), and the segments judged: does the run end on a level
//! that it held for at least half of its time, and was it better or worse before?
//!
//! Source: Barrett and others, *Virtual Machine Warmup Blows Hot and Cold*, OOPSLA 2017: changepoints instead of a fixed
//! discard, the verdicts, and that outliers are set aside first. What is added: noise whose neighbours resemble each other
//! counts as wide as it makes a mean uncertain, and a level held for half of the run must not drift.

use crate::{changepoint::changepoints, median};

/// A series of fewer windows says nothing about when it became steady.
pub const MIN_WINDOWS: usize = 20;
/// Levels that differ by less, relatively, are one level.
pub const SAME_LEVEL: f64 = 0.02;
/// Levels that differ by less than so many standard errors are one level.
const STANDARD_ERRORS: f64 = 3.0;
const PENALTY: f64 = 15.0;
/// The precision of a histogram: what differs by less is no noise to scale by.
const RESOLUTION: f64 = 0.001;
/// A window this many standard deviations off the median of its neighbourhood is set back to there.
const OUTLIER: f64 = 3.0;
/// Windows on each side that make a neighbourhood.
const NEIGHBOURS: usize = 3;
/// Stronger likeness of neighbours than this is not told from a change.
const MAX_AUTOCORRELATION: f64 = 0.75;

/// Which values of a series are the good ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Low ones: latencies.
    Less,
    /// High ones: rates.
    More,
}

/// What a series did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It kept one level.
    Flat,
    /// It became better, and then kept its level for at least half of the run.
    WarmUp,
    /// It was better before, and then kept its level for at least half of the run.
    Slowdown,
    /// It ends on no level that it kept for at least half of the run.
    NoSteadyState,
    /// The same, and it went up and down regularly.
    Cyclic,
}

/// Windows in a row of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its first window.
    pub from: usize,
    /// One behind its last window.
    pub to: usize,
    /// Geometric mean of its windows, outliers set back.
    pub level: f64,
}

impl Segment {
    const fn len(&self) -> usize {
        self.to - self.from
    }
}

/// What a series did, and its levels.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// What it did.
    pub verdict: Verdict,
    /// The first window of the level that it kept; none if it kept none.
    pub steady_from: Option<usize>,
    /// Its levels; neighbours differ.
    pub segments: Vec<Segment>,
}

/// So many windows in a row at least make a segment of a series of so many.
#[must_use]
pub fn shortest_segment(windows: usize) -> usize {
    (windows / 20).max(3)
}

/// Judges a series, one value a window. None of fewer than [`MIN_WINDOWS`].
///
/// # Panics
/// If a value is not above 0: it has no logarithm.
#[must_use]
pub fn steady_state(values: &[f64], better: Better) -> Option<SteadyState> {
    assert!(values.iter().all(|value| *value > 0.0 && value.is_finite()), "no logarithm among {values:?}");
    let windows = values.len();
    if windows < MIN_WINDOWS {
        return None;
    }
    let series = Series::of(values);
    let segments = series.segments();
    let level = |segment: &Segment| series.mean(segment.from, segment.to);
    let steady = segments[segments.len() - 1];
    let kept = segments.len() == 1 || (steady.len() * 2 >= windows && !series.drifts(steady));
    let verdict = if segments.len() == 1 {
        Verdict::Flat
    } else if kept {
        let was_better = |before: &Segment| match better {
            Better::Less => level(before) < level(&steady),
            Better::More => level(before) > level(&steady),
        };
        let differs = |before: &&Segment| !series.alike(**before, steady);
        if segments.iter().filter(differs).any(was_better) { Verdict::Slowdown } else { Verdict::WarmUp }
    } else if is_regular(&segments.iter().map(|segment| (segment.len(), level(segment))).collect::<Vec<_>>())
    {
        Verdict::Cyclic
    } else {
        Verdict::NoSteadyState
    };
    Some(SteadyState { verdict, steady_from: kept.then_some(steady.from), segments })
}

/// Logarithms, outliers set back, and their noise.
struct Series {
    logs: Vec<f64>,
    /// Where a segment begins, and the end.
    bounds: Vec<usize>,
    /// Standard deviation of one window, as far as it makes the mean of many uncertain.
    noise: f64,
}

impl Series {
    fn of(values: &[f64]) -> Self {
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

    /// Segments of one level, neighbours of like level as one, joined from the end.
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

    /// Whether its halves are not of one level.
    fn drifts(&self, whole: Segment) -> bool {
        let middle = whole.from.midpoint(whole.to);
        !self.alike(self.segment(whole.from, middle), self.segment(middle, whole.to))
    }
}

fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or(0.0)
}

/// Standard deviation of the differences between neighbours, around their median. Those of changes of level are few, and
/// count as three standard deviations at most.
fn differences(logs: &[f64]) -> f64 {
    let differences: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let centre = middle(&differences);
    let distances: Vec<f64> = differences.iter().map(|difference| (difference - centre).abs()).collect();
    // of normal values, the median distance is 0.6745 standard deviations
    let most = 3.0 * middle(&distances) / 0.6745;
    let squares = distances.iter().map(|distance| distance.min(most).powi(2));
    (squares.sum::<f64>() / distances.len().max(1) as f64).sqrt()
}

/// Standard deviation around the means of the segments, made wider by autocorrelation `r`: the mean of n windows then has
/// the variance `s² (1 + r) / (1 - r) / n`.
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

/// Whether levels lie above and below their middle in turn, at least five times, in periods of which none is more than
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
    // the first may have begun before the run
    let periods: Vec<usize> = begins.iter().zip(begins.iter().skip(2)).skip(1).map(|(a, b)| b - a).collect();
    let (Some(shortest), Some(longest)) = (periods.iter().min(), periods.iter().max()) else { return false };
    begins.len() >= 5 && *longest <= 2 * shortest
}

#[cfg(test)]
#[path = "steady_tests.rs"]
mod tests;
