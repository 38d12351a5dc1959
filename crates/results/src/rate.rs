//! How many samples came in each window of the measured time.

/// Counts on the hot path: one comparison and one addition a sample. Allocates when made only.
#[derive(Debug)]
pub struct WindowCounts {
    /// The last one counts what comes after the planned time.
    counts: Box<[u64]>,
    current: usize,
    length_ns: u64,
    /// 0: nothing has come.
    current_ends_ns: u64,
}

impl WindowCounts {
    /// For `windows` windows over a planned time, which begins with the first sample, and one for what comes later.
    #[must_use]
    pub fn new(windows: u32, planned_ns: u64) -> Self {
        let windows = windows.max(1);
        let mut counts = vec![u64::MAX; windows as usize + 1].into_boxed_slice();
        // every page is touched
        counts.fill(0);
        let length_ns = (planned_ns / u64::from(windows)).max(1);
        Self { counts, current: 0, length_ns, current_ends_ns: 0 }
    }

    /// Counts one sample, which came at `now_ns`.
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
            self.current_ends_ns = now_ns + self.length_ns;
        }
        while now_ns >= self.current_ends_ns {
            if self.current + 1 == self.counts.len() {
                self.current_ends_ns = u64::MAX;
                return;
            }
            self.current += 1;
            self.current_ends_ns = self.current_ends_ns.saturating_add(self.length_ns);
        }
    }

    /// Length of a window.
    #[must_use]
    pub const fn window_ns(&self) -> u64 {
        self.length_ns
    }

    /// The counts, up to the last window in which something came.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        let used = if self.current_ends_ns == 0 { 0 } else { self.current + 1 };
        &self.counts[..used]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_counted_in_its_window() {
        let mut counts = WindowCounts::new(3, 300);
        assert!(counts.counts().is_empty());
        for now in [1_000, 1_099, 1_100, 1_299] {
            counts.count(now);
        }
        assert_eq!((counts.counts(), counts.window_ns()), (&[2, 1, 1][..], 100));
    }

    #[test]
    fn what_comes_late_is_counted_apart_and_a_gap_is_one() {
        let mut counts = WindowCounts::new(3, 300);
        for now in [1_000, 1_250, 1_300, 9_000, 9_001] {
            counts.count(now);
        }
        assert_eq!(counts.counts(), [1, 0, 1, 3]);
    }
}
