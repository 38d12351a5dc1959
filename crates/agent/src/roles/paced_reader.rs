//! Paced reader: receives, checks and counts each flow, and records service and response times.

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::JoinHandle,
    time::Duration,
};

use control::{Configure, FlowReaderReport, MeasureReply, NegativeTimes, PacedReaderReport, RoleReport};
use driver_host::{DriverError, ListeningReader, Sample};
use experiment::{QosDuration, SendTimes};
use results::{TakeStats, TimelinessRecorder, WindowCounts, Windows};

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::{LONGEST_WAIT_NS, TrafficMeter},
        progress::{ProgressSource, ReceiveProgress},
        role::{AgentRole, TrafficLimit},
    },
    traffic::{
        flow_spec::FlowSpec,
        grouped_reader::GroupedReader,
        identity::Identity,
        late_join::LateJoin,
        per_writer::{PerWriter, set_taken},
        poll_policy::PollPolicy,
        probes::ProbeResponder,
        processing::Processing,
        receive_stats::ReceiveStats,
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
}

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
    /// Take statistics, set when the reader is closed; `None` for a listener.
    takes: Option<TakeStats>,
}

impl FlowRecorder {
    /// Records the reception around a late join, if there is one.
    #[must_use]
    pub fn joining(self, join: Option<&Arc<LateJoin>>) -> Self {
        Self { stats: self.stats.joining(join), ..self }
    }

    /// Creates the recorder of a flow. With an `echo`, probes are sent back.
    #[must_use]
    pub fn new(
        configure: &Configure,
        plan: &FlowSpec,
        since_ns: u64,
        begin: &StartTime,
        echo: Option<ProbeResponder>,
    ) -> Self {
        let identity = Identity {
            tag: configure.run_tag,
            writer: plan.writer(),
            size: plan.payload_size(),
            since_ns,
            keys: plan.keys(),
            slack_ns: configure.clock_slack_ns,
        };
        let counts = WindowCounts::new(configure.windows, configure.measure_ns);
        let windows = || {
            let mut windows = Windows::new(plan.windows(), configure.measure_ns);
            windows.begin(0);
            windows
        };
        Self {
            stats: ReceiveStats::new(identity, plan.payloads(), configure.check_every, counts)
                .filtering(plan.filtered())
                .echoing(echo),
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
                .deadline_ns()
                .map(|deadline_ns| TimelinessRecorder::new(deadline_ns, configure.measure_ns)),
            takes: None,
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
        self.begin_ns = self.begin.0.load(Acquire);
        self.service.begin_at(self.begin_ns);
        self.response.begin_at(self.begin_ns);
    }

    fn read(&mut self) -> FlowReaderReport {
        FlowReaderReport {
            received: self.stats.received(),
            join: self.stats.reception(),
            service: self.service.distribution(),
            response: self.response.distribution(),
            unplaced: self.unplaced,
            negative_service: self.negative_service,
            negative_response: self.negative_response,
            timeliness: self.timeliness.as_mut().map(TimelinessRecorder::report),
            takes: self.takes.clone(),
        }
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

impl PerWriter<FlowRecorder> {
    /// Records a sample.
    #[inline]
    pub fn arrived(&mut self, sample: Sample<'_>) {
        self.of(sample.payload).arrived(sample);
        self.process();
    }

    fn delivered(&self) -> u64 {
        self.all().iter().map(|recorder| recorder.stats.delivered()).sum()
    }

    /// Receives the available samples, or waits up to `timeout_ns` for the first. Returns their number and the
    /// arrival time of the last; the current time if there were none.
    fn receive(&mut self, reader: &mut GroupedReader, timeout_ns: u64) -> Result<(u32, u64), DriverError> {
        let before = self.delivered();
        let taken = reader.receive(timeout_ns, |sample| self.arrived(sample))?;
        reader.count_take(taken, self.delivered() - before);
        let last_ns = self.all().iter().map(|recorder| recorder.last_ns).max().unwrap_or(0);
        Ok((taken, if taken > 0 { last_ns } else { now_ns() }))
    }
}

/// A reader with receive calls, and the recorders of its samples.
pub type PolledFlow = (GroupedReader, Box<PerWriter<FlowRecorder>>);

/// Source of samples.
#[derive(Debug)]
pub enum FlowInput {
    /// Readers called by the role's own thread: a single one by waitset, or all of them in turn by polling.
    Asked {
        /// Readers, in the order of the flows.
        flows: Vec<PolledFlow>,
        /// Polling policy.
        poll_policy: PollPolicy,
    },
    /// Readers called by a thread each, by waitset.
    Threads {
        /// Stop flag of the threads.
        stop: Arc<AtomicBool>,
        /// Threads, in the order of the flows.
        threads: Vec<JoinHandle<Result<PolledFlow, DriverError>>>,
    },
    /// Listeners, called from threads of the driver.
    Listening(Vec<ListeningReader<PerWriter<FlowRecorder>>>),
    /// Measurements of closed readers, by reader and stream.
    Closed(Vec<FlowRecorder>),
}

impl FlowInput {
    /// Creates the source for these readers; starts a thread for each if they are several and do not poll.
    #[must_use]
    pub fn polled(flows: Vec<PolledFlow>, poll_policy: PollPolicy) -> Self {
        if poll_policy.is_polling() || flows.len() < 2 {
            return Self::Asked { flows, poll_policy };
        }
        let timeout_ns = poll_policy.timeout_ns(LONGEST_WAIT_NS);
        let stop = Arc::new(AtomicBool::new(false));
        let start = |(mut reader, mut arrivals): PolledFlow| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Relaxed) {
                    arrivals.receive(&mut reader, timeout_ns)?;
                }
                Ok((reader, arrivals))
            })
        };
        let threads = flows.into_iter().map(start).collect();
        Self::Threads { stop, threads }
    }
}

/// Role of a paced reader.
#[derive(Debug)]
pub struct PacedReader {
    inlet: FlowInput,
    progress: Vec<Arc<ReceiveProgress>>,
    begin: StartTime,
    processing: Option<Processing>,
}

impl PacedReader {
    /// Creates the role.
    #[must_use]
    pub const fn new(
        inlet: FlowInput,
        progress: Vec<Arc<ReceiveProgress>>,
        begin: StartTime,
        processing: Option<Processing>,
    ) -> Self {
        Self { inlet, progress, begin, processing }
    }

    fn close_inlet(&mut self) -> Result<&mut [FlowRecorder], AgentError> {
        let close = |(reader, mut arrivals): PolledFlow| {
            // A take may have samples of several writers: it is counted with the first.
            if let Some(first) = arrivals.all_mut().first_mut() {
                first.takes = Some(reader.takes());
            }
            set_taken(arrivals.all_mut().iter_mut().map(|recorder| &mut recorder.stats), reader.taken());
            reader.close().map(|()| arrivals.into_all())
        };
        let arrivals: Vec<Vec<FlowRecorder>> =
            match std::mem::replace(&mut self.inlet, FlowInput::Closed(Vec::new())) {
                FlowInput::Asked { flows, .. } => flows.into_iter().map(close).collect::<Result<_, _>>()?,
                FlowInput::Threads { stop, threads } => {
                    stop.store(true, Relaxed);
                    threads.into_iter().map(|thread| close(join(thread)?)).collect::<Result<_, _>>()?
                }
                FlowInput::Listening(readers) => {
                    let close = |reader: ListeningReader<PerWriter<FlowRecorder>>| {
                        reader.close().map(PerWriter::into_all)
                    };
                    readers.into_iter().map(close).collect::<Result<_, _>>()?
                }
                FlowInput::Closed(arrivals) => vec![arrivals],
            };
        let arrivals = arrivals.into_iter().flatten().collect();
        self.inlet = FlowInput::Closed(arrivals);
        match &mut self.inlet {
            FlowInput::Closed(arrivals) => Ok(arrivals),
            FlowInput::Asked { .. } | FlowInput::Threads { .. } | FlowInput::Listening(_) => {
                unreachable!("just closed")
            }
        }
    }
}

/// Joins a thread and returns its result; resumes its panic.
fn join(thread: JoinHandle<Result<PolledFlow, DriverError>>) -> Result<PolledFlow, DriverError> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl AgentRole for PacedReader {
    fn serve(&mut self, slice: Duration, wait_ns: u64) -> Result<(), AgentError> {
        match &mut self.inlet {
            FlowInput::Asked { flows, poll_policy } => {
                let end_ns = now_ns() + slice.as_nanos() as u64;
                let timeout_ns = poll_policy.timeout_ns(wait_ns);
                let mut now = 0;
                while now < end_ns && !flows.is_empty() && poll_policy.is_time(end_ns) {
                    let mut found = 0;
                    for (reader, arrivals) in &mut *flows {
                        let (taken, last_ns) = arrivals.receive(reader, timeout_ns)?;
                        (found, now) = (found.max(taken), last_ns);
                    }
                    poll_policy.after_poll(found);
                }
            }
            FlowInput::Threads { threads, .. } => {
                if let Some(ended) = threads.iter().position(JoinHandle::is_finished) {
                    join(threads.remove(ended))?;
                }
                std::thread::sleep(slice);
            }
            FlowInput::Listening(_) => std::thread::sleep(slice),
            FlowInput::Closed(_) => {}
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
        begin_ns: Option<u64>,
        _meter: &mut TrafficMeter,
    ) -> Result<MeasureReply, AgentError> {
        let begin_ns = begin_ns.ok_or(AgentError::NoBegin)?;
        self.begin.set(begin_ns);
        if let Some(processing) = &self.processing {
            processing.until(begin_ns.saturating_add(limit.duration_ns));
        }
        Ok(MeasureReply::default())
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let arrivals = self.close_inlet()?;
        let probes = arrivals.first_mut().map_or(Ok(None), |first| first.stats.probes())?;
        Ok(RoleReport::PacedReader(PacedReaderReport {
            probes,
            flows: arrivals.iter_mut().map(FlowRecorder::read).collect(),
            foreign: arrivals.iter().map(|arrivals| arrivals.stats.foreign()).sum(),
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.close_inlet()?;
        // also drops the responder that sends probes back
        self.inlet = FlowInput::Closed(Vec::new());
        Ok(())
    }
}
