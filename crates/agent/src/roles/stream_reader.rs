//! Role of a reader of streams: receives, and leaves checks and counts to its recorders.

use std::{
    fmt::Debug,
    iter,
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Release},
        },
    },
    time::Duration,
};

use control::{FlowReaderReport, ReaderReport, RoleReport};
use driver_host::{DriverError, ListeningReader, Sample};
use results::TakeStats;

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::{LONGEST_WAIT_NS, TrafficMeter},
        progress::{ProgressSource, ReceiveProgress},
        role::{AgentRole, TrafficLimit},
    },
    traffic::{
        grouped_reader::GroupedReader,
        per_writer::{PerWriter, set_taken},
        poll_policy::PollPolicy,
        processing::Processing,
        receive_stats::ReceiveStats,
        receiving_thread::ReceivingThread,
    },
};

/// Start time of the schedule, shared with the receiving threads. Set before the first sample is written.
#[derive(Clone, Debug, Default)]
pub struct StartTime(Arc<AtomicU64>);

impl StartTime {
    /// Sets the start time in ns.
    pub fn set(&self, begin_ns: u64) {
        self.0.store(begin_ns, Release);
    }

    /// Returns the start time in ns; 0 before it is set.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Acquire)
    }
}

/// Recorder of one stream.
pub trait StreamRecorder: Debug + Send + Sized + 'static {
    /// Records a sample that arrived alone.
    fn on_sample(recorders: &mut PerWriter<Self>, sample: Sample<'_>);
    /// Receives the available samples, or waits up to `timeout_ns` for the first. Returns their number and the arrival time of the
    /// last; the current time if there were none.
    fn receive(
        recorders: &mut PerWriter<Self>,
        reader: &mut GroupedReader,
        timeout_ns: u64,
    ) -> Result<(u32, u64), DriverError>;
    /// Returns the counts of the stream.
    fn stats(&mut self) -> &mut ReceiveStats;
    /// Returns the measurements of the stream.
    fn report(&mut self) -> FlowReaderReport;
}

/// Recorder of a stream whose reader is closed. The first stream of a reader has its take statistics, except of a listener.
pub type ClosedStream<R> = (R, Option<TakeStats>);
/// A reader with receive calls, and the recorders of its samples.
pub type PolledReader<R> = (GroupedReader, Box<PerWriter<R>>);

/// Source of samples.
#[derive(Debug)]
pub enum ReaderInput<R> {
    /// Readers called by the role's own thread: a single one by waitset, or all of them in turn by polling.
    Asked {
        /// Readers, in the order of the flows.
        readers: Vec<PolledReader<R>>,
        /// Polling policy.
        poll_policy: PollPolicy,
    },
    /// Readers called by a thread each, by waitset, in the order of the flows.
    Threads(Vec<ReceivingThread<PolledReader<R>>>),
    /// Listeners, called from threads of the driver.
    Listening(Vec<ListeningReader<PerWriter<R>>>),
    /// Closed readers.
    Closed,
}

impl<R: StreamRecorder> ReaderInput<R> {
    /// Creates the source for these readers; starts a thread for each if they are several and do not poll.
    #[must_use]
    pub fn polled(readers: Vec<PolledReader<R>>, poll_policy: PollPolicy) -> Self {
        if poll_policy.polling || readers.len() < 2 {
            return Self::Asked { readers, poll_policy };
        }
        let timeout_ns = poll_policy.timeout_ns(LONGEST_WAIT_NS);
        let start = |polled| {
            ReceivingThread::start(polled, move |(reader, recorders): &mut PolledReader<R>| {
                R::receive(recorders, reader, timeout_ns).map(|_| ())
            })
        };
        Self::Threads(readers.into_iter().map(start).collect())
    }
}

/// Role of a reader of streams.
#[derive(Debug)]
pub struct StreamReader<R> {
    inlet: ReaderInput<R>,
    progress: Vec<Arc<ReceiveProgress>>,
    /// Start time of the schedule; `None` without one.
    begin: Option<StartTime>,
    processing: Option<Processing>,
    /// Streams of closed readers, by reader and stream.
    closed: Vec<ClosedStream<R>>,
}

impl<R: StreamRecorder> StreamReader<R> {
    /// Creates the role.
    #[must_use]
    pub const fn new(
        inlet: ReaderInput<R>,
        progress: Vec<Arc<ReceiveProgress>>,
        begin: Option<StartTime>,
        processing: Option<Processing>,
    ) -> Self {
        Self { inlet, progress, begin, processing, closed: Vec::new() }
    }

    fn close_inlet(&mut self) -> Result<(), AgentError> {
        let close = |(reader, mut recorders): PolledReader<R>| {
            // A take may have samples of several writers: it is counted with the first.
            let takes = reader.takes();
            set_taken(recorders.recorders.iter_mut().map(R::stats), reader.taken());
            reader.close().map(|()| (recorders.recorders, Some(takes)))
        };
        let closed: Result<Vec<_>, DriverError> =
            match std::mem::replace(&mut self.inlet, ReaderInput::Closed) {
                ReaderInput::Asked { readers, .. } => readers.into_iter().map(close).collect(),
                ReaderInput::Threads(threads) => {
                    threads.iter().for_each(ReceivingThread::stop);
                    threads.into_iter().map(|thread| close(thread.end()?)).collect()
                }
                ReaderInput::Listening(readers) => {
                    let close =
                        |reader: ListeningReader<PerWriter<R>>| reader.close().map(|all| all.recorders);
                    readers.into_iter().map(|reader| Ok((close(reader)?, None))).collect()
                }
                ReaderInput::Closed => return Ok(()),
            };
        for (recorders, takes) in closed? {
            self.closed.extend(recorders.into_iter().zip(iter::once(takes).chain(iter::repeat(None))));
        }
        Ok(())
    }
}

impl<R: StreamRecorder> AgentRole for StreamReader<R> {
    fn serve(&mut self, slice: Duration, wait_ns: u64) -> Result<(), AgentError> {
        match &mut self.inlet {
            ReaderInput::Asked { readers, poll_policy } => {
                let end_ns = now_ns() + slice.as_nanos() as u64;
                let timeout_ns = poll_policy.timeout_ns(wait_ns);
                let mut now = 0;
                while now < end_ns && !readers.is_empty() && poll_policy.is_time(end_ns) {
                    let mut found = 0;
                    for (reader, recorders) in &mut *readers {
                        let (taken, last_ns) = R::receive(recorders, reader, timeout_ns)?;
                        (found, now) = (found.max(taken), last_ns);
                    }
                    poll_policy.after_poll(found);
                }
            }
            ReaderInput::Threads(threads) => {
                if let Some(ended) = threads.iter().position(ReceivingThread::is_finished) {
                    threads.remove(ended).end()?;
                }
                std::thread::sleep(slice);
            }
            ReaderInput::Listening(_) => std::thread::sleep(slice),
            ReaderInput::Closed => {}
        }
        Ok(())
    }

    fn progress(&self) -> ProgressSource {
        ProgressSource { reception: self.progress.clone(), ..ProgressSource::default() }
    }

    fn recorded(&self) -> u64 {
        self.progress.iter().map(|progress| progress.delivered()).sum()
    }

    fn run(&mut self, limit: TrafficLimit, meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        let mut from_ns = now_ns();
        if let Some(begin) = self.begin.as_ref().filter(|_| meter.is_some()) {
            from_ns = limit.begin_ns.ok_or(AgentError::NoBegin)?;
            begin.set(from_ns);
        }
        if let Some(processing) = &self.processing {
            processing.until(from_ns.saturating_add(limit.duration_ns));
        }
        Ok(())
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        self.close_inlet()?;
        let (first, _) = self.closed.first_mut().ok_or(AgentError::Closed)?;
        let probes = first.stats().probes()?;
        let mut report = ReaderReport { probes, ..ReaderReport::default() };
        for (recorder, takes) in &mut self.closed {
            report.foreign += recorder.stats().foreign();
            report.flows.push(FlowReaderReport { takes: takes.take(), ..recorder.report() });
        }
        Ok(RoleReport::Reader(report))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.close_inlet()?;
        // also drops the responder that sends probes back
        self.closed.clear();
        Ok(())
    }
}
