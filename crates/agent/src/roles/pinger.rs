//! Latency role `pinger`: exactly one ping in flight.

use std::time::Duration;

use control::{Configure, Drain, PingerReport, RoleReport, ping_timeout_ns};
use driver_host::Writer;
use experiment::StreamSpec;
use results::Windows;

use crate::{
    base::{
        clock::now_ns,
        error::AgentError,
        meters::TrafficMeter,
        priority::NamedThread,
        progress::ProgressSource,
        role::{AgentRole, TrafficLimit},
    },
    roles::{echo_recorder::WARM_UP, echo_return::EchoReturn},
    traffic::{retry::RetryCounts, sample_writer::SampleWriter},
};

/// Role of a pinger.
#[derive(Debug)]
pub struct Pinger {
    samples: SampleWriter,
    /// Ways back, one for each endpoint that echoes.
    returns: Vec<EchoReturn>,
    /// RTT of the last echo of each ping with all echoes.
    last_rtt: Windows,
    /// Minimum of the ping timeout.
    least_timeout_ns: u64,
    ping_timeout_ns: u64,
    counts: Counts,
}

/// Counts of one phase of traffic.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    /// Write calls that were repeated.
    tries: RetryCounts,
    /// Pings that were never accepted: 0 or 1, the last ping.
    unsent: u64,
    /// Pings with all echoes.
    complete: u64,
    /// Duration in ns.
    elapsed_ns: u64,
}

impl Pinger {
    /// Creates the role with this writer and these ways back.
    #[must_use]
    pub fn new(configure: &Configure, stream: &StreamSpec, writer: Writer, returns: Vec<EchoReturn>) -> Self {
        Self {
            samples: SampleWriter::new(configure, stream, writer),
            returns,
            last_rtt: Windows::new(configure.windows, configure.measure_ns),
            least_timeout_ns: configure.ping_timeout_ns,
            ping_timeout_ns: configure.ping_timeout_ns,
            counts: Counts::default(),
        }
    }

    /// Receives for a while without a ping in flight.
    fn idle(&mut self, duration: Duration) -> Result<(), AgentError> {
        let end_ns = now_ns() + duration.as_nanos() as u64;
        let is_polled = self.returns.first().is_some_and(EchoReturn::is_polled);
        match self.returns.as_mut_slice() {
            several if is_polled => {
                while now_ns() < end_ns {
                    several.iter_mut().try_for_each(|echoes| echoes.look(0))?;
                }
                Ok(())
            }
            // The others have threads of their own.
            [first, ..] => first.idle(duration),
            [] => Err(AgentError::Closed),
        }
    }
}

/// Waits until all echoes of the ping in flight have arrived, or for the ping timeout. `sent_ns`: time of the first
/// attempt to write it.
#[inline]
fn await_echoes(returns: &mut [EchoReturn], sent_ns: u64, timeout_ns: u64) -> Result<(), AgentError> {
    match returns {
        [only] if only.is_expected() => _ = only.await_echo(sent_ns, timeout_ns)?,
        [_] => {}
        several if several.first().is_some_and(EchoReturn::is_polled) => {
            // One thread polls all readers in turn: none of them waits for the echo of another one.
            let deadline_ns = now_ns() + timeout_ns;
            loop {
                let mut outstanding = false;
                for echoes in several.iter_mut().filter(|echoes| echoes.is_outstanding()) {
                    echoes.look(0)?;
                    outstanding |= echoes.is_outstanding();
                }
                if !outstanding || now_ns() >= deadline_ns {
                    break;
                }
            }
        }
        // The others have threads of their own, which take the time of each arrival.
        several => {
            for echoes in several.iter_mut().filter(|echoes| echoes.is_expected()) {
                echoes.await_echo(sent_ns, timeout_ns)?;
            }
        }
    }
    Ok(())
}

impl AgentRole for Pinger {
    /// Receives in the same way as for an echo.
    fn serve(&mut self, slice: Duration, _wait_ns: u64) -> Result<(), AgentError> {
        self.idle(slice)
    }

    fn progress(&self) -> ProgressSource {
        ProgressSource {
            round_trips: self.returns.iter().map(EchoReturn::round_trips).collect(),
            ..ProgressSource::default()
        }
    }

    fn receiving_threads(&self) -> Vec<NamedThread<'_>> {
        self.returns.iter().filter_map(EchoReturn::thread).collect()
    }

    fn recorded(&self) -> u64 {
        self.counts.sent
    }

    /// Pings up to this limit. A ping that is not accepted is retried and keeps the time of its first attempt: its
    /// wait for room is part of its RTT. The last ping is retried beyond the end, up to the ping timeout. With a
    /// meter, the traffic is recorded and the meter is read; without one, it is the warm-up.
    fn run(&mut self, limit: TrafficLimit, mut meter: Option<&mut TrafficMeter>) -> Result<(), AgentError> {
        let warm_up = meter.is_none();
        self.returns.iter_mut().for_each(EchoReturn::begin);
        self.last_rtt.begin(now_ns());
        self.counts = Counts::default();
        if let Some(meter) = &mut meter {
            meter.begin();
        }
        let begin_ns = now_ns();
        let mut now = begin_ns;
        let (end_ns, most) = (begin_ns.saturating_add(limit.duration_ns), limit.most());
        let mut sequence = 0;
        'pings: while now < end_ns && sequence < most {
            let ping = sequence | if warm_up { WARM_UP } else { 0 };
            let key = self.samples.key(sequence);
            for echoes in &self.returns {
                if echoes.echoes(key) {
                    echoes.expect(ping);
                } else {
                    echoes.expect_nothing();
                }
            }
            // read again: the time to record the previous echo is not part of this ping
            let sent_ns = now_ns();
            while !self.counts.tries.accepts(self.samples.write(sequence, warm_up, sent_ns)?) {
                let now = now_ns();
                if now >= end_ns && now - sent_ns >= self.ping_timeout_ns {
                    self.counts.unsent += 1;
                    break 'pings;
                }
            }
            self.counts.sent += 1;
            await_echoes(&mut self.returns, sent_ns, self.ping_timeout_ns)?;
            let (mut last_ns, mut all) = (0, true);
            for echoes in self.returns.iter_mut().filter(|echoes| echoes.echoes(key)) {
                let arrived_ns = echoes.arrived_ns();
                echoes.record(sequence, sent_ns, arrived_ns);
                all &= arrived_ns != 0;
                last_ns = last_ns.max(arrived_ns);
            }
            // Without an echo, the next ping leaves at once.
            now = if all && last_ns > 0 { last_ns } else { now_ns() };
            self.counts.complete += u64::from(all);
            if all && last_ns > 0 && self.returns.len() > 1 {
                self.last_rtt.record(last_ns, last_ns - sent_ns);
            }
            sequence += 1;
        }
        self.returns.iter().for_each(EchoReturn::expect_nothing);
        let is_complete = sequence >= most;
        self.counts.elapsed_ns = if is_complete { now } else { now.max(end_ns) } - begin_ns;
        match meter {
            Some(meter) => meter.end(self.counts.sent),
            None => {
                let median_ns = self.returns.iter().map(EchoReturn::median_rtt).max().unwrap_or(0);
                self.ping_timeout_ns = ping_timeout_ns(self.least_timeout_ns, median_ns);
            }
        }
        Ok(())
    }

    /// Waits for echoes of lost pings, which count as late.
    fn drain(&mut self, drain: &Drain, _meter: &mut TrafficMeter) -> Result<bool, AgentError> {
        if self.returns.iter().any(|echoes| echoes.lost > 0) {
            self.idle(Duration::from_nanos(drain.quiet_ns.min(drain.timeout_ns)))?;
        }
        Ok(true)
    }

    fn report(&mut self) -> Result<RoleReport, AgentError> {
        let Counts { sent, tries, unsent, complete, elapsed_ns } = self.counts;
        Ok(RoleReport::Pinger(PingerReport {
            sent,
            unsent,
            timed_out: tries.timed_out,
            refused: tries.refused,
            elapsed_ns,
            in_time: complete,
            ping_timeout_ns: self.ping_timeout_ns,
            returns: self.returns.iter_mut().map(EchoReturn::report).collect::<Result<_, _>>()?,
            last_rtt: (self.returns.len() > 1).then(|| self.last_rtt.distribution()),
        }))
    }

    fn close(&mut self) -> Result<(), AgentError> {
        for echoes in &mut self.returns {
            echoes.close()?;
        }
        self.samples.close()
    }
}
