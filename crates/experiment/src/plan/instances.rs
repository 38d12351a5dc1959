//! Room of the requested limits for instances.

use crate::{
    FactorValues, OneOrMany, PlanError, SpannedError, factors::endpoint_qos::End,
    plan::experiment_file::ExperimentFile,
};

/// Rejects instances for which requested limits have no room, or for which the middleware's own limits may have none.
pub(crate) fn check_room(values: &FactorValues, file: &ExperimentFile) -> Result<(), SpannedError> {
    let all: OneOrMany<u32> = values.all("instances");
    let Some(most) = all.0.iter().max_by_key(|instances| *instances.get()).filter(|most| *most.get() > 0)
    else {
        return Ok(());
    };
    let instances = *most.get();
    let refused = |words: String, hint| Err(PlanError::Contradiction { words, hint }.at(most.span()));
    let shipped = values.contains("vendor_defaults", &true.into());
    for (end, policies) in file.all_policies() {
        let requested = policies.max_samples.as_ref().map(|limit| i64::from(*limit.get()));
        if shipped && requested.is_none() {
            let words =
                "with `vendor_defaults`, the middleware may have room for a few instances only".to_owned();
            return refused(
                words,
                "add `max_samples` to `[qos]`, use `vendor_defaults = false`, or `instances = 0`",
            );
        }
        let queue = if end == End::Writer { "send_queue" } else { "receive_queue" };
        let queues = values.all::<u32>(queue);
        let limits = queues.values().map(|samples| (queue, i64::from(*samples)));
        let each = [&policies.history_depth, &policies.max_samples_per_instance];
        let each = each.into_iter().flatten().map(|samples| *samples.get()).fold(1, i32::max);
        let needed = i64::from(instances) * i64::from(each);
        for (key, limit) in
            limits.chain(requested.filter(|limit| *limit > 0).map(|limit| ("max_samples", limit)))
        {
            if limit < needed {
                let words = format!(
                    "`{key} = {limit}` has no room for {instances} instances with up to {each} samples each"
                );
                return refused(words, "choose a larger limit, or fewer instances");
            }
        }
    }
    Ok(())
}
