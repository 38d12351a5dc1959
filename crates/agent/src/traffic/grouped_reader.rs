//! Reader that takes samples one by one as they arrive, or in groups.
//!
//! ddsmark forms the groups itself, since no call of the driver contract waits for several samples. The first
//! sample wakes the thread. The thread then sleeps until the rest is expected, by the observed distance of samples,
//! and never beyond the time limit of the group. The application gets the samples of a group together when the
//! group is complete: its measurements include that wait.

use driver_host::{DriverError, Reader, Sample};
use experiment::{ReaderSpec, ReceiveGroup};
use results::TakeStats;

use crate::base::{clock::now_ns, sleep_spin_timer::sleep_until};

/// Maximum number of samples per receive call.
pub(super) const MAX_SAMPLES: u32 = 256;

/// Divisor for the shortest distance of samples that a group follows. The dividend is the distance at which the
/// group is just full at its time limit. If samples arrive closer, they fill the group between two looks.
const LEAST_GAP: u64 = 64;

/// A reader and its way of taking samples.
#[derive(Debug)]
pub struct GroupedReader {
    reader: Reader,
    grouping: Option<Grouping>,
    /// Receive calls since the last sample was returned.
    calls: u64,
    takes: TakeStats,
    largest: u64,
    taken: u64,
}

impl GroupedReader {
    /// Creates a reader with its grouping.
    #[must_use]
    pub fn new(reader: Reader, spec: &ReaderSpec) -> Self {
        let size = spec.max_size_bytes() as usize;
        let grouping = spec.receive_group.map(|group| Grouping::new(group, size));
        Self { reader, grouping, calls: 0, takes: TakeStats::default(), largest: 0, taken: 0 }
    }

    /// Waits up to `timeout_ns` for the first sample, and passes the available samples, or the group, to the sink.
    /// Returns their number.
    ///
    /// # Errors
    /// Returns the driver's error if a receive call fails.
    #[inline]
    pub fn receive(&mut self, timeout_ns: u64, sink: impl FnMut(Sample<'_>)) -> Result<u32, DriverError> {
        let Some(grouping) = &mut self.grouping else {
            self.calls += 1;
            let taken = self.reader.receive(timeout_ns, MAX_SAMPLES, sink)?;
            self.taken += u64::from(taken);
            return Ok(taken);
        };
        self.calls += grouping.gather(&mut self.reader, timeout_ns)?;
        Ok(grouping.pending.give(sink))
    }

    /// Records the last take: `new` of its `taken` samples were new and of the measurement phase.
    #[inline]
    pub fn count_take(&mut self, taken: u32, new: u64) {
        if new > 0 {
            self.takes.groups += 1;
            self.takes.samples += new;
            self.takes.calls += self.calls;
            self.largest = self.largest.max(new);
        }
        if taken > 0 {
            self.calls = 0;
        }
    }

    /// Returns how many samples receive calls returned since the reader was opened, as the driver counts them.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.grouping.as_ref().map_or(self.taken, |grouping| grouping.pending.taken)
    }

    /// Returns the take statistics of the measurement phase.
    #[must_use]
    pub fn takes(&self) -> TakeStats {
        TakeStats::new(self.takes.groups, self.takes.samples, self.largest, self.takes.calls)
    }

    /// Closes the reader.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails.
    pub fn close(self) -> Result<(), DriverError> {
        self.reader.close()
    }
}

/// Grouping, with the samples of the current group.
#[derive(Debug)]
struct Grouping {
    group: Looks,
    pending: PendingGroup,
}

impl Grouping {
    fn new(group: ReceiveGroup, size: usize) -> Self {
        Self { group: Looks::new(group), pending: PendingGroup::new(group.samples, size) }
    }

    /// Waits for a first sample, then for its group. Returns the number of receive calls.
    fn gather(&mut self, reader: &mut Reader, timeout_ns: u64) -> Result<u64, DriverError> {
        let Self { group, pending } = self;
        pending.clear();
        let mut calls = 1;
        if pending.take(reader, timeout_ns, group.samples)? == 0 {
            return Ok(calls);
        }
        calls += pending.take_all(reader, group.samples)?;
        let mut now = now_ns();
        group.begin(now, pending.len());
        while let Some(at_ns) = group.next(now, pending.len()) {
            sleep_until(at_ns, now);
            calls += pending.take_all(reader, group.samples)?;
            now = now_ns();
        }
        Ok(calls)
    }
}

/// Times at which to look for the rest of a group.
#[derive(Debug)]
struct Looks {
    samples: u32,
    delay_ns: u64,
    /// Distance of two samples in ns, as last observed or guessed.
    gap_ns: u64,
    /// Lower limit of the distance in ns.
    least_gap_ns: u64,
    /// Time at which the first samples of this group were found, and their number.
    first: (u64, u32),
}

impl Looks {
    fn new(group: ReceiveGroup) -> Self {
        let ReceiveGroup { samples, delay_ns, .. } = group;
        let gap_ns = (delay_ns / u64::from(samples.max(1))).max(1);
        Self { samples, delay_ns, gap_ns, least_gap_ns: (gap_ns / LEAST_GAP).max(1), first: (0, 0) }
    }

    /// Starts a group: at `now_ns`, `there` samples were available.
    fn begin(&mut self, now_ns: u64, there: u32) {
        self.first = (now_ns, there);
        if there >= self.samples {
            // they waited before, or arrived all at once
            self.guess(self.gap_ns / 2);
        }
    }

    /// Returns the time of the next look, with `there` samples available; `None`: the group is complete.
    fn next(&mut self, now_ns: u64, there: u32) -> Option<u64> {
        let (first_ns, at_once) = self.first;
        let waited_ns = now_ns - first_ns;
        if waited_ns > 0 && there >= self.samples {
            // it is unknown when the group became full: look a little earlier next time
            self.guess(self.gap_ns - self.gap_ns / 8);
        } else if waited_ns > 0 {
            // the last sample arrived within the last gap: half a gap ago, on average
            self.guess(2 * waited_ns / (2 * u64::from(there - at_once) + 1));
        }
        let end_ns = first_ns.saturating_add(self.delay_ns);
        if there >= self.samples || now_ns >= end_ns {
            return None;
        }
        let missing = u64::from(self.samples - there);
        Some(now_ns.saturating_add(self.gap_ns.saturating_mul(missing)).min(end_ns))
    }

    fn guess(&mut self, gap_ns: u64) {
        self.gap_ns = gap_ns.max(self.least_gap_ns);
    }
}

/// Copies of samples, stored one after the other.
#[derive(Debug)]
struct PendingGroup {
    payloads: Vec<u8>,
    /// End offset, key and intactness of each sample.
    ends: Vec<(usize, u32, bool)>,
    /// Samples returned by receive calls, as the driver counts them.
    taken: u64,
}

impl PendingGroup {
    fn new(samples: u32, size: usize) -> Self {
        let samples = samples as usize;
        Self { payloads: Vec::with_capacity(samples * size), ends: Vec::with_capacity(samples), taken: 0 }
    }

    const fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    fn clear(&mut self) {
        self.payloads.clear();
        self.ends.clear();
    }

    fn keep(&mut self, sample: Sample<'_>) {
        self.payloads.extend_from_slice(sample.payload);
        self.ends.push((self.payloads.len(), sample.key, sample.is_intact()));
    }

    /// Takes all available samples, with several calls if necessary, until `full` are held. Returns the number of
    /// calls.
    fn take_all(&mut self, reader: &mut Reader, full: u32) -> Result<u64, DriverError> {
        let mut calls = 0;
        while self.len() < full {
            calls += 1;
            if self.take(reader, 0, full)? == 0 {
                break;
            }
        }
        Ok(calls)
    }

    /// Takes the samples of one call, until `full` are held. Returns their number.
    fn take(&mut self, reader: &mut Reader, timeout_ns: u64, full: u32) -> Result<u32, DriverError> {
        let missing = full.saturating_sub(self.len()).min(MAX_SAMPLES);
        let taken = reader.receive(timeout_ns, missing, |sample| self.keep(sample))?;
        self.taken += u64::from(taken);
        Ok(taken)
    }

    /// Passes all samples to the sink. Returns their number.
    fn give(&self, mut sink: impl FnMut(Sample<'_>)) -> u32 {
        let mut begin = 0;
        for &(end, key, intact) in &self.ends {
            sink(Sample::of_copy(&self.payloads[begin..end], key, intact));
            begin = end;
        }
        self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Groups samples that arrive at these times. Returns completion time and size of each group, and the number of
    /// looks.
    fn groups(samples: u32, delay_ns: u64, times: &[u64]) -> (Vec<(u64, u32)>, u64) {
        let mut looks = Looks::new(ReceiveGroup::new(samples, delay_ns));
        let (mut taken, mut looked, mut complete) = (0, 0, Vec::new());
        let mut now = 0;
        // available at `now`, at most `most`
        let there = |now: u64, taken: usize, most: u32| {
            times[taken..].iter().take(most as usize).take_while(|at| **at <= now).count()
        };
        while taken < times.len() {
            now = now.max(times[taken]);
            let mut pending = there(now, taken, samples) as u32;
            looks.begin(now, pending);
            while let Some(at_ns) = looks.next(now, pending) {
                assert!(at_ns > now && at_ns <= looks.first.0 + delay_ns);
                looked += 1;
                now = at_ns;
                pending = there(now, taken, samples) as u32;
            }
            taken += pending as usize;
            complete.push((now, pending));
        }
        (complete, looked)
    }

    #[test]
    fn a_group_ends_with_its_number_or_its_time() {
        let each_ms: Vec<u64> = (0..1_000).map(|i| i * MS).collect();
        // at most 6 of 8 samples arrive in 5 ms
        let (slow, looked) = groups(8, 5 * MS, &each_ms);
        assert!(slow.iter().all(|(_, samples)| *samples <= 6), "{slow:?}");
        assert!((160..=200).contains(&slow.len()), "{}", slow.len());
        assert!(looked <= 2 * slow.len() as u64, "{looked} looks for {} groups", slow.len());
        // a group of 4 is full after 3 ms: once the distance is known, no group takes much longer
        let (full, looked) = groups(4, 50 * MS, &each_ms);
        assert!(full[..full.len() - 1].iter().all(|(_, samples)| *samples == 4), "{full:?}");
        for pair in full[15..].windows(2) {
            assert!(pair[1].0 - pair[0].0 <= 7 * MS, "{pair:?}");
        }
        assert!(looked <= 3 * full.len() as u64, "{looked} looks for {} groups", full.len());
    }

    #[test]
    fn all_samples_are_in_a_group_and_none_waits_longer_than_it_may() {
        let bursts: Vec<u64> = (0..50).flat_map(|burst| [burst * 20 * MS; 30]).collect();
        let alone: Vec<u64> = (0..50).map(|i| i * 40 * MS).collect();
        for times in [bursts, alone] {
            let (groups, _) = groups(8, 2 * MS, &times);
            let mut taken = 0;
            for (complete_ns, samples) in groups {
                assert!((1..=8).contains(&samples));
                let first_ns = times[taken];
                assert!(
                    complete_ns >= first_ns && complete_ns <= first_ns + 20 * MS,
                    "{first_ns} {complete_ns}"
                );
                taken += samples as usize;
            }
            assert_eq!(taken, times.len());
        }
    }

    #[test]
    fn complete_group_is_returned_without_wait() {
        let (groups, looked) = groups(8, 5 * MS, &[7 * MS; 16]);
        assert_eq!((groups, looked), (vec![(7 * MS, 8), (7 * MS, 8)], 0));
    }

    #[test]
    fn kept_samples_are_returned_in_order() {
        let mut pending = PendingGroup::new(3, 4);
        for (payload, key) in [(&b"abcd"[..], 7), (b"", 8), (b"efghij", 9)] {
            pending.keep(Sample::new(payload, key));
        }
        let mut given = Vec::new();
        assert_eq!(pending.give(|sample| given.push((sample.payload.to_vec(), sample.key))), 3);
        assert_eq!(given, [(b"abcd".to_vec(), 7), (Vec::new(), 8), (b"efghij".to_vec(), 9)]);
        pending.clear();
        assert_eq!(pending.give(|_| panic!("nothing is kept")), 0);
    }
}
