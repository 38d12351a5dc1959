//! Measurements of the clock of a site against that of the reference site.

use std::time::Duration;

use control::Timeline;

use super::estimate::{ClockFault, ClockOffset, ClockPoint, error_of_run, timeline};
use crate::{
    site::Site,
    values::{
        clock_exchange::{ClockClient, ClockResponder, ExchangeKey},
        error::SiteError,
    },
};

/// Number of packets of a measurement.
const PACKETS: u32 = 200;
/// Maximum duration of a measurement. On a full link, and over a satellite, 200 packets take longer; fewer have the same
/// guarantee.
const LIMIT: Duration = Duration::from_secs(5);
/// Additional lifetime of the responder: the client is started after it.
const START: Duration = Duration::from_secs(10);
/// Maximum number of measurements that are kept.
const MAX_POINTS: usize = 64;

/// Site and its network interface in the network of a run.
#[derive(Clone, Copy)]
pub struct ClockEnd<'a> {
    /// Site.
    pub site: &'a dyn Site,
    /// Name of the interface.
    pub interface: &'a str,
}

/// Measures the clock of a site against that of the reference site, with packets between the two.
///
/// # Errors
/// Returns an error if a host does not answer, or if no packet returns.
pub fn measure_clock(reference: &ClockEnd<'_>, other: &ClockEnd<'_>) -> Result<ClockPoint, SiteError> {
    let key = ExchangeKey::random().map_err(|error| SiteError::Clock { error: error.to_string() })?;
    let interface = reference.interface.to_owned();
    let responder = ClockResponder { interface, key, limit: LIMIT + START };
    let (address, running) = reference.site.clock_responder(&responder)?;
    let interface = other.interface.to_owned();
    let client = ClockClient { interface, responder: address, key, count: PACKETS, limit: LIMIT };
    let exchanges = other.site.clock_exchange(&client);
    drop(running);
    let offset = ClockOffset::from_exchanges(&exchanges?).ok_or_else(|| {
        let error = format!("no packet returned from {address} within {} s", LIMIT.as_secs());
        SiteError::Clock { error }
    })?;
    Ok(ClockPoint { offset, reference: reference.site.clock_reading()?, other: other.site.clock_reading()? })
}

/// Clock of a site in the course of an experiment.
#[derive(Clone, Debug, Default)]
pub struct SiteClock {
    points: Vec<ClockPoint>,
}

/// Timeline of a site for one run, and the measurement that it is derived from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTimeline {
    /// Timeline of the agents.
    pub timeline: Timeline,
    /// Measurement before the run; `None` if the site has the clock of the reference.
    before: Option<ClockPoint>,
}

impl SiteClock {
    /// Returns the timeline of a run that starts next. Measures nothing if both sites have the same clock.
    ///
    /// # Errors
    /// Returns an error if the clock cannot be measured.
    pub fn before_run(
        &mut self,
        reference: &ClockEnd<'_>,
        other: &ClockEnd<'_>,
    ) -> Result<RunTimeline, SiteError> {
        if let Some(timeline) = Timeline::between(&reference.site.clock(), &other.site.clock()) {
            return Ok(RunTimeline { timeline, before: None });
        }
        let before = measure_clock(reference, other)?;
        self.add(before);
        let timeline = timeline(&self.points).unwrap_or(Timeline::IDENTITY);
        Ok(RunTimeline { timeline, before: Some(before) })
    }

    /// Returns the maximum error of the times of a run that has ended, in ns, or why they are not valid.
    ///
    /// # Errors
    /// Returns an error if the clock cannot be measured.
    pub fn after_run(
        &mut self,
        run: &RunTimeline,
        reference: &ClockEnd<'_>,
        other: &ClockEnd<'_>,
    ) -> Result<Result<u64, ClockFault>, SiteError> {
        let Some(before) = &run.before else { return Ok(Ok(0)) };
        let after = measure_clock(reference, other)?;
        self.add(after);
        Ok(error_of_run(&run.timeline, before, &after))
    }

    fn add(&mut self, point: ClockPoint) {
        if self.points.len() >= MAX_POINTS {
            self.points.remove(0);
        }
        self.points.push(point);
    }
}
