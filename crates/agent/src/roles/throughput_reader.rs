//! Throughput reader: receives, checks and counts.

use std::{sync::Arc, time::Duration};

use control::{MeasureReply, ReaderReport, RoleReport};
use driver_host::ListeningReader;
use results::TakeStats;

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::TrafficMeter,
        progress::{ProgressSource, ReceiveProgress},
        role::{AgentRole, TrafficLimit},
    },
    traffic::{
        grouped_reader::GroupedReader,
        per_writer::{BatchClock, PerWriter, set_taken},
        poll_policy::PollPolicy,
        processing::Processing,
        receive_stats::ReceiveStats,
    },
};

/// Source of samples.
#[derive(Debug)]
pub enum ReaderInput {
    /// Reader called by the role's own thread, by waitset or polling.
    Asked {
        /// Reader, with its grouping.
        reader: GroupedReader,
        /// Counts of received samples.
        stats: Box<PerWriter<ReceiveStats>>,
        /// Polling policy.
        poll_policy: PollPolicy,
    },
    /// Listener, called from a thread of the driver.
    Listening(ListeningReader<PerWriter<ReceiveStats>>),
    /// Counts of a closed reader.
    Closed(Box<PerWriter<ReceiveStats>>),
}

/// Role of a throughput reader.
#[derive(Debug)]
pub struct ThroughputReader {
    inlet: Option<ReaderInput>,
    progress: Vec<Arc<ReceiveProgress>>,
    /// Take statistics, set when the reader is closed; `None` for a listener.
    takes: Option<TakeStats>,
    processing: Option<Processing>,
}

impl ThroughputReader {
    /// Creates the role with this source.
    #[must_use]
    pub const fn new(
        inlet: ReaderInput,
        progress: Vec<Arc<ReceiveProgress>>,
        processing: Option<Processing>,
    ) -> Self {
        Self { inlet: Some(inlet), progress, takes: None, processing }
    }

    fn close_inlet(&mut self) -> Result<&mut PerWriter<ReceiveStats>, AgentError> {
        let stats = match self.inlet.take() {
            Some(ReaderInput::Asked { reader, mut stats, .. }) => {
                self.takes = Some(reader.takes());
                set_taken(stats.all_mut().iter_mut(), reader.taken());
                reader.close()?;
                stats
            }
            Some(ReaderInput::Listening(reader)) => Box::new(reader.close()?),
            Some(ReaderInput::Closed(stats)) => stats,
            None => return Err(AgentError::Closed),
        };
        match self.inlet.insert(ReaderInput::Closed(stats)) {
            ReaderInput::Closed(stats) => Ok(stats),
            ReaderInput::Asked { .. } | ReaderInput::Listening(_) => unreachable!("just closed"),
        }
    }
}

impl AgentRole for ThroughputReader {
    fn serve(&mut self, slice: Duration, wait_ns: u64) -> Result<(), AgentError> {
        match &mut self.inlet {
            Some(ReaderInput::Asked { reader, stats, poll_policy }) => {
                let end_ns = now_ns() + slice.as_nanos() as u64;
                let timeout_ns = poll_policy.timeout_ns(wait_ns);
                while poll_policy.is_time(end_ns) {
                    let before = stats.delivered();
                    let mut clock = BatchClock::default();
                    let taken = reader.receive(timeout_ns, |sample| {
                        let _ = stats.of(sample.payload).count(&sample, clock.arrival_ns());
                        if stats.process() {
                            // the application gets the next sample later
                            clock = BatchClock::default();
                        }
                    })?;
                    reader.count_take(taken, stats.delivered() - before);
                    poll_policy.after_poll(taken);
                    if clock.ns() >= end_ns {
                        break;
                    }
                }
            }
            Some(ReaderInput::Listening(_)) => std::thread::sleep(slice),
            Some(ReaderInput::Closed(_)) | None => {}
        }
        Ok(())
    }

    fn warm_up(&mut self, limit: TrafficLimit) -> Result<(), AgentError> {
        if let Some(processing) = &self.processing {
            processing.until(now_ns().saturating_add(limit.duration_ns));
        }
        Ok(())
    }

    fn progress(&self) -> ProgressSource {
        ProgressSource { reception: self.progress.clone(), ..ProgressSource::default() }
    }

    fn recorded(&self) -> u64 {
        self.progress.iter().map(|progress| progress.delivered()).sum()
    }

    fn measure(
        &mut self,
        limit: TrafficLimit,
        _begin_ns: Option<u64>,
        _meter: &mut TrafficMeter,
    ) -> Result<MeasureReply, AgentError> {
        if let Some(processing) = &self.processing {
            processing.until(now_ns().saturating_add(limit.duration_ns));
        }
        Ok(MeasureReply::default())
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let stats = self.close_inlet()?;
        let probes = stats.all_mut().first_mut().map_or(Ok(None), ReceiveStats::probes)?;
        let received = stats.all().iter().map(ReceiveStats::received).collect();
        let join = stats.all().iter().filter_map(ReceiveStats::reception).collect();
        let foreign = stats.all().iter().map(ReceiveStats::foreign).sum();
        Ok(RoleReport::Reader(ReaderReport { received, join, foreign, probes, takes: self.takes.clone() }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.close_inlet()?;
        // also drops the responder that sends probes back
        self.inlet = None;
        Ok(())
    }
}
