//! Offset and drift of a clock against the reference clock, with bounds, from the times of exchanges. Pure.
//!
//! The offset of an exchange lies between two bounds, because a packet does not arrive before it is sent. Their distance
//! is the round trip, so the exchange with the smallest round trip says most: its error is at most half of it, however
//! the delay is distributed over the two directions. No average is taken: it would be more precise on a quiet link, but
//! without a bound.
//!
//! Between two measurements the offset is assumed to change steadily, or in one step.

use control::Timeline;
use serde::{Deserialize, Serialize};

use crate::values::clock_exchange::{ClockExchange, ClockReading};

/// Maximum plausible drift between two clocks, in ns per s: the limit of the kernel's slow correction of a clock, well
/// above that of any oscillator.
pub const MAX_DRIFT_PPM: u64 = 500;
/// Age of the oldest measurement that a drift is derived from, in ns. Temperatures change within minutes.
const MAX_AGE_NS: u64 = 120_000_000_000;

/// Offset of the reference clock from a clock at one time: `reference = monotonic + offset_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Time of the clock in ns.
    pub at_ns: u64,
    /// Offset in ns.
    pub offset_ns: i64,
    /// Maximum error of the offset in ns: half of the smallest round trip.
    pub error_ns: u64,
    /// Smallest round trip in ns, without the time in the responder.
    pub rtt_ns: u64,
    /// Median round trip in ns, likewise.
    pub rtt_p50_ns: u64,
}

/// Returns the distance that two clocks may drift apart in this time, in ns, rounded up.
#[must_use]
pub fn drift_within_ns(duration_ns: u64) -> u64 {
    let ppm = u128::from(duration_ns) * u128::from(MAX_DRIFT_PPM);
    u64::try_from(ppm.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Round trip of a valid exchange in ns: the time away minus the time in the responder.
fn rtt_ns(exchange: &ClockExchange) -> Option<u64> {
    let away = exchange.returned_ns.checked_sub(exchange.sent_ns)?;
    away.checked_sub(exchange.replied_ns.checked_sub(exchange.received_ns)?)
}

impl ClockOffset {
    /// Estimates the offset of the responder's clock, the reference, from the client's clock, by the exchange with the
    /// smallest round trip. Exchanges with impossible times are ignored. Returns `None` if none is left.
    #[must_use]
    pub fn from_exchanges(exchanges: &[ClockExchange]) -> Option<Self> {
        let mut valid: Vec<(u64, &ClockExchange)> =
            exchanges.iter().filter_map(|exchange| Some((rtt_ns(exchange)?, exchange))).collect();
        valid.sort_by_key(|(rtt_ns, _)| *rtt_ns);
        let rtt_p50_ns = valid.get(valid.len() / 2)?.0;
        valid.iter().find_map(|(_, exchange)| Self::from_exchange(exchange, rtt_p50_ns))
    }

    fn from_exchange(exchange: &ClockExchange, rtt_p50_ns: u64) -> Option<Self> {
        let [sent, received, replied, returned] =
            [exchange.sent_ns, exchange.received_ns, exchange.replied_ns, exchange.returned_ns]
                .map(i128::from);
        let (least, most) = (replied - returned, received - sent);
        let offset = least + (most - least).div_euclid(2);
        let away_ns = u64::try_from(returned - sent).ok()?;
        let half_ns = u64::try_from(most - offset).ok()?;
        Some(Self {
            at_ns: exchange.sent_ns + away_ns / 2,
            offset_ns: i64::try_from(offset).ok()?,
            // The clocks may drift apart while the packet is away.
            error_ns: half_ns.saturating_add(drift_within_ns(away_ns.div_ceil(2))),
            rtt_ns: rtt_ns(exchange)?,
            rtt_p50_ns,
        })
    }

    /// Returns the maximum error of a timeline at the time of this offset, in ns.
    #[must_use]
    pub fn error_of(&self, timeline: &Timeline) -> u64 {
        let measured = i128::from(self.at_ns) + i128::from(self.offset_ns);
        // A time of the reference before its start is negative.
        let converted = i128::from(timeline.on_reference(self.at_ns).cast_signed());
        let distance = u64::try_from((converted - measured).unsigned_abs()).unwrap_or(u64::MAX);
        distance.saturating_add(self.error_ns).saturating_add(1)
    }
}

/// Measurement of a clock: its offset, and the suspensions of both hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockPoint {
    /// Offset of the reference clock.
    pub offset: ClockOffset,
    /// Clocks of the reference host.
    pub reference: ClockReading,
    /// Clocks of the other host.
    pub other: ClockReading,
}

/// Reason why times of a run are not on one timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockFault {
    /// Offset that changed by more than a drift explains.
    #[error(
        "the offset of its clock changed by {by_ns} ns within {within_ns} ns: more than the measurement errors, \
         {error_ns} ns, and a drift of {MAX_DRIFT_PPM} ppm"
    )]
    Step {
        /// Change of the offset in ns.
        by_ns: i64,
        /// Time between the measurements in ns.
        within_ns: u64,
        /// Sum of the errors of both measurements in ns.
        error_ns: u64,
    },
    /// Host that was suspended, or a clock that was set.
    #[error("the host of the {} was suspended for {by_ns} ns", if *.reference { "reference clock" } else { "clock" })]
    Suspended {
        /// Whether it is the reference host.
        reference: bool,
        /// Duration in ns.
        by_ns: i64,
    },
}

/// Returns the timeline for a run that starts now. `points`: measurements in the order of time; the last one is that
/// before the run. Returns `None` without a measurement.
///
/// The drift is that since the oldest recent measurement after the last jump of a clock: earlier offsets say nothing about it.
/// A drift that the errors do not separate from 0 is 0.
#[must_use]
pub fn timeline(points: &[ClockPoint]) -> Option<Timeline> {
    let jump = points.windows(2).rposition(|pair| check_continuity(&pair[0], &pair[1]).is_err());
    let (last, earlier) = points[jump.map_or(0, |jump| jump + 1)..].split_last()?;
    let now = last.offset;
    let oldest = earlier
        .iter()
        .map(|point| point.offset)
        .find(|point| now.at_ns.saturating_sub(point.at_ns) <= MAX_AGE_NS);
    let slope = oldest.map_or(0.0, |oldest| drift(&oldest, &now));
    Some(Timeline {
        offset_ns: now.offset_ns,
        slope,
        t0_ns: now.at_ns,
        error_ns: now.error_ns.saturating_add(1),
    })
}

/// Returns the drift between two measurements, in ns per ns; 0 if their errors may explain it.
fn drift(before: &ClockOffset, after: &ClockOffset) -> f64 {
    let change = i128::from(after.offset_ns) - i128::from(before.offset_ns);
    let error = u128::from(before.error_ns) + u128::from(after.error_ns);
    let distance_ns = after.at_ns.saturating_sub(before.at_ns);
    if distance_ns == 0 || change.unsigned_abs() <= error {
        return 0.0;
    }
    let limit = MAX_DRIFT_PPM as f64 * 1e-6;
    (change as f64 / distance_ns as f64).clamp(-limit, limit)
}

/// Checks that no clock stepped between two measurements, and that no host was suspended.
fn check_continuity(before: &ClockPoint, after: &ClockPoint) -> Result<(), ClockFault> {
    for (reference, before, after) in
        [(true, &before.reference, &after.reference), (false, &before.other, &after.other)]
    {
        let by_ns = after.suspended_ns.saturating_sub(before.suspended_ns);
        if by_ns.unsigned_abs() > before.uncertainty_ns.saturating_add(after.uncertainty_ns) {
            return Err(ClockFault::Suspended { reference, by_ns });
        }
    }
    let change = i128::from(after.offset.offset_ns) - i128::from(before.offset.offset_ns);
    let within_ns = after.offset.at_ns.saturating_sub(before.offset.at_ns);
    let error_ns = before.offset.error_ns.saturating_add(after.offset.error_ns);
    if change.unsigned_abs() > u128::from(error_ns.saturating_add(drift_within_ns(within_ns))) {
        let by_ns = i64::try_from(change).unwrap_or(if change < 0 { i64::MIN } else { i64::MAX });
        return Err(ClockFault::Step { by_ns, within_ns, error_ns });
    }
    Ok(())
}

/// Returns the maximum error of a timeline during a run, in ns, given the measurements before and after it: at each of
/// them, half of the smallest round trip and what the timeline differs by.
///
/// # Errors
/// Returns an error if a clock stepped or a host was suspended: the times of the run are not valid.
pub fn error_of_run(timeline: &Timeline, before: &ClockPoint, after: &ClockPoint) -> Result<u64, ClockFault> {
    check_continuity(before, after)?;
    Ok(before.offset.error_of(timeline).max(after.offset.error_of(timeline)))
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
