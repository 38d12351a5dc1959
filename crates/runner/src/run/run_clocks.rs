//! Clocks of the hosts of a run: the common clock, the timelines of its agents, and their errors after the run.
//!
//! The common clock is that of the host of the first endpoint, so a time between two hosts has the error of one
//! measurement only. Each clock is measured right before and right after a run, when no traffic flows: the record of a
//! run is complete when it ends.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::sites::Sites;
use collector::RunReports;
use control::Timeline;
use experiment::{Endpoint, RunTopology};
use host::{ClockEnd, RunTimeline, Site, SiteClock, SiteError, drift_within_ns};

/// Names of a reference host and of a host that is compared with it.
type HostPair = (String, String);

/// Clocks of the hosts of an experiment, by the reference host and the host itself.
#[derive(Debug, Default)]
pub(crate) struct HostClocks(Mutex<BTreeMap<HostPair, Arc<Mutex<SiteClock>>>>);

impl HostClocks {
    fn of(&self, reference: &str, host: &str) -> Arc<Mutex<SiteClock>> {
        Arc::clone(lock(&self.0).entry((reference.to_owned(), host.to_owned())).or_default())
    }
}

/// Continues after a panic of another run: each measurement is complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Host of an endpoint.
pub(crate) struct EndpointHost<'a> {
    /// Endpoint, by id.
    pub(crate) endpoint: String,
    /// Name.
    pub(crate) name: String,
    /// Site.
    pub(crate) site: &'a dyn Site,
    /// Network interface of the run.
    pub(crate) interface: String,
}

impl EndpointHost<'_> {
    fn end(&self) -> ClockEnd<'_> {
        ClockEnd { site: self.site, interface: &self.interface }
    }
}

/// Returns the hosts of the endpoints of a run.
pub(crate) fn endpoint_hosts<'a>(sites: &Sites<'a>, topology: &RunTopology) -> Vec<EndpointHost<'a>> {
    let host = |endpoint: &Endpoint| EndpointHost {
        endpoint: endpoint.id.clone(),
        name: endpoint.place.host.clone(),
        site: sites.named(&endpoint.place.host).site,
        interface: endpoint.participant.interface.clone(),
    };
    topology.endpoints.iter().map(host).collect()
}

/// Clocks of the hosts of a run.
pub(crate) struct RunClocks<'a> {
    hosts: Vec<EndpointHost<'a>>,
    /// Timelines by name of the host; `None`: unknown.
    timelines: BTreeMap<String, Option<RunTimeline>>,
    /// Largest error of the timelines that convert times, in ns, if there is one; `None` with an unknown timeline.
    largest_error_ns: Option<Option<u64>>,
    /// Whether the run needs the common clock.
    needs_one_clock: bool,
    clocks: &'a HostClocks,
}

impl<'a> RunClocks<'a> {
    /// Measures the clocks of the hosts of a run that starts next. `hosts`: those of the endpoints. Without
    /// `needs_one_clock`, a clock that cannot be measured is unknown.
    ///
    /// # Errors
    /// Returns an error if a clock that the run needs cannot be measured.
    pub(crate) fn before_run(
        clocks: &'a HostClocks,
        hosts: Vec<EndpointHost<'a>>,
        needs_one_clock: bool,
    ) -> Result<Self, SiteError> {
        let mut timelines = BTreeMap::new();
        for host in &hosts {
            if timelines.contains_key(&host.name) {
                continue;
            }
            let reference = &hosts[0];
            let clock = clocks.of(&reference.name, &host.name);
            let timeline = match lock(&clock).before_run(&reference.end(), &host.end()) {
                Ok(timeline) => Some(timeline),
                Err(SiteError::Clock { .. }) if !needs_one_clock => None,
                Err(error) => return Err(error),
            };
            timelines.insert(host.name.clone(), timeline);
        }
        let largest_error_ns = largest_error_ns(timelines.values().map(Option::as_ref));
        Ok(Self { hosts, timelines, largest_error_ns, needs_one_clock, clocks })
    }

    fn timeline(&self, endpoint: usize) -> Option<&RunTimeline> {
        self.timelines.get(&self.hosts.get(endpoint)?.name)?.as_ref()
    }

    /// Returns the conversion of the clock of an endpoint; `None` for one that reads the common clock, or whose clock is
    /// unknown.
    pub(crate) fn conversion(&self, endpoint: usize) -> Option<Timeline> {
        self.timeline(endpoint).map(|run| run.timeline).filter(|timeline| !timeline.is_identity())
    }

    /// Returns how far the times of two endpoints may be apart in a run that takes this time, in ns; `u64::MAX`: unknown.
    pub(crate) fn slack_ns(&self, run_ns: u64) -> u64 {
        // Any two hosts: twice the largest error, and twice the drift that the measurement after the run accepts.
        match self.largest_error_ns {
            Some(Some(error_ns)) => error_ns.saturating_add(drift_within_ns(run_ns)).saturating_mul(2),
            Some(None) => 0,
            None => u64::MAX,
        }
    }

    /// Returns the time of the common clock in ns. It may be late by the time that its host takes to answer.
    ///
    /// # Errors
    /// Returns an error if the host does not answer.
    pub(crate) fn now_ns(&self) -> Result<u64, SiteError> {
        let reference = self.hosts.first().map(|host| host.site.clock_reading()).transpose()?;
        Ok(reference.map_or(0, |reading| reading.monotonic_ns))
    }

    /// Measures the clocks after a run, and completes its reports: the error of each clock, or why the times of the run
    /// are not valid.
    ///
    /// # Errors
    /// Returns an error if a clock that the run needs cannot be measured any longer.
    pub(crate) fn after_run(&self, reports: &mut RunReports) -> Result<(), SiteError> {
        let mut errors_ns: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        for host in &self.hosts {
            let Some(Some(run)) = self.timelines.get(&host.name) else { continue };
            if errors_ns.contains_key(host.name.as_str()) {
                continue;
            }
            let reference = &self.hosts[0];
            let clock = self.clocks.of(&reference.name, &host.name);
            let measured = lock(&clock).after_run(run, &reference.end(), &host.end());
            if !self.needs_one_clock && matches!(measured, Err(SiteError::Clock { .. })) {
                errors_ns.insert(&host.name, None);
                continue;
            }
            let error_ns = measured?;
            if let Err(fault) = &error_ns {
                reports.clock_faults.push(format!("host `{}`: {fault}", host.name));
            }
            errors_ns.insert(&host.name, error_ns.ok());
        }
        let hosts: BTreeMap<&str, &str> =
            self.hosts.iter().map(|host| (host.endpoint.as_str(), host.name.as_str())).collect();
        for agent in &mut reports.agents {
            let host = hosts.get(agent.endpoint.id.as_str());
            agent.clock_error_ns = host.and_then(|host| *errors_ns.get(host)?);
        }
        Ok(())
    }
}

/// Returns the largest error of the timelines that convert times, in ns, if there is one; `None` with an unknown timeline.
fn largest_error_ns<'t>(runs: impl Iterator<Item = Option<&'t RunTimeline>>) -> Option<Option<u64>> {
    let errors =
        runs.map(|run| run.map(|run| (!run.timeline.is_identity()).then_some(run.timeline.error_ns)));
    errors.collect::<Option<Vec<_>>>().map(|errors| errors.into_iter().flatten().max())
}
