//! Throughput reader: counts the samples of each stream.

use control::FlowReaderReport;
use driver_host::{DriverError, Sample};

use super::stream_reader::StreamRecorder;
use crate::traffic::{
    grouped_reader::GroupedReader,
    late_join::ReceptionLog,
    per_writer::{BatchClock, PerWriter},
    receive_stats::ReceiveStats,
};

impl StreamRecorder for ReceiveStats {
    fn on_sample(recorders: &mut PerWriter<Self>, sample: Sample<'_>) {
        recorders.alone(sample);
    }

    #[inline]
    fn receive(
        recorders: &mut PerWriter<Self>,
        reader: &mut GroupedReader,
        timeout_ns: u64,
    ) -> Result<(u32, u64), DriverError> {
        let before = recorders.delivered();
        let mut clock = BatchClock::default();
        let taken = reader.receive(timeout_ns, |sample| {
            let _ = recorders.of(sample.payload).count(&sample, clock.arrival_ns());
            if recorders.process() {
                // the application gets the next sample later
                clock = BatchClock::default();
            }
        })?;
        reader.count_take(taken, recorders.delivered() - before);
        Ok((taken, clock.ns()))
    }

    fn stats(&mut self) -> &mut ReceiveStats {
        self
    }

    fn report(&mut self) -> FlowReaderReport {
        let join = self.join.as_ref().map(ReceptionLog::reception);
        FlowReaderReport { received: self.received(), join, ..FlowReaderReport::default() }
    }
}
