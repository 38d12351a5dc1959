//! Drain of a run: how long its reader waits for samples after the last write.

use control::{IDLE_NS, QUIET_NS};

/// Outcome of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drained {
    /// Whether all samples of the writer were acknowledged. A best effort writer waits for none.
    pub acknowledged: bool,
    /// Whether all samples arrived at the reader.
    pub arrived: bool,
    /// Time at which the reader is closed, after its idle measurement.
    pub closed_ns: u64,
}

impl Drained {
    /// Drains a run as runner and agents do: a reliable writer waits until its samples are acknowledged; then the
    /// reader waits until all samples have arrived or none has for a while, in both cases up to a time limit.
    /// `arrivals`: time and number of distinct samples; 0 for arrivals that only break the silence.
    pub fn new(
        arrivals: impl Iterator<Item = (u64, u64)>,
        (sent, reliable): (u64, bool),
        written_ns: u64,
        limit_ns: u64,
    ) -> Self {
        let (mut recorded, mut late) = (0, Vec::new());
        for (due_ns, samples) in arrivals {
            if due_ns <= written_ns {
                recorded += samples;
            } else {
                late.push((due_ns, samples));
            }
        }
        late.sort_unstable();
        let last_ns = late.last().map_or(written_ns, |(due_ns, _)| *due_ns);
        let all = recorded + late.iter().map(|(_, samples)| samples).sum::<u64>() >= sent;
        let longest_ns = written_ns.saturating_add(limit_ns);
        let acknowledged = !reliable || (all && last_ns <= longest_ns);
        let begin_ns = match (reliable, acknowledged) {
            (false, _) => written_ns,
            (true, true) => last_ns,
            (true, false) => longest_ns,
        };
        let longest_ns = begin_ns.saturating_add(limit_ns);
        let mut quiet_ns = begin_ns;
        for (due_ns, samples) in late {
            if recorded >= sent || due_ns > quiet_ns.saturating_add(QUIET_NS).min(longest_ns) {
                break;
            }
            recorded += samples;
            quiet_ns = quiet_ns.max(due_ns);
        }
        let arrived = recorded >= sent;
        let drained_ns = if arrived { quiet_ns } else { quiet_ns.saturating_add(QUIET_NS).min(longest_ns) };
        Self { acknowledged, arrived, closed_ns: drained_ns.saturating_add(IDLE_NS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Drains a run that wrote until 1 s, with a limit of 5 s and one sample per arrival time in ms. Returns whether
    /// all were acknowledged and arrived, and the end of the drain in ms.
    fn drained(sent: u64, reliable: bool, arrivals_ms: &[u64]) -> (bool, bool, u64) {
        let arrivals = arrivals_ms.iter().map(|ms| (ms * MS, 1));
        let drained = Drained::new(arrivals, (sent, reliable), 1_000 * MS, 5_000 * MS);
        (drained.acknowledged, drained.arrived, (drained.closed_ns - IDLE_NS) / MS)
    }

    #[test]
    fn complete_run_ends_with_its_last_arrival() {
        for reliable in [false, true] {
            assert_eq!(drained(2, reliable, &[900, 990]), (true, true, 1_000));
            assert_eq!(drained(2, reliable, &[900, 1_150]), (true, true, 1_150));
        }
        // Only a reliable writer waits for a late repair.
        assert_eq!(drained(2, true, &[900, 4_000]), (true, true, 4_000));
        assert_eq!(drained(2, false, &[900, 4_000]), (true, false, 1_200));
    }

    #[test]
    fn silence_ends_the_drain_of_a_reader_that_misses_samples() {
        assert_eq!(drained(4, false, &[900, 1_150, 1_340, 1_600]), (true, false, 1_540));
        // Late samples of the warm-up are no silence.
        let arrivals =
            [(1_150, 0), (1_300, 0), (1_450, 1), (1_800, 1)].map(|(ms, samples)| (ms * MS, samples));
        let drained = Drained::new(arrivals.into_iter(), (2, false), 1_000 * MS, 5_000 * MS);
        assert_eq!((drained.arrived, drained.closed_ns), (false, 1_650 * MS + IDLE_NS));
    }

    #[test]
    fn time_limit_ends_both_waits() {
        // The writer waits 5 s for its acknowledgments, then the reader 200 ms for a sample.
        assert_eq!(drained(2, true, &[900, 7_000]), (false, false, 6_200));
        assert_eq!(drained(2, true, &[900, 6_100]), (false, true, 6_100));
        let steady: Vec<u64> = (0..200).map(|index| 900 + 100 * index).collect();
        assert_eq!(drained(200, false, &steady), (true, false, 6_000));
    }
}
