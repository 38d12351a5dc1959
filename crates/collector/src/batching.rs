//! Comparison of the batching that a driver reports with the requested one.

use experiment::Batching;
use results::WarningKind;

use crate::{RunContext, evaluation::Evaluation, reports::RunReports};

/// Setting that a writer reports.
const SETTING: &str = "batching";
/// Its values without batching, and if the middleware cannot report it.
const NONE: &str = "none";
const UNKNOWN: &str = "unknown";

/// Warns if samples are batched differently from the cell's factor, for example because of a driver option.
pub(crate) fn check(evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
    let settings = reports.agents.iter().flat_map(|agent| &agent.configured.settings);
    let of_writers = settings.filter(|(entity, _)| entity.starts_with("writer"));
    let reported = of_writers.filter_map(|(_, settings)| Some(settings.get(SETTING)?.as_str()));
    let reported: Vec<&str> = reported.filter(|reported| *reported != UNKNOWN).collect();
    let requested = match context.factors.batching {
        Batching::None => NONE,
        Batching::Native | Batching::TurboNative => "native",
        Batching::Application | Batching::TurboApplication => "application",
    };
    // A writer of echoes never batches.
    let otherwise = match reported.iter().find(|reported| **reported != NONE) {
        Some(who) => (*who != requested).then_some(*who),
        None => (requested != NONE && !reported.is_empty()).then_some(NONE),
    };
    if let Some(who) = otherwise {
        evaluation.warn(
            WarningKind::Batching,
            format!(
                "batching of the writer: requested {requested}, effective {who}: where an option of the driver packs \
                 samples, rates and times are those of its batches"
            ),
        );
    }
}
