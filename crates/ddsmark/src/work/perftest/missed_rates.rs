//! Rates that publishers missed.

use std::fmt;

use control::AgentReport;
use findings::KEPT;
use results::{Run, WarningKind};

use super::{publishers::Publisher, rates::PublisherRate};

/// Minimum number of samples from which their rate is judged: one more or less is less than the tolerance.
const LEAST_OF_RATE: u64 = 200;

/// Rate that a publisher missed.
#[derive(Clone, Debug, PartialEq)]
pub struct MissedRate {
    /// Option that decides the rate, as typed.
    option: String,
    /// Rate that was reached, in samples/s.
    reached_sps: f64,
    /// Share of the rate that was reached.
    share: f64,
}

impl MissedRate {
    /// Returns the rate of samples of this size if the publisher of this report missed it.
    pub fn of(rate: &PublisherRate, size: u64, report: &AgentReport) -> Option<Self> {
        let requested_sps = rate.samples_per_s(size)?;
        let written = report.writer()?;
        let sum = |of: fn(&control::FlowWriterReport) -> u64| written.flows.iter().map(of).sum::<u64>();
        let unsent = sum(|flow| flow.planned.saturating_sub(flow.offered));
        let (planned, accepted) = (sum(|flow| flow.planned), sum(|flow| flow.accepted));
        // The last sample leaves up to a period before the end.
        let planned_ns = accepted as f64 * 1e9 / requested_sps;
        let length_ns = (written.end_ns.saturating_sub(written.begin_ns) as f64).max(planned_ns);
        let reached_sps = if length_ns > 0.0 { accepted as f64 * 1e9 / length_ns } else { 0.0 };
        let share = missed_share((planned, unsent), reached_sps / requested_sps)?;
        Some(Self { option: rate.option.clone(), reached_sps, share })
    }
}

impl fmt::Display for MissedRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, reached_sps, share } = self;
        let percent = 100.0 * share;
        write!(f, "the rate of `{option}` was missed: {reached_sps:.0} samples/s were sent, {percent:.1} %")
    }
}

/// Returns a warning for each publisher that missed its rate, with its name if it is not the only one, and with what the run says of the
/// cause. `size` is that of publisher 0. `reports` are those of all agents, publishers in their order.
pub fn warnings(publishers: &[Publisher], size: u64, reports: &[&AgentReport], run: &Run) -> Vec<String> {
    let written = reports.iter().filter(|report| report.writer().is_some());
    let warning = |(index, (publisher, report)): (usize, (&Publisher, &&AgentReport))| {
        let missed = MissedRate::of(&publisher.rate, publisher.size(size), report)?;
        let whose = if publishers.len() > 1 { format!("{}: ", publisher.name) } else { String::new() };
        let writer = run.endpoints.iter().filter(|endpoint| endpoint.drives()).nth(index);
        let is_of_writer = |text: &str| {
            let rest = writer.and_then(|writer| text.strip_prefix(writer.id.as_str()));
            publishers.len() == 1 || rest.is_some_and(|rest| rest.starts_with([':', '@', ' ']))
        };
        let is_cause = |warning: &&results::Warning| {
            matches!(warning.kind, WarningKind::SenderLimited | WarningKind::BackPressure)
                && is_of_writer(&warning.text)
        };
        let cause = run.warnings.iter().find(is_cause).map(|warning| format!("; {}", warning.text));
        Some(format!("{whose}{missed}{}", cause.unwrap_or_default()))
    };
    publishers.iter().zip(written).enumerate().filter_map(warning).collect()
}

/// Returns the share of a rate that was reached if it was missed. Samples that a time cut off were not tried; a number of samples ends
/// later than planned.
fn missed_share((planned, unsent): (u64, u64), reached: f64) -> Option<f64> {
    let tried = if planned == 0 { 1.0 } else { planned.saturating_sub(unsent) as f64 / planned as f64 };
    let in_time = if planned >= LEAST_OF_RATE { reached } else { 1.0 };
    Some(tried.min(in_time)).filter(|share| *share < KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_rates_are_those_below_the_tolerance() {
        assert_eq!(missed_share((1000, 0), 0.995), None);
        assert_eq!(missed_share((1000, 0), 0.4), Some(0.4), "a number of samples ended it later");
        assert_eq!(missed_share((1000, 600), 1.0), Some(0.4), "a time cut it off");
        assert_eq!(missed_share((10, 0), 0.9), None, "too few to tell");
        assert_eq!(missed_share((0, 0), 0.0), None);
    }
}
