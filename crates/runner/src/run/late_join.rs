//! Traffic of a run whose last reader joins while the writers write.

use std::collections::BTreeSet;

use collector::LateJoined;
use control::{Configured, JoinTimes, LateJoin, Match, Reply, Request};
use experiment::{Join, RunTopology, Workload};

use super::{
    run_phases::{MEASURE, RunPhases, Traffic, to_all},
    schedule_start::ScheduleStart,
    traffic::{measured, none_missed},
};
use crate::agents::{agent_set::AgentSet, phase_error::PhaseError, take};

impl RunPhases<'_> {
    /// Returns the index of the reader that joins during the measurement: the last endpoint.
    pub(super) fn late_reader(&self) -> Option<usize> {
        let is_late = self.cell.factors.discovery.join == Join::Late
            && self.cell.factors.workload != Workload::Discovery;
        is_late.then(|| self.topology.endpoints.len() - 1)
    }

    /// Returns the topology of the endpoints that are opened before the warm-up.
    pub(super) fn early_shape(&self) -> RunTopology {
        let early = self.late_reader().unwrap_or(self.topology.endpoints.len());
        RunTopology { endpoints: self.topology.endpoints[..early].to_vec() }
    }

    /// Executes the measurement, in which the last reader is opened and matched. `configured`: of the other agents.
    pub(super) fn traffic_with_late_join(
        &self,
        agent_set: &mut AgentSet<'_>,
        late: usize,
        start: &mut ScheduleStart,
        configured: &[Configured],
    ) -> Result<Traffic, PhaseError> {
        let (duration_ns, samples) = (self.design.measure_ns, self.design.samples);
        let now_ns = self.common_time_in(0, MEASURE)?;
        let times_of =
            |begin_ns: Option<u64>| JoinTimes::of_measurement(begin_ns.unwrap_or(now_ns), duration_ns);
        let measure = |begin_ns| Request::Measure {
            duration_ns,
            samples,
            begin_ns,
            progress: false,
            join: Some(times_of(begin_ns)),
        };
        let begin_ns = self.serve(agent_set, start, &measure)?;
        let (times, measure) = (times_of(begin_ns), measure(begin_ns));
        let [(_, serving_limit_ns), (driving, limit_ns)] = self.serving_first(duration_ns);
        // The serving agents have begun to measure. Without the late one there is nothing to measure of a late join.
        let mut dispensable = self.topology.dispensable();
        for group in &mut dispensable {
            group.endpoints.retain(|agent| *agent != late);
        }
        agent_set.may_lose(dispensable);
        agent_set.defer(&to_all(&driving, &measure))?;

        let (opened, waited_ns, joined_ns) = self.join(agent_set, late, times, begin_ns, configured)?;
        agent_set.ask(&[(late, measure)], serving_limit_ns, measured)?;
        let mut sent = vec![0; self.topology.endpoints.len()];
        let limit_ns = limit_ns.saturating_add(start.lead_ns);
        for (agent, number) in none_missed(agent_set.await_deferred(limit_ns, measured)?)? {
            sent[agent] = number;
        }
        agent_set.may_lose(self.topology.dispensable());
        let joined = LateJoined { reader: self.topology.endpoints[late].id.clone(), times, joined_ns };
        Ok(Traffic { sent, late: Some((opened, waited_ns, joined)) })
    }

    /// Opens the late reader, and waits until it and the writers are matched. Returns its configuration, the time in ns that
    /// it waited, and the time of the last match of all of them.
    fn join(
        &self,
        agent_set: &mut AgentSet<'_>,
        late: usize,
        times: JoinTimes,
        schedule_ns: Option<u64>,
        configured: &[Configured],
    ) -> Result<(Configured, u64, u64), PhaseError> {
        let mut opening = self.configuration(late);
        if let Request::Configure(configure) = &mut opening {
            configure.begin_ns = Some(times.begin_ns);
            configure.late_join = Some(LateJoin::Late { times, schedule_ns });
        }
        let until_begin_ns = times.begin_ns.saturating_sub(self.common_time_in(0, MEASURE)?);
        let limit_ns = self.limits.configure_ns.saturating_add(until_begin_ns);
        let configuration = take!(Reply::Configured(configured) => *configured);
        let opened = agent_set.ask(&[(late, opening)], limit_ns, configuration)?;
        let all = [configured, &opened].concat();
        self.check_configuration(&all)?;

        let limit_ns = self.limits.match_ns.saturating_add(self.limits.grace_ns);
        let lost: BTreeSet<usize> = agent_set.lost().collect();
        let (topics, writers) = (self.topology.topics(), self.topology.driving().map(|(agent, _)| agent));
        let requests: Vec<_> = writers
            .chain([late])
            .map(|agent| {
                let mut of_agent = Match::of(&topics, agent, &all, self.limits.match_ns);
                if agent != late {
                    // They are connected to the other readers already.
                    for (writer, peers) in
                        self.topology.endpoints[agent].writers.iter().zip(&mut of_agent.writers)
                    {
                        let readers = topics.readers(&writer.topic);
                        let mut is_late = readers.iter().map(|(endpoint, _)| *endpoint == late);
                        peers.locators.retain(|_| is_late.next().unwrap_or(false));
                        peers.count -= readers.iter().filter(|(of, _)| lost.contains(of)).count() as u32;
                    }
                }
                (agent, Request::Match(of_agent))
            })
            .collect();
        let times = take!(Reply::Matched { waited_ns, at_ns } => (waited_ns, at_ns));
        let matched = agent_set.ask(&requests, limit_ns, times)?;
        let joined_ns = matched.iter().map(|(_, at_ns)| *at_ns).max().unwrap_or(0);
        let waited_ns = matched.last().map_or(0, |(waited_ns, _)| *waited_ns);
        let opened = opened.into_iter().next().unwrap_or_default();
        Ok((opened, waited_ns, joined_ns))
    }
}
