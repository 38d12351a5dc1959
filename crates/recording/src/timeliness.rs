//! Timeliness of a stream at its reader: samples within the deadline, age of the newest one, and gaps.

use serde::{Deserialize, Serialize};

use super::histogram::{Distribution, Windows};

/// Samples of a flow that were in time, and the age of the newest one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelinessReport {
    /// Samples that arrived within the deadline after their intended time.
    pub in_time: u64,
    /// Mean age over the measurement time, in ns: the time since the intended time of the newest sample that has arrived. Before the
    /// first arrival: the time since the start of the schedule.
    pub mean_age_ns: f64,
    /// Ages right before the arrival of a newer sample.
    pub age: Distribution,
    /// Number of whole periods of the QoS policy DEADLINE that passed between two arrivals; `None` without this policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<u64>,
}

/// Recorder of the timeliness of a stream. All times are in ns from the start of the schedule. Allocates only on creation.
///
/// The age of information at a time is how long ago the newest sample that has arrived was due. It grows with time, and falls when
/// a newer sample arrives; the values right before that are its peaks. Until the first arrival it is the time since the start.
#[derive(Debug)]
pub struct TimelinessRecorder {
    deadline_ns: u64,
    /// Length of the measurement time. The age ends with it.
    measure_ns: u64,
    /// Period of the QoS policy DEADLINE.
    gap_ns: Option<u64>,
    in_time: u64,
    gaps: u64,
    /// Intended time of the newest sample; `None` before the first arrival.
    newest_ns: Option<u64>,
    /// Time of the last arrival of a newer sample, and of the last arrival of any.
    renewed_ns: u64,
    arrived_ns: u64,
    /// Twice the area below the age, in ns².
    area: u128,
    /// Peak at the first arrival: it started later than others, and only counts if it is the longest.
    first_ns: u64,
    peaks: Windows,
}

impl TimelinessRecorder {
    /// Creates the recorder of a stream with this deadline.
    #[must_use]
    pub fn new(deadline_ns: u64, measure_ns: u64) -> Self {
        let mut peaks = Windows::new(1, measure_ns);
        peaks.begin(0);
        Self {
            deadline_ns,
            measure_ns,
            gap_ns: None,
            in_time: 0,
            gaps: 0,
            newest_ns: None,
            renewed_ns: 0,
            arrived_ns: 0,
            area: 0,
            first_ns: 0,
            peaks,
        }
    }

    /// Counts the gaps: periods of the QoS policy DEADLINE without an arrival, if it has one.
    #[must_use]
    pub fn with_gaps(self, period_ns: Option<u64>) -> Self {
        Self { gap_ns: period_ns.filter(|period_ns| *period_ns > 0), ..self }
    }

    /// Records the arrival of a sample at `now_ns` that was due at `due_ns`.
    #[inline]
    pub fn arrived(&mut self, now_ns: u64, due_ns: u64) {
        self.in_time += u64::from(now_ns.saturating_sub(due_ns) <= self.deadline_ns);
        if self.gap_ns.is_some() {
            self.count_gaps(now_ns.min(self.measure_ns));
        }
        if self.newest_ns.is_some_and(|newest_ns| due_ns <= newest_ns) || self.renewed_ns >= self.measure_ns {
            return;
        }
        let peak_ns = self.grow(now_ns.min(self.measure_ns));
        match self.newest_ns {
            Some(_) => self.peaks.record(now_ns, peak_ns),
            None => self.first_ns = peak_ns,
        }
        self.newest_ns = Some(due_ns);
    }

    /// Adds the area since the last arrival of a newer sample. Returns the age.
    #[inline]
    fn grow(&mut self, now_ns: u64) -> u64 {
        let newest_ns = self.newest_ns.unwrap_or(0);
        let age_at = |at_ns: u64| u128::from(at_ns.saturating_sub(newest_ns));
        let (from, to) = (age_at(self.renewed_ns), age_at(now_ns));
        self.area += (to * to).saturating_sub(from * from);
        self.renewed_ns = self.renewed_ns.max(now_ns);
        to as u64
    }

    fn count_gaps(&mut self, now_ns: u64) {
        let Some(gap_ns) = self.gap_ns else { return };
        self.gaps += now_ns.saturating_sub(self.arrived_ns) / gap_ns;
        self.arrived_ns = self.arrived_ns.max(now_ns);
    }

    /// Ends the measurement time, and returns the values. The age at the end counts as a peak if it is the longest: a stream that has
    /// stopped shows.
    pub fn report(&mut self) -> TimelinessReport {
        self.count_gaps(self.measure_ns);
        let last_ns = if self.renewed_ns < self.measure_ns { self.grow(self.measure_ns) } else { 0 };
        let longest_ns = self.first_ns.max(last_ns);
        let before = self.peaks.distribution();
        if before.n == 0 || longest_ns > before.max_ns {
            self.peaks.record(self.measure_ns, longest_ns);
        }
        (self.first_ns, self.renewed_ns) = (0, self.measure_ns);
        TimelinessReport {
            in_time: self.in_time,
            mean_age_ns: self.area as f64 / 2.0 / self.measure_ns.max(1) as f64,
            age: self.peaks.distribution(),
            gaps: self.gap_ns.map(|_| self.gaps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the report of these arrivals, each a time and the time at which it was due, within 1000 ns.
    fn report(deadline_ns: u64, gap_ns: Option<u64>, arrivals: &[(u64, u64)]) -> TimelinessReport {
        let mut recorder = TimelinessRecorder::new(deadline_ns, 1_000).with_gaps(gap_ns);
        arrivals.iter().for_each(|(now_ns, due_ns)| recorder.arrived(*now_ns, *due_ns));
        recorder.report()
    }

    #[test]
    fn age_of_a_perfect_stream_is_half_a_period_and_the_response() {
        let arrivals: Vec<(u64, u64)> = (0..10).map(|i| (i * 100 + 20, i * 100)).collect();
        let report = report(20, None, &arrivals);
        assert_eq!((report.in_time, report.gaps), (10, None));
        // Until the first arrival 0 to 20; then nine times 20 to 120, and 20 to 100 at the end.
        let area = 20.0 * 10.0 + 9.0 * 100.0 * 70.0 + 80.0 * 60.0;
        assert!((report.mean_age_ns - area / 1_000.0).abs() < 1e-9, "{report:?}");
        assert_eq!((report.age.n, report.age.min_ns, report.age.max_ns), (9, 120, 120));
    }

    #[test]
    fn late_samples_and_samples_out_of_order_do_not_make_a_stream_younger() {
        let report = report(50, None, &[(20, 0), (180, 100), (190, 60), (330, 300), (1_200, 400)]);
        // 20 and 330 are in time.
        assert_eq!(report.in_time, 2);
        // 180 - 0, 330 - 100, and 1000 - 300 at the end; the sample after the end counts there.
        assert_eq!((report.age.n, report.age.max_ns), (3, 700));
        let area = 180.0 * 90.0 + 150.0 * (80.0 + 230.0) / 2.0 + 670.0 * (30.0 + 700.0) / 2.0;
        assert!((report.mean_age_ns - area / 1_000.0).abs() < 1e-9, "{report:?}");
    }

    #[test]
    fn stream_that_stops_or_never_starts_is_as_old_as_that() {
        let stopped = report(50, Some(200), &[(20, 0), (110, 100)]);
        assert_eq!((stopped.age.max_ns, stopped.gaps), (900, Some(4)));
        let silent = report(50, Some(100), &[]);
        assert_eq!((silent.in_time, silent.age.n, silent.age.max_ns, silent.gaps), (0, 1, 1_000, Some(10)));
        assert!((silent.mean_age_ns - 500.0).abs() < 1e-9);
        // Reported again, nothing is added.
        let mut recorder = TimelinessRecorder::new(50, 1_000).with_gaps(Some(100));
        assert_eq!(recorder.report(), recorder.report());
    }
}
