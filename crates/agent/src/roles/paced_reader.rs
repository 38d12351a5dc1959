//! Paced reader: receives, checks and counts each flow, and records service and response times.

use std::sync::Arc;

use control::{Configure, FlowReaderReport, NegativeTimes};
use driver_host::{DriverError, Sample};
use experiment::{QosDuration, SendTimes};
use results::{TimelinessRecorder, Windows};

use super::stream_reader::{StartTime, StreamRecorder};
use crate::{
    base::{clock::now_ns, progress::ReceiveProgress},
    traffic::{
        flow_spec::FlowSpec, grouped_reader::GroupedReader, per_writer::PerWriter,
        receive_stats::ReceiveStats,
    },
};

/// Measurements of one flow at the reader.
#[derive(Debug)]
pub struct FlowRecorder {
    stats: ReceiveStats,
    /// Intended times; `None` if no sample has one.
    times: Option<SendTimes>,
    service: Windows,
    response: Windows,
    begin: StartTime,
    /// Start time of the schedule in ns; 0 before the first sample of the measurement phase.
    begin_ns: u64,
    last_ns: u64,
    unplaced: u64,
    negative_service: NegativeTimes,
    negative_response: NegativeTimes,
    /// Timeliness; `None` without a deadline.
    timeliness: Option<TimelinessRecorder>,
}

impl FlowRecorder {
    /// Creates the recorder of a flow, with these empty counts.
    #[must_use]
    pub fn new(configure: &Configure, plan: &FlowSpec, stats: ReceiveStats, begin: &StartTime) -> Self {
        let windows = || {
            let mut windows = Windows::new(plan.windows, configure.measure_ns);
            windows.begin(0);
            windows
        };
        Self {
            stats,
            times: plan.schedule().map(|schedule| SendTimes::new(schedule, configure.measure_ns)),
            service: windows(),
            response: windows(),
            begin: begin.clone(),
            begin_ns: 0,
            last_ns: 0,
            unplaced: 0,
            negative_service: NegativeTimes::default(),
            negative_response: NegativeTimes::default(),
            timeliness: plan
                .stream
                .deadline_ns
                .map(|deadline_ns| TimelinessRecorder::new(deadline_ns, configure.measure_ns)),
        }
    }

    /// Counts the periods of the QoS policy DEADLINE without an arrival.
    #[must_use]
    pub fn with_gaps(self, period: Option<QosDuration>) -> Self {
        let gap_ns = match period {
            Some(QosDuration::Ns(ns)) => Some(ns),
            Some(QosDuration::Infinite(_)) | None => None,
        };
        Self { timeliness: self.timeliness.map(|recorder| recorder.with_gaps(gap_ns)), ..self }
    }

    /// Returns the progress, for the thread that waits.
    #[must_use]
    pub fn progress(&self) -> Arc<ReceiveProgress> {
        self.stats.progress()
    }

    /// Records a sample. The clock is read for each: a sample arrives when the application gets it.
    #[inline]
    pub fn arrived(&mut self, sample: Sample<'_>) {
        let now = now_ns();
        self.last_ns = now;
        let Some((sequence, sent_ns)) = self.stats.count(&sample, now) else { return };
        if self.begin_ns == 0 {
            self.begin_windows();
        }
        record(&mut self.service, &mut self.negative_service, now, sent_ns);
        if let Some(times) = &mut self.times {
            match times.at(sequence) {
                Some(at_ns) => {
                    record(&mut self.response, &mut self.negative_response, now, self.begin_ns + at_ns);
                    if let Some(timeliness) = &mut self.timeliness {
                        timeliness.arrived(now.saturating_sub(self.begin_ns), at_ns);
                    }
                }
                None => self.unplaced += 1,
            }
        }
    }

    #[cold]
    fn begin_windows(&mut self) {
        self.begin_ns = self.begin.get();
        self.service.begin_at(self.begin_ns);
        self.response.begin_at(self.begin_ns);
    }
}

/// Records the time from `since_ns` to `now_ns`, or counts it if it is negative.
#[inline]
fn record(times: &mut Windows, negative: &mut NegativeTimes, now_ns: u64, since_ns: u64) {
    match now_ns.checked_sub(since_ns) {
        Some(ns) => times.record(now_ns, ns),
        None => negative.count(since_ns - now_ns),
    }
}

impl StreamRecorder for FlowRecorder {
    #[inline]
    fn on_sample(recorders: &mut PerWriter<Self>, sample: Sample<'_>) {
        recorders.of(sample.payload).arrived(sample);
        recorders.process();
    }

    #[inline]
    fn receive(
        recorders: &mut PerWriter<Self>,
        reader: &mut GroupedReader,
        timeout_ns: u64,
    ) -> Result<(u32, u64), DriverError> {
        let delivered = |recorders: &PerWriter<Self>| -> u64 {
            recorders.recorders.iter().map(|recorder| recorder.stats.delivered()).sum()
        };
        let before = delivered(recorders);
        let taken = reader.receive(timeout_ns, |sample| Self::on_sample(recorders, sample))?;
        reader.count_take(taken, delivered(recorders) - before);
        let last_ns = recorders.recorders.iter().map(|recorder| recorder.last_ns).max().unwrap_or(0);
        Ok((taken, if taken > 0 { last_ns } else { now_ns() }))
    }

    fn stats(&mut self) -> &mut ReceiveStats {
        &mut self.stats
    }

    fn report(&mut self) -> FlowReaderReport {
        FlowReaderReport {
            service: self.service.distribution(),
            response: self.response.distribution(),
            unplaced: self.unplaced,
            negative_service: self.negative_service,
            negative_response: self.negative_response,
            timeliness: self.timeliness.as_mut().map(TimelinessRecorder::report),
            ..self.stats.report()
        }
    }
}
