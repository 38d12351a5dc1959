//! Check that samples were sent by multicast if that was requested. A driver reports what it requested from its
//! middleware, or `unknown`; the kernel counts what is sent.

use experiment::Workload;
use results::{FlowRecord, MulticastSent, WarningKind};
use stats::total;

use crate::{RunContext, evaluation::Evaluation, per_host::largest_per_host, reports::RunReports};

/// Minimum share of the payload that must have been sent by multicast: the first and the last samples of the
/// measurement may fall outside the kernel counter readings.
const LEAST: f64 = 0.9;

/// Minimum number of copies of each sample that is reported: heartbeats and the first and last samples are less.
const COPIES: f64 = 1.5;

/// Returns how many copies of each sample were sent, if it is more than one. Headers make small samples larger, and large
/// samples have several packets; the smaller ratio excludes both.
fn copies(sent: &MulticastSent, samples: u64, payload: u64) -> Option<f64> {
    let ratio = |of: u64, whole: u64| of as f64 / whole.max(1) as f64;
    let copies = ratio(sent.packets, samples).min(ratio(sent.bytes, payload));
    (samples > 0 && copies >= COPIES).then_some(copies)
}

/// Returns what all hosts sent, from what the agents counted on their hosts. `None` without agents.
fn of_all_hosts<'r>(counted: impl Iterator<Item = (&'r str, &'r MulticastSent)>) -> Option<MulticastSent> {
    let by_host = largest_per_host(counted, |sent| sent.bytes);
    (!by_host.is_empty()).then(|| MulticastSent::sum(by_host.into_values()))
}

/// Records a contradiction if multicast was requested and the samples were sent by other means, and a warning if more
/// than one copy was sent.
pub(crate) fn check(evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
    let factors = context.factors;
    if !factors.multicast || evaluation.flows.is_empty() {
        return;
    }
    let counted = reports.all_driving().filter_map(|agent| {
        let multicast = agent.report.sockets.as_ref()?.multicast.as_ref()?;
        Some((agent.endpoint.place.host.as_str(), multicast))
    });
    let Some(multicast) = &of_all_hosts(counted) else {
        let text = "the kernel does not say what left by multicast: whether the samples did is unknown";
        evaluation.warn(WarningKind::Incomplete, text.to_owned());
        return;
    };
    // One sample by multicast reaches all readers: each writer counts once.
    let reader = evaluation.flows.first().map(|flow| &flow.reader);
    let once = evaluation.flows.iter().filter(|flow| Some(&flow.reader) == reader);
    let samples = total(once.clone().map(|flow| flow.counted.sent));
    let payload = total(once.clone().map(FlowRecord::sent_bytes));
    let readers = evaluation.flows.len() / once.count().max(1);
    // Echoes leave by multicast, too.
    let echoed = factors.workload == Workload::Latency;
    if let Some(copies) = copies(multicast, samples, payload).filter(|_| readers > 1 && !echoed) {
        let text = format!(
            "the kernel sent {copies:.1} copies of each sample by multicast: one should reach all {readers} readers; the \
             middleware, or another process of this network namespace, sends more"
        );
        evaluation.warn(WarningKind::MulticastCopies, text);
    }
    evaluation.check(multicast.bytes as f64 >= payload as f64 * LEAST, || {
        format!(
            "multicast was asked for, but of samples with {payload} B the kernel sent {} B by multicast",
            multicast.bytes
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_of_a_host_count_its_traffic_once_and_hosts_add_up() {
        let sent = |packets, bytes| MulticastSent { packets, bytes };
        let [most, less, other] = [sent(10, 1_000), sent(9, 900), sent(5, 700)];
        let counted = [("h1", &less), ("h1", &most), ("h2", &other)];
        assert_eq!(of_all_hosts(counted.into_iter()), Some(sent(15, 1_700)));
        assert_eq!(of_all_hosts(std::iter::empty()), None);
    }

    #[test]
    fn copies_are_told_from_headers_and_from_fragments() {
        let copies = |packets, bytes, samples, payload| {
            copies(&MulticastSent { packets, bytes }, samples, payload).map(f64::round)
        };
        // one datagram each; 16 bytes with headers of 100; 10 fragments each; batches of 10
        assert_eq!(copies(1_000, 384_000, 1_000, 256_000), None);
        assert_eq!(copies(1_010, 116_000, 1_000, 16_000), None);
        assert_eq!(copies(10_000, 15_000_000, 1_000, 14_000_000), None);
        assert_eq!(copies(100, 270_000, 1_000, 256_000), None);
        // three of each
        assert_eq!(copies(3_010, 1_200_000, 1_000, 256_000), Some(3.0));
        assert_eq!(copies(30_000, 45_000_000, 1_000, 14_000_000), Some(3.0));
        assert_eq!(copies(0, 0, 0, 0), None);
    }
}
