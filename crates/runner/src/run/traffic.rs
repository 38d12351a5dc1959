//! Measurement phase of a run: the serving agents begin to measure, then the driving ones send.

use std::time::{Duration, Instant};

use control::{Configured, Reply, Request};
use experiment::Workload;
use host::monotonic_ns;

use super::{
    endpoint_progress::EndpointProgress,
    run_phases::{MEASURE, RunPhases, Traffic, to_all},
    schedule_start::ScheduleStart,
};
use crate::agents::{
    agent_set::AgentSet,
    phase_error::{PhaseError, missed_start},
    take,
};

/// Interval of requests for the progress of the agents.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Reply of an agent to the request to measure: the number of samples that it sent, or the time in ns by which it missed the
/// start.
pub(super) type MeasureOutcome = Result<u64, u64>;

/// Returns the outcome that a reply reports.
pub(super) fn measured(reply: Reply) -> Result<MeasureOutcome, Reply> {
    match reply {
        Reply::Measured(measured) => Ok(Ok(measured.sent)),
        Reply::Missed { late_ns } => Ok(Err(late_ns)),
        other => Err(other),
    }
}

/// Returns the number of samples of each agent that sent some, or the error of the first one that missed the start.
pub(super) fn none_missed(outcomes: Vec<(usize, MeasureOutcome)>) -> Result<Vec<(usize, u64)>, PhaseError> {
    let sent = |(agent, outcome): (usize, MeasureOutcome)| match outcome {
        Ok(sent) => Ok((agent, sent)),
        Err(late_ns) => Err(missed_start(MEASURE, agent, late_ns)),
    };
    outcomes.into_iter().map(sent).collect()
}

impl RunPhases<'_> {
    /// Executes the measurement. A schedule starts after `lead_ns`, or later if the agents are not ready by then.
    pub(super) fn traffic(
        &self,
        agent_set: &mut AgentSet<'_>,
        lead_ns: u64,
        configured: &[Configured],
    ) -> Result<Traffic, PhaseError> {
        let mut start = ScheduleStart::new(lead_ns);
        if let Some(late) = self.late_reader() {
            return self.traffic_with_late_join(agent_set, late, &mut start, configured);
        }
        let measure = |duration_ns, samples, begin_ns| Request::Measure {
            duration_ns,
            samples,
            begin_ns,
            progress: self.design.progress,
            join: None,
        };
        // Driving endpoints come first, in the order of their settings.
        let of_driving = |agent: usize, begin_ns| {
            let own = self.design.writer(agent);
            measure(own.measure_ns, own.samples, begin_ns)
        };
        let of_serving = |begin_ns| measure(self.design.measure_ns, self.design.samples, begin_ns);
        loop {
            let begin_ns = self.serve(agent_set, &mut start, &of_serving)?;
            // The serving agents have begun to measure.
            agent_set.may_lose(self.topology.dispensable());
            let outcomes = self.drive(agent_set, &|agent| of_driving(agent, begin_ns), start.lead_ns)?;
            // Nothing was written if all of them missed the start.
            let missed = outcomes.iter().filter_map(|(_, outcome)| outcome.err());
            let all_missed = missed.clone().count() == outcomes.len();
            if all_missed && missed.max().is_some_and(|late_ns| start.is_put_off(late_ns)) {
                continue;
            }
            let mut sent = vec![0; self.topology.endpoints.len()];
            for (agent, number) in none_missed(outcomes)? {
                sent[agent] = number;
            }
            return Ok(Traffic { sent, late: None });
        }
    }

    /// Asks the serving agents to measure, again with a later start if too little time is left until a schedule starts. Returns
    /// its start in ns of the common clock, if there is one.
    pub(super) fn serve(
        &self,
        agent_set: &mut AgentSet<'_>,
        start: &mut ScheduleStart,
        measure: &dyn Fn(Option<u64>) -> Request,
    ) -> Result<Option<u64>, PhaseError> {
        let is_paced = self.cell.factors.workload == Workload::Paced;
        let [(serving, limit_ns), _] = self.serving_first(self.design.measure_ns);
        loop {
            let chosen_ns = monotonic_ns();
            let begin_ns = is_paced.then(|| self.common_time_in(start.lead_ns, MEASURE)).transpose()?;
            agent_set.ask_remaining(&to_all(&serving, &measure(begin_ns)), limit_ns, measured)?;
            if begin_ns.is_none() || start.is_kept(monotonic_ns().saturating_sub(chosen_ns)) {
                return Ok(begin_ns);
            }
        }
    }

    /// Asks the driving agents to measure, and returns the outcome of each of them. A schedule starts in at most `lead_ns`.
    fn drive(
        &self,
        agent_set: &mut AgentSet<'_>,
        measure: &dyn Fn(usize) -> Request,
        lead_ns: u64,
    ) -> Result<Vec<(usize, MeasureOutcome)>, PhaseError> {
        let [_, (driving, limit_ns)] = self.serving_first(self.design.measure_ns);
        let limit_ns = limit_ns.saturating_add(lead_ns);
        let requests: Vec<_> = driving.iter().map(|agent| (*agent, measure(*agent))).collect();
        agent_set.defer(&requests)?;
        if self.design.progress {
            self.observe(agent_set, Duration::from_nanos(limit_ns))?;
        }
        agent_set.await_deferred(limit_ns, measured)
    }

    /// Requests the progress of all agents once per second until the driving ones have measured, or for this time.
    fn observe(&self, agent_set: &mut AgentSet<'_>, limit: Duration) -> Result<(), PhaseError> {
        let end = Instant::now() + limit;
        let all: Vec<usize> = (0..self.topology.endpoints.len()).collect();
        while !agent_set
            .wait_deferred(PROGRESS_INTERVAL.min(end.saturating_duration_since(Instant::now())))?
            && Instant::now() < end
        {
            let requests = to_all(&all, &Request::Progress);
            let progress = take!(Reply::Progress(progress) => progress);
            let readings = agent_set.ask_remaining(&requests, self.limits.grace_ns, progress);
            let readings = readings.map_err(|error| error.in_phase(MEASURE))?;
            if let Some(on_progress) = self.on_progress {
                let named = readings.into_iter().map(|(agent, progress)| EndpointProgress {
                    endpoint: &self.topology.endpoints[agent].id,
                    progress,
                });
                on_progress(&named.collect::<Vec<_>>());
            }
        }
        Ok(())
    }
}
