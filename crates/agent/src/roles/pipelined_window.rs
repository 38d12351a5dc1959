//! Samples in flight around a ring.

use std::collections::VecDeque;

/// Sample in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Sequence number.
    pub sequence: u64,
    /// Time of the first attempt to write it, in ns.
    pub sent_ns: u64,
    /// Time at which it is lost, in ns.
    pub deadline_ns: u64,
}

/// Samples in flight, in the order of sending. Allocates only on creation.
#[derive(Debug)]
pub struct PipelinedWindow {
    places: usize,
    samples: VecDeque<InFlight>,
}

impl PipelinedWindow {
    /// Creates a window with this number of places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { places, samples: VecDeque::with_capacity(places) }
    }

    /// Returns whether a place is free.
    #[inline]
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.samples.len() < self.places
    }

    /// Returns whether no sample is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        self.samples.clear();
    }

    /// Adds a sample, which is newer than all others.
    #[inline]
    pub fn add(&mut self, sample: InFlight) {
        self.samples.push_back(sample);
    }

    /// Removes the sample with this number, which arrived at this time. Returns `None` if it is not in flight, or if it was
    /// sent later: another program may have sent a sample with its number.
    #[inline]
    pub fn remove(&mut self, sequence: u64, arrived_ns: u64) -> Option<InFlight> {
        // Without reordering and loss it is the first one.
        let index = self.samples.iter().position(|sample| sample.sequence >= sequence)?;
        let InFlight { sequence: found, sent_ns, .. } = self.samples[index];
        if found == sequence && sent_ns <= arrived_ns { self.samples.remove(index) } else { None }
    }

    /// Removes a sample that is lost at this time. Returns `None` if there is none.
    #[inline]
    pub fn lost(&mut self, now_ns: u64) -> Option<InFlight> {
        self.samples.front().filter(|oldest| now_ns >= oldest.deadline_ns)?;
        self.samples.pop_front()
    }

    /// Returns the time at which the oldest sample is lost, in ns.
    #[inline]
    #[must_use]
    pub fn deadline_ns(&self) -> Option<u64> {
        Some(self.samples.front()?.deadline_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(sequences: &[u64]) -> PipelinedWindow {
        let mut window = PipelinedWindow::new(3);
        for &sequence in sequences {
            window.add(InFlight { sequence, sent_ns: 10 * sequence, deadline_ns: 10 * sequence + 100 });
        }
        window
    }

    #[test]
    fn sample_frees_its_place_once() {
        let mut window = window(&[3, 5, 6]);
        assert!(!window.has_room());
        assert_eq!(window.remove(4, 100), None, "it is already lost");
        assert_eq!(window.remove(7, 100), None, "it was not sent");
        assert_eq!(window.remove(5, 49), None, "it was sent later");
        assert_eq!(window.remove(5, 100).map(|sample| sample.sent_ns), Some(50));
        assert_eq!(window.remove(5, 100), None, "it has returned");
        assert!(window.has_room() && !window.is_empty());
        assert_eq!(window.remove(3, 100).map(|sample| sample.sent_ns), Some(30));
        assert_eq!(window.deadline_ns(), Some(160));
    }

    #[test]
    fn oldest_sample_is_lost_at_its_deadline() {
        let mut window = window(&[3, 5]);
        assert_eq!(window.lost(129), None);
        assert_eq!(window.lost(149).map(|sample| sample.sequence), Some(3));
        assert_eq!(window.lost(149), None, "sample 5 has another deadline");
        assert_eq!(window.lost(150).map(|sample| sample.sequence), Some(5));
        assert!(window.is_empty() && window.deadline_ns().is_none());
    }
}
