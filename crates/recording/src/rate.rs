//! Counts of arrivals over time: coarse windows for the steady state, fine windows for the delivered rate.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use stats::total;

/// Approximate number of arrival windows of the planned time. A count of [`Arrivals`] is exact within one window.
pub const ARRIVAL_WINDOWS: u32 = 10_000;

/// Arrivals of distinct samples over time, from the first sample on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrivals {
    /// Length of a window in ns: the planned time divided by about 10,000.
    pub window_ns: u64,
    /// Number of samples in each window, for up to twice the planned time.
    pub windows: Vec<u64>,
    /// Length in ns of a window of `late_windows`: `window_ns`, doubled as often as needed.
    pub late_window_ns: u64,
    /// Number of samples in each window after twice the planned time.
    pub late_windows: Vec<u64>,
}

impl Arrivals {
    /// Returns the number of samples that arrived within `after_ns` of the first one; the last one arrived `last_ns` after
    /// the first. It is exact except for the window that contains this time, of which it counts a proportional share: of
    /// the time up to the last sample if that is in the window, too.
    #[must_use]
    pub fn within(&self, after_ns: u64, last_ns: u64) -> u64 {
        let early_ns = self.window_ns.saturating_mul(self.windows.len() as u64);
        let early = in_windows(&self.windows, self.window_ns, after_ns, last_ns);
        let late = after_ns.checked_sub(early_ns).map(|after_ns| {
            let last_ns = last_ns.saturating_sub(early_ns);
            in_windows(&self.late_windows, self.late_window_ns, after_ns, last_ns)
        });
        early.saturating_add(late.unwrap_or(0))
    }

    /// Returns the start of the window in which this number of samples has arrived, in ns after the first arrival.
    #[must_use]
    pub fn time_of(&self, samples: u64) -> u64 {
        let windows = |counts: &[u64], length_ns: u64, from_ns: u64| {
            let starts =
                (0..counts.len() as u64).map(move |number| number.saturating_mul(length_ns) + from_ns);
            starts.zip(counts.to_vec())
        };
        let early_ns = self.window_ns.saturating_mul(self.windows.len() as u64);
        let all = windows(&self.windows, self.window_ns, 0);
        let mut arrived = 0_u64;
        all.chain(windows(&self.late_windows, self.late_window_ns, early_ns))
            .find(|(_, count)| {
                arrived = arrived.saturating_add(*count);
                arrived >= samples
            })
            .map_or(0, |(start_ns, _)| start_ns)
    }
}

fn in_windows(windows: &[u64], length_ns: u64, after_ns: u64, last_ns: u64) -> u64 {
    let length_ns = length_ns.max(1);
    let whole = usize::try_from(after_ns / length_ns).unwrap_or(usize::MAX).min(windows.len());
    let before = total(windows[..whole].iter().copied());
    let share = windows.get(whole).map_or(0, |count| {
        // the instant itself belongs to the window
        let part_ns = after_ns % length_ns + 1;
        let filled_ns = last_ns.saturating_sub(after_ns).saturating_add(part_ns).min(length_ns);
        (u128::from(*count) * u128::from(part_ns) / u128::from(filled_ns)) as u64
    });
    before.saturating_add(share)
}

/// Counters of arrivals for the hot path: one comparison and one addition per sample. Allocates only on creation.
///
/// The memory covers twice the planned time, and the same number of windows for later arrivals. If that is not
/// enough, the late windows double their length.
#[derive(Debug)]
pub struct WindowCounts {
    /// Arrivals by arrival window, the early windows first. Both parts have an even length.
    counts: Box<[u64]>,
    /// Number of early arrival windows.
    early: usize,
    current: usize,
    length_ns: u64,
    late_length_ns: u64,
    /// End of the current window; 0 before the first sample.
    current_ends_ns: u64,
    windows: usize,
    /// Number of arrival windows per window.
    per_window: usize,
}

impl WindowCounts {
    /// Creates counters with `windows` windows over a planned time that starts with the first sample.
    #[must_use]
    pub fn new(windows: u32, planned_ns: u64) -> Self {
        let windows = windows.max(1);
        let per_window = (ARRIVAL_WINDOWS / windows).max(1);
        let early = 2 * windows as usize * per_window as usize;
        // touches every page, so that counting causes no page fault; an optimizer may not leave it out
        let mut counts = vec![u64::MAX; 2 * early].into_boxed_slice();
        black_box(&mut counts);
        counts.fill(0);
        let length_ns = (planned_ns / (u64::from(windows) * u64::from(per_window))).max(1);
        Self {
            counts,
            early,
            current: 0,
            length_ns,
            late_length_ns: length_ns,
            current_ends_ns: 0,
            windows: windows as usize,
            per_window: per_window as usize,
        }
    }

    /// Counts one sample that arrived at `now_ns`.
    #[inline]
    pub fn count(&mut self, now_ns: u64) {
        if now_ns >= self.current_ends_ns {
            self.advance(now_ns);
        }
        self.counts[self.current] += 1;
    }

    #[cold]
    fn advance(&mut self, now_ns: u64) {
        if self.current_ends_ns == 0 {
            self.current_ends_ns = now_ns.saturating_add(self.length_ns);
            return;
        }
        while now_ns >= self.current_ends_ns {
            let is_early = self.current < self.early;
            let (length_ns, last) = if is_early {
                (self.length_ns, self.early)
            } else {
                (self.late_length_ns, self.counts.len())
            };
            let further = ((now_ns - self.current_ends_ns) / length_ns).saturating_add(1);
            let left = (last - 1 - self.current) as u64;
            if further > left && !is_early {
                self.halve_late();
                continue;
            }
            let step = further.min(left);
            self.current += step as usize;
            self.current_ends_ns = self.current_ends_ns.saturating_add(length_ns.saturating_mul(step));
            if further > left {
                self.current += 1;
                self.current_ends_ns = self.current_ends_ns.saturating_add(self.late_length_ns);
            }
            if self.current_ends_ns == u64::MAX {
                return;
            }
        }
    }

    /// Merges pairs of late windows.
    fn halve_late(&mut self) {
        let late = &mut self.counts[self.early..];
        let half = late.len() / 2;
        for index in 0..half {
            late[index] = late[2 * index] + late[2 * index + 1];
        }
        late[half..].fill(0);
        let current = self.current - self.early;
        if current.is_multiple_of(2) {
            // the second half of the current window is still to come
            self.current_ends_ns = self.current_ends_ns.saturating_add(self.late_length_ns);
        }
        self.current = self.early + current / 2;
        self.late_length_ns = self.late_length_ns.saturating_mul(2);
    }

    /// Returns the length of a window in ns.
    #[must_use]
    pub const fn window_ns(&self) -> u64 {
        self.length_ns.saturating_mul(self.per_window as u64)
    }

    /// Returns the arrivals in each window of the planned time, then those after it, up to the last window that is
    /// not empty.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        let (planned, rest) = self.counts.split_at(self.windows * self.per_window);
        let windows = planned.chunks_exact(self.per_window);
        let mut counts: Vec<u64> = windows.chain([rest]).map(|window| window.iter().sum()).collect();
        counts.truncate(counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1));
        counts
    }

    /// Returns the arrivals in each arrival window, up to the last window that is not empty.
    #[must_use]
    pub fn arrivals(&self) -> Arrivals {
        let used = if self.current_ends_ns == 0 { 0 } else { self.current + 1 };
        let (early, late) = self.counts[..used].split_at(used.min(self.early));
        Arrivals {
            window_ns: self.length_ns,
            windows: early.to_vec(),
            late_window_ns: self.late_length_ns,
            late_windows: late.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_sample_is_counted_in_its_window() {
        let mut counts = WindowCounts::new(3, 300);
        assert!(counts.counts().is_empty() && counts.arrivals().windows.is_empty());
        for now in [1_000, 1_099, 1_100, 1_299] {
            counts.count(now);
        }
        let per_window = 3_333;
        // arrival windows are at least 1 ns long
        assert_eq!((counts.arrivals().window_ns, counts.window_ns()), (1, per_window));
        let mut counts = WindowCounts::new(3, 3 * 1_000 * per_window);
        for now in [1, 999 * per_window, 1_000 * per_window + 1, 2_999 * per_window] {
            counts.count(now);
        }
        assert_eq!((counts.counts(), counts.window_ns()), (vec![2, 1, 1], 1_000 * per_window));
    }

    #[test]
    fn late_samples_are_counted_separately_and_gaps_are_kept() {
        let mut counts = WindowCounts::new(2, 20_000);
        for now in [1_000, 12_000, 21_000, 90_000, 90_001] {
            counts.count(now);
        }
        assert_eq!(counts.counts(), [1, 1, 3]);
        assert_eq!(counts.window_ns(), 10_000);
        // more than twice the planned time: only that part has half the resolution
        let arrivals = counts.arrivals();
        assert_eq!((arrivals.window_ns, arrivals.late_window_ns), (2, 4));
        assert_eq!(
            [1, 10_999, 11_001, 20_001, 88_999, 89_003].map(|after| arrivals.within(after, u64::MAX)),
            [1, 1, 2, 3, 3, 5]
        );
    }

    #[test]
    fn last_window_is_as_long_as_its_arrivals() {
        // Windows of 1 s, of which arrivals fill one and a half: the traffic ended early.
        let (second, ms) = (1_000_000_000, 1_000_000);
        let mut counts = WindowCounts::new(1, 10_000 * second);
        (0..1_500).for_each(|sample| counts.count(second + sample * ms));
        let arrivals = counts.arrivals();
        assert_eq!((arrivals.window_ns, arrivals.windows.len()), (second, 2));
        for (after_ms, counted) in [(500, 500), (1_250, 1_251), (1_499, 1_500)] {
            let found = arrivals.within(after_ms * ms, 1_499 * ms);
            assert!(found.abs_diff(counted) <= 1, "{found} of {counted}");
        }
    }

    proptest! {
        /// Each sample is counted in the window of its arrival, and the resolution is as documented.
        #[test]
        fn arrivals_are_in_the_windows_of_their_times(
            windows in 1_u32..200,
            planned_ns in 1_u64..10_000_000,
            first_ns in 1_u64..1 << 40,
            gaps in prop::collection::vec(prop_oneof![0_u64..2_000, 0_u64..50_000_000], 0..60),
        ) {
            let mut counts = WindowCounts::new(windows, planned_ns);
            let mut now_ns = first_ns;
            let mut times = vec![now_ns];
            for gap in gaps {
                now_ns += gap;
                times.push(now_ns);
            }
            for now_ns in &times {
                counts.count(*now_ns);
            }
            let arrivals = counts.arrivals();
            let (mut early, mut late) = (vec![0; arrivals.windows.len()], vec![0; arrivals.late_windows.len()]);
            let covered_ns = 2 * u64::from(ARRIVAL_WINDOWS / windows * windows) * arrivals.window_ns;
            for time in times.iter().map(|time| time - first_ns) {
                match time.checked_sub(covered_ns) {
                    None => early[(time / arrivals.window_ns) as usize] += 1,
                    Some(later) => late[(later / arrivals.late_window_ns) as usize] += 1,
                }
            }
            prop_assert_eq!((&arrivals.windows, &arrivals.late_windows), (&early, &late));
            let least = u64::from(ARRIVAL_WINDOWS / windows * windows);
            prop_assert!(arrivals.window_ns <= (planned_ns / least).max(1));
            let later_ns = (now_ns - first_ns).saturating_sub(covered_ns);
            prop_assert!(arrivals.late_window_ns <= (later_ns / least).max(arrivals.window_ns));
            let mut coarse = vec![0; windows as usize + 1];
            for time in &times {
                let window = ((time - first_ns) / counts.window_ns()).min(windows.into());
                coarse[window as usize] += 1;
            }
            let used = counts.counts().len();
            prop_assert_eq!(&coarse[..used], &counts.counts()[..]);
            prop_assert!(coarse[used..].iter().all(|count| *count == 0));
        }
    }

    #[test]
    fn the_end_of_time_is_counted_too() {
        let mut counts = WindowCounts::new(100, 1_000_000);
        for now in [1, u64::MAX - 1, u64::MAX] {
            counts.count(now);
        }
        assert_eq!(
            (counts.counts().iter().sum::<u64>(), counts.arrivals().late_windows.iter().sum::<u64>()),
            (3, 2)
        );
    }
}
