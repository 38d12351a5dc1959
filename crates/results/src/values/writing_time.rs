//! Time of the writers, and rates over it: one rule for all workloads with rates.

use recording::Received;

use crate::{
    schema::{DeliveryCounts, Tail, Throughput},
    values::rules::percent,
};

/// Time from the start of the first write to the end of the last one, or to the end of the schedule if that is
/// later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritingTime {
    begin_ns: u64,
    end_ns: u64,
}

impl WritingTime {
    /// Creates the time between two timestamps; empty if they are in the wrong order.
    #[must_use]
    pub const fn new(begin_ns: u64, end_ns: u64) -> Self {
        Self { begin_ns, end_ns: if end_ns < begin_ns { begin_ns } else { end_ns } }
    }

    /// Returns the same time, extended to at least the measurement of a schedule. At a low rate, the last sample is
    /// written before its period ends.
    #[must_use]
    pub const fn at_least(self, planned_ns: u64) -> Self {
        let end_ns = self.begin_ns.saturating_add(planned_ns);
        Self { end_ns: if end_ns > self.end_ns { end_ns } else { self.end_ns }, ..self }
    }

    /// Returns the start in ns.
    #[must_use]
    pub const fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Returns the length in ns.
    #[must_use]
    pub const fn ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    /// Returns the last time at which an arrival counts: the end plus the time of the quickest sample. Samples are
    /// thus counted for as long as they were written. A long transit time, or a queue that was full from the start,
    /// does not change the rate.
    #[must_use]
    pub const fn last_arrival_ns(&self, received: &Received) -> u64 {
        let quickest_ns = if received.quickest_ns > 0 { received.quickest_ns.cast_unsigned() } else { 0 };
        self.end_ns.saturating_add(quickest_ns)
    }

    /// Returns the number of distinct samples that arrived in time. It is exact except for the arrival window that
    /// contains the last time, of which it counts a proportional share.
    #[must_use]
    pub fn delivered(&self, received: &Received) -> u64 {
        received.delivered_by(self.last_arrival_ns(received))
    }

    /// Returns samples per second; 0 if the time is empty.
    #[must_use]
    pub fn per_second(&self, samples: u64) -> f64 {
        match self.ns() {
            0 => 0.0,
            ns => samples as f64 * 1e9 / ns as f64,
        }
    }

    /// Returns the rate in samples/s of the samples of a reception that arrived in time: their number over the time of the
    /// writers, and at most the rate between the first and the last of them, which are n samples with n - 1 intervals.
    ///
    /// A reader behind a slow link gets its first sample as the time begins, and its last one as it ends. These n samples take
    /// n - 1 intervals, so their number over the time would be one sample above what the link carries.
    fn arrival_sps(&self, received: &Received) -> f64 {
        let samples = self.delivered(received);
        let of_time = self.per_second(samples);
        // One sample has no interval, and those of one instant have no rate.
        let between = match received.ns_of_first(samples) {
            ns @ 1.. if samples > 1 => (samples - 1) as f64 * 1e9 / ns as f64,
            _ => f64::INFINITY,
        };
        between.min(of_time)
    }

    /// Returns the rates and counts of one or more flows that were written in this time. Delivered rates are means over
    /// the readers. Fields that only the caller knows are `None`.
    #[must_use]
    pub fn throughput(
        &self,
        [offered, accepted]: [u64; 2],
        counted: &DeliveryCounts,
        received: &[&Received],
        readers: usize,
    ) -> Throughput {
        let (mut in_time, mut sps, mut bytes_per_s, mut last_ns) = (0_u64, 0.0, 0.0, 0);
        for received in received {
            let of_flow = self.arrival_sps(received);
            in_time = in_time.saturating_add(self.delivered(received));
            sps += of_flow;
            bytes_per_s += of_flow * received.bytes as f64 / received.delivered.max(1) as f64;
            last_ns = last_ns.max(received.last_ns);
        }
        let DeliveryCounts { sent, delivered, lost, undelivered, duplicate, out_of_order, .. } = *counted;
        let readers = readers.max(1) as f64;
        Throughput {
            offered_sps: self.per_second(offered),
            accepted_sps: self.per_second(accepted),
            delivered_sps: sps / readers,
            goodput_mbps: bytes_per_s * 8.0 / 1e6 / readers,
            sent,
            delivered,
            delivered_in_time: in_time,
            tail: Tail {
                samples: delivered.saturating_sub(in_time),
                ns: last_ns.saturating_sub(self.end_ns),
            },
            lost,
            undelivered,
            lost_pct: percent(lost, sent),
            duplicate,
            out_of_order,
            ..Throughput::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use recording::WindowCounts;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;
    /// One second of writing.
    const WRITING: WritingTime = WritingTime { begin_ns: 5 * S, end_ns: 6 * S };

    /// A reader whose samples arrive at these times after the start of writing; the quickest of them took
    /// `quickest_ns`.
    fn received(arrivals: impl IntoIterator<Item = u64>, quickest_ns: u64) -> Received {
        let mut windows = WindowCounts::new(100, S);
        let mut received = Received { quickest_ns: quickest_ns.cast_signed(), ..Received::default() };
        for at in arrivals {
            let now_ns = WRITING.begin_ns + at;
            windows.count(now_ns);
            received.first_ns = if received.delivered == 0 { now_ns } else { received.first_ns };
            (received.last_ns, received.delivered) = (now_ns, received.delivered + 1);
        }
        received.bytes = 100 * received.delivered;
        received.arrivals = windows.arrivals();
        received
    }

    fn every_ms(from_ns: u64, samples: u64) -> impl Iterator<Item = u64> {
        (0..samples).map(move |sample| from_ns + sample * MS)
    }

    fn throughput(received: &Received) -> Throughput {
        let counted =
            DeliveryCounts { sent: 1_000, delivered: received.delivered, ..DeliveryCounts::default() };
        WRITING.throughput([1_000; 2], &counted, &[received], 1)
    }

    fn rate(received: &Received) -> f64 {
        throughput(received).delivered_sps
    }

    #[test]
    fn rate_with_a_late_repair_is_that_of_the_others_and_the_tail_has_it() {
        let healthy = throughput(&received(every_ms(50_000, 1_000), 50_000));
        assert_eq!((healthy.delivered_sps, healthy.tail), (1_000.0, Tail { samples: 0, ns: 0 }));
        let repaired = throughput(&received(every_ms(50_000, 999).chain([3_500 * MS]), 50_000));
        assert_eq!((repaired.delivered_sps, repaired.delivered_in_time), (999.0, 999));
        assert_eq!(repaired.tail, Tail { samples: 1, ns: 2_500 * MS });
        assert!((repaired.goodput_mbps - 999.0 * 800.0 / 1e6).abs() < 1e-12);
    }

    #[test]
    fn rate_of_a_long_way_is_that_of_a_short_one() {
        for on_its_way in [0, 10_000, 100 * MS, 3 * S] {
            let throughput = throughput(&received(every_ms(on_its_way, 1_000), on_its_way));
            assert_eq!(throughput.delivered_sps, 1_000.0, "{on_its_way}");
            assert_eq!(throughput.tail, Tail { samples: 0, ns: on_its_way.saturating_sub(MS) });
        }
    }

    /// A reader keeps up with half of what is written, and reads the other half afterwards.
    #[test]
    fn queue_that_drains_after_the_last_write_is_tail() {
        let slow = throughput(&received((0..1_000).map(|sample| sample * 2 * MS), 0));
        assert!((slow.delivered_sps - 500.0).abs() <= 0.1, "{slow:?}");
        assert_eq!(slow.tail.samples, 1_000 - slow.delivered_in_time);
        assert_eq!(slow.tail.ns, 998 * MS);
    }

    /// A link that carries a sample in 36 ms, and a writer whose first samples wait in its send queue: 28 arrive within 1 s and
    /// the time of the quickest, the first one as it begins.
    #[test]
    fn few_arrivals_over_a_slow_link_do_not_exceed_it() {
        let few = throughput(&received((0..40).map(|sample| (sample + 1) * 36 * MS), 36 * MS));
        assert_eq!(few.delivered_in_time, 28);
        let carried = 1e9 / (36 * MS) as f64;
        assert!(few.delivered_sps <= carried * 1.0001, "{} of {carried}", few.delivered_sps);
        assert!(few.delivered_sps >= carried * 0.999, "{} of {carried}", few.delivered_sps);
        assert!((few.goodput_mbps - few.delivered_sps * 800.0 / 1e6).abs() < 1e-12);
    }

    #[test]
    fn simultaneous_arrivals_have_the_rate_of_writing_or_none() {
        // a reader without a core: all samples in one take, in time
        assert_eq!(rate(&received([990 * MS; 29].into_iter().chain([992 * MS; 3]), 3 * MS)), 32.0);
        // delayed from the first sample on: that is latency, and the tail shows how long it was
        let held = throughput(&received([3 * S; 1_000], 2 * S));
        assert_eq!((held.delivered_sps, held.tail), (1_000.0, Tail { samples: 0, ns: 2 * S }));
        // all but the first few: they arrive together, but not in time
        let stuck = throughput(&received([50_000; 5].into_iter().chain([3 * S; 995]), 50_000));
        assert_eq!((stuck.delivered_sps, stuck.tail), (5.0, Tail { samples: 995, ns: 2 * S }));
        // only a few samples: two intervals
        assert_eq!(rate(&received([40_000, 2 * MS, 990 * MS], 40_000)).round(), 2.0);
    }

    #[test]
    fn empty_counts_have_no_rate() {
        assert_eq!(rate(&Received::default()), 0.0);
        let nothing = WritingTime::new(7, 7).throughput([0; 2], &DeliveryCounts::default(), &[], 1);
        assert_eq!((nothing.delivered_sps, nothing.accepted_sps, nothing.goodput_mbps), (0.0, 0.0, 0.0));
        assert_eq!(WritingTime::new(7, 3).ns(), 0);
        assert_eq!(WritingTime::new(7, 9).at_least(5), WritingTime::new(7, 12));
        assert_eq!(WritingTime::new(7, 9).at_least(1), WritingTime::new(7, 9));
    }

    proptest! {
        /// For any arrivals, the count is that of the arrivals themselves, except for those of one arrival window.
        #[test]
        fn count_is_that_of_arrivals_within_one_window(
            times in prop::collection::vec(0_u64..4 * S, 1..400),
            quickest_ns in 0_u64..2 * S,
        ) {
            let mut times = times;
            times.sort_unstable();
            let received = received(times.iter().copied(), quickest_ns);
            let cut_ns = WRITING.last_arrival_ns(&received);
            let exact = times.iter().filter(|at| WRITING.begin_ns + **at <= cut_ns).count() as u64;
            let counted = WRITING.delivered(&received);
            // a 10,000th of the time, however long the tail is; twice that if the end is later than twice the time
            let window_ns = if cut_ns - received.first_ns.min(cut_ns) < 2 * S { 100_000 } else { 200_000 };
            let near = times.iter().filter(|at| (WRITING.begin_ns + **at).abs_diff(cut_ns) <= window_ns).count() as u64;
            prop_assert!(counted.abs_diff(exact) <= near, "{counted} and {exact}, within {near}");
            prop_assert!(counted <= received.delivered);
            // The rate is at most one sample below the number. A sample of these times may arrive before the quickest could.
            let of_time = rate(&received) * WRITING.ns() as f64 / 1e9;
            let least = (counted as f64 - 1.0) * S as f64 / (S + quickest_ns) as f64;
            prop_assert!(of_time <= counted as f64 * (1.0 + 1e-9), "{of_time} of {counted}");
            prop_assert!(of_time >= least * (1.0 - 2e-4), "{of_time} of {counted}");
        }
    }
}
