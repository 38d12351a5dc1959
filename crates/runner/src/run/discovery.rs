//! Discovery of a run: all participants are opened at one instant, or the last one when all others are matched.

use control::{Configured, Match, Reply, Request};
use experiment::{Join, RunTopology, Topics};

use super::run_phases::{Phases, RunPhases};
use crate::agents::{agent_set::AgentSet, phase_error::PhaseError, take};

/// Time from the requests to the common start, in ns: a minimum, and more for each agent, because each of them has to
/// receive its request before.
const LEAD_NS: u64 = 250_000_000;
const LEAD_OF_AGENT_NS: u64 = 10_000_000;

/// Effective configurations of all agents, and the time in ns that each of them waited for its matches.
type Discovered = (Vec<Configured>, Vec<u64>);

/// Reply in the stage of a late participant: it is open, or an earlier one is matched with it.
enum Joined {
    Opened(Box<Configured>),
    Matched(u64),
}

impl RunPhases<'_> {
    /// Opens all participants and waits until their entities are matched.
    pub(super) fn discover(
        &self,
        agent_set: &mut AgentSet<'_>,
        phases: &mut Phases,
    ) -> Result<Discovered, PhaseError> {
        let all = self.topology.endpoints.len();
        let is_late = self.cell.factors.discovery.join == Join::Late && all > 1;
        let early = all - usize::from(is_late);
        let begin_ns = self.common_start()?;
        let requests: Vec<_> = (0..early).map(|agent| (agent, self.opening(agent, begin_ns))).collect();
        let opened = take!(Reply::Configured(configured) => *configured);
        let mut configured = agent_set.ask(&requests, self.opening_limit_ns(), opened)?;
        phases.end("configure");
        let first = RunTopology { endpoints: self.topology.endpoints[..early].to_vec() };
        let mut matched_ns = self.matched(agent_set, &first, 0..early)?;
        if is_late {
            let late = early;
            let begin_ns = self.common_start()?;
            let topics = self.topology.topics();
            let mut requests: Vec<_> =
                (0..early).map(|agent| (agent, self.matching(&topics, agent, Some(begin_ns)))).collect();
            requests.push((late, self.opening(late, begin_ns)));
            let limit_ns = self.opening_limit_ns().saturating_add(self.limits.match_ns);
            let replies = agent_set.ask(&requests, limit_ns, |reply| match reply {
                Reply::Configured(configured) => Ok(Joined::Opened(configured)),
                Reply::Matched { waited_ns, .. } => Ok(Joined::Matched(waited_ns)),
                other => Err(other),
            })?;
            matched_ns.clear();
            for reply in replies {
                match reply {
                    Joined::Opened(opened) => configured.push(*opened),
                    Joined::Matched(waited_ns) => matched_ns.push(waited_ns),
                }
            }
            matched_ns.extend(self.matched(agent_set, &self.topology, late..all)?);
        }
        self.check_configuration(&configured)?;
        phases.end("match");
        Ok((configured, matched_ns))
    }

    /// Waits until the entities of these agents are matched with those of a topology.
    fn matched(
        &self,
        agent_set: &mut AgentSet<'_>,
        topology: &RunTopology,
        agents: std::ops::Range<usize>,
    ) -> Result<Vec<u64>, PhaseError> {
        let topics = topology.topics();
        let requests: Vec<_> = agents.map(|agent| (agent, self.matching(&topics, agent, None))).collect();
        let limit_ns = self.limits.match_ns.saturating_add(self.limits.grace_ns);
        agent_set.ask(&requests, limit_ns, take!(Reply::Matched { waited_ns, .. } => waited_ns))
    }

    fn matching(&self, topics: &Topics<'_>, agent: usize, begin_ns: Option<u64>) -> Request {
        // A middleware with discovery has no locators.
        Request::Match(Match { begin_ns, ..Match::of(topics, agent, &[], self.limits.match_ns) })
    }

    fn opening(&self, agent: usize, begin_ns: u64) -> Request {
        let mut request = self.configuration(agent);
        if let Request::Configure(configure) = &mut request {
            configure.begin_ns = Some(begin_ns);
        }
        request
    }

    fn common_start(&self) -> Result<u64, PhaseError> {
        self.common_time_in(self.lead_ns(), "configure")
    }

    fn lead_ns(&self) -> u64 {
        LEAD_NS + LEAD_OF_AGENT_NS * self.topology.endpoints.len() as u64
    }

    fn opening_limit_ns(&self) -> u64 {
        self.limits.configure_ns.saturating_add(self.lead_ns())
    }
}
