//! Instances for which requested limits have no room.

use crate::{
    factors::{FactorValues, endpoint_qos::End},
    plan::{
        experiment_file::ExperimentFile,
        room::{fault, own_limit},
        selected_policies::SelectedPolicies,
    },
    syntax::{one_or_many::OneOrMany, spanned_error::SpannedError},
};

/// Rejects instances for which requested limits have no room, or for which the middleware's own limits may have none.
pub(crate) fn check_room(values: &FactorValues, file: &ExperimentFile) -> Result<(), SpannedError> {
    let all: OneOrMany<u32> = values.all("instances");
    let Some(most) = all.0.iter().max_by_key(|instances| *instances.get()).filter(|most| *most.get() > 0)
    else {
        return Ok(());
    };
    let shipped = values.contains("vendor_defaults", &true.into());
    for SelectedPolicies { end, policies, origin } in file.all_policies() {
        if shipped && policies.max_samples.is_none() {
            let words =
                "with `vendor_defaults`, the middleware may have room for a few instances only".to_owned();
            return most.refused(
                words,
                "add `max_samples` to `[qos]`, use `vendor_defaults = false`, or `instances = 0`",
            );
        }
        let queue = if end == End::Writer { "send_queue" } else { "receive_queue" };
        let queues = values.all::<u32>(queue);
        let limits = queues.values().map(|samples| (queue, i64::from(*samples)));
        let mut limits = limits.chain(own_limit(&policies).map(|limit| ("max_samples", limit)));
        if let Some(words) = limits.find_map(|(key, limit)| fault(key, limit, *most.get(), &policies)) {
            let hint = match origin.as_str() {
                "" => "choose a larger limit, or fewer instances",
                _ => {
                    "choose a larger limit or fewer instances, or select others with `--profile` and `--base`"
                }
            };
            return most.refused(format!("{words}{origin}"), hint);
        }
    }
    Ok(())
}
