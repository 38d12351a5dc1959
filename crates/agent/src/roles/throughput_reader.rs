//! Throughput reader: counts the samples of each stream.

use control::{ProbeEchoReport, ReaderReport, RoleReport};
use driver_host::{DriverError, Sample};

use super::stream_reader::{ClosedStream, StreamRecorder};
use crate::traffic::{
    grouped_reader::GroupedReader,
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

    fn report(streams: &mut [ClosedStream<Self>], probes: Option<ProbeEchoReport>) -> RoleReport {
        let all = || streams.iter().map(|(stats, _)| stats);
        RoleReport::Reader(ReaderReport {
            received: all().map(Self::received).collect(),
            join: all().filter_map(Self::reception).collect(),
            foreign: all().map(Self::foreign).sum(),
            probes,
            takes: streams.first().and_then(|(_, takes)| takes.clone()),
        })
    }
}
