//! Latency role `pinger` with several samples in flight around a ring.
//!
//! A sample that returns or is lost frees its place for the next one. Node 1 never waits for room with samples to
//! receive, so a ring in which all queues are full can move on.

use std::{
    sync::mpsc::Receiver,
    thread,
    time::{Duration, Instant},
};

use control::{
    Configure, Drain, PingerReport, ReturnReport, RoleReport, TimestampLog, TimestampPair, ping_timeout_ns,
};
use driver_host::Writer;
use experiment::StreamSpec;
use results::Windows;

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::TrafficMeter,
        role::{AgentRole, TrafficLimit},
    },
    roles::{
        pipelined_recorder::{Arrival, PipelinedRecorder},
        pipelined_window::{InFlight, PipelinedWindow},
    },
    traffic::{
        retry::{FIRST_BACKOFF, LONGEST_BACKOFF, RetryCounts},
        sample_input::SampleInput,
        sample_writer::SampleWriter,
        timestamps::stamps_for,
    },
};

/// Node 1 of a ring with several samples in flight.
#[derive(Debug)]
pub struct PipelinedPinger {
    samples: SampleWriter,
    inlet: Option<SampleInput<PipelinedRecorder>>,
    arrivals: Receiver<Arrival>,
    window: PipelinedWindow,
    rtt: Windows,
    stamps: TimestampLog,
    /// Minimum of the ping timeout.
    least_timeout_ns: u64,
    ping_timeout_ns: u64,
    counts: Counts,
}

/// Counts of one phase of traffic.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    warm_up: bool,
    sent: u64,
    lost: u64,
    late: u64,
    /// Samples that returned until `end_ns`.
    in_time: u64,
    begin_ns: u64,
    end_ns: u64,
    tries: RetryCounts,
    /// Samples that were never accepted: 0 or 1, the last one.
    unsent: u64,
}

/// Sample that was not accepted yet.
#[derive(Clone, Copy)]
struct Pending {
    /// Time of the first attempt in ns.
    sent_ns: u64,
    backoff: Duration,
}

impl PipelinedPinger {
    /// Creates the role with this writer and this source of samples that return.
    #[must_use]
    pub fn new(
        configure: &Configure,
        stream: &StreamSpec,
        writer: Writer,
        inlet: SampleInput<PipelinedRecorder>,
        arrivals: Receiver<Arrival>,
    ) -> Self {
        Self {
            samples: SampleWriter::new(configure, stream, writer),
            inlet: Some(inlet),
            arrivals,
            window: PipelinedWindow::new(stream.in_flight.unwrap_or(1) as usize),
            rtt: Windows::new(configure.windows, configure.measure_ns),
            stamps: stamps_for(configure.measure_ns, 1),
            least_timeout_ns: configure.ping_timeout_ns,
            ping_timeout_ns: configure.ping_timeout_ns,
            counts: Counts::default(),
        }
    }

    /// Starts a phase of traffic. Nothing is in flight.
    fn begin(&mut self) {
        while self.arrivals.try_recv().is_ok() {}
        self.window.clear();
        self.stamps.clear();
        self.rtt.begin(now_ns());
    }

    /// Writes the next sample. Returns whether it was accepted. `sent_ns`: time of the first attempt.
    #[inline]
    fn write(&mut self, sent_ns: u64) -> Result<bool, AgentError> {
        let outcome = self.samples.write(self.counts.sent, self.counts.warm_up, sent_ns)?;
        Ok(self.counts.tries.accepts(outcome))
    }

    #[inline]
    fn sent(&mut self, sent_ns: u64, accepted_ns: u64) {
        let deadline_ns = accepted_ns + self.ping_timeout_ns;
        self.window.add(InFlight { sequence: self.counts.sent, sent_ns, deadline_ns });
        self.counts.sent += 1;
    }

    /// Waits up to this time for a sample, and records what has returned. Returns whether something has.
    #[inline]
    fn receive(&mut self, timeout_ns: u64) -> Result<bool, AgentError> {
        // A listener may have delivered before.
        if self.record_arrivals() {
            return Ok(true);
        }
        let inlet = self.inlet.as_mut().ok_or(AgentError::Closed)?;
        if !inlet.look(timeout_ns, PipelinedRecorder::arrived)? {
            thread::park_timeout(Duration::from_nanos(timeout_ns));
        }
        Ok(self.record_arrivals())
    }

    #[inline]
    fn record_arrivals(&mut self) -> bool {
        let mut any = false;
        while let Ok(Arrival { sequence, warm_up, arrived_ns }) = self.arrivals.try_recv() {
            any = true;
            if warm_up != self.counts.warm_up {
                continue;
            }
            let Some(InFlight { sent_ns, .. }) = self.window.remove(sequence, arrived_ns) else {
                self.counts.late += 1;
                continue;
            };
            self.counts.in_time += u64::from(arrived_ns <= self.counts.end_ns);
            self.rtt.record(arrived_ns, arrived_ns - sent_ns);
            self.stamps.record(sequence, TimestampPair { first_ns: sent_ns, second_ns: arrived_ns });
        }
        any
    }

    /// Receives for a while with nothing in flight.
    fn idle(&mut self, duration: Duration) -> Result<(), AgentError> {
        let begin = Instant::now();
        while let Some(left) = duration.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
            self.receive(left.as_nanos() as u64)?;
        }
        Ok(())
    }
}

impl AgentRole for PipelinedPinger {
    /// Receives in the same way as for a sample in flight.
    fn serve(&mut self, slice: Duration, _wait_ns: u64) -> Result<(), AgentError> {
        self.idle(slice)
    }

    fn recorded(&self) -> u64 {
        self.counts.sent
    }

    /// Keeps the samples in flight up to this limit, then waits until all have returned or are lost. A sample that is
    /// not accepted is retried and keeps the time of its first attempt, as with one in flight. With a meter, the traffic
    /// is recorded and the meter is read; without one, it is the warm-up.
    fn run(&mut self, limit: TrafficLimit, mut meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        self.begin();
        if let Some(meter) = &mut meter {
            meter.begin();
        }
        let begin_ns = now_ns();
        let (end_ns, most) = (begin_ns.saturating_add(limit.duration_ns), limit.most());
        self.counts = Counts { warm_up: meter.is_none(), begin_ns, end_ns, ..Counts::default() };
        let mut pending: Option<Pending> = None;
        let mut now = begin_ns;
        loop {
            while self.window.has_room() {
                let first_ns = match pending {
                    Some(pending) => pending.sent_ns,
                    None if now < end_ns && self.counts.sent < most => now_ns(),
                    None => break,
                };
                if !self.write(first_ns)? {
                    let backoff =
                        pending.map_or(FIRST_BACKOFF, |pending| (pending.backoff * 2).min(LONGEST_BACKOFF));
                    pending = Some(Pending { sent_ns: first_ns, backoff });
                    break;
                }
                // A sample is lost some time after it was accepted.
                let accepted_ns = if pending.take().is_some() { now_ns() } else { first_ns };
                self.sent(first_ns, accepted_ns);
                now = accepted_ns;
            }
            let wait_ns = match (pending, self.window.deadline_ns()) {
                (Some(pending), _) => pending.backoff.as_nanos() as u64,
                (None, Some(deadline_ns)) => deadline_ns.saturating_sub(now),
                (None, None) if now >= end_ns || self.counts.sent >= most => break,
                (None, None) => 0,
            };
            // Before another attempt, all samples that have returned are taken: the ring may be full.
            let mut wait_ns = Some(wait_ns);
            while let Some(timeout_ns) = wait_ns.take() {
                let returned = self.receive(timeout_ns)?;
                wait_ns = (returned && pending.is_some()).then_some(0);
            }
            now = now_ns();
            while let Some(lost) = self.window.lost(now) {
                self.counts.lost += 1;
                self.stamps.record(lost.sequence, TimestampPair { first_ns: lost.sent_ns, second_ns: 0 });
            }
            let given_up = |pending: &Pending| now >= end_ns && now - pending.sent_ns >= self.ping_timeout_ns;
            if pending.as_ref().is_some_and(given_up) {
                pending = None;
                self.counts.unsent += 1;
            }
        }
        if self.counts.sent >= most {
            self.counts.end_ns = now.min(end_ns);
        }
        match meter {
            Some(meter) => meter.end(self.counts.sent),
            None => self.ping_timeout_ns = ping_timeout_ns(self.least_timeout_ns, self.rtt.median()),
        }
        Ok(())
    }

    /// Waits for lost samples, which count as late.
    fn drain(&mut self, drain: &Drain, _meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        if self.counts.lost > 0 {
            self.idle(Duration::from_nanos(drain.quiet_ns.min(drain.timeout_ns)))?;
        }
        Ok(true)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let recorder = self.inlet.take().ok_or(AgentError::Closed)?.close()?;
        self.record_arrivals();
        let Counts { sent, lost, late, in_time, begin_ns, end_ns, tries, unsent, .. } = self.counts;
        let returned = ReturnReport {
            returned: self.rtt.len(),
            lost,
            late: late + recorder.dropped,
            latest_ns: None,
            duplicate: recorder.duplicate,
            corrupt: recorder.content.corrupt,
            foreign: recorder.content.foreign,
            checked_in_full: recorder.content.checked_in_full,
            rtt: self.rtt.distribution(),
            stamps: std::mem::take(&mut self.stamps),
        };
        Ok(RoleReport::Pinger(PingerReport {
            sent,
            unsent,
            timed_out: tries.timed_out,
            refused: tries.refused,
            elapsed_ns: end_ns - begin_ns,
            in_time,
            ping_timeout_ns: self.ping_timeout_ns,
            returns: vec![returned],
            last_rtt: None,
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        if let Some(inlet) = self.inlet.take() {
            inlet.close()?;
        }
        self.samples.close()
    }
}
