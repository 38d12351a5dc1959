//! Recorders of one reader: one for each writer that it hears.

use driver_host::Sample;

use crate::{
    base::clock::now_ns,
    traffic::{header::Header, processing::Processing, receive_stats::ReceiveStats},
};

/// Recorders of the samples of one reader, selected by the number of the writer in each header. Samples of other
/// writers go to the first one, which counts them as foreign.
#[derive(Debug)]
pub struct PerWriter<T> {
    /// Recorders, in the order of the streams.
    pub recorders: Vec<T>,
    /// Position of the recorder by writer number; 0 for numbers without one.
    positions: Vec<u16>,
    /// Processing time of each sample; `None`: the application only counts.
    processing: Option<Processing>,
}

impl<T> PerWriter<T> {
    /// Creates the selection from recorders with the numbers of their writers.
    #[must_use]
    pub fn new(recorders: Vec<(u16, T)>) -> Self {
        let most = recorders.iter().map(|(writer, _)| *writer).max().unwrap_or(0);
        let mut positions = vec![0; usize::from(most) + 1];
        for (position, (writer, _)) in recorders.iter().enumerate() {
            positions[usize::from(*writer)] = position as u16;
        }
        let recorders = recorders.into_iter().map(|(_, recorder)| recorder).collect();
        Self { recorders, positions, processing: None }
    }

    /// Sets the processing time of each sample.
    #[must_use]
    pub fn processing(self, processing: Option<Processing>) -> Self {
        Self { processing, ..self }
    }

    /// Processes a recorded sample. Returns whether that takes time.
    #[inline]
    pub fn process(&self) -> bool {
        if let Some(processing) = &self.processing {
            processing.spend();
        }
        self.processing.is_some()
    }

    /// Returns the recorder for a sample.
    ///
    /// # Panics
    /// Panics if there is no recorder.
    #[inline]
    pub fn of(&mut self, payload: &[u8]) -> &mut T {
        let mut position = 0;
        if self.recorders.len() > 1 {
            let writer = Header::read(payload).map_or(0, |header| header.writer);
            position = self.positions.get(usize::from(writer)).copied().unwrap_or(0);
        }
        &mut self.recorders[usize::from(position)]
    }
}

/// Sets the number of samples that a driver says it gave to a reader, given the statistics of all its streams. What
/// the other streams got is not of the first one.
pub fn set_taken<'s>(mut stats: impl Iterator<Item = &'s mut ReceiveStats>, taken: u64) {
    let Some(first) = stats.next() else { return };
    let others: u64 = stats
        .map(|other| {
            other.set_taken(other.counts.given);
            other.counts.given
        })
        .sum();
    first.set_taken(taken.saturating_sub(others));
}

impl PerWriter<ReceiveStats> {
    /// Records a sample that arrived alone.
    #[inline]
    pub fn alone(&mut self, sample: Sample<'_>) {
        let _ = self.of(sample.payload).count(&sample, now_ns());
        self.process();
    }

    /// Returns the number of distinct samples of the measurement phase.
    #[inline]
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.recorders.iter().map(ReceiveStats::delivered).sum()
    }
}

/// Arrival time of the samples of one take: the clock is read once for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchClock(u64);

impl BatchClock {
    /// Returns the arrival time of a sample of the take, in ns.
    #[inline]
    pub fn arrival_ns(&mut self) -> u64 {
        if self.0 == 0 {
            self.0 = now_ns();
        }
        self.0
    }

    /// Returns the arrival time of the take in ns; the current time if no sample arrived.
    #[inline]
    #[must_use]
    pub fn ns(self) -> u64 {
        if self.0 == 0 { now_ns() } else { self.0 }
    }
}

#[cfg(test)]
mod tests {
    use results::WindowCounts;

    use super::*;
    use crate::traffic::{
        identity::{Identity, PayloadSize},
        keys::Keys,
        payload::Payloads,
    };

    fn stats(writer: u16) -> (u16, ReceiveStats) {
        let identity = Identity {
            tag: 5,
            writer,
            size: PayloadSize::One(64),
            since_ns: 0,
            keys: Keys::NONE,
            slack_ns: 0,
        };
        let payloads = Payloads::new(u64::from(writer), 64);
        (writer, ReceiveStats::new(identity, payloads, 1, WindowCounts::new(4, u64::MAX)))
    }

    fn give(to: &mut PerWriter<ReceiveStats>, writer: u16, sequence: u64) {
        let mut payloads = Payloads::new(u64::from(writer), 64);
        let header = Header { sequence: sequence as u32, writer, tag: 5, warm_up: false, sent_ns: now_ns() };
        to.alone(Sample::new(payloads.stamped(sequence, &header), 0));
    }

    #[test]
    fn each_writer_has_counts_of_its_own() {
        let mut per_writer = PerWriter::new(vec![stats(2), stats(4), stats(9)]);
        for (writer, samples) in [(2, 1), (4, 2), (9, 3)] {
            (0..samples).for_each(|sequence| give(&mut per_writer, writer, sequence));
        }
        let delivered: Vec<u64> = per_writer.recorders.iter().map(ReceiveStats::delivered).collect();
        assert_eq!((delivered, per_writer.delivered()), (vec![1, 2, 3], 6));
        assert!(
            per_writer.recorders.iter().all(|stats| stats.received().corrupt == 0 && stats.foreign() == 0)
        );
    }

    #[test]
    fn samples_of_unknown_writers_are_foreign() {
        let mut per_writer = PerWriter::new(vec![stats(2), stats(4)]);
        for writer in [0, 1, 3, 5, u16::MAX] {
            give(&mut per_writer, writer, 0);
        }
        per_writer.alone(Sample::new(&[1; 9], 0));
        let foreign: Vec<u64> = per_writer.recorders.iter().map(ReceiveStats::foreign).collect();
        assert_eq!((foreign, per_writer.delivered()), (vec![6, 0], 0));
    }

    #[test]
    fn samples_that_a_driver_gave_are_those_of_all_streams() {
        let mut per_writer = PerWriter::new(vec![stats(1), stats(2)]);
        give(&mut per_writer, 1, 0);
        give(&mut per_writer, 2, 0);
        give(&mut per_writer, 2, 1);
        set_taken(per_writer.recorders.iter_mut(), 4);
        let taken: Vec<_> = per_writer.recorders.iter().map(|stats| stats.received().taken).collect();
        assert_eq!(taken, [Some(2), Some(2)], "the driver says one more than arrived");
    }

    #[test]
    fn samples_of_a_take_have_one_arrival_time() {
        let mut clock = BatchClock::default();
        let first = clock.arrival_ns();
        assert_eq!([clock.arrival_ns(), clock.ns()], [first; 2]);
        assert!(BatchClock::default().ns() >= first);
    }
}
