//! A reader that is asked for samples: each as soon as it is there, or in groups.
//!
//! A group is ddsmark's own, since no call of the contract waits for several samples. The first one wakes the thread; it then
//! sleeps until the rest may be there, by the pace at which samples come, and never longer than the group may wait. What it
//! finds meanwhile it keeps. The application is given the samples of a group together, when the group is complete: what it
//! measures of them has that wait in it.

use driver_host::{DriverError, Reader, ReaderMonitor, Sample};
use experiment::{Factors, ReceiveGroup};
use results::Takes;

use crate::{clock::now_ns, pace::sleep_until};

/// The most samples that are taken in one call.
const MAX_SAMPLES: u32 = 256;

/// The shortest distance of samples that a group follows, as a part of that at which it is just full when its time is over: with
/// less between samples it is looked for less often than they fill it.
const LEAST_GAP: u64 = 64;

/// A reader, and how samples are taken from it.
#[derive(Debug)]
pub struct Taker {
    reader: Reader,
    grouping: Option<Grouping>,
    /// Calls since samples were given.
    calls: u64,
    takes: Takes,
    largest: u64,
    taken: u64,
}

impl Taker {
    /// Takes samples of this size as the cell says.
    #[must_use]
    pub fn new(reader: Reader, factors: &Factors, size_bytes: u64) -> Self {
        let grouping = factors.queues.receive_group.map(|group| Grouping::new(group, size_bytes as usize));
        Self::with(reader, grouping)
    }

    /// Takes each sample as soon as it is there, at most so many in a call as always.
    #[must_use]
    pub fn ungrouped(reader: Reader) -> Self {
        Self::with(reader, None)
    }

    fn with(reader: Reader, grouping: Option<Grouping>) -> Self {
        Self { reader, grouping, calls: 0, takes: Takes::default(), largest: 0, taken: 0 }
    }

    /// For the thread that asks.
    #[must_use]
    pub fn monitor(&self) -> ReaderMonitor {
        self.reader.monitor()
    }

    /// Waits for samples, at most for so long until the first, and gives what there is to the sink. How many these were.
    ///
    /// # Errors
    /// In the driver's words.
    #[inline]
    pub fn receive(&mut self, timeout_ns: u64, sink: impl FnMut(Sample<'_>)) -> Result<u32, DriverError> {
        let Some(grouping) = &mut self.grouping else {
            self.calls += 1;
            let taken = self.reader.receive(timeout_ns, MAX_SAMPLES, sink)?;
            self.taken += u64::from(taken);
            return Ok(taken);
        };
        self.calls += grouping.gather(&mut self.reader, timeout_ns)?;
        Ok(grouping.held.give(sink))
    }

    /// Of what was taken last, so many samples were new, and of the measured time.
    #[inline]
    pub fn came(&mut self, taken: u32, new: u64) {
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

    /// Returns how many samples the driver says it gave, since the reader was opened.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.grouping.as_ref().map_or(self.taken, |grouping| grouping.held.taken)
    }

    /// What was taken in the measured time.
    #[must_use]
    pub fn takes(&self) -> Takes {
        Takes::new(self.takes.groups, self.takes.samples, self.largest, self.takes.calls)
    }

    /// Closes the reader.
    ///
    /// # Errors
    /// In the driver's words.
    pub fn close(self) -> Result<(), DriverError> {
        self.reader.close()
    }
}

/// Groups, and what is kept of the one that is being made.
#[derive(Debug)]
struct Grouping {
    group: Looks,
    held: Held,
}

impl Grouping {
    fn new(group: ReceiveGroup, size: usize) -> Self {
        Self { group: Looks::new(group), held: Held::new(group.samples, size) }
    }

    /// Waits for a first sample, and then for its group. How many calls that took.
    fn gather(&mut self, reader: &mut Reader, timeout_ns: u64) -> Result<u64, DriverError> {
        let Self { group, held } = self;
        held.clear();
        let mut calls = 1;
        if held.take(reader, timeout_ns, group.samples)? == 0 {
            return Ok(calls);
        }
        calls += held.take_all(reader, group.samples)?;
        let mut now = now_ns();
        group.begin(now, held.len());
        while let Some(at_ns) = group.next(now, held.len()) {
            sleep_until(at_ns, now);
            calls += held.take_all(reader, group.samples)?;
            now = now_ns();
        }
        Ok(calls)
    }
}

/// When to look for the rest of a group.
#[derive(Debug)]
struct Looks {
    samples: u32,
    delay_ns: u64,
    /// Between two samples, as last seen or guessed.
    gap_ns: u64,
    /// No look is worth a shorter one.
    least_gap_ns: u64,
    /// When the first samples of this group were there, and how many.
    first: (u64, u32),
}

impl Looks {
    fn new(group: ReceiveGroup) -> Self {
        let ReceiveGroup { samples, delay_ns, .. } = group;
        let gap_ns = (delay_ns / u64::from(samples.max(1))).max(1);
        Self { samples, delay_ns, gap_ns, least_gap_ns: (gap_ns / LEAST_GAP).max(1), first: (0, 0) }
    }

    /// So many samples were there at once, at this time.
    fn begin(&mut self, now_ns: u64, there: u32) {
        self.first = (now_ns, there);
        if there >= self.samples {
            // they have waited, or come all at once
            self.guess(self.gap_ns / 2);
        }
    }

    /// When to look again, now that there are so many; none: the group is complete.
    fn next(&mut self, now_ns: u64, there: u32) -> Option<u64> {
        let (first_ns, at_once) = self.first;
        let waited_ns = now_ns - first_ns;
        if waited_ns > 0 && there >= self.samples {
            // since when nobody knows: a little earlier the next time
            self.guess(self.gap_ns - self.gap_ns / 8);
        } else if waited_ns > 0 {
            // the last one came within the last gap: half of it ago, on average
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

/// Samples that are kept, one behind the other.
#[derive(Debug)]
struct Held {
    payloads: Vec<u8>,
    /// Of each, where it ends, and its key.
    ends: Vec<(usize, u32, bool)>,
    /// As the driver counts what it gave.
    taken: u64,
}

impl Held {
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

    /// Takes all that there is, which may be more than a call gives, until so many are held. How many calls that took.
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

    /// Takes what one call gives, until so many are held.
    fn take(&mut self, reader: &mut Reader, timeout_ns: u64, full: u32) -> Result<u32, DriverError> {
        let missing = full.saturating_sub(self.len()).min(MAX_SAMPLES);
        let taken = reader.receive(timeout_ns, missing, |sample| self.keep(sample))?;
        self.taken += u64::from(taken);
        Ok(taken)
    }

    /// Gives all to the sink. How many these were.
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

    /// Samples that come at these times, in groups: when each group was complete and how many it had, and how often was looked.
    fn groups(samples: u32, delay_ns: u64, times: &[u64]) -> (Vec<(u64, u32)>, u64) {
        let mut looks = Looks::new(ReceiveGroup::of(samples, delay_ns));
        let (mut taken, mut looked, mut complete) = (0, 0, Vec::new());
        let mut now = 0;
        // those there at a time, no more than the group takes
        let there = |now: u64, taken: usize, most: u32| {
            times[taken..].iter().take(most as usize).take_while(|at| **at <= now).count()
        };
        while taken < times.len() {
            now = now.max(times[taken]);
            let mut held = there(now, taken, samples) as u32;
            looks.begin(now, held);
            while let Some(at_ns) = looks.next(now, held) {
                assert!(at_ns > now && at_ns <= looks.first.0 + delay_ns);
                looked += 1;
                now = at_ns;
                held = there(now, taken, samples) as u32;
            }
            taken += held as usize;
            complete.push((now, held));
        }
        (complete, looked)
    }

    #[test]
    fn a_group_ends_with_its_number_or_its_time() {
        let each_ms: Vec<u64> = (0..1_000).map(|i| i * MS).collect();
        // 6 of 8 in 5 ms, and one look for each
        let (slow, looked) = groups(8, 5 * MS, &each_ms);
        assert!(slow.iter().all(|(_, samples)| *samples <= 6), "{slow:?}");
        assert!((160..=200).contains(&slow.len()), "{}", slow.len());
        assert!(looked <= 2 * slow.len() as u64, "{looked} looks for {} groups", slow.len());
        // 4 are there after 3 ms: the pace is found, and nobody waits for much more
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
    fn what_is_there_at_once_does_not_wait() {
        let (groups, looked) = groups(8, 5 * MS, &[7 * MS; 16]);
        assert_eq!((groups, looked), (vec![(7 * MS, 8), (7 * MS, 8)], 0));
    }

    #[test]
    fn what_is_kept_is_given_back_in_order() {
        let mut held = Held::new(3, 4);
        for (payload, key) in [(&b"abcd"[..], 7), (b"", 8), (b"efghij", 9)] {
            held.keep(Sample::new(payload, key));
        }
        let mut given = Vec::new();
        assert_eq!(held.give(|sample| given.push((sample.payload.to_vec(), sample.key))), 3);
        assert_eq!(given, [(b"abcd".to_vec(), 7), (Vec::new(), 8), (b"efghij".to_vec(), 9)]);
        held.clear();
        assert_eq!(held.give(|_| panic!("nothing is kept")), 0);
    }
}
