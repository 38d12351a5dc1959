//! Steady-state classes of runs, from windowed measurements, and their warnings.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use recording::{Received, new_histogram, operations};
use stats::{Better, Steadiness, format_value, supports_quantile, total};

use crate::{
    schema::{
        CellResult, Run, Warning, WarningKind,
        steady::{RateWindows, SteadyClass, SteadySegment, SteadyState},
    },
    values::writing_time::WritingTime,
};

/// Minimum mean number of samples per window for a rate that can be compared with the next window.
const LEAST_IN_A_WINDOW: u64 = 50;
/// One in this many windows may have too few values (a stall). It takes the value of the previous window.
const SPARSE: usize = 20;

/// Maximum number of windows of a rate that a result keeps.
const MOST_KEPT: usize = 25;

/// Returns the steady-state classes of a latency by the median and by the 99 % quantile of each window, as
/// `KIND_p50` and `KIND_p99`. If windows have too few values, neighbours are merged. Where merging could hide a
/// change, no class is returned.
#[must_use]
pub fn steady_latency(
    kind: &str,
    windows: &[Histogram<u64>],
    window_ns: u64,
) -> BTreeMap<String, SteadyState> {
    [("p50", 0.5), ("p99", 0.99)]
        .into_iter()
        .filter_map(|(name, quantile)| {
            let (together, values) = groupings(windows.len())
                .find_map(|together| Some((together, series(windows, together, quantile)?)))?;
            let state = stats::steady_state(&values, Better::Less)?;
            if hides(together, &state, || typical(windows)) {
                return None;
            }
            let length_ns = window_ns.saturating_mul(together as u64);
            Some((
                format!("{kind}_{name}"),
                in_time(&state, length_ns, |segment| (Some(segment.level), None)),
            ))
        })
        .collect()
}

/// Returns the steady-state class of the delivered rate. Only windows between the first arrival and the last one in
/// time are used: the tail is not a level of the rate.
#[must_use]
pub fn steady_rate(received: &Received, writing: WritingTime) -> Option<SteadyState> {
    let window_ns = received.window_ns.max(1);
    let last_ns = received.last_ns.min(writing.last_arrival_ns(received));
    let whole = last_ns.saturating_sub(received.first_ns) / window_ns;
    let whole = (received.window_delivered.len()).min(usize::try_from(whole).unwrap_or(usize::MAX));
    let windows = &received.window_delivered[..whole];
    let delivered = total(windows.iter().copied());
    let together =
        groupings(whole).find(|together| delivered >= LEAST_IN_A_WINDOW * (whole / together) as u64)?;
    // a window without samples has no logarithm
    let values: Vec<f64> =
        windows.chunks_exact(together).map(|group| (total(group.iter().copied()) as f64).max(0.5)).collect();
    let state = stats::steady_state(&values, Better::More)?;
    let alone = || Some(windows.iter().map(|delivered| (*delivered as f64).max(0.5)).collect());
    if hides(together, &state, alone) {
        return None;
    }
    let length_ns = window_ns.saturating_mul(together as u64);
    // the rate itself: 0 if nothing arrived
    let in_time = in_time(&state, length_ns, |segment| {
        let counts = &windows[segment.from * together..segment.to * together];
        let time_ns = window_ns.saturating_mul(counts.len() as u64);
        (None, Some(total(counts.iter().copied()) as f64 * 1e9 / time_ns as f64))
    });
    let kept = whole.div_ceil(MOST_KEPT).max(1);
    let windows = RateWindows {
        length_ns: window_ns.saturating_mul(kept as u64),
        delivered: windows.chunks_exact(kept).map(|group| total(group.iter().copied())).collect(),
    };
    Some(SteadyState { windows: Some(windows), ..in_time })
}

/// Returns the numbers of windows that may be merged so that enough windows are left.
fn groupings(windows: usize) -> impl Iterator<Item = usize> {
    [1, 2, 4, 5].into_iter().filter(move |together| windows / together >= stats::MIN_WINDOWS)
}

/// Returns whether merging windows could hide a change: the merged windows are flat, but the single windows have
/// levels too short for merged ones to show. `alone` returns one value per window, from any number of samples.
fn hides(together: usize, state: &stats::SteadyState, alone: impl FnOnce() -> Option<Vec<f64>>) -> bool {
    if together == 1 || state.verdict != Steadiness::Flat {
        return false;
    }
    let Some(values) = alone() else { return false };
    let shortest = stats::shortest_segment(values.len() / together) * together;
    stats::steady_state(&values, Better::Less).is_some_and(|finer| {
        finer.verdict != Steadiness::Flat
            && finer.segments.iter().any(|segment| segment.to - segment.from < shortest)
    })
}

/// Returns the median of each window. An empty window has that of the previous one. `None` without values.
fn typical(windows: &[Histogram<u64>]) -> Option<Vec<f64>> {
    let median = |window: &Histogram<u64>| {
        (!window.is_empty()).then(|| operations::value_at_quantile(window, 0.5).max(1) as f64)
    };
    let mut last = windows.iter().find_map(median)?;
    Some(
        windows
            .iter()
            .map(|window| {
                last = median(window).unwrap_or(last);
                last
            })
            .collect(),
    )
}

/// Returns the quantile of each group of windows; `None` if too many groups have too few values.
fn series(windows: &[Histogram<u64>], together: usize, quantile: f64) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    let mut sparse = 0;
    for group in windows.chunks_exact(together) {
        let n: u64 = group.iter().map(Histogram::len).sum();
        values.push(if !supports_quantile(n, quantile) {
            sparse += 1;
            values.last().copied().flatten()
        } else if let [window] = group {
            Some(operations::value_at_quantile(window, quantile).max(1) as f64)
        } else {
            let mut all = new_histogram();
            group.iter().try_for_each(|window| operations::add(&mut all, window)).ok()?;
            Some(operations::value_at_quantile(&all, quantile).max(1) as f64)
        });
    }
    let first = values.iter().copied().flatten().next()?;
    (sparse * SPARSE <= values.len())
        .then(|| values.into_iter().map(|value| value.unwrap_or(first)).collect())
}

fn in_time(
    state: &stats::SteadyState,
    window_ns: u64,
    level: impl Fn(&stats::Segment) -> (Option<f64>, Option<f64>),
) -> SteadyState {
    let at = |window: usize| window_ns.saturating_mul(window as u64);
    SteadyState {
        verdict: match state.verdict {
            Steadiness::Flat => SteadyClass::Flat,
            Steadiness::WarmUp => SteadyClass::WarmUp,
            Steadiness::Slowdown => SteadyClass::Slowdown,
            Steadiness::NoSteadyState => SteadyClass::NoSteadyState,
            Steadiness::Cyclic => SteadyClass::Cyclic,
        },
        steady_from_ns: state.steady_from.map(at),
        segments: state
            .segments
            .iter()
            .map(|segment| {
                let (level_ns, level_sps) = level(segment);
                SteadySegment { from_ns: at(segment.from), to_ns: at(segment.to), level_ns, level_sps }
            })
            .collect(),
        windows: None,
    }
}

/// Run numbers and states by steady-state class.
type SteadyCounts<'r> = BTreeMap<SteadyClass, Vec<(u32, &'r SteadyState)>>;

/// Returns one warning per metric for the runs of a cell without a steady level.
pub(crate) fn not_steady(valid: &[&Run]) -> Vec<Warning> {
    let mut kinds: BTreeMap<&str, SteadyCounts<'_>> = BTreeMap::new();
    for run in valid {
        for (kind, state) in &run.steady_state {
            kinds.entry(kind).or_default().entry(state.verdict).or_default().push((run.number, state));
        }
    }
    kinds
        .into_iter()
        .filter_map(|(kind, verdicts)| {
            let judged: usize = verdicts.values().map(Vec::len).sum();
            let clauses: Vec<String> = verdicts
                .iter()
                .filter_map(|(verdict, runs)| {
                    let (number, first) = runs.first()?;
                    let example = if runs.len() == 1 { "run" } else { "for example run" };
                    let what = in_words(kind, *verdict, first)?;
                    Some(format!("{} of {judged} runs {what}, {example} {number})", runs.len()))
                })
                .collect();
            (!clauses.is_empty()).then(|| Warning::new(WarningKind::NotSteady, clauses.join("; ")))
        })
        .collect()
}

/// Describes a run, up to a bracket that is left open; `None` for a flat run.
fn in_words(kind: &str, verdict: SteadyClass, state: &SteadyState) -> Option<String> {
    let levels = || state.segments.iter().map(SteadySegment::level);
    let (low, high) = (levels().fold(f64::INFINITY, f64::min), levels().fold(f64::NEG_INFINITY, f64::max));
    let steady = state.segments.last()?.level();
    let is_rate = state.segments.last()?.level_sps.is_some();
    let (best, worst) = if is_rate { (high, low) } else { (low, high) };
    let (does, from, to) = match verdict {
        SteadyClass::Flat => return None,
        SteadyClass::WarmUp => ("still warmed up while measured", worst, steady),
        SteadyClass::Slowdown => ("slowed down while measured", best, steady),
        SteadyClass::NoSteadyState => ("reached no steady state while measured", low, high),
        SteadyClass::Cyclic => ("went up and down while measured", low, high),
    };
    let name = match kind {
        "rtt_p50" => "median RTT",
        "rtt_p99" => "99 % RTT",
        "response_p50" => "median response",
        "response_p99" => "99 % response",
        "delivered" => "samples delivered",
        other => other,
    };
    let (scale, unit) = if is_rate { (1.0, "/s") } else { (1e3, " µs") };
    let [from, to] = [from, to].map(|level| format_value(level / scale));
    Some(format!("{does} ({name} from {from} to {to}{unit}"))
}

impl CellResult {
    /// Returns whether at least half of the valid runs never reached a steady state.
    #[must_use]
    pub fn is_mostly_unsteady(&self) -> bool {
        let of =
            |run: &&Run| run.steady_state.values().any(|state| state.verdict == SteadyClass::NoSteadyState);
        let (unsteady, valid) = (self.valid_runs().filter(of).count(), self.valid_runs().count());
        unsteady > 0 && 2 * unsteady >= valid
    }
}
