//! Paced writer: sends each sample at its intended time, or as soon as possible after it.
//!
//! One thread writes all flows, in the order of their intended times. The schedule is never shifted: a late sample
//! leaves at once, and the next one keeps its own time. A sample that is not tried by the end of the measurement
//! time is not written at all.

use std::{sync::Arc, time::Duration};

use control::{Configure, Drain, FlowWriterReport, MeasureReply, PacedWriterReport, RoleReport};
use driver_host::{WriteOutcome, Writer};
use experiment::{Load, Schedule, WriterSpec};
use results::{COARSE_WINDOWS, Windows};

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::TrafficMeter,
        priority::NamedThread,
        progress::ProgressSource,
        role::{AgentRole, TrafficLimit},
        sleep_spin_timer::{SleepSpinTimer, sleep_until},
    },
    traffic::{
        batch_flusher::BatchFlusher,
        flow_spec::FlowSpec,
        header::Header,
        lag_attribution::LagAttribution,
        late_join::{LateJoin, SendLog},
        payload::Payloads,
        probes::{ProbeRecorder, ReaderProgress},
        rate_throttle::RateThrottle,
        retry::{FIRST_BACKOFF, LONGEST_BACKOFF, RetryCounts},
    },
};

/// Time from now until the schedule of a warm-up starts, in ns.
const WARM_UP_LEAD_NS: u64 = 1_000_000;
/// Time before the start of a schedule at which the meter is read, in ns; a reading takes some tens of µs.
const METER_LEAD_NS: u64 = 500_000;
/// Due time if no sample is left.
const NEVER: u64 = u64::MAX;

/// Role of a paced writer.
#[derive(Debug)]
pub struct PacedWriter {
    flows: Vec<FlowWriter>,
    tag: u16,
    spin: bool,
    wait_acked: bool,
    probes: Option<ProbeRecorder>,
    /// Late join of a reader; `None` if all join together.
    join: Option<Arc<LateJoin>>,
    /// Wait strategy, calibrated by the first traffic.
    pace: Option<SleepSpinTimer>,
    /// Whether the flows are ready for the start of a schedule.
    prepared: bool,
    limit: TrafficLimit,
    begin_ns: u64,
    end_ns: u64,
}

/// One flow: its writer, its position in the schedule, and its measurements.
#[derive(Debug)]
pub struct FlowWriter {
    plan: FlowSpec,
    writer: Option<Writer>,
    payloads: Payloads,
    schedule: Option<Schedule>,
    /// Rate limit of a load without a schedule, if there is one.
    throttled: Option<RateThrottle>,
    begin_ns: u64,
    sequence: u64,
    /// Maximum number of samples of the phase.
    most: u64,
    /// Samples accepted in the warm-up.
    warm_up: u64,
    /// Due time of the next sample in ns: its intended time, or the time of its next attempt.
    due_ns: u64,
    /// Time of the first attempt of a sample not accepted yet, in ns.
    first_tried_ns: Option<u64>,
    backoff: Duration,
    packing: BatchFlusher,
    tries: RetryCounts,
    send_lag: Windows,
    /// Part of the sum of all send lags that write calls caused, in ns.
    held_ns: u128,
    call: Windows,
    /// Times of writes while a reader joins late.
    log: Option<SendLog>,
}

/// Properties of all samples of a phase.
#[derive(Clone, Copy, Debug)]
struct Phase {
    tag: u16,
    warm_up: bool,
}

impl PacedWriter {
    /// Creates the role with these flows.
    #[must_use]
    pub const fn new(
        configure: &Configure,
        flows: Vec<FlowWriter>,
        wait_acked: bool,
        probes: Option<ProbeRecorder>,
        join: Option<Arc<LateJoin>>,
    ) -> Self {
        Self {
            flows,
            tag: configure.run_tag,
            spin: configure.spin,
            wait_acked,
            probes,
            join,
            pace: None,
            prepared: false,
            limit: TrafficLimit::of_time(0),
            begin_ns: 0,
            end_ns: 0,
        }
    }

    fn accepted(&self) -> u64 {
        self.flows.iter().map(|flow| flow.sequence).sum()
    }

    /// Follows the schedule from `begin_ns` on; `None`: from 1 ms after now. With a meter, the traffic is recorded
    /// and the meter is read; without one, it is the warm-up.
    fn follow(
        &mut self,
        limit: TrafficLimit,
        begin_ns: Option<u64>,
        mut meter: Option<&mut TrafficMeter>,
    ) -> Result<(), AgentError> {
        let warm_up = meter.is_none();
        let pace = *self.pace.get_or_insert_with(|| SleepSpinTimer::calibrated(self.spin));
        self.prepare();
        let mut now = now_ns();
        let begin_ns = begin_ns.unwrap_or(now + WARM_UP_LEAD_NS);
        if now > begin_ns {
            return Err(AgentError::MissedBegin { late_ns: now - begin_ns });
        }
        for flow in &mut self.flows {
            flow.begin(begin_ns, limit.most());
        }
        self.prepared = false;
        if let Some(probes) = &self.probes {
            probes.progress().begin(begin_ns, warm_up);
        }
        let phase = Phase { tag: self.tag, warm_up };
        if let Some(meter) = &mut meter {
            sleep_until(begin_ns.saturating_sub(METER_LEAD_NS), now);
            meter.begin();
            now = now_ns();
        }
        let end_ns = begin_ns.saturating_add(limit.duration_ns);
        write_all(&mut self.flows, pace, phase, self.join.as_deref(), end_ns, now)?;
        for flow in &mut self.flows {
            flow.flush()?;
        }
        now = now_ns();
        (self.limit, self.begin_ns, self.end_ns) = (limit, begin_ns, now);
        // host metrics cover the whole requested time
        let length_ns = self.flows.iter().map(|flow| flow.length_ns(limit)).max().unwrap_or(0);
        sleep_until(begin_ns.saturating_add(length_ns), now);
        if let Some(meter) = meter {
            meter.end(self.accepted());
        }
        Ok(())
    }

    /// Does everything that takes time before a schedule starts.
    fn prepare(&mut self) {
        if !self.prepared {
            self.flows.iter_mut().for_each(FlowWriter::prepare);
        }
        self.prepared = true;
    }
}

/// Writes what is due before `end_ns`. A late sample costs one clock read, at the end of the previous write.
fn write_all(
    flows: &mut [FlowWriter],
    pace: SleepSpinTimer,
    phase: Phase,
    join: Option<&LateJoin>,
    end_ns: u64,
    begin_ns: u64,
) -> Result<(), AgentError> {
    let mut now = begin_ns;
    let mut calls = LagAttribution::default();
    while let Some(flow) = flows.iter_mut().min_by_key(|flow| flow.due_ns) {
        let due_ns = flow.due_ns;
        if due_ns >= end_ns {
            break;
        }
        if due_ns > now {
            now = if flow.first_tried_ns.is_none() {
                pace.until(due_ns, now)
            } else {
                // other threads make room: leave them the core
                sleep_until(due_ns, now)
            };
        } else if now >= end_ns {
            break;
        }
        now = flow.write(now, phase, &mut calls)?;
        if let Some(join) = join.filter(|join| join.is_waiting()) {
            join.connect(flows.iter().filter_map(|flow| flow.writer.as_ref()))?;
        }
    }
    Ok(())
}

impl FlowWriter {
    /// Limits the rate by the progress of the reader, if the load is throttled.
    pub fn throttle(&mut self, known: &Arc<ReaderProgress>) {
        if let Some(Load::Throttled { queue }) = self.plan.load() {
            self.throttled = Some(RateThrottle::new(Arc::clone(known), *queue));
        }
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
        let windows = || Windows::new(plan.windows().min(COARSE_WINDOWS), configure.measure_ns);
        Self {
            writer: Some(writer),
            payloads: plan.payloads(),
            schedule: None,
            throttled: None,
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
            log: join.map(SendLog::new),
            plan,
        }
    }

    fn prepare(&mut self) {
        self.send_lag.begin(0);
        self.call.begin(0);
        self.schedule = self.plan.schedule();
    }

    fn begin(&mut self, begin_ns: u64, most: u64) {
        self.send_lag.begin_at(begin_ns);
        self.call.begin_at(begin_ns);
        self.packing.begin();
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
    fn write(
        &mut self,
        now_ns: u64,
        Phase { tag, warm_up }: Phase,
        calls: &mut LagAttribution,
    ) -> Result<u64, AgentError> {
        let writer = self.writer.as_ref().ok_or(AgentError::Closed)?;
        let header = Header {
            sequence: self.sequence as u32,
            writer: self.plan.writer(),
            tag,
            warm_up,
            sent_ns: now_ns,
        };
        let key = self.plan.keys().of(header.sequence);
        let outcome = self.payloads.write(writer, key, self.sequence, &header)?;
        if outcome != WriteOutcome::Accepted {
            self.packing.make_room(writer, &mut self.tries)?;
        } else if self.packing.took() {
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
                if self.packing.is_eager() && self.due_ns > end_call_ns {
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

    fn flush(&mut self) -> Result<(), AgentError> {
        self.packing.flush(self.writer.as_ref().ok_or(AgentError::Closed)?, &mut self.tries)
    }

    fn offered(&self) -> u64 {
        self.sequence + u64::from(self.first_tried_ns.is_some())
    }

    /// Returns the time of the flow in a phase of this limit, in ns. Without a schedule, it ends with the last sample.
    fn length_ns(&self, TrafficLimit { duration_ns, samples }: TrafficLimit) -> u64 {
        match self.plan.schedule() {
            Some(schedule) => schedule.length_ns(samples, duration_ns),
            None if self.sequence >= self.most => 0,
            None => duration_ns,
        }
    }

    fn written(&self, limit: TrafficLimit) -> FlowWriterReport {
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
            batches: self.packing.batches(),
        }
    }
}

impl AgentRole for PacedWriter {
    fn progress(&self) -> ProgressSource {
        ProgressSource {
            round_trips: self.probes.iter().map(ProbeRecorder::round_trips).collect(),
            ..ProgressSource::default()
        }
    }

    fn receiving_threads(&self) -> Vec<NamedThread<'_>> {
        self.probes.iter().filter_map(ProbeRecorder::thread).collect()
    }

    fn recorded(&self) -> u64 {
        self.accepted()
    }

    fn warm_up(&mut self, limit: TrafficLimit) -> Result<(), AgentError> {
        self.follow(limit, None, None)?;
        for flow in &mut self.flows {
            flow.warm_up = flow.sequence;
        }
        self.prepare();
        Ok(())
    }

    fn measure(
        &mut self,
        limit: TrafficLimit,
        begin_ns: Option<u64>,
        meter: &mut TrafficMeter,
    ) -> Result<MeasureReply, AgentError> {
        self.follow(limit, Some(begin_ns.ok_or(AgentError::NoBegin)?), Some(meter))?;
        Ok(MeasureReply { sent: self.accepted() })
    }

    fn drain(&mut self, drain: &Drain, _meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        if !self.wait_acked {
            return Ok(true);
        }
        let end_ns = now_ns().saturating_add(drain.timeout_ns);
        let mut all = true;
        for flow in &self.flows {
            let writer = flow.writer.as_ref().ok_or(AgentError::Closed)?;
            all &= writer.wait_acked(end_ns.saturating_sub(now_ns()))?;
        }
        Ok(all)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let accepted = self.accepted();
        Ok(RoleReport::PacedWriter(PacedWriterReport {
            probes: self.probes.as_mut().map(|probes| probes.report(accepted)).transpose()?,
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            throttle: self.flows.first().and_then(|flow| flow.throttled.as_ref()).map(RateThrottle::report),
            spin_ns: self.pace.map_or(0, |pace| pace.spin_ns()),
            flows: self.flows.iter().map(|flow| flow.written(self.limit)).collect(),
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.probes.as_mut().map_or(Ok(()), ProbeRecorder::close)?;
        let writers = self.flows.iter_mut().filter_map(|flow| flow.writer.take());
        Ok(writers.map(Writer::close).fold(Ok(()), Result::and)?)
    }
}
