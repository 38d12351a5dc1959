//! Flow of a paced writer: its writer, its position in the schedule, and its measurements.

use std::{sync::Arc, time::Duration};

use control::{Configure, FlowWriterReport};
use driver_host::{WriteOutcome, Writer};
use experiment::{Load, Schedule, WriterSpec};
use results::{COARSE_WINDOWS, Windows};

use crate::{
    base::{clock::now_ns, error::AgentError, role::TrafficLimit},
    traffic::{
        awaited_echoes::AwaitedEchoes,
        batch_flusher::BatchFlusher,
        flow_spec::FlowSpec,
        lag_attribution::LagAttribution,
        late_join::{LateJoin, SendLog},
        probes::ReaderProgress,
        rate_throttle::RateThrottle,
        retry::{FIRST_BACKOFF, LONGEST_BACKOFF, RetryCounts},
        sample_writer::SampleWriter,
    },
};

/// Due time if no sample is left.
const NEVER: u64 = u64::MAX;

/// One flow: its writer, its position in the schedule, and its measurements.
#[derive(Debug)]
pub struct FlowWriter {
    plan: FlowSpec,
    /// Position of the flow among those of the agent.
    pub(super) position: usize,
    /// Number of its thread.
    pub(super) thread: u32,
    pub(super) samples: SampleWriter,
    schedule: Option<Schedule>,
    /// Rate limit of a load without a schedule, if there is one.
    pub(super) throttled: Option<RateThrottle>,
    /// Echoes for which it waits.
    awaited: Option<AwaitedEchoes>,
    begin_ns: u64,
    pub(super) sequence: u64,
    /// Maximum number of samples of the phase.
    most: u64,
    /// Samples accepted in the warm-up.
    pub(super) warm_up: u64,
    /// Due time of the next sample in ns: its intended time, or the time of its next attempt.
    pub(super) due_ns: u64,
    /// Time of the first attempt of a sample not accepted yet, in ns.
    pub(super) first_tried_ns: Option<u64>,
    backoff: Duration,
    packing: BatchFlusher,
    tries: RetryCounts,
    send_lag: Windows,
    /// Part of the sum of all send lags that write calls caused, in ns.
    held_ns: u128,
    call: Windows,
    /// Time in which its thread was on a core or waited for one, in ns; `None` for the role's own thread.
    pub(super) thread_ns: Option<u64>,
    /// Times of writes while a reader joins late.
    log: Option<SendLog>,
}

impl FlowWriter {
    /// Limits the rate by the progress of the reader, if the load is throttled.
    pub fn throttle(&mut self, known: &Arc<ReaderProgress>) {
        if let Some(Load::Throttled { queue }) = self.plan.load() {
            self.throttled = Some(RateThrottle::new(Arc::clone(known), *queue));
        }
    }

    /// Waits for these echoes before it writes the next sample.
    pub fn await_echoes(&mut self, awaited: Option<AwaitedEchoes>) {
        self.awaited = awaited;
    }

    /// Creates the flow of `plan`, written with `writer`.
    #[must_use]
    pub fn new(
        configure: &Configure,
        spec: &WriterSpec,
        plan: FlowSpec,
        writer: Writer,
        join: Option<&Arc<LateJoin>>,
    ) -> Self {
        let windows = || Windows::new(plan.windows.min(COARSE_WINDOWS), configure.measure_ns);
        Self {
            position: 0,
            thread: spec.thread,
            samples: SampleWriter::new(configure, &spec.stream, writer),
            schedule: None,
            throttled: None,
            awaited: None,
            begin_ns: 0,
            sequence: 0,
            most: 0,
            warm_up: 0,
            due_ns: NEVER,
            first_tried_ns: None,
            backoff: FIRST_BACKOFF,
            packing: BatchFlusher::new(spec),
            tries: RetryCounts::default(),
            send_lag: windows(),
            held_ns: 0,
            call: windows(),
            thread_ns: None,
            log: join.map(SendLog::new),
            plan,
        }
    }

    pub(super) fn prepare(&mut self) {
        self.send_lag.begin(0);
        self.call.begin(0);
        self.schedule = self.plan.schedule();
    }

    pub(super) fn begin(&mut self, begin_ns: u64, most: u64) {
        self.send_lag.begin_at(begin_ns);
        self.call.begin_at(begin_ns);
        self.packing.policy.begin();
        self.log.iter_mut().for_each(SendLog::begin);
        (self.begin_ns, self.sequence, self.held_ns, self.most) = (begin_ns, 0, 0, most);
        (self.first_tried_ns, self.backoff, self.tries) = (None, FIRST_BACKOFF, RetryCounts::default());
        if let Some(throttled) = &mut self.throttled {
            throttled.begin(begin_ns);
        }
        self.go_on(begin_ns);
    }

    /// Sets when the next sample is due: at its intended time; without a schedule, now or when the throttle allows. After
    /// the last sample, none is due.
    #[inline]
    fn go_on(&mut self, now_ns: u64) {
        self.due_ns = match &mut self.schedule {
            _ if self.sequence >= self.most => NEVER,
            Some(schedule) => schedule.next().map_or(NEVER, |at_ns| self.begin_ns.saturating_add(at_ns)),
            None => self.throttled.as_mut().map_or(now_ns, |throttled| throttled.next(now_ns, self.sequence)),
        };
    }

    /// Tries to write the sample that is due. Returns the time after the call, in ns.
    #[inline]
    pub(super) fn write(
        &mut self,
        now_ns: u64,
        warm_up: bool,
        calls: &mut LagAttribution,
    ) -> Result<u64, AgentError> {
        let outcome = self.samples.write(self.sequence, warm_up, now_ns)?;
        let writer = self.samples.writer()?;
        if outcome != WriteOutcome::Accepted {
            self.packing.make_room(writer, &mut self.tries)?;
        } else if self.packing.policy.took() {
            self.packing.flush(writer, &mut self.tries)?;
        }
        let mut end_call_ns = self::now_ns();
        if self.first_tried_ns.is_none() {
            let held_ns = calls.begin(self.due_ns, now_ns);
            if self.schedule.is_some() {
                self.send_lag.record(now_ns, now_ns - self.due_ns);
                self.held_ns += u128::from(held_ns);
            }
        }
        let first_tried_ns = *self.first_tried_ns.get_or_insert(now_ns);
        match outcome {
            WriteOutcome::Accepted => {
                self.sequence += 1;
                if let Some(log) = &mut self.log {
                    log.record(now_ns);
                }
                (self.first_tried_ns, self.backoff) = (None, FIRST_BACKOFF);
                self.go_on(end_call_ns);
                // a turbo batch waits only for samples that are already due
                if self.packing.policy.is_eager() && self.due_ns > end_call_ns {
                    self.flush()?;
                    end_call_ns = self::now_ns();
                }
                self.call.record(end_call_ns, end_call_ns - first_tried_ns);
            }
            WriteOutcome::TimedOut => {
                self.tries.timed_out += 1;
                self.due_ns = end_call_ns;
            }
            WriteOutcome::Refused => {
                self.tries.refused += 1;
                self.due_ns = end_call_ns + self.backoff.as_nanos() as u64;
                self.backoff = (self.backoff * 2).min(LONGEST_BACKOFF);
            }
        }
        calls.end(end_call_ns);
        Ok(end_call_ns)
    }

    /// Waits for the echo of the last accepted sample if it is one of those awaited, until `end_ns` at most. `before`: the number of
    /// samples accepted before the last attempt. Returns the time in ns.
    #[inline]
    pub(super) fn await_echo(&mut self, before: u64, now_ns: u64, end_ns: u64) -> Result<u64, AgentError> {
        let is_awaited = |awaited: &AwaitedEchoes| self.sequence > before && awaited.has(before);
        if !self.awaited.as_ref().is_some_and(is_awaited) {
            return Ok(now_ns);
        }
        self.flush()?;
        if let Some(awaited) = &self.awaited {
            awaited.wait(before, now_ns, end_ns);
        }
        Ok(self::now_ns())
    }

    pub(super) fn flush(&mut self) -> Result<(), AgentError> {
        self.packing.flush(self.samples.writer()?, &mut self.tries)
    }

    fn offered(&self) -> u64 {
        self.sequence + u64::from(self.first_tried_ns.is_some())
    }

    /// Returns the time of the flow in a phase of this limit, in ns. Without a schedule, it ends with the last sample.
    pub(super) fn length_ns(&self, TrafficLimit { duration_ns, samples, .. }: TrafficLimit) -> u64 {
        match self.plan.schedule() {
            Some(schedule) => schedule.length_ns(samples, duration_ns),
            None if self.sequence >= self.most => 0,
            None => duration_ns,
        }
    }

    pub(super) fn written(&self, limit: TrafficLimit) -> FlowWriterReport {
        let planned = |schedule: Schedule| schedule.planned(limit.duration_ns).min(limit.most());
        FlowWriterReport {
            planned: self.plan.schedule().map_or(self.offered(), planned),
            offered: self.offered(),
            accepted: self.sequence,
            warm_up: self.warm_up,
            before_join: self.log.as_ref().map(|log| log.before_join(self.sequence)),
            timed_out: self.tries.timed_out,
            refused: self.tries.refused,
            send_lag: self.send_lag.distribution(),
            held_ns: self.held_ns as f64 / self.send_lag.len().max(1) as f64,
            write_call: self.call.distribution(),
            thread_ns: self.thread_ns,
            batches: self.packing.policy.batches(),
        }
    }
}
