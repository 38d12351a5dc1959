//! Paced writer: sends each sample at its intended time, or as soon as possible after it.
//!
//! Each thread writes its flows in the order of their intended times. The schedule is never shifted: a late sample
//! leaves at once, and the next one keeps its own time. A sample that is not tried by the end of the measurement
//! time is not written at all.

use std::{
    sync::{Arc, RwLock, mpsc},
    thread::ScopedJoinHandle,
};

use control::{Configure, Drain, RoleReport, WriterReport};

use super::flow_writer::FlowWriter;
use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::{TrafficMeter, thread_ns},
        priority::NamedThread,
        progress::ProgressSource,
        role::{AgentRole, TrafficLimit},
        sleep_spin_timer::{SleepSpinTimer, sleep_until},
    },
    traffic::{
        lag_attribution::LagAttribution, late_join::LateJoin, probes::ProbeRecorder,
        rate_throttle::RateThrottle,
    },
};

/// Time from now until the schedule of a warm-up starts, in ns.
const WARM_UP_LEAD_NS: u64 = 1_000_000;
/// Additional time for each thread to start, in ns.
const THREAD_LEAD_NS: u64 = 100_000;
/// Time before the start of a schedule at which the meter is read, in ns; a reading takes some tens of µs.
const METER_LEAD_NS: u64 = 500_000;

/// Role of a paced writer.
#[derive(Debug)]
pub struct PacedWriter {
    /// Flows of each thread. The role's own thread writes if there is one.
    threads: Vec<Vec<FlowWriter>>,
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

/// A writing thread at the end of a phase.
#[derive(Clone, Copy, Debug)]
struct ThreadEnd {
    accepted: u64,
    /// Planned length of its flows in ns.
    length_ns: u64,
}

impl ThreadEnd {
    fn of(flows: &[FlowWriter], limit: TrafficLimit) -> Self {
        Self {
            accepted: flows.iter().map(|flow| flow.sequence).sum(),
            length_ns: flows.iter().map(|flow| flow.length_ns(limit)).max().unwrap_or(0),
        }
    }

    /// Waits until the planned time of all threads has passed, and takes the final reading: host metrics cover the whole requested
    /// time.
    fn finish(all: &[Self], begin_ns: u64, meter: Option<&mut TrafficMeter>) {
        let length_ns = all.iter().map(|end| end.length_ns).max().unwrap_or(0);
        sleep_until(begin_ns.saturating_add(length_ns), now_ns());
        if let Some(meter) = meter {
            meter.end(all.iter().map(|end| end.accepted).sum());
        }
    }
}

impl PacedWriter {
    /// Creates the role with these flows.
    #[must_use]
    pub fn new(
        configure: &Configure,
        flows: Vec<FlowWriter>,
        wait_acked: bool,
        probes: Option<ProbeRecorder>,
        join: Option<Arc<LateJoin>>,
    ) -> Self {
        let mut threads: Vec<Vec<FlowWriter>> = Vec::new();
        for (position, mut flow) in flows.into_iter().enumerate() {
            flow.position = position;
            match threads.iter_mut().find(|of| of[0].thread == flow.thread) {
                Some(of) => of.push(flow),
                None => threads.push(vec![flow]),
            }
        }
        Self {
            threads,
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

    /// Returns the flows, by thread.
    fn flows(&self) -> impl Iterator<Item = &FlowWriter> {
        self.threads.iter().flatten()
    }

    fn accepted(&self) -> u64 {
        self.flows().map(|flow| flow.sequence).sum()
    }

    /// Lets a thread write the flows of each group. They all exist until the meter has been read: it cannot read the times of a
    /// thread that has ended.
    fn follow_with_threads(
        &mut self,
        pace: SleepSpinTimer,
        warm_up: bool,
        end_ns: u64,
        mut meter: Option<&mut TrafficMeter>,
    ) -> Result<(), AgentError> {
        let (begin_ns, limit) = (self.begin_ns, self.limit);
        let held = RwLock::new(());
        let (done, ends) = mpsc::channel();
        self.end_ns = std::thread::scope(|scope| {
            // Threads that have written wait until it is dropped.
            let hold = held.write();
            let start = |flows: &mut Vec<FlowWriter>| {
                let began_ns = thread_ns();
                let pace = pace.on_this_thread();
                let end_ns = write_all(flows, pace, warm_up, None, end_ns, now_ns());
                let used_ns = began_ns.zip(thread_ns()).map(|(began, ended)| ended.saturating_sub(began));
                flows.iter_mut().for_each(|flow| flow.thread_ns = used_ns);
                (end_ns, ThreadEnd::of(flows, limit))
            };
            let run = |flows| {
                let (done, held) = (done.clone(), &held);
                move || {
                    let (end_ns, end) = start(flows);
                    // Fails if the role's thread panics.
                    let _ = done.send(end);
                    // Before the wait: if another thread panics, the role's thread must find the channel closed.
                    drop(done);
                    drop(held.read());
                    end_ns
                }
            };
            let started: Vec<_> = self.threads.iter_mut().map(|flows| scope.spawn(run(flows))).collect();
            drop(done);
            sleep_until(begin_ns.saturating_sub(METER_LEAD_NS), now_ns());
            if let Some(meter) = &mut meter {
                meter.begin();
            }
            // A thread that panics drops its sender; joining it resumes the panic.
            let all: Vec<ThreadEnd> = ends.iter().take(started.len()).collect();
            ThreadEnd::finish(&all, begin_ns, meter);
            drop(hold);
            let join = |thread: ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            let ends = started.into_iter().map(join).collect::<Result<Vec<u64>, AgentError>>()?;
            Ok::<_, AgentError>(ends.into_iter().max().unwrap_or(0))
        })?;
        Ok(())
    }

    /// Does everything that takes time before a schedule starts.
    fn prepare(&mut self) {
        if !self.prepared {
            self.threads.iter_mut().flatten().for_each(FlowWriter::prepare);
        }
        self.prepared = true;
    }
}

/// Writes what is due before `end_ns`. A late sample costs one clock read, at the end of the previous write. Returns the time of the
/// end in ns.
fn write_all(
    flows: &mut [FlowWriter],
    pace: SleepSpinTimer,
    warm_up: bool,
    join: Option<&LateJoin>,
    end_ns: u64,
    begin_ns: u64,
) -> Result<u64, AgentError> {
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
        let before = flow.sequence;
        now = flow.write(now, warm_up, &mut calls)?;
        now = flow.await_echo(before, now, end_ns)?;
        if let Some(join) = join.filter(|join| join.is_waiting()) {
            join.connect(flows.iter().filter_map(|flow| flow.samples.writer().ok()))?;
        }
    }
    flows.iter_mut().try_for_each(FlowWriter::flush)?;
    Ok(now_ns())
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

    /// Follows the schedule from `limit.begin_ns` on, in the warm-up from some ms after now.
    fn run(&mut self, limit: TrafficLimit, mut meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        let warm_up = meter.is_none();
        if !warm_up && limit.begin_ns.is_none() {
            return Err(AgentError::NoBegin);
        }
        let pace = *self.pace.get_or_insert_with(|| SleepSpinTimer::calibrated(self.spin));
        self.prepare();
        let mut now = now_ns();
        let lead_ns = WARM_UP_LEAD_NS + self.threads.len() as u64 * THREAD_LEAD_NS;
        let begin_ns = limit.begin_ns.unwrap_or(now + lead_ns);
        if now > begin_ns {
            return Err(AgentError::MissedBegin { late_ns: now - begin_ns });
        }
        for flow in self.threads.iter_mut().flatten() {
            flow.begin(begin_ns, limit.most());
        }
        self.prepared = false;
        if let Some(probes) = &self.probes {
            probes.progress().begin(begin_ns, warm_up);
        }
        let end_ns = begin_ns.saturating_add(limit.duration_ns);
        (self.limit, self.begin_ns) = (limit, begin_ns);
        if let [flows] = &mut self.threads[..] {
            if let Some(meter) = &mut meter {
                sleep_until(begin_ns.saturating_sub(METER_LEAD_NS), now);
                meter.begin();
                now = now_ns();
            }
            self.end_ns = write_all(flows, pace, warm_up, self.join.as_deref(), end_ns, now)?;
            ThreadEnd::finish(&[ThreadEnd::of(flows, limit)], begin_ns, meter);
        } else {
            self.follow_with_threads(pace, warm_up, end_ns, meter)?;
        }
        if warm_up {
            for flow in self.threads.iter_mut().flatten() {
                flow.warm_up = flow.sequence;
            }
            self.prepare();
        }
        Ok(())
    }

    fn drain(&mut self, drain: &Drain, _meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        if !self.wait_acked {
            return Ok(true);
        }
        let end_ns = now_ns().saturating_add(drain.timeout_ns);
        let mut all = true;
        for flow in self.flows() {
            all &= flow.samples.writer()?.wait_acked(end_ns.saturating_sub(now_ns()))?;
        }
        Ok(all)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let accepted = self.accepted();
        let mut flows: Vec<&FlowWriter> = self.threads.iter().flatten().collect();
        flows.sort_unstable_by_key(|flow| flow.position);
        Ok(RoleReport::Writer(WriterReport {
            probes: self.probes.as_mut().map(|probes| probes.report(accepted)).transpose()?,
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            throttle: flows.first().and_then(|flow| flow.throttled.as_ref()).map(RateThrottle::report),
            spin_ns: self.pace.map_or(0, |pace| pace.spin_ns),
            flows: flows.iter().map(|flow| flow.written(self.limit)).collect(),
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        self.probes.as_mut().map_or(Ok(()), ProbeRecorder::close)?;
        self.threads.iter_mut().flatten().map(|flow| flow.samples.close()).fold(Ok(()), Result::and)
    }
}
