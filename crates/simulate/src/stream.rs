//! Stream of one writer: its schedule, its batches, and what its writer records.

use std::sync::Arc;

use collector::TraceFiles;
use control::FlowWriterReport;
use experiment::{Design, Load, Schedule};
use results::{BatchPolicy, COARSE_WINDOWS};

use crate::{
    link::Link,
    reader::Reader,
    series::{Recorder, Series},
};

/// Recorded values of a writer.
#[derive(Debug, Default)]
pub(crate) struct WrittenSeries {
    pub send_lag: Series,
    pub write_call: Series,
    /// Intended send time (0 without one) and start of the write of each sample, by number.
    pub times: Vec<(u64, u64)>,
}

impl WrittenSeries {
    fn clear(&mut self) {
        self.send_lag.clear();
        self.write_call.clear();
        self.times.clear();
    }
}

/// Stream with its link.
pub(crate) struct Stream<'w> {
    pub link: &'w mut Link,
    load: Load,
    /// Times of its trace file; none if its load follows none.
    times_ns: Arc<[u64]>,
    recorded: &'w mut WrittenSeries,
    packing: BatchPolicy,
    /// Number of samples in a full packet.
    samples: u64,
    /// CPU time of writing the last sample.
    pub cost_ns: u64,
    /// Schedule; `None` without intended send times.
    schedule: Option<Schedule>,
    /// Intended send time of the next sample, from the start of the schedule.
    next_ns: Option<u64>,
    offered: u64,
    /// Maximum number of samples of the phase.
    most: u64,
}

impl<'w> Stream<'w> {
    pub fn new(link: &'w mut Link, traces: &TraceFiles, recorded: &'w mut WrittenSeries) -> Self {
        let load = link.spec.stream.load.clone().unwrap_or(Load::Max);
        let (samples, cost_ns) = (link.samples(), link.write_ns(0));
        let size_bytes = link.spec.stream.size_bytes;
        Self {
            times_ns: traces.of_stream(&link.spec.stream).times_ns,
            load,
            recorded,
            packing: BatchPolicy::new(link.spec.batch_bytes, link.spec.batching, size_bytes),
            samples,
            cost_ns,
            schedule: None,
            next_ns: None,
            offered: 0,
            most: 0,
            link,
        }
    }

    /// Starts the schedule of at most `most` samples.
    pub fn begin(&mut self, seed: u64, most: u64) {
        self.link.begin();
        self.recorded.clear();
        let spec = &self.link.spec.stream;
        self.schedule = Schedule::new(&self.load, seed, spec.index(), self.times_ns.clone())
            .map(|schedule| schedule.delayed(spec.delay_ns));
        self.next_ns = self.schedule.as_mut().and_then(Iterator::next);
        self.packing.begin();
        (self.offered, self.most) = (0, most);
    }

    /// Returns when the next sample is due, at the time `now` of the schedule; `None` if there is none.
    pub fn due_ns(&self, now: u64) -> Option<u64> {
        let next_ns = if self.schedule.is_some() { self.next_ns } else { Some(now) };
        next_ns.filter(|_| self.offered < self.most)
    }

    /// Writes the next sample at the time `tried`. Returns when the writer is free again; `None` if the end comes
    /// first.
    pub fn write(&mut self, readers: &mut [Reader], begin: u64, tried: u64, end: u64) -> Option<u64> {
        let at = tried - begin;
        self.cost_ns = self.link.write_ns(self.offered);
        self.offered += 1;
        let full = self.packing.took();
        if let Some(intended) = self.next_ns {
            self.recorded.send_lag.record(at, at - intended);
        }
        self.recorded.times.push((self.next_ns.unwrap_or(0), at));
        self.next_ns = self.schedule.as_mut().and_then(Iterator::next);
        let mut sent = tried;
        // Rule of the agents: a turbo batch waits only for samples that are due when this write ends.
        let free = tried + self.cost_ns - begin;
        let eager = self.packing.is_eager() && self.due_ns(free).is_none_or(|due_ns| due_ns > free);
        if full || eager || self.samples == 1 {
            match self.link.send(readers, tried, end, self.packing.held_samples()) {
                Some(at) => {
                    sent = at;
                    self.packing.flushed();
                }
                // The samples of a batch are written before it is sent, if necessary after the end.
                None if self.samples > 1 => sent = end,
                None => return None,
            }
        }
        let free = sent + self.cost_ns;
        self.recorded.write_call.record(at, free - tried);
        Some(free)
    }

    /// Sends the samples of an incomplete batch without a time limit. Returns when they are sent.
    pub fn flush(&mut self, readers: &mut [Reader], now: u64) -> u64 {
        let held = self.packing.held_samples();
        if held == 0 || self.samples == 1 {
            return now;
        }
        let Some(sent) = self.link.send(readers, now, u64::MAX, held) else { return now };
        self.packing.flushed();
        sent
    }

    /// Returns the number of samples whose intended send time is in the measurement; without intended times, those
    /// offered.
    fn planned(&mut self, measure_ns: u64) -> u64 {
        let Some(schedule) = self.schedule.take() else { return self.offered };
        let next = u64::from(self.next_ns.is_some_and(|next| next < measure_ns));
        (self.offered + next + schedule.planned(measure_ns)).min(self.most)
    }

    /// Returns the planned length of the traffic in ns, as the agents and the collector know it.
    pub fn length_ns(&self, design: &Design) -> u64 {
        let (spec, own) = (&self.link.spec.stream, design.writer(self.link.endpoint));
        match Schedule::new(&self.load, design.seed, spec.index(), self.times_ns.clone()) {
            Some(schedule) => schedule.delayed(spec.delay_ns).length_ns(own.samples, own.measure_ns),
            None if self.offered >= self.most => 0,
            None => own.measure_ns,
        }
    }

    pub fn report(&mut self, recorder: &mut Recorder, windows: u32, design: &Design) -> FlowWriterReport {
        let planned = self.planned(design.writer(self.link.endpoint).measure_ns);
        let windows = windows.min(COARSE_WINDOWS);
        let send_lag = recorder.distribution(&self.recorded.send_lag, windows, design.measure_ns);
        let sent = self.link.sent;
        FlowWriterReport {
            planned,
            offered: self.offered,
            accepted: sent.accepted,
            before_join: crate::late_join::before(self.link.kept.as_ref()),
            warm_up: sent.warm_up,
            // A simulated writer is never woken late: only its writes make it late.
            held_ns: send_lag.mean_ns,
            send_lag,
            write_call: recorder.distribution(&self.recorded.write_call, windows, design.measure_ns),
            batches: self.packing.batches(),
            ..FlowWriterReport::default()
        }
    }
}
