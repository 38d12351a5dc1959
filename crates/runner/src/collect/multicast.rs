//! Check that samples were sent by multicast if that was requested. A driver reports what it requested from its
//! middleware, or `unknown`; the kernel counts what is sent.

use experiment::Factors;
use results::WarningKind;
use stats::total;

use super::Figures;
use crate::pair::{DRIVING, Evidence};

/// Minimum share of the payload that must have been sent by multicast: the first and the last samples of the
/// measurement may fall outside the kernel counter readings.
const LEAST: f64 = 0.9;

/// Records a contradiction if the samples were sent by other means.
pub(super) fn check(figures: &mut Figures, evidence: &Evidence, factors: &Factors) {
    if figures.counted.is_empty() {
        return;
    }
    let sockets = evidence.agents[DRIVING].report.sockets.as_ref();
    let Some(multicast) = sockets.and_then(|sockets| sockets.multicast.as_ref()) else {
        let text = "the kernel does not say what left by multicast: whether the samples did is unknown";
        figures.warn(WarningKind::Incomplete, text.to_owned());
        return;
    };
    let flows = factors.streams();
    let size = |index: usize| flows.get(index).map_or(factors.size_bytes, |flow| flow.size_bytes);
    let payloads =
        figures.counted.iter().enumerate().map(|(i, counted)| counted.sent.saturating_mul(size(i)));
    let payload = total(payloads);
    figures.check(multicast.bytes as f64 >= payload as f64 * LEAST, || {
        format!(
            "multicast was asked for, but of samples with {payload} B the kernel sent {} B by multicast",
            multicast.bytes
        )
    });
}
